"""The pages of the house: their addresses and titles, and what they have in common in HTML.

A page is a file `pages/NAME.html` with the script `NAME.js`. In it, `$head` is the head, `$nav` the links to all pages and the person
who is signed on, and `$days` a form for gaming days.
"""

from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Final, NamedTuple

PAGES: Final = Path(__file__).parent / "pages"


class Page(NamedTuple):
    """A page of the house by its address; `name` is that of its files, and `style` that of its style sheet.

    `also` are the addresses of further style sheets, before its own.
    """

    path: str
    title: str
    name: str
    style: str
    also: tuple[str, ...] = ()


HOUSE: Final = (
    Page("/", "Floor", "floor", "floor"),
    Page("/alarms", "Alarms", "alarms", "alarms"),
    Page("/reports", "Reports", "reports", "reports"),
    Page(
        "/progressives",
        "Progressives",
        "progressives",
        "progressives",
        also=("/static/reports.css", "/shared/books.css"),
    ),
    Page("/people", "People", "people", "reports"),
    Page("/shoes", "Shoes", "shoes", "reports"),
)
"""All pages, in the order of their links."""


@cache
def html_of(page: Page, zone: str) -> str:
    """The page as a browser gets it. `zone` is that of the house's clock."""
    parts = {
        "head": _filled(
            "head",
            title=escape(page.title),
            zone=escape(zone),
            name=page.name,
            styles="\n".join(map(_style, (*page.also, f"/static/{page.style}.css"))),
        ),
        "nav": _filled("nav", links="\n    ".join(_link(each, page) for each in HOUSE)),
        "days": _filled("days"),
    }
    return _filled(page.name, **parts)


def _style(address: str) -> str:
    return f'<link rel="stylesheet" href="{address}">'


def _link(page: Page, here: Page) -> str:
    current = ' aria-current="page"' if page == here else ""
    return f'<a href="{page.path}"{current}>{escape(page.title)}</a>'


def _filled(file: str, /, **parts: str) -> str:
    return Template((PAGES / f"{file}.html").read_text(encoding="utf-8")).substitute(parts)
