"""Connects a table with its progressive.

The procedure at the table sends events to the progressive, and the cards tell the procedure who won. The
table carries out both or neither: if one refuses an event, the other does not handle it.

A game, from START GAME to GAME OVER, has the number of the next round at its start. It is played with the
next hand that is dealt to its end: after a void hand or a hand without wagers the game stays started, because
its players' wagers are on the meter and cannot be taken off it (sheet 000 lists the causes for which a meter
goes down).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from punto.baccarat.coup import Coup
from punto.baccarat.progressive import aquarius, game_events, nexus
from punto.baccarat.progressive.aquarius import Aquarius
from punto.baccarat.progressive.effects import WinPagePrinted
from punto.baccarat.progressive.events import (
    Adjust,
    BackOut,
    ChangeSettings,
    CountCoins,
    OpenMeter,
    PrintWinPage,
    Retire,
)
from punto.baccarat.progressive.events import Event as BooksEvent
from punto.baccarat.progressive.ledger import HOLDINGS
from punto.baccarat.progressive.money import amount
from punto.baccarat.progressive.nexus import Nexus
from punto.baccarat.progressive.orders import counted
from punto.baccarat.progressive.people import by_one_person
from punto.baccarat.progressive.procedure import BETTING, PLAYING
from punto.baccarat.progressive.progressive import Progressive
from punto.baccarat.progressive.state import Phase as BooksPhase
from punto.baccarat.progressive.state import State as Books
from punto.baccarat.table.effects import MeterMoved
from punto.baccarat.table.events import GameOrder, Sensed
from punto.baccarat.table.meter_link import (
    alarm_award_differs,
    carry_out,
    fixed,
    of,
    pass_on,
    refuse_away,
    refuse_second,
)
from punto.baccarat.table.sensors import clear_alarm, refuse_unlatched
from punto.baccarat.table.settings import Settings as TableSettings
from punto.baccarat.table.state import AuthorityLink, Phase, TablesProgressive, TableState
from punto.baccarat.table.turn import RefusedError, Turn, refuse_behind_the_cards
from punto.baccarat.table.winners import decision
from punto.baccarat.wagers.settlement import (
    PlacedWager,
    Settlement,
    WagerRefusedError,
    as_award,
    check_one_side,
    check_wagers,
    settle,
)

OfMoney = OpenMeter | Adjust | BackOut | Retire
"""The orders that move money of the meter."""
LEFT_OUT: Final = "progressive_wager_left_out"
"""Code of the alarm that names seats whose progressive wagers are not in a game; the next start ends it."""


def new(settings: TableSettings) -> TablesProgressive | None:
    """A table's progressive before it is in service; None if the table does not have one."""
    of_meter = settings.progressive
    if of_meter is None:
        return None
    kind = Aquarius if of_meter.procedure == "aquarius" else Nexus
    procedure = kind.new(settings.table, of_meter.wager.limits.minimum).state
    link = AuthorityLink() if of_meter.authority not in {None, settings.table} else None
    return TablesProgressive(Progressive.new(of_meter, settings.currency).state, procedure, link=link)


def play(turn: Turn, event: GameOrder | Sensed) -> None:
    """Handle an event of a sensor, a key or a card reader; raises RefusedError if it is not allowed now."""
    progressive = of(turn)
    _refuse_seats(turn.state, event)
    if not isinstance(event, game_events.StartGame):
        pass_on(turn, event)
        return
    _refuse_start(turn.state, progressive, event)
    pass_on(turn, _leave_out(turn, progressive, event))
    refuse_unlatched(turn.state, event)


def keep_books(turn: Turn, event: BooksEvent) -> None:
    """Handle an order for the meter; raises RefusedError if the order is not allowed now."""
    if isinstance(event, CountCoins) and event.progressive is not None:
        _refuse_unknown(turn.state, event.progressive)
        if event.progressive in turn.state.retired_progressives:
            # The wagers of its last day may be counted when the next progressive is at the table.
            turn.emit(MeterMoved(counted(event), event.progressive))
            return
    progressive = of(turn)
    carry_out(turn, event)
    if isinstance(event, OfMoney) and by_one_person(event):
        alone = progressive.alone + moved_by(progressive.books, event)
        turn.change(progressive=replace(of(turn), alone=alone))
    if isinstance(event, BackOut):
        _take_back(turn, event.award)


