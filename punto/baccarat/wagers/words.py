"""A condition in words, as people at the table say it: "Banker wins with a three-card 7".

Two conditions have the same words only if the same coups meet them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product
from typing import Final

from punto.baccarat.coup import Side, Winner
from punto.baccarat.wagers.condition import Condition

_CARDS: Final = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
_SUITS: Final = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}
_TIE: Final = frozenset({Winner.TIE})
_A_HAND: Final = frozenset({Winner.PLAYER, Winner.BANKER})


def words(condition: Condition) -> str:
    """The condition on a coup, with a capital and no full stop; empty if there is no condition."""
    said = "; ".join([*_result(condition), *_all_cards(condition), *_first_cards(condition)])
    return said[:1].upper() + said[1:]


def _result(condition: Condition) -> Iterator[str]:
    """The winner, the margin and the winning cards."""
    winners, score, margin = _winners(condition), _score(condition), condition.margin
    hands = {side: hand for side in Side if (hand := _hand(condition, side, totals=not score))}
    subject = _subject(winners, hands)
    by = score
    if not score and margin is not None and 0 not in margin and Winner.TIE not in winners:
        by = f" by {_or(margin)}"
    if winners == _A_HAND or (subject is not None and winners == {Winner(subject.value)}):
        yield _won(condition, subject, by, hands)
    elif winners == _TIE and not hands:
        yield "the hands tie" + {None: "", True: " on naturals", False: ", not natural"}[condition.natural]
        yield from _cards_of_the_winner(condition)
    else:
        if subject is not None:
            yield f"{subject.title()} {_verbs(winners, subject)}{by}{_with(subject, hands)}"
        yield from _cards_of_the_winner(condition)
        if condition.natural is not None:
            yield f"{'a' if condition.natural else 'no'} natural ends the coup"
    if margin is not None and not by and (margin, winners) != ((0,), _TIE):
        yield f"the hands are {_or(margin)} points apart"
    if subject is None:
        yield from _held(hands)


def _winners(condition: Condition) -> frozenset[Winner]:
    """The possible winners of a coup that meets the condition; if there are none, the winners it names."""
    asked = able = frozenset(condition.winner or Winner)
    if condition.margin is not None:
        able &= {_winner(*totals) for totals in _totals(condition)}
    if condition.winning_ranks is not None or condition.winning_suit is not None:
        able &= _A_HAND
    return able or asked


def _winner(player: int, banker: int) -> Winner:
    return Winner.TIE if player == banker else Winner.PLAYER if player > banker else Winner.BANKER


def _totals(condition: Condition) -> list[tuple[int, int]]:
    """The allowed totals of Player and Banker."""
    return [
        (player, banker)
        for player, banker in product(range(10), repeat=2)
        if player in (condition.player_total or range(10))
        and banker in (condition.banker_total or range(10))
        and abs(player - banker) in (condition.margin or range(10))
        and _winner(player, banker) in (condition.winner or Winner)
    ]


def _score(condition: Condition) -> str:
    """The score, if the allowed totals and margins leave only one: " 8 over 0"."""
    if condition.margin is None or (condition.player_total is None and condition.banker_total is None):
        return ""
    scores = {(max(totals), min(totals)) for totals in _totals(condition)}
    if len(scores) != 1:
        return ""
    ((high, low),) = scores
    return f" {high} over {low}" if high > low else ""


def _hand(condition: Condition, side: Side, *, totals: bool) -> str:
    """The condition on one hand's number of cards and, unless the score gives it, its total."""
    player = side is Side.PLAYER
    cards = condition.player_cards if player else condition.banker_cards
    total = (condition.player_total if player else condition.banker_total) if totals else None
    if cards is None:
        return "" if total is None else f"a total of {_or(total)}"
    if total is None:
        return f"{_or(_CARDS[number] for number in cards)} cards"
    return f"a {_or(f'{_CARDS[number]}-card' for number in cards)} {_or(total)}"


