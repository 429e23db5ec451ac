"""The house edge of each wager in the shoe in play, coup by coup, for surveillance only."""
