import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import (
    Coup,
    MissingCardError,
    Side,
    SurplusCardError,
    Winner,
    is_natural,
    is_pair,
    total,
)


def cards(codes: str) -> tuple[Card, ...]:
    return tuple(Card(code) for code in codes.split())


def coup(codes: str) -> Coup:
    return Coup(cards(codes))


@pytest.mark.parametrize(
    ("dealt", "player", "banker", "following"),
    [
        ("", "", "", Side.PLAYER),
        ("2S", "2S", "", Side.BANKER),
        ("2S 3S", "2S", "3S", Side.PLAYER),
        ("2S 3S 4S", "2S 4S", "3S", Side.BANKER),
        ("KS 2S 5S 3S", "KS 5S", "2S 3S", Side.PLAYER),
        ("KS 2S 5S 3S 4D", "KS 5S 4D", "2S 3S", Side.BANKER),
        ("KS 2S 5S 3S 4D 9D", "KS 5S 4D", "2S 3S 9D", None),
        ("KS 2S 5S 3S AD", "KS 5S AD", "2S 3S", None),
        ("KS 2S 7S 3S", "KS 7S", "2S 3S", Side.BANKER),
        ("KS 2S 7S 3S 9D", "KS 7S", "2S 3S 9D", None),
        ("KS 2S 7S 4S", "KS 7S", "2S 4S", None),
        ("KS 2S 9S 3S", "KS 9S", "2S 3S", None),
    ],
)
def test_cards_leave_the_shoe_to_player_and_banker_in_turn_and_then_as_the_tableau_calls(
    dealt, player, banker, following
):
    found = coup(dealt)

    assert " ".join(found.player) == player
    assert " ".join(found.banker) == banker
    assert found.next_side is following
    assert found.over is (following is None)


@pytest.mark.parametrize(
    ("codes", "after"),
    [
        ("KS 2S 9S 3S 4D", 4),
        ("KS 2S 7S 4S 4D", 4),
        ("KS 2S 7S 3S 9D 4D", 5),
        ("KS 2S 5S 3S AD 4D", 5),
        ("KS 2S 5S 3S 4D 9D 2H", 6),
    ],
)
def test_a_card_too_many_is_refused_and_named(codes, after):
    listed = codes.split()

    with pytest.raises(SurplusCardError) as error:
        coup(codes)

    assert str(error.value) == (
        f"the coup is over after {after} cards ({' '.join(listed[:after])}), so {listed[after]} does not belong to a hand"
    )


@pytest.mark.parametrize(
    ("codes", "missing"),
    [("", "Player"), ("KS", "Banker"), ("KS 2S 5S 3S", "Player"), ("KS 2S 7S 3S", "Banker")],
)
def test_a_coup_that_is_said_to_be_finished_needs_all_its_cards(codes, missing):
    with pytest.raises(MissingCardError) as error:
        Coup.complete(coup(codes).cards)

    count = len(codes.split())
    cards = "1 card does" if count == 1 else f"{count} cards do"
    assert str(error.value) == f"{cards} not finish a coup: {missing} must get one more card"


def test_a_finished_coup_is_itself():
    assert Coup.complete(coup("KS 2S 9S 3S").cards) == coup("KS 2S 9S 3S")


@pytest.mark.parametrize(
    ("codes", "winner", "totals", "margin", "natural", "pairs"),
    [
        ("KS 2S 9S 3S", Winner.PLAYER, (9, 5), 4, True, (False, False)),
        ("QC 4S QD 5H", Winner.BANKER, (0, 9), 9, True, (True, False)),
        ("TS 5H 8D 3D", Winner.TIE, (8, 8), 0, True, (False, False)),
        ("9S 9H TH KC", Winner.TIE, (9, 9), 0, True, (False, False)),
        ("AD QS 5D AD 5D", Winner.TIE, (6, 6), 0, False, (False, False)),
        ("AC TC JD AC 8S 9D", Winner.PLAYER, (9, 0), 9, False, (False, False)),
        ("TS 4S TD 4H", Winner.BANKER, (0, 8), 8, True, (True, True)),
        ("3S KS 5S QS", Winner.PLAYER, (8, 0), 8, True, (False, False)),
        ("7S 2S 7H 2H 2D 3C", Winner.BANKER, (6, 7), 1, False, (True, True)),
    ],
)
def test_what_a_coup_says_of_itself(codes, winner, totals, margin, natural, pairs):
    found = Coup.complete(coup(codes).cards)

    assert found.winner is winner
    assert (found.player_total, found.banker_total) == totals
    assert found.margin == margin
    assert found.natural is natural
    assert (found.player_pair, found.banker_pair) == pairs


