"""Real devices: a pure codec beside a thin transport, one folder each."""
