"""The pay of a rule, as the sheets print it, and the rounding of pays that are not whole amounts.

*30 to 1* returns the stake and thirty more. *1000 for 1* returns a thousand in total: the stake was taken at
the start. Amounts are whole minor units, such as cents; an exact amount that is not whole is a `Fraction` of one.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import floor
from typing import Any, ClassVar, Final, Literal

_PERCENTAGE: Final = re.compile(r"\d{1,3}(?:\.\d{1,9})?%")
_OF_THE_METER: Final = " of the meter"
_FORM: Final = re.compile(
    r"(?P<won>[1-9]\d{0,8}) (?P<kind>to|for) (?P<per>[1-9]\d{0,8})(?: less (?P<commission>\d{1,3}(?:\.\d{1,9})?)%)?"
)
# Such as "5.5 to 1": a valid pay except for its decimal point.
_NOT_WHOLE: Final = re.compile(
    r"(?P<won>(?=[\d.]*[1-9])\d+\.\d+) (?P<kind>to|for) (?P<per>[1-9]\d{0,8})(?P<rest>| less .*)"
)
PUSH: Final = "push"
LOSE: Final = "lose"


def percentage(text: str) -> Fraction:
    """Read a percentage such as "26%" as a fraction; raises ValueError if the text does not have this form."""
    if _PERCENTAGE.fullmatch(text) is None:
        raise ValueError(f'{text!r} is not a percentage: write it as "26%"')
    return Fraction(text[:-1]) / 100


@dataclass(frozen=True, slots=True)
class Pay:
    """A parsed pay.

    `odds` is the win per unit staked ("to") or the total returned per unit ("for"); `commission` is the share
    of the win that the house keeps. A push has odds of 0 "to", a loss of 0 "for". `meter` is the share that
    it wins of a progressive's meter; the progressive decides the amount and who shares it, so the pay itself
    returns nothing.
    """

    odds: Fraction
    stake_taken: bool = False
    commission: Fraction = Fraction(0)
    meter: Fraction = Fraction(0)

    @classmethod
    @cache
    def parse(cls, text: str) -> "Pay":
        """Read "30 to 1", "1000 for 1", "1 to 1 less 5%", "10% of the meter", "push" or "lose".

        Raises:
            ValueError: the text does not have one of these forms.
        """
        if text == PUSH:
            return cls(Fraction(0))
        if text == LOSE:
            return cls(Fraction(0), stake_taken=True)
        if text.endswith(_OF_THE_METER):
            share = percentage(text.removesuffix(_OF_THE_METER))
            if not 0 < share <= 1:
                raise ValueError(f"{text!r} is not a share of a meter: write more than 0% and at most 100%")
            return cls(Fraction(0), stake_taken=True, meter=share)
        form = _FORM.fullmatch(text)
        if form is None and (point := _NOT_WHOLE.fullmatch(text)) is not None:
            odds = Fraction(point["won"]) / int(point["per"])
            raise ValueError(
                f"{text!r} is not in whole numbers: write "
                f'"{odds.numerator} {point["kind"]} {odds.denominator}{point["rest"]}"'
            )
        if form is None:
            raise ValueError(
                f'{text!r} is not a pay: write "30 to 1", "1000 for 1", "1 to 1 less 5%", '
                '"10% of the meter", "push" or "lose"'
            )
        commission = Fraction(form["commission"] or 0) / 100
        if commission >= 1:
            raise ValueError(f"{text!r} takes the whole win as commission: write less than 100%")
        stake_taken = form["kind"] == "for"
        if stake_taken and commission:
            raise ValueError(
                f'{text!r} takes a commission of a "for" pay, but only a "to" pay can have a commission: write "to"'
            )
        return cls(Fraction(int(form["won"]), int(form["per"])), stake_taken, commission)

    def returned(self, stake: int) -> Fraction:
        """The exact amount that this stake returns to the player, with the stake, without a share of a meter."""
        return self.stake_kept(stake) + stake * self.odds * (1 - self.commission)

    def paid(self, stake: int, rounding: "Rounding") -> int:
        """The whole amount that the house pays beside the stake, without a share of a meter."""
        won = stake * self.odds
        return rounding(won, won * self.commission)

    def kept(self, stake: int, rounding: "Rounding") -> int:
        """The whole commission that the house keeps of the win of this stake."""
        won = stake * self.odds
        return rounding.kept(won, won * self.commission)

    def stake_kept(self, stake: int) -> int:
        """The stake that goes back to the player with a win: none if it was taken at the start."""
        return 0 if self.stake_taken else stake


_Mode = Literal["down", "up", "nearest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """How to pay an amount that is not a multiple of `unit` minor units.

    Where the house takes a commission, the commission is rounded, by the mode `commission`, and not the win (sheet 004
    does not say how). It never exceeds the win. Other pays are rounded by `mode`. The default pays exact minor units and keeps
    fractions.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    unit: int = 1
    mode: _Mode = "down"
    commission: _Mode = "up"

    def __post_init__(self) -> None:
        if self.unit < 1:
            raise ValueError(f"the rounding unit must be at least 1 minor unit, not {self.unit}")

    def __call__(self, won: Fraction, commission: Fraction = Fraction(0)) -> int:
        """The whole amount to pay for this exact win, of which the house keeps this commission."""
        if not commission:
            return _whole(won, self.unit, self.mode)
        return _whole(max(won - _whole(commission, self.unit, self.commission), Fraction(0)), 1, self.mode)

    def kept(self, won: Fraction, commission: Fraction) -> int:
        """The whole commission that the house keeps of this exact win: with it, the amount to pay is the whole win."""
        return min(_whole(commission, self.unit, self.commission), floor(won))


def _whole(exact: Fraction, unit: int, mode: _Mode) -> int:
    """The amount in whole units; a half rounds up under "nearest"."""
    units, rest = divmod(exact, unit)
    more = {"down": False, "up": rest > 0, "nearest": 2 * rest >= unit}
    return unit * (units + more[mode])
