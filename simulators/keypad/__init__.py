"""The virtual keypad: the keypad's end of docs/keypad.md on a pseudo-terminal, with somebody at the keys."""

from punto.simulators.keypad.virtual_keypad import VirtualKeypad

__all__ = ["VirtualKeypad"]
