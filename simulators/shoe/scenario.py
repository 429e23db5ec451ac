"""Scenario files: exact cards, and faults at certain cards or times. docs/reference/virtual-shoe.md has the format."""

from collections import Counter
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, get_args

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.configs.given_files import read_given
from punto.configs.problems import ConfigError
from punto.configs.text_file import TextError, text_of
from punto.configs.toml_file import LARGEST, TomlFile
from punto.drivers.ishoe.frames import FAULT_BYTES
from punto.simulators.shoe.faults import UNSURE_CONFIDENCE, Faults, OptionError, parse_faults
from punto.simulators.shoe.shuffle import shuffled, with_surplus_copy

Do = Literal[
    "unread", "unsure", "overdraw", "ninth_copy", "reverse", "lid", "error", "unplug", "power", "forget"
]


class ScenarioError(Exception):
    """A scenario cannot be used; the message names the file and the key, and says what to write."""


@dataclass(frozen=True, slots=True)
class Step:
    """One fault, at card `at` (from 1) of shoe `shoe`, or `after` seconds from the start.

    A fault of a card applies to card `at`: it is `unread`, `unsure` (read with this `confidence`), drawn
    although none is called for (`overdraw`), or the `ninth_copy`. Every other fault happens as soon as card
    `at` has left the shoe and before the host knows of it: `reverse`, `lid` (open for `seconds`), `error`
    (with `code` and `text`), `unplug` and `power` (for `seconds`), `forget` (the power is off for `seconds`
    and the memory is lost).
    """

    do: Do
    at: int | None = None
    after: float | None = None
    shoe: int = 1
    seconds: float = 1
    confidence: int = UNSURE_CONFIDENCE
    code: int = 1
    text: str = "virtual error"


ON_CARDS: Final = frozenset({"unread", "unsure", "overdraw", "ninth_copy"})
_KEYS: Final[dict[str, frozenset[str]]] = {
    "unsure": frozenset({"confidence"}),
    "lid": frozenset({"seconds"}),
    "error": frozenset({"code", "text"}),
    "unplug": frozenset({"seconds"}),
    "power": frozenset({"seconds"}),
    "forget": frozenset({"seconds"}),
}


@dataclass(frozen=True, slots=True)
class Scenario:
    """The contents of a scenario file; None for missing settings."""

    serial: str | None = None
    decks: int | None = None
    cut: int | None = None
    shoes: tuple[tuple[Card, ...], ...] | None = None
    coups: tuple[tuple[Card, ...], ...] | None = None
    every: int | None = None
    faults: Faults | None = None
    steps: tuple[Step, ...] = ()

    def settings(self) -> dict[str, Any]:
        """Its settings, as arguments for `ShoeOptions`."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in told.items() if value is not None}


def scenario_names() -> list[str]:
    """Names of the shipped scenarios."""
    folder = files("punto.simulators.shoe") / "scenarios"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def read_scenario(name_or_path: str) -> Scenario:
    """Read a scenario: a shipped one by its name, or a file by its path.

    Raises:
        ScenarioError: it does not exist or cannot be used.
    """
    name = name_or_path
    try:
        if name in scenario_names():
            text = (files("punto.simulators.shoe") / "scenarios" / f"{name}.toml").read_text("utf-8")
        else:
            text = text_of(read_given(Path(name), LARGEST))
    except FileNotFoundError as error:
        known = ", ".join(scenario_names())
        raise ScenarioError(f"there is no scenario {name}: write a file's path, or one of {known}") from error
    except OSError as error:
        raise ScenarioError(f"cannot read the scenario {name}: {error.strerror}") from error
    except TextError as error:
        place = name if error.line is None else f"{name}:{error.line}"
        raise ScenarioError(f"cannot read the scenario {place}: {error}") from error
    return parse_scenario(text, name)


def parse_scenario(text: str, name: str) -> Scenario:
    """Read a scenario's text; `name` is for the messages. Raises ScenarioError if it cannot be used."""
    try:
        scenario = _scenario(_Table(TomlFile.parse(name, text.encode()).document, ""))
    except ConfigError as error:
        raise ScenarioError(f"scenario {error}") from error
    except (_WrongKeyError, OptionError) as error:
        raise ScenarioError(f"scenario {name}: {error}") from error
    return scenario


class _WrongKeyError(Exception):
    """A key has the wrong value; the message names it."""


