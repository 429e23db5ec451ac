"""Passes events to the procedure at the table, and the procedure's orders to the meter: both happen, or neither.

The meter is the table's own, or an authority keeps it for several tables. A linked table asks its authority: the
request is part of the table's state until the answer, an input too, completes the event that needed it. So a kill
or a lost connection between any two messages leaves both sides at the step where they were, and each record can be
replayed without the other. The authority numbers each table's requests and carries each out once.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeGuard

from punto.baccarat.progressive import game_events
from punto.baccarat.progressive.aquarius import Aquarius, TurnKey
from punto.baccarat.progressive.aquarius import State as AquariusState
from punto.baccarat.progressive.effects import (
    AwardBackedOut,
    AwardBooked,
    AwardLocked,
    Effect,
    WagersCounted,
    table_of,
)
from punto.baccarat.progressive.events import Contribute, DenyAward, ForgetTable, LockAward
from punto.baccarat.progressive.events import Event as BooksEvent
from punto.baccarat.progressive.money import MOST
from punto.baccarat.progressive.nexus import Nexus
from punto.baccarat.progressive.nexus import State as NexusState
from punto.baccarat.progressive.people import KNOWN_AT_A_TABLE
from punto.baccarat.progressive.progressive import Progressive
from punto.baccarat.progressive.settings import Settings
from punto.baccarat.progressive.state import AwardState, Extract
from punto.baccarat.progressive.state import State as Books
from punto.baccarat.table.effects import AwardChanged, MeterMoved
from punto.baccarat.table.events import (
    GameOrder,
    MeterAnswered,
    MeterClaimed,
    MeterHeard,
    Refused,
    Sensed,
    TableAsked,
    TableRefused,
)
from punto.baccarat.table.sensors import clear_alarm
from punto.baccarat.table.state import Asked, AuthorityLink, ServedTable, TablesProgressive
from punto.baccarat.table.turn import RefusedError, Turn
from punto.baccarat.table.winners import can_win

MOST_SEATS: Final = 99
"""No table has more seats."""
MOST_LATER: Final = 40
"""The most reports that wait for an answer; further ones are refused."""
ProcedureEvent = GameOrder | Sensed | game_events.HandDecided | game_events.AwardTakenBack
"""An event for the procedure."""
_OfAnAward = AwardLocked | AwardBooked | AwardBackedOut
"""The entries that announce an award."""

AWAY: Final = "meter_away"
"""Code of the alarm while the authority does not answer, and of the refusal of START GAME then."""
SECOND: Final = "second_meter"
"""Code of the alarm and of the refusals while another service keeps a meter of the same progressive."""
REFUSED: Final = "meter_refused"
"""Code of the alarm for what the authority refused."""
NOT_SERVED: Final = "table_refused"
"""Code of the authority's alarm for a table that it does not serve, or for a request that no table makes."""
UNSIGNED: Final = "table_unsigned"
"""Code of the authority's alarm for what comes in the name of a table without its signature."""

_BEGIN_AGAIN: Final = 'order "Begin again with a table" for {} at the Game Manager of the authority'
"""What makes the authority take the next request of a table, whatever it was."""


def of(turn: Turn) -> TablesProgressive:
    """The table's progressive; raises RefusedError if it has none."""
    if turn.state.progressive is None:
        raise RefusedError("no_progressive", "this table has no progressive: configure one first")
    return turn.state.progressive


def pass_on(turn: Turn, event: ProcedureEvent) -> None:
    """Pass an event to the procedure, and its orders to the meter; raises RefusedError if one of them refuses."""
    progressive = of(turn)
    link = progressive.link
    if link is not None and link.asked is not None and _waits(event, link.asked):
        if len(link.later) >= MOST_LATER:
            raise _not_answered(link.asked)
        turn.change(progressive=replace(progressive, link=replace(link, later=(*link.later, event))))
        return
    after, orders = _handled(progressive.procedure, event)
    if link is None or not orders:
        turn.change(progressive=replace(progressive, procedure=after))
        for order in orders:
            carry_out(turn, order)
        return
    if isinstance(event, game_events.StartGame):
        # What the authority would refuse in any case is not asked.
        _carried_out(progressive.books, orders, turn.state.settings.currency)
    asked = Asked(link.number + 1, event, tuple(orders))
    turn.change(progressive=replace(progressive, link=replace(link, number=asked.number, asked=asked)))


