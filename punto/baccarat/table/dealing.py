"""The cards that leave the shoe, and their coup: burn, deal, awaited cards, overdraw, settlement."""

from dataclasses import replace
from typing import Final, Literal

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.baccarat.roads.rounds import RoadRound
from punto.baccarat.table import effects
from punto.baccarat.table.commission import mark
from punto.baccarat.table.events import CardDrawn, CardOverdrawn, CardUnread, CutCardSeen
from punto.baccarat.table.meters import of_hand, with_hands
from punto.baccarat.table.order_kinds import VoidCoup
from punto.baccarat.table.progressive import hand_begins, hand_decided, settle_coup, wagers_on_the_meter
from punto.baccarat.table.state import AwaitedCard, Phase, Round, RoundRecord, Shoe, Stop, TableState
from punto.baccarat.table.turn import Turn
from punto.baccarat.wagers.settlement import Settlement, give_back

Draw = CardDrawn | CardUnread | CardOverdrawn

AT_PLAY: Final = frozenset({Phase.BETTING, Phase.DEALING, Phase.REVEAL, Phase.SETTLED})
"""The phases in which a shoe is in play and its events concern a coup."""

OVERFULL: Final = "too_many_cards"
"""The code of the stop that ends with the shoe's change."""
_FIRST_REVEAL: Final = 4  # cards: two of each hand
MOST_CARRIED: Final = 3
"""Maximum number of cards drawn too soon and carried: four could be a whole coup before betting closes."""


def take(turn: Turn, seen: Draw | CutCardSeen) -> None:
    """Take a drawn card or the cut card. While the table waits for a person, queue them in order."""
    if turn.state.waiting.backlog or _waits(turn.state, seen):
        turn.change_waiting(backlog=(*turn.state.waiting.backlog, seen))
    else:
        _take_now(turn, seen)


def take_backlog(turn: Turn) -> None:
    """Take the queued cards until the table waits again."""
    while turn.state.waiting.backlog and not _waits(turn.state, turn.state.waiting.backlog[0]):
        first, *rest = turn.state.waiting.backlog
        turn.change_waiting(backlog=tuple(rest))
        _take_now(turn, first, late=True)


def _waits(state: TableState, seen: Draw | CutCardSeen) -> bool:
    # What the cut card means depends on whether the hand is over, which nobody may know before its cards are turned.
    return state.waiting.for_person or (state.phase is Phase.REVEAL and isinstance(seen, CutCardSeen))


def _take_now(turn: Turn, seen: Draw | CutCardSeen, *, late: bool = False) -> None:
    if isinstance(seen, CutCardSeen):
        _reach_cut_card(turn)
        return
    if turn.state.phase is Phase.SHOE_CHANGE and turn.state.shoe.burn_left == 0:
        open_betting(turn)
    # A card that left a locked shoe, or while play was stopped, was drawn too soon to begin a coup.
    begins = turn.state.settings.betting_closes == "first_card" and not late and not turn.state.award_waits
    match turn.state.phase:
        case Phase.SHOE_CHANGE if turn.state.shoe.burn_left != 0:
            _burn(turn, seen)
        case Phase.LOCKED | Phase.CLOSED | Phase.SHOE_CHANGE as phase:
            turn.alarm(
                "card_outside_play",
                f"a card left the shoe while no hand could use a card (phase {phase.value})",
            )
            discard(turn, seen, "outside_play")
        case Phase.BETTING if begins and not isinstance(seen, CardOverdrawn):
            begin_coup(turn)
            _deal(turn, seen)
        case Phase.DEALING if not isinstance(seen, CardOverdrawn):
            _deal(turn, seen)
        case _:
            _overdraw(turn, seen)


# --- cards that go to neither hand


_Why = Literal["burned", "overdrawn", "outside_play"]


def discard(turn: Turn, draw: Draw, why: _Why) -> None:
    """Count a card that goes to neither hand. A card that was not read for certain counts as unknown."""
    if isinstance(draw, CardUnread) or draw.card is None:
        turn.change_shoe(unknown=turn.state.shoe.unknown + 1)
    elif draw.confidence < turn.state.settings.minimum_confidence:
        turn.change_shoe(unknown=turn.state.shoe.unknown + 1)
        turn.emit(effects.CardHeld(draw.card, why, turn.state.round.number))
    else:
        _discard_card(turn, draw.card, why)


