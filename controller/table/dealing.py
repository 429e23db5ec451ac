"""Cards leaving the shoe, and the coup that they make: burn, deal, doubt, overdraw, settlement."""

from typing import Final, Literal

from controller.baccarat.cards import Card
from controller.baccarat.coup import Coup
from controller.roads.rounds import RoadRound
from controller.table.effects import (
    BurnCardTurned,
    CardAwaited,
    CardDealt,
    CardHeld,
    CardsRevealed,
    CoupEnded,
    CoupVoided,
    RoundEnded,
    WagersReturned,
)
from controller.table.events import CardDrawn, CardOverdrawn, CardUnread
from controller.table.state import Doubt, Phase, RoundRecord, Stop
from controller.table.turn import Turn
from controller.wagers.settlement import Settlement, give_back, settle

Draw = CardDrawn | CardUnread | CardOverdrawn

AT_PLAY: Final = frozenset({Phase.BETTING, Phase.DEALING, Phase.REVEAL, Phase.SETTLED})
"""The phases in which a shoe is in play and what happens to it concerns a coup."""


def card_of(draw: Draw) -> Card | None:
    """The card as the shoe read it, None where it did not."""
    return None if isinstance(draw, CardUnread) else draw.card


def take(turn: Turn, draw: Draw) -> None:
    """A card left the shoe. While the table waits for a person it waits too, in order, and is not lost."""
    if turn.state.waiting:
        turn.change(backlog=(*turn.state.backlog, draw))
        return
    _take_now(turn, draw)


def take_backlog(turn: Turn) -> None:
    """Take the cards that came while the table waited, until it waits again."""
    while turn.state.backlog and not turn.state.waiting:
        first, *rest = turn.state.backlog
        turn.change(backlog=tuple(rest))
        _take_now(turn, first)


def _take_now(turn: Turn, draw: Draw) -> None:
    state = turn.state
    if state.phase is Phase.SHOE_CHANGE and state.settings.burn == "none":
        open_betting(turn)
    match turn.state.phase:
        case Phase.LOCKED | Phase.CLOSED:
            turn.alarm("card_outside_play", f"a card left the shoe while the table is {state.phase.value}")
            let_go(turn, card_of(draw), "outside_play")
        case Phase.SHOE_CHANGE:
            _burn(turn, draw)
        case Phase.BETTING if state.settings.betting_closes == "first_card" and not isinstance(
            draw, CardOverdrawn
        ):
            begin_coup(turn)
            _deal(turn, draw)
        case Phase.DEALING if not isinstance(draw, CardOverdrawn):
            _deal(turn, draw)
        case _:
            _overdraw(turn, draw)


def let_go(turn: Turn, card: Card | None, why: Literal["burned", "overdrawn", "outside_play"]) -> None:
    """Count a card out of the shoe that goes to no hand."""
    if card is None:
        turn.change(unknown=turn.state.unknown + 1)
        return
    turn.change(drawn=(*turn.state.drawn, card))
    turn.hold(CardHeld(card, why, turn.state.round))


# --- the burn


def _burn(turn: Turn, draw: Draw) -> None:
    left = turn.state.burn_left
    if left is None:
        doubt = _doubt_about(turn, draw)
        card = card_of(draw)
        if doubt is None and card is not None:
            turn_first_card(turn, card)
        else:
            _await_card(turn, doubt or _UNREAD)
        return
    let_go(turn, card_of(draw), "burned")
    _burned(turn, left - 1)


def turn_first_card(turn: Turn, card: Card) -> None:
    """Turn the burn's first card, which says how many are burned."""
    turn.change(drawn=(*turn.state.drawn, card))
    burns = turn.state.settings.burn_ace if card.rank == "A" else card.points or 10
    turn.say(BurnCardTurned(card, burns))
    _burned(turn, burns)


def _burned(turn: Turn, left: int) -> None:
    turn.change(burn_left=left)
    if left == 0:
        open_betting(turn)


# --- between coups


def open_betting(turn: Turn) -> None:
    """Open betting for the next coup, or begin at once the dummy that an overdraw calls for."""
    if turn.state.dummy_next:
        begin_coup(turn)
    else:
        turn.enter(Phase.BETTING)


def begin_coup(turn: Turn) -> None:
    """Begin the next coup, with the cards that were carried to it."""
    state = turn.state
    carried = state.carried
    if state.dummy_next:
        return_wagers(turn)  # a dummy carries none, and its cards are known before the next can be made
    turn.change(
        coup=Coup(),
        coups=state.coups + 1,
        dummy=state.dummy_next,
        dummy_next=False,
        carried=(),
        corrections=(),
    )
    turn.enter(Phase.DEALING)
    for card in carried:
        place(turn, card)


def return_wagers(turn: Turn) -> None:
    """Give back the wagers for a coup that will not be dealt."""
    if turn.state.wagers:
        turn.change(wagers=())
        turn.say(WagersReturned(turn.state.round))


# --- the deal


_UNREAD: Final = Doubt("unread", "the shoe could not read the card: key it")


def _deal(turn: Turn, draw: CardDrawn | CardUnread) -> None:
    doubt = _doubt_about(turn, draw)
    if doubt is not None or isinstance(draw, CardUnread):
        _await_card(turn, doubt or _UNREAD)
    else:
        place(turn, draw.card)


def _doubt_about(turn: Turn, draw: Draw) -> Doubt | None:
    card = card_of(draw)
    if card is None or isinstance(draw, CardUnread):
        return _UNREAD
    least = turn.state.settings.minimum_confidence
    if draw.confidence < least:
        text = f"the shoe is only {draw.confidence}% sure of the card, less than {least}%: key it"
        return Doubt("low_confidence", text, card, draw.confidence)
    if surplus(turn, card):
        text = "the shoe read a card that has already come as often as the shoe holds it: a supervisor must see it"
        return Doubt("surplus_copy", text, card, draw.confidence)
    return None


