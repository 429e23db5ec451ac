"""What the Game Manager's pages read, over real HTTP: who may, and what comes."""

import asyncio
import csv
import io
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from punto.consoles import console
from punto.controller.journal import store
from punto.controller.journal.recovery import replay
from punto.reports import web
from punto.reports.slip import PrinterError
from punto.runtime.gaming_days import WEEKDAYS
from punto.runtime.pace import AT_ONCE, DEAR, Pace
from punto.web import answers
from tests.consoles.consoles import PASSWORD, Answer, Browser, Here, consoles
from tests.controller.table_in_this_process import rows
from tests.deadline import DEADLINE
from tests.reports.house import a_weekend, at_the_house, house
from tests.share import sampled

pytestmark = pytest.mark.usefixtures("cheap_passwords", "quick_refusals")

READS = (
    "/api/progressive",
    "/api/progressive/awards",
    "/api/progressive/advice?seed=1",
    "/api/progressive/days/2026-11-20",
    "/api/progressive/weeks/2026-11-20?week_starts=sunday",
    "/api/progressive/reconciliations/2026-11-20",
    "/api/progressive/csv/meters",
    "/api/progressive/csv/awards",
    "/api/progressive/csv/postings",
    "/api/progressive/csv/days/2026-11-20",
    "/api/progressive/csv/weeks/2026-11-20",
    "/api/progressive/csv/reconciliations/2026-11-20",
)


MADE = (
    (web, "meters"),
    (web, "awards"),
    (web, "day_report"),
    (web, "week_report"),
    (web, "reconcile"),
    (answers, "csv_lines"),
)
"""What makes reports and files of them."""


async def played(folder: Path) -> None:
    """A weekend on the record."""
    async with at_the_house(folder, "2026-11-20 19:00") as here:
        await a_weekend(here)


@asynccontextmanager
async def at_work(
    folder: Path, name: str = "ike", role: str = "auditor"
) -> AsyncIterator[tuple[Here, Browser]]:
    """Consoles of a table with a weekend on its record, and the browser of a person who is signed on."""
    await played(folder)
    async with consoles(folder, house()) as here:
        here.account(name, role)
        yield here, await here.signed_on(name)


async def award_at(browser: Browser, place: int) -> int:
    """The number of an award by its place; the newest is first."""
    number: int = (await browser.get("/api/progressive/awards")).json["awards"][place]["input"]
    return number


async def test_supervisors_executives_and_auditors_read_everything_and_nobody_else_anything(tmp_path):
    await played(tmp_path)
    async with consoles(tmp_path, house(), refusals_per_minute=1000) as here:
        for role in ("supervisor", "executive", "auditor", "dealer", "technician"):
            here.account(role, role)
            browser = await here.signed_on(role)
            expected = 403 if role in {"dealer", "technician"} else 200

            assert [(await browser.get(path)).status for path in READS] == [expected] * len(READS), role
        stranger = here.browser()

        assert [(await stranger.get(path)).status for path in READS] == [401] * len(READS)
        refused = here.events("access_refused")
        assert {(event["who"], event["what"]) for event in refused} == {
            ("dealer", "read progressive"),
            ("technician", "read progressive"),
        }


async def test_the_overview_has_the_settings_in_force_with_the_sheets_advice_and_the_houses_calendar(
    tmp_path,
):
    async with consoles(tmp_path, house(reserve="0%")) as here:
        here.account("ike", "auditor")
        browser = await here.signed_on("ike")
        found = (await browser.get("/api/progressive")).json
        advised = (await browser.get("/api/progressive/advice?seed=0&reserve=1%25")).json["advice"]
        refused = await browser.get("/api/progressive/advice?reserve=99%25")
        page = await browser.get("/game-manager")

        assert (found["own"]["phase"], found["own"]["settings"]["seed"], found["meters"]) == (
            "new",
            1_000_000,
            [],
        )
        assert [each["code"] for each in found["own"]["advice"]] == ["no_reserve"]
        assert {each["code"]: each["loud"] for each in advised} == {
            "reserve_alone": False,
            "no_seed": True,
            "seed_low": False,
        }
        assert (refused.status, refused.json["reason"].partition(":")[0]) == (
            422,
            "contribution 20% and reserve 99% are together more than the whole wager",
        )
        assert (found["day_starts"], found["zone"], found["week_starts"]) == ("06:00", "UTC", "monday")
        assert '<html lang="en" data-zone="UTC">' in page.text
        assert found["today"] <= datetime.now(UTC).date().isoformat()


