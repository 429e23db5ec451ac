"""The virtual card reader: the reader's end of docs/reference/card-reader.md on a pseudo-terminal, and the person who swipes."""

from punto.simulators.card_reader.virtual_card_reader import VirtualCardReader

__all__ = ["VirtualCardReader"]