@pytest.mark.parametrize(
    ("codes", "player", "banker", "both"),
    [
        ("9S 9H TH KC", 2, 2, 4),
        ("KS 2S 7S 3S 9D", 2, 3, 5),
        ("KS 2S 5S 3S AD", 3, 2, 5),
        ("KS 2S 5S 3S 4D 9D", 3, 3, 6),
    ],
)
def test_a_coup_counts_its_cards(codes, player, banker, both):
    found = coup(codes)

    assert (found.player_cards, found.banker_cards, found.coup_cards) == (player, banker, both)


@pytest.mark.parametrize(
    ("codes", "pairs", "perfect"),
    [
        ("KS 2S KS 3S 9D", (True, False), (True, False)),
        ("KS 2S KD 3S 9D", (True, False), (False, False)),
        ("KS 2D 7S 2D 2C", (False, True), (False, True)),
        ("KS 2D 7S 2C 2D", (False, True), (False, False)),
        ("7S 2H 7S 2H 2D 3C", (True, True), (True, True)),
        ("2H KS KH 2S 2H KS", (False, False), (False, False)),
        ("KS 2H QS 2S 2H KS", (False, True), (False, False)),
    ],
)
def test_a_perfect_pair_is_alike_in_rank_and_suit_in_the_first_two_cards(codes, pairs, perfect):
    found = coup(codes)

    assert (found.player_pair, found.banker_pair) == pairs
    assert (found.player_perfect_pair, found.banker_perfect_pair) == perfect


@pytest.mark.parametrize(
    ("codes", "ranks", "winning_suit", "coup_suit"),
    [
        ("2D KS 3D QH 4D TC", "2-3-4", "D", None),
        ("3D KS 2D QH 4S TC", "2-3-4", None, None),
        ("KS 4D 4H 2D 6C 3D", "2-3-4", "D", None),
        ("QS AD 4C TS 6C 8D", "A-8-T", None, None),
        ("AC TC JC AC 8C 9C", "A-8-J", "C", "C"),
        ("KC 9C TC JC", "9-J", "C", "C"),
        ("QH 2H KH TH 9H 4H", "9-Q-K", "H", "H"),
        ("KS 2S 7S 3S", "7-K", "S", "S"),
        ("9S 6D 9S KS", "9-9", "S", None),
        # a tie is nobody's hand, and can still be of one suit
        ("9S 9S TS KS", None, None, "S"),
        ("9S 9S TS KD", None, None, None),
    ],
)
def test_the_winning_hand_has_its_ranks_in_order_and_maybe_one_suit(codes, ranks, winning_suit, coup_suit):
    found = coup(codes)

    assert found.winning_ranks == ranks
    assert found.winning_suit == winning_suit
    assert found.coup_suit == coup_suit


@pytest.mark.parametrize(
    ("hand", "points"),
    [("", 0), ("9S", 9), ("KS QD", 0), ("7S 8D", 5), ("9S 9D 9H", 7), ("AS 9C", 0), ("5H 5C TD", 0)],
)
def test_a_total_is_the_last_digit_of_the_sum(hand, points):
    assert total(cards(hand)) == points


@pytest.mark.parametrize(
    ("hand", "pair"),
    [
        ("KS KD", True),
        ("KS QS", False),
        ("TS KS", False),
        ("7S 7S 2D", True),
        ("2D 7S 7S", False),
        ("7S", False),
        ("", False),
    ],
)
def test_a_pair_is_of_ranks_in_the_first_two_cards(hand, pair):
    assert is_pair(cards(hand)) is pair


@pytest.mark.parametrize(
    ("hand", "natural"),
    [
        ("KS 8D", True),
        ("KS 9D", True),
        ("4S 5S", True),
        ("KS 7D", False),
        ("8S", False),
        ("2S 3S 3D", False),
        ("9S 9D", True),
    ],
)
def test_a_natural_is_eight_or_nine_in_two_cards(hand, natural):
    assert is_natural(cards(hand)) is natural
