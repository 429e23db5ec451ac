"""The table as a console shows it: the public state, the progressive, and the reader's orders, without unrevealed cards."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Literal, NamedTuple

from punto.baccarat.coup import Coup
from punto.baccarat.progressive.events import ChangeSettings
from punto.baccarat.progressive.shares import order_of_paying
from punto.baccarat.table.after_settlement import as_dealt
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.order_kinds import ChangeGame
from punto.baccarat.table.possible import Trials
from punto.baccarat.table.progressive import what_waits
from punto.baccarat.table.state import (
    Alarm,
    CommissionEntry,
    CommissionOwed,
    Phase,
    RoundRecord,
    Stop,
    TableState,
)
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.settlement import Outcome, PlacedWager, Settlement, settle
from punto.consoles.game_view import GameView, game_view
from punto.controller.accounts.roles import Role, orders_of
from punto.controller.devices.door import ConsoleDevice, console_devices
from punto.controller.orders.countersigning import Countersigning
from punto.controller.orders.doors import NO_EQUIPMENT, Caller, Equipment
from punto.controller.publication import NOT_KNOWN, Raised
from punto.messages.building import public_round, state_message, timestamp
from punto.messages.models import Part, State, Timestamp

PromptCode = Literal[
    "locked",
    "closed",
    "load_shoe",
    "turn_first_card",
    "burn",
    "place_wagers",
    "start_game",
    "draw",
    "key_card",
    "reveal",
    "award",
    "pay",
    "pay_difference",
    "return_wagers",
    "stopped",
    "shoe_over",
    "shoe_offline",
]


class Prompt(Part):
    """The next step. `side` is the hand of the next card, `count` the number of cards still to burn.

    `position` is for `key_card`: the number of the next card in the coup as dealt, 0 for the first card of the shoe.
    `technical` is a technician's detail of what the text says, null if there is none.
    """

    code: PromptCode
    side: Literal["player", "banker"] | None = None
    position: int | None = None
    count: int | None = None
    text: str
    technical: str | None = None


class StandingWager(Part):
    """A wager on the table, in minor units; `short` is its title for a narrow place."""

    wager: str
    title: str
    short: str
    amount: int


class Seat(Part):
    """A seat with wagers for the next or current coup."""

    seat: int
    wagers: tuple[StandingWager, ...]


class WagerPay(Part):
    """The result of a wager: the rule that decided it, and its pay as the sheet prints it.

    A wager that wins only with its base wager is shown as if there were base wagers on both hands. `wagered` is false if
    no seat made it in this round, as far as wagers are recorded.
    """

    wager: str
    title: str
    short: str
    rule: str
    pays: str
    outcome: Outcome
    wagered: bool


class WagerDue(Part):
    """The dealer's payment of a wager: `pay` is in minor units, negative if the dealer takes it back.

    If `stake_stays`, the `stake` still lies on the table and `pay` does not include it. Otherwise the stake was taken before,
    and `pay` includes it. `marked` is the commission to mark at the seat in place of taking it off `pay`, negative if a mark is
    taken back.
    """

    wager: str
    title: str
    short: str
    stake: int
    outcome: Outcome
    pay: int
    marked: int
    stake_stays: bool


class SeatPay(Part):
    """The result of a round for a seat, in minor units: in the books, and the payments `due` at the table with sum `pay`.

    An award of the meter is not in `due`, and neither is a lost wager that was taken before.
    """

    seat: int
    staked: int
    returned: int
    net: int
    pay: int
    due: tuple[WagerDue, ...]
    wagers: tuple[Settlement, ...]


class LastRound(Part):
    """The last round with its corrections, and the pay of every wager of the game; a void round pays nothing.

    The progressive's wager is left out if the round decided no game of it.

    `correction` is the entry that corrected or voided it after settlement, null if there is none; `differences` are the
    seats' payments by that entry, negative if the dealer takes them back. Seats are in the order of paying, from the dealer's
    right.
    """

    round: RoundRecord
    pays: tuple[WagerPay, ...]
    seats: tuple[SeatPay, ...]
    correction: RoundRecord | None
    differences: tuple[SeatPay, ...]


class StandingAlarm(Part):
    """An alarm that is not acknowledged: the number of its last event, and how many times it came.

    `ts` is when it last came, and `who` called the supervisor; both are null if not known.
    """

    number: int
    code: str
    text: str
    times: int
    ts: Timestamp | None
    who: str | None


class StandingStop(Part):
    """A stop that waits for a supervisor; `ts` is when it began, and `who` held play. Both are null if not known."""

    code: str
    text: str
    ts: Timestamp | None
    who: str | None


class WaitingOrder(Part):
    """An order that waits for a second person.

    `fields` is its content as text. `own` is true if the reader gave it, or it was signed at the reader's page; `may` is
    true if the reader may approve it; `being_given` is true from its approval to its end. `outcome` is the result of one of
    the reader's own orders, shown for 10 s.
    """

    number: int
    order: str
    label: str
    giver: str
    why: str
    fields: dict[str, str]
    seconds: int
    own: bool
    may: bool
    being_given: bool
    outcome: str | None
    accepted: bool


class View(Part):
    """The table as one person's console shows it; `seq` is the number of the last input in it.

    `short_titles` are those of the game's wagers, for narrow places.

    `commissions` are the seats that owe commission, at a table that collects it at the end of the shoe.
    """

    seq: int
    ts: Timestamp
    state: State
    operator: str | None
    you: str
    roles: tuple[Role, ...]
    orders: tuple[str, ...]
    prompt: Prompt
    short_titles: dict[str, str]
    seats: tuple[Seat, ...]
    commissions: tuple[CommissionOwed, ...]
    last: LastRound | None
    progressive: GameView | None
    alarms: tuple[StandingAlarm, ...]
    stops: tuple[StandingStop, ...]
    devices: tuple[ConsoleDevice, ...]
    hands_an_hour: float | None
    waiting: tuple[WaitingOrder, ...] = ()


class Moments(NamedTuple):
    """Times that the table's state does not have: the shoe's last change, the alarms by their numbers, and the stops."""

    shoe_since: datetime
    raised: Mapping[int, Raised]
    stopped: Mapping[tuple[str, str], Raised]


def view_of(  # noqa: PLR0913 - what a console shows comes from all of these
    trials: Trials,
    seq: int,
    now: datetime,
    reader: Caller,
    hands_an_hour: float | None,
    equipment: Equipment = NO_EQUIPMENT,
    *,
    refused: Mapping[str, RefusedError | None] | None = None,
    moments: Moments | None = None,
    zone: str = "UTC",
) -> View:
    """The table after the input `seq`, for this reader.

    `equipment` is what its devices do, `refused` the refusal of each order, `moments` the times of changes, and `zone`
    the house's time zone.
    """
    state = trials.state
    refused = trials.refusals if refused is None else refused
    allowed = orders_of(reader.roles, state) - equipment.gives()
    game = game_view(trials, equipment, refused)
    noted = moments or Moments(now, {}, {})
    return View(
        seq=seq,
        ts=timestamp(now),
        state=state_message(state, seq, now, zone),
        operator=state.operator,
        you=reader.name,
        roles=reader.roles,
        orders=tuple(kind for kind, why in refused.items() if why is None and kind in allowed),
        prompt=prompt_of(state, game),
        short_titles={each.name: each.short_title for each in state.settings.game.wagers},
        seats=_seats(state),
        commissions=state.commissions,
        last=_last(state),
        progressive=game,
        alarms=tuple(_alarm(each, noted.raised.get(each.number, NOT_KNOWN)) for each in state.alarms),
        stops=tuple(_stop(each, noted) for each in state.waiting.stops),
        devices=tuple(console_devices(state, seq, noted.shoe_since, equipment.links(), now)),
        hands_an_hour=hands_an_hour,
    )


def _alarm(alarm: Alarm, raised: Raised) -> StandingAlarm:
    caller = raised.who if alarm.code == "supervisor_called" else None
    return StandingAlarm(**asdict(alarm), ts=raised.ts, who=caller)


def _stop(stop: Stop, noted: Moments) -> StandingStop:
    raised = noted.stopped.get((stop.code, stop.text), NOT_KNOWN)
    who = raised.who if stop.code == "held" else None
    return StandingStop(code=stop.code, text=stop.text, ts=raised.ts, who=who)


def waiting_of(waiting: Countersigning, state: TableState, reader: Caller) -> tuple[WaitingOrder, ...]:
    """The orders that wait for a second person and that this reader gave or may approve."""
    allowed = orders_of(reader.roles)
    return tuple(
        WaitingOrder(
            number=each.number,
            order=each.kind,
            label=CATALOGUE[each.kind].label,
            giver=each.giver,
            why=each.why,
            fields=_written(each.order),
            seconds=waiting.seconds_left(each),
            own=each.concerns(reader.name),
            may=each.kind in allowed
            and each.giver != reader.name
            and not each.being_given
            and each.outcome is None,
            being_given=each.being_given,
            outcome=each.outcome,
            accepted=each.accepted,
        )
        for each in waiting.shown(reader.name, state)
        if each.kind in allowed or each.concerns(reader.name)
    )


def _written(order: object) -> dict[str, str]:
    """The content of an order, for the person who must approve it."""
    if isinstance(order, ChangeSettings) and order.before is not None:
        before, after = order.before, order.settings
        changed = (
            each.name for each in fields(after) if getattr(before, each.name) != getattr(after, each.name)
        )
        return {name: f"{getattr(before, name)} → {getattr(after, name)}" for name in changed} | {
            "reason": order.reason
        }
    if isinstance(order, ChangeGame):
        return {"game": order.game.title}
    left_out = {"kind", "who", "approved_by"}
    return {
        each.name: " ".join(value) if isinstance(value := getattr(order, each.name), tuple) else str(value)
        for each in fields(order)  # type: ignore[arg-type]  # each order is a dataclass
        if each.name not in left_out
    }


# --- the next step


def prompt_of(state: TableState, game: GameView | None = None) -> Prompt:
    """The next step for the person at the table; an award of the progressive's `game` comes before the next hand."""
    prompt = _what_stops(state) or _award(state, game) or _what_waits(state) or _what_follows(state, game)
    return prompt.model_copy(update={"position": state.next_position})