async def test_the_meters_have_what_the_table_shows_however_slow_the_disk_is(tmp_path, monkeypatch):
    await played(tmp_path)
    add_steps = store.add_steps

    def late(*args: Any) -> None:
        time.sleep(0.3)
        add_steps(*args)

    async with consoles(tmp_path, house()) as here:
        here.account("eve", "executive")
        here.account("ida", "executive")
        browser = await here.signed_on("eve")
        approval = {"name": "ida", "password": PASSWORD}
        monkeypatch.setattr(store, "add_steps", late)
        (before,) = (await browser.get("/api/progressive")).json["meters"]
        done = await browser.order("adjust", cause="increase", amount=2500, reason="r", approval=approval)
        (after,) = (await browser.get("/api/progressive")).json["meters"]

        assert done.status == 200
        was, now = (Decimal(meter["accounts"]["adjustments"]) for meter in (before, after))
        assert now - was == 25


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/days/nonsense", "day: 'nonsense' is not a day: write the day in the form 2026-11-21"),
        ("/days/2026-02-30", "day: '2026-02-30' is not a day: write the day in the form 2026-11-21"),
        ("/csv/days/1763596800", "day: '1763596800' is not a day: write the day in the form 2026-11-21"),
        ("/days/1999-12-31", "day: 1999-12-31 is too far from today: write a day from 2000-01-01 to 2999-12-31"),
        ("/reconciliations/9999-12-31", "day: 9999-12-31 is too far from today: write a day from 2000-01-01 to 2999-12-31"),
        ("/weeks/2026-11-20?week_starts=someday", f"week_starts: 'someday' is not a weekday: write one of {', '.join(WEEKDAYS)}"),
        ("/awards?before=0", "before: must be 1 or more, not '0'"),
        ("/awards?limit=101", "limit: must be 100 or less, not '101'"),
        ("/awards?limit=many", "limit: must be a whole number in digits, not 'many'"),
        ("/awards/1e3/slip", "number: must be a whole number in digits, not '1e3'"),
        ("/advice?fixed_awards=purse", "fixed_awards: must be 'tray' or 'meter', not 'purse'"),
    ],
)  # fmt: skip
async def test_an_invalid_request_is_answered_with_what_to_write_and_the_service_goes_on(
    path, reason, tmp_path
):
    async with consoles(tmp_path, house()) as here:
        here.account("ike", "auditor")
        browser = await here.signed_on("ike")
        answer = await browser.ask("POST" if path.endswith("/slip") else "GET", f"/api/progressive{path}")

        assert (answer.status, answer.json["code"], answer.json["reason"]) == (422, "bad_request", reason)
        assert (await browser.get("/api/progressive")).status == 200


async def test_a_download_is_a_file_with_the_tables_name_and_the_report_in_it(tmp_path):
    async with at_work(tmp_path) as (_, browser):
        answer = await browser.get("/api/progressive/csv/days/2026-11-20")

        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        assert answer.headers["content-disposition"] == 'attachment; filename="table-1-day-2026-11-20.csv"'
        assert answer.headers["cache-control"] == "no-store"
        assert [row["line"] for row in csv.DictReader(io.StringIO(answer.text, newline=""))][:2] == [
            "start",
            "contribution",
        ]


