"""Game files, and jurisdictions' files: the shipped ones, and a house's own."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, Literal

from punto.baccarat.coup import Side
from punto.baccarat.wagers.completeness import Fault, faults
from punto.baccarat.wagers.definition import FACE_UP_ONLY, Game, Rule, Wager
from punto.baccarat.wagers.pay import Pay
from punto.configs.characters import folded
from punto.configs.problems import ConfigError, Problem, cut, nearest, not_one_line
from punto.configs.toml_file import Path_, TomlFile, read, typed

SUFFIX: Final = ".toml"
_NAME: Final = re.compile("[a-z0-9][a-z0-9_]{0,39}")
_SUCH_AS: Final = {"pays": '"30 to 1"', "contribution": '"26%"'}
_OF_THE_LETTER: Final = (
    *("mini-baccarat", "dragon-bonus-1", "dragon-bonus-2", "dragon-bonus-3"),
    *("progressive-1", "progressive-1-five-dollar", "progressive-2", "progressive-3"),
)
"""The games that the approval letter names: Mini Baccarat, Baccarat, Dragon Bonus and Dragon Bonus Progressive, with the pay tables
of sheets 000 and 001 (sheet 001, first requirement)."""
_FACE_DOWN: Final = "dai-bacc"
_SAME_FACE_UP: Final = "ez-baccarat"
"""All cards of Dai Bacc are dealt face down (sheet 003, 2). EZ Baccarat has some of its wagers and is dealt face up."""


Kind = Literal["game", "jurisdiction"]


def _shipped(kind: Kind) -> dict[str, Traversable]:
    folder = files("punto.configs") / f"{kind}s"
    return {each.name.removesuffix(SUFFIX): each for each in folder.iterdir() if each.name.endswith(SUFFIX)}


def shipped_games() -> list[str]:
    """The names of the games that ship with the program."""
    return sorted(_shipped("game"))


def load_game(name_or_path: str, folder: Path | None = None) -> Game:
    """Load the shipped game of this name, or else the one in this file; raises ConfigError as `game_file` and `game_of` do.

    Only a house's own game is checked: a test checks those that ship, and each start would check them again.
    """
    if name_or_path in _shipped("game"):
        return _shipped_game(name_or_path)
    return game_of(game_file(name_or_path, folder))


@cache
def _shipped_game(name: str) -> Game:
    return typed(game_file(name), Game, such_as=_SUCH_AS)


def game_file(name_or_path: str, folder: Path | None = None) -> TomlFile:
    """The file of the shipped game of this name, or else the file at this path; raises ConfigError as `named_file` does."""
    return named_file("game", name_or_path, folder)


def named_file(kind: Kind, name_or_path: str, folder: Path | None = None) -> TomlFile:
    """The shipped file of this kind and name, or else the file at this path.

    A shipped name is never read as a path: write `./name` for a file with that name. `folder` is the base of a relative
    path, by default the working directory.

    Raises:
        ConfigError: there is no such name or file, or it is not TOML. A problem with the name itself, rather
            than with the file's text, has no `file`.
    """
    shipped = _shipped(kind).get(name_or_path)
    if shipped is not None:
        return TomlFile.parse(str(shipped), shipped.read_bytes())
    path = (folder or Path()) / name_or_path
    if not name_or_path or not _is_there(path):
        raise ConfigError([_unknown(kind, name_or_path, path)])
    return read(path)


def is_table(file: TomlFile) -> bool:
    """Whether a file is a table's configuration and not a game file."""
    return "table" in file.document and "wagers" not in file.document


def game_of(file: TomlFile) -> Game:
    """The game that a file defines.

    Raises:
        ConfigError: the game cannot be played as written: a key or value is wrong, two wagers have the same
            title, a wager's rules leave a coup undecided, one of its rules can never decide, or pays no more
            than the stake and is not a push.
    """
    if is_table(file):
        message = f"this is a table's configuration, not a game file: check it with `punto check-config {file.name}`"
        raise ConfigError([Problem(message, file.name)])
    game = typed(file, Game, such_as=_SUCH_AS)
    problems = [*_problems(file, game)]
    if problems:
        raise ConfigError(sorted(problems, key=lambda problem: problem.line or 0))
    return game


def _problems(file: TomlFile, game: Game) -> Iterator[Problem]:
    for place, text in _texts(game):
        if (message := not_one_line(text)) is not None:
            yield file.problem(place, message)
    yield from _wrong_of_hidden_cards(file, game)
    titles = [folded(wager.title) for wager in game.wagers]
    shorts = [folded(wager.short_title) for wager in game.wagers]
    for number, wager in enumerate(game.wagers):
        at = ("wagers", number)
        if titles[number] in titles[:number]:
            message = f"two wagers have the title {wager.title!r}: give each its own title"
            yield file.problem((*at, "title"), message)
        elif shorts[number] in shorts[:number]:
            message = f"two wagers have the short name {wager.short_title!r}: give each its own"
            yield file.problem((*at, "short" if wager.short else "title"), message)
        yield from _misnamed(file, at, wager.name)
        if (wrong := wager.limits.off_step()) is not None:
            yield file.problem((*at, "limits"), wrong)
        for fault in faults(wager):
            yield file.problem(place_of(number, fault), fault.message)
        for nth, rule in enumerate(wager.rules):
            yield from _misnamed(file, (*at, "rules", nth), rule.name)
            if (no_win := _no_win(rule)) is not None:
                yield file.problem((*at, "rules", nth, "pays"), no_win)


