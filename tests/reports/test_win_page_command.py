"""`punto progressive win-page`: the page of an award from a configured table's record."""

import io
import os
import pty
import re
import tty
from pathlib import Path

import pypdf
import pytest

from punto.commands.cli import main
from punto.reports.awards import awards
from punto.reports.record import opened
from tests.reports.house import a_weekend, at_the_house

CONFIG = """\
version = 1
[table]
id = "table-1"
name = "Baccarat 8"
game = "progressive-2"
cards = "keyed"
currency = "HKD"
[record]
path = "table.db"
[operator]
socket = "operator.sock"
[progressive]
id = "dragon"
[calendar]
zone = "Asia/Macau"
"""


async def test_the_page_is_written_as_a_pdf_or_printed_as_a_slip(tmp_path, capsys):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_weekend(here)
    config = tmp_path / "table.toml"
    config.write_text(CONFIG, encoding="utf-8")
    with opened(here.record) as record:
        last, first = awards(record).awards

    def command(number: int, *where: str | Path) -> int:
        asked = ("win-page", "--config", config, "--input", number, *where)
        return main(["progressive", *map(str, asked)])

    assert command(last.input, "--pdf", tmp_path / "win.pdf") == 0
    (sheet,) = pypdf.PdfReader(io.BytesIO((tmp_path / "win.pdf").read_bytes())).pages
    assert "HKD 10,126.05" in sheet.extract_text()
    assert "Baccarat 8 (table-1)" in sheet.extract_text()
    assert "COPY" in sheet.extract_text()  # the original is the Game Manager's to print
    assert re.search(r"Printed by\s+command line", sheet.extract_text())
    assert re.search(r"Confirmed\s+2026-11-22 12:00:\d\d\+08:00", sheet.extract_text())

    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    assert command(first.input, "--printer", os.ttyname(theirs)) == 0
    assert b"BACKED OUT: DO NOT PAY\n\x1d!\x11HKD 2,500.25" in os.read(ours, 4096)
    os.close(ours)
    os.close(theirs)

    for asked, status, told in (
        ((1, "--pdf", tmp_path / "none.pdf"), 2, "input 1 of the record did not lock an award"),
        ((last.input, "--pdf", tmp_path / "none" / "win.pdf"), 1, "No such file"),
        ((last.input, "--printer", str(tmp_path / "lp0")), 1, "cannot be reached"),
    ):
        assert command(*asked) == status
        assert told in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command(last.input)
