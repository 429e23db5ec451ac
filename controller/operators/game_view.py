"""What a console shows of the table's progressive, and which of its orders are possible now."""

from typing import Final

from controller.progressive.aquarius import GameOver, Jpot, Key, TurnKey
from controller.progressive.events import OpenMeter, Retire
from controller.progressive.nexus import Confirm, EndGame, SwipeCard
from controller.progressive.procedure import HandButton, StartGame, WagerLifted, WagerPlaced
from controller.progressive.state import Phase as BooksPhase
from controller.table.events import Event
from controller.table.state import TablesProgressive, TableState
from controller.table.table import Table
from controller.table.turn import RefusedError

_ANYBODY: Final = "anybody"


def possible_of_progressive(state: TableState) -> frozenset[str]:
    """The kinds of orders of the progressive that would be carried out now, given what they need."""
    progressive = state.progressive
    if progressive is None:
        return frozenset()
    tried = {each.kind for each in _tried(state, progressive) if refusal_of(state, each) is None}
    if progressive.books.phase is BooksPhase.OPEN:
        tried |= {"adjust", "back_out"}
    if progressive.books.phase is not BooksPhase.NEW:
        tried.add("count_coins")
    if "retire" in tried:  # which no round and no award is open for either
        tried.add("change_settings")
    return frozenset(tried)


def refusal_of(state: TableState, event: Event) -> RefusedError | None:
    """Why an event would be refused now, None if it would not be: the table machine is pure, so it is tried."""
    try:
        Table(state).handle(event)
    except RefusedError as refusal:
        return refusal
    return None


def _tried(state: TableState, progressive: TablesProgressive) -> list[Event]:
    """One of each order that says by itself what it is about, and those of every seat that they may be about."""
    hand = progressive.procedure.hand
    events: list[Event] = [
        OpenMeter(_ANYBODY),
        Retire("?", _ANYBODY, "another"),
        StartGame(state.round, _ANYBODY),
        *(HandButton(seat, _ANYBODY) for seat in hand.wagers),
        *(WagerPlaced(seat) for seat in range(1, state.settings.seats + 1) if seat not in hand.sensors),
        *(WagerLifted(seat) for seat in hand.sensors),
    ]
    if progressive.procedure.kind == "aquarius":
        other = Key.RUN if progressive.procedure.key is Key.JPH else Key.JPH
        return [*events, TurnKey(other, _ANYBODY), Jpot(_ANYBODY), GameOver(_ANYBODY)]
    return [*events, Confirm(_ANYBODY), SwipeCard(_ANYBODY, "executive"), EndGame(_ANYBODY)]
