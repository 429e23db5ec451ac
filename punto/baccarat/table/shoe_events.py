"""Handles the shoe's reports: its identity, its link, its records, its lid. A report is never refused.

A report is a fact: the card has left the shoe, whether or not a hand needs a card. A refusal would not put it back. The
shoe also repeats a record until the table acknowledges it, so a refused record would come for ever and hold up all
records behind it, and the table would no longer know which cards are out. So the table takes every record in every
phase, and a problem in it becomes an alarm or a stop that a person sees:

- A card that no hand needs stops play (overdraw); the house's policy then burns it or carries it to the next hand.
  Outside play it raises an alarm and counts as drawn.
- A card that is not known for certain waits as an `AwaitedCard` until a person keys it, because a guess could pay the wrong
  hand.
- Cards that leave the shoe while the table waits for a person go to the backlog, and are handled in order afterwards.
- An open lid, a card that was pushed back or an error of the shoe stops play if a shoe is in play.
- A record that the table has already taken is ignored, because a shoe sends a record again if the acknowledgement was
  lost. A record that comes too early raises an alarm, and the driver requests the missing ones. If the shoe no longer
  has these, play stops, because a person must compare the cards on the table with those on record.
- Another shoe, or a shoe without memory of the cards in play, waits for a supervisor to accept it. Until then the table
  does not take its records, so the shoe keeps them.

Reports are bounded in other ways than by refusals. A device that reports more cards than two shoes hold is no longer
heard (`TableState.overfull`), and stops and alarms alike are joined (`Turn`). If the program itself fails at a report,
the table notes that it has the report, and stops (`failing`).

Orders and wagers are requests, so the table refuses those that are not legal now. The rule for reports also applies to
the other devices: who they are (`devices`), and whether the wager sensors are connected and work (`sensors`).
"""

from dataclasses import replace
from typing import Final

from punto.baccarat.table import events
from punto.baccarat.table.dealing import AT_PLAY, OVERFULL, open_betting, take, take_backlog
from punto.baccarat.table.effects import CardHeld, ShoeLinkChanged
from punto.baccarat.table.state import Bookmark, Phase, ShoeLink, Stop, TableState
from punto.baccarat.table.turn import RefusedError, Turn

OFFERED: Final = "shoe_not_accepted"
"""The code of the stop that ends with `AcceptShoe`."""
OTHER_DECKS: Final = "decks_differ"
"""The code of the stop by which a supervisor decides about a shoe of other decks."""
_NO_SIMULATION: Final = "the shoe is virtual, and this table is not a simulation"
_SIMULATE: Final = "connect a real shoe, or write simulation = true in [table] and start the service again"
NOT_RESUMED: Final = frozenset({OFFERED, OVERFULL})
"""The stops that a supervisor ends by another order than `ResumePlay`."""
MOST_REMEMBERED: Final = 8
"""Of so many shoes that were used before, the last record taken is remembered. Houses change between two."""
VIRTUAL: Final = "virtual-shoe"
"""The component by which a simulated shoe says what it is. A table takes it only in a simulation."""


def on_shoe_event(turn: Turn, event: events.ShoeEvent) -> None:
    """Handle any event of the shoe."""
    match event:
        case events.ShoeHello():
            _on_hello(turn, event)
        case events.ShoeLost(reason=reason):
            _on_lost(turn, reason)
        case events.RecordsLost(first=first, last=last):
            _on_records_lost(turn, first, last)
        case events.LinkNoise(frames=frames, seconds=seconds):
            turn.alarm(
                "link_noise",
                f"{frames} broken frames in {seconds} s on the shoe's line: check cable, connector and baud rate",
            )
        case _:
            _on_record(turn, event)


# --- the shoe's identity


