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
from punto.commands.setup.answers import Answers, DeviceAnswer, PagesAnswer, SensorsAnswer
from punto.commands.setup.found import KEYBOARD, NUMBER_PAD, SENSORS, SHOE, Finder, Port
from punto.commands.setup.questions import QUESTIONS, Found, asked, form
from punto.controller.accounts.roles import Role
from punto.doctor import ports
from punto.drivers.base import BAUD
from tests.command import punto

ADAPTER = Port(Path("/dev/serial/by-id/usb-ftdi"), "FTDI UART A1B2", SHOE)
OTHER = Port(Path("/dev/serial/by-id/usb-ups"), "APC UPS", "the port is open but the shoe sends nothing")
FOUND = Found((OTHER, ADAPTER), ("10.0.7.5",))
KEYPAD = Port(Path("/dev/input/by-id/usb-pad-event-kbd"), "Pad", NUMBER_PAD, typed=True)
CHEAP = Port(Path("/dev/input/by-id/usb-cheap-event-kbd"), "Cheap", NUMBER_PAD, typed=True, unproven=True)


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

    answers = asked(person, Answers(), lambda: FOUND)

    assert len(person.questions) == len(QUESTIONS)
    assert answers == Answers(
        shoe=DeviceAnswer(port=str(ADAPTER.path)), people={"supervisor": (Role.SUPERVISOR,)}
    )


def test_each_answer_is_taken() -> None:
    typed = ("Salon 8", "progressive-2", "jpy", "5,000-1,000,000", "zh-Hant", "2", "2", "Mei, Eve")
    person = Script(typed)

    answers = asked(person, Answers(table="table-2"), lambda: FOUND)

    assert len(person.questions) == len(QUESTIONS)
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

    answers = asked(person, Answers(), Found)

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
        (5, "shoe", "not a device"),
        (5, "4", "not one of 1 to 3"),
        (5, "2 gun", "write what"),
        (5, "2 shoe, 3 shoe", "a table has one shoe"),
        (5, "2 reader", "a game with a progressive"),
        (7, "Mei, Eve", "write 1 name"),
    ],
)  # fmt: skip
def test_a_wrong_answer_is_explained_and_asked_again(at: int, wrong: str, message: str) -> None:
    person = Script([*[""] * at, wrong])

    answers = asked(person, Answers(), lambda: FOUND)

    assert len(person.questions) == len(QUESTIONS) + 1
    assert person.questions[at] == person.questions[at + 1]
    assert message in " ".join(person.shown)
    assert answers == asked(Script(), Answers(), lambda: FOUND)


def test_former_answers_are_the_defaults() -> None:
    former = Answers(
        shoe=DeviceAnswer(port="/dev/mine", link_version=1),
        console=PagesAnswer(host="10.0.7.9", port=8443),
        people={"Mei": (Role.SUPERVISOR, Role.DEALER), "Kim": (Role.DEALER,)},
        seats=9,
    )

    assert asked(Script(), former, lambda: FOUND) == former


def test_without_a_port_the_dealer_keys_the_cards() -> None:
    assert asked(Script(), Answers(), Found).shoe is None


def test_the_ports_are_listed_with_maker_and_guess() -> None:
    person = Script()
    asked(person, Answers(), lambda: FOUND)

    assert f"  3  {ADAPTER.path}: FTDI UART A1B2: a shoe" in person.shown


MANY = Found((ADAPTER, OTHER, KEYPAD, CHEAP))


@pytest.mark.parametrize(
    ("text", "devices"),
    [
        ("2", {"shoe": DeviceAnswer(port=str(ADAPTER.path))}),
        ("none", {}),
        ("1", {}),
        ("3 keypad unproven", {"keypad": DeviceAnswer(port=str(OTHER.path), link_version=1)}),
        ("/dev/ttyS0", {"shoe": DeviceAnswer(port="/dev/ttyS0")}),
        ("2, 4 keypad", {"shoe": DeviceAnswer(port=str(ADAPTER.path)), "keypad": DeviceAnswer(input=str(KEYPAD.path))}),
        ("5 reader unproven", {"card_reader": DeviceAnswer(input=str(CHEAP.path), link_version=1)}),
        ("3 sensors", {"coin_spot": SensorsAnswer(port=str(OTHER.path), seats=(1, 2))}),
    ],
)  # fmt: skip
def test_each_device_gets_its_section(text: str, devices: dict[str, DeviceAnswer]) -> None:
    former = Answers(game="progressive-2", coin_spot=SensorsAnswer(port="/dev/former", seats=(1, 2)))

    answers = asked(Script([*[""] * 5, text]), former, lambda: MANY)

    assert dict(answers.devices()) == devices


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5 keypad", "has no serial number"),
        ("4", "write what"),
        ("4 shoe", "can only be a keypad or a reader"),
    ],
)  # fmt: skip
def test_an_input_device_needs_a_name_and_a_proof_which_one_it_is(text: str, message: str) -> None:
    person = Script([*[""] * 5, text])
    asked(person, Answers(), lambda: MANY)

    assert message in " ".join(person.shown)


def test_devices_are_looked_for_again_until_the_question_is_answered() -> None:
    looks = iter((Found(), FOUND))
    person = Script([*[""] * 5, "r"])

    answers = asked(person, Answers(), lambda: next(looks))

    assert answers.shoe == DeviceAnswer(port=str(ADAPTER.path))
    assert "[none]" in person.questions[5]


# --- the same questions as a form