def carry_out(turn: Turn, order: BooksEvent) -> None:
    """Carry out an order for the table's own meter; raises RefusedError if it is not allowed now."""
    progressive = of(turn)
    if progressive.link is not None:
        raise RefusedError(
            "kept_elsewhere",
            f"{progressive.books.settings.authority} keeps the meter of {progressive.books.settings.progressive}: give this "
            "order there",
        )
    if isinstance(order, ForgetTable):
        _kept_here(turn)
    books, entries = _carried_out(progressive.books, [order], turn.state.settings.currency)
    served = progressive.served
    if isinstance(order, ForgetTable):
        served = tuple(each for each in served if each.table != order.table)
    turn.change(progressive=replace(progressive, books=books, served=served))
    _record(turn, entries)


def _handled(
    procedure: AquariusState | NexusState, event: ProcedureEvent
) -> tuple[AquariusState | NexusState, Sequence[game_events.Order]]:
    machine = Aquarius(procedure) if procedure.kind == "aquarius" else Nexus(procedure)
    if machine.knows(event):
        orders = machine.handle(event)
        return machine.state, orders
    raise RefusedError(
        "other_procedure",
        f"this table's progressive uses {procedure.kind.title()}, which does not have this order",
    )


def when_answered(progressive: TablesProgressive) -> AquariusState | NexusState:
    """The procedure at the table, as it will be if the authority carries out what the table has asked."""
    asked = None if progressive.link is None else progressive.link.asked
    return progressive.procedure if asked is None else _handled(progressive.procedure, asked.event)[0]


def _carried_out(books: Books, orders: Sequence[BooksEvent], currency: str) -> tuple[Books, list[Effect]]:
    """The books after all these orders, and their entries; raises RefusedError if one is not allowed now."""
    progressive = Progressive(books, currency)
    entries = [entry for order in orders for entry in progressive.handle(order)]
    return progressive.state, entries


def _record(turn: Turn, entries: Sequence[Effect]) -> None:
    """Put the entries on the record, and announce awards."""
    for entry in entries:
        turn.emit(MeterMoved(entry))
        # Awards from the tray are not announced: displays would take them for awards of the meter.
        if isinstance(entry, _OfAnAward) and entry.award.payer == "meter":
            award = entry.award
            turn.announce(
                AwardChanged(award.id, award.rule, award.amount, award.round, award.seats, award.state)
            )


def alarm_award_differs(turn: Turn) -> None:
    """Raise an alarm if the award of the table's last game does not fit its cards, as corrected since."""
    hand = of(turn).procedure.hand
    if hand.award_differs:
        turn.alarm(
            "award_astray",
            f"the booked award of round {hand.round} does not fit the corrected cards: have it backed out at the Game "
            "Manager. Then, if an award is due, confirm that award",
        )


# --- a linked table


def _waits(event: ProcedureEvent, asked: Asked) -> TypeGuard[Sensed | game_events.AwardTakenBack]:
    """Whether a report waits until the request is answered; raises RefusedError for what has to be done again then."""
    starts = isinstance(asked.event, game_events.StartGame)
    match event:
        case TurnKey() | game_events.AwardTakenBack():
            return True
        case game_events.WagerLifted() | game_events.WagerVoided():
            return starts
        case game_events.WagerPlaced():
            if starts:
                raise RefusedError(
                    "after_start", "the game is being started: return this wager, because it does not count"
                )
            return False
        case _:
            raise _not_answered(asked)


def _not_answered(asked: Asked) -> RefusedError:
    what = asked.event.kind.replace("_", " ")
    return RefusedError(
        "meter_asked", f"the authority of the meter has not answered {what} yet: wait for its answer"
    )