def _what_stops(state: TableState) -> Prompt | None:
    """The step that must come before anything else."""
    if state.phase is Phase.LOCKED:
        return Prompt(code="locked", text="The table is locked: sign on to open it")
    if state.waiting.stops:
        return Prompt(code="stopped", text="; ".join(stop.text for stop in state.waiting.stops))
    if state.waiting.card is not None:
        return Prompt(code="key_card", side=_side(state), text=state.waiting.card.text)
    return None


def _award(state: TableState, game: GameView | None) -> Prompt | None:
    """The award that comes before the next hand, unless that hand is dealt or a supervisor has resumed play without it."""
    progressive = state.progressive
    if progressive is None or state.phase in {Phase.DEALING, Phase.REVEAL} or progressive.played_without:
        return None
    if game is not None and game.award is not None:
        return Prompt(code="award", text=game.todo.text)
    burned = state.phase is Phase.SHOE_CHANGE and state.shoe.burn_left == 0
    if state.award_waits and (burned or state.phase in {Phase.BETTING, Phase.SETTLED}):
        return Prompt(code="award", text=f"T{what_waits(state)[1:]}")
    return None


def _what_waits(state: TableState) -> Prompt | None:
    """The step that must come before the next hand."""
    if state.shoe_over and state.phase in {Phase.BETTING, Phase.SETTLED}:
        then = "collect the commission, then change the shoe" if state.commissions else "change the shoe"
        return Prompt(code="shoe_over", text=f"This was the last coup of the shoe: {then}")
    shoe_is_wanted = state.phase in {Phase.SHOE_CHANGE, Phase.BETTING, Phase.DEALING}
    if state.keyed_for_shoe:
        text = "Key the cards that end this hand, or wait for the shoe"
        return Prompt(code="shoe_offline", side=_side(state), text=text, technical=state.link.reason)
    if shoe_is_wanted and state.settings.cards == "shoe" and not state.link.online:
        text = "Check the power and the cable of the shoe, or call a technician"
        return Prompt(code="shoe_offline", text=text, technical=state.link.reason)
    return None


