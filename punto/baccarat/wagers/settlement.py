"""Takes wagers and settles them.

What a coup means to a wager is no code: the rules of the wager in `configs/games/*.toml` say it, such as the rule that
returns Player and Banker at a tie, and the first rule that the coup meets decides (`Wager.deciding_rule`).

One function checks if a seat's wagers may stand together. The table applies it to the wagers that a seat
would have after a change, so order does not matter and a base wager cannot be removed from under a side
wager.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Final

from punto.baccarat.coup import Coup
from punto.baccarat.currency import in_words
from punto.baccarat.wagers.definition import Game, Rule, Wager
from punto.baccarat.wagers.pay import LOSE, PUSH, Pay, Rounding, percentage


@dataclass(frozen=True, slots=True)
class PlacedWager:
    """A wager that stands: seat (counted from 1), name of the wager, amount in minor units."""

    seat: int
    wager: str
    amount: int


class Outcome(StrEnum):
    """The outcome of a wager.

    An award is a win that a progressive's meter pays. Its amount is fixed when it is locked, so the
    settlement returns only the stake, if it was not taken at the start.
    """

    WIN = "win"
    AWARD = "award"
    LOSE = "lose"
    PUSH = "push"
    VOID = "void"


VOIDED: Final = "void"


@dataclass(frozen=True, slots=True)
class Settlement:
    """The settlement of one wager, in minor units.

    `returned` is the total that goes back to the player and `net` is `returned - stake`. `rule` is the rule
    that decided. `remainder` is the exact pay less the paid one, as a fraction of a minor unit such as "7/20"
    (negative if rounding favoured the player).
    """

    seat: int
    wager: str
    outcome: Outcome
    stake: int
    returned: int
    net: int
    rule: str
    remainder: str = "0"


class WagerRefusedError(ValueError):
    """A wager that is not allowed; `code` is for programs, the message for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def find_wager(game: Game, name: str) -> Wager:
    """The game's wager of this name; raises WagerRefusedError (unknown_wager)."""
    try:
        return game.wager(name)
    except KeyError:
        offered = ", ".join(wager.name for wager in game.wagers)
        raise WagerRefusedError(
            "unknown_wager", f"{game.title} has no wager {name!r}; it has {offered}"
        ) from None


def check_wagers(game: Game, wagers: Sequence[PlacedWager], currency: str | None = None) -> None:
    """Check that one seat's wagers may stand together on a coup. Without a currency, messages have minor units.

    Raises:
        WagerRefusedError: unknown_wager, doubled_wager, below_minimum, above_maximum, off_step,
            too_many_wagers, needs_base or above_share, for the first wager that is not allowed.
    """
    names = [placed.wager for placed in wagers]
    for placed in wagers:
        wager = find_wager(game, placed.wager)
        if names.count(placed.wager) > 1:
            raise WagerRefusedError(
                "doubled_wager", f"seat {placed.seat} has {wager.name} twice: give one amount"
            )
        _check_amount(wager, placed.amount, currency)
        _check_base(game, wager, names)
        _check_share(game, wager, placed.amount, wagers, currency)
    if game.maximum_wagers is not None and len(wagers) > game.maximum_wagers:
        raise WagerRefusedError(
            "too_many_wagers",
            f"{len(wagers)} wagers are more than the {game.maximum_wagers} that a player may have on one coup",
        )


def _check_amount(wager: Wager, amount: int, currency: str | None) -> None:
    limits, shown = wager.limits, f"{in_words(amount, currency)} on {wager.name}"
    if amount < limits.minimum:
        raise WagerRefusedError(
            "below_minimum", f"{shown} is below its minimum of {in_words(limits.minimum, currency)}"
        )
    if limits.maximum is not None and amount > limits.maximum:
        raise WagerRefusedError(
            "above_maximum", f"{shown} is above its maximum of {in_words(limits.maximum, currency)}"
        )
    if amount % limits.step:
        raise WagerRefusedError(
            "off_step", f"{shown} is not a multiple of its step of {in_words(limits.step, currency)}"
        )


def _check_base(game: Game, wager: Wager, names: Sequence[str]) -> None:
    bases = game.bases_for(wager)
    if bases and not any(base in names for base in bases):
        raise WagerRefusedError(
            "needs_base", f"{wager.name} also needs a wager of the same seat on {' or '.join(bases)}"
        )


def _check_share(
    game: Game, wager: Wager, amount: int, wagers: Iterable[PlacedWager], currency: str | None
) -> None:
    most = most_beside(game, wager, wagers)
    if most is not None and amount > most:
        bases = " or ".join(_measures(game, wager))
        raise WagerRefusedError(
            "above_share",
            f"{in_words(amount, currency)} on {wager.name} is above {wager.limits.maximum_of_base} of the seat's largest wager on {bases}, "
            f"which is {in_words(most, currency)}",
        )