def refuse_away(progressive: TablesProgressive) -> None:
    """Refuse a game while the table has an authority that does not answer; raises RefusedError."""
    link = progressive.link
    if link is not None and not link.online:
        settings = progressive.books.settings
        raise RefusedError(
            AWAY,
            f"{settings.authority} keeps the meter of {settings.progressive} and does not answer ({link.reason}): deal the "
            "base game, and return the progressive wagers or leave them for a later game",
        )


def objection_to_meter(settings: Settings, extract: Extract) -> str | None:
    """Why this cannot be the meter of a progressive with these settings, None if it can."""
    for award in extract.awards:
        seats = all(
            1 <= each <= MOST_SEATS for each in (*award.seats, *(share.seat for share in award.shares))
        )
        if settings.tier(award.rule) is None or not seats or not 0 <= award.amount <= MOST:
            return f"award {award.id} cannot be an award of {settings.progressive}"
    return None


def objection_to_answer(settings: Settings, table: str, asked: Asked, event: MeterAnswered) -> str | None:
    """Why this cannot be the answer to what the table has asked, None if it can."""
    counted = {
        WagersCounted(table, each.round, each.wagers) for each in asked.orders if isinstance(each, Contribute)
    }
    for entry in event.entries:
        foreign = table_of(entry) != table
        if foreign or (isinstance(entry, WagersCounted) and entry not in counted):
            return "it answers with entries that the table has not asked for"
    return objection_to_meter(settings, event.extract)


def heard(turn: Turn, event: MeterHeard) -> None:
    """Take over what the authority tells, or that it is away; raises RefusedError if the table has no authority."""
    progressive = of(turn)
    link, books = _link(progressive), progressive.books
    online, reason = event.online, event.reason
    if event.settings is not None:
        if fixed(event.settings) == fixed(books.settings):
            books = books.replace(settings=event.settings)
        else:
            online = False
            reason = f"it has another pay table, game or procedure for {books.settings.progressive}: configure both alike"
    if event.extract is not None and event.extract.ledger.last >= books.ledger.last:
        books = books.with_extract(event.extract)
    turn.change(
        progressive=replace(progressive, books=books, link=replace(link, online=online, reason=reason))
    )
    if online:
        clear_alarm(turn, AWAY)
    elif link.online or reason != link.reason:
        turn.alarm(AWAY, f"{books.settings.authority}, which keeps the meter, is away: {reason}")
    if _taken_back(progressive, books):
        _pass_on_late(turn, game_events.AwardTakenBack())


def fixed(settings: Settings) -> tuple[object, ...]:
    """What a progressive's tables and its authority must have alike."""
    return (settings.progressive, settings.wager, settings.procedure, {each.game for each in settings.tables})


def _taken_back(before: TablesProgressive, books: Books) -> bool:
    """Whether the award of the table's last game was backed out at the authority."""
    hand = before.procedure.hand
    booked = {each.id for each in before.books.awards if each.state is not AwardState.BACKED_OUT}
    return any(
        award.id in booked and award.state is AwardState.BACKED_OUT
        for award in books.awards_of(hand.table, hand.round)
    )


def answered(turn: Turn, event: MeterAnswered) -> None:
    """Complete the event that asked; raises RefusedError if the request was not asked or is answered already."""
    progressive = of(turn)
    link = _link(progressive)
    asked = link.asked
    if asked is None or asked.number != event.number:
        raise RefusedError(
            "not_asked", f"no request {event.number} waits for an answer of the meter's authority"
        )
    settings = progressive.books.settings
    objection = objection_to_answer(settings, turn.state.settings.table, asked, event)
    if objection is not None:
        raise RefusedError("not_asked", f"{settings.authority}: {objection}")
    books = progressive.books.with_extract(event.extract)
    after = progressive.procedure if event.refused is not None else when_answered(progressive)
    link_after = replace(link, asked=None, later=(), refused=event.refused)
    progressive = replace(progressive, books=books, procedure=after, link=link_after)
    if event.refused is None:
        coup = turn.state.round.coup
        if isinstance(asked.event, game_events.StartGame) and coup is not None and coup.cards:
            # The hand began before the wagers were counted: their game is played with the next one.
            progressive = replace(progressive, late=turn.state.round.number)
    turn.change(progressive=progressive)
    _record(turn, event.entries)
    if isinstance(asked.event, game_events.HandDecided):
        alarm_award_differs(turn)
    if event.refused is not None:
        what = asked.event.kind.replace("_", " ")
        turn.alarm(REFUSED, f"{books.settings.authority} refused {what}: {event.refused.text}")
        if isinstance(asked.event, game_events.StartGame):
            # The sensors have latched these wagers: they are in no game until they are placed again.
            for seat in asked.event.seats or ():
                _pass_on_late(turn, game_events.WagerVoided(seat))
    for report in link.later:
        _pass_on_late(turn, report)


