"""A table with its consoles, and sign-ons at next to no cost, as the consoles' tests have them."""

from tests.consoles.conftest import _quick, here

__all__ = ["_quick", "here"]
