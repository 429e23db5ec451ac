"""Punto, an open table-game controller for baccarat.

For programs and notebooks (docs/reference/python.md):

    import punto

    game = punto.load_game("dragon-bonus-1")
    punto.score(game, ["9S", "KD", "3H", "4C", "8D"], [(1, "player", 2500)])

The names are those of `punto.interface`, loaded at first use, so that the `punto` command starts without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from punto.version import __version__ as __version__

if TYPE_CHECKING:
    from punto.interface import *  # noqa: F403 - its `__all__`


def __getattr__(name: str) -> Any:
    interface = import_module("punto.interface")
    if name in interface.__all__:
        return getattr(interface, name)
    raise AttributeError(f"module 'punto' has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["__version__", *import_module("punto.interface").__all__]