def _pass_on_late(turn: Turn, report: Sensed | game_events.AwardTakenBack) -> None:
    """Pass on a report that waited. Nobody waits for its refusal any more, so that is an alarm."""
    try:
        pass_on(turn, report)
    except RefusedError as refusal:
        turn.alarm(REFUSED, str(refusal))


def _link(progressive: TablesProgressive) -> AuthorityLink:
    if progressive.link is None:
        raise RefusedError("not_linked", "this table keeps its meter itself: it has no authority")
    return progressive.link


# --- the authority


def objection_to_request(settings: Settings, asked: TableAsked, seats: int) -> str | None:
    """Why no table of the progressive, with at most so many seats, can ask this; None if one can.

    A table is another machine, so its authority derives again what it can: the amount of a wager from the settings, and an award
    from the cards; the books ask for the people. It cannot know which cards were dealt, nor who was there. What it answers has no text of the table, because
    it becomes an alarm.
    """
    confirms = asked.orders and isinstance(asked.orders[0], LockAward | DenyAward)
    if len(asked.orders) > 1 and not (
        confirms and [order.kind for order in asked.orders[1:]] == ["book_award"]
    ):
        return f"{asked.table} asks for several steps of a game at once: only an award and its booking come together"
    for order in asked.orders:
        if isinstance(order, Contribute):
            only = settings.wager.limits.minimum
            if any(not 1 <= each.seat <= seats or each.amount != only for each in order.wagers):
                return f"{asked.table} counts wagers that its seats cannot have placed: each is {only} of seat 1 to {seats}"
        elif isinstance(order, LockAward | DenyAward) and not can_win(settings, order.won):
            return f"{asked.table} confirms an award that its cards do not win"
    return None


def serve(turn: Turn, event: TableAsked) -> None:
    """Carry out a linked table's request once, and keep the answer; what the books refuse is answered too.

    Raises:
        RefusedError: this service is not the authority, the table is not linked, or the request does not follow
            the one that the table was last served.
    """
    progressive = _kept_here(turn)
    settings = progressive.books.settings
    if event.table not in {each.table for each in settings.tables} or any(
        order.table != event.table for order in event.orders
    ):
        raise RefusedError(
            "unknown_table", f"{event.table} is not linked to {settings.progressive}: add it to tables"
        )
    objection = objection_to_request(settings, event, turn.state.settings.seats)
    if objection is not None:
        raise RefusedError("not_possible", objection)
    objection = replaced(progressive, event.table, event.record)
    if objection is not None:
        raise RefusedError("another_record", objection)
    before = served_table(progressive, event.table)
    # A table that has not been served since it is in `tables` may have asked before, so its first number is any.
    last = event.number - 1 if before is None else before.number
    if event.number <= last:
        return  # its answer is sent again
    objection = older_authority(progressive, event.table, event.record, event.number - 1)
    if objection is not None:
        raise RefusedError("out_of_order", objection)
    books, entries, refused = progressive.books, list[Effect](), None
    try:
        if any(isinstance(order, Contribute) for order in event.orders):
            refuse_second(progressive)
        books, entries = _carried_out(books, event.orders, turn.state.settings.currency)
    except RefusedError as refusal:
        refused = Refused(refusal.code, str(refusal))
        if refusal.code in KNOWN_AT_A_TABLE:
            what = f"{event.table} confirms an award, or reopens a game, without the people that this needs"
            turn.alarm(NOT_SERVED, what)
    turn.change(progressive=replace(progressive, books=books))
    _keep_served(turn, ServedTable(event.table, event.record, event.number, tuple(entries), refused))
    _record(turn, entries)


