"""The floor's report as a sheet of rows, for CSV."""

from punto.controller.messages.meters import WagerReading
from punto.game_manager.amounts import cents
from punto.game_manager.floor.reports import FloorReport, ShiftReport
from punto.game_manager.sheets import Cell, Rows, said

_COLUMNS = [
    "table",
    "game",
    "rules",
    "line",
    "wager",
    "rule",
    "number",
    "drop",
    "returned",
    "hold",
    "expected",
    "errors",
]


def floor_sheet(report: FloorReport | ShiftReport) -> Rows:
    """The columns, and the rows of each table and then of all tables together, whose table is empty.

    The line is `rounds` with a status as its rule, `count` with the hits of a rule, or `wager` with amounts in decimals of the
    currency's unit. The expectation is of the hits or the hold.
    """
    yield _COLUMNS
    for table in report.tables:
        of = (said(table.table), said(table.game), table.rules)
        for status, rounds in table.rounds.items():
            yield [*of, "rounds", None, status, rounds, *[None] * 5]
        for count in table.meters.counts:
            wager, beside = said(count.wager), (_plain(count.expected), _plain(count.errors))
            yield [*of, "count", wager, said(count.rule), count.hits, *[None] * 3, *beside]
        for each in table.meters.wagers:
            yield [*of, *_wager(each)]
    for sums in report.wagers:
        yield [None, said(sums.game), sums.rules, *_wager(sums.wager)]


def _wager(read: WagerReading) -> list[Cell]:
    amounts = (cents(each) for each in (read.drop, read.returned, read.hold))
    expected = None if read.expected is None else cents(round(read.expected))
    return ["wager", said(read.wager), None, read.wagers, *amounts, expected, _plain(read.errors)]


def _plain(figure: float | None) -> str | None:
    return None if figure is None else f"{figure:.2f}"
