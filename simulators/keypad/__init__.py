"""The virtual keypad: the keypad's end of docs/keypad.md on a pseudo-terminal, with somebody at the keys."""

from simulators.keypad.virtual_keypad import Faults, VirtualKeypad

__all__ = ["Faults", "VirtualKeypad"]
