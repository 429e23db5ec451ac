"""The questions of `punto setup` in a terminal: eight, each with a default that Enter takes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pydantic import ValidationError

from punto.baccarat.currency import decimals_of, written
from punto.commands.setup.answers import Answers, DeviceAnswer, PagesAnswer
from punto.commands.setup.configuration import metered
from punto.commands.setup.found import SHOE, Port
from punto.configs.game_files import load_game, shipped_games
from punto.configs.problems import ConfigError
from punto.controller.accounts.roles import Role
from punto.displays.words import languages

BY_HAND: Final = "the dealer keys the cards"
THIS_PC: Final = "this PC alone"


class Terminal(Protocol):
    """Where questions are asked."""

    def show(self, text: str) -> None:
        """Show a line."""

    def ask(self, question: str) -> str:
        """Show a question, and return what is typed."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the questions offer: the ports of this PC and its addresses."""

    ports: Sequence[Port] = ()
    addresses: Sequence[str] = ()


def asked(terminal: Terminal, known: Answers, found: Found) -> Answers:
    """The answers that a person gives. `known` are the defaults."""
    answers = _one(
        terminal, known, "Name of the table on the displays", known.name, lambda text: {"name": text}
    )
    games = shipped_games()
    terminal.show(f"Games: {', '.join(games)}; or the path of a game file")
    answers = _one(terminal, answers, "Game", answers.game, _game)
    answers = _one(terminal, answers, "Currency", answers.currency, lambda text: {"currency": text.upper()})
    answers = _one(
        terminal,
        answers,
        f"Limits of Player and Banker in {answers.currency}",
        _range(answers),
        _limits(answers),
    )
    options = f"Language of the displays ({', '.join(languages())})"
    answers = _one(terminal, answers, options, answers.language, lambda text: {"language": text})
    answers = _shoe(terminal, answers, found.ports)
    answers = _console(terminal, answers, found.addresses)
    return _people(terminal, answers)


def _one(
    terminal: Terminal, answers: Answers, question: str, default: str, read: Callable[[str], dict[str, Any]]
) -> Answers:
    """Ask until the answer can be used."""
    while True:
        given = terminal.ask(f"{question} [{default}]: ").strip() or default
        try:
            document = answers.model_dump() | read(given)
            return Answers.model_validate(document)
        except ValidationError as error:
            terminal.show(
                f"  {'; '.join(each['msg'].removeprefix('Value error, ') for each in error.errors())}"
            )
        except (ConfigError, ValueError) as error:
            terminal.show(f"  {error}")


def _game(text: str) -> dict[str, Any]:
    load_game(text)
    return {"game": text}


def _range(answers: Answers) -> str:
    return "-".join(written(each, answers.currency, group="") for each in (answers.minimum, answers.maximum))


def _limits(answers: Answers) -> Callable[[str], dict[str, Any]]:
    decimals = decimals_of(answers.currency)

    def read(text: str) -> dict[str, Any]:
        parts = text.replace(",", "").split("-")
        if len(parts) != 2:
            raise ValueError(
                f"{text[:40]!r} is not a range: write the minimum and the maximum, such as {_range(answers)}"
            )
        least, most = (_minor(each.strip(), decimals) for each in parts)
        return {"minimum": least, "maximum": most}

    return read


def _minor(text: str, decimals: int) -> int:
    whole, _, part = text.partition(".")
    if not (whole + part).isdecimal() or len(part) > decimals:
        raise ValueError(f"{text[:40]!r} is not an amount with at most {decimals} decimals")
    return int(whole + part.ljust(decimals, "0"))


def _choice(terminal: Terminal, title: str, options: Sequence[str]) -> None:
    terminal.show(title)
    for number, option in enumerate(options, start=1):
        terminal.show(f"  {number}  {option}")


def _chosen(text: str, options: Sequence[str]) -> str:
    """The option of this number, or the text itself."""
    if text.isdecimal():
        if not 1 <= int(text) <= len(options):
            raise ValueError(f"{text[:20]} is not one of 1 to {len(options)}")
        return options[int(text) - 1]
    return text


def _shoe(terminal: Terminal, answers: Answers, ports: Sequence[Port]) -> Answers:
    paths = [str(each.path) for each in ports]
    options = [BY_HAND, *paths]
    _choice(terminal, "Shoe:", [BY_HAND, *(each.line() for each in ports)])
    likely = next((str(each.path) for each in ports if each.guess == SHOE), None)
    if answers.shoe is not None:
        default = answers.shoe.path
    else:
        default = likely or (paths[0] if len(paths) == 1 else BY_HAND)

    def read(text: str) -> dict[str, Any]:
        chosen = _chosen(text, options)
        if chosen == BY_HAND:
            return {"shoe": None}
        if not chosen.startswith("/"):
            raise ValueError(f"{chosen[:40]!r} is not a port: write a number of the list, or a path")
        former = answers.shoe or DeviceAnswer(port=chosen)
        return {"shoe": DeviceAnswer(port=chosen, link_version=former.link_version)}

    return _one(terminal, answers, "Number or path", default, read)


def _console(terminal: Terminal, answers: Answers, addresses: Sequence[str]) -> Answers:
    options = [THIS_PC, *addresses]
    _choice(terminal, "Pages of dealer and supervisor, for browsers at:", options)
    default = THIS_PC if answers.console.on_loopback else answers.console.host

    def read(text: str) -> dict[str, Any]:
        chosen = _chosen(text, options)
        host = "127.0.0.1" if chosen == THIS_PC else chosen
        return {"console": PagesAnswer(host=host, port=answers.console.port)}

    return _one(terminal, answers, "Number or address of this PC", default, read)


def _people(terminal: Terminal, answers: Answers) -> Answers:
    needed = [Role.SUPERVISOR, *([Role.EXECUTIVE] if metered(load_game(answers.game)) else [])]
    default = ", ".join(
        next((name for name, roles in answers.people.items() if role in roles), str(role)) for role in needed
    )

    def read(text: str) -> dict[str, Any]:
        names = [each.strip() for each in text.split(",")]
        if len(names) != len(needed) or not all(names):
            raise ValueError(f"write {len(needed)} name{'s, with a comma between them' * (len(needed) > 1)}")
        people = {name: tuple(roles) for name, roles in answers.people.items()}
        for name, role in zip(names, needed, strict=True):
            people[name] = tuple(dict.fromkeys((*people.get(name, ()), role)))
        return {"people": people}

    return _one(terminal, answers, f"First {' and '.join(map(str, needed))}", default, read)
