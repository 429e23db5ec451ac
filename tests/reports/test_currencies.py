"""A house of tables in yen, Kuwaiti dinars and US dollars plays a day, and every amount is right by a sum outside.

The sum is in `Decimal` units of each currency, from what was wagered and won alone: it knows nothing of minor units, postings
and the program's formats.
"""

import csv
import io
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_CEILING, ROUND_DOWN, Decimal
from pathlib import Path
from typing import Any

import pypdf
import pytest

from punto.baccarat.progressive.events import CountCoins
from punto.baccarat.table.events import SetWager
from punto.commands.cli import main
from punto.controller.config.file import load_config
from punto.controller.journal.audit import audit
from punto.house.books import Kept, books_sheet, house_books
from punto.house.reports import floor_report
from punto.house.sheet import floor_sheet
from punto.house.store import Store
from punto.house.taken import Taken, TakenBooks
from punto.messages.building import progressive_message
from punto.reports.awards import Print, awards
from punto.reports.books import books_of_day
from punto.reports.pdf import pdf
from punto.reports.record import opened
from punto.reports.slip import slip
from punto.reports.win_page import win_page
from punto.runtime.csv_cells import csv_lines
from punto.web.answers import json_of
from tests.reports.house import CALENDAR, NOTHING, QUARTER, WHOLE, House, at_the_house

GAMES = Path(__file__).parents[2] / "configs" / "games"
FRIDAY = date(2026, 11, 20)
LATER = datetime(2027, 1, 1, tzinfo=UTC)
BANKER = "KS 3S 5S 4S KD"  # Banker wins with 7 over 5, which is no award
RESERVE = Decimal("0.003333")


@dataclass(frozen=True)
class Currency:
    """A table's currency with the decimals of its unit, its smallest chip and its meter's seed, both in units."""

    code: str
    decimals: int
    chip: Decimal
    seed: Decimal

    @property
    def least(self) -> Decimal:
        """The smallest amount of money."""
        return Decimal(1).scaleb(-self.decimals)

    def minor(self, units: Decimal) -> int:
        """An amount as configurations, orders and messages have it."""
        return int(units / self.least)

    def cut(self, units: Decimal) -> Decimal:
        """What can be paid of an amount."""
        return units.quantize(self.least, ROUND_DOWN)


CURRENCIES = (
    Currency("JPY", 0, Decimal(1000), Decimal(5_000_000)),
    Currency("KWD", 3, Decimal("0.250"), Decimal(50_000)),
    Currency("USD", 2, Decimal(5), Decimal(100_000)),
)
CONFIG = """\
version = 1
[table]
id = "table-{id}"
name = "Baccarat in {code}"
game = "own.toml"
currency = "{code}"
smallest_chip = {chip}
burn = "none"
[shoe]
port = "/dev/ttyUSB0"
link_version = 1
[record]
path = "table.db"
[limits.player]
maximum = {maximum}
[progressive]
id = "dragon"
reserve = "0.3333%"
[calendar]
zone = "Asia/Macau"
"""


class OutsideSum:
    """What a table must have staked, returned and paid, by plain arithmetic."""

    def __init__(self, currency: Currency) -> None:
        self.of = currency
        self.meter = self.reserve = self.paid = self.contributed = self.staked = self.returned = Decimal(0)
        self.given = self.seeded = Decimal(0)
        self.wagers = 0
        self.awards: list[Decimal] = []
        self.seed()

    def seed(self) -> None:
        self.meter += self.of.seed
        self.seeded += self.of.seed

    def game(self, seats: Sequence[int], cards: str, bases: Iterable[tuple[int, str, int]]) -> None:
        self.wagers += len(seats)
        self.meter += len(seats) * self.of.chip * Decimal("0.20")
        self.reserve += len(seats) * self.of.chip * RESERVE
        self.contributed += len(seats) * self.of.chip * (Decimal("0.20") + RESERVE)
        if cards == QUARTER:
            self.award(self.of.cut(self.meter / 4))
        if cards == WHOLE:
            self.award(self.of.cut(self.meter))
            self.seed()
            self.meter += self.reserve
            self.reserve = Decimal(0)
        for _, wager, chips in bases:
            stake = chips * self.of.chip
            self.staked += stake
            if wager == "banker" and cards == BANKER:
                # 5% of the win, in whole chips upwards
                commission = (stake * 5 / 100 / self.of.chip).to_integral_value(ROUND_CEILING) * self.of.chip
                self.returned += 2 * stake - commission
            if wager == "player" and cards != BANKER:
                self.returned += 2 * stake

    def award(self, amount: Decimal) -> None:
        self.awards.append(amount)
        self.meter -= amount
        self.paid += amount


