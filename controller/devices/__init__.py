"""The doors of the devices that stand at a table beside its shoe: keypad, card reader and wager sensors."""
