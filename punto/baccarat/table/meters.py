"""A table's meters over its life: hands, results, how often each rule decided, and what was staked and returned.

They are part of the table's state, so a replay derives them from the inputs. Void and dummy hands do not count. A
correction takes the hand as it was settled out of them, and puts the corrected one in. The meters of a game are those of
its rules: if a house changes an option of the game, other meters begin, and the earlier ones are kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from punto.baccarat.coup import Coup, Winner
from punto.baccarat.progressive.value import Value
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.settlement import Settlement, rounded_of

NATURAL = "natural"
_NONE: Final = 0, 0, 0, Fraction(0)


@dataclass(frozen=True, slots=True)
class Hits:
    """How often a rule of a wager decided a hand, whether or not somebody had made the wager.

    Without a wager, `rule` is the hand's winner, or `natural`.
    """

    wager: str | None
    rule: str
    hits: int


@dataclass(frozen=True, slots=True)
class Handle:
    """The recorded wagers of one kind: their number, what was staked and returned, in minor units.

    `squares` is the sum over the hands of the square of what was staked in the hand: one coup decides all wagers of one
    kind, so what varies is the hand and not the wager. `rounded` is what rounding kept of the exact pays, and is below zero if it
    favoured the players. Awards of a table with a progressive are in its books, not here.
    """

    wager: str
    wagers: int = 0
    staked: int = 0
    returned: int = 0
    squares: int = 0
    rounded: Fraction = Fraction(0)

    def plus(self, other: "Handle", sign: int = 1) -> "Handle":
        """Both together; with `sign` -1, this one without the other."""
        return Handle(
            self.wager,
            self.wagers + sign * other.wagers,
            self.staked + sign * other.staked,
            self.returned + sign * other.returned,
            self.squares + sign * other.squares,
            self.rounded + sign * other.rounded,
        )


@dataclass(frozen=True, kw_only=True)
class Meters(Value):
    """The meters of a game at the table, by its name and its `Game.rules_digest`."""

    game: str
    rules: str
    hands: int = 0
    hits: tuple[Hits, ...] = ()
    handle: tuple[Handle, ...] = ()

    def plus(self, other: "Meters", sign: int = 1) -> "Meters":
        """Both together; with `sign` -1, these without the other ones."""
        hits = {(each.wager, each.rule): each for each in self.hits}
        for each in other.hits:
            own = hits.get((each.wager, each.rule))
            so_far = 0 if own is None else own.hits
            hits[each.wager, each.rule] = Hits(each.wager, each.rule, so_far + sign * each.hits)
        handle = {each.wager: each for each in self.handle}
        for more in other.handle:
            handle[more.wager] = handle.get(more.wager, Handle(more.wager)).plus(more, sign)
        return self.replace(
            hands=self.hands + sign * other.hands,
            hits=tuple(each for each in hits.values() if each.hits),
            handle=tuple(each for each in handle.values() if each.wagers or each.returned),
        )


def together(meters: Iterable[Meters], others: Iterable[Meters], sign: int = 1) -> tuple[Meters, ...]:
    """The meters of each game and the other ones together; with `sign` -1, without the other ones."""
    found = {(each.game, each.rules): each for each in meters}
    for other in others:
        key = other.game, other.rules
        found[key] = found.get(key, Meters(game=other.game, rules=other.rules)).plus(other, sign)
    return tuple(found.values())


def of_hand(game: Game, coup: Coup, settlements: Iterable[Settlement]) -> Meters:
    """The meters of one hand."""
    return Meters(
        game=game.name,
        rules=game.rules_digest,
        hands=1,
        hits=tuple(Hits(wager, rule, 1) for wager, rule in deciding(game, coup)),
        handle=handle_of(settlements, game),
    )


def handle_of(settlements: Iterable[Settlement], game: Game | None) -> tuple[Handle, ...]:
    """The wagers of one hand by kind. Without its game, nothing is known of their rounding."""
    handle: dict[str, tuple[int, int, int, Fraction]] = {}
    for each in settlements:
        wagers, staked, returned, rounded = handle.get(each.wager, _NONE)
        rounded += 0 if game is None else rounded_of(game, each)
        handle[each.wager] = wagers + 1, staked + each.stake, returned + each.returned, rounded
    return tuple(
        Handle(wager, wagers, staked, returned, squares=staked**2, rounded=rounded)
        for wager, (wagers, staked, returned, rounded) in handle.items()
    )


def deciding(game: Game, coup: Coup) -> Iterable[tuple[str | None, str]]:
    """What a hand counts as: its result, a natural, and the rule of each wager that decided."""
    yield None, coup.winner.value
    if coup.natural:
        yield None, NATURAL
    yield from game.deciding_rules(coup)


def every(game: Game) -> list[tuple[str | None, str]]:
    """All that the meters of a game can count, in order."""
    hands: list[tuple[str | None, str]] = [(None, winner.value) for winner in Winner]
    return [
        *hands,
        (None, NATURAL),
        *((wager.name, rule.name) for wager in game.wagers for rule in wager.rules),
    ]


def of_game(all_meters: tuple[Meters, ...], game: Game) -> Meters:
    """The meters of a game by the rules that it has."""
    key = (game.name, game.rules_digest)
    none = Meters(game=game.name, rules=game.rules_digest)
    return next((each for each in all_meters if (each.game, each.rules) == key), none)


def with_hands(all_meters: tuple[Meters, ...], hands: Meters, sign: int = 1) -> tuple[Meters, ...]:
    """All meters with these hands in those of their game; with `sign` -1, without them."""
    key = (hands.game, hands.rules)
    own = next((each for each in all_meters if (each.game, each.rules) == key), None)
    others = tuple(each for each in all_meters if each is not own)
    return (*others, (own or Meters(game=hands.game, rules=hands.rules)).plus(hands, sign))