class _Table:
    """A table of the file that is emptied key by key, so that the remaining keys are known to be invalid."""

    def __init__(self, table: dict[str, Any], where: str) -> None:
        self._table = dict(table)
        self._known: list[str] = []
        self.where = where

    def take(self, key: str) -> Any:
        self._known.append(key)
        return self._table.pop(key, None)

    def whole(self, key: str, low: int, high: int) -> int | None:
        value: int | None = self.take(key)
        if value is not None and (type(value) is not int or not low <= value <= high):
            raise self.wrong(key, value, f"a whole number from {low} to {high}")
        return value

    def seconds(self, key: str) -> float | None:
        value: float | None = self.take(key)
        if value is not None and (type(value) not in {int, float} or not 0 < value < 1e9):
            raise self.wrong(key, value, "seconds, such as 2 or 0.5")
        return value

    def text(self, key: str) -> str | None:
        value = self.take(key)
        if value is not None and not isinstance(value, str):
            raise self.wrong(key, value, "a text in quotes")
        return value

    def items(self, key: str, kind: type, what: str) -> list[Any] | None:
        value = self.take(key)
        if value is not None and (
            not isinstance(value, list) or not all(isinstance(item, kind) for item in value)
        ):
            raise self.wrong(key, value, what)
        return value

    def end(self) -> None:
        for key in self._table:
            raise _WrongKeyError(f"{self.where}{key} is unknown: write one of {', '.join(self._known)}")

    def wrong(self, key: str, value: object, right: str) -> _WrongKeyError:
        return _WrongKeyError(f"{self.where}{key} is {value!r}: write {right}")


def _scenario(table: _Table) -> Scenario:
    serial, decks = table.text("serial"), table.whole("decks", 1, 8)
    cut, shoes = table.whole("cut", 0, 415), _shoes(table)
    coups, every = _coups(table), table.whole("every", 1, 100)
    options = table.items("faults", str, 'a list of faults as the option has them, such as ["noise=0.01"]')
    faults = None if options is None else parse_faults(options)
    tables = table.items("steps", dict, "[[steps]]") or []
    table.end()
    steps = tuple(_step(_Table(step, f"steps[{n}].")) for n, step in enumerate(tables, start=1))
    for number, step in enumerate(steps, start=1):
        _check_place(step, f"steps[{number}].", shoes or (), decks or 8)
    return Scenario(serial, decks, cut, shoes, coups, every, faults, steps)


def _shoes(table: _Table) -> tuple[tuple[Card, ...], ...] | None:
    what = 'a list of cards, such as ["9S 4H", "TD"], or a list of such lists, one for each shoe'
    listed = table.items("cards", (str | list), what)  # type: ignore[arg-type]
    if listed is None:
        return None
    shoes = listed if all(isinstance(item, list) for item in listed) else [listed]
    if not listed or not all(shoe and all(isinstance(codes, str) for codes in shoe) for shoe in shoes):
        raise table.wrong("cards", listed, what)
    try:
        return tuple(tuple(Card(code) for codes in shoe for code in codes.split()) for shoe in shoes)
    except ValueError as error:
        raise _WrongKeyError(f"cards: {error}") from error


def _coups(table: _Table) -> tuple[tuple[Card, ...], ...] | None:
    listed = table.items("coups", str, 'a list of coups as they are dealt, such as ["9S 4H TD 3C"]')
    if listed is None:
        return None
    try:
        return tuple(Coup.complete(tuple(Card(code) for code in codes.split())).cards for codes in listed)
    except ValueError as error:
        raise _WrongKeyError(f"coups: {error}") from error


def _step(table: _Table) -> Step:
    do = table.take("do")
    if do not in get_args(Do):
        raise table.wrong("do", do, f"one of {', '.join(get_args(Do))}")
    at, after = table.whole("at", 1, 1_000_000), table.seconds("after")
    if (at is None) == (after is None) or (do in ON_CARDS and at is None):
        wanted = "at" if do in ON_CARDS else "at or after, but not both"
        meaning = "the number of a card from 1" + ("" if do in ON_CARDS else ", or seconds from the start")
        raise _WrongKeyError(f"{table.where}do is {do!r}: write {wanted} ({meaning})")
    given: dict[str, Any] = {"shoe": table.whole("shoe", 1, 1_000_000)}
    keys = _KEYS.get(do, frozenset())
    if "seconds" in keys:
        given["seconds"] = table.seconds("seconds")
    if "confidence" in keys:
        given["confidence"] = table.whole("confidence", 0, 100)
    if "code" in keys:
        given["code"] = table.whole("code", 0, 0xFFFF)
        given["text"] = table.text("text")
        if len((given["text"] or "").encode()) > FAULT_BYTES:
            raise table.wrong("text", given["text"], f"at most {FAULT_BYTES} bytes")
    table.end()
    return Step(do, at, after, **{key: value for key, value in given.items() if value is not None})


def _check_place(step: Step, where: str, shoes: tuple[tuple[Card, ...], ...], decks: int) -> None:
    if step.at is None:
        return
    exact = shoes[step.shoe - 1] if step.shoe <= len(shoes) else None
    size = decks * 52 if exact is None else len(exact)
    if step.at > size:
        raise _WrongKeyError(f"{where}at is {step.at}: shoe {step.shoe} has only {size} cards")
    if step.do == "ninth_copy" and with_surplus_copy(exact or shuffled("", 1, decks), step.at, decks) is None:
        most = max(Counter(exact or ()).values(), default=0)
        raise _WrongKeyError(
            f"{where}do is 'ninth_copy', but no card comes {decks} times in shoe {step.shoe} (the most is {most}): "
            "write the surplus card into the cards, or write fewer decks"
        )
