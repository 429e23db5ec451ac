"""What the Game Manager's pages read, over real HTTP: who may, and what comes."""

import csv
import io
import socket
import sys
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from controller.journal import store
from controller.operators import console
from tests.game_manager.house import a_weekend, at_the_house, house
from tests.operators.conftest import cheap_passwords
from tests.operators.consoles import PASSWORD, Here, consoles

__all__ = ["cheap_passwords"]

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


async def played(folder: Path) -> None:
    """A weekend on the record."""
    async with at_the_house(folder, "2026-11-20 19:00") as here:
        await a_weekend(here)


async def first_award(here: Here) -> int:
    browser = await here.signed_on("ike")
    number: int = (await browser.get("/api/progressive/awards")).json["awards"][-1]["input"]
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
            "contribution 20% and reserve 99% are more than the whole wager",
        )
        assert (found["day_starts"], found["zone"], found["week_starts"]) == ("06:00", "UTC", "monday")
        assert found["today"] <= datetime.now(UTC).date().isoformat()


async def test_the_meters_have_what_the_table_shows_however_slow_the_disk_is(tmp_path, monkeypatch):
    await played(tmp_path)
    add_book_rows = store.add_book_rows

    def late(*args: Any) -> None:
        time.sleep(0.3)
        add_book_rows(*args)

    async with consoles(tmp_path, house()) as here:
        here.account("eve", "executive")
        here.account("ida", "executive")
        browser = await here.signed_on("eve")
        approval = {"name": "ida", "password": PASSWORD}
        monkeypatch.setattr(store, "add_book_rows", late)
        (before,) = (await browser.get("/api/progressive")).json["meters"]
        done = await browser.order("adjust", cause="increase", amount=2500, reason="r", approval=approval)
        (after,) = (await browser.get("/api/progressive")).json["meters"]

        assert done.status == 200
        was, now = (Decimal(meter["accounts"]["adjustments"]) for meter in (before, after))
        assert now - was == 25


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/days/2026-02-30", 422),
        ("/days/1999-12-31", 422),
        ("/days/9999-12-31", 422),
        ("/weeks/2026-11-20?week_starts=someday", 422),
        ("/awards?before=0", 422),
        ("/awards?limit=101", 422),
        ("/awards/1/win-page", 404),
        ("/awards/x/win-page", 422),
    ],
)
async def test_what_cannot_be_read_is_told_and_the_service_goes_on(path, status, tmp_path):
    async with consoles(tmp_path, house()) as here:
        here.account("ike", "auditor")
        browser = await here.signed_on("ike")
        answer = await browser.get(f"/api/progressive{path}")

        assert answer.status == status
        assert answer.json["reason"]
        assert (await browser.get("/api/progressive")).status == 200


async def test_a_download_is_a_file_with_the_tables_name_and_the_report_in_it(tmp_path):
    await played(tmp_path)
    async with consoles(tmp_path, house()) as here:
        here.account("ike", "auditor")
        browser = await here.signed_on("ike")
        answer = await browser.get("/api/progressive/csv/days/2026-11-20")

        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        assert answer.headers["content-disposition"] == 'attachment; filename="table-1-day-2026-11-20.csv"'
        assert answer.headers["cache-control"] == "no-store"
        assert [row["line"] for row in csv.DictReader(io.StringIO(answer.text, newline=""))][:2] == [
            "start",
            "contribution",
        ]


async def test_without_the_extra_a_win_page_says_what_to_install(tmp_path, monkeypatch):
    await played(tmp_path)
    async with consoles(tmp_path, house()) as here:
        here.account("ike", "auditor")
        number = await first_award(here)
        browser = await here.signed_on("ike")
        monkeypatch.delitem(sys.modules, "game_manager.pdf", raising=False)
        monkeypatch.setitem(sys.modules, "fpdf", None)
        answer = await browser.get(f"/api/progressive/awards/{number}/win-page")

        assert (answer.status, "punto[print]" in answer.json["reason"]) == (503, True)


# --- the slip


async def test_without_a_printer_there_is_no_slip_and_without_the_token_there_is_none_either(tmp_path):
    await played(tmp_path)
    async with consoles(tmp_path, house()) as here:
        here.account("ike", "auditor")
        path = f"/api/progressive/awards/{await first_award(here)}/slip"
        browser = await here.signed_on("ike")
        answer = await browser.ask("POST", path)
        without = await browser.ask("POST", path, headers={"X-CSRF-Token": None})

        assert (answer.status, "no slip printer" in answer.json["reason"]) == (404, True)
        assert (without.status, without.json["code"]) == (403, "csrf")


async def test_a_slip_is_printed_at_the_houses_printer_and_one_that_is_gone_is_told(tmp_path, monkeypatch):
    await played(tmp_path)
    taken = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as printer:
        address = f"127.0.0.1:{printer.getsockname()[1]}"
        real = console._house
        monkeypatch.setattr(console, "_house", lambda *given: replace(real(*given), printer=address))

        def take() -> None:
            connection, _ = printer.accept()
            with connection:
                while part := connection.recv(4096):
                    taken.extend(part)

        taking = threading.Thread(target=take)
        taking.start()
        async with consoles(tmp_path, house()) as here:
            here.account("ike", "auditor")
            path = f"/api/progressive/awards/{await first_award(here)}/slip"
            browser = await here.signed_on("ike")
            printed = await browser.ask("POST", path)
            taking.join(5)
            printer.close()
            gone = await browser.ask("POST", path)

    assert printed.status == 204
    assert b"USD 2,500.25" in taken
    assert b"BACKED OUT: DO NOT PAY" in taken
    assert (gone.status, "cannot be reached" in gone.json["reason"]) == (503, True)
