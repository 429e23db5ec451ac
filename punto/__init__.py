"""Punto, an open table-game controller for baccarat.

Each folder of the checkout's root is a room of this package: `punto.baccarat`, `punto.controller` and so on.
"""

from punto.version import __version__

__all__ = ["__version__"]
