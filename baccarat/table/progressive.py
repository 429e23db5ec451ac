"""What a table and its progressive have to do with each other.

The procedure at the table asks for what the progressive is to do, and the cards tell the procedure who won. Both are
carried out or neither: what one refuses, the other has not done.

A game, from START GAME to GAME OVER, has the number of the round that was coming when it was started. It is played with
the next hand that is dealt to its end: a hand that is void or carries no wagers leaves it started, for the wagers of its
players are on the meter and cannot be taken off it (sheet 000 lists what a meter goes down for).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup, Side, Winner
from punto.baccarat.progressive import aquarius, nexus
from punto.baccarat.progressive.aquarius import Aquarius
from punto.baccarat.progressive.effects import AwardBackedOut, AwardBooked, AwardLocked, WinPagePrinted
from punto.baccarat.progressive.events import BackOut, ChangeSettings, CountCoins, PrintWinPage
from punto.baccarat.progressive.events import Event as BooksEvent
from punto.baccarat.progressive.nexus import Nexus
from punto.baccarat.progressive.orders import counted
from punto.baccarat.progressive.procedure import (
    PLAYING,
    AwardTakenBack,
    HandDecided,
    StartGame,
    WagerPlaced,
    WagerVoided,
)
from punto.baccarat.progressive.progressive import Progressive
from punto.baccarat.progressive.settings import Settings
from punto.baccarat.progressive.state import Phase as BooksPhase
from punto.baccarat.table.effects import AwardChanged, MeterMoved
from punto.baccarat.table.events import GameOrder, Sensed
from punto.baccarat.table.sensors import clear_alarm, refuse_unlatched
from punto.baccarat.table.settings import Settings as TableSettings
from punto.baccarat.table.state import Phase, TablesProgressive, TableState
from punto.baccarat.table.turn import RefusedError, Turn
from punto.baccarat.wagers.definition import Game, Rule
from punto.baccarat.wagers.settlement import (
    PlacedWager,
    Settlement,
    WagerRefusedError,
    as_award,
    check_one_side,
    check_wagers,
    settle,
)

_Internal = HandDecided | AwardTakenBack
"""What the table tells the procedure, and nobody else."""

_OfAnAward = AwardLocked | AwardBooked | AwardBackedOut
"""The entries that make an award known."""

LEFT_OUT: Final = "progressive_wager_left_out"
"""The code of the alarm that says which seats' wagers on the meter are in no game; the next start ends it."""


def new(settings: TableSettings) -> TablesProgressive | None:
    """A table's progressive before it is in service, None where the table has none."""
    of_meter = settings.progressive
    if of_meter is None:
        return None
    kind = Aquarius if of_meter.procedure == "aquarius" else Nexus
    procedure = kind.new(settings.table, of_meter.wager.limits.minimum).state
    return TablesProgressive(Progressive.new(of_meter).state, procedure)


def play(turn: Turn, event: GameOrder | Sensed) -> None:
    """Something happens at the table: on a sensor, at a key, on a card reader.

    Raises:
        RefusedError: it cannot be now.
    """
    progressive = _of(turn)
    _refuse_seats(turn.state, event)
    if not isinstance(event, StartGame):
        _tell(turn, event)
        return
    _refuse_start(turn.state, progressive, event)
    _tell(turn, _leave_out(turn, progressive, event))
    refuse_unlatched(turn.state, event)


def keep_books(turn: Turn, event: BooksEvent) -> None:
    """Somebody orders something of the meter.

    Raises:
        RefusedError: it cannot be now.
    """
    if isinstance(event, CountCoins) and event.progressive is not None:
        _refuse_unknown(turn.state, event.progressive)
        if event.progressive in turn.state.retired_progressives:
            # What was taken on its last day may be counted when the next one is at the table.
            turn.move_meter(MeterMoved(counted(event), event.progressive))
            return
    _order(turn, event)
    if isinstance(event, BackOut):
        _take_back(turn, event.award)


