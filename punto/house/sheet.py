"""The reports of the floor, of its people and of its shoes as sheets of rows, for CSV."""

from collections.abc import Mapping
from typing import Final

from punto.house.edge_alarms import ShoesReport
from punto.house.people import PeopleReport, Work
from punto.house.reports import FloorReport, ShiftReport
from punto.house.titles import GameTitles, titled
from punto.messages.amounts import minor
from punto.messages.meters import CountReading, WagerReading
from punto.reports.sheets import Rows
from punto.runtime.csv_cells import Cell

_COLUMNS = [
    "table",
    "game",
    "rules",
    "line",
    "wager",
    "rule",
    "number",
    "handle",
    "returned",
    "win",
    "expected",
    "errors",
    "evidence",
    "currency",
    "simulation",
    "table_name",
    "game_title",
    "wager_title",
    "rule_title",
]
Names = Mapping[str, str]
"""The names of the tables by their ids."""


def floor_sheet(report: FloorReport | ShiftReport, names: Names) -> Rows:
    """The columns, and the rows of each table and then of all tables with a currency together, whose table is empty.

    Simulations are separate, with `yes` in `simulation`. Programs read the identifiers, and people the names and titles of the last columns.

    The line is `rounds` with a status as its rule, `count` with the hits of a rule, or `wager` with amounts in decimals of the
    currency's unit. The expectation is of the hits or the win.
    """
    yield _COLUMNS
    games = {(each.game, each.rules): each for each in report.games}
    for table in report.tables:
        of, game = (table.table, table.game, table.rules), games.get((table.game, table.rules))
        kind = table.currency, _yes(table.simulation), names.get(table.table, table.table)
        for status, rounds in table.rounds.items():
            titles = _titles(game, None, None)
            yield [*of, "rounds", None, status, rounds, *[None] * 6, *kind, *titles]
        for count in table.meters.counts:
            wager, beside = count.wager, _beside(count)
            titles = _titles(game, wager or "", count.rule)
            yield [*of, "count", wager, count.rule, count.hits, *[None] * 3, *beside, *kind, *titles]
        for each in table.meters.wagers:
            yield [*of, *_wager(each, table.currency), *kind, *_titles(game, each.wager, None)]
    for sums in report.wagers:
        game = games.get((sums.game, sums.rules))
        wager_of = _wager(sums.wager, sums.currency)
        of_floor = sums.currency, _yes(sums.simulation), None
        yield [None, sums.game, sums.rules, *wager_of, *of_floor, *_titles(game, sums.wager.wager, None)]


def _titles(game: GameTitles | None, wager: str | None, rule: str | None) -> tuple[Cell, Cell, Cell]:
    """The titles of a game, a wager and a rule; empty if the store does not know the game."""
    if game is None:
        return None, None, None
    rules = game.decided_by.get(wager or "", {})
    return (
        game.title,
        None if wager is None else titled(wager, game.wagers),
        None if rule is None else titled(rule, rules),
    )


def _yes(so: bool) -> str:
    return "yes" if so else "no"


def _wager(read: WagerReading, currency: str) -> list[Cell]:
    amounts = (minor(each, currency) for each in (read.handle, read.returned, read.win))
    expected = None if read.expected is None else minor(round(read.expected), currency)
    return ["wager", read.wager, None, read.wagers, *amounts, expected, *_beside(read)[1:]]


def _beside(read: CountReading | WagerReading) -> tuple[Cell, Cell, Cell]:
    evidence = None if read.evidence is None else f"{read.evidence:.0f}"
    return _plain(read.expected), _plain(read.errors), evidence


def _plain(figure: float | None) -> str | None:
    return None if figure is None else f"{figure:.2f}"


_COUNTS = ["hands", "misdeals", "voided", "corrected", "refused_orders", "calls"]


def people_sheet(report: PeopleReport, names: Names) -> Rows:
    """The columns, and for each person a row for each table and then one for all tables together, whose table is empty.

    A further row for each kind of other incidents has its `kind` and their `number`.
    """
    yield ["who", "table", "seconds", *_COUNTS, "hands_an_hour", "kind", "number", "table_name"]
    for person in report.people:
        works = [*((each.table, each.work) for each in person.tables), (None, person.work)]
        for table, work in works:
            of, name = (person.who, table), None if table is None else names.get(table, table)
            yield [*of, work.seconds, *_counts(work), None, None, name]
            for kind, number in work.other.items():
                yield [*of, *[None] * (len(_COUNTS) + 2), kind, number, name]


def _counts(work: Work) -> list[Cell]:
    pace = None if work.hands_an_hour is None else f"{work.hands_an_hour:.1f}"
    return [*(getattr(work, name) for name in _COUNTS), pace]


def shoes_sheet(report: ShoesReport, names: Names) -> Rows:
    """The columns, and a row for each wager of a shoe. The edge is a share of the stake."""
    yield [
        "day",
        "table",
        "record",
        "shoe",
        "wager",
        "ts",
        "round",
        "coup",
        "edge",
        "table_name",
        "wager_title",
    ]
    for shoe in report.shoes:
        of = (shoe.day.isoformat(), shoe.table, shoe.record, shoe.shoe)
        for each in shoe.wagers:
            told = each.ts, each.round, each.coup, f"{each.edge:.6f}"
            yield [*of, each.wager, *told, names.get(shoe.table, shoe.table), each.title]


_INSTEAD: Final = {"table_name": "table", "game_title": "game", "wager_title": "wager", "rule_title": "rule"}


def for_people(rows: Rows) -> Rows:
    """A sheet with the names and titles in place of the identifiers, and without what programs alone need."""
    headings, *entries = rows
    at = {str(heading): place for place, heading in enumerate(headings)}
    instead = {of: at[name] for name, of in _INSTEAD.items() if name in at}
    kept = [name for name in at if name not in _INSTEAD and name != "rules"]
    yield list(kept)
    for row in entries:
        yield [
            row[at[name]] if row[instead.get(name, at[name])] is None else row[instead.get(name, at[name])]
            for name in kept
        ]
