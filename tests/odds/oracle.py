"""What the odds must be, counted in other ways: every card is dealt one after another, as a dealer does.

The tableau is typed from sheet 004 and conditions are read from their documentation; of the program only the
definitions of wagers are used. A count is one of orders of six cards of the shoe: a coup that ends sooner counts with
every way that the cards after it could lie. All of them are integers.

- `card_by_card` walks the tree of the 52 kinds of cards with what is left of each: up to some fourteen cards.
- `in_classes` walks it for classes of cards that a wager cannot tell apart: any shoe, and the wagers that
  it can be asked about.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import perm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from punto.baccarat.cards import STANDARD_DECK
from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.definition import Rule, Wager

Shoe = Mapping[str, int]
"""How many are left of each card, by its code, such as `9S`."""

Left = tuple[tuple[str, int], ...]
Ints = NDArray[np.int64]

POINTS = {"A": 1, **{str(n): n for n in range(2, 10)}, "T": 0, "J": 0, "Q": 0, "K": 0}

# Sheet 004: what Player's third card must be for Banker to draw, by Banker's total of two cards.
BANKER_DRAWS_ON = {
    0: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    1: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    2: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    3: (0, 1, 2, 3, 4, 5, 6, 7, 9),
    4: (2, 3, 4, 5, 6, 7),
    5: (4, 5, 6, 7),
    6: (6, 7),
    7: (),
}


class Ended(NamedTuple):
    """A finished coup, by what a condition can ask of it; the ranks of the winning hand in the order of their codes."""

    winner: str
    player_cards: int
    banker_cards: int
    coup_cards: int
    player_total: int
    banker_total: int
    margin: int
    natural: bool
    player_pair: bool = False
    banker_pair: bool = False
    player_perfect_pair: bool = False
    banker_perfect_pair: bool = False
    winning_ranks: tuple[str, ...] | None = None
    winning_suit: str | None = None
    coup_suit: str | None = None


PAIRS = {"player_pair", "banker_pair", "player_perfect_pair", "banker_perfect_pair"}
SUITS = {"winning_suit", "coup_suit"}


def by_points(player: int, banker: int, player_cards: int, banker_cards: int) -> Ended:
    """A coup by its totals and numbers of cards."""
    return Ended(
        winner="player" if player > banker else "banker" if banker > player else "tie",
        player_cards=player_cards,
        banker_cards=banker_cards,
        coup_cards=player_cards + banker_cards,
        player_total=player,
        banker_total=banker,
        margin=max(player, banker) - min(player, banker),
        natural=(player_cards == 2 and player in {8, 9}) or (banker_cards == 2 and banker in {8, 9}),
    )


@cache
def total(*cards: str) -> int:
    return sum(POINTS[card[0]] for card in cards) % 10


@cache
def ranks_of(cards: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(card[0] for card in cards))


@cache
def only_suit(cards: tuple[str, ...]) -> str | None:
    suit = cards[0][1]
    return suit if all(card[1] == suit for card in cards) else None


def ended(player: tuple[str, ...], banker: tuple[str, ...]) -> Ended:
    """A finished coup by its cards."""
    coup = by_points(total(*player), total(*banker), len(player), len(banker))
    won = {"player": player, "banker": banker, "tie": None}[coup.winner]
    suits = only_suit(player), only_suit(banker)
    return Ended(
        *coup[:8],
        player_pair=player[0][0] == player[1][0],
        banker_pair=banker[0][0] == banker[1][0],
        player_perfect_pair=player[0] == player[1],
        banker_perfect_pair=banker[0] == banker[1],
        winning_ranks=ranks_of(won) if won else None,
        winning_suit=only_suit(won) if won else None,
        coup_suit=suits[0] if suits[0] == suits[1] else None,
    )


def first_coup(cards: Sequence[str]) -> Ended:
    """The coup that these cards begin with (sheet 004)."""
    player, banker = [cards[0], cards[2]], [cards[1], cards[3]]
    if total(*player) >= 8 or total(*banker) >= 8:
        return ended(tuple(player), tuple(banker))
    rest = iter(cards[4:])
    banker_draws = total(*banker) <= 5
    if total(*player) <= 5:
        third = next(rest)
        player.append(third)
        banker_draws = POINTS[third[0]] in BANKER_DRAWS_ON[total(*banker)]
    if banker_draws:
        banker.append(next(rest))
    return ended(tuple(player), tuple(banker))


# The tree of the 52 kinds of cards.


def card_by_card(shoe: Shoe) -> Counter[Ended]:
    """The coups of a shoe, by a walk over what each next card can be."""
    left = Counter({card: count for card, count in shoe.items() if count})
    in_all = left.total()
    found: Counter[Ended] = Counter()

    def deal(player: tuple[str, ...], banker: tuple[str, ...], ways: int) -> None:
        dealt = len(player) + len(banker)
        to = _next_hand(player, banker)
        if to is None:
            found[ended(player, banker)] += ways * perm(in_all - dealt, 6 - dealt)
            return
        for card, count in left.items():
            if count:
                left[card] -= 1
                if to == "player":
                    deal((*player, card), banker, ways * count)
                else:
                    deal(player, (*banker, card), ways * count)
                left[card] += 1

    deal((), (), 1)
    return found


def _next_hand(player: tuple[str, ...], banker: tuple[str, ...]) -> str | None:
    dealt = len(player) + len(banker)
    if dealt < 4:
        return ("player", "banker")[dealt % 2]
    two_of_player, two_of_banker = total(*player[:2]), total(*banker[:2])
    if len(banker) == 3 or two_of_player >= 8 or two_of_banker >= 8:
        return None
    if len(player) == 3:
        draws = POINTS[player[2][0]] in BANKER_DRAWS_ON[two_of_banker]
    elif two_of_player <= 5:
        return "player"
    else:
        draws = two_of_banker <= 5
    return "banker" if draws else None


# The tree of classes of cards.


def in_classes(shoe: Shoe, wager: Wager) -> Counter[Ended]:
    """The coups of a shoe by what this wager asks, and no more than that.

    Raises:
        ValueError: it asks for pairs and for suits or ranks, which no walk here has both of.
    """
    asks = {name for rule in wager.rules for name in Ended._fields if getattr(rule.when, name) is not None}
    left = tuple(shoe.items())
    if not asks & (PAIRS | SUITS | {"winning_ranks"}):
        return _by_rank(left, ())
    if not asks & (SUITS | {"winning_ranks"}):
        return _by_pairs(left)
    if asks & PAIRS:
        raise ValueError(f"{wager.name} asks for pairs and for suits or ranks: walk card by card")
    named = {tuple(sorted(hand.split("-"))) for rule in wager.rules for hand in rule.when.winning_ranks or ()}
    hands = tuple(sorted(named))
    return _by_suit(left, hands) if asks & SUITS else _by_rank(left, hands)


@cache
def _by_rank(shoe: Left, hands: tuple[tuple[str, ...], ...]) -> Counter[Ended]:
    """By points, and by which of these hands won."""
    return Counter({coup: ways for (coup, *_), ways in _walk(dict(shoe), hands, None).items()})


@cache
def _by_suit(shoe: Left, hands: tuple[tuple[str, ...], ...]) -> Counter[Ended]:
    """By points, by which of these hands won and by suits.

    For each suit there is a walk that tells it from all others; what none of the four is so for has no suit.
    """
    found = _by_rank(shoe, hands).copy()
    for suit in "SHDC":
        for (coup, winning, whole), ways in _walk(dict(shoe), hands, suit).items():
            if winning or whole:
                found[coup] -= ways
                found[coup._replace(winning_suit=winning, coup_suit=whole)] += ways
    return found


# Numbers of which those of one hand's ranks add up to another sum than those of any other hand's.
_NAMES = {rank: 4**number for number, rank in enumerate(POINTS)}


def _classes(
    shoe: Shoe, hands: Sequence[tuple[str, ...]], suit: str | None
) -> tuple[list[str], Ints, Ints, NDArray[np.bool_]]:
    """For each class: the first of its ranks, its points, what is left of it, whether it is of this suit.

    Cards that count nothing are one class where no hand names a rank of theirs.
    """
    pictures = "TJQK" if any(rank in "TJQK" for hand in hands for rank in hand) else "T"
    of_rank = {rank: rank if rank in "A23456789" + pictures else "T" for rank in POINTS}
    left: Counter[tuple[str, bool]] = Counter()
    for card, count in shoe.items():
        left[of_rank[card[0]], card[1] == suit] += count
    ranks = [rank for rank, _ in left]
    return (
        ranks,
        np.array([POINTS[rank] for rank in ranks]),
        np.array(list(left.values())),
        np.array([flag for _, flag in left]),
    )


def _walk(
    shoe: Shoe, hands: Sequence[tuple[str, ...]], suit: str | None
) -> Counter[tuple[Ended, str | None, str | None]]:
    ranks, points, left, of_suit = _classes(shoe, hands, suit)
    name = np.array([_NAMES[rank] for rank in ranks])
    found: Counter[tuple[Ended, str | None, str | None]] = Counter()
    for first in range(len(left)):
        start = (np.array([first]),), left[[first]]
        four = _one_more(*_one_more(*_one_more(*start, left), left), left)
        for player, banker, ways in _endings(*four, points, left, of_suit if suit else None):
            won = _won(player, banker, points)
            suited = [np.logical_and.reduce([of_suit[card] for card in cards]) for cards in (player, banker)]
            winning = (suited[0] & (won == 1)) | (suited[1] & (won == 2))
            hand = np.zeros(len(ways), np.int64)
            if hands:
                names = np.where(won == 1, _sum_of(name, player), _sum_of(name, banker)) * (won > 0)
                for number, each in enumerate(hands, 1):
                    hand[names == sum(_NAMES[rank] for rank in each)] = number
            for (coup, number, in_hand, in_all), count in _added_up(
                player, banker, points, ways, hand, winning, suited[0] & suited[1]
            ):
                ranked = coup._replace(winning_ranks=hands[number - 1] if number else None)
                found[ranked, suit if in_hand else None, suit if in_all else None] += count
    return found


@cache
def _by_pairs(shoe: Left) -> Counter[Ended]:
    """By points and pairs: four cards of the 52 kinds, and third cards by their points."""
    cards, kinds = [card for card, count in shoe if count], np.array([count for _, count in shoe if count])
    points, rank = (
        np.array([each[card[0]] for card in cards])
        for each in (POINTS, {rank: number for number, rank in enumerate(POINTS)})
    )
    four = np.zeros((10, 10, 10, 10, 3, 3), np.int64)
    for first in range(len(cards)):
        start = (np.array([first]),), kinds[[first]]
        (p1, b1, p2, b2), ways = _one_more(*_one_more(*_one_more(*start, kinds), kinds), kinds)
        pair = [(a == b).astype(np.int64) + (rank[a] == rank[b]) for a, b in ((p1, p2), (b1, b2))]
        np.add.at(four, (points[p1], points[b1], points[p2], points[b2], *pair), ways)
    *dealt, player_pair, banker_pair = np.nonzero(four)
    left = np.array([sum(count for card, count in shoe if POINTS[card[0]] == p) for p in range(10)])
    found: Counter[Ended] = Counter()
    for p in range(3):
        for b in range(3):
            rows = (player_pair == p) & (banker_pair == b)
            ways = four[..., p, b][tuple(each[rows] for each in dealt)]
            for player, banker, counts in _endings(
                tuple(each[rows] for each in dealt), ways, np.arange(10), left
            ):
                for (coup,), count in _added_up(player, banker, np.arange(10), counts):
                    paired = coup._replace(
                        player_pair=p > 0,
                        banker_pair=b > 0,
                        player_perfect_pair=p == 2,
                        banker_perfect_pair=b == 2,
                    )
                    found[paired] += count
    return found


def _one_more(dealt: tuple[Ints, ...], ways: Ints, left: Ints) -> tuple[tuple[Ints, ...], Ints]:
    """Each row once for each class that can be dealt next, its ways multiplied by what is left of it."""
    assert perm(int(left.sum()), 6) < 2**63
    kinds = len(left)
    card = np.tile(np.arange(kinds), len(ways))
    dealt = tuple(np.repeat(each, kinds) for each in dealt)
    rest = left[card] - sum((each == card).astype(np.int64) for each in dealt)
    ways = np.repeat(ways, kinds) * rest
    rows = ways > 0
    return (*(each[rows] for each in dealt), card[rows]), ways[rows]


def _endings(
    dealt: tuple[Ints, ...],
    ways: Ints,
    points: Ints,
    left: Ints,
    of_suit: NDArray[np.bool_] | None = None,
) -> Iterator[tuple[tuple[Ints, ...], tuple[Ints, ...], Ints]]:
    """The cards of both hands and the ways, for the coups that four dealt cards come to.

    With `of_suit`, coups are left out in which neither hand is of this suit.
    """
    in_all = int(left.sum())
    dealt, ways = _of_suit(of_suit, dealt, ways)
    p1, b1, p2, b2 = dealt
    player, banker = (points[p1] + points[p2]) % 10, (points[b1] + points[b2]) % 10
    natural = (player >= 8) | (banker >= 8)

    def at(rows: NDArray[np.bool_]) -> tuple[tuple[Ints, ...], Ints]:
        return tuple(each[rows] for each in dealt), ways[rows]

    (p1, b1, p2, b2), four = at(natural | ((player >= 6) & (banker >= 6)))
    yield (p1, p2), (b1, b2), four * ((in_all - 4) * (in_all - 5))

    (p1, b1, p2, b2, b3), five = _one_more(*at(~natural & (player >= 6) & (banker <= 5)), left)
    yield (p1, p2), (b1, b2, b3), five * (in_all - 5)

    third, five = _of_suit(of_suit, *_one_more(*at(~natural & (player <= 5)), left))
    p1, b1, p2, b2, p3 = third
    draws = np.zeros(len(five), bool)
    for total_of_two, cards in BANKER_DRAWS_ON.items():
        draws |= ((points[b1] + points[b2]) % 10 == total_of_two) & np.isin(points[p3], cards)
    yield (
        tuple(each[~draws] for each in (p1, p2, p3)),
        tuple(each[~draws] for each in (b1, b2)),
        five[~draws] * (in_all - 5),
    )

    (p1, b1, p2, b2, p3, b3), six = _one_more(tuple(each[draws] for each in third), five[draws], left)
    yield (p1, p2, p3), (b1, b2, b3), six


def _of_suit(
    of_suit: NDArray[np.bool_] | None, dealt: tuple[Ints, ...], ways: Ints
) -> tuple[tuple[Ints, ...], Ints]:
    """The rows in which Player's cards, or Banker's two, are all of this suit."""
    if of_suit is None:
        return dealt, ways
    p1, b1, p2, b2, *third = (of_suit[card] for card in dealt)
    rows = np.logical_and.reduce([p1, p2, *third]) | (b1 & b2)
    return tuple(each[rows] for each in dealt), ways[rows]


def _won(player: tuple[Ints, ...], banker: tuple[Ints, ...], points: Ints) -> Ints:
    """1 where Player won, 2 where Banker did, 0 for a tie."""
    difference = _sum_of(points, player) % 10 - _sum_of(points, banker) % 10
    return np.where(difference > 0, 1, np.where(difference < 0, 2, 0))


def _sum_of(of_class: Ints, cards: tuple[Ints, ...]) -> Ints:
    return sum((of_class[card] for card in cards[1:]), start=of_class[cards[0]])


def _added_up(
    player: tuple[Ints, ...], banker: tuple[Ints, ...], points: Ints, ways: Ints, *notes: Any
) -> Iterator[tuple[tuple[Any, ...], int]]:
    """The ways of each coup by points, and by what is noted of the rows besides."""
    keys = [_sum_of(points, cards) % 10 for cards in (player, banker)]
    keys += [np.asarray(note, np.int64) for note in notes]
    sums = np.zeros([10, 10, *(int(key.max(initial=0)) + 1 for key in keys[2:])], np.int64)
    np.add.at(sums, tuple(keys), ways)
    for place in zip(*np.nonzero(sums), strict=True):
        first, second, *noted = (int(number) for number in place)
        coup = by_points(first, second, len(player), len(banker))
        yield (coup, *noted), int(sums[place])


# Wagers.


def holds(when: Condition, coup: Ended) -> bool:
    """Whether all is so of a coup that a condition asks for."""
    hands = when.winning_ranks
    return (
        (when.winner is None or coup.winner in [str(winner) for winner in when.winner])
        and (when.player_cards is None or coup.player_cards in when.player_cards)
        and (when.banker_cards is None or coup.banker_cards in when.banker_cards)
        and (when.coup_cards is None or coup.coup_cards in when.coup_cards)
        and (when.player_total is None or coup.player_total in when.player_total)
        and (when.banker_total is None or coup.banker_total in when.banker_total)
        and (when.margin is None or coup.margin in when.margin)
        and (when.natural is None or coup.natural == when.natural)
        and (when.player_pair is None or coup.player_pair == when.player_pair)
        and (when.banker_pair is None or coup.banker_pair == when.banker_pair)
        and (when.player_perfect_pair is None or coup.player_perfect_pair == when.player_perfect_pair)
        and (when.banker_perfect_pair is None or coup.banker_perfect_pair == when.banker_perfect_pair)
        and (hands is None or coup.winning_ranks in [tuple(sorted(hand.split("-"))) for hand in hands])
        and (when.winning_suit is None or coup.winning_suit in when.winning_suit)
        and (when.coup_suit is None or coup.coup_suit in when.coup_suit)
    )


def decides(rule: Rule, coup: Ended, base: str | None) -> bool:
    """Whether a rule decides that no rule before it did; `base` names the hands whose win a wager may win by."""
    if base is not None and rule.pays not in {"lose", "push"} and coup.winner not in base.split("+"):
        return False
    return holds(rule.when, coup)


def counts(wager: Wager, coups: Mapping[Ended, int], base: str | None = None) -> dict[str, int]:
    """How many of the coups each rule decides."""
    found = {rule.name: 0 for rule in wager.rules}
    for coup, ways in coups.items():
        found[next(rule.name for rule in wager.rules if decides(rule, coup, base))] += ways
    return found


def net(pays: str, meter: Fraction | None = None) -> Fraction:
    """What a pay wins of one unit staked, less what it loses; `meter` in units staked."""
    words = pays.split()
    match words:
        case ["push"]:
            return Fraction(0)
        case ["lose"]:
            return Fraction(-1)
        case [won, "for", per]:
            return Fraction(int(won), int(per)) - 1
        case [won, "to", per]:
            return Fraction(int(won), int(per))
        case [won, "to", per, "less", share]:
            return Fraction(int(won), int(per)) * (100 - Fraction(share.removesuffix("%"))) / 100
        case [share, "of", "the", "meter"] if meter is not None:
            return Fraction(share.removesuffix("%")) / 100 * meter - 1
    raise ValueError(pays)


# Shoes.


def full(decks: int) -> dict[str, int]:
    """A shoe of whole decks."""
    return {card.value: decks for card in STANDARD_DECK}


def of(codes: str) -> dict[str, int]:
    """A shoe of these cards."""
    return dict(Counter(codes.split()))