def _what_follows(state: TableState, game: GameView | None) -> Prompt:
    match state.phase:
        case Phase.CLOSED:
            then = ": collect the commission" if state.commissions else ""
            return Prompt(code="closed", text=f"The table is closed{then}")
        case Phase.SHOE_CHANGE:
            return _at_the_shoe(state)
        case Phase.BETTING:
            taking = Prompt(code="place_wagers", side=_side(state), text=_how_betting_closes(state, game))
            return _at_the_end(state, "then take wagers") if _still_to_pay(state, game) else taking
        case Phase.REVEAL:
            seat = state.revealing_seat
            turns = "Turn the cards" if seat is None else f"Seat {seat} turns the cards"
            return Prompt(code="reveal", text=f"{turns}; then reveal the hands")
        case Phase.SETTLED:
            return _at_the_end(state, "then open betting")
        case _:
            return _start_game(state, game) or _next_card(state)


def _still_to_pay(state: TableState, game: GameView | None) -> bool:
    """Whether betting opened by itself after a hand, and no wager for the next hand shows that this one is paid."""
    last = state.history.last
    if last is None or last.shoe != state.shoe.number or last.status == "dummy":
        return False
    begun = state.round.wagers or (game is not None and game.unstarted)
    return state.settings.next_coup == "automatic" and not begun


