"""Messages of a progressive, as its tables publish them."""

import tomllib
from datetime import timedelta
from typing import Any, Literal

from punto.baccarat.progressive.shares import split
from punto.baccarat.wagers.definition import Rule
from punto.baccarat.wagers.words import words
from punto.messages.building import timestamp
from punto.messages.models import MeterAward, MeterShare, MeterTier, Progressive
from punto.runtime import clock
from tests.displays.played import GAMES, game

PROGRESSIVE_GAMES = tuple(
    path.stem
    for path in sorted(GAMES.glob("*.toml"))
    if any("progressive" in wager for wager in tomllib.loads(path.read_text(encoding="utf-8"))["wagers"])
)
"""The games that ship with a meter."""

HOLDS = timedelta(seconds=2.5)


def paying_rules(game_name: str) -> list[Rule]:
    """The rules of a game's progressive wager that pay something, the highest first."""
    (wager,) = (wager for wager in game(game_name).wagers if wager.progressive)
    return [rule for rule in wager.rules if rule.wins]


class Meter:
    """A progressive whose meter stands where it is put. `ahead` is by how much its table's clock is before everybody's."""

    def __init__(
        self,
        meter: int = 98_101_46,
        *,
        game_name: str = "progressive-2",
        tables: tuple[str, ...] = ("table-1",),
        **changes: Any,
    ) -> None:
        self.meter = meter
        self.award: MeterAward | None = None
        self.ahead = timedelta()
        self.changes = {
            "progressive": "dragon",
            "title": "Dragon Bonus Progressive",
            "tables": tables,
            **changes,
        }
        self._rules = paying_rules(game_name)
        self._sent = 0

    def win(
        self,
        amount: int,
        *,
        rule: int = 1,
        table: str = "table-1",
        seats: tuple[int, ...] = (3,),
        ago: timedelta = timedelta(),
        state: Literal["locked", "booked"] = "locked",
    ) -> None:
        """An award was logged, by the rule with that place on the pay table."""
        self.award = MeterAward(
            award=1 if self.award is None else self.award.award + 1,
            rule=self._rules[rule].name,
            title=words(self._rules[rule].when),
            amount=amount,
            table=table,
            round=12,
            seats=seats,
            shares=tuple(
                MeterShare(seat=share.seat, amount=share.amount) for share in split(amount, seats, "right")
            ),
            whole_meter=rule == 0,
            state=state,
            won=timestamp(clock.now() + self.ahead - ago),
        )

    def message(self) -> Progressive:
        """What a table publishes now."""
        now = clock.now() + self.ahead
        self._sent += 1
        return Progressive.model_validate(
            {
                "schema": "punto/progressive/1",
                "id": f"table-1/progressive/dragon/{self._sent}",
                "seq": self._sent,
                "ts": timestamp(now),
                "valid_until": timestamp(now + HOLDS),
                "currency": "AUD",
                "phase": "open",
                "meter": self.meter,
                "wager": 100,
                "step": "betting",
                "seats": (),
                "tiers": tuple(self._tier(rule) for rule in self._rules),
                "award": self.award,
                **self.changes,
            }
        )

    def _tier(self, rule: Rule) -> MeterTier:
        share = rule.pay.meter
        amount = self.meter * share if share else rule.pay.returned(100)
        return MeterTier(
            rule=rule.name,
            title=words(rule.when),
            pays=rule.pays,
            amount=int(amount),
            of_meter=bool(share),
        )