def print_win_page(turn: Turn, event: PrintWinPage) -> None:
    """Note that an award's win page is printed."""
    printed = WinPagePrinted(event.award, event.who, event.original)
    turn.move_meter(MeterMoved(printed, event.progressive))


def start(turn: Turn, configured: TableSettings) -> None:
    """Take up the progressive that the configuration names, which may be another one or have other settings.

    Raises:
        RefusedError: the one before is in service, or a round or an award is open.
    """
    before, settings = turn.state.progressive, configured.progressive
    phase = BooksPhase.NEW if before is None else before.books.phase
    if before is None or settings is None or settings.progressive != _name(before):
        if before is not None and phase is BooksPhase.OPEN:
            raise RefusedError(
                "in_service",
                f"the progressive {_name(before)} is in service and holds money: start with its configuration, retire it, "
                "and then start with this one",
            )
        if before is not None and phase is BooksPhase.RETIRED:
            turn.change(retired_progressives=(*turn.state.retired_progressives, _name(before)))
        if settings is not None and settings.progressive in turn.state.retired_progressives:
            raise RefusedError(
                "retired",
                f"the progressive {settings.progressive} is retired for good: give the next one another id",
            )
        turn.change(progressive=_anew(turn.state, configured))
    elif phase is BooksPhase.NEW:
        turn.change(progressive=_anew(turn.state, configured))
    elif phase is BooksPhase.OPEN and settings != before.books.settings:
        _order(turn, ChangeSettings(settings, "the configuration was changed", "configuration", "its file"))
        fresh = _anew(turn.state, configured)
        if fresh is not None and settings.procedure != before.procedure.kind:
            turn.change(progressive=replace(_of(turn), procedure=fresh.procedure))


def _anew(state: TableState, configured: TableSettings) -> TablesProgressive | None:
    """Another progressive, or another procedure: what lies on the sensors was laid for the one before."""
    fresh = new(configured)
    if fresh is None or state.progressive is None or state.sensors is None:
        return fresh
    before = state.progressive.procedure.hand
    hand = fresh.procedure.hand.but(spent=tuple(sorted({*before.spent, *before.sensors})))
    return replace(fresh, procedure=fresh.procedure.but(hand=hand))


def refuse_wager(state: TableState, wager: str) -> None:
    """Refuse a wager on the meter that does not come from a sensor.

    Raises:
        RefusedError: it is the meter's.
    """
    if state.progressive is not None and state.progressive.books.settings.wager.name == wager:
        raise RefusedError("on_the_sensor", f"{wager} is made on the sensor before the seat, not here")


def refuse_change_of_base(state: TableState, seat: int, after: Sequence[PlacedWager]) -> None:
    """Refuse that a base wager is taken from under a progressive wager that is in the game, or changed so that it could not be.

    A hand that is void gives the base wagers back and leaves the progressive wager in its game: any of the seat may come then.

    Raises:
        WagerRefusedError: it would be.
    """
    progressive = state.progressive
    if progressive is None or not _is_played(progressive) or seat not in progressive.procedure.hand.wagers:
        return
    before = [each for each in state.wagers if each.seat == seat]
    if _refusal(state, progressive, seat, before) is None:
        refusal = _refusal(state, progressive, seat, after)
        if refusal is not None:
            raise refusal


def refuse_before_award(state: TableState) -> None:
    """Refuse what belongs to the next hand while the award of the last game is not complete.

    Raises:
        RefusedError: award_open.
    """
    if state.award_waits:
        raise RefusedError("award_open", what_waits(state))


def what_waits(state: TableState) -> str:
    """Which award the next hand waits for, and what completes it."""
    progressive = state.progressive
    won = None if progressive is None else progressive.open_award
    if progressive is None or won is None:
        return "no award is open"
    procedure, settings = progressive.procedure, progressive.books.settings
    pays = next((rule.pays for rule in settings.wager.rules if rule.name == won.rule), won.rule)
    seats = f"seat {' and '.join(map(str, won.seats))}"
    what = f"the award of {seats}, {pays}, is not complete"
    if not won.certain and procedure.step.value == "settling":
        what = f"{seats} can have won {pays}"
    return f"the next hand waits: {what}: {_completes(procedure, certain=won.certain)}; or a supervisor resumes play without it"


