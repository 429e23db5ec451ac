"""The host's end of the shoe's link without I/O: bytes and the time go in, events and bytes come out.

docs/reference/ishoe-link.md, part 7, defines the link. Each record is delivered once and in order, and acknowledged only
after the table has recorded it. Every heartbeat is compared with the host's knowledge and orders, so that anything that
the line loses is sent again. This module alone decides which records to request again; the table gives the number of the
last record that it has.

    events = link.receive(data, now)       # commit and handle them, then:
    link.handled()
    link.want(orders)
    send(link.data_to_send(now))           # the acknowledgement, with the orders that follow from the record
"""

from collections import deque
from dataclasses import dataclass
from math import inf

from punto.baccarat.table.events import (
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
    ShoeRecord,
)
from punto.baccarat.table.shoe_orders import Lamps, ShoeOrders
from punto.drivers import link
from punto.drivers.framing import UNSEALED, Seal
from punto.drivers.ishoe import frames

ASK_AGAIN_SECONDS = 0.25  # between two requests for a hello
REPEAT_SECONDS = (
    0.2  # after which a command without effect is repeated: below a heartbeat, above a round trip
)
NOISE_FRAMES = 10  # the most broken frames without an alarm: plugging in a cable causes one or two
NOISE_SECONDS = 10
MOST_TOLD = 30  # the most reports of a sound shoe that no card makes up for
TOLD_SECONDS = 10
_CARD = CardDrawn | CardUnread | CardOverdrawn
_TOLD = ShoeHello | ShoeFault | LidMoved | ReverseMovement | CutCardSeen | RecordsLost
_DARK = Lamps()


@dataclass(slots=True)
class LinkCounters(link.LinkCounters):
    """The link's own counts, with those of every link."""

    records: int = 0  # delivered
    duplicates: int = 0  # records that had been delivered before
    gaps: int = 0  # records that came after a missing one, discarded and requested again
    held_back: int = 0  # records of a shoe that is not accepted, discarded and requested later
    resends: int = 0  # requests for records, including the first request of a connection


