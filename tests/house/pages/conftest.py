"""A page of the browser, and sign-ons at next to no cost, as the consoles' tests have them."""

from tests.consoles.pages.conftest import page

__all__ = ["page"]
