"""What the staff of a table does now: the one policy of the demo, the soak, the simulations and the tests.

`due` is the act of a dealer or a supervisor who makes no mistake (sheet 000, dealing procedures), and `wrong_acts` are the
mistakes that a procedure must refuse. Both decide by `Seen`, so a person who sees only the public messages of a table decides
as a simulation does that has its whole state.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.state import Phase, TableState

_OfTheDealer = Literal[
    "sign_on",
    "open_betting",
    "start_game",
    "close_betting",
    "key_card",
    "reveal",
    "hand_button",
    "game_over",
    "collect_commission",
]
_OfTheSupervisor = Literal[
    "change_shoe",
    "resume_play",
    "accept_shoe",
    "key_to_jph",
    "jpot",
    "key_to_run",
    "confirm",
    "swipe_card",
]
Do = _OfTheDealer | _OfTheSupervisor
Procedure = Literal["aquarius", "nexus"]

SUPERVISORS: Final = frozenset(get_args(_OfTheSupervisor))
"""The supervisor's acts."""


@dataclass(frozen=True, slots=True)
class Act:
    """An act; `seat` is that of a hand button, or the one whose commission is collected."""

    do: Do
    seat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a person sees of a table.

    - `phase`: the table's; `loaded`: a closed table has a shoe with hands in it; `burned`: the burn is over; `shoe_over`: the
      shoe's last hand has been dealt.
    - `stopped`: play waits for a supervisor, because of `another_shoe` or for another reason; `card_awaited`: a card must be
      keyed, because the shoe has not read it.
    - `owing`: the seats that owe commission, which the dealer collects before the shoe is changed.
    - `keyed`: all cards are keyed; `closes`: the dealer closes betting.
    - `procedure`: that of the progressive; `step`: the step of its game, empty without a meter in service; `seats`: those with a
      wager in the game.
    - `won`: the seats whose hand won an award of the meter, None while that is not known.
    - `selected`: the seats whose hand button is on; `key`: the position of the supervisor's key.
    """

    phase: str = ""
    loaded: bool = False
    burned: bool = False
    shoe_over: bool = False
    stopped: bool = False
    another_shoe: bool = False
    card_awaited: bool = False
    owing: tuple[int, ...] = ()
    keyed: bool = False
    closes: bool = False
    procedure: Procedure = "aquarius"
    step: str = ""
    seats: tuple[int, ...] = ()
    won: frozenset[int] | None = None
    selected: frozenset[int] = frozenset()
    key: Literal["run", "jph"] = "run"

    @classmethod
    def of(cls, state: TableState) -> "Seen":
        """All that there is to see of a table."""
        progressive = state.progressive
        if progressive is None or progressive.books.phase.value != "open":
            game: dict[str, Any] = {}
        else:
            procedure, hand = progressive.procedure, progressive.procedure.hand
            game = {
                "procedure": procedure.kind,
                "step": procedure.step.value,
                "seats": hand.wagers,
                "won": frozenset(hand.won.seats if hand.won is not None else ()),
                "selected": frozenset(hand.selected),
                "key": str(procedure.key) if procedure.kind == "aquarius" else "run",
            }
        return cls(
            phase=state.phase.value,
            loaded=state.shoe.number > 0 and state.shoe.burn_left == 0 and not state.shoe_over,
            # Without a reader, the dealer burns unseen cards, and says so with the order that opens betting.
            burned=state.shoe.burn_left == 0
            or (state.settings.cards == "keyed" and state.shoe.burn_left is not None),
            shoe_over=state.shoe_over,
            stopped=bool(state.waiting.stops),
            another_shoe=state.link.offered is not None,
            card_awaited=state.waiting.card is not None,
            owing=tuple(each.seat for each in state.commissions),
            keyed=state.settings.cards == "keyed" or state.keyed_for_shoe,
            closes=state.settings.betting_closes == "order",
            **game,
        )

    @classmethod
    def public(cls, message: Mapping[str, Any]) -> "Seen":
        """What the public state of a table shows (`punto/state/1`). A table that deals by itself settles only with a shoe's last hand."""
        phase = message["phase"]
        stopped = "needs_supervisor" in message["overlays"]
        return cls(phase=phase, stopped=stopped, shoe_over=phase == Phase.SETTLED)


