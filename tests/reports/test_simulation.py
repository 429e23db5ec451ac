"""Every page and report of a simulation says that it is one; the same of a live table does not."""

import io
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pypdf
import pytest

from punto.messages.building import progressive_message
from tests.command import punto
from tests.consoles.consoles import consoles
from tests.reports import test_web
from tests.reports.house import House, a_weekend, at_the_house, house
from tests.reports.test_win_page_command import CONFIG

printer = test_web.printer
MARK = "Table 1 · SIMULATION"
KINDS = pytest.mark.parametrize("simulation", [True, False])
REPORTS = ((), ("--day", "2026-11-20"), ("--week", "2026-11-20"), ("--reconcile", "2026-11-20"), ("--awards",), ("--postings",))  # fmt: skip
COMMANDS = (
    ("replay", "{record}"),
    ("progressive", "audit", "{record}"),
    ("edge-report", "{record}", "--json", "--shoe", "1"),
    *(
        ("progressive", "report", "--record", "{record}", form, *asked)
        for asked in REPORTS
        for form in ("--csv", "--json")
    ),
)
PATHS = ("/settings.json", "/api/table", "/api/shift", *(path for path in test_web.READS if "/csv/" in path or path == "/api/progressive"))  # fmt: skip


@pytest.fixture
async def played(tmp_path, simulation) -> AsyncIterator[House]:
    own = replace(house(), simulation=simulation)
    async with at_the_house(tmp_path, "2026-11-20 19:00", own) as here:
        await a_weekend(here)
        yield here


@KINDS
async def test_every_report_of_a_command_names_the_table_and_says_whether_it_is_a_simulation(
    played, simulation
):
    for command in COMMANDS:
        ran = punto(*(part.format(record=played.record) for part in command))

        assert ran.returncode == 0, ran.stderr
        said = ran.stdout.replace("\\u00b7", "·")
        assert (MARK if simulation else "Table 1") in said, command
        assert ("SIMULATION" in ran.stdout) is simulation, command


@KINDS
@pytest.mark.usefixtures("cheap_passwords")
async def test_every_page_report_and_slip_of_the_consoles_says_so(tmp_path, printer, simulation):
    own = replace(house(), simulation=simulation)
    async with at_the_house(tmp_path, "2026-11-20 19:00", own) as here:
        await a_weekend(here)
    async with consoles(tmp_path, own) as here:
        here.account("omar", "supervisor")
        browser = await here.signed_on("omar")
        for path in PATHS:
            answer = await browser.get(path)

            assert answer.status == 200, answer.text
            assert (MARK if simulation else "Table 1") in answer.text, path
            assert ("SIMULATION" in answer.text) is simulation, path
        awards = (await browser.get("/api/progressive/awards")).json["awards"]
        assert (await test_web.a_print(browser, awards[0]["input"])).status == 204
    printer.switch_off()

    assert (b"SIMULATION" in printer.slips[0]) is simulation


@KINDS
async def test_a_win_page_of_the_command_says_so(played, tmp_path, simulation):
    config = tmp_path / "table.toml"
    config.write_text(
        CONFIG.replace('"keyed"', f'"keyed"\nsimulation = {str(simulation).lower()}'), encoding="utf-8"
    )
    (last, *_) = punto_awards(played.record)
    page = tmp_path / "win.pdf"
    assert punto("progressive", "win-page", "--config", str(config), "--input", last, "--pdf", str(page)).returncode == 0  # fmt: skip

    (sheet,) = pypdf.PdfReader(io.BytesIO(page.read_bytes())).pages
    assert ("SIMULATION" in sheet.extract_text()) is simulation


def punto_awards(record: Path) -> list[str]:
    _, *lines = punto("progressive", "report", "--record", str(record), "--awards").stdout.splitlines()
    return [line.partition(",")[0] for line in lines]


@KINDS
async def test_the_message_of_a_meter_says_so(played, simulation):
    message = progressive_message(played.table.state, played.table.engine.seq, None, datetime.now(UTC))

    assert message is not None
    assert message.simulation is simulation
