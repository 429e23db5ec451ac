"""A misread that is found before the coup is settled."""

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Side
from punto.baccarat.table.effects import CardCorrected
from punto.baccarat.table.state import Correction, Phase
from tests.baccarat.table.croupier import PLAYER_NATURAL, Croupier, cards


def test_a_corrected_card_takes_the_place_of_the_misread_one():
    croupier = Croupier.at_betting("draw KS 2S 5S 3S", "correct 2 AS")

    assert croupier.hand == "KS AS 5S 3S"
    assert croupier.state.shoe.drawn == cards("KS AS 5S 3S")
    assert croupier.said == [CardCorrected(1, 2, Side.BANKER, Card.TWO_S, Card.AS, "misread")]


def test_every_correction_is_on_the_record_of_its_round_and_of_no_other():
    croupier = Croupier.at_betting(
        "draw KS 2S", "correct 1 QS", "correct 1 JS", "draw 9H 3S", "draw KS 2S 9H 3S"
    )

    assert [each.corrections for each in croupier.rounds] == [
        (
            Correction(1, Side.PLAYER, Card.KS, Card.QS, "bob", "misread"),
            Correction(1, Side.PLAYER, Card.QS, Card.JS, "bob", "misread"),
        ),
        (),
    ]


def test_a_correction_can_end_the_coup():
    croupier = Croupier.at_betting("wager 1 player 500", "draw KS 2S 5S 3S", "correct 3 9S")

    (record,) = croupier.rounds
    assert (record.winner, record.natural, record.settlements[0].net) == ("player", True, 500)


def test_a_correction_can_call_for_one_card_more():
    midi = Croupier.at_betting(f"draw {PLAYER_NATURAL}", game_name="midi-baccarat")
    midi.do("correct 3 2H", "reveal")
    assert midi.phase is Phase.DEALING

    midi.do("draw 4D", "reveal", "draw 2D", "reveal")
    assert midi.rounds[0].player == cards("KS 2H 4D")


def test_a_third_card_goes_to_the_other_hand_when_the_correction_says_so():
    croupier = Croupier.at_betting("draw KS 2S 5S 3S 4D")
    assert croupier.hand == "KS 2S 5S 3S 4D"

    croupier.do("correct 3 7S")

    assert (croupier.rounds[0].player, croupier.rounds[0].banker) == (cards("KS 7S"), cards("2S 3S 4D"))


@pytest.mark.parametrize(
    ("commands", "correction", "code", "message"),
    [
        (
            ["draw KS 2S 5S 3S 4D"],
            "correct 3 9S",
            "cards_disagree",
            "card 3 cannot be corrected to 9S, because the coup is over after 4 cards (KS 2S 9S 3S), so 4D does not belong to a hand. Void the coup instead",
        ),
        (
            ["draw KS 2S 5S 3S", "unread"],
            "correct 3 9S",
            "cards_disagree",
            "card 3 cannot be corrected to 9S, because the coup would then be over before the last card that has left the shoe. Void the coup instead",
        ),
        (["draw KS"], "correct 0 9S", "no_such_position", "there is no card at position 0: 1 cards have been dealt"),
        (["draw KS"], "correct 2 9S", "no_such_position", "there is no card at position 2: 1 cards have been dealt"),
        (["draw KS"], "correct 1 KS", "same_card", "the card at position 1 is already KS: there is nothing to correct"),
        (["draw KS 2S"], "correct 1 2S", "surplus_copy", "all copies of 2S have already left the shoe: check the card again"),
    ],
)  # fmt: skip
def test_a_correction_that_cannot_be_is_refused(commands, correction, code, message):
    croupier = Croupier.at_betting(*commands, decks=1)

    refused = croupier.refused(correction)

    assert (refused.code, str(refused)) == (code, message)


def test_a_corrected_copy_may_come_again():
    croupier = Croupier.at_betting("draw KS 2S", "correct 2 3S", "draw 2S", decks=1)

    assert croupier.hand == "KS 3S 2S"