def _at_the_end(state: TableState, then: str) -> Prompt:
    if _correction(state) is not None:
        return Prompt(code="pay_difference", text=f"Pay and take back the differences, {then}")
    if state.history.last is not None and state.history.last.status == "void":
        return Prompt(code="return_wagers", text=f"Return all wagers, {then}")
    return Prompt(code="pay", text=f"Pay the winning wagers, {then}")


def _start_game(state: TableState, game: GameView | None) -> Prompt | None:
    """START GAME, if betting closed without it; it can be given until the first card."""
    if game is None or not game.unstarted or game.orders["start_game"] is not None:
        return None
    return Prompt(
        code="start_game", side=_side(state), text=f"Press {game.start_label} before the first card"
    )


def _next_card(state: TableState) -> Prompt:
    side = _side(state)
    hand = "the next card" if side is None else f"a card for {side.title()}"
    if state.settings.cards == "keyed":
        return Prompt(code="key_card", side=side, text=f"Deal {hand} and key it")
    return Prompt(code="draw", side=side, text=f"Draw {hand}")


def _at_the_shoe(state: TableState) -> Prompt:
    keyed = state.settings.cards == "keyed"
    if state.link.lid_open or state.shoe.burn_left == 0:
        then = ", then open betting" if keyed or not state.link.lid_open else " and close the lid"
        return Prompt(code="load_shoe", text=f"Load the shoe{then}")
    if state.shoe.burn_left is None:
        return Prompt(
            code="turn_first_card",
            text="Turn the first card of the shoe and key it" if keyed else "Turn the first card of the shoe",
        )
    cards = "1 card" if state.shoe.burn_left == 1 else f"{state.shoe.burn_left} cards"
    return Prompt(
        code="burn",
        count=state.shoe.burn_left,
        text=f"Burn {cards}" + (", then open betting" if keyed else ""),
    )


def _how_betting_closes(state: TableState, game: GameView | None) -> str:
    by_order = state.settings.betting_closes == "order"
    if game is not None and game.unstarted and game.orders["start_game"] is None:
        press = f"press {game.start_label}"
        if game.start_closes:
            return f"Place your wagers; when all are placed, {press}, which closes betting"
        if by_order:
            return f"Place your wagers; when all are placed, {press}, then close betting"
        return f"Place your wagers; {press} before the first card, which closes betting"
    if by_order:
        return "Place your wagers; close betting when all are placed"
    return "Place your wagers; the first card closes betting"


def _side(state: TableState) -> Literal["player", "banker"] | None:
    """The hand of the next card, if a card must be drawn or would begin a coup."""
    if state.phase not in {Phase.BETTING, Phase.DEALING}:
        return None
    coup = state.round.coup or Coup(state.shoe.carried)
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
                StandingWager(
                    wager=each.wager,
                    title=game.wager(each.wager).title,
                    short=game.wager(each.wager).short_title,
                    amount=each.amount,
                )
                for each in state.round.wagers
                if each.seat == seat
            ),
        )
        for seat in sorted({each.seat for each in state.round.wagers})
    )


