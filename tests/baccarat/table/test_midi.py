"""Midi baccarat: the shoe knows the result before the players have turned the cards, and nobody else does."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter

from punto.baccarat.coup import Side
from punto.baccarat.table.effects import CardDealt, CardsRevealed, Happening
from punto.baccarat.table.state import Phase
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.messages.building import state_message
from tests.baccarat.table.croupier import PLAYER_NATURAL, Croupier, cards, happenings

FOUR = "KS 2S 5S 3S"  # and each hand draws
MIDI = {"game_name": "midi-baccarat", "decks": 1}
HAPPENING: TypeAdapter[Happening] = TypeAdapter(Happening)


def public_text(croupier: Croupier) -> str:
    """All that the public came to know, as it is sent."""
    return " ".join(HAPPENING.dump_json(each).decode() for each in happenings(croupier.effects))


@pytest.mark.parametrize(
    "commands",
    [
        [f"draw {FOUR}"],
        ["draw KS 2S 5S", "unsure 3S"],
        ["draw KS 2S 5S", "unsure 3S", "key 3S", "draw 4D"],
        ["draw KS 2S", "draw KS"],  # the second copy in a shoe of one deck
        [f"draw {FOUR}", "correct 2 AS"],
        ["draw KS 2S", "correct 2 AS", "void"],
        [f"draw {FOUR}", "overdraw 7C", "draw 8C", "resume", "resume"],
        ["draw KS", "lid open", "draw 2S", "lid closed", "resume"],
        ["draw KS", "push back", "fault", "resume", "lose shoe", "hello"],
        ["draw KS", "records lost 2", "resume", "noise", "cut card"],
    ],
)
def test_before_the_reveal_no_card_is_in_anything_public(commands):
    croupier = Croupier.at_betting("wager 1 player 500", *commands, **MIDI)

    assert not re.findall(r"\b[A2-9TJQK][SHDC]\b", public_text(croupier))
    assert "coup_ended" not in public_text(croupier)
    assert "player_total" not in public_text(croupier)


def test_the_public_knows_that_a_card_was_dealt_and_surveillance_knows_which():
    croupier = Croupier.at_betting("draw KS", **MIDI)

    assert isinstance(croupier.said[-1], CardDealt)
    assert (croupier.said[-1].position, croupier.said[-1].card) == (1, None)
    assert croupier.held == [("KS", "hidden")]


def test_a_corrected_card_stays_hidden_too():
    croupier = Croupier.at_betting("draw KS", "correct 1 QS", **MIDI)

    assert (croupier.said, croupier.held) == ([], [("QS", "corrected")])


def test_a_hidden_card_cannot_be_guessed_by_correcting_it():
    croupier = Croupier.at_betting("draw KS", **MIDI)
    before = croupier.state

    croupier.do("correct 1 KS")

    assert croupier.state == before


def test_a_correction_that_cannot_be_tells_nothing_of_the_other_cards():
    croupier = Croupier.at_betting("draw 2D KS 3D 7H", "reveal", "draw 4D", **MIDI)

    refused = croupier.refused("correct 1 6S")

    assert refused.code == "cards_disagree"
    assert re.findall(r"\b[A2-9TJQK][SHDC]\b", str(refused)) == ["6S"]


def test_the_reveal_shows_both_hands_and_settles():
    croupier = Croupier.at_betting("wager 1 player 500", f"draw {PLAYER_NATURAL}", **MIDI)
    assert croupier.phase is Phase.REVEAL
    assert croupier.rounds == []

    croupier.do("reveal")

    assert croupier.said[0] == CardsRevealed(1, cards("KS 9H"), cards("2S 3S"))
    assert croupier.kinds == ["cards_revealed", "coup_ended", "phase_entered", "phase_entered"]
    assert croupier.rounds[0].settlements[0].net == 500


def test_the_first_four_cards_are_revealed_and_then_each_third_card():
    croupier = Croupier.at_betting("wager 1 player 500", f"draw {FOUR}", "reveal", **MIDI)
    assert croupier.kinds == ["cards_revealed", "phase_entered"]
    assert croupier.phase is Phase.DEALING

    croupier.do("draw 4D")
    assert croupier.said[:1] == [CardDealt(1, 5, Side.PLAYER, None, keyed=False)]
    croupier.do("reveal")
    assert croupier.said[:1] == [CardsRevealed(1, cards("KS 5S 4D"), cards("2S 3S"))]
    croupier.do("draw 9D", "reveal")

    assert croupier.rounds[0].banker == cards("2S 3S 9D")


def test_a_revealed_card_is_corrected_in_public():
    croupier = Croupier.at_betting(f"draw {FOUR}", "reveal", "correct 1 QS", **MIDI)

    assert croupier.kinds == ["card_corrected"]


def test_a_third_card_that_is_corrected_before_its_reveal_stays_hidden():
    croupier = Croupier.at_betting(f"draw {FOUR}", "reveal", "draw 4D", "correct 5 4C", **MIDI)

    assert (croupier.said, croupier.held) == ([], [("4C", "corrected")])


@pytest.mark.parametrize(
    ("wagers", "seat"),
    [
        ([], None),
        (["wager 2 tie 900"], None),
        (["wager 2 player 500"], 2),
        (["wager 2 player 500", "wager 4 banker 600"], 4),
        (["wager 4 banker 600", "wager 2 player 600"], 2),
        (["wager 2 player 500", "wager 4 tie 600"], 2),
    ],
)
def test_the_player_with_the_largest_wager_on_a_hand_turns_the_cards(wagers, seat):
    croupier = Croupier.at_betting(*wagers, "draw KS", **MIDI)

    assert croupier.state.revealing_seat == seat
    assert state_message(croupier.state, 1, datetime(2026, 3, 1, tzinfo=UTC)).revealing_seat == seat


def test_where_the_house_says_so_the_dealer_turns_them():
    croupier = Croupier(**MIDI)
    table = Table(replace(croupier.state, settings=replace(croupier.settings, reveal="dealer")))
    croupier.table = table
    croupier.do("hello", "sign on", "change shoe", "open", "wager 2 player 500")

    assert croupier.state.revealing_seat is None


def test_nothing_is_revealed_while_play_is_stopped():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", "push back", **MIDI)

    with pytest.raises(
        RefusedError, match="play is stopped: a card was pushed back into the shoe"
    ) as refused:
        croupier.do("reveal")

    assert refused.value.code == "needs_supervisor"