def _discard_card(turn: Turn, card: Card, why: _Why) -> None:
    if surplus(turn, card):
        turn.alarm(
            "surplus_copy",
            "a card left the shoe although all copies of this card had already left the shoe. Check the shoe's cards",
        )
    turn.change_shoe(drawn=(*turn.state.shoe.drawn, card))
    turn.emit(effects.CardHeld(card, why, turn.state.round.number))


def discard_carried(turn: Turn) -> None:
    """Discard the carried cards: no coup follows in this shoe."""
    carried = turn.state.shoe.carried
    turn.change_shoe(carried=())
    for card in carried:
        _discard_card(turn, card, "overdrawn")


def discard_waiting(turn: Turn, why: _Why) -> None:
    """Discard the cards that wait for a person: the awaited card, and those after it."""
    for seen in turn.state.waiting.backlog:
        if isinstance(seen, CutCardSeen):
            _reach_cut_card(turn)
        else:
            discard(turn, seen, why)
    turn.change_shoe(unknown=turn.state.shoe.unknown + (turn.state.waiting.card is not None))
    turn.change_waiting(card=None, backlog=())


def leave_the_shoe(turn: Turn) -> None:
    """Discard all cards that left this shoe, so that they do not count in the next."""
    discard_waiting(turn, "outside_play")
    discard_carried(turn)
    for stop in turn.state.waiting.stops:
        if stop.overdrawn is not None:
            discard(turn, stop.overdrawn, "overdrawn")
    stops, shoe = turn.state.waiting.stops, turn.state.shoe
    turn.change_waiting(stops=tuple(replace(each, overdrawn=None) for each in stops if each.code != OVERFULL))
    turn.change(shoe=Shoe(number=shoe.number, coups=shoe.coups, rounds=shoe.rounds))


# --- the burn and the cut card


def _burn(turn: Turn, draw: Draw) -> None:
    left = turn.state.shoe.burn_left
    if left:
        discard(turn, draw, "burned")
        _burned(turn, left - 1)
        return
    read = _read(turn, draw)
    if isinstance(read, AwaitedCard):
        _await_card(turn, read)
    else:
        turn_first_card(turn, read)


def turn_first_card(turn: Turn, card: Card) -> None:
    """Turn the burn's first card, which sets how many cards are burned."""
    turn.change_shoe(drawn=(*turn.state.shoe.drawn, card))
    burns = turn.state.settings.burn_ace if card.rank == "A" else card.points or 10
    turn.announce(effects.BurnCardTurned(card, burns))
    _burned(turn, burns)


def _burned(turn: Turn, left: int) -> None:
    turn.change_shoe(burn_left=left)
    if left == 0:
        open_betting(turn)


def _reach_cut_card(turn: Turn) -> None:
    state = turn.state
    if state.shoe.burn_left != 0 or state.phase is Phase.SHOE_CHANGE:
        turn.alarm(
            "cut_card_outside_play",
            "the cut card came before the first coup: check where the cut card was placed",
        )
        return
    if state.shoe.last_coup is not None:
        return
    more = state.settings.coups_after_cut_card
    if state.round.coup is None or (state.round.coup.over and not state.face_down):
        # In place of a hand's first card: that hand is the last, unless its first card was carried to it.
        last = state.shoe.coups + 1 + (more if state.shoe.carried else 0)
    elif state.round.coup.cards or state.waiting.card is not None:
        last = state.shoe.coups + more
    else:
        last = state.shoe.coups
    turn.change_shoe(last_coup=last)
    turn.announce(effects.CutCardReached(last))


# --- between coups


def open_betting(turn: Turn) -> None:
    """Open betting for the next coup, or begin the dummy that an overdraw calls for at once.

    Do neither while an award of the last game is not complete: the award comes first, and "Game Over" only
    then "resets the system to begin the next hand" (sheet 000, 7c to 7g).
    """
    if turn.state.award_waits:
        return
    if turn.state.dummy_next:
        begin_coup(turn)
    else:
        turn.enter(Phase.BETTING)


