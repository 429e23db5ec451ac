"""A report in words, as a page shows it and a printer prints it: figures, and tables of text."""

from punto.messages.models import Part


class Fact(Part):
    """A figure or another fact, with its name."""

    name: str
    value: str


class Column(Part):
    """A column of a table; numbers stand at its right."""

    heading: str
    number: bool = False


class Section(Part):
    """A table; `note` says what it leaves out. If `of_rounds`, each row begins with the number of a round.

    The last row is the sum of the others if `has_sum`.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    nothing: str = ""
    of_rounds: bool = False
    has_sum: bool = False


class Report(Part):
    """A report: `about` says of what it is, and `figures` what matters most.

    `page` numbers its pages on paper, with `{page}` and `{pages}` in it.
    """

    title: str
    table: str
    language: str
    about: tuple[Fact, ...]
    figures: tuple[Fact, ...]
    sections: tuple[Section, ...]
    page: str
