"""What the shoe says of itself: its link, its identity, its lid. None of it is ever refused; all of it is kept."""

from typing import Final

from controller.table.dealing import AT_PLAY, open_betting, take
from controller.table.effects import CutCardReached, ShoeLinkChanged
from controller.table.events import (
    CardDrawn,
    CardOverdrawn,
    CardUnread,
    CutCardSeen,
    LidMoved,
    LinkNoise,
    RecordsLost,
    ReverseMovement,
    ShoeEvent,
    ShoeFault,
    ShoeHello,
    ShoeLost,
    ShoeRecord,
)
from controller.table.state import Phase, Stop, TableState
from controller.table.turn import Turn

OFFERED: Final = "shoe_not_accepted"
"""The code of the stop that ends with `AcceptShoe`."""


def on_shoe_event(turn: Turn, event: ShoeEvent) -> None:
    """Handle any event of the shoe."""
    match event:
        case ShoeHello():
            _on_hello(turn, event)
        case ShoeLost(reason=reason):
            _on_lost(turn, reason)
        case RecordsLost(first=first, last=last):
            _on_records_lost(turn, first, last)
        case LinkNoise(frames=frames, seconds=seconds):
            turn.alarm(
                "link_noise",
                f"{frames} broken frames in {seconds} s on the shoe's line: check cable, connector and baud rate",
            )
        case _:
            _on_record(turn, event)


# --- who is there


def _on_hello(turn: Turn, hello: ShoeHello) -> None:
    objection = objection_to(turn.state, hello)
    if objection is not None:
        turn.change_link(online=True, reason=objection, offered=hello)
        if not any(stop.code == OFFERED for stop in turn.state.stops):
            turn.stop(
                Stop(code=OFFERED, text=f"{objection}: a supervisor must accept the shoe {hello.serial}")
            )
        return
    link = turn.state.link
    if (link.serial, link.log) != (hello.serial, hello.log) or hello.next_record < link.expected:
        accept(turn, hello)
    if hello.decks != turn.state.settings.game.decks:
        turn.alarm(
            "decks_differ",
            f"the shoe says {hello.decks} decks and the game has {turn.state.settings.game.decks}",
        )
    turn.change_link(
        online=True,
        reason="connected",
        components=hello.components,
        offered=None,
    )
    turn.change(stops=tuple(stop for stop in turn.state.stops if stop.code != OFFERED))
    turn.say(ShoeLinkChanged(online=True, reason=f"shoe {hello.serial} connected"))


def objection_to(state: TableState, hello: ShoeHello) -> str | None:
    """Why a shoe may not simply be used, None if it may."""
    wanted = state.settings.shoe_serial
    known = state.link
    if wanted is not None and hello.serial not in {wanted, known.serial}:
        return f"the shoe is {hello.serial} and the configuration names {wanted}"
    in_play = state.phase in AT_PLAY or bool(state.drawn)
    if known.serial is None or not in_play:
        return None
    if hello.serial != known.serial:
        return f"the shoe is {hello.serial} and this shoe of cards was begun with {known.serial}"
    if hello.log != known.log or hello.next_record < known.expected:
        return f"the shoe {hello.serial} has lost its memory of this shoe of cards"
    return None


def accept(turn: Turn, hello: ShoeHello) -> None:
    """Take a shoe's records from the first that it keeps."""
    turn.change_link(
        serial=hello.serial,
        log=hello.log,
        expected=hello.first_kept,
        components=hello.components,
        offered=None,
    )


def _on_lost(turn: Turn, reason: str) -> None:
    turn.change_link(online=False, reason=reason)
    turn.say(ShoeLinkChanged(online=False, reason=reason))


def _on_records_lost(turn: Turn, first: int, last: int) -> None:
    link = turn.state.link
    if last < link.expected or any(stop.resume_at == last + 1 for stop in turn.state.stops):
        return
    turn.stop(
        Stop(
            code="records_lost",
            text=(
                f"the shoe no longer has its records {first} to {last}, which never arrived: a supervisor must see "
                "which cards are on the table, void the coup if they do not agree, and resume play"
            ),
            resume_at=last + 1,
        )
    )


# --- its records


def _on_record(turn: Turn, event: ShoeRecord) -> None:
    expected = turn.state.link.expected
    if event.record < expected:
        return  # re-sent: the same record was handled before
    if event.record > expected:
        turn.alarm(
            "record_gap", f"record {event.record} came where {expected} was expected; it was not taken"
        )
        return
    turn.change_link(expected=expected + 1)
    match event:
        case CardDrawn() | CardUnread() | CardOverdrawn():
            take(turn, event)
        case CutCardSeen():
            _on_cut_card(turn)
        case LidMoved(open=is_open):
            _on_lid(turn, is_open=is_open)
        case ReverseMovement():
            _on_trouble(turn, "reverse_movement", "a card was pushed back into the shoe")
        case ShoeFault(code=code, text=text):
            _on_trouble(turn, "shoe_fault", f"the shoe reports error {code}: {text}")


def _on_cut_card(turn: Turn) -> None:
    state = turn.state
    if state.phase not in AT_PLAY:
        turn.alarm("cut_card_outside_play", f"the cut card came while the table is in {state.phase.value}")
        return
    if state.last_coup is not None:
        return
    if state.coup is None:
        last = state.coups + 1  # in place of a hand's first card: that hand is the last
    elif state.coup.cards and not state.coup.over:
        last = state.coups + state.settings.coups_after_cut_card
    else:
        last = state.coups if not state.coup.cards else state.coups + 1
    turn.change(last_coup=last)
    turn.say(CutCardReached(last))


def _on_lid(turn: Turn, *, is_open: bool) -> None:
    turn.change_link(lid_open=is_open)
    if is_open:
        _on_trouble(turn, "lid_open", "the shoe's lid was opened")
    elif (
        turn.state.phase is Phase.SHOE_CHANGE
        and turn.state.settings.burn == "none"
        and not turn.state.waiting
    ):
        open_betting(turn)


def _on_trouble(turn: Turn, code: str, text: str) -> None:
    """Stop play where a shoe is in play; elsewhere the lid, a card and an error harm nobody's coup."""
    if turn.state.phase in AT_PLAY and not turn.state.shoe_over:
        turn.stop(Stop(code=code, text=f"{text} in play: a supervisor must see to it and resume play"))
    elif code != "lid_open":
        turn.alarm(code, text)
