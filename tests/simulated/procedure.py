"""The orders of a progressive's game by the book: what a dealer and a supervisor give at each step when they make no mistake."""

from random import Random
from typing import Any

from punto.baccarat.progressive.aquarius import Key
from punto.baccarat.progressive.aquarius import State as Aquarius
from punto.baccarat.progressive.state import AwardState
from punto.baccarat.table.state import Phase, TablesProgressive, TableState

Order = tuple[str, dict[str, Any]]
AGAIN = 0.5
"""The chance that a hand that can win is settled again."""
PLAYERS = 3
"""At most so many wagers on the meter are in a game."""


def awaits_start(state: TableState) -> bool:
    """Whether the next hand should wait for START GAME."""
    progressive = state.progressive
    return (
        progressive is not None
        and progressive.books.phase.value == "open"
        and progressive.procedure.step.value == "betting"
    )


def next_order(state: TableState, chance: Random) -> Order | None:
    """The next order of the game and its fields; None if there is something else to do first."""
    progressive = state.progressive
    if progressive is None or progressive.books.phase.value != "open":
        return None
    procedure = progressive.procedure
    keyed = isinstance(procedure, Aquarius)
    match procedure.step.value:
        case "betting" if state.phase is Phase.BETTING:
            return _start(state, progressive, chance)
        case "settling":
            return _settle(progressive, chance)
        case "logged" | "confirmed":
            return ("turn_key", {"to": "run"}) if keyed else ("sign_award", {})
        case "adjusted":
            return _finish(progressive, chance)
        case _:
            return None


def _start(state: TableState, progressive: TablesProgressive, chance: Random) -> Order | None:
    hand = progressive.procedure.hand
    if isinstance(progressive.procedure, Aquarius) and progressive.procedure.key is Key.JPH:
        return "turn_key", {"to": "run"}
    if hand.denied and chance.random() < AGAIN:
        return "reopen_game", {"reason": "a seat did win"}
    base = {each.seat for each in state.wagers if each.wager in {"player", "banker"}}
    free = sorted(base - set(hand.sensors))
    if free and len(hand.sensors) < chance.randint(1, PLAYERS):
        return "wager_placed", {"seat": chance.choice(free)}
    return ("start_game", {"round": state.round}) if hand.sensors else None


def _finish(progressive: TablesProgressive, chance: Random) -> Order:
    """The game ends. Perhaps its award is backed out before, to be confirmed again with other seats."""
    procedure = progressive.procedure
    for award in progressive.books.awards[-1:]:
        booked = award.state is AwardState.BOOKED and award.round == procedure.hand.round
        if booked and chance.random() < AGAIN:
            return "back_out", {"award": award.id, "reason": "another seat won"}
    if isinstance(procedure, Aquarius) and procedure.key is Key.JPH:
        return "turn_key", {"to": "run"}
    return "game_over" if isinstance(procedure, Aquarius) else "end_game", {}


def _settle(progressive: TablesProgressive, chance: Random) -> Order:
    procedure, hand = progressive.procedure, progressive.procedure.hand
    keyed = isinstance(procedure, Aquarius)
    if hand.won is None:
        return "game_over" if keyed else "end_game", {}
    if not hand.won.certain and not hand.selected and chance.random() < 0.2:
        return "nobody_won", {"reason": "no base wager won"}
    if missing := [seat for seat in hand.won.seats if seat not in hand.selected]:
        return "hand_button", {"seat": missing[0]}
    if isinstance(procedure, Aquarius):
        return ("turn_key", {"to": "jph"}) if procedure.key is Key.RUN else ("jpot", {})
    return "confirm", {}