def _on_hello(turn: Turn, hello: events.ShoeHello) -> None:
    if not turn.state.link.online:
        turn.change_link(late_before=hello.next_record)
    virtual = _only_simulated(turn.state, hello)
    objection = _NO_SIMULATION if virtual else objection_to(turn.state, hello)
    if objection is not None:
        turn.change_link(online=True, reason=objection, offered=hello)
        remedy = _SIMULATE if virtual else f"a supervisor must accept the shoe {hello.serial}"
        refused = Stop(code=OFFERED, text=f"{objection}: {remedy}")
        if refused not in turn.state.waiting.stops:
            _end_refusal(turn)
            turn.stop(refused)
        return
    link = turn.state.link
    if _is_new(turn.state, hello.serial):
        turn.alarm(
            "other_shoe",
            f"the shoe {hello.serial} is connected, which this table has not used before: check that it is a shoe of the house",
        )
    if (link.serial, link.log) != (hello.serial, hello.log) or hello.next_record < link.expected:
        hear(turn, hello)
    turn.change_link(online=True, reason="connected")
    let_in(turn, hello, f"shoe {hello.serial} connected")


def objection_to(state: TableState, hello: events.ShoeHello) -> str | None:
    """The reason why a shoe may not be used without acceptance; None if it may."""
    wanted = state.settings.shoe_serial
    known = state.link
    if state.settings.cards == "keyed":
        return None
    if wanted is not None and hello.serial not in {wanted, known.serial}:
        return f"the connected shoe is {hello.serial}, but the configuration names {wanted}"
    went_back = any(
        (mark.serial, mark.log) == (hello.serial, hello.log) and hello.next_record <= mark.taken
        for mark in _bookmarks(known)
    )
    in_play = state.phase in AT_PLAY or bool(
        state.shoe.drawn or state.shoe.unknown or state.waiting.card or state.waiting.backlog
    )
    if known.serial is None or not in_play:
        back = f"the shoe {hello.serial} goes back to records before the last one that the table took"
        return back if went_back else None
    if hello.serial != known.serial:
        return f"the connected shoe is {hello.serial}, but the cards in play are from the shoe {known.serial}"
    if hello.log != known.log or went_back:
        return f"the shoe {hello.serial} has lost its memory of the cards in play"
    return None


def _is_new(state: TableState, serial: str) -> bool:
    """Whether this table has used other shoes, but not this one, and its configuration does not name this one."""
    used = {mark.serial for mark in _bookmarks(state.link)}
    expected = {*used, state.settings.shoe_serial}
    return bool(used) and serial not in expected and state.settings.cards == "shoe"


def accept(turn: Turn, serial: str) -> None:
    """Take the shoe that waits for a supervisor, whose serial number this is.

    Raises:
        RefusedError: no shoe waits, it is another one, or it is virtual and the table is not a simulation.
    """
    offered = turn.state.link.offered
    if offered is None:
        raise RefusedError("no_shoe_offered", "no shoe waits to be accepted")
    if offered.serial != serial:
        raise RefusedError("other_shoe", f"the shoe that waits is {offered.serial}, not {serial}")
    if _only_simulated(turn.state, offered):
        raise RefusedError("virtual_shoe", f"{_NO_SIMULATION}: {_SIMULATE}")
    hear(turn, offered)
    if turn.state.link.online:
        turn.change_link(reason="connected")
    let_in(turn, offered, f"shoe {serial} accepted")


def _only_simulated(state: TableState, hello: events.ShoeHello) -> bool:
    """Whether this shoe is virtual, and this table neither a simulation nor keyed."""
    of_cards = state.settings.cards == "shoe" and not state.settings.simulation
    return of_cards and any(part.name == VIRTUAL for part in hello.components)


def put_aside(link: ShoeLink) -> ShoeLink:
    """The link without its shoe, and with a bookmark of the last record taken from that shoe."""
    if link.serial is None or link.log is None:
        return link
    earlier = _bookmarks(link)[-MOST_REMEMBERED:]
    return replace(link, serial=None, log=None, taken=0, decks=0, lid_open=False, earlier=earlier)


