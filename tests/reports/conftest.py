"""A page of the browser, as the consoles' tests have it."""

from tests.consoles.pages.conftest import page

__all__ = ["page"]