def due(seen: Seen) -> Act | None:
    """The act that is due now, None if everyone must wait."""
    return at_the_table(seen) or in_a_game(seen)


def at_the_table(seen: Seen) -> Act | None:  # noqa: PLR0911 - flat: one case a phase
    """The act that is due before, after and between hands, and for each card that no shoe has read."""
    if seen.stopped:
        return Act("accept_shoe" if seen.another_shoe else "resume_play")
    if seen.card_awaited:
        return Act("key_card")
    match seen.phase:
        case "locked":
            return Act("sign_on")
        case "closed":
            return Act("open_betting") if seen.loaded else change_shoe(seen)
        case "shoe_change" if seen.burned:
            return Act("open_betting")
        case "betting" if seen.shoe_over:
            return change_shoe(seen)
        case "reveal":
            return Act("reveal")
        case "shoe_change" | "dealing" if seen.keyed:
            return Act("key_card")
        case _:
            return None


def in_a_game(seen: Seen) -> Act | None:  # noqa: PLR0911 - flat: one case a step
    """The act that is due from one betting to the next, with a game of the progressive or without one."""
    match seen.step:
        case "settling":
            return _settle(seen)
        case "logged":
            return Act("key_to_run")
        case "confirmed":
            return Act("swipe_card")
        case "adjusted":
            return _finish(seen)
        case "betting" if seen.phase == "betting":
            return Act("key_to_run" if seen.key == "jph" else "start_game")
    match seen.phase:
        case "settled":
            return change_shoe(seen) if seen.shoe_over else Act("open_betting")
        case "betting" if seen.closes:
            return Act("close_betting")
        case "betting" if seen.keyed:
            return Act("key_card")
        case _:
            return None


def change_shoe(seen: Seen) -> Act:
    """The act that is due when the shoe is to be changed: first the dealer collects the commission of each seat."""
    return Act("collect_commission", seen.owing[0]) if seen.owing else Act("change_shoe")


def _settle(seen: Seen) -> Act | None:
    if seen.won is None:
        return None
    missing = sorted(seen.won - seen.selected)
    if missing:
        return Act("hand_button", missing[0])
    if not seen.won:
        return _finish(seen)
    if seen.procedure == "nexus":
        return Act("confirm")
    return Act("key_to_jph" if seen.key == "run" else "jpot")


def _finish(seen: Seen) -> Act:
    return Act("key_to_run" if seen.key == "jph" else "game_over")


def wrong_acts(seen: Seen, seats: int) -> list[Act]:
    """The possible mistakes of a dealer in a game of the progressive now: each is refused, and changes nothing."""
    none = [seat for seat in range(1, seats + 1) if seat not in seen.seats]
    award = Act("jpot" if seen.procedure == "aquarius" else "confirm")
    match seen.step:
        case "betting":
            return [Act("game_over"), award, Act("hand_button", 1)]
        case "playing":
            return [Act("start_game"), Act("game_over"), award, Act("hand_button", 1)]
        case "settling" if seen.won:
            too_soon = [award] if seen.key == "run" and seen.procedure == "aquarius" else []
            return [Act("game_over"), *too_soon, *(Act("hand_button", seat) for seat in none)]
        case "logged" | "confirmed":
            return [Act("game_over"), Act("start_game"), award]
        case "adjusted":
            return [Act("start_game"), award]
        case _:
            return []


def order_of(act: Act, procedure: Procedure, **known: Any) -> tuple[str, dict[str, Any]]:
    """An act as an order at a console or at the socket, with those of the `known` fields that the order takes."""
    kind: str = act.do
    if act.do in {"key_to_jph", "key_to_run"}:
        kind, known = "turn_key", {"to": act.do.removeprefix("key_to_")}
    elif act.do == "swipe_card":
        kind = "sign_award"
    elif act.do == "game_over" and procedure == "nexus":
        kind = "end_game"
    fields = {"seat": act.seat, **known}
    return kind, {name: fields[name] for name, each in CATALOGUE[kind].fields.items() if each.required}