class IShoeLink(link.Link[frames.FromShoe]):
    """A shoe, over all its connections."""

    counters: LinkCounters
    here: frames.Hello | None

    def __init__(self, seal: Seal = UNSEALED) -> None:
        super().__init__("shoe", frames.FROM_SHOE, LinkCounters(), seal)
        # The table's orders, and the next record.
        self._orders = ShoeOrders()
        self._next = 1  # the record to deliver next
        # Received from the shoe.
        self._answered = False  # the table has handled the shoe's hello
        self._went_back = False  # the shoe uses record numbers that it had already used
        self._newest = 1  # the highest next_record since the hello
        self._kept_from = 1
        self._obeys = False  # the shoe has confirmed a command since the hello
        self._behind = False  # the last heartbeat showed a record that has not come
        # To send, and sent.
        self._command = 0
        self._resend_due = False
        self._acknowledge_due = False
        self._shown_lock: bool | None = None
        self._shown_lamps: Lamps | None = None
        self._asked_at = self._lock_at = self._lamps_at = self._resent_at = self._acknowledged_at = -inf
        self._resent_from = 0
        self._noise: deque[tuple[float, int]] = deque()
        self._noise_reported_at = -inf
        self._told: deque[float] = deque()

    def connect(self, now: float, token: int) -> None:
        """Begin a connection; `token` is not used, because the shoe answers with the number of a command."""
        super().connect(now, token)
        self._next = self._orders.taken + 1
        self._went_back = False
        self._command = 0
        self._asked_at = -inf
        self._told.clear()

    def babbles(self, now: float) -> bool:  # noqa: ARG002 - as `Link.babbles`
        """Whether the shoe reports other things than cards more often than a sound shoe can.

        Cards have no rate: a shoe sends those of an hour at once when its cable is back, and a virtual one deals thousands a
        second. The table bounds their number instead (`TableState.overfull`), so a card may make up for a report: a quick
        shoe has a cut card after some hundred of them.
        """
        return len(self._told) > MOST_TOLD

    # --- input

    def receive(self, data: bytes, now: float) -> list[ShoeEvent]:
        """Decode bytes from the line; return the events in order."""
        broken_before = self.counters.broken
        events: list[ShoeEvent] = []
        for frame in self._decoder.each(data, now):
            news = len(events)
            if isinstance(frame, frames.Record):
                self._take_record(frame, now, events)
            elif isinstance(frame, frames.Heartbeat):
                self._take_heartbeat(frame, now, events)
            else:
                self._take_hello(frame, events)
            # A shoe whose hello or whose records do not come is as good as silent: cards can lie on the table unseen.
            if (self.here is not None and not self._behind) or len(events) > news:
                self._heard(now)
        self._count_noise(self.counters.broken - broken_before, now, events)
        for event in events:
            if isinstance(event, _TOLD):
                self._told.append(now)
            elif isinstance(event, _CARD) and self._told:
                self._told.popleft()
        while self._told and now - self._told[0] > TOLD_SECONDS:
            self._told.popleft()
        return events

    def _take_hello(self, hello: frames.Hello, events: list[ShoeEvent]) -> None:
        known = self.here
        went_back = self._orders.log in (None, hello.log) and hello.next_record < self._next
        news = known is None or went_back or _identity(known) != _identity(hello)
        self.here = hello
        self._newest, self._kept_from = hello.next_record, hello.first_kept
        self._obeys = self._behind = False
        self._went_back = self._went_back or went_back
        # After a hello the shoe sends no records, and after a restart it is locked and dark: send everything again.
        self._resend_due = True
        self._acknowledge_due = hello.first_kept <= self._orders.taken
        self._shown_lock = self._shown_lamps = None
        if news:
            self._answered = False
            numbers = (hello.log, hello.first_kept, hello.next_record, hello.decks)
            events.append(ShoeHello(hello.serial, *numbers, hello.components))

    def _take_heartbeat(self, beat: frames.Heartbeat, now: float, events: list[ShoeEvent]) -> None:
        if self.here is None:
            return
        if self._missed_hello(self.here, beat):
            self.disconnect()
            return
        self._newest, self._kept_from = beat.next_record, beat.first_kept
        self._obeys = beat.last_command > 0
        if beat.locked != self._locked and now - self._lock_at >= REPEAT_SECONDS:
            self._shown_lock = None
        if beat.lamps != self._lamps and now - self._lamps_at >= REPEAT_SECONDS:
            self._shown_lamps = None
        if self._accepted:
            self._compare_records(beat, now, events)
        self._behind = self._accepted and beat.next_record > self._next

    def _missed_hello(self, hello: frames.Hello, beat: frames.Heartbeat) -> bool:
        """Whether a later hello was lost: the heartbeat shows another memory, other decks or a restart."""
        if (beat.log, beat.decks) != (hello.log, hello.decks) or beat.next_record < self._newest:
            return True
        return self._obeys and not beat.last_command

    def _compare_records(self, beat: frames.Heartbeat, now: float, events: list[ShoeEvent]) -> None:
        if beat.first_kept > self._next:
            events.append(RecordsLost(self._next, beat.first_kept - 1))
            self._next = beat.first_kept
            self._resend_due = True
        elif beat.next_to_send > self._next or not beat.sending:
            self._ask_from_next(now)
        if beat.first_kept <= self._orders.taken and now - self._acknowledged_at >= REPEAT_SECONDS:
            self._acknowledge_due = True

    def _take_record(self, record: frames.Record, now: float, events: list[ShoeEvent]) -> None:
        if self.here is None or not self._accepted:
            self.counters.held_back += 1
            return
        self._newest = max(self._newest, record.record + 1)
        if record.record < self._next:
            self.counters.duplicates += 1
            self._acknowledge_due = True
        elif record.record > self._next:
            self.counters.gaps += 1
            self._ask_from_next(now)
        else:
            self.counters.records += 1
            self._next += 1
            self._behind = self._behind and self._next < self._newest
            events.append(_event(record))

    def _count_noise(self, broken: int, now: float, events: list[ShoeEvent]) -> None:
        while self._noise and now - self._noise[0][0] > NOISE_SECONDS:
            self._noise.popleft()
        if not broken:
            return
        if self._noise and now - self._noise[-1][0] < 0.1:  # a storm keeps the queue short
            since, count = self._noise.pop()
            self._noise.append((since, count + broken))
        else:
            self._noise.append((now, broken))
        total = sum(count for _, count in self._noise)
        if total > NOISE_FRAMES and now - self._noise_reported_at >= NOISE_SECONDS:
            self._noise_reported_at = now
            events.append(LinkNoise(total, NOISE_SECONDS))

    # --- the caller's decisions

    def handled(self) -> None:
        """Confirm that the table has handled all events that `receive` returned."""
        self._answered = True

    def want(self, orders: ShoeOrders) -> None:
        """Set the table's present orders. Their record `taken` is committed, and the shoe may delete it."""
        before, self._orders = self._orders, orders
        if (orders.log, orders.taken) == (before.log, before.taken):
            return
        if (
            orders.log == before.log and orders.taken == self._next - 1
        ):  # the table has recorded what it received
            self._acknowledge_due = True
        else:  # the table has decided to continue at another record
            self._next = orders.taken + 1
            self._went_back = False
            self._resend_due = True

    # --- output

    def data_to_send(self, now: float) -> bytes:
        """The bytes for the line: orders, a request for records, an acknowledgement.

        The acknowledgement contains the orders, so they are sent separately only if nothing is to be acknowledged.
        """
        hello = self.here
        if hello is None:
            return self._ask(now)
        if not self._answered:
            return b""  # not even dark lamps: if the prompt to burn went and came back, it would be a new shoe change
        if not self._accepted:
            return self._order(now)
        acknowledges = self._acknowledge_due and self._orders.taken > 0
        self._acknowledge_due = False
        data = b"" if acknowledges else self._order(now)
        if self._resend_due and self._kept_from <= self._next:
            data += self._resend(now, hello.log)
        if acknowledges:
            data += self._acknowledgement(now, hello.log)
        return data

    def _ask(self, now: float) -> bytes:
        if now - self._asked_at < ASK_AGAIN_SECONDS:
            return b""
        self._asked_at = now
        return self._encode(frames.AskHello(self._number()))

    def _order(self, now: float) -> bytes:
        data = b""
        if self._shown_lock != self._locked:
            self._shown_lock, self._lock_at = self._locked, now
            data += self._encode((frames.Lock if self._locked else frames.Unlock)(self._number()))
        if self._shown_lamps != self._lamps:
            self._shown_lamps, self._lamps_at = self._lamps, now
            data += self._encode(frames.SetLamps(self._number(), self._lamps))
        return data

    def _resend(self, now: float, log: int) -> bytes:
        self._resend_due = False
        self._resent_at, self._resent_from = now, self._next
        self.counters.resends += 1
        return self._encode(frames.Resend(self._number(), log, self._next))

    def _acknowledgement(self, now: float, log: int) -> bytes:
        self._shown_lock, self._shown_lamps = self._locked, self._lamps
        self._acknowledged_at = self._lock_at = self._lamps_at = now
        return self._encode(
            frames.Acknowledge(self._number(), log, self._orders.taken, self._locked, self._lamps)
        )

    def _number(self) -> int:
        self._command += 1
        return self._command

    # --- derived

    @property
    def _accepted(self) -> bool:
        """Whether the table accepts records from this shoe, and has handled its hello."""
        hello = self.here
        if hello is None or not self._answered or self._went_back:
            return False
        return hello.serial == self._orders.accept and self._orders.log in (None, hello.log)

    @property
    def _locked(self) -> bool:
        return self._orders.locked or not self._accepted

    @property
    def _lamps(self) -> Lamps:
        return self._orders.lamps if self._accepted else _DARK

    def _ask_from_next(self, now: float) -> None:
        if now - self._resent_at >= REPEAT_SECONDS or self._resent_from != self._next:
            self._resend_due = True

    def disconnect(self) -> None:
        """End the connection; see `Link.disconnect`."""
        super().disconnect()
        self._answered = self._behind = False

    def _why_silent(self) -> str:
        if self._behind:
            return "the shoe has records that do not arrive: check what is connected between the shoe and this host"
        if self.here is None and self.counters.frames > self._seen_before[0]:
            return "the shoe does not say which shoe it is: check what is connected between the shoe and this host"
        return super()._why_silent()


def _identity(hello: frames.Hello) -> tuple[object, ...]:
    """The part of a hello that makes it new: not the record numbers, which every heartbeat has."""
    return hello.serial, hello.log, hello.decks, hello.components


def _event(record: frames.Record) -> ShoeRecord:
    match record:
        case frames.CardRecord(number, card, confidence):
            return CardDrawn(number, card, confidence)
        case frames.OverdrawnRecord(number, overdrawn, confidence):
            return CardOverdrawn(number, overdrawn, confidence)
        case frames.LidRecord(number, is_open):
            return LidMoved(number, is_open)
        case frames.FaultRecord(number, code, text):
            return ShoeFault(number, code, text)
        case _:
            return _BARE[type(record)](record.record)


_BARE: dict[type[frames.Record], type[CardUnread | CutCardSeen | ReverseMovement]] = {
    frames.UnreadRecord: CardUnread,
    frames.CutCardRecord: CutCardSeen,
    frames.ReverseRecord: ReverseMovement,
}