def _subject(winners: frozenset[Winner], hands: Collection[Side]) -> Side | None:
    """The hand to describe: the only one with further conditions, or else the winner; None for any hand."""
    if winners >= _A_HAND:
        return None
    if len(hands) == 1:
        return next(iter(hands))
    if Winner.BANKER in winners:
        return Side.BANKER
    return Side.PLAYER if hands or Winner.PLAYER in winners else None


def _held(hands: Mapping[Side, str]) -> Iterator[str]:
    """The conditions on hands that need not win."""
    if len(hands) == 2 and len(set(hands.values())) == 1:
        yield f"Player and Banker each have {hands[Side.PLAYER]}"
    else:
        yield from (f"{side.title()} has {hand}" for side, hand in hands.items())


def _verbs(winners: frozenset[Winner], subject: Side) -> str:
    """The verb of the subject: "wins", "loses or ties"."""
    other = next(iter(_A_HAND - {Winner(subject.value)}))
    verbs = {Winner(subject.value): "wins", other: "loses", Winner.TIE: "ties"}
    return _or(verb for winner, verb in verbs.items() if winner in winners)


def _won(condition: Condition, subject: Side | None, by: str, hands: Mapping[Side, str]) -> str:
    """The hand that won, None for any, and its cards."""
    cards = _winning_cards(condition)
    if cards and condition.winning_ranks is None:
        cards = f"cards that are {cards}"
    return (
        f"{subject.title() if subject else 'a hand'} wins{by}"
        f"{_with(subject, hands, 'a natural' if condition.natural else '', cards)}"
        f"{', not natural' if condition.natural is False else ''}"
    )


def _with(subject: Side | None, hands: Mapping[Side, str], natural: str = "", cards: str = "") -> str:
    """The subject's cards after "with", the other hand's after "against"; conditions on hands need a subject."""
    own = hands.get(subject, "") if subject else ""
    against = [hand for side, hand in hands.items() if subject and side is not subject]
    held = [each for each in (natural, own, cards) if each]
    return (f" with {' and '.join(held)}" if held else "") + "".join(f" against {hand}" for hand in against)


def _winning_cards(condition: Condition) -> str:
    """The ranks and the suit of the winning hand: "2-3-4 in any order, all diamonds"."""
    said = []
    if condition.winning_ranks is not None:
        said.append(f"{_or(hand.replace('T', '10') for hand in condition.winning_ranks)} in any order")
    if condition.winning_suit is not None:
        said.append(_suit(condition.winning_suit))
    return ", ".join(said)


def _cards_of_the_winner(condition: Condition) -> Iterator[str]:
    """The same, if the condition names no winner."""
    if cards := _winning_cards(condition):
        yield f"the winning hand is {cards}"


def _suit(suits: Collection[str]) -> str:
    """The allowed suits: "all diamonds", "all of one suit but not diamonds"."""
    others = [name for suit, name in _SUITS.items() if suit not in suits]
    if not others:
        return "all of one suit"
    if len(others) == 1:
        return f"all of one suit but not {others[0]}"
    return _or(f"all {_SUITS[suit]}" for suit in suits)


def _all_cards(condition: Condition) -> Iterator[str]:
    """The cards of both hands together."""
    suit = _suit(condition.coup_suit) if condition.coup_suit is not None else ""
    if condition.coup_cards is not None:
        number = _or(_CARDS[number] for number in condition.coup_cards)
        yield f"the coup has {number} cards{', ' * bool(suit)}{suit}"
    elif suit:
        yield f"the cards of the coup are {suit}"


def _first_cards(condition: Condition) -> Iterator[str]:
    """The first two cards of each hand."""
    c = condition
    for player, banker, pair in (
        (c.player_pair, c.banker_pair, "a pair"),
        (c.player_perfect_pair, c.banker_perfect_pair, "alike in rank and suit"),
    ):
        whose = ["each hand"] if player is banker else ["Player", "Banker"]
        for hand, asked in zip(whose, (player, banker), strict=False):
            if asked is not None:
                yield f"{hand}'s first two cards are {'' if asked else 'not '}{pair}"


def _or(values: Iterable[object]) -> str:
    *others, last = [str(value) for value in values]
    return f"{', '.join(others)} or {last}" if others else last
