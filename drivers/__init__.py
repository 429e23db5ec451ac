"""Real devices. Each has a folder with a pure codec and a thin transport."""
