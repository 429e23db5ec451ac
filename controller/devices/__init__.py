"""The doors between the engine and a table's devices: shoe, keypad, card reader and wager sensors."""