def _completes(procedure: aquarius.State | nexus.State, *, certain: bool) -> str:
    keyed = procedure.kind == "aquarius"
    match procedure.step.value:
        case "settling":
            confirm = (
                "the key to JPH, J-POT and the key to RUN" if keyed else "CONFIRM and a card or a signature"
            )
            return f"hand buttons, then {confirm}" + ("" if certain else "; or NOBODY WON")
        case "confirmed":
            return "swipe a card, or sign"
        case _:
            return "turn the key to RUN"


def play_on(turn: Turn) -> None:
    """Let the next hand begin before the award is complete."""
    progressive = _of(turn)
    turn.change(progressive=replace(progressive, played_on=progressive.open_award))


def settle_coup(state: TableState, coup: Coup, wagers: Sequence[PlacedWager]) -> tuple[Settlement, ...]:
    """Settle a coup's wagers. What the progressive pays is settled as an award, whose amount is fixed when it is locked."""
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
    """Settle a round by other cards. What the meter's wager was decided by before it is again, though settings have changed."""
    after = settle_coup(state, coup, wagers)
    if state.progressive is None:
        return after
    meters = state.progressive.books.settings.wager.name
    return tuple(
        was if (was.wager, was.rule) == (meters, now.rule) else now
        for was, now in zip(before, after, strict=True)
    )


def wagers_on_the_meter(state: TableState) -> tuple[PlacedWager, ...]:
    """The progressive wagers of the hand that is being dealt, where the seats' base wagers are on the record beside them."""
    progressive = state.progressive
    if progressive is None or not _is_played(progressive):
        return ()
    settings, hand = progressive.books.settings, progressive.procedure.hand
    if settings.base_wagers == "unseen":
        return ()
    return tuple(PlacedWager(seat, settings.wager.name, hand.stake) for seat in hand.wagers)


def wagers_are_in_play(state: TableState) -> bool:
    """Whether a game of the progressive with wagers in it is started whose hand has not been dealt to its end."""
    progressive = state.progressive
    return progressive is not None and _is_played(progressive) and bool(progressive.procedure.hand.wagers)


def awards_in_reach(state: TableState, coup: Coup) -> frozenset[tuple[str, Winner]]:
    """What the seats with a progressive wager win of the meter by a coup, or would by its next card: tier and winning hand.

    Where more cards are to come, those decide and not what lies there.
    """
    progressive = state.progressive
    if progressive is None or not wagers_are_in_play(state):
        return frozenset()
    settings, seats = progressive.books.settings, progressive.procedure.hand.wagers
    wager = settings.wager
    if settings.base_wagers == "recorded":
        wager = wager.beside(
            state.settings.game.sides_of(each.wager for each in state.wagers if each.seat in seats)
        )
    ends = [coup] if coup.over else [each for card in Card if (each := coup.with_card(card)).over]
    decided = [(end, wager.deciding_rule(end)) for end in ends]
    return frozenset(
        (rule.name, end.winner)
        for end, rule in decided
        if rule is not None and settings.of_the_meter(rule.name)
    )


def hand_decided(turn: Turn, coup: Coup, round_: int, base: Iterable[PlacedWager]) -> None:
    """Tell the procedure what a hand won, if its game was started; `base` are the seats' other wagers."""
    progressive = turn.state.progressive
    if progressive is None or not _is_played(progressive):
        return
    turn.change(progressive=replace(progressive, decided=round_, played_on=None))
    _tell(turn, _decision(turn.state.settings.game, progressive, coup, base))


