"""The questions of `punto setup` in a terminal."""

import asyncio
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from punto.commands.setup import found as finding
from punto.commands.setup.answers import Answers, DeviceAnswer, PagesAnswer
from punto.commands.setup.found import SHOE, Port
from punto.commands.setup.questions import Found, asked
from punto.controller.accounts.roles import Role
from punto.doctor import ports
from punto.drivers.base import BAUD
from tests.command import punto

ADAPTER = Port(Path("/dev/serial/by-id/usb-ftdi"), "FTDI UART A1B2", SHOE)
OTHER = Port(Path("/dev/serial/by-id/usb-ups"), "APC UPS", "the port is open but the shoe sends nothing")
FOUND = Found((OTHER, ADAPTER), ("10.0.7.5",))
QUESTIONS = 8


class Script:
    """A person who types these lines, and then nothing more than Enter."""

    def __init__(self, typed: Iterable[str] = ()) -> None:
        self._typed = iter(typed)
        self.questions: list[str] = []
        self.shown: list[str] = []

    def show(self, text: str) -> None:
        self.shown.append(text)

    def ask(self, question: str) -> str:
        self.questions.append(question)
        return next(self._typed, "")


def test_eight_questions_set_up_a_table_and_enter_takes_each_default() -> None:
    person = Script()

    answers = asked(person, Answers(), FOUND)

    assert len(person.questions) == QUESTIONS
    assert answers == Answers(
        shoe=DeviceAnswer(port=str(ADAPTER.path)), people={"supervisor": (Role.SUPERVISOR,)}
    )


def test_each_answer_is_taken() -> None:
    typed = ("Salon 8", "progressive-2", "jpy", "5,000-1,000,000", "zh-Hant", "2", "2", "Mei, Eve")
    person = Script(typed)

    answers = asked(person, Answers(table="table-2"), FOUND)

    assert len(person.questions) == QUESTIONS
    assert answers == Answers(
        table="table-2",
        name="Salon 8",
        game="progressive-2",
        currency="JPY",
        minimum=5000,
        maximum=1_000_000,
        language="zh-Hant",
        shoe=DeviceAnswer(port=str(OTHER.path)),
        console=PagesAnswer(host="10.0.7.5"),
        people={"Mei": (Role.SUPERVISOR,), "Eve": (Role.EXECUTIVE,)},
    )


def test_limits_are_asked_in_the_units_of_the_currency() -> None:
    person = Script(("", "", "KWD", "1.5-200"))

    answers = asked(person, Answers(), Found())

    assert (answers.minimum, answers.maximum) == (1500, 200_000)
    assert "[2.500-500.000]" in person.questions[3]


@pytest.mark.parametrize(
    ("at", "wrong", "message"),
    [
        (1, "bacarat", "no game"),
        (2, "XXX", "not a currency"),
        (3, "25", "not a range"),
        (3, "25-10", "more than maximum"),
        (3, "1.234-10", "at most 2 decimals"),
        (4, "xx", "not a language"),
        (5, "4", "not one of 1 to 3"),
        (5, "shoe", "not a port"),
        (7, "Mei, Eve", "write 1 name"),
    ],
)  # fmt: skip
def test_a_wrong_answer_is_explained_and_asked_again(at: int, wrong: str, message: str) -> None:
    person = Script([*[""] * at, wrong])

    answers = asked(person, Answers(), FOUND)

    assert len(person.questions) == QUESTIONS + 1
    assert person.questions[at] == person.questions[at + 1]
    assert message in " ".join(person.shown)
    assert answers == asked(Script(), Answers(), FOUND)


def test_former_answers_are_the_defaults() -> None:
    former = Answers(
        shoe=DeviceAnswer(port="/dev/mine", link_version=1),
        console=PagesAnswer(host="10.0.7.9", port=8443),
        people={"Mei": (Role.SUPERVISOR, Role.DEALER), "Kim": (Role.DEALER,)},
        seats=9,
    )

    assert asked(Script(), former, FOUND) == former


def test_without_a_port_the_dealer_keys_the_cards() -> None:
    assert asked(Script(), Answers(), Found()).shoe is None


def test_the_ports_are_listed_with_maker_and_guess() -> None:
    person = Script()
    asked(person, Answers(), FOUND)

    assert f"  3  {ADAPTER.path}: FTDI UART A1B2: a shoe" in person.shown


# --- the guess at a port


class Silent:
    """A driver of a device that answers with this reason, or introduces itself if the reason is empty."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


@contextmanager
def answering(monkeypatch: pytest.MonkeyPatch, *reasons: str) -> Iterator[list[str]]:
    """Devices in the order in which a port is asked for them."""
    tried: list[str] = []

    async def ask(driver: Any) -> str:
        await asyncio.sleep(0)
        tried.append(driver.reason)
        return str(driver.reason)

    kinds = zip(("a shoe", "a keypad", "wager sensors", "a card reader"), reasons, strict=False)
    monkeypatch.setattr(finding, "ask", ask)
    monkeypatch.setattr(
        finding, "_KINDS", {kind: lambda _, __, reason=reason: Silent(reason) for kind, reason in kinds}
    )
    yield tried


@pytest.mark.parametrize(
    ("reasons", "guess", "tries"),
    [
        (("",), "a shoe", 1),
        (("another device is at this port", ""), "a keypad", 2),
        (("the shoe uses version 2 of the link",), "a device that wants a key", 1),
        (("the port is open but the shoe sends nothing",), "the port is open but the shoe sends nothing", 1),
    ],
)  # fmt: skip
def test_a_port_is_asked_until_a_device_introduces_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reasons: tuple[str, ...], guess: str, tries: int
) -> None:
    with answering(monkeypatch, *reasons) as tried:
        assert finding.guess(tmp_path / "port") == guess

    assert len(tried) == tries


def test_each_kind_of_device_can_be_asked(tmp_path: Path) -> None:
    for kind, driver_of in finding._KINDS.items():
        assert "there is no port" in asyncio.run(ports.ask(driver_of(str(tmp_path / "port"), BAUD))), kind


def test_a_port_that_is_in_use_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "with_open", lambda _: ["gpsd (process 7)"])
    with answering(monkeypatch, "") as tried:
        assert finding.guess(tmp_path) == "in use by gpsd (process 7)"

    assert tried == []


def test_a_port_below_by_id_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "guess", lambda _: "")
    devices, by_id = tmp_path / "dev", tmp_path / "by-id"
    devices.mkdir()
    by_id.mkdir()
    for name in ("ttyUSB0", "ttyACM0", "ttyS0"):
        (devices / name).touch()
    (by_id / "usb-shoe").symlink_to(devices / "ttyUSB0")

    assert [each.path for each in finding.serial_ports(by_id, devices)] == [
        by_id / "usb-shoe",
        devices / "ttyACM0",
    ]


def test_the_zone_is_that_of_the_clock(tmp_path: Path) -> None:
    (tmp_path / "localtime").symlink_to("/usr/share/zoneinfo/Asia/Macau")

    assert finding.zone(tmp_path / "localtime") == "Asia/Macau"
    assert finding.zone(tmp_path / "none") == "UTC"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gets so far")
def test_without_a_terminal_the_command_asks_for_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO())
    done = punto("setup")

    assert done.returncode == 1
    assert "--answers FILE" in done.stderr
