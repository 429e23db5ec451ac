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

from controller.baccarat.coup import Coup, Side, Winner
from controller.progressive import aquarius, nexus
from controller.progressive.aquarius import Aquarius
from controller.progressive.effects import AwardBackedOut, AwardBooked, AwardLocked, WinPagePrinted
from controller.progressive.events import BackOut, ChangeSettings, CountCoins, PrintWinPage
from controller.progressive.events import Event as BooksEvent
from controller.progressive.nexus import Nexus
from controller.progressive.orders import counted
from controller.progressive.procedure import AwardTakenBack, HandDecided, StartGame, WagerPlaced
from controller.progressive.progressive import Progressive
from controller.progressive.settings import Settings
from controller.progressive.state import Phase as BooksPhase
from controller.table.effects import AwardChanged, MeterMoved
from controller.table.events import GameOrder, Sensed
from controller.table.sensors import refuse_unlatched
from controller.table.settings import Settings as TableSettings
from controller.table.state import Phase, TablesProgressive, TableState
from controller.table.turn import RefusedError, Turn
from controller.wagers.definition import Game, Rule
from controller.wagers.settlement import Outcome, PlacedWager, Settlement, settle

_Internal = HandDecided | AwardTakenBack
"""What the table tells the procedure, and nobody else."""

_OfAnAward = AwardLocked | AwardBooked | AwardBackedOut
"""The entries that make an award known."""

_STEPS_IN_PLAY: Final = frozenset({aquarius.PLAYING, nexus.PLAYING})


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
    if isinstance(event, StartGame):
        _refuse_start(turn.state, progressive, event)
    _tell(turn, event)
    if isinstance(event, StartGame):
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


def settle_coup(state: TableState, coup: Coup, wagers: Sequence[PlacedWager]) -> tuple[Settlement, ...]:
    """Settle a coup's wagers. What the meter pays is settled as an award, whose amount is fixed when it is locked."""
    settlements = settle(state.settings.game, coup, wagers)
    if state.progressive is None:
        return settlements
    settings = state.progressive.books.settings
    return tuple(
        replace(each, outcome=Outcome.AWARD, returned=stays, net=stays - each.stake, remainder="0")
        if each.wager == settings.wager.name and settings.tier(each.rule) is not None
        else each
        for each in settlements
        for stays in [each.stake if settings.wager_stays else 0]
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


def hand_decided(turn: Turn, coup: Coup, round_: int, base: Iterable[PlacedWager]) -> None:
    """Tell the procedure what a hand won of the meter, if its game was started; `base` are the seats' other wagers."""
    progressive = turn.state.progressive
    if progressive is None or not _is_played(progressive):
        return
    turn.change(progressive=replace(progressive, decided=round_))
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


# --- both or neither


def _tell(turn: Turn, event: GameOrder | Sensed | _Internal) -> None:
    """Let the procedure take an event, and the progressive what it asks for."""
    progressive = _of(turn)
    after, orders = _handled(progressive.procedure, event)
    turn.change(progressive=TablesProgressive(progressive.books, after, progressive.decided))
    for order in orders:
        _order(turn, order)


def _handled(
    procedure: aquarius.State | nexus.State, event: GameOrder | Sensed | _Internal
) -> tuple[aquarius.State | nexus.State, Sequence[BooksEvent]]:
    if procedure.kind == "aquarius":
        keypad = Aquarius(procedure)
        if keypad.knows(event):
            orders: Sequence[BooksEvent] = keypad.handle(event)
            return keypad.state, orders
    else:
        display = Nexus(procedure)
        if display.knows(event):
            orders = display.handle(event)
            return display.state, orders
    raise RefusedError(
        "other_procedure",
        f"this table's progressive is played by {procedure.kind.title()}, which has nothing of the kind",
    )


def _order(turn: Turn, event: BooksEvent) -> None:
    progressive = _of(turn)
    books = Progressive(progressive.books)
    entries = books.handle(event)
    turn.change(progressive=TablesProgressive(books.state, progressive.procedure, progressive.decided))
    for entry in entries:
        turn.move_meter(MeterMoved(entry))
        if isinstance(entry, _OfAnAward):
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
    return progressive.procedure.step in _STEPS_IN_PLAY


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
    """What the hand won of the meter, and who. One hand wins, so all who win, win the same tier."""
    settings, seats = progressive.books.settings, progressive.procedure.hand.wagers
    side = None if coup.winner is Winner.TIE else Side(coup.winner.value)
    if settings.base_wagers == "unseen":
        rule = settings.wager.deciding_rule(coup)
        tier = None if rule is None else settings.tier(rule.name)
        return HandDecided(tier.name, seats, False, side) if tier is not None else HandDecided()
    won = _won_by(settings, game, coup, seats, base)
    if not won:
        return HandDecided()
    return HandDecided(next(iter(won.values())).name, tuple(won), side=side)


def _won_by(
    settings: Settings, game: Game, coup: Coup, seats: Sequence[int], base: Iterable[PlacedWager]
) -> Mapping[int, Rule]:
    """The tier of the meter that each of these seats wins, which have a progressive wager, by its base wagers."""
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