def _last(state: TableState) -> LastRound | None:
    if state.history.last is None:
        return None
    record = public_round(state.history.last)
    entry = _correction(state)
    return LastRound(
        round=record,
        pays=_pays(state, record) if record.status == "played" else (),
        seats=seat_pays(state, record.settlements, state.history.marked if entry is None else ()),
        correction=None if entry is None else public_round(entry),
        differences=() if entry is None else seat_pays(state, entry.settlements, state.history.marked),
    )


def _correction(state: TableState) -> RoundRecord | None:
    """The entry that last corrected or voided the last round, None if there is no such entry."""
    entry, last = state.history.correction, state.history.last
    return entry if entry is not None and last is not None and entry.corrects == last.round else None


def _pays(state: TableState, record: RoundRecord) -> tuple[WagerPay, ...]:
    game = state.settings.game
    coup = Coup(as_dealt(record.player, record.banker))
    progressive = state.progressive
    # The meter's wager is in the games that START GAME begins, and no other hand pays it.
    no_game = progressive is not None and progressive.decided != record.round
    left_out = progressive.books.settings.wager.name if progressive is not None and no_game else None
    wagers = [wager for wager in game.wagers if wager.name != left_out]
    everything = [PlacedWager(0, wager.name, 1) for wager in wagers]
    made = {each.wager for each in record.settlements}
    if progressive is not None and progressive.procedure.hand.wagers:
        made.add(progressive.books.settings.wager.name)
    if not record.settlements:  # this table does not record its wagers
        made.update(wager.name for wager in wagers if wager.progressive is None)
    return tuple(
        WagerPay(
            wager=wager.name,
            title=wager.title,
            short=wager.short_title,
            rule=decided.rule,
            pays=next((rule.pays for rule in wager.rules if rule.name == decided.rule), decided.rule),
            outcome=decided.outcome,
            wagered=wager.name in made,
        )
        for wager, decided in zip(wagers, settle(game, coup, everything), strict=True)
    )


def seat_pays(
    state: TableState, settlements: Sequence[Settlement], marked: Sequence[CommissionEntry] = ()
) -> tuple[SeatPay, ...]:
    """Each seat's settlements and their sums, with the commission of them that was `marked`."""
    # A waived commission that is owed again has no mark at the seat, and the player returns it in chips.
    commission: defaultdict[tuple[int, str | None], int] = defaultdict(int)
    marks: defaultdict[tuple[int, str | None], int] = defaultdict(int)
    for entry in marked:
        marks[entry.seat, entry.wager] += entry.amount
        commission[entry.seat, entry.wager] += 0 if entry.cause == "waived" else entry.amount
    seat_one = "right" if state.progressive is None else state.progressive.books.settings.seat_one
    found = []
    for seat in order_of_paying({each.seat for each in settlements}, seat_one):
        its = tuple(each for each in settlements if each.seat == seat)
        due = tuple(
            filter(
                None,
                (
                    _due(state, each, commission[each.seat, each.wager], marks[each.seat, each.wager])
                    for each in its
                ),
            )
        )
        found.append(
            SeatPay(
                seat=seat,
                staked=sum(each.stake for each in its),
                returned=sum(each.returned for each in its),
                net=sum(each.net for each in its),
                pay=sum(each.pay for each in due),
                due=due,
                wagers=its,
            )
        )
    return tuple(found)


def _due(state: TableState, settled: Settlement, commission: int, marked: int) -> WagerDue | None:
    meter = None if state.progressive is None else state.progressive.books.settings
    was_taken = meter is not None and meter.wager.name == settled.wager and not meter.wager_stays
    is_difference = settled.stake == 0
    # An award is paid by the meter, but the stake that a correction gives back with it is the dealer's to pay.
    if (settled.outcome is Outcome.AWARD and not (is_difference and settled.net)) or (
        was_taken and settled.outcome is Outcome.LOSE and not is_difference
    ):
        return None
    beside = settled.returned if was_taken else max(settled.net, 0)
    wager = state.settings.game.wager(settled.wager)
    return WagerDue(
        wager=settled.wager,
        title=wager.title,
        short=wager.short_title,
        stake=settled.stake,
        outcome=settled.outcome,
        pay=commission + (settled.net if is_difference else beside),
        marked=marked,
        stake_stays=not (was_taken or is_difference),
    )
