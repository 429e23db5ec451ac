"""Nothing public follows from cards that lie face down: the bytes are equal for all hands with the same visible history."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from pydantic import TypeAdapter

from punto.baccarat.cards import Card
from punto.baccarat.table.effects import Announced, Effect, Happening, RoundEnded
from punto.baccarat.table.events import CardDrawn, CutCardSeen, Event
from punto.baccarat.table.order_kinds import CorrectCard, KeyCard, Reveal, VoidCoup
from punto.baccarat.table.state import Phase, RoundRecord
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.messages.building import (
    progressive_message,
    public_round,
    scoreboard_message,
    shoe_message,
    state_message,
)
from punto.messages.metering import meters_message
from tests.baccarat.table.croupier import Croupier
from tests.share import part, sampled

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HAPPENING: TypeAdapter[Happening] = TypeAdapter(Happening)
ROUND: TypeAdapter[RoundRecord] = TypeAdapter(RoundRecord)
RANKS = part("A23456789K", one_in=3)  # each number of points once
GAMES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "midi": ({"game_name": "midi-baccarat", "coups_after_cut_card": 2}, ["wager 3 player 500", "wager 5 banker 700"]),
    "dealer": ({"game_name": "midi-baccarat", "reveal": "dealer"}, ["wager 3 player 500", "wager 5 tie 500"]),
    "keyed": ({"game_name": "dai-bacc", "cards": "keyed"}, ["wager 3 kill 500", "wager 3 player 500", "wager 5 ox_6 500"]),
    "metered": ({"reveal": "player", "game_name": "progressive-2", "meter": {"procedure": "aquarius"}}, ["meter", "wager 3 player 500", "start game 3"]),
}  # fmt: skip


class Watched:
    """A table, and all that the public was told of it."""

    def __init__(self, table: Table, told: tuple[bytes, ...] = ()) -> None:
        self.table = table
        self.told = told

    def after(self, event: Event) -> "Watched":
        table = Table(self.table.state)
        return Watched(table, (*self.told, *_told(table, table.handle(event))))

    def drawn(self, codes: Iterable[str]) -> "Watched":
        watched = self
        for code in codes:
            record = watched.table.state.link.expected
            if code == "cut":
                watched = watched.after(CutCardSeen(record))
            elif watched.table.state.settings.cards == "keyed":
                watched = watched.after(KeyCard("mei", Card(code)))
            else:
                watched = watched.after(CardDrawn(record, Card(code), 99))
        return watched

    def then(self, ranks: str, suit: str) -> Iterator["Watched"]:
        return (self.drawn([f"{rank}{suit}"]) for rank in ranks)


def _told(table: Table, effects: list[Effect]) -> Iterator[bytes]:
    state = table.state
    seq = state.link.taken
    for message in (
        state_message(state, seq, NOW),
        scoreboard_message(state, NOW),
        shoe_message(state, seq, NOW, NOW),
        progressive_message(state, seq, None, NOW),
        meters_message(state, {}, seq, NOW),
    ):
        if message is not None:
            yield message.wire()
    yield from (HAPPENING.dump_json(each.happening) for each in effects if isinstance(each, Announced))
    yield from (
        ROUND.dump_json(public_round(each.record)) for each in effects if isinstance(each, RoundEnded)
    )


def hands(betting: Watched) -> Iterator[Watched]:
    """All hands of a two, a nine and a king: naturals, hands that draw, and ties."""
    for ranks in product("29K", repeat=4):
        yield betting.drawn(f"{rank}{suit}" for rank, suit in zip(ranks, "SHDC", strict=True))


@pytest.fixture(params=GAMES)
def betting(request):
    house, commands = GAMES[request.param]
    return Watched(Croupier.at_betting(*commands, **house).table)


def test_no_hand_of_four_can_be_distinguished_from_another(betting):
    dealt = [betting]
    for suit in "SHDC":
        dealt = [after for before in dealt for after in before.then(RANKS, suit)]

    assert len(dealt) == len(RANKS) ** 4
    assert len({each.told for each in dealt}) == 1
    assert {each.table.state.phase for each in dealt} == {Phase.REVEAL}


@pytest.mark.parametrize(
    "coming", sampled([["KC"], ["KC", "9C"], ["cut"], ["cut", "KC"]], one_in=4), ids=" ".join
)
def test_nor_by_what_leaves_the_shoe_or_is_keyed_too_soon(betting, coming):
    def after(hand: Watched) -> object:
        try:
            return hand.drawn(coming).told
        except RefusedError as refused:
            assert betting.table.state.settings.cards == "keyed"
            return str(refused)

    assert len({after(hand) for hand in hands(betting)}) == 1


@pytest.mark.parametrize("coming", sampled([[], ["cut"]], one_in=4), ids=["no card", "cut card"])
def test_nor_by_a_correction_or_a_void(betting, coming):
    dealt = (hand.drawn(coming) for hand in hands(betting))
    corrected = [each.after(CorrectCard("mei", 3, Card("5D"), "misread", "eve")) for each in dealt]
    void = [each.after(VoidCoup("mei", "misdeal", "eve")) for each in corrected]

    assert len({each.told for each in corrected}) == 1
    assert len({each.told for each in void}) == 1
    rounds = [each.table.state.history.last for each in void]
    assert {public_round(each).player for each in rounds if each is not None} == {()}


@pytest.mark.parametrize(
    "shown",
    [["2S 3H 3D 2C"], ["2S 3H 4D 2C"], ["2S 3H 5D 2C"], ["2S 3H 3D 2C", "4S"]],
    ids=["to Player", "to Player again", "to Banker", "to Banker after Player"],
)
def test_no_third_card_can_be_distinguished_from_another(betting, shown):
    watched = betting
    for codes in shown:
        watched = watched.drawn(codes.split()).after(Reveal("mei"))
    assert watched.table.state.phase is Phase.DEALING

    third = list(watched.then("A23456789TJQK", "C"))

    assert len({each.told for each in third}) == 1
    assert {each.table.state.phase for each in third} == {Phase.REVEAL}


def test_after_the_reveal_the_hands_differ(betting):
    natural, other = (
        betting.drawn(codes.split()).after(Reveal("mei")) for codes in ("KS 2H 9D 3C", "2S 3H 3D 2C")
    )

    assert natural.told != other.told