def test_the_form_has_the_same_questions_and_defaults() -> None:
    shown = form({}, Answers(), FOUND)

    assert [each.key for each in shown.questions] == [each.key for each in QUESTIONS]
    assert shown.answers == asked(Script(), Answers(), lambda: FOUND)


def test_a_text_of_the_form_changes_the_defaults_of_later_questions() -> None:
    shown = {
        each.key: each
        for each in form({"currency": "jpy", "game": "progressive-2"}, Answers(), FOUND).questions
    }

    assert shown["limits"].values == {"currency": "JPY"}
    assert shown["limits"].text == "2500-500000"
    assert shown["people"].text == "supervisor, executive"


def test_a_wrong_text_of_the_form_has_its_reason_and_there_are_no_answers() -> None:
    shown = form({"limits": "25"}, Answers(), FOUND)

    assert shown.answers is None
    assert [each.key for each in shown.questions if each.fault] == ["limits"]
    assert "25" in shown.questions[3].fault


def test_the_form_lists_each_device_with_what_it_can_be() -> None:
    text = f"{ADAPTER.path} shoe, /dev/gone keypad unproven"
    (asked_,) = (each for each in form({"devices": text}, Answers(), MANY).questions if each.key == "devices")

    rows = {row.path: row for row in asked_.rows}
    assert {path: row.chosen for path, row in rows.items()} == {
        str(ADAPTER.path): "shoe",
        str(OTHER.path): "",
        str(KEYPAD.path): "",
        str(CHEAP.path): "",
        "/dev/gone": "keypad unproven",
    }
    assert rows[str(KEYPAD.path)].choices == ["", "keypad"]
    assert rows[str(CHEAP.path)].choices == ["", "keypad unproven"]
    assert rows["/dev/gone"].about == "not connected"


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


def test_a_port_below_by_id_is_listed_once(tmp_path: Path) -> None:
    devices, by_id = tmp_path / "dev", tmp_path / "by-id"
    devices.mkdir()
    by_id.mkdir()
    for name in ("ttyUSB0", "ttyACM0", "ttyS0"):
        (devices / name).touch()
    (by_id / "usb-shoe").symlink_to(devices / "ttyUSB0")

    assert [*finding.serial_paths(by_id, devices)] == [by_id / "usb-shoe", devices / "ttyACM0"]


def test_a_port_is_asked_when_it_appears_and_again_if_nobody_knows_its_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, heard, tried = [tmp_path / "a"], {"a": SHOE, "b": "it sends nothing"}, list[str]()
    monkeypatch.setattr(finding, "serial_paths", lambda: there)
    monkeypatch.setattr(finding, "input_devices", lambda: ())

    def guess(path: Path) -> str:
        tried.append(path.name)
        return heard[path.name]

    monkeypatch.setattr(finding, "guess", guess)
    finder = Finder()

    assert [each.guess for each in finder.look()] == [SHOE]
    there.append(tmp_path / "b")
    assert [each.guess for each in finder.look()] == [SHOE, "it sends nothing"]
    finder.look()
    assert tried == ["a", "b"]

    heard["b"] = SENSORS
    assert [each.guess for each in finder.look_again()] == [SHOE, SENSORS]
    assert tried == ["a", "b", "b"]
    there.pop(0)
    assert [each.path.name for each in finder.look()] == ["b"]


# The keys of a keyboard, of a number pad and of a mouse, as /proc/bus/input/devices has them.
KEYBOARD_KEYS = "1000000000007 ff9f207ac14057ff febeffdfffefffff fffffffffffffffe"
PAD_KEYS = "5000fffa0 4000"
MOUSE_KEYS = "1f0000 0 0 0 0"


@pytest.fixture
def inputs(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of input devices and the sysfs that describes them."""
    folder, sysfs = tmp_path / "by-id", tmp_path / "sys"
    folder.mkdir()
    for number, (name, keys, serial) in enumerate(
        (("Wedge", KEYBOARD_KEYS, "W7"), ("Pad", PAD_KEYS, ""), ("Mouse", MOUSE_KEYS, "M1"))
    ):
        device = sysfs / f"class/input/event{number}/device"
        (device / "capabilities").mkdir(parents=True)
        for file, text in (("name", name), ("uniq", serial), ("capabilities/key", keys)):
            (device / file).write_text(f"{text}\n")
        (tmp_path / f"event{number}").touch()
        (folder / f"usb-{name}-event-kbd").symlink_to(tmp_path / f"event{number}")
    return folder, sysfs


def test_input_devices_are_found_by_their_keys_and_none_is_opened(inputs: tuple[Path, Path]) -> None:
    found = {each.adapter: each for each in finding.input_devices(*inputs)}

    assert {name: (each.guess, each.unproven) for name, each in found.items()} == {
        "Wedge": (KEYBOARD, False),
        "Pad": (NUMBER_PAD, True),
    }
    assert found["Pad"].about() == "Pad: a number pad, without a serial number"


def test_a_screen_of_this_pc_is_found(tmp_path: Path) -> None:
    for name, status, modes in (
        ("card0-HDMI-A-1", "connected", "1920x1080\n1280x720\n"),
        ("card0-DP-1", "disconnected", ""),
    ):
        connector = tmp_path / "class/drm" / name
        connector.mkdir(parents=True)
        (connector / "status").write_text(f"{status}\n")
        (connector / "modes").write_text(modes)

    assert [*finding.screens(tmp_path)] == ["HDMI-A-1 1920x1080"]


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