def _bookmarks(link: ShoeLink) -> tuple[Bookmark, ...]:
    """The last record taken from each shoe that is remembered: the present shoe's comes last."""
    if link.serial is None or link.log is None:
        return link.earlier
    others = tuple(mark for mark in link.earlier if mark.serial != link.serial)
    return (*others, Bookmark(link.serial, link.log, link.taken))


def hear(turn: Turn, hello: events.ShoeHello) -> None:
    """Take another shoe's records: after the last one taken from it before, or else from the first that it keeps.

    Houses change between two shoes, and the one that returns may not know that its last records arrived.
    """
    link = put_aside(turn.state.link)
    heard = (
        mark.taken
        for mark in link.earlier
        if (mark.serial, mark.log) == (hello.serial, hello.log) and mark.taken < hello.next_record
    )
    taken = max([hello.first_kept - 1, *heard])
    # This shoe has no records of the time that the other one was offline.
    turn.change(link=replace(link, serial=hello.serial, log=hello.log, taken=taken, keyed_away=()))


def let_in(turn: Turn, hello: events.ShoeHello, reason: str) -> None:
    """Play with the shoe that sent this hello: there is no objection to it, or a supervisor has accepted it."""
    # It reports 0 decks when it is empty or does not know, so the last number that it reported still counts.
    decks = hello.decks or turn.state.link.decks
    turn.change_link(components=hello.components, decks=decks, offered=None)
    _end_refusal(turn)
    compare_decks(turn)
    turn.announce(ShoeLinkChanged(online=turn.state.link.online, reason=reason))
    _stop_if_keyed_alone(turn)
    take_backlog(turn)


def compare_decks(turn: Turn) -> None:
    """Stop play if the shoe reports other decks than the game has, until it reports those or a supervisor decides.

    The decision is for the cards in this shoe: after a shoe change, a supervisor decides again.
    """
    state = turn.state
    stop = Stop(
        code=OTHER_DECKS,
        text=(
            f"the shoe reports {state.link.decks} decks, but the game has {state.settings.game.decks}: load the game's decks, or "
            "a supervisor must resume play"
        ),
    )
    differs = state.decks_differ and state.link.decks != state.shoe.other_decks
    if differs and stop in state.waiting.stops:
        return
    _end_stops(turn, OTHER_DECKS)
    if differs:
        turn.stop(stop)


def _end_refusal(turn: Turn) -> None:
    _end_stops(turn, OFFERED)


def _end_stops(turn: Turn, code: str) -> None:
    turn.change_waiting(stops=tuple(stop for stop in turn.state.waiting.stops if stop.code != code))


def _on_lost(turn: Turn, reason: str) -> None:
    turn.change_link(online=False, reason=reason)
    turn.announce(ShoeLinkChanged(online=False, reason=reason))


def _on_records_lost(turn: Turn, first: int, last: int) -> None:
    if last <= turn.state.link.taken:
        return
    turn.change_link(taken=last)  # later records wait until play is resumed
    if turn.state.settings.cards == "keyed":
        return
    turn.stop(
        Stop(
            code="records_lost",
            text=(
                f"records {first} to {last} of the shoe never arrived, and the shoe no longer has them. A supervisor "
                "must check the cards on the table, void the coup if these cards differ from the recorded cards, and resume play"
            ),
        )
    )
    _stop_if_keyed_alone(turn)


# --- its records


def _on_record(turn: Turn, event: events.ShoeRecord) -> None:
    expected = turn.state.link.expected
    if turn.state.link.offered is not None:
        turn.alarm(
            OFFERED,
            f"the table ignored record {event.record}, because the record came from a shoe that is not accepted",
        )
        return
    if event.record < expected:
        return  # sent again: the same record was handled before
    if event.record > expected:
        turn.alarm(
            "record_gap",
            f"the table ignored record {event.record}, because record {expected} must come first",
        )
        return
    turn.change_link(taken=event.record)
    if turn.state.settings.cards == "keyed":
        turn.alarm("shoe_not_in_use", "the shoe sends reports, but at this table the cards are keyed")
        return
    if event.record >= turn.state.link.late_before:
        _stop_if_keyed_alone(turn)
    _heed(turn, event)
    _stop_if_keyed_alone(turn)