def hand_corrected(turn: Turn, coup: Coup | None, round_: int, base: Iterable[PlacedWager]) -> None:
    """Tell the procedure that its last hand was another one, or was none, where `coup` is None.

    Raises:
        RefusedError: an award of it is logged and the meter not adjusted yet.
    """
    progressive = turn.state.progressive
    if progressive is None or progressive.decided != round_:
        return
    if _is_played(progressive) or progressive.books.phase is not BooksPhase.OPEN:
        turn.alarm(
            "progressive_not_corrected",
            f"round {round_} was corrected after the next game of the progressive was started, or the meter retired, so no "
            "award of it can be confirmed or taken back at the table: if one is due or was wrong, see to it at the Game Manager",
        )
        return
    decided = HandDecided()
    if coup is not None:
        decided = _decision(turn.state.settings.game, progressive, coup, base)
    _tell(turn, decided)
    hand = _of(turn).procedure.hand
    if hand.astray:
        turn.alarm(
            "award_astray",
            f"an award of round {hand.round} is booked, and by its corrected cards it is none, another or another seat's: "
            "have it backed out at the Game Manager, and then confirm what is due",
        )


# --- which wagers are in a game


def _refusal(
    state: TableState, progressive: TablesProgressive, seat: int, base: Sequence[PlacedWager]
) -> WagerRefusedError | None:
    """Why a seat with these wagers has none on the meter, None where it may or where nobody recorded them.

    "To begin each round, players must make the standard Mini-Baccarat game wager. They may also place the optional Dragon
    Bonus wager and progressive wagers" (sheet 000, dealing procedure 1). It is the rule of every other wager too.
    """
    settings, game = progressive.books.settings, state.settings.game
    if settings.base_wagers == "unseen":
        return None
    try:
        check_wagers(game, [*base, PlacedWager(seat, settings.wager.name, progressive.procedure.hand.stake)])
        if settings.one_side_only:
            check_one_side(game, settings.wager, base)
    except WagerRefusedError as refusal:
        return refusal
    return None


def _leave_out(turn: Turn, progressive: TablesProgressive, event: StartGame) -> StartGame:
    """The start without the wagers that may not be in the game: they go dark, nothing is contributed for them."""
    clear_alarm(turn, LEFT_OUT)
    hand = progressive.procedure.hand
    refusals = {
        seat: refusal
        for seat in (hand.sensors if event.seats is None else event.seats)
        for base in [[each for each in turn.state.wagers if each.seat == seat]]
        if (refusal := _refusal(turn.state, progressive, seat, base)) is not None
    }
    for seat in refusals:
        _tell(turn, WagerVoided(seat))
    if refusals:
        reasons = "; ".join(f"seat {seat}: {refusal}" for seat, refusal in refusals.items())
        turn.alarm(
            LEFT_OUT,
            f"progressive wagers are not in the game of round {event.round}, give them back: {reasons}",
        )
    if event.seats is None:
        return event
    return replace(event, seats=tuple(seat for seat in event.seats if seat not in refusals))


# --- both or neither


def _tell(turn: Turn, event: GameOrder | Sensed | _Internal) -> None:
    """Let the procedure take an event, and the progressive what it asks for."""
    progressive = _of(turn)
    after, orders = _handled(progressive.procedure, event)
    turn.change(progressive=replace(progressive, procedure=after))
    for order in orders:
        _order(turn, order)


def _handled(
    procedure: aquarius.State | nexus.State, event: GameOrder | Sensed | _Internal
) -> tuple[aquarius.State | nexus.State, Sequence[BooksEvent]]:
    machine = Aquarius(procedure) if procedure.kind == "aquarius" else Nexus(procedure)
    if machine.knows(event):
        orders = machine.handle(event)
        return machine.state, orders
    raise RefusedError(
        "other_procedure",
        f"this table's progressive is played by {procedure.kind.title()}, which has nothing of the kind",
    )


def _order(turn: Turn, event: BooksEvent) -> None:
    progressive = _of(turn)
    books = Progressive(progressive.books)
    entries = books.handle(event)
    turn.change(progressive=replace(progressive, books=books.state))
    for entry in entries:
        turn.move_meter(MeterMoved(entry))
        # The tray's awards are announced to nobody: displays would take them for awards of the meter.
        if isinstance(entry, _OfAnAward) and entry.award.payer == "meter":
            award = entry.award
            turn.say(AwardChanged(award.id, award.rule, award.amount, award.round, award.seats, award.state))


