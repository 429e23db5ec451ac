"""The orders that a second person must approve.

If `second_person_needed` gives a reason, an order is carried out only if `approved_by` is not `who`. Beside this
module, only `progressive.people` asks for people: those who confirm an award, and again those who reopen a game.
"""

from typing import Final

from punto.baccarat.currency import written
from punto.baccarat.progressive.events import Adjust, BackOut, ChangeSettings, ForgetTable, OpenMeter, Retire
from punto.baccarat.progressive.game_events import ReopenGame
from punto.baccarat.progressive.people import REOPENED_BY_TWO, by_one_person
from punto.baccarat.table.events import Event
from punto.baccarat.table.meter_link import when_answered
from punto.baccarat.table.order_kinds import CorrectCard, CorrectRound, VoidCoup, VoidRound
from punto.baccarat.table.orders import on_order
from punto.baccarat.table.progressive import OfMoney, moved_by, wagers_are_in_play
from punto.baccarat.table.state import TablesProgressive, TableState
from punto.baccarat.table.turn import RefusedError, Turn

_Changes = CorrectCard | CorrectRound | VoidCoup | VoidRound
_ALWAYS: Final[dict[type, str]] = {
    ReopenGame: REOPENED_BY_TWO,
    ChangeSettings: "each setting of a progressive can move money, so a second person must approve a change",
    ForgetTable: "the order ends a game without its table, so a second person must approve it",
}


def second_person_needed(state: TableState, event: Event) -> str | None:
    """The reason why this order needs a second person's approval now, for people to read; None if it needs none."""
    if event.kind in state.settings.approval:
        return "by this table's settings, a second person must approve this order"
    match event:
        case ReopenGame() | ChangeSettings() | ForgetTable():
            return _ALWAYS[type(event)]
        case OpenMeter() | Adjust() | BackOut() | Retire() if state.progressive is not None:
            return _above_threshold(state.progressive, event, state.settings.currency)
        case CorrectRound() | VoidRound() if _moves_an_award(state, event):
            return "the order changes the round's award, so a second person must approve it"
        case CorrectCard() | VoidCoup() if _may_move_an_award(state, event):
            return "the order can change the hand's award, so a second person must approve it"
        case _:
            return None


def refuse_unapproved(state: TableState, event: Event) -> None:
    """Refuse an order that needs a second person's approval and does not have it; raises RefusedError (needs_approval)."""
    if not by_one_person(event):
        return
    why = second_person_needed(state, event)
    if why is not None:
        raise RefusedError(
            "needs_approval", f"{why}: the second person must sign with their own name and password"
        )


def _above_threshold(progressive: TablesProgressive, order: OfMoney, currency: str) -> str | None:
    """The reason for a second person if the order is above the threshold, alone or together with what was moved today.

    Without the sum, one person could move any amount in pieces that are not above the threshold.
    """
    threshold, moved = progressive.books.settings.approval_above, moved_by(progressive.books, order)
    if threshold is None or not moved or moved + progressive.alone <= threshold:
        return None
    if threshold == 0:
        return "a second person must approve this order"
    today = (
        f", with {written(progressive.alone, currency)} of this gaming day that nobody approved,"
        if progressive.alone
        else ""
    )
    return f"the amount {written(moved, currency)}{today} is more than {written(threshold, currency)}, so a second person must approve it"


def _moves_an_award(state: TableState, order: CorrectRound | VoidRound) -> bool:
    """Whether the order changes the round's award or its seats."""
    after = _after(state, order)
    return after is not None and _won(after) != _won(state)


def _may_move_an_award(state: TableState, order: CorrectCard | VoidCoup) -> bool:
    """Whether the order changes a hand that can win an award: one correction after another could make any award.

    This does not depend on the cards, because it would disclose those that lie face down.
    """
    return wagers_are_in_play(state) and _after(state, order) is not None


def _after(state: TableState, order: _Changes) -> TableState | None:
    """The state after the order, found on a copy; None if the table refuses it with its reason, whoever approved it."""
    turn = Turn(state)
    try:
        on_order(turn, order)
    except RefusedError:
        return None
    return turn.state


def _won(state: TableState) -> tuple[object, ...] | None:
    """The tier, the seats and the hand that won an award, and whether the cards alone say so.

    A linked table asks its authority first, so what the hand won is as of the authority's answer.
    """
    if state.progressive is None:
        return None
    won = when_answered(state.progressive).hand.won
    return None if won is None else (won.rule, won.seats, won.side, won.certain)
