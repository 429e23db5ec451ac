"""The doors of a table's devices: shoe, keypad, card reader and wager sensors."""
