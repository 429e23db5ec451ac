"""The virtual card reader: the reader's end of docs/card-reader.md on a pseudo-terminal, with somebody who swipes."""

from punto.simulators.card_reader.virtual_card_reader import VirtualCardReader

__all__ = ["VirtualCardReader"]