def most_beside(game: Game, wager: Wager, wagers: Iterable[PlacedWager]) -> int | None:
    """The most that a seat with these wagers may have on a wager that is limited by its base wager; None if it is not."""
    if wager.limits.maximum_of_base is None:
        return None
    bases = _measures(game, wager)
    base = max((placed.amount for placed in wagers if placed.wager in bases), default=0)
    return floor(base * percentage(wager.limits.maximum_of_base))


def _measures(game: Game, wager: Wager) -> tuple[str, ...]:
    """The names of the base wagers that limit a wager: those that it needs, or else those on a hand."""
    return game.bases_for(wager) or tuple(each.name for each in game.wagers if each.of_a_hand)


def check_one_side(game: Game, wager: Wager, wagers: Sequence[PlacedWager]) -> None:
    """Check that a seat does not have wagers on both Player and Banker, for a `wager` that requires this.

    Raises:
        WagerRefusedError: both_sides.
    """
    if len(game.sides_of(placed.wager for placed in wagers)) > 1:
        raise WagerRefusedError(
            "both_sides", f"{wager.name} needs a wager on Player or on Banker, not on both"
        )


def settle(game: Game, coup: Coup, wagers: Iterable[PlacedWager]) -> tuple[Settlement, ...]:
    """Settle every wager by a finished coup, in the order given."""
    placed = tuple(wagers)
    names: dict[int, list[str]] = {}
    for each in placed:
        names.setdefault(each.seat, []).append(each.wager)
    return tuple(
        _settle_one(game, game.wager(each.wager).beside(game.sides_of(names[each.seat])), coup, each)
        for each in placed
    )


_LOST: Final = Rule(name=LOSE, pays=LOSE)
_OUTCOMES: Final = {LOSE: Outcome.LOSE, PUSH: Outcome.PUSH}


def _settle_one(game: Game, wager: Wager, coup: Coup, placed: PlacedWager) -> Settlement:
    rule = wager.deciding_rule(coup) or _LOST
    pay = rule.pay
    if pay.meter:
        return _award(game, placed, rule.name)
    returned = pay.stake_kept(placed.amount) + pay.paid(placed.amount, game.rounding)
    remainder = str(_remainder(rule.pays, placed.amount, game.rounding))
    return _settled(placed, _OUTCOMES.get(rule.pays, Outcome.WIN), returned, rule.name, remainder)


def _award(game: Game, placed: PlacedWager, rule: str) -> Settlement:
    returned = placed.amount if game.wager(placed.wager).stake_stays else 0
    return _settled(placed, Outcome.AWARD, returned, rule)


def as_award(game: Game, won: Settlement) -> Settlement:
    """A fixed-odds win at a table with a progressive, as an award like a percentage of the meter, whatever pays it."""
    return _award(game, PlacedWager(won.seat, won.wager, won.stake), won.rule)


def commission_of(game: Game, settled: Settlement) -> int:
    """The commission that the house keeps of a settled wager, in minor units; 0 if the wager did not win, or has no commission."""
    if settled.outcome is not Outcome.WIN:
        return 0
    rules = game.wager(settled.wager).rules
    return next(each for each in rules if each.name == settled.rule).pay.kept(settled.stake, game.rounding)


def rounded_of(game: Game, settled: Settlement) -> Fraction:
    """What the game's rounding kept of the exact pay of a settled wager, in minor units; below zero if it favoured the player.

    It follows from the stake and the rule alone, whatever was returned.
    """
    rules = () if settled.outcome in {Outcome.AWARD, Outcome.VOID} else game.wager(settled.wager).rules
    pays = next((each.pays for each in rules if each.name == settled.rule), LOSE)
    return _remainder(pays, settled.stake, game.rounding)


@lru_cache(maxsize=4096)
def _remainder(pays: str, stake: int, rounding: Rounding) -> Fraction:
    """The exact pay of a stake less the paid one. It is kept, because a house counts thousands of wagers in a second."""
    pay = Pay.parse(pays)
    return pay.returned(stake) - pay.stake_kept(stake) - pay.paid(stake, rounding)


def give_back(wagers: Iterable[PlacedWager]) -> tuple[Settlement, ...]:
    """Return every wager whole, as for a misdeal."""
    return tuple(_settled(placed, Outcome.VOID, placed.amount, VOIDED) for placed in wagers)


def _settled(
    placed: PlacedWager, outcome: Outcome, returned: int, rule: str, remainder: str = "0"
) -> Settlement:
    return Settlement(
        seat=placed.seat,
        wager=placed.wager,
        outcome=outcome,
        stake=placed.amount,
        returned=returned,
        net=returned - placed.amount,
        rule=rule,
        remainder=remainder,
    )