def replaced(progressive: TablesProgressive, table: str, record: str) -> str | None:
    """Why a table is not served from this record: it has asked from another one before. None if it has not."""
    before = served_table(progressive, table)
    if before is None or before.record == record:
        return None
    return f"{table} asks from another record than before. If its record was replaced, {_BEGIN_AGAIN.format(table)}"


def older_authority(progressive: TablesProgressive, table: str, record: str, answered: int) -> str | None:
    """Why the authority's record is older than this one of a table that has had the answer `answered`; None if it is not."""
    before = served_table(progressive, table)
    if before is None or before.record != record or answered <= before.number:
        return None
    authority = progressive.books.settings.authority
    return (
        f"{table} has had the answer to its request {answered}, but the record of {authority} ends with request {before.number}. "
        f"If the record of {authority} was restored from a backup, {_BEGIN_AGAIN.format(table)}"
    )


def older_table(settings: Settings, table: str, number: int, answered: int) -> str | None:
    """Why a table's record, whose last request is `number`, is older than what was answered to it; None if it is not."""
    if answered <= number:
        return None
    return (
        f"{settings.authority} has answered request {answered} of {table}, but the record of {table} ends with request {number}. "
        f"If the record of {table} was restored from a backup, {_BEGIN_AGAIN.format(table)}"
    )


def serve_failed(turn: Turn, event: TableAsked, refused: Refused) -> None:
    """Answer a linked table's next request with the refusal, because the program could not carry the request out."""
    progressive = of(turn)
    before = served_table(progressive, event.table)
    if before is None or (before.record, before.number + 1) == (event.record, event.number):
        _keep_served(turn, ServedTable(event.table, event.record, event.number, (), refused))


def _keep_served(turn: Turn, served: ServedTable) -> None:
    progressive = of(turn)
    others = tuple(each for each in progressive.served if each.table != served.table)
    turn.change(progressive=replace(progressive, served=(*others, served)))


def refuse(turn: Turn, event: TableRefused) -> None:
    """Raise an alarm for a table that is not served; raises RefusedError if this service is not the authority."""
    _kept_here(turn)
    what = event.table if event.code == NOT_SERVED else f"a message in the name of {event.table}"
    turn.alarm(event.code, f"{what} is not served: {event.reason}")


def _kept_here(turn: Turn) -> TablesProgressive:
    """The progressive whose meter this service keeps for other tables; raises RefusedError if it keeps none."""
    progressive = of(turn)
    if progressive.books.settings.authority != turn.state.settings.table:
        raise RefusedError(
            "not_authority", f"{turn.state.settings.table} does not keep a meter for other tables"
        )
    return progressive


def claimed(turn: Turn, event: MeterClaimed) -> None:
    """Start no game while another service keeps a meter of the same progressive; money would be promised twice."""
    turn.change(progressive=replace(of(turn), rival=event.by))
    if event.by is None:
        clear_alarm(turn, SECOND)
    else:
        turn.alarm(SECOND, _second(of(turn)))


def refuse_second(progressive: TablesProgressive) -> None:
    """Refuse a game while another service keeps a meter of the same progressive; raises RefusedError."""
    if progressive.rival is not None:
        raise RefusedError(SECOND, _second(progressive))


def _second(progressive: TablesProgressive) -> str:
    name = progressive.books.settings.progressive
    return (
        f"{progressive.rival} keeps a meter of {name} too: stop one of the services and give its progressive another id, or link "
        "its table to the other one (authority)"
    )


def served_table(progressive: TablesProgressive, table: str) -> ServedTable | None:
    """The last request of a linked table and its answer, None before its first."""
    return next((each for each in progressive.served if each.table == table), None)
