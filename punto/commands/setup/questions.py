"""The questions of `punto setup`: eight, each with a default. The terminal and the page ask them from the one table `QUESTIONS`."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

from pydantic import BaseModel, Field, ValidationError

from punto.baccarat.currency import decimals_of, written
from punto.commands.setup.answers import Answers, DeviceAnswer, PagesAnswer, SensorsAnswer
from punto.commands.setup.configuration import metered
from punto.commands.setup.found import KEYPAD, READER, SENSORS, SHOE, Port
from punto.configs.game_files import load_game, shipped_games
from punto.configs.problems import ConfigError
from punto.controller.accounts.roles import Role
from punto.displays.words import languages

CATALOGS: Final = Path(__file__).parent / "catalogs"
NO_DEVICE: Final = "none"
AGAIN: Final = "r"
"""What is typed to look for devices again."""
_HINT: Final = "  Write what is what, such as 2 shoe, 3 keypad; the others are sensors and reader. r looks for devices again."
THIS_PC: Final = "127.0.0.1"
UNPROVEN: Final = "unproven"
KINDS: Final = {"shoe": SHOE, "keypad": KEYPAD, "sensors": SENSORS, "reader": READER}
"""The word for each kind of device, and the guess that finds it."""
_SECTIONS: Final = {"shoe": "shoe", "keypad": "keypad", "sensors": "coin_spot", "reader": "card_reader"}
_TYPED: Final = ("keypad", "reader")
"""The kinds that can be an input device."""
_OF_A_METER: Final = ("sensors", "reader")


@dataclass(frozen=True, slots=True)
class Option:
    """An answer to choose: what is typed for it, and what it is, for people."""

    value: str
    text: str


class Terminal(Protocol):
    """Where questions are asked."""

    def show(self, text: str) -> None:
        """Show a line."""

    def ask(self, question: str) -> str:
        """Show a question, and return what is typed."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the questions offer: the devices of this PC and its addresses."""

    ports: Sequence[Port] = ()
    addresses: Sequence[str] = ()


def _no_options(_: Answers, __: Found) -> Sequence[Option]:
    return ()


