"""Corrections of a settled round: its entry on the record stays, and an entry with the differences is added.

Only the last round can be corrected here. The machine cannot undo the events that followed an older round, at
the table and in the players' hands.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup, SurplusCardError
from punto.baccarat.table.commission import mark
from punto.baccarat.table.dealing import return_wagers, road_round
from punto.baccarat.table.effects import RoundCorrected, RoundEnded
from punto.baccarat.table.meters import Meters, of_hand, with_hands
from punto.baccarat.table.order_kinds import CorrectRound, VoidRound
from punto.baccarat.table.progressive import hand_corrected, settle_again
from punto.baccarat.table.state import Phase, Round, RoundRecord
from punto.baccarat.table.turn import RefusedError, Turn
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.settlement import Outcome, PlacedWager, Settlement, give_back


def correct_round(turn: Turn, order: CorrectRound) -> None:
    """Settle the last round again by the cards that it really had.

    Raises:
        RefusedError: it is not the last round, has no wagers to settle, or cannot have had these cards.
    """
    last = _last(turn, order)
    if (order.player, order.banker) == (last.player, last.banker):
        raise RefusedError("same_card", f"round {last.round} already has these cards")
    coup = _coup(order, last)
    _refuse_surplus(turn, last, coup)
    hand_corrected(turn, coup, last.round, _wagers(last))
    _enter(
        turn,
        order,
        last,
        replace(
            last,
            player=coup.player,
            banker=coup.banker,
            player_total=coup.player_total,
            banker_total=coup.banker_total,
            winner=coup.winner,
            natural=coup.natural,
            player_pair=coup.player_pair,
            banker_pair=coup.banker_pair,
            settlements=settle_again(turn.state, coup, last.settlements, _wagers(last)),
        ),
    )
    correct_keyed(turn, last.round, coup.cards)
    if last.shoe == turn.state.shoe.number:
        drawn = turn.state.shoe.drawn
        for before, after in zip(_cards(last), coup.cards, strict=True):
            drawn = replace_last(drawn, before, after)
        turn.change_shoe(drawn=drawn, rounds=(*turn.state.shoe.rounds[:-1], road_round(coup)))


def void_round(turn: Turn, order: VoidRound) -> None:
    """Void the last round: all its wagers should have been returned.

    Raises:
        RefusedError: it is not the last round, or did not have wagers.
    """
    last = _last(turn, order)
    hand_corrected(turn, None, last.round, ())
    _enter(turn, order, last, replace(last, status="void", winner=None, settlements=give_back(_wagers(last))))
    if last.shoe == turn.state.shoe.number:
        turn.change_shoe(rounds=turn.state.shoe.rounds[:-1])


def _last(turn: Turn, order: CorrectRound | VoidRound) -> RoundRecord:
    last = turn.state.history.last
    if last is None:
        raise RefusedError("no_round", "there is no round to correct")
    if order.round != last.round:
        raise RefusedError(
            "not_last_round",
            f"round {order.round} is not the last round: only round {last.round} can be corrected or voided at the table",
        )
    if last.status != "played":
        raise RefusedError(
            "not_played",
            f"only a round that was played can be corrected or voided, but round {last.round} has the status {last.status}",
        )
    return last


def _coup(order: CorrectRound, last: RoundRecord) -> Coup:
    """The coup of these hands, in the order of the deal."""
    if (len(order.player), len(order.banker)) != (len(last.player), len(last.banker)):
        raise RefusedError(
            "cards_disagree",
            f"in round {last.round}, Player got {len(last.player)} cards and Banker got {len(last.banker)}: enter the "
            "same numbers of cards, or void the round",
        )
    try:
        coup = Coup(as_dealt(order.player, order.banker))
    except SurplusCardError as error:
        raise RefusedError(
            "cards_disagree",
            f"the round cannot be corrected to these cards, because {error}: void the round instead",
        ) from error
    if not coup.over or (coup.player, coup.banker) != (order.player, order.banker):
        raise RefusedError(
            "cards_disagree",
            "the round cannot be corrected to these cards, because by the rules these hands need one more card, which was not "
            "drawn: void the round instead",
        )
    return coup


def _refuse_surplus(turn: Turn, last: RoundRecord, coup: Coup) -> None:
    if last.shoe != turn.state.shoe.number:
        return  # the other cards of that shoe are not known here any more
    others = [*turn.state.shoe.drawn, *turn.state.shoe.carried]
    for card in _cards(last):
        others.remove(card)
    for card in coup.cards:
        others.append(card)
        if others.count(card) > turn.state.settings.game.decks:
            raise RefusedError(
                "surplus_copy", f"all copies of {card} have already left the shoe: check the cards again"
            )


def _enter(turn: Turn, order: CorrectRound | VoidRound, last: RoundRecord, right: RoundRecord) -> None:
    """Record the differences between the last round and its correction, under a new round number."""
    entry = replace(
        right,
        round=turn.state.round.number,
        status="correction",
        corrects=last.round,
        settlements=tuple(
            _difference(before, after)
            for before, after in zip(last.settlements, right.settlements, strict=True)
            if _differs(before, after)
        ),
        corrections=(),
        who=order.who,
        reason=order.reason,
        approved_by=order.approved_by,
    )
    # The entry takes the next round number, so wagers accepted for that number must go back.
    return_wagers(turn)
    turn.emit(RoundEnded(entry))
    turn.announce(
        RoundCorrected(last.round, entry.round, right.player, right.banker, right.winner, order.reason)
    )
    turn.change(round=Round(number=entry.round + 1))
    turn.change_history(last=right, correction=entry)
    mark(turn, entry.round, right.settlements, before=last.settlements)
    _count_again(turn, last, right)
    if turn.state.phase is Phase.BETTING:
        turn.enter(Phase.BETTING)  # of another round


def _count_again(turn: Turn, last: RoundRecord, right: RoundRecord) -> None:
    game, history = turn.state.settings.game, turn.state.history
    turn.change_history(meters=_counted_again(history.meters, game, last, right))
    day = history.day
    if day is not None and last.round < day.first:  # the hand stays one of an earlier day
        turn.change_history(day=replace(day, before=_counted_again(day.before, game, last, right)))


def _counted_again(
    meters: tuple[Meters, ...], game: Game, last: RoundRecord, right: RoundRecord
) -> tuple[Meters, ...]:
    without = with_hands(meters, of_hand(game, Coup(_cards(last)), last.settlements), sign=-1)
    if right.status != "played":
        return without
    return with_hands(without, of_hand(game, Coup(_cards(right)), right.settlements))


def _differs(before: Settlement, after: Settlement) -> bool:
    """Whether the correction changes an amount owed for a wager, or what the rounding kept of it.

    The settlement returns nothing for an award, because the award is fixed when it is locked: compare its
    rule instead. A commission that is rounded up can be the whole win of a small wager, so that only the rounding changes.
    """
    awards = Outcome.AWARD in {before.outcome, after.outcome} and before.rule != after.rule
    return awards or (before.returned, before.remainder) != (after.returned, after.remainder)


def _difference(before: Settlement, after: Settlement) -> Settlement:
    """The amount still to be paid on a wager, negative if it is to be taken back."""
    more = after.returned - before.returned
    return replace(
        after,
        stake=0,
        returned=more,
        net=more,
        remainder=str(Fraction(after.remainder) - Fraction(before.remainder)),
    )


def _wagers(record: RoundRecord) -> tuple[PlacedWager, ...]:
    return tuple(PlacedWager(each.seat, each.wager, each.stake) for each in record.settlements)


def _cards(record: RoundRecord) -> tuple[Card, ...]:
    return as_dealt(record.player, record.banker)


def as_dealt(player: tuple[Card, ...], banker: tuple[Card, ...]) -> tuple[Card, ...]:
    """Both hands' cards in the order that they left the shoe, also of an unfinished coup."""
    in_turn = (card for pair in zip_longest(player[:2], banker[:2]) for card in pair if card is not None)
    return (*in_turn, *player[2:], *banker[2:])


def correct_keyed(turn: Turn, round_: int, cards: tuple[Card, ...]) -> None:
    """Compare a card keyed while the shoe was offline with its record as corrected since."""
    turn.change_link(
        keyed_away=tuple(
            replace(each, card=cards[each.position - 1]) if each.round == round_ else each
            for each in turn.state.link.keyed_away
        )
    )


def replace_last(cards: tuple[Card, ...], before: Card, after: Card) -> tuple[Card, ...]:
    """The cards with the last `before` among them replaced by `after`."""
    at = len(cards) - 1 - cards[::-1].index(before)
    return (*cards[:at], after, *cards[at + 1 :])
