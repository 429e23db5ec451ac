"""The shoe itself: its end of the link by docs/reference/ishoe-link.md, part 6, with a store and without a line.

Pass bytes from the host to `receive`; the methods of the second part are the events at the shoe, and
`take_frames` returns the bytes for the line. It commits first, so only stored data can be sent.
"""

import hashlib
from dataclasses import replace
from functools import cache
from pathlib import Path

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.table.events import Component
from punto.baccarat.table.shoe_events import VIRTUAL
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.framing import Decoder, encode
from punto.drivers.ishoe import frames
from punto.simulators.shoe.store import Inside, Store

CONFIDENCE = 99  # of a card that is read correctly


@cache
def components() -> tuple[Component, ...]:
    """The shoe's components, with the digest of the program as it is installed."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return (Component(VIRTUAL, "1", digest.hexdigest()),)


class ShoeDevice:
    """A shoe that has just been switched on, with the contents of its store.

    `room` is the number of records that fill it.
    """

    def __init__(self, store: Store, serial: str, room: int = frames.STORE) -> None:
        self._store = store
        self._serial = serial
        self._room = room
        self.power_on()

    def power_on(self) -> None:
        """Forget everything that is not in the store: the shoe is locked, dark, and sends nothing until asked."""
        self.locked = True
        self.lamps = Lamps()
        self._sending = False
        self._next_to_send = self._store.first_kept
        self._last_command = 0
        self._decoder = Decoder(frames.TYPES)
        self._hello_due = True
        self._heartbeat_due = False

    # --- the visible state

    @property
    def inside(self) -> Inside:
        """The cards in the shoe."""
        return self._store.inside

    @property
    def unacknowledged(self) -> int:
        """The number of unacknowledged records."""
        return self._store.next_record - self._store.first_kept

    @property
    def full(self) -> bool:
        """Whether there is no room for another record."""
        return self.unacknowledged >= self._room

    # --- events at the shoe: each leaves a record

    def load(self, cards: tuple[Card, ...], decks: int, cut: int) -> None:
        """Open the lid and replace the remaining cards by new ones, for the burn that is called for."""
        whole = decks if len(cards) == decks * len(STANDARD_DECK) else 0
        self._change(Inside(self.inside.shoe_number + 1, whole, cards, cut, loaded_for_burn=True))
        self.move_lid(is_open=True)

    def move_lid(self, *, is_open: bool) -> None:
        """Open or close the lid."""
        self._change(replace(self.inside, lid_open=is_open))
        self._keep(frames.LidRecord(self._store.next_record, is_open))

    def let_out(self, confidence: int | None = CONFIDENCE, *, overdrawn: bool = False) -> Card:
        """Let the next card out, read with this confidence, or not read (None); the cut card follows if it is next."""
        inside, number = self.inside, self._store.next_record
        card = inside.cards[inside.out]
        record: frames.Record
        if overdrawn:
            record = frames.OverdrawnRecord(number, card if confidence is not None else None, confidence or 0)
        elif confidence is None:
            record = frames.UnreadRecord(number)
        else:
            record = frames.CardRecord(number, card, confidence)
        self._change(replace(inside, out=inside.out + 1))
        self._keep(record)
        if self.lamps.next in {"player", "banker"}:
            self._end_burn()
        if inside.cut > 0 and self.inside.left == inside.cut:
            self._change(replace(self.inside, cut_card_seen=True))
            self._keep(frames.CutCardRecord(self._store.next_record))
        return card

    def push_back(self) -> None:
        """Push a card back towards the shoe."""
        self._keep(frames.ReverseRecord(self._store.next_record))

    def report_fault(self, code: int, text: str) -> None:
        """Report an error of the shoe itself."""
        self._keep(frames.FaultRecord(self._store.next_record, code, text))

    def lose_memory(self) -> None:
        """Lose all records and their log, so that a new one begins."""
        self._store.lose()
        self.power_on()

    def _keep(self, record: frames.Record) -> None:
        self._store.add(record)
        if self.unacknowledged > self._room + frames.RESERVE:
            self._store.forget(self._store.first_kept)  # the host sees the missing records by their numbers
            self._next_to_send = max(self._next_to_send, self._store.first_kept)

    def _change(self, inside: Inside) -> None:
        before, self._store.inside = self.inside, inside
        if inside.decks_told != before.decks_told:
            self._introduce()

    def _end_burn(self) -> None:
        if self.inside.loaded_for_burn:
            self._store.inside = replace(self.inside, loaded_for_burn=False)

    # --- the link

    def receive(self, data: bytes) -> None:
        """Take bytes from the host and carry out their orders."""
        for frame in self._decoder.feed(data):
            if isinstance(frame, frames.Command):
                self._last_command = frame.command
                self._obey(frame)

    def heartbeat(self) -> None:
        """Send a heartbeat with the next frames."""
        self._heartbeat_due = True

    def take_frames(self) -> list[bytes]:
        """Commit all events, then return the frames to send now, each on its own."""
        self._store.commit()
        out: list[bytes] = []
        if self._hello_due:
            self._hello_due = False
            out.append(encode(self._hello()))
        if self._sending:
            store = self._store
            end = min(store.next_record, store.first_kept + frames.WINDOW)
            if end > self._next_to_send:
                out += store.frames(self._next_to_send, end - 1)
                self._next_to_send = end
        if self._heartbeat_due:  # after the records: `next_to_send` counts them as sent
            self._heartbeat_due = False
            out.append(encode(self._heartbeat()))
        return out

    def _obey(self, command: frames.Command) -> None:
        match command:
            case frames.AskHello():
                self._introduce()
            case frames.Acknowledge():
                self._acknowledge(command)
            case frames.Resend(log=log, record=record):
                if log == self._store.log and record <= self._store.next_record:
                    self._sending = True
                    self._next_to_send = max(record, self._store.first_kept)
            case frames.Lock():
                self.locked = True
            case frames.Unlock():
                self.locked = False
            case frames.SetLamps(lamps=lamps):
                self._show(lamps)
            case _:
                pass

    def _introduce(self) -> None:
        # A hello always closes the flow: the host opens it again with RESEND (part 7, number 3).
        self._sending = False
        self._hello_due = True

    def _acknowledge(self, command: frames.Acknowledge) -> None:
        store = self._store
        if command.log != store.log or command.record >= store.next_record:
            return
        if command.record >= store.first_kept:
            store.forget(command.record)
            self._next_to_send = max(self._next_to_send, command.record + 1)
        self.locked = command.locked
        self._show(command.lamps)

    def _show(self, lamps: Lamps) -> None:
        self.lamps = lamps
        # Only if all records are acknowledged, the host certainly knew of the burn when it sent this.
        if lamps.next != "burn" and not self.unacknowledged:
            self._end_burn()

    def _hello(self) -> frames.Hello:
        store = self._store
        return frames.Hello(
            self._serial, store.log, store.first_kept, store.next_record, self.inside.decks_told, components()
        )

    def _heartbeat(self) -> frames.Heartbeat:
        store = self._store
        return frames.Heartbeat(
            store.log,
            store.first_kept,
            self._next_to_send,
            store.next_record,
            self._last_command,
            self.locked,
            self.inside.lid_open,
            self._sending,
            self.full,
            self.lamps,
            self.inside.decks_told,
        )