def _no_values(_: Answers) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a table: its key in the catalogues, its default in text, and what a text changes in the answers.

    A text that cannot be an answer raises ValueError. `free` says that other texts than the options can be answers too.
    """

    key: str
    default: Callable[[Answers, Found], str]
    read: Callable[[str, Answers, Found], dict[str, Any]]
    options: Callable[[Answers, Found], Sequence[Option]] = _no_options
    values: Callable[[Answers], Mapping[str, str]] = _no_values
    """What is filled in the words of the question."""
    free: bool = True

    def taken(self, text: str, answers: Answers, found: Found) -> Answers:
        """The answers with this one.

        Raises:
            ValueError: it cannot be the answer; the message says why, and what to write.
        """
        try:
            return Answers.model_validate(answers.model_dump() | self.read(text.strip(), answers, found))
        except ValidationError as error:
            raise ValueError(
                "; ".join(each["msg"].removeprefix("Value error, ") for each in error.errors())
            ) from None
        except ConfigError as error:
            raise ValueError(str(error)) from None


# --- the table's own answers


def _game(text: str, _: Answers, __: Found) -> dict[str, Any]:
    load_game(text)
    return {"game": text}


@cache
def _games() -> Sequence[Option]:
    return tuple(Option(name, load_game(name).title) for name in shipped_games())


def _range(answers: Answers, _: Found) -> str:
    return "-".join(written(each, answers.currency, group="") for each in (answers.minimum, answers.maximum))


def _limits(text: str, answers: Answers, found: Found) -> dict[str, Any]:
    parts = text.replace(",", "").split("-")
    if len(parts) != 2:
        raise ValueError(
            f"{text[:40]!r} is not a range: write the minimum and the maximum, such as {_range(answers, found)}"
        )
    least, most = (_minor(each.strip(), decimals_of(answers.currency)) for each in parts)
    return {"minimum": least, "maximum": most}


def _minor(text: str, decimals: int) -> int:
    whole, _, part = text.partition(".")
    if not (whole + part).isdecimal() or len(part) > decimals:
        raise ValueError(f"{text[:40]!r} is not an amount with at most {decimals} decimals")
    return int(whole + part.ljust(decimals, "0"))


def _languages(_: Answers, __: Found) -> Sequence[Option]:
    return tuple(Option(code, "") for code in languages())


# --- its devices


def _likely(answers: Answers, found: Found) -> str:
    """The former devices, or those that introduced themselves, or else the only serial port."""
    former = [_item(kind, getattr(answers, section)) for kind, section in _SECTIONS.items()]
    if any(former):
        return ", ".join(filter(None, former))
    own = [kind for kind in KINDS if kind not in _OF_A_METER or metered(load_game(answers.game))]
    first = {kind: next((port for port in found.ports if port.guess == KINDS[kind]), None) for kind in own}
    serial = [port for port in found.ports if not port.typed]
    if first["shoe"] is None and len(serial) == 1 and serial[0].guess not in KINDS.values():
        first["shoe"] = serial[0]
    return ", ".join(f"{port.path} {kind}" for kind, port in first.items() if port is not None) or NO_DEVICE


def _item(kind: str, device: DeviceAnswer | None) -> str:
    """A device as it is typed."""
    if device is None:
        return ""
    return " ".join((device.path, kind, *((UNPROVEN,) if device.link_version == 1 else ())))


def _ports(_: Answers, found: Found) -> Sequence[Option]:
    return (
        Option(NO_DEVICE, "the dealer keys the cards"),
        *(Option(str(port.path), port.about()) for port in found.ports),
    )


def _devices(text: str, answers: Answers, found: Found) -> dict[str, Any]:
    changes: dict[str, Any] = dict.fromkeys(_SECTIONS.values())
    if text == NO_DEVICE:
        return changes
    known = {str(port.path): port for port in found.ports}
    for item in text.split(","):
        path, kind, unproven = _read_item(item.split(), known)
        section = _SECTIONS[kind]
        if changes[section] is not None:
            raise ValueError(f"a table has one {kind}: {changes[section].path} is one already")
        if kind in _OF_A_METER and not metered(load_game(answers.game)):
            raise ValueError(
                f"only a game with a progressive has a {kind}, and {answers.game} does not have one"
            )
        changes[section] = _device(section, path, known.get(path), answers, unproven=unproven)
    return changes


def _read_item(words: list[str], known: Mapping[str, Port]) -> tuple[str, str, bool]:
    """The path, the kind, and whether the house allows a device that proves nothing."""
    unproven = words[-1:] == [UNPROVEN]
    path, *kinds = words[: len(words) - unproven] or [""]
    if not path.startswith("/") or len(kinds) > 1:
        raise ValueError(
            f"{' '.join(words)[:60]!r} is not a device: write its number or path and what it is, such as 2 shoe"
        )
    port = known.get(path)
    guessed = next((kind for kind, guess in KINDS.items() if port is not None and port.guess == guess), None)
    kind = kinds[0] if kinds else guessed or ("shoe" if port is None or not port.typed else "")
    if kind not in KINDS:
        raise ValueError(f"write what {path} is: {', '.join(KINDS)}, such as {path} keypad")
    return path, kind, unproven


def _device(section: str, path: str, port: Port | None, answers: Answers, *, unproven: bool) -> DeviceAnswer:
    former: DeviceAnswer | None = getattr(answers, section)
    typed = port.typed if port is not None else path.startswith("/dev/input/")
    if typed and section not in {_SECTIONS[kind] for kind in _TYPED}:
        raise ValueError(f"{path} types keys, so it can only be a {' or a '.join(_TYPED)}")
    if port is not None and port.unproven and not unproven:
        raise ValueError(
            f"{path} has no serial number, so another device of its model would pass as it: use another device, or write {UNPROVEN} "
            "after what it is, if the house allows it"
        )
    keys: dict[str, Any] = {"input" if typed else "port": path, "link_version": 1 if unproven else 2}
    if section != "coin_spot":
        return DeviceAnswer(**keys)
    if isinstance(former, SensorsAnswer):
        keys["seats"] = former.seats
    return SensorsAnswer(**keys)


# --- its pages and people


def _addresses(_: Answers, found: Found) -> Sequence[Option]:
    return (Option(THIS_PC, "this PC alone"), *(Option(each, "") for each in found.addresses))


def _console(text: str, answers: Answers, _: Found) -> dict[str, Any]:
    return {"console": PagesAnswer(host=text, port=answers.console.port)}


def _needed(answers: Answers) -> list[Role]:
    return [Role.SUPERVISOR, *([Role.EXECUTIVE] if metered(load_game(answers.game)) else [])]


def _first_people(answers: Answers, _: Found) -> str:
    return ", ".join(
        next((name for name, roles in answers.people.items() if role in roles), str(role))
        for role in _needed(answers)
    )


def _people(text: str, answers: Answers, _: Found) -> dict[str, Any]:
    needed = _needed(answers)
    names = [each.strip() for each in text.split(",")]
    if len(names) != len(needed) or not all(names):
        raise ValueError(f"write {len(needed)} name{'s, with a comma between them' * (len(needed) > 1)}")
    people = {name: tuple(roles) for name, roles in answers.people.items()}
    for name, role in zip(names, needed, strict=True):
        people[name] = tuple(dict.fromkeys((*people.get(name, ()), role)))
    return {"people": people}


def _roles(answers: Answers) -> Mapping[str, str]:
    return {"roles": " and ".join(map(str, _needed(answers)))}


DEVICES: Final = "devices"
QUESTIONS: Final = (
    Question("name", lambda answers, _: answers.name, lambda text, *_: {"name": text}),
    Question("game", lambda answers, _: answers.game, _game, lambda *_: _games()),
    Question("currency", lambda answers, _: answers.currency, lambda text, *_: {"currency": text.upper()}),
    Question("limits", _range, _limits, values=lambda answers: {"currency": answers.currency}),
    Question(
        "language",
        lambda answers, _: answers.language,
        lambda text, *_: {"language": text},
        _languages,
        free=False,
    ),
    Question(DEVICES, _likely, _devices, _ports),
    Question("console", lambda answers, _: answers.console.host, _console, _addresses),
    Question("people", _first_people, _people, values=_roles),
)


# --- in a terminal


def asked(terminal: Terminal, known: Answers, look: Callable[[], Found]) -> Answers:
    """The answers that a person gives in a terminal. `known` are the defaults, and `look` finds what is offered."""
    words = json.loads((CATALOGS / "en.json").read_text(encoding="utf-8"))
    answers, found = known, look()
    for question in QUESTIONS:
        text = words[f"question.{question.key}"].format(**question.values(answers))
        while True:
            options = question.options(answers, found)
            for number, each in enumerate(options, start=1):
                terminal.show(f"  {number}  {': '.join(filter(None, (each.value, each.text)))}")
            if question.key == DEVICES:
                terminal.show(_HINT)
            default = question.default(answers, found)
            given = terminal.ask(f"{text} [{default}]: ").strip() or default
            if question.key == DEVICES and given == AGAIN:
                found = look()
                continue
            try:
                answers = question.taken(_with_values(given, options), answers, found)
                break
            except ValueError as error:
                terminal.show(f"  {error}")
    return answers


def _with_values(text: str, options: Sequence[Option]) -> str:
    """The text with the options in place of their numbers, which begin its parts.

    Raises:
        ValueError: there is no such number.
    """
    if not options:
        return text
    return ", ".join(_with_value(part.strip(), options) for part in text.split(","))


def _with_value(part: str, options: Sequence[Option]) -> str:
    first, _, others = part.partition(" ")
    if not first.isdecimal():
        return part
    if not 1 <= int(first) <= len(options):
        raise ValueError(f"{first[:20]} is not one of 1 to {len(options)}")
    return " ".join(filter(None, (options[int(first) - 1].value, others)))


# --- as a form


class Row(BaseModel):
    """A device in a form: what it is, as it is typed, and what it can be. Empty, the table does not have it."""

    path: str
    about: str
    chosen: str
    choices: Sequence[str]


class Asked(BaseModel):
    """A question as a page shows it: the text that is given or the default, and why the text cannot be the answer."""

    key: str
    text: str
    values: Mapping[str, str]
    options: Sequence[Option]
    free: bool
    fault: str = ""
    rows: Sequence[Row] = ()


class Form(BaseModel):
    """All questions with the texts that are given, and the answers; None if a text cannot be an answer."""

    questions: Sequence[Asked]
    answers: Answers | None = Field(exclude=True)


def form(texts: Mapping[str, str], known: Answers, found: Found) -> Form:
    """The questions with these texts, and with the defaults of the others."""
    answers, questions = known, list[Asked]()
    for question in QUESTIONS:
        text, fault = texts.get(question.key) or question.default(answers, found), ""
        options, values = question.options(answers, found), question.values(answers)
        rows = _rows(text, answers, found) if question.key == DEVICES else ()
        try:
            answers = question.taken(text, answers, found)
        except ValueError as error:
            fault = str(error)
        questions.append(
            Asked(
                key=question.key, text=text, values=values, options=options, free=question.free, fault=fault, rows=rows
            )
        )  # fmt: skip
    return Form(questions=questions, answers=None if any(each.fault for each in questions) else answers)


def _rows(text: str, answers: Answers, found: Found) -> list[Row]:
    """The devices that are connected, and those that the text names."""
    typed = {
        path: kind.strip() for path, _, kind in (item.strip().partition(" ") for item in text.split(","))
    }
    known = {str(port.path): port for port in found.ports}
    kinds = [kind for kind in KINDS if kind not in _OF_A_METER or metered(load_game(answers.game))]
    rows = []
    for path in dict.fromkeys((*known, *(path for path in typed if path.startswith("/")))):
        port = known.get(path)
        chosen = typed.get(path, "")
        choices = [
            " ".join((kind, *proof))
            for kind in kinds
            for proof in ((), (UNPROVEN,))
            if port is None or not port.typed or (kind in _TYPED and port.unproven is bool(proof))
        ]
        about = "not connected" if port is None else port.about()
        rows.append(
            Row(
                path=path,
                about=about,
                chosen=chosen,
                choices=["", *dict.fromkeys((*choices, *filter(None, [chosen])))],
            )
        )
    return rows
