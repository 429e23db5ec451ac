"""What a console shows: the public table and its progressive, and what the one who looks may do. No card that was not revealed is in it."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from controller.baccarat.coup import Coup
from controller.messages.building import public_round, state_message, timestamp
from controller.messages.models import State, Timestamp
from controller.operators.desk import KINDS, NOTHING_FITTED, Fitted
from controller.operators.game_view import GameView, game_view, possible_of_progressive
from controller.operators.roles import Role, orders_of
from controller.table.after_settlement import as_dealt
from controller.table.events import Order
from controller.table.shoe_events import OFFERED
from controller.table.state import Phase, RoundRecord, TableState
from controller.table.table import TRANSITIONS
from controller.wagers.settlement import Outcome, PlacedWager, Settlement, settle

PromptCode = Literal[
    "locked",
    "closed",
    "load_shoe",
    "turn_first_card",
    "burn",
    "place_wagers",
    "draw",
    "key_card",
    "reveal",
    "pay",
    "stopped",
    "shoe_over",
    "shoe_offline",
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Prompt(_Part):
    """What to do now. `side` is the hand of the next card, `count` the cards still to burn.

    `position` is that of the next card, for `key_card`: its number in the coup as dealt, 0 of the shoe's first.
    """

    code: PromptCode
    side: Literal["player", "banker"] | None = None
    position: int | None = None
    count: int | None = None
    text: str


class StandingWager(_Part):
    """A wager that stands, in minor units."""

    wager: str
    title: str
    amount: int


class Seat(_Part):
    """A seat with wagers for the coming or current coup."""

    seat: int
    wagers: tuple[StandingWager, ...]


class WagerPay(_Part):
    """How a coup decided a wager: the rule, and what it pays as the sheet prints it.

    A wager that wins only with its base wager is shown as beside base wagers on both hands.
    """

    wager: str
    title: str
    rule: str
    pays: str
    outcome: Outcome


class SeatPay(_Part):
    """What a seat is owed, in minor units."""

    seat: int
    staked: int
    returned: int
    net: int
    wagers: tuple[Settlement, ...]


class LastRound(_Part):
    """The last round, as corrected since, with what every wager of the game paid; nothing is paid on a void one."""

    round: RoundRecord
    pays: tuple[WagerPay, ...]
    seats: tuple[SeatPay, ...]


class StandingAlarm(_Part):
    """An alarm that nobody has acknowledged: the number of its last event, and how often it came."""

    number: int
    code: str
    text: str
    times: int


class StandingStop(_Part):
    """What waits for a supervisor."""

    code: str
    text: str


class View(_Part):
    """The table as one person's console shows it. `seq` is that of the input it reflects."""

    seq: int
    ts: Timestamp
    state: State
    operator: str | None
    you: str
    roles: tuple[Role, ...]
    orders: tuple[str, ...]
    approval: tuple[str, ...]
    prompt: Prompt
    seats: tuple[Seat, ...]
    last: LastRound | None
    progressive: GameView | None
    alarms: tuple[StandingAlarm, ...]
    stops: tuple[StandingStop, ...]
    hands_an_hour: float | None


class Reader(NamedTuple):
    """Who looks."""

    name: str
    roles: tuple[Role, ...]


def view_of(
    state: TableState,
    seq: int,
    now: datetime,
    reader: Reader,
    hands_an_hour: float | None,
    fitted: Fitted = NOTHING_FITTED,
) -> View:
    """The table as of the input `seq`, for this reader; `fitted` is what its devices do."""
    allowed = orders_of(reader.roles)
    of_progressive = possible_of_progressive(state) - fitted.gives()
    return View(
        seq=seq,
        ts=timestamp(now),
        state=state_message(state, seq, now),
        operator=state.operator,
        you=reader.name,
        roles=reader.roles,
        orders=(*_possible(state, allowed), *(kind for kind in KINDS if kind in of_progressive & allowed)),
        approval=state.settings.approval,
        prompt=prompt_of(state),
        seats=_seats(state),
        last=_last(state),
        progressive=game_view(state, fitted),
        alarms=tuple(
            StandingAlarm(number=each.number, code=each.code, text=each.text, times=each.times)
            for each in state.alarms
        ),
        stops=tuple(StandingStop(code=stop.code, text=stop.text) for stop in state.stops),
        hands_an_hour=hands_an_hour,
    )


# --- what may be ordered

# Orders that are legal in a phase and yet have nothing to be about.
_NEEDS: Final[dict[str, Callable[[TableState], bool]]] = {
    "open_betting": lambda state: (
        state.shoe > 0 and not state.stops and not state.shoe_over and _burn_is_done(state)
    ),
    "close_betting": lambda state: not state.stops,
    "reveal": lambda state: not state.stops,
    "key_card": lambda state: not state.stops and (state.doubt is not None or _card_is_keyed_next(state)),
    "resume_play": lambda state: any(stop.code != OFFERED for stop in state.stops),
    "accept_shoe": lambda state: state.link.offered is not None,
    "acknowledge_alarm": lambda state: bool(state.alarms),
    "correct_round": lambda state: state.last is not None and state.last.status == "played",
    "void_round": lambda state: state.last is not None and state.last.status == "played",
}


def _burn_is_done(state: TableState) -> bool:
    """Whether the burn is finished, or is so once the dealer says it, where nobody else sees the cards."""
    return state.burn_left == 0 or (bool(state.burn_left) and state.settings.cards == "keyed")


def _card_is_keyed_next(state: TableState) -> bool:
    """Whether the dealer keys every card, and one comes before anything else: not while a burn goes on that nobody keys."""
    closed_first = state.phase is Phase.BETTING and state.settings.betting_closes == "order"
    return state.settings.cards == "keyed" and state.next_position is not None and not closed_first


