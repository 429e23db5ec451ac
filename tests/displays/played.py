"""A table that is really played, and what it publishes."""

import tomllib
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Literal

from pydantic import TypeAdapter

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.table.events import (
    CardDrawn,
    CutCardSeen,
    Event,
    LidMoved,
    ServiceStarted,
    SetWager,
    ShoeHello,
    ShoeLost,
)
from punto.baccarat.table.order_kinds import ChangeShoe, OpenBetting, SignOn
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import Phase
from punto.baccarat.table.table import Table
from punto.baccarat.wagers.definition import Game, Limits
from punto.messages.building import scoreboard_message, state_message, timestamp
from punto.messages.models import Availability, Scoreboard, State
from punto.runtime.clock import now

GAMES = Path(__file__).parents[2] / "configs" / "games"


def game(name: str) -> Game:
    """A game file, its wagers with limits such as a house sets; a meter's wager has one size."""
    read = tomllib.loads((GAMES / f"{name}.toml").read_text(encoding="utf-8"))
    found = TypeAdapter(Game).validate_json(TypeAdapter(dict).dump_json(read), strict=True)
    base, side = (
        Limits(minimum=25_00, maximum=5_000_00, step=5_00),
        Limits(minimum=5_00, maximum=500_00, step=5_00),
    )
    wagers = tuple(
        wager if wager.progressive else replace(wager, limits=base if wager.base else side)
        for wager in found.wagers
    )
    return replace(found, wagers=wagers)


class PlayedTable:
    """A table with a shoe of cards shuffled from `seed`, played by the events that play it in a casino."""

    def __init__(
        self,
        *,
        name: str = "Dragon Room 8",
        game_name: str = "canberra",
        seed: int = 8,
        maximum_wagers: int | None = None,
    ) -> None:
        played = replace(game(game_name), maximum_wagers=maximum_wagers)
        settings = Settings(table="table-1", name=name, game=played, currency="AUD", burn="none")
        self.table = Table.new(settings)
        self._cards = list(STANDARD_DECK * settings.game.decks)
        Random(seed).shuffle(self._cards)
        self._record = 0
        self._inputs = 0
        self.handle(ServiceStarted("0.1.0", settings))
        self.handle(ShoeHello("PT-0001", log=1, first_kept=1, next_record=1, decks=settings.game.decks))
        self.handle(SignOn("mei"))
        self.handle(ChangeShoe("mei"))

    def handle(self, event: Event) -> None:
        self.table.handle(event)
        self._inputs += 1

    def draw(self) -> None:
        """One card leaves the shoe."""
        self._record += 1
        self.handle(CardDrawn(self._record, self._cards.pop(), confidence=99))

    def play(self, hands: int) -> None:
        """Deal so many more hands to their end."""
        until = self.table.state.round.number + hands
        while self.table.state.round.number < until:
            self.draw()

    def play_these(self, *codes: str) -> None:
        """Deal a hand of these cards, after which betting stays closed."""
        state = self.table.state
        settings = replace(state.settings, next_coup="order")
        self.table.state = state.replace(settings=settings)
        self._cards.extend(Card(code) for code in reversed(codes))
        self.play(1)

    def turned_by(self, seat: int) -> None:
        """Deal the first four cards, face down, to a table where this seat has the largest wager."""
        self.handle(OpenBetting("mei"))
        self.handle(SetWager("w", seat, "banker", 50_00, self.table.state.round.number))
        for _ in range(4):
            self.draw()
        assert self.table.state.phase is Phase.REVEAL

    def deal(self, cards: int) -> None:
        """Deal so many cards of the next hand."""
        for _ in range(cards):
            self.draw()
        assert self.table.state.phase is Phase.DEALING

    def cut_card(self) -> None:
        self._record += 1
        self.handle(CutCardSeen(self._record))

    def lift_the_lid(self) -> None:
        self._record += 1
        self.handle(LidMoved(self._record, open=True))

    def lose_the_shoe(self) -> None:
        self.handle(ShoeLost("the cable is out"))

    def state(self) -> State:
        return state_message(self.table.state, self._inputs, now())

    def scoreboard(self) -> Scoreboard:
        return scoreboard_message(self.table.state, now())


def availability(
    state: Literal["online", "offline"],
    reason: str,
    cause: Literal["stopped", "failed", "lost"] | None = None,
    other_record: str | None = None,
) -> Availability:
    """What the table's service, or its last will, says of itself."""
    at = timestamp(now())
    return Availability(
        id="table-1/availability",
        seq=0,
        ts=at,
        state=state,
        reason=reason,
        since=at,
        cause=cause,
        other_record=other_record,
    )
