"""The game: cards and coup, wagers, the progressive, roads, and the table. Pure: no I/O, no clock."""