def _possible(state: TableState, allowed: Iterable[str]) -> Iterable[str]:
    legal = TRANSITIONS[state.phase]
    return (
        kind
        for kind in KINDS
        if kind in allowed
        and issubclass(KINDS[kind], Order)
        and KINDS[kind] in legal
        and (kind not in _NEEDS or _NEEDS[kind](state))
    )


# --- what to do now


def prompt_of(state: TableState) -> Prompt:
    """What the person at the table is to do next."""
    prompt = _what_waits(state) or _what_follows(state)
    return prompt.model_copy(update={"position": state.next_position})


def _what_waits(state: TableState) -> Prompt | None:
    """What must be seen to before play goes on."""
    if state.phase is Phase.LOCKED:
        return Prompt(code="locked", text="The table is locked: sign on to open it")
    if state.stops:
        return Prompt(code="stopped", text="; ".join(stop.text for stop in state.stops))
    if state.doubt is not None:
        return Prompt(code="key_card", side=_side(state), text=state.doubt.text)
    if state.shoe_over and state.phase in {Phase.BETTING, Phase.SETTLED}:
        return Prompt(code="shoe_over", text="That was the shoe's last coup: change the shoe")
    shoe_is_wanted = state.phase in {Phase.SHOE_CHANGE, Phase.BETTING, Phase.DEALING}
    if shoe_is_wanted and state.settings.cards == "shoe" and not state.link.online:
        return Prompt(code="shoe_offline", text=f"The shoe is offline: {state.link.reason}")
    return None


def _what_follows(state: TableState) -> Prompt:
    match state.phase:
        case Phase.CLOSED:
            return Prompt(code="closed", text="The table is closed")
        case Phase.SHOE_CHANGE:
            return _at_the_shoe(state)
        case Phase.BETTING:
            return Prompt(code="place_wagers", side=_side(state), text=_how_betting_closes(state))
        case Phase.REVEAL:
            return Prompt(code="reveal", text="Turn the cards and reveal the hands")
        case Phase.SETTLED:
            return Prompt(code="pay", text="Pay the winning wagers, then open betting")
        case _:
            return _next_card(state)


def _next_card(state: TableState) -> Prompt:
    side = _side(state)
    hand = "the next card" if side is None else f"a card for {side.title()}"
    if state.settings.cards == "keyed":
        return Prompt(code="key_card", side=side, text=f"Deal {hand} and key it")
    return Prompt(code="draw", side=side, text=f"Draw {hand}")


def _at_the_shoe(state: TableState) -> Prompt:
    keyed = state.settings.cards == "keyed"
    if state.link.lid_open or state.burn_left == 0:
        then = ", then open betting" if keyed or not state.link.lid_open else " and close the lid"
        return Prompt(code="load_shoe", text=f"Load the shoe{then}")
    if state.burn_left is None:
        return Prompt(
            code="turn_first_card",
            text="Turn the first card of the shoe and key it" if keyed else "Turn the first card of the shoe",
        )
    cards = "1 card" if state.burn_left == 1 else f"{state.burn_left} cards"
    return Prompt(
        code="burn", count=state.burn_left, text=f"Burn {cards}" + (", then open betting" if keyed else "")
    )


def _how_betting_closes(state: TableState) -> str:
    if state.settings.betting_closes == "order":
        return "Place your wagers; close betting when all have"
    return "Place your wagers; the first card closes betting"


def _side(state: TableState) -> Literal["player", "banker"] | None:
    """The hand of the next card, where one is wanted or would begin a coup."""
    if state.phase not in {Phase.BETTING, Phase.DEALING}:
        return None
    coup = state.coup or Coup(state.carried)
    if coup.over:
        return None
    return coup.side_of(len(coup.cards)).value


# --- wagers and pays


def _seats(state: TableState) -> tuple[Seat, ...]:
    game = state.settings.game
    return tuple(
        Seat(
            seat=seat,
            wagers=tuple(
                StandingWager(wager=each.wager, title=game.wager(each.wager).title, amount=each.amount)
                for each in state.wagers
                if each.seat == seat
            ),
        )
        for seat in sorted({each.seat for each in state.wagers})
    )


def _last(state: TableState) -> LastRound | None:
    if state.last is None:
        return None
    record = public_round(state.last)
    return LastRound(
        round=record,
        pays=_pays(state, record) if record.status == "played" else (),
        seats=seat_pays(record.settlements),
    )


def _pays(state: TableState, record: RoundRecord) -> tuple[WagerPay, ...]:
    game = state.settings.game
    coup = Coup(as_dealt(record.player, record.banker))
    everything = [PlacedWager(0, wager.name, 1) for wager in game.wagers]
    return tuple(
        WagerPay(
            wager=wager.name,
            title=wager.title,
            rule=decided.rule,
            pays=next((rule.pays for rule in wager.rules if rule.name == decided.rule), decided.rule),
            outcome=decided.outcome,
        )
        for wager, decided in zip(game.wagers, settle(game, coup, everything), strict=True)
    )


def seat_pays(settlements: Sequence[Settlement]) -> tuple[SeatPay, ...]:
    """Each seat's settlements and what they come to."""
    found = []
    for seat in sorted({each.seat for each in settlements}):
        its = tuple(each for each in settlements if each.seat == seat)
        found.append(
            SeatPay(
                seat=seat,
                staked=sum(each.stake for each in its),
                returned=sum(each.returned for each in its),
                net=sum(each.net for each in its),
                wagers=its,
            )
        )
    return tuple(found)