def _heed(turn: Turn, event: events.ShoeRecord) -> None:
    match event:
        case events.CardDrawn() | events.CardUnread() | events.CardOverdrawn() if turn.state.link.keyed_away:
            _compare_with_keyed(turn, event)
        case events.CardDrawn() | events.CardUnread() | events.CardOverdrawn() | events.CutCardSeen():
            take(turn, event)
            _stop_if_overfull(turn)
        case events.LidMoved(open=is_open):
            _on_lid(turn, is_open=is_open)
        case events.ReverseMovement():
            _on_trouble(turn, "reverse_movement", "a card was pushed back into the shoe")
        case _:
            _on_trouble(turn, "shoe_fault", f"the shoe reports error {event.code}: {event.text}")


def _stop_if_overfull(turn: Turn) -> None:
    if turn.state.overfull and not any(stop.code == OVERFULL for stop in turn.state.waiting.stops):
        text = (
            "more cards came from the shoe than two shoes hold, so the table takes no more. Check which device is at the "
            "end of the shoe's cable. If a hand is on the table, void this hand. Then order a shoe change"
        )
        turn.stop(Stop(code=OVERFULL, text=text))


def _stop_if_keyed_alone(turn: Turn) -> None:
    """Stop play if cards were keyed while the shoe was offline, and it has no more records of that time."""
    link = turn.state.link
    if not turn.state.link.keyed_away or link.expected < link.late_before:
        return
    first = turn.state.link.keyed_away[0]
    turn.change_link(keyed_away=())
    turn.stop(
        Stop(
            code="keyed_otherwise",
            text=(
                f"card {first.position} of round {first.round} was keyed while the shoe was offline, but the shoe has no record of it, "
                "nor of a card that was keyed after it. A supervisor must check the cards, correct or void a wrong hand, and resume play"
            ),
        )
    )


def _compare_with_keyed(
    turn: Turn, read: events.CardDrawn | events.CardUnread | events.CardOverdrawn
) -> None:
    """Compare the late record of a card that was keyed while the shoe was offline; the card is not dealt again.

    A card that the shoe did not read for certain had to be keyed anyway.
    """
    keyed, *others = turn.state.link.keyed_away
    turn.change_link(keyed_away=tuple(others))
    card = None if isinstance(read, events.CardUnread) else read.card
    certain = (
        not isinstance(read, events.CardUnread) and read.confidence >= turn.state.settings.minimum_confidence
    )
    if card is None or not certain or card == keyed.card:
        return
    # The card's hand may be over, and voided before its reveal: whether the public has seen the card is not known here.
    hidden = turn.state.settings.game.hides_cards
    turn.emit(CardHeld(card, "doubtful", keyed.round, keyed.position))
    turn.stop(
        Stop(
            code="keyed_otherwise",
            text=(
                f"card {keyed.position} of round {keyed.round} was keyed while the shoe was offline, but the "
                f"shoe has read another card{'' if hidden else f': keyed {keyed.card}, read {card}'}. A "
                "supervisor must check the cards, correct or void a wrong hand, and resume play"
            ),
        )
    )


def _on_lid(turn: Turn, *, is_open: bool) -> None:
    turn.change_link(lid_open=is_open)
    if is_open:
        _on_trouble(turn, "lid_open", "the shoe's lid was opened")
    elif (
        turn.state.phase is Phase.SHOE_CHANGE
        and turn.state.settings.burn == "none"
        and not turn.state.waiting.for_person
    ):
        open_betting(turn)


def _on_trouble(turn: Turn, code: str, text: str) -> None:
    """Stop play if a shoe is in play; otherwise the lid, a card or an error does not affect a coup."""
    if turn.state.phase in AT_PLAY and not turn.state.shoe_over:
        turn.stop(Stop(code=code, text=f"{text} in play: a supervisor must check the shoe and resume play"))
    elif code != "lid_open":
        turn.alarm(code, text)