async def test_without_the_extra_a_win_page_says_what_to_install(tmp_path, monkeypatch):
    async with at_work(tmp_path) as (here, browser):
        number = await award_at(browser, -1)
        monkeypatch.delitem(sys.modules, "punto.reports.pdf", raising=False)
        monkeypatch.setitem(sys.modules, "fpdf", None)
        answer = await browser.ask("POST", f"/api/progressive/awards/{number}/win-page")

        assert (answer.status, "punto[print]" in answer.json["reason"]) == (503, True)
        assert here.events("print_win_page") == []


class LoopTurns:
    """Whether the event loop goes on while somebody imports `module`: its import waits until the loop has had a turn."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._loop = asyncio.get_running_loop()
        self.seen: list[bool] = []

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Hold up the import, and let others find the module."""
        if name == self._module:
            turned = threading.Event()
            self._loop.call_soon_threadsafe(turned.set)
            self.seen.append(turned.wait(DEADLINE))


async def test_devices_are_heard_while_the_first_win_page_is_made(tmp_path, monkeypatch):
    async with at_work(tmp_path) as (_, browser):
        number = await award_at(browser, -1)
        for name in ("punto.reports.pdf", "fpdf"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        loop = LoopTurns("fpdf")
        monkeypatch.setattr(sys, "meta_path", [loop, *sys.meta_path])
        answer = await browser.ask("POST", f"/api/progressive/awards/{number}/win-page")

    assert (answer.status, answer.headers["content-type"]) == (200, "application/pdf")
    assert loop.seen == [True]


@pytest.mark.in_part
@pytest.mark.parametrize("path", sampled(READS, one_in=3))
async def test_devices_are_heard_while_a_report_is_made(path, tmp_path, monkeypatch):
    async with at_work(tmp_path) as (_, browser):
        loop, made_by = threading.current_thread(), set()
        for module, name in MADE:
            real = getattr(module, name)

            def made(*given: Any, real: Any = real, **by: Any) -> Any:
                made_by.add(threading.current_thread())
                return real(*given, **by)

            monkeypatch.setattr(module, name, made)
        assert (await browser.get(path)).status == 200

    assert loop not in made_by
    assert made_by or "advice" in path


# --- the slip


class SlipPrinter:
    """A printer on the network: `slips` are what it has printed, each whole."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.slips: list[bytes] = []
        self._printing = threading.Thread(target=self._print)
        self._printing.start()

    def _print(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                with connection, connection.makefile("rb") as slip:
                    self.slips.append(slip.read())

    def switch_off(self) -> None:
        """It is there no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._printing.join(5)


@pytest.fixture
def printer(monkeypatch) -> Iterator[SlipPrinter]:
    there = SlipPrinter()
    real = console._house
    monkeypatch.setattr(console, "_house", lambda *given: replace(real(*given), printer=there.address))
    yield there
    there.switch_off()


async def a_print(browser: Browser, award: int) -> Answer:
    return await browser.ask("POST", f"/api/progressive/awards/{award}/slip")


async def test_without_a_printer_there_is_no_slip_and_without_the_token_there_is_none_either(tmp_path):
    async with at_work(tmp_path) as (here, browser):
        path = f"/api/progressive/awards/{await award_at(browser, -1)}/slip"
        answer = await browser.ask("POST", path)
        without = await browser.ask("POST", path, headers={"X-CSRF-Token": None})

        assert (answer.status, "no slip printer" in answer.json["reason"]) == (404, True)
        assert (without.status, without.json["code"]) == (403, "csrf")
        assert here.events("print_win_page") == []


async def test_the_first_page_of_a_booked_award_is_the_original_and_every_other_one_a_copy(tmp_path, printer):
    await played(tmp_path)
    async with consoles(tmp_path, house()) as here:
        for name, role in (("ike", "auditor"), ("omar", "supervisor"), ("vera", "executive")):
            here.account(name, role)
        auditor, supervisor, executive = [await here.signed_on(name) for name in ("ike", "omar", "vera")]
        booked, backed_out = (
            each["input"] for each in (await auditor.get("/api/progressive/awards")).json["awards"]
        )
        for browser, award in (
            (auditor, booked),
            (supervisor, booked),
            (executive, booked),
            (supervisor, backed_out),
        ):
            assert (await a_print(browser, award)).status == 204
        first, last = (await auditor.get("/api/progressive/awards")).json["awards"]
        sheet = (await auditor.get("/api/progressive/csv/awards")).text
    by_auditor, original, copy, none_to_pay = printer.slips

    assert [b"COPY" in slip for slip in printer.slips] == [True, False, True, True]
    assert b"Original by" not in by_auditor  # there was none yet
    assert b"Printed by" + b" " * 28 + b"omar\n" in original
    assert b"Printed by" + b" " * 28 + b"vera\n" in copy
    assert b"Original by" + b" " * 27 + b"omar\n" in copy
    assert b"BACKED OUT: DO NOT PAY" in none_to_pay
    assert [(each["who"], each["original"]) for each in first["prints"]] == [
        ("ike", False),
        ("omar", True),
        ("vera", False),
    ]
    told = first["prints"][1]["ts"]
    assert f"{told[:10]} {told[11:19]}+00:00".encode() in original
    assert [(each["who"], each["original"]) for each in last["prints"]] == [("omar", False)]
    (row, *_) = csv.DictReader(io.StringIO(sheet, newline=""))
    assert (row["original_printed"], row["original_by"], row["copies"]) == (told, "omar", "2")
    logged = rows(
        here.record, "SELECT progressive, award FROM progressive_log WHERE kind = 'win_page_printed'"
    )
    assert logged == [("dragon", 2)] * 3 + [("dragon", 1)]
    assert replay(here.record).difference is None


async def test_of_two_who_print_at_the_same_moment_one_has_the_original(tmp_path, printer):
    async with at_work(tmp_path, "omar", "supervisor") as (_, browser):
        award = await award_at(browser, 0)
        await asyncio.gather(*(a_print(browser, award) for _ in range(4)))

    assert sorted(b"COPY" in slip for slip in printer.slips) == [False, True, True, True]


async def test_a_printer_that_is_gone_is_reported_and_has_printed_nothing(tmp_path, printer):
    async with at_work(tmp_path, "omar", "supervisor") as (here, browser):
        award = await award_at(browser, 0)
        printer.switch_off()
        gone = await a_print(browser, award)

        assert (gone.status, "cannot be reached" in gone.json["reason"]) == (503, True)
        assert here.events("print_win_page") == []


async def test_what_a_printer_did_not_take_whole_counts_as_printed(tmp_path, printer, monkeypatch):
    def no_paper(_: bytes) -> None:
        raise PrinterError("it takes nothing")

    async with at_work(tmp_path, "omar", "supervisor") as (_, browser):
        award = await award_at(browser, 0)
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr("punto.reports.web.reached", lambda _: nullcontext(no_paper))
            failed = await a_print(browser, award)
        await a_print(browser, award)

    assert (failed.status, "the next print is a copy" in failed.json["reason"]) == (503, True)
    (slip,) = printer.slips
    assert b"COPY" in slip


@pytest.mark.parametrize(("award", "status"), [("1", 404), ("x", 422)])
async def test_an_award_that_does_not_exist_is_not_printed(award, status, tmp_path):
    async with at_work(tmp_path) as (here, browser):
        answer = await browser.ask("POST", f"/api/progressive/awards/{award}/win-page")

        assert answer.status == status
        assert answer.json["reason"]
        assert here.events("print_win_page") == []


async def test_prints_without_end_are_refused_before_the_record(tmp_path):
    async with at_work(tmp_path) as (here, browser):
        number = await award_at(browser, -1)
        here.table.engine.pace = Pace(per_second=0, clock=lambda: 0.0)
        path = f"/api/progressive/awards/{number}/win-page"
        answers = [await browser.ask("POST", path) for _ in range(15)]

        printed = AT_ONCE // DEAR
        assert [each.status for each in answers] == [200] * printed + [429] * (15 - printed)
        assert answers[-1].json["code"] == "too_fast"
        assert len(here.events("print_win_page")) == printed
