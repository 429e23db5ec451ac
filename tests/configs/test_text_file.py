"""Texts of people: what an editor, a spreadsheet or a shell adds to them changes nothing, and what is not UTF-8 is refused."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from punto.commands.lab_report.inputs import InputError, bill
from punto.configs.problems import ConfigError
from punto.configs.text_file import LARGEST, LONGEST_LINE, TextError, lines, read_line, read_text, text_of
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.passwords import verified
from punto.runtime.secret_file import read_secret
from punto.simulators.sealed import read_key
from punto.simulators.shoe import ScenarioError, read_scenario
from tests.command import punto
from tests.consoles.consoles import PASSWORD

BOM = b"\xef\xbb\xbf"
AS_SAVED: dict[str, Callable[[bytes], bytes]] = {
    "a byte-order mark": lambda data: BOM + data,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "a byte-order mark and CRLF": lambda data: BOM + data.replace(b"\n", b"\r\n"),
    "CR": lambda data: data.replace(b"\n", b"\r"),
    "no last end of a line": lambda data: data.removesuffix(b"\n"),
}
UTF_16: dict[str, Callable[[bytes], bytes]] = {
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-16 without a byte-order mark": lambda data: data.decode().encode("utf-16-le"),
    "UTF-16, big endian": lambda data: data.decode().encode("utf-16-be"),
}
COUPS = '{"cards":["9S","KD","3H","4C","8D"]}\n{"cards":["9H","KH","3S","4S","8H"]}\n'
SIMULATED = "shoe,round,cards\n1,1,9S KD 3H 4C 8D\n1,2,9H KH 3S 4S 8H\n"
GAME = ("--game", "mini-baccarat")


class Reads:
    """What each reader of people's texts makes of a file."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch

    def _given(self, file: Path, *arguments: str) -> tuple[int, str]:
        self._patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
        return self._said(*arguments)

    def _said(self, *arguments: str) -> tuple[int, str]:
        ran = punto(*arguments)
        return ran.returncode, ran.stdout + ran.stderr

    def score(self, file: Path) -> object:
        return self._given(file, "score", *GAME)

    def roads(self, file: Path) -> object:
        return self._given(file, "roads")

    def edge_report(self, file: Path) -> object:
        return self._said("edge-report", str(file), *GAME, "--json")

    def check_config(self, file: Path) -> object:
        return self._said("check-config", str(file))

    def games(self, file: Path) -> object:
        return self._said("games", str(file))

    def password(self, file: Path) -> object:
        return read_secret(file, "password", "password_file")

    def key(self, file: Path) -> object:
        return read_key(file)

    def scenario(self, file: Path) -> object:
        return read_scenario(str(file))

    def bill(self, file: Path) -> object:
        return bill(file).packages

    def account(self, file: Path) -> object:
        """Whether the account has the password that is on the standard input."""
        store = file.with_suffix(".db")
        store.unlink(missing_ok=True)
        said = self._given(file, "operators", "--accounts", str(store), "add", "Mei", "--role", "dealer")
        accounts = Accounts.open(store)
        try:
            found = accounts.find("Mei")
            return said, found is not None and verified(accounts.hash_of(found), PASSWORD)
        finally:
            accounts.close()


BILL = json.dumps({"bomFormat": "CycloneDX", "components": [{"name": "cobs", "version": "1.2"}]}, indent=1)
SHIPPED = Path(__file__).parents[2] / "configs"
READERS = [
    (Reads.score, COUPS),
    (Reads.roads, '{"winner":"banker"}\n{"winner":"tie"}\n'),
    (Reads.edge_report, COUPS),
    (Reads.check_config, (SHIPPED / "table.toml").read_text(encoding="utf-8")),
    (Reads.games, (SHIPPED / "games" / "mini-baccarat.toml").read_text(encoding="utf-8")),
    (Reads.password, "secret\n"),
    (Reads.key, "ab" * 32 + "\n"),
    (Reads.scenario, "# 七\ndecks = 8\ncut = 14\n"),
    (Reads.bill, f"{BILL}\n"),
    (Reads.account, f"{PASSWORD}\n"),
    (Reads.edge_report, SIMULATED),
]


@pytest.fixture
def read(monkeypatch):
    return Reads(monkeypatch)


@pytest.mark.parametrize("saved", AS_SAVED)
@pytest.mark.parametrize(("reader", "text"), READERS)
def test_how_a_text_was_saved_changes_nothing(tmp_path, read, reader, text, saved):
    file = tmp_path / "a.txt"
    file.write_bytes(text.encode())
    expected = reader(read, file)
    file.write_bytes(AS_SAVED[saved](text.encode()))

    assert reader(read, file) == expected


@pytest.mark.parametrize("saved", UTF_16)
@pytest.mark.parametrize(("reader", "text"), READERS)
def test_a_text_in_utf_16_is_to_be_saved_as_utf_8(tmp_path, read, reader, text, saved):
    file = tmp_path / "a.txt"
    file.write_bytes(UTF_16[saved](text.encode()))
    try:
        said = str(reader(read, file))
    except (ConfigError, InputError, ScenarioError, ValueError) as error:
        said = str(error)

    assert "save it as UTF-8" in said


def test_joined_files_may_each_begin_with_a_mark(tmp_path, read):
    file = tmp_path / "a.jsonl"
    first, second = COUPS.splitlines(keepends=True)
    file.write_text(COUPS)
    expected = read.score(file)
    file.write_bytes(BOM + first.encode() + BOM + second.encode() + BOM)

    assert read.score(file) == expected


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"a\n\xff\n", 2, "byte 1 of the line is 0xff"),
        (BOM + b"a\r\nb\r\nc\xe9\r\n", 3, "byte 2 of the line is 0xe9"),
        ("a\rü".encode() + b"\x80", 2, "byte 3 of the line is 0x80"),
        ("Café".encode("latin-1"), 1, "byte 4 of the line is 0xe9"),
    ],
)
def test_the_first_byte_that_is_not_utf_8_is_named_with_its_line(data, line, said):
    with pytest.raises(TextError, match=said) as refused:
        text_of(data)

    assert refused.value.line == line


def test_a_file_that_is_too_large_is_not_read_whole(tmp_path):
    file = tmp_path / "large"
    with file.open("wb") as made:
        made.truncate(LARGEST + 1)
    with pytest.raises(OSError, match=f"it has more than {LARGEST:,} bytes"):
        read_text(file)


def test_a_line_that_is_too_long_is_one_line():
    data = b"a" * LONGEST_LINE + b"\r" + b"b" * LONGEST_LINE + b"\nc\n"

    assert [*lines(io.BytesIO(data))] == [data[: LONGEST_LINE + 1], b"c\n"]
    with pytest.raises(TextError, match="longer than"):
        read_line(io.BytesIO(data))
