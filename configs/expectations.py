"""What a table's meters are held against: how often each rule decides a hand, and what the house keeps of a wager.

The file `expectations.json` has them for each wager of the games that ship, with each option of the house, so a table
needs no numpy for them. `make schema` writes it. A wager is found by its rules, so a house's own game has those of the
wagers that it shares with a game that ships.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from punto.baccarat.wagers.definition import Game, Wager, digest_of

FILE: Final = "expectations.json"
WIN: Final = ""
"""In place of a rule's name: what the house keeps of the wager."""


class Expectation(NamedTuple):
    """The mean and the variance of what one hand counts for a rule, or of what the house keeps of a unit staked.

    Both are of a full shoe. What it keeps is exact: without the rounding of pays and commissions, which depends on each stake and
    which the meters have (`Handle.rounded`).
    """

    mean: float
    variance: float


Expectations = Mapping[tuple[str | None, str], Expectation]
"""By wager and rule; without a wager, the results of hands and naturals."""


def shipped(game: Game) -> Expectations:
    """The expectations of a game that the file has; a wager that no game ships with is not among them."""
    if game.rules_digest not in _FOUND:
        _FOUND[game.rules_digest] = {
            (name, rule): Expectation(*figures)
            for name, key in [
                (None, str(game.decks)),
                *((each.name, key_of(game, each)) for each in game.wagers),
            ]
            for rule, figures in _file().get(key, {}).items()
        }
    return _FOUND[game.rules_digest]


_FOUND: Final[dict[str, Expectations]] = {}


@cache
def _file() -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = json.loads((files("punto.configs") / FILE).read_bytes())
    return found


def key_of(game: Game, wager: Wager) -> str:
    """The key of a wager in the file: a digest of all that its figures depend on."""
    return digest_of(game.decks, has_win(wager), wager.plain_rules)


def has_win(wager: Wager) -> bool:
    """Whether what the house keeps of a wager follows from the hand alone.

    It does not if a meter pays it, or if it wins only with its seat's base wager.
    """
    return wager.progressive is None and not wager.requires_base_win


def as_json(found: Iterable[tuple[Game, Expectations]]) -> str:
    """The text of the file."""
    lines: dict[str, dict[str, Any]] = {}
    for game, expectations in found:
        for (name, rule), figures in expectations.items():
            key = str(game.decks) if name is None else key_of(game, game.wager(name))
            lines.setdefault(key, {})[rule] = figures
    rows = (f"{json.dumps(key)}: {json.dumps(lines[key])}" for key in sorted(lines))
    return "{\n" + ",\n".join(rows) + "\n}\n"