def begin_coup(turn: Turn) -> None:
    """Begin the next coup, with the cards that were carried to it."""
    state = turn.state
    if state.dummy_next:
        return_wagers(turn)  # a dummy has no wagers, and its cards are known before the next wagers
    turn.change_round(coup=Coup(), dummy=state.dummy_next)
    turn.change_shoe(coups=state.shoe.coups + 1, carried=())
    turn.enter(Phase.DEALING)
    for card in state.shoe.carried:
        place(turn, card)


def return_wagers(turn: Turn) -> None:
    """Give back the wagers for a coup that will not be dealt."""
    if turn.state.round.wagers:
        turn.change_round(wagers=())
        turn.announce(effects.WagersReturned(turn.state.round.number))


# --- the deal


def _deal(turn: Turn, draw: CardDrawn | CardUnread) -> None:
    read = _read(turn, draw)
    if isinstance(read, AwaitedCard):
        _await_card(turn, read)
    else:
        place(turn, read)


def _read(turn: Turn, draw: Draw) -> Card | AwaitedCard:
    """The card, or the reason why it is not known for certain."""
    if isinstance(draw, CardUnread) or draw.card is None:
        return AwaitedCard("unread", "the shoe could not read the card: key the card")
    least = turn.state.settings.minimum_confidence
    if draw.confidence < least:
        text = f"the shoe is only {draw.confidence}% sure of the card, but the table requires {least}%: key the card"
        return AwaitedCard("low_confidence", text, draw.card, draw.confidence)
    if surplus(turn, draw.card):
        text = "the shoe read a card although all copies of this card had already left the shoe. A supervisor must check the card"
        return AwaitedCard("surplus_copy", text, draw.card, draw.confidence)
    return draw.card


def surplus(turn: Turn, card: Card) -> bool:
    """Whether all copies of a card have already left the shoe."""
    state = turn.state
    return (*state.shoe.drawn, *state.shoe.carried).count(card) >= state.settings.game.decks


def _await_card(turn: Turn, awaited: AwaitedCard) -> None:
    turn.change_waiting(card=awaited)
    if awaited.code == "surplus_copy":
        turn.stop(
            Stop(code=awaited.code, text=f"{awaited.text}, correct an earlier misread, and resume play")
        )
    turn.announce(effects.CardAwaited(awaited.code, awaited.text))
    if awaited.read is not None:
        turn.emit(effects.CardHeld(awaited.read, "doubtful", turn.state.round.number))


def place(turn: Turn, card: Card, *, keyed: bool = False) -> None:
    """Place a card on the hand that the tableau calls for, and end the coup if it was the last card."""
    state = turn.state
    coup = turn.coup.with_card(card)
    position = len(coup.cards)
    hidden = state.hides(position)
    turn.change(
        round=state.round.replace(coup=coup), shoe=state.shoe.replace(drawn=(*state.shoe.drawn, card))
    )
    turn.announce(
        effects.CardDealt(
            state.round.number, position, coup.side_of(position - 1), None if hidden else card, keyed
        )
    )
    if hidden:
        turn.emit(effects.CardHeld(card, "hidden", state.round.number, position))
    if position == 1:
        hand_begins(turn)
    finish_if_over(turn)


def finish_if_over(turn: Turn) -> None:
    """End a coup if the tableau calls for no more cards.

    Where cards lie face down, the first four are revealed before it is known whether more are called for, and
    each further card before the next: if they were dealt as the tableau calls for them, it would tell the hands
    (sheet 004: the cards "are handled and revealed by the player with the largest bet").
    """
    if turn.state.face_down:
        if len(turn.coup.cards) >= _FIRST_REVEAL:
            turn.enter(Phase.REVEAL)
    elif turn.coup.over:
        _end_coup(turn)


def reveal(turn: Turn) -> None:
    """Show the cards on the table; then settle, or deal on."""
    turn.announce(effects.CardsRevealed(turn.state.round.number, turn.coup.player, turn.coup.banker))
    turn.change_round(shown=len(turn.coup.cards))
    if turn.coup.over:
        _end_coup(turn)
    else:
        turn.enter(Phase.DEALING)
    take_backlog(turn)


