"""The virtual keypad: the keypad's end of docs/reference/keypad.md on a pseudo-terminal, and the person at the keys."""

from punto.simulators.keypad.virtual_keypad import VirtualKeypad

__all__ = ["VirtualKeypad"]