def moved_by(books: Books, order: OfMoney) -> int:
    """The money that an order moves, rounded up to whole minor units."""
    match order:
        case OpenMeter():
            return books.settings.seed  # the seed is then on the meter
        case Adjust():
            return order.amount
        case BackOut():
            return sum(award.amount for award in books.awards if award.id == order.award)
        case _:
            held: int = sum(getattr(books.ledger, each.value) for each in HOLDINGS)
            return -(-held // amount(1))


def day_begins(turn: Turn, began: str) -> None:
    """Count again what is moved at the meter without a second person, if a later day begins.

    A day that comes twice, because the clock was set back, is no later one. A clock that was a year ahead holds nothing up: the next
    day that begins is then another one than that in a year.
    """
    known = turn.state.progressive
    if known is None:
        return
    if began < known.alone_since:
        turn.change(progressive=replace(known, alone_since=began, set_back_from=known.alone_since))
    elif began == known.set_back_from:
        turn.change(progressive=replace(known, alone_since=began, set_back_from=""))
    else:
        turn.change(progressive=replace(known, alone=0, alone_since=began, set_back_from=""))


def print_win_page(turn: Turn, event: PrintWinPage) -> None:
    """Record that an award's win page is printed."""
    printed = WinPagePrinted(event.award, event.who, event.original)
    turn.emit(MeterMoved(printed, event.progressive))


def start(turn: Turn, configured: TableSettings) -> None:
    """Take over the configured progressive, which may be another one or have other settings.

    Raises:
        RefusedError: the previous one is in service, or a round or an award is open.
    """
    before, settings = turn.state.progressive, configured.progressive
    if before is not None and before.link is not None:
        _start_linked(turn, before, configured)
        return
    phase = BooksPhase.NEW if before is None else before.books.phase
    own = settings is not None and settings.authority in {None, configured.table}
    if before is None or settings is None or not own or settings.progressive != _name(before):
        if before is not None and phase is BooksPhase.OPEN:
            raise RefusedError(
                "in_service",
                f"the progressive {_name(before)} is in service and has money on its meter: start with the previous "
                "configuration, retire this progressive, and then start with the new configuration",
            )
        if before is not None and phase is BooksPhase.RETIRED:
            turn.change(retired_progressives=(*turn.state.retired_progressives, _name(before)))
        if settings is not None and settings.progressive in turn.state.retired_progressives:
            raise RefusedError(
                "retired",
                f"the progressive {settings.progressive} is retired for good: give the next progressive another id",
            )
        turn.change(progressive=_anew(turn.state, configured))
    elif phase is BooksPhase.NEW:
        turn.change(progressive=_anew(turn.state, configured))
    elif phase is BooksPhase.OPEN and settings != before.books.settings:
        carry_out(
            turn, ChangeSettings(settings, "the configuration was changed", "configuration", "its file")
        )
        fresh = _anew(turn.state, configured)
        if fresh is not None and settings.procedure != before.procedure.kind:
            turn.change(progressive=replace(of(turn), procedure=fresh.procedure))


def lose_authority(turn: Turn, reason: str) -> None:
    """Know nothing of the authority of a linked table's meter, until the table hears it again."""
    known = turn.state.progressive
    if known is not None and known.link is not None:
        turn.change(progressive=replace(known, link=replace(known.link, online=False, reason=reason)))


def _start_linked(turn: Turn, before: TablesProgressive, configured: TableSettings) -> None:
    """Keep the link to the authority if it is configured as before; its settings are the authority's."""
    fresh, was = _anew(turn.state, configured), before.books.settings
    now = None if fresh is None or fresh.link is None else fresh.books.settings
    if now is not None and now.authority == was.authority and fixed(now) == fixed(was):
        return
    if before.procedure.step is not BETTING or (before.link is not None and before.link.asked is not None):
        raise RefusedError(
            "in_game",
            f"the game of {_name(before)} is not over: start with the previous configuration, end the game, and then start "
            "with the new configuration",
        )
    turn.change(progressive=fresh)


def _anew(state: TableState, configured: TableSettings) -> TablesProgressive | None:
    """Another progressive, or another procedure: wagers on the sensors were placed for the previous one."""
    fresh = new(configured)
    if fresh is None or state.progressive is None or state.devices.sensors is None:
        return fresh
    before = state.progressive.procedure.hand
    hand = fresh.procedure.hand.replace(spent=tuple(sorted({*before.spent, *before.sensors})))
    return replace(fresh, procedure=fresh.procedure.replace(hand=hand))


def refuse_wager(state: TableState, wager: str) -> None:
    """Refuse a progressive wager that does not come from a sensor; raises RefusedError."""
    if state.progressive is not None and state.progressive.books.settings.wager.name == wager:
        raise RefusedError(
            "on_the_sensor",
            f"{wager} cannot be requested here: place this wager on the seat's sensor",
        )


def refuse_change_of_base(state: TableState, seat: int, after: Sequence[PlacedWager]) -> None:
    """Refuse to remove or change a base wager that a progressive wager in the game needs.

    A void hand returns the base wagers but leaves the progressive wager in its game: the seat may then place
    any.

    Raises:
        WagerRefusedError: the progressive wager could not stand afterwards.
    """
    progressive = state.progressive
    if progressive is None or not _is_played(state) or seat not in progressive.procedure.hand.wagers:
        return
    before = [each for each in state.round.wagers if each.seat == seat]
    if _refusal(state, progressive, seat, before) is None:
        refusal = _refusal(state, progressive, seat, after)
        if refusal is not None:
            raise refusal


def refuse_before_award(state: TableState) -> None:
    """Refuse an order for the next hand (award_open) while the award of the last game is not complete."""
    if state.award_waits:
        raise RefusedError("award_open", what_waits(state))


def what_waits(state: TableState) -> str:
    """The award that the next hand waits for, and the steps that complete it, as text."""
    progressive = state.progressive
    won = None if progressive is None else progressive.open_award
    if progressive is None or won is None:
        return "no award is open"
    procedure, settings = progressive.procedure, progressive.books.settings
    pays = next((rule.pays for rule in settings.wager.rules if rule.name == won.rule), won.rule)
    seats = f"seat {' and '.join(map(str, won.seats))}"
    what = f"the award of {seats} ({pays}) is not complete"
    if not won.certain and procedure.step.value == "settling":
        what = f"{seats} can have won {pays}"
    return (
        f"the next hand waits, because {what}: {_completes(procedure, certain=won.certain)}. Or have a supervisor resume play "
        "without the award"
    )


def _completes(procedure: aquarius.State | nexus.State, *, certain: bool) -> str:
    keyed = procedure.kind == "aquarius"
    match procedure.step.value:
        case "settling":
            confirm = (
                "turn the key to JPH, press J-POT and turn the key to RUN"
                if keyed
                else "press CONFIRM, and swipe a card or sign"
            )
            buttons = f"press the hand buttons, then {confirm}"
            return buttons if certain else f"confirm NOBODY WON, or {buttons}"
        case "confirmed":
            return "swipe a card, or sign"
        case _:
            return "turn the key to RUN"


def play_on(turn: Turn) -> None:
    """Let the next hand begin before the award is complete."""
    progressive = of(turn)
    turn.change(progressive=replace(progressive, played_on=progressive.open_award))


def settle_coup(state: TableState, coup: Coup, wagers: Sequence[PlacedWager]) -> tuple[Settlement, ...]:
    """Settle a coup's wagers.

    A win of the progressive is settled as an award, whose amount is fixed when it is locked.
    """
    settlements = settle(state.settings.game, coup, wagers)
    if state.progressive is None:
        return settlements
    settings = state.progressive.books.settings
    return tuple(
        as_award(state.settings.game, each)
        if each.wager == settings.wager.name and settings.tier(each.rule) is not None
        else each
        for each in settlements
    )


def settle_again(
    state: TableState, coup: Coup, before: Sequence[Settlement], wagers: Sequence[PlacedWager]
) -> tuple[Settlement, ...]:
    """Settle a round by other cards.

    The progressive wager keeps its previous rules, although settings may have changed.
    """
    after = settle_coup(state, coup, wagers)
    if state.progressive is None:
        return after
    meters = state.progressive.books.settings.wager.name
    return tuple(
        was if (was.wager, was.rule) == (meters, now.rule) else now
        for was, now in zip(before, after, strict=True)
    )


def wagers_on_the_meter(state: TableState) -> tuple[PlacedWager, ...]:
    """The progressive wagers of the hand being dealt, if the seats' base wagers are on record too."""
    progressive = state.progressive
    if progressive is None or not _is_played(state):
        return ()
    settings, hand = progressive.books.settings, progressive.procedure.hand
    if settings.base_wagers == "unseen":
        return ()
    return tuple(PlacedWager(seat, settings.wager.name, hand.stake) for seat in hand.wagers)


def wagers_are_in_play(state: TableState) -> bool:
    """Return True from START GAME to the end of the hand, if the progressive's game has wagers."""
    progressive = state.progressive
    return progressive is not None and _is_played(state) and bool(progressive.procedure.hand.wagers)


def hand_decided(turn: Turn, coup: Coup, round_: int, base: Iterable[PlacedWager]) -> None:
    """Report a hand's award to the procedure, if its game was started; `base` are the seats' other wagers."""
    progressive = turn.state.progressive
    if progressive is None or not _is_played(turn.state):
        return
    turn.change(progressive=replace(progressive, decided=round_, played_on=None))
    pass_on(turn, decision(turn.state.settings.game, progressive, coup, base))


def unstarted(state: TableState) -> tuple[int, ...]:
    """The seats whose sensors are lit although their wagers are in no game, because START GAME was not given.

    "Once all players place their bets, the dealer will press START GAME", and then deals (sheet 000, dealing procedures 2
    and 3).
    """
    progressive = state.progressive
    if progressive is None or progressive.game is not None:
        return ()
    return progressive.procedure.hand.sensors


def hand_begins(turn: Turn) -> None:
    """Raise an alarm if a hand begins while there are wagers on the sensors that are in no game, or not in this hand's.

    Play goes on, because the base wagers of the hand stand. While START GAME is refused because the sensors or the authority
    of the meter do not answer, the table says so already, and the wagers may be left for a later game.
    """
    state = turn.state
    seats = () if state.round.dummy else unstarted(state)
    link = None if state.progressive is None else state.progressive.link
    asked = None if link is None or link.asked is None else link.asked.event
    if state.progressive is not None and isinstance(asked, game_events.StartGame) and not state.round.dummy:
        later = asked.seats or state.progressive.procedure.hand.sensors
        if later:
            turn.alarm(
                "start_not_answered",
                f"the hand of round {state.round.number} began before {state.progressive.books.settings.authority} had answered "
                f"START GAME, so the progressive wagers ({named(later)}) win nothing with this hand: they are played with the next "
                "one. Tell the players",
            )
    away = any(each is not None and not each.online for each in (link, state.devices.sensors))
    if seats and not away:
        turn.alarm(
            "game_not_started",
            f"the hand of round {state.round.number} began without START GAME, so the lit progressive wagers ({named(seats)}) are "
            "in no game and win nothing: return them, or leave them for the next game",
        )


def named(seats: Sequence[int]) -> str:
    """Seats in words: `seat 2`, or `seats 2, 5 and 6`."""
    *most, last = map(str, seats)
    return f"seats {', '.join(most)} and {last}" if most else f"seat {last}"


def hand_corrected(turn: Turn, coup: Coup | None, round_: int, base: Iterable[PlacedWager]) -> None:
    """Report to the procedure that its last hand was corrected, or voided if `coup` is None.

    Raises:
        RefusedError: an award of it is logged and the meter is not adjusted yet.
    """
    progressive = turn.state.progressive
    if progressive is None or progressive.decided != round_:
        return
    if progressive.procedure.step is PLAYING or progressive.books.phase is not BooksPhase.OPEN:
        turn.alarm(
            "progressive_not_corrected",
            f"round {round_} was corrected after the next game of the progressive had started, or after the meter was "
            "retired. So the table cannot confirm or take back an award of this round. If an award is due or was wrong, "
            "resolve it at the Game Manager",
        )
        return
    decided = game_events.HandDecided()
    if coup is not None:
        decided = decision(turn.state.settings.game, progressive, coup, base)
    pass_on(turn, decided)
    alarm_award_differs(turn)


# --- the wagers in a game


def _refusal(
    state: TableState, progressive: TablesProgressive, seat: int, base: Sequence[PlacedWager]
) -> WagerRefusedError | None:
    """The reason why a seat with these wagers cannot have a progressive wager; None if it can or they are not recorded.

    "To begin each round, players must make the standard Mini-Baccarat game wager. They may also place the
    optional Dragon Bonus wager and progressive wagers" (sheet 000, dealing procedure 1). Every other wager
    follows the same rule.
    """
    settings, game = progressive.books.settings, state.settings.game
    if settings.base_wagers == "unseen":
        return None
    try:
        wanted = PlacedWager(seat, settings.wager.name, progressive.procedure.hand.stake)
        check_wagers(game, [*base, wanted], state.settings.currency)
        if settings.one_side_only:
            check_one_side(game, settings.wager, base)
    except WagerRefusedError as refusal:
        return refusal
    return None


def _leave_out(
    turn: Turn, progressive: TablesProgressive, event: game_events.StartGame
) -> game_events.StartGame:
    """The start without the wagers that may not be in the game: their lamps go out, and they do not contribute."""
    clear_alarm(turn, LEFT_OUT)
    hand = progressive.procedure.hand
    refusals = {
        seat: refusal
        for seat in (hand.sensors if event.seats is None else event.seats)
        for base in [[each for each in turn.state.round.wagers if each.seat == seat]]
        if (refusal := _refusal(turn.state, progressive, seat, base)) is not None
    }
    for seat in refusals:
        pass_on(turn, game_events.WagerVoided(seat))
    if refusals:
        reasons = "; ".join(f"seat {seat}: {refusal}" for seat, refusal in refusals.items())
        turn.alarm(
            LEFT_OUT,
            f"return the progressive wagers that are not in the game of round {event.round}: {reasons}",
        )
    if event.seats is None:
        return event
    return replace(event, seats=tuple(seat for seat in event.seats if seat not in refusals))


# --- the game and the meter


def _take_back(turn: Turn, number: int) -> None:
    """Report to the procedure that its last game's award was backed out, while that hand can still be corrected."""
    progressive, last = of(turn), turn.state.history.last
    hand = progressive.procedure.hand
    of_the_game = any(
        award.id == number for award in progressive.books.awards_of(turn.state.settings.table, hand.round)
    )
    hand_over = progressive.procedure.step is not PLAYING
    if of_the_game and last is not None and progressive.decided == last.round and hand_over:
        pass_on(turn, game_events.AwardTakenBack())


def _name(progressive: TablesProgressive) -> str:
    return progressive.books.settings.progressive


def _is_played(state: TableState) -> bool:
    """Whether a game is started that the present hand, or else the next one, decides."""
    progressive = state.progressive
    number = state.round.number
    return progressive is not None and progressive.procedure.step is PLAYING and progressive.late != number


def _refuse_unknown(state: TableState, progressive: str) -> None:
    own = () if state.progressive is None else (_name(state.progressive),)
    known = (*state.retired_progressives, *own)
    if progressive not in known:
        raise RefusedError(
            "unknown_progressive",
            f"this table never had a progressive {progressive[:60]}: write {' or '.join(known)}"
            if known
            else "this table never had a progressive",
        )


def _refuse_seats(state: TableState, event: GameOrder | Sensed) -> None:
    named = (event.seats or ()) if isinstance(event, game_events.StartGame) else ()
    if isinstance(event, game_events.WagerPlaced):
        named = (event.seat,)
    for seat in named:
        if not 1 <= seat <= state.settings.seats:
            raise RefusedError(
                "no_such_seat", f"there is no seat {seat}: seats are 1 to {state.settings.seats}"
            )


def _refuse_start(state: TableState, progressive: TablesProgressive, event: game_events.StartGame) -> None:
    refuse_away(progressive)  # first, because the table does not know the meter of such an authority
    if progressive.books.phase is not BooksPhase.OPEN:
        raise RefusedError(
            "not_open", f"the progressive {_name(progressive)} is not in service: open its meter first"
        )
    refuse_second(progressive)
    if event.round != state.round.number:
        raise RefusedError(
            "wrong_round",
            f"the order starts the game of round {event.round}, but the table is at round {state.round.number}",
        )
    refuse_behind_the_cards(state)
    begun = state.waiting.card is not None or (state.round.coup is not None and bool(state.round.coup.cards))
    if state.phase is Phase.DEALING and begun and not _is_played(state):
        raise RefusedError(
            "hand_has_begun",
            "a card of this hand has already been dealt, so the progressive wagers are too late: return them, or leave "
            "them for the next hand",
        )