DAY: tuple[tuple[str, list[int], list[int], list[tuple[int, str, int]]], ...] = (
    (NOTHING, [1, 3, 5], [], [(1, "player", 1), (3, "banker", 7)]),
    (BANKER, [2], [], [(2, "banker", 1), (3, "banker", 20), (4, "banker", 33), (5, "player", 4)]),
    (QUARTER, [2, 5, 7], [2, 5, 7], [(2, "player", 3)]),
    (BANKER, [4], [], [(4, "banker", 999)]),
    (WHOLE, [1, 2], [2], []),
    (NOTHING, [6], [], [(6, "player", 1000)]),
)


def configured(folder: Path, of: Currency) -> Path:
    """A table's configuration with the house's own game file, whose limits are in the currency."""
    chip = of.minor(of.chip)
    text = (GAMES / "progressive-2.toml").read_text(encoding="utf-8")
    text = text.replace(
        "minimum = 100, maximum = 100, step = 100", f"minimum = {chip}, maximum = {chip}, step = {chip}"
    )
    text = text.replace("minimum = 500, maximum = 10000", f"minimum = {chip}, maximum = {100 * chip}")
    text = text.replace("seed = 1000000", f"seed = {of.minor(of.seed)}")
    (folder / "own.toml").write_text(text, encoding="utf-8")
    path = folder / "table.toml"
    path.write_text(
        CONFIG.format(id=of.code.lower(), code=of.code, chip=chip, maximum=1000 * chip), encoding="utf-8"
    )
    return path


@dataclass
class Played:
    """A table after its day."""

    of: Currency
    sum: OutsideSum
    here: House
    config: Path
    message: Any
    rounds: list[Taken]

    @property
    def table(self) -> str:
        """Its id."""
        return f"table-{self.of.code.lower()}"

    def exact(self, units: Decimal) -> str:
        """An amount on a meter as text."""
        return f"{units:.{self.of.decimals + 6}f}"

    def paid(self, units: Decimal, group: str = "") -> str:
        """A paid amount as text."""
        return f"{units:{group}.{self.of.decimals}f}"


@asynccontextmanager
async def played(folder: Path, of: Currency) -> AsyncIterator[Played]:
    """A table that has played the day."""
    folder.mkdir()
    config, by_hand = configured(folder, of), OutsideSum(of)
    settings = load_config(config).settings()
    async with at_the_house(folder, "2026-11-20 19:00", settings) as here:
        await here.open()
        for cards, seats, winners, bases in DAY:
            round_ = here.table.state.round.number
            for seat, wager, chips in bases:
                amount = of.minor(chips * of.chip)
                await here.give(SetWager(f"{round_}-{seat}", seat, wager, amount, round_))
            await here.game(seats, cards, winners)
            by_hand.game(seats, cards, bases)
        await here.give(CountCoins("2026-11-20", of.minor(by_hand.wagers * of.chip - of.chip), "eve"))
        message = progressive_message(here.table.state, 1, None, datetime.now(UTC))
        game = here.table.state.settings.game
        rounds = [
            Taken(
                f"table-{of.code.lower()}",
                "aa",
                False,
                of.code,
                datetime.fromisoformat(each.ts),
                game.name,
                game.rules_digest,
                each.record,
            )
            for each in await here.table.journal.rounds_after(0, 100)
        ]
        yield Played(of, by_hand, here, config, message, rounds)


@pytest.fixture(params=CURRENCIES, ids=[each.code for each in CURRENCIES])
def of(request) -> Currency:
    currency: Currency = request.param
    return currency