def surplus(turn: Turn, card: Card) -> bool:
    """Whether every copy of a card that the shoe held has already left it."""
    state = turn.state
    return (*state.drawn, *state.carried).count(card) >= state.settings.game.decks


def _await_card(turn: Turn, doubt: Doubt) -> None:
    turn.change(doubt=doubt)
    turn.say(CardAwaited(doubt.code, doubt.text))
    if doubt.read is not None:
        turn.hold(CardHeld(doubt.read, "doubtful", turn.state.round))


def place(turn: Turn, card: Card, *, keyed: bool = False) -> None:
    """Lay a card to the hand that the tableau calls on, and end the coup if that was the last."""
    state = turn.state
    if state.coup is None or state.coup.next_side is None:
        # Only an overdraw carried more cards than a coup takes: what is left over begins the one after.
        turn.change(carried=(*state.carried, card))
        return
    position, side = len(state.coup.cards) + 1, state.coup.next_side
    hidden = state.settings.game.reveal == "dealer"
    turn.change(coup=state.coup.with_card(card), drawn=(*state.drawn, card))
    turn.say(CardDealt(state.round, position, side, None if hidden else card, keyed))
    if hidden:
        turn.hold(CardHeld(card, "hidden", state.round, position))
    finish_if_over(turn)


def finish_if_over(turn: Turn) -> None:
    """End a coup to which the tableau gives no more cards."""
    coup = turn.state.coup
    if coup is None or not coup.over:
        return
    if turn.state.settings.game.reveal == "dealer":
        turn.enter(Phase.REVEAL)
    else:
        end_coup(turn, coup)


def reveal(turn: Turn, coup: Coup) -> None:
    """Show both hands and settle."""
    turn.say(CardsRevealed(turn.state.round, coup.player, coup.banker))
    end_coup(turn, coup)


def end_coup(turn: Turn, coup: Coup) -> None:
    """Settle every wager by a coup that is over, and go on to the next."""
    state = turn.state
    turn.say(
        CoupEnded(
            state.round,
            coup.winner,
            coup.player_total,
            coup.banker_total,
            coup.natural,
            coup.player_pair,
            coup.banker_pair,
            state.dummy,
        )
    )
    if state.dummy:
        _close_round(turn, _record(turn, coup, "dummy"))
        return
    turn.change(
        rounds=(
            *state.rounds,
            RoadRound(
                coup.winner,
                coup.player_pair,
                coup.banker_pair,
                coup.natural,
                coup.player_total,
                coup.banker_total,
            ),
        ),
        wagers=(),
    )
    _close_round(turn, _record(turn, coup, "played", settle(state.settings.game, coup, state.wagers)))


def void_coup(turn: Turn, coup: Coup, who: str, reason: str) -> None:
    """End a coup as a misdeal. Cards that came while the table waited belong to no hand any more."""
    for draw in turn.state.backlog:
        let_go(turn, card_of(draw), "overdrawn")
    doubt = turn.state.doubt
    if doubt is not None:
        let_go(turn, doubt.read, "overdrawn")
    wagers = turn.state.wagers
    turn.change(backlog=(), doubt=None, wagers=())
    turn.say(CoupVoided(turn.state.round, reason))
    _close_round(turn, _record(turn, coup, "void", give_back(wagers), who=who, reason=reason))


def _record(
    turn: Turn,
    coup: Coup,
    status: Literal["played", "void", "dummy"],
    settlements: tuple[Settlement, ...] = (),
    *,
    who: str | None = None,
    reason: str | None = None,
) -> RoundRecord:
    state = turn.state
    return RoundRecord(
        round=state.round,
        shoe=state.shoe,
        coup=state.coups,
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
        corrections=state.corrections,
        who=who,
        reason=reason,
    )


def _close_round(turn: Turn, record: RoundRecord) -> None:
    turn.end_round(RoundEnded(record))
    turn.change(coup=None, dummy=False, corrections=(), last=record, round=record.round + 1)
    turn.enter(Phase.SETTLED)
    if turn.state.shoe_over:
        _leave_the_shoe(turn)
    elif turn.state.settings.next_coup == "automatic" or turn.state.dummy_next:
        open_betting(turn)


def _leave_the_shoe(turn: Turn) -> None:
    """No coup follows: what was carried to one is burned."""
    carried = turn.state.carried
    turn.change(carried=(), dummy_next=False)
    for card in carried:
        let_go(turn, card, "overdrawn")


# --- the overdraw


def _overdraw(turn: Turn, draw: Draw) -> None:
    turn.stop(
        Stop(
            code="overdraw",
            text="a card left the shoe that was not called for: a supervisor must see it and resume play",
            overdrawn=draw,
        )
    )


def settle_overdraw(turn: Turn, draw: Draw) -> None:
    """Deal with a card too many as the house's policy says, once a supervisor has seen it.

    A card that was not read cannot be played, and after the shoe's last coup there is nothing to play it in: both
    are burned whatever the policy.
    """
    state = turn.state
    card = card_of(draw)
    if card is None or state.settings.overdraw == "burn" or state.shoe_over:
        let_go(turn, card, "overdrawn")
        return
    turn.change(
        carried=(*state.carried, card),
        dummy_next=state.dummy_next or state.settings.overdraw == "dummy",
    )
    if turn.state.dummy_next and state.phase in {Phase.BETTING, Phase.SETTLED}:
        begin_coup(turn)