def _take_back(turn: Turn, number: int) -> None:
    """Tell the procedure that its last game's award was backed out, while that game's hand can still be corrected."""
    progressive, last = _of(turn), turn.state.last
    hand = progressive.procedure.hand
    of_the_game = any(
        (award.id, award.table, award.round) == (number, turn.state.settings.table, hand.round)
        for award in progressive.books.awards
    )
    if of_the_game and last is not None and progressive.decided == last.round and not _is_played(progressive):
        _tell(turn, AwardTakenBack())


# --- small


def _of(turn: Turn) -> TablesProgressive:
    if turn.state.progressive is None:
        raise RefusedError("no_progressive", "this table has no progressive: configure one first")
    return turn.state.progressive


def _name(progressive: TablesProgressive) -> str:
    return progressive.books.settings.progressive


def _is_played(progressive: TablesProgressive) -> bool:
    """Whether a game is started whose hand has not been dealt to its end."""
    return progressive.procedure.step is PLAYING


def _refuse_unknown(state: TableState, progressive: str) -> None:
    own = () if state.progressive is None else (_name(state.progressive),)
    known = (*state.retired_progressives, *own)
    if progressive not in known:
        raise RefusedError(
            "unknown_progressive",
            f"this table has and had no progressive {progressive[:60]}: it is {' or '.join(known)}"
            if known
            else "this table has no progressive and had none",
        )


def _refuse_seats(state: TableState, event: GameOrder | Sensed) -> None:
    named = (event.seats or ()) if isinstance(event, StartGame) else ()
    if isinstance(event, WagerPlaced):
        named = (event.seat,)
    for seat in named:
        if not 1 <= seat <= state.settings.seats:
            raise RefusedError(
                "no_such_seat", f"there is no seat {seat}: seats are 1 to {state.settings.seats}"
            )


def _refuse_start(state: TableState, progressive: TablesProgressive, event: StartGame) -> None:
    if progressive.books.phase is not BooksPhase.OPEN:
        raise RefusedError(
            "not_open", f"the progressive {_name(progressive)} is not in service: open its meter first"
        )
    if event.round != state.round:
        raise RefusedError(
            "wrong_round", f"the game is for round {event.round} and the table is at {state.round}"
        )
    begun = state.doubt is not None or (state.coup is not None and bool(state.coup.cards))
    if state.phase is Phase.DEALING and begun and not _is_played(progressive):
        raise RefusedError(
            "hand_has_begun",
            "a card of this hand has been dealt: the progressive wagers that lie there are not in it, give them back or "
            "leave them for the next",
        )


def _decision(
    game: Game, progressive: TablesProgressive, coup: Coup, base: Iterable[PlacedWager]
) -> HandDecided:
    """What the hand won, and who. One hand wins, so all who win, win the same tier."""
    settings, seats = progressive.books.settings, progressive.procedure.hand.wagers
    certain = settings.base_wagers == "recorded"
    if certain:
        won = _won_by(settings, game, coup, seats, base)
        tier, seats = next(iter(won.values()), None), tuple(won)
    else:
        rule = settings.wager.deciding_rule(coup)
        tier = None if rule is None else settings.tier(rule.name)
    if tier is None:
        return HandDecided()
    side = None if coup.winner is Winner.TIE else Side(coup.winner.value)
    alone = settings.dealer_up_to(tier)
    return HandDecided(tier.name, seats, certain, side, alone, coup.player, coup.banker)


def _won_by(
    settings: Settings, game: Game, coup: Coup, seats: Sequence[int], base: Iterable[PlacedWager]
) -> Mapping[int, Rule]:
    """The tier that each of these seats wins, which have a progressive wager, by its base wagers."""
    names: dict[int, list[str]] = {seat: [] for seat in seats}
    for placed in base:
        if placed.seat in names:
            names[placed.seat].append(placed.wager)
    won = {}
    for seat, of_seat in names.items():
        rule = settings.wager.beside(game.sides_of(of_seat)).deciding_rule(coup)
        tier = None if rule is None else settings.tier(rule.name)
        if tier is not None:
            won[seat] = tier
    return won