async def test_the_books_and_the_meter_of_a_day_are_right_in_each_currency(tmp_path, of, capsys):
    async with played(tmp_path / of.code, of) as table:
        by_hand = table.sum
        assert (table.message.currency, table.message.meter) == (of.code, of.minor(of.cut(by_hand.meter)))

    command = ("progressive", "report", "--config", str(table.config))
    assert main([*command, "--json"]) == 0
    (meter,) = json.loads(capsys.readouterr().out)
    assert meter["currency"] == of.code
    assert meter["accounts"] == {
        "seed_money": table.exact(by_hand.seeded),
        "contributions": table.exact(by_hand.contributed),
        "adjustments": table.exact(Decimal(0)),
        "primary": table.exact(by_hand.meter),
        "reserve": table.exact(by_hand.reserve),
        "overflow": table.exact(Decimal(0)),
        "paid": table.exact(by_hand.paid),
    }

    assert main([*command, "--day", "2026-11-20", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["currency"] for row in rows} == {of.code}
    assert rows[-1]["primary"] == table.exact(by_hand.meter)
    (staked,) = [row["staked"] for row in rows if row["staked"]]
    assert staked == table.paid(by_hand.wagers * of.chip)

    assert main(["progressive", "audit", str(table.here.record)]) == 0
    assert f" {by_hand.meter:,.{of.decimals + 6}f}\n" in capsys.readouterr().out


async def test_the_awards_and_their_slips_are_right_in_each_currency(tmp_path, of):
    async with played(tmp_path / of.code, of) as table:
        pass
    with opened(table.here.record) as record:
        whole, quarter = awards(record).awards

    units = [Decimal(each.amount) * of.least for each in (quarter, whole)]
    assert units == table.sum.awards
    shares = [Decimal(each.amount) * of.least for each in quarter.shares]
    assert sum(shares) == units[0]
    assert max(shares) - min(shares) <= of.least

    printed = Print(ts=quarter.locked, who="vera", original=False, input=None)
    page = win_page(quarter, printed, "Baccarat", of.code, CALENDAR.zone)
    amount = f"{of.code} {table.paid(table.sum.awards[0], ',')}"
    assert page.amount == amount
    assert amount.encode() in slip(page)
    (sheet,) = pypdf.PdfReader(io.BytesIO(pdf(page))).pages
    assert amount in sheet.extract_text()
    assert [text for _, text in page.shares] == [table.paid(each, ",") for each in shares]


async def test_every_wager_is_settled_in_whole_chips(tmp_path, of):
    async with played(tmp_path / of.code, of) as table:
        pass
    settled = [each for taken in table.rounds for each in taken.round.settlements]

    assert all(each.stake * of.least % of.chip == 0 for each in settled)
    assert all(each.returned * of.least % of.chip == 0 for each in settled)
    assert sum(each.returned for each in settled) * of.least == table.sum.returned
    assert audit(table.here.record, version="0.1.0").difference is None


async def test_a_house_of_three_currencies_adds_up_each_by_itself(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/house.db", CALENDAR)
    tables = []
    for currency in CURRENCIES:
        async with played(tmp_path / currency.code, currency) as table:
            tables.append(table)
        store.take(table.rounds)
        books = books_of_day(table.here.record, FRIDAY, CALENDAR, LATER)
        store.take_books([TakenBooks(table.table, "aa", False, None, "2026-11-21T00:00:00+00:00", books)])

    text = "".join(csv_lines(floor_sheet(floor_report(store, FRIDAY, FRIDAY), {})))
    of_wagers = [row for row in csv.DictReader(io.StringIO(text)) if row["line"] == "wager"]
    found = house_books(store, Kept(), LATER, FRIDAY)
    told = {each["table"]: each for each in json.loads(bytes(json_of(found).body))["progressives"]}
    text = "".join(csv_lines(books_sheet(found, "week", CALENDAR.zone)))
    deposits = [row for row in csv.DictReader(io.StringIO(text)) if row["line"] == "deposit"]
    store.close()

    assert len(told) == len(CURRENCIES)
    for table in tables:
        of, by_hand = table.of, table.sum
        for whose in (table.table, ""):  # the table's own rows, and those of all tables in its currency
            own = [each for each in of_wagers if (each["table"], each["currency"]) == (whose, of.code)]
            assert sum(Decimal(each["handle"]) for each in own) == by_hand.staked
            assert sum(Decimal(each["win"]) for each in own) == by_hand.staked - by_hand.returned
            assert {len(each["handle"].partition(".")[2]) for each in own} == {of.decimals}

        books = told[table.table]
        assert books["currency"] == of.code
        (accrual,) = books["books"]["day"]["progressives"]
        assert accrual["end"]["primary"] == table.exact(by_hand.meter)
        assert accrual["staked"] == table.paid(by_hand.wagers * of.chip)
        (day,) = [each for each in books["days"] if each["day"] == "2026-11-20"]
        assert day["figures"]["awarded"] == table.exact(by_hand.paid)
        assert day["coins"]["difference"] == table.paid(-of.chip)
        assert f"{table.paid(of.chip)} {of.code} of the coins are missing" in day["warnings"][0]

        (deposit,) = [each for each in deposits if each["currency"] == of.code]
        assert deposit["held"] == table.paid(of.cut(by_hand.meter + by_hand.reserve))