def _end_coup(turn: Turn) -> None:
    """Settle every wager by a finished coup, and continue with the next."""
    state, coup = turn.state, turn.coup
    turn.announce(
        effects.CoupEnded(
            state.round.number,
            coup.winner,
            coup.player_total,
            coup.banker_total,
            coup.natural,
            coup.player_pair,
            coup.banker_pair,
            state.round.dummy,
        )
    )
    if state.round.dummy:
        _close_round(turn, _record(turn, "dummy"))
        return
    turn.change_shoe(rounds=(*state.shoe.rounds, road_round(coup)))
    settlements = settle_coup(state, coup, (*state.round.wagers, *wagers_on_the_meter(state)))
    turn.change_history(
        meters=with_hands(state.history.meters, of_hand(state.settings.game, coup, settlements))
    )
    hand_decided(turn, coup, state.round.number, state.round.wagers)
    _close_round(turn, _record(turn, "played", settlements))


def road_round(coup: Coup) -> RoadRound:
    """A finished coup as a round for the roads."""
    return RoadRound(
        coup.winner, coup.player_pair, coup.banker_pair, coup.natural, coup.player_total, coup.banker_total
    )


def void_coup(turn: Turn, order: VoidCoup) -> None:
    """End a coup as a misdeal. Cards queued while the table waited go to neither hand."""
    discard_waiting(turn, "overdrawn")
    turn.announce(effects.CoupVoided(turn.state.round.number, order.reason))
    _close_round(turn, _record(turn, "void", give_back(turn.state.round.wagers), order))


def _record(
    turn: Turn,
    status: Literal["played", "void", "dummy"],
    settlements: tuple[Settlement, ...] = (),
    order: VoidCoup | None = None,
) -> RoundRecord:
    state, coup = turn.state, turn.coup
    return RoundRecord(
        round=state.round.number,
        shoe=state.shoe.number,
        coup=state.shoe.coups,
        status=status,
        player=coup.player,
        banker=coup.banker,
        player_total=coup.player_total,
        banker_total=coup.banker_total,
        winner=None if status == "void" else coup.winner,
        natural=coup.natural,
        player_pair=coup.player_pair,
        banker_pair=coup.banker_pair,
        settlements=settlements,
        corrections=state.round.corrections,
        who=None if order is None else order.who,
        reason=None if order is None else order.reason,
        approved_by=None if order is None else order.approved_by,
        hidden=status == "void" and state.face_down,
    )


def _close_round(turn: Turn, record: RoundRecord) -> None:
    turn.emit(effects.RoundEnded(record))
    turn.change(round=Round(number=record.round + 1))
    turn.change_history(last=record)
    mark(turn, record.round, record.settlements)
    turn.enter(Phase.SETTLED)
    if turn.state.shoe_over:
        discard_carried(turn)
    else:
        _open_by_itself(turn)


def _open_by_itself(turn: Turn) -> None:
    if turn.state.settings.next_coup == "automatic" or turn.state.dummy_next:
        open_betting(turn)


def go_on_after_award(turn: Turn) -> None:
    """Continue after an award that delayed the next hand is complete, or play continues without it."""
    match turn.state.phase:
        case Phase.SETTLED if not turn.state.shoe_over:
            _open_by_itself(turn)
        case Phase.SHOE_CHANGE if turn.state.shoe.burn_left == 0 and turn.state.settings.burn != "none":
            open_betting(turn)
        case Phase.BETTING if turn.state.dummy_next:
            begin_coup(turn)
        case _:
            pass


def _overdraw(turn: Turn, draw: Draw) -> None:
    turn.stop(
        Stop(
            code="overdraw",
            text="a card left the shoe although the table needed no card: a supervisor must check the card and resume play",
            overdrawn=draw,
            of_the_shoe=False,
        )
    )


def settle_overdraw(turn: Turn, draw: Draw) -> None:
    """Handle an overdrawn card by the house's policy, after a supervisor has seen it.

    The card is burned whatever the policy if it is not known for certain, if the shoe's last coup is over, or
    if the maximum number of cards is already carried.
    """
    state = turn.state
    read = _read(turn, draw)
    if (
        isinstance(read, AwaitedCard)
        or state.settings.overdraw == "burn"
        or state.shoe_over
        or len(state.shoe.carried) == MOST_CARRIED
    ):
        discard(turn, draw, "overdrawn")
        return
    turn.change_shoe(carried=(*state.shoe.carried, read))
    if turn.state.dummy_next and state.phase in {Phase.BETTING, Phase.SETTLED} and not state.award_waits:
        begin_coup(turn)
