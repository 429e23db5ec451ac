"""A round found to be wrong after it was settled: the record stays, and the differences are added to it."""

from typing import Any

import pytest

from punto.baccarat.coup import Winner
from punto.baccarat.table.order_kinds import VoidRound
from punto.baccarat.table.state import Phase, RoundRecord
from punto.baccarat.table.turn import RefusedError
from tests.baccarat.table.croupier import LONG, PLAYER_NATURAL, Croupier, cards

WAGERS = ("wager 1 player 500", "wager 2 banker 1000", "wager 3 tie 100")
# Player KS 9H, Banker 2S 3S: 9 over 5. Read as 8H it is 8 over 5, as 5H a tie, and as 4H Player is to draw.


def played(*after: str, **house: Any) -> Croupier:
    return Croupier.at_betting(*WAGERS, f"draw {PLAYER_NATURAL}", *after, **house)


def paid(record: RoundRecord) -> dict[int, int]:
    return {each.seat: each.net for each in record.settlements}


def test_the_differences_are_an_entry_of_their_own():
    croupier = played("correct round KS 9H over 2S 7D")

    first, entry = croupier.rounds
    assert paid(first) == {1: 500, 2: -1000, 3: -100}
    assert (entry.round, entry.status, entry.corrects, entry.coup) == (2, "correction", 1, 1)
    assert (entry.who, entry.reason, entry.approved_by) == ("bob", "misread", "eve")
    assert (entry.player, entry.banker) == (cards("KS 9H"), cards("2S 7D"))
    assert entry.winner is Winner.TIE
    assert [(each.seat, each.stake, each.returned, each.net) for each in entry.settlements] == [
        (1, 0, -500, -500),
        (2, 0, 1000, 1000),
        (3, 0, 900, 900),
    ]
    assert croupier.kinds == ["round_corrected", "phase_entered"]


def test_what_each_seat_was_paid_in_all_is_what_the_real_cards_pay():
    croupier = played("correct round 2D 2C over 9S KH")
    right = Croupier.at_betting(*WAGERS, "draw 2D 9S 2C KH")

    in_all = paid(croupier.rounds[0])
    for seat, more in paid(croupier.rounds[1]).items():
        in_all[seat] += more
    assert in_all == paid(right.rounds[0])
    assert croupier.state.history.last is not None
    assert paid(croupier.state.history.last) == in_all


def test_a_wager_that_is_paid_the_same_is_not_in_the_entry():
    assert played("correct round KS 8H over 2S 3S").rounds[1].settlements == ()


def test_a_correction_can_be_corrected():
    croupier = played("correct round KS 9H over 2S 7D", "correct round KS 9H over 2S 3S")

    assert [(each.round, each.corrects) for each in croupier.rounds] == [(1, None), (2, 1), (3, 1)]
    assert paid(croupier.rounds[2]) == {1: 500, 2: -1000, 3: -900}
    assert croupier.state.history.last is not None
    assert paid(croupier.state.history.last) == paid(croupier.rounds[0])


def test_the_roads_and_the_cards_out_are_as_they_should_have_been():
    croupier = played("correct round KS 9H over 2S 7D", f"draw {PLAYER_NATURAL}")

    assert [each.winner for each in croupier.state.shoe.rounds] == [Winner.TIE, Winner.PLAYER]
    assert croupier.state.shoe.drawn == cards(f"KS 2S 9H 7D {PLAYER_NATURAL}")


def test_wagers_for_the_number_that_the_entry_takes_go_back_and_betting_is_for_another():
    croupier = played("wager 1 player 700", "correct round KS 9H over 2S 7D")

    assert croupier.kinds == ["wagers_returned", "round_corrected", "phase_entered"]
    assert (croupier.state.round.number, croupier.state.round.wagers, croupier.phase) == (
        3,
        (),
        Phase.BETTING,
    )
    croupier.do("wager 1 player 700", f"draw {PLAYER_NATURAL}")
    assert (croupier.rounds[2].round, paid(croupier.rounds[2])) == (3, {1: 700})


