"""A table's meters over its life: hands, results, how often each rule decided, and what was staked and returned.

They are part of the table's state, so a replay derives them from the inputs. Void and dummy hands do not count. A
correction takes the hand as it was settled out of them, and puts the corrected one in.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from punto.baccarat.coup import Coup, Winner
from punto.baccarat.progressive.value import Value
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.settlement import Settlement

MOST_GAMES = 20
"""Of so many games, the last ones played, a table keeps the meters."""
NATURAL = "natural"


@dataclass(frozen=True, slots=True)
class Hits:
    """How often a rule of a wager decided a hand, whether or not somebody had made the wager.

    Without a wager, `rule` is the hand's winner, or `natural`.
    """

    wager: str | None
    rule: str
    hits: int


@dataclass(frozen=True, slots=True)
class Drop:
    """The recorded wagers of one kind: their number, what was staked and returned, in minor units.

    Awards that a progressive's meter pays are in its books, not here.
    """

    wager: str
    wagers: int
    staked: int
    returned: int


@dataclass(frozen=True, kw_only=True)
class Meters(Value):
    """The meters of a game at the table."""

    game: str
    hands: int = 0
    hits: tuple[Hits, ...] = ()
    drop: tuple[Drop, ...] = ()


def counted(
    meters: Meters, game: Game, coup: Coup, settlements: Iterable[Settlement], sign: int = 1
) -> Meters:
    """The meters with a hand; with `sign` -1, without it."""
    hits = Counter({(each.wager, each.rule): each.hits for each in meters.hits})
    for key in _of(game, coup):
        hits[key] += sign
    drop = {each.wager: each for each in meters.drop}
    for each in settlements:
        before = drop.get(each.wager, Drop(each.wager, 0, 0, 0))
        drop[each.wager] = Drop(
            each.wager,
            before.wagers + sign,
            before.staked + sign * each.stake,
            before.returned + sign * each.returned,
        )
    return meters.but(
        hands=meters.hands + sign,
        hits=tuple(Hits(*key, count) for key, count in hits.items()),
        drop=tuple(drop.values()),
    )


def _of(game: Game, coup: Coup) -> Iterable[tuple[str | None, str]]:
    yield None, coup.winner.value
    if coup.natural:
        yield None, NATURAL
    for wager in game.wagers:
        rule = wager.deciding_rule(coup)
        if rule is not None:
            yield wager.name, rule.name


def every(game: Game) -> list[tuple[str | None, str]]:
    """All that the meters of a game can count, in order."""
    hands: list[tuple[str | None, str]] = [(None, winner.value) for winner in Winner]
    return [
        *hands,
        (None, NATURAL),
        *((wager.name, rule.name) for wager in game.wagers for rule in wager.rules),
    ]


def of_game(all_meters: tuple[Meters, ...], name: str) -> Meters:
    """The meters of the game with this name."""
    return next((each for each in all_meters if each.game == name), Meters(game=name))


def with_meters(all_meters: tuple[Meters, ...], changed: Meters) -> tuple[Meters, ...]:
    """All meters with these in place of the same game's."""
    others = tuple(each for each in all_meters if each.game != changed.game)
    return (*others, changed)[-MOST_GAMES:]