def _wrong_of_hidden_cards(file: TomlFile, game: Game) -> Iterator[Problem]:
    """What a file says wrongly of its cards: a shoe must not read them in a variation if they lie face down at first.

    Whether the game is a variation, and Dai Bacc, is decided by its wagers.
    """
    if game.hides_cards and game.dealt != "face_down":
        message = f'reveal = "{game.reveal}" hides the cards at first: write dealt = "face_down" too'
        yield file.problem(("reveal",), message)
    if game.variation and game.dealt == "face_down":
        return
    hidden = game.hides_cards or game.dealt == "face_down"
    for number, wager in enumerate(game.wagers):
        if _wins(wager) in _face_down():
            why = "is a wager of Dai Bacc, whose cards are all dealt face down (sheet 003), so this game is a variation"
            write = 'variation = true and dealt = "face_down"'
        elif hidden and _rules(wager) not in _of_the_letter():
            why = "is not a wager of the games that a shoe may read face down, so this game is a variation"
            write = "variation = true"
        else:
            continue
        message = f'{wager.title} {why}: write {write}. Approval letter: "{FACE_UP_ONLY}"'
        yield file.problem(("wagers", number), message)
        return


_Features = frozenset[tuple[str, frozenset[object]]]
_Rules = tuple[bool, Side | None, tuple[tuple[_Features, Pay], ...]]


def _rules(wager: Wager) -> _Rules:
    """What a wager pays and when. Names, limits and the base wager that it needs may differ."""
    return wager.base, wager.side, tuple((_features(rule), rule.pay) for rule in wager.rules)


def _wins(wager: Wager) -> frozenset[_Features]:
    """When a wager wins, whatever it pays."""
    return frozenset(_features(rule) for rule in wager.rules if rule.wins)


def _features(rule: Rule) -> _Features:
    return frozenset(rule.when.asked.items())


@cache
def _of_the_letter() -> frozenset[_Rules]:
    """The wagers of the games that the approval letter names, as printed and as the house may decide."""
    found = set()
    for name in _OF_THE_LETTER:
        for wager in _shipped_game(name).wagers:
            found.add(_rules(wager))
            if any(left.rule == "natural_nine" for left in wager.house):
                found |= {_rules(wager.with_rule("natural_nine", value)) for value in (True, False)}
    return frozenset(found)


@cache
def _face_down() -> frozenset[frozenset[_Features]]:
    """When the wagers of Dai Bacc win that no game has whose cards are dealt face up."""
    face_down, face_up = (_shipped_game(name).wagers for name in (_FACE_DOWN, _SAME_FACE_UP))
    return frozenset(map(_wins, face_down)) - frozenset(map(_wins, face_up))


def _misnamed(file: TomlFile, place: Path_, name: str) -> Iterator[Problem]:
    """The problem of a wager's or a rule's name; topics' payloads, options and columns use these names."""
    if not _NAME.fullmatch(name):
        message = f"{name!r} cannot be a name: write small letters, digits and _, such as big_six"
        yield file.problem((*place, "name"), message)


def _texts(game: Game) -> Iterator[tuple[Path_, str]]:
    """The texts that people read on displays, in tables and in records, with their places."""
    yield ("name",), game.name
    yield ("title",), game.title
    yield ("sheet",), game.sheet
    for number, wager in enumerate(game.wagers):
        yield ("wagers", number, "title"), wager.title
        if wager.short is not None:
            yield ("wagers", number, "short"), wager.short


def place_of(wager: int, fault: Fault) -> Path_:
    """The place in a game file of a fault in the rules of its wager with this number."""
    if fault.rule is None:
        return "wagers", wager
    return "wagers", wager, "rules", fault.rule


def _no_win(rule: Rule) -> str | None:
    """The error in a pay that is written as a win but wins nothing; it would be settled and counted as a win."""
    if not rule.wins or rule.pay.meter or (returned := rule.pay.returned(1)) > 1:
        return None
    if returned == 1:
        return f'"{rule.pays}" returns the stake and nothing more: write "push"'
    return (
        f'"{rule.pays}" returns only a part of the stake, which is not possible: write "push" to return the whole '
        'stake, or "lose" to return nothing'
    )


def _is_there(path: Path) -> bool:
    """Whether the file exists, or exists but is not accessible; a name of any length is allowed."""
    try:
        path.lstat()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _unknown(kind: Kind, name: str, path: Path) -> Problem:
    names = sorted(_shipped(kind))
    if "/" in name or name.endswith(SUFFIX):
        return Problem(f"there is no {kind} file {cut(str(path), 200)}")
    return Problem(
        f"there is no {kind} {cut(name)!r}; the shipped {kind}s are: {', '.join(names)}; "
        f"to use your own {kind} file, write the path of the file",
        suggestion=nearest(name, names),
    )