@pytest.mark.parametrize(
    ("read", "really", "rules"),
    [
        ("2S 3S 9S", "2S 3S 4S", ("lose", "two_three_four_suited")),
        ("2S 3S 4S", "2S 3S 9S", ("two_three_four_suited", "lose")),
        ("2S 3S 4S", "2D 3D 4D", ("two_three_four_suited", "two_three_four_diamonds")),
    ],
)
def test_an_award_that_was_missed_or_was_none_is_in_the_entry_though_it_returns_nothing_yet(
    read, really, rules
):
    banker = read.split()
    dealt = f"AC {banker[0]} 2C {banker[1]} 7C {banker[2]}"
    croupier = Croupier.at_betting(
        "wager 1 banker 500", "wager 1 progressive 100", f"draw {dealt}", game_name="progressive-1"
    ).do(f"correct round AC 2C 7C over {really}")

    first, entry = croupier.rounds
    assert [each.rule for each in first.settlements if each.wager == "progressive"] == [rules[0]]
    assert [(each.rule, each.net) for each in entry.settlements if each.wager == "progressive"] == [
        (rules[1], 0)
    ]


def test_a_round_of_the_shoe_before_can_be_corrected_and_this_shoe_is_left_alone():
    croupier = played("change shoe", "draw 7C", next_coup="order")
    before = croupier.state
    croupier = played("change shoe", "correct round KS 9H over 2S 7D", next_coup="order")

    assert before.shoe.number == 2
    assert croupier.rounds[1].shoe == 1
    assert (croupier.state.shoe.drawn, croupier.state.shoe.rounds) == ((), ())


@pytest.mark.parametrize(
    ("after", "code"),
    [
        (["correct round KS 9H over 2S 3S"], "same_card"),
        (["correct round KS 9H 2D over 2S 3S"], "cards_disagree"),
        (["correct round KS 4H over 2S 3S"], "cards_disagree"),
        ([f"draw {LONG}", "correct round KS 9S 4D over 2S 3S 9D"], "cards_disagree"),
        (["void round", "void round"], "not_played"),
        (["void round", "correct round KS 9H over 2S 7D"], "not_played"),
        (["draw KS", "correct round KS 9H over 2S 7D"], "not_now"),
    ],
)
def test_what_cannot_have_been_is_refused_and_changes_nothing(after, code):
    assert played(*after[:-1]).refused(after[-1]).code == code


def test_a_card_that_had_all_come_is_refused():
    with pytest.raises(RefusedError, match="all copies of 9H have already left the shoe"):
        Croupier.at_betting("draw 9H 2S KS 3S", "draw KD 7S 8D 2C", "correct round KD 9H over 7S 2C", decks=1)


def test_only_the_last_round_can_be_corrected():
    croupier = played(f"draw {LONG}")

    with pytest.raises(
        RefusedError,
        match="round 1 is not the last round: only round 2 can be corrected or voided at the table",
    ):
        croupier.handle(VoidRound("bob", 1, "misdeal"))


def test_a_round_taken_back_returns_every_wager_and_leaves_the_roads():
    croupier = played("void round")

    assert paid(croupier.rounds[1]) == {1: -500, 2: 1000, 3: 100}
    assert croupier.rounds[1].winner is None
    assert croupier.state.shoe.rounds == ()
    assert croupier.state.shoe.drawn == cards(PLAYER_NATURAL)
    assert croupier.phase is Phase.BETTING


def test_before_the_first_round_there_is_nothing_to_correct():
    with pytest.raises(RefusedError, match="there is no round"):
        Croupier.at_betting("void round")


def test_a_hand_voided_before_the_reveal_is_hidden_on_the_record():
    midi = Croupier.at_betting("draw KS 2S", "void", game_name="midi-baccarat")
    mini = Croupier.at_betting("draw KS 2S", "void")

    assert midi.rounds[0].hidden
    assert midi.rounds[0].player == cards("KS")
    assert not mini.rounds[0].hidden
