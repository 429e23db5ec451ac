"""The reports of the floor, of its people and of its shoes as sheets of rows, for CSV."""

from punto.house.edge_alarms import ShoesReport
from punto.house.people import PeopleReport, Work
from punto.house.reports import FloorReport, ShiftReport
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
]


def floor_sheet(report: FloorReport | ShiftReport) -> Rows:
    """The columns, and the rows of each table and then of all tables with a currency together, whose table is empty.

    Simulations are separate, with `yes` in the last column.

    The line is `rounds` with a status as its rule, `count` with the hits of a rule, or `wager` with amounts in decimals of the
    currency's unit. The expectation is of the hits or the win.
    """
    yield _COLUMNS
    for table in report.tables:
        of = (table.table, table.game, table.rules)
        kind = table.currency, _yes(table.simulation)
        for status, rounds in table.rounds.items():
            yield [*of, "rounds", None, status, rounds, *[None] * 6, *kind]
        for count in table.meters.counts:
            wager, beside = count.wager, _beside(count)
            yield [*of, "count", wager, count.rule, count.hits, *[None] * 3, *beside, *kind]
        for each in table.meters.wagers:
            yield [*of, *_wager(each, table.currency), *kind]
    for sums in report.wagers:
        kind = sums.currency, _yes(sums.simulation)
        yield [None, sums.game, sums.rules, *_wager(sums.wager, sums.currency), *kind]


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


def people_sheet(report: PeopleReport) -> Rows:
    """The columns, and for each person a row for each table and then one for all tables together, whose table is empty.

    A further row for each kind of other incidents has its `kind` and their `number`.
    """
    yield ["who", "table", "seconds", *_COUNTS, "hands_an_hour", "kind", "number"]
    for person in report.people:
        works = [*((each.table, each.work) for each in person.tables), (None, person.work)]
        for table, work in works:
            of = (person.who, table)
            yield [*of, work.seconds, *_counts(work), None, None]
            for kind, number in work.other.items():
                yield [*of, *[None] * (len(_COUNTS) + 2), kind, number]


def _counts(work: Work) -> list[Cell]:
    pace = None if work.hands_an_hour is None else f"{work.hands_an_hour:.1f}"
    return [*(getattr(work, name) for name in _COUNTS), pace]


def shoes_sheet(report: ShoesReport) -> Rows:
    """The columns, and a row for each wager of a shoe. The edge is a share of the stake."""
    yield ["day", "table", "record", "shoe", "wager", "ts", "round", "coup", "edge"]
    for shoe in report.shoes:
        of = (shoe.day.isoformat(), shoe.table, shoe.record, shoe.shoe)
        for each in shoe.wagers:
            yield [*of, each.wager, each.ts, each.round, each.coup, f"{each.edge:.6f}"]
