"""The host's end of the shoe's link without I/O: bytes and the time go in, events and bytes come out.

The law is docs/ishoe-link.md, part 7: each record is delivered once and in order, nothing is acknowledged before the
caller says that it is safe, and every heartbeat is compared with what the host knows and wants, so whatever the line
loses is said again. One `HostLink` serves one connection; times are seconds of any clock that does not go back.

    events = link.receive(data, now)       # commit and handle them, then:
    link.want(orders)
    link.acknowledge(last_record)
    send(link.data_to_send(now))           # the acknowledgement, and in it what the record led to
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
    ShoeLost,
    ShoeRecord,
)
from punto.baccarat.table.shoe_orders import Lamps, ShoeOrders
from punto.drivers.framing import VERSION, Counters, encode
from punto.drivers.ishoe import frames
from punto.drivers.ishoe.codec import Decoder

ASK_AGAIN_SECONDS = 0.25  # between two requests for a hello
REPEAT_SECONDS = (
    0.2  # before a command without effect is repeated: below a heartbeat, above the way there and back
)
NOISE_FRAMES = 10  # broken frames that are still no alarm: a cable that is plugged in gives one or two
NOISE_SECONDS = 10
_DARK = Lamps()


@dataclass(slots=True)
class LinkCounters(Counters):
    """What the link has seen, besides what its decoder counts."""

    records: int = 0  # delivered
    duplicates: int = 0  # records that had been delivered before
    gaps: int = 0  # records that came after a missing one, thrown away to come again
    held_back: int = 0  # records of a shoe that has not been accepted, thrown away to come again
    resends: int = 0  # how often records were asked for again, opening the flow included
    echoes: int = 0  # the host's own frames, come back
    silences: int = 0


class HostLink:
    """One connection to a shoe, from the first byte to the last.

    `orders` says which shoe is accepted and which record is wanted next. `counters` may be handed from one
    connection to the next.
    """

    def __init__(
        self, now: float, orders: ShoeOrders | None = None, counters: LinkCounters | None = None
    ) -> None:
        self.counters = LinkCounters() if counters is None else counters
        self._decoder = Decoder(self.counters)
        # What the table wants.
        self._orders = ShoeOrders() if orders is None else orders
        self._next = self._orders.expected  # the record to deliver next
        self._committed = self._acknowledgeable(
            self._orders
        )  # the last record that may be acknowledged, 0 if none
        # What the shoe said.
        self._hello: frames.Hello | None = None
        self._answered = False  # the table has seen that hello
        self._went_back = False  # the shoe numbers again what it had numbered before
        self._delivered_log: int | None = None
        self._lost: RecordsLost | None = None  # what the table was told of
        self._newest = 1  # the highest next_record seen since the hello
        self._kept_from = 1
        self._obeys = False  # it has named one of the commands since the hello
        # What is to be sent, and what was.
        self._command = 0
        self._resend_due = False
        self._acknowledge_due = False
        self._shown_lock: bool | None = None
        self._shown_lamps: Lamps | None = None
        self._asked_at = self._lock_at = self._lamps_at = self._resent_at = self._acknowledged_at = -inf
        self._resent_from = 0
        # Silence and noise.
        self._heard_at = now
        self._silent = False
        self._ever_heard = False
        self._bytes_unheard = False  # bytes came since the last good frame
        self._echoes_before = self.counters.echoes
        self._versions_before = self.counters.other_version
        self._noise: deque[tuple[float, int]] = deque()
        self._noise_told_at = -inf

    # --- what the caller may look at

    @property
    def hello(self) -> frames.Hello | None:
        """What the shoe said of itself, None while it is not heard."""
        return self._hello

    def silent_seconds(self, now: float) -> float:
        """How long the shoe has not been heard, once it has been called lost; else 0."""
        return now - self._heard_at if self._silent else 0.0

    # --- what comes in

    def receive(self, data: bytes, now: float) -> list[ShoeEvent]:
        """Take bytes from the line and return what they tell, in order."""
        broken_before = self.counters.broken
        decoded = self._decoder.feed(data)
        self._bytes_unheard = self._bytes_unheard or bool(data)
        events: list[ShoeEvent] = []
        for frame in decoded:
            self._take(frame, now, events)
        self._count_noise(self.counters.broken - broken_before, now, events)
        return events

    def tick(self, now: float) -> list[ShoeEvent]:
        """Notice silence: call some ten times a second, after `receive` has had all that is readable."""
        if self._silent or now - self._heard_at < frames.SILENCE_SECONDS:
            return []
        reason = self._why_silent()
        self._silent = True
        self.counters.silences += 1
        self._forget_hello()
        return [ShoeLost(reason)]

    def _why_silent(self) -> str:
        if self._ever_heard:
            return f"no sign of life for {frames.SILENCE_SECONDS} s: check the shoe's power and its cable"
        if self.counters.other_version > self._versions_before:
            theirs = self.counters.version_seen
            return f"the shoe speaks version {theirs} of the link and this host version {VERSION}: update the older"
        if self.counters.echoes > self._echoes_before:
            return "the line gives back what the host sends: its two directions are joined, check the plug"
        if self._bytes_unheard:
            return "there are bytes but no frames: check the baud rate, and that this is the shoe's port"
        return "the port is open but the shoe says nothing: check its power and its cable"

    def _take(self, frame: frames.AnyFrame, now: float, events: list[ShoeEvent]) -> None:
        if isinstance(frame, frames.Command):
            self.counters.echoes += 1
            return
        self._heard_at = now
        self._silent = False
        self._ever_heard = True
        self._bytes_unheard = False
        if isinstance(frame, frames.Record):
            self._take_record(frame, now, events)
        elif isinstance(frame, frames.Heartbeat):
            self._take_heartbeat(frame, now, events)
        else:
            self._take_hello(frame, events)

    def _take_hello(self, hello: frames.Hello, events: list[ShoeEvent]) -> None:
        known = self._hello
        went_back = self._orders.log in (None, hello.log) and hello.next_record < self._next
        news = known is None or went_back or _identity(known) != _identity(hello)
        self._hello = hello
        self._newest, self._kept_from = hello.next_record, hello.first_kept
        self._obeys = False
        self._went_back = self._went_back or went_back
        # A shoe says hello with its flow closed, and perhaps after a restart, locked and dark: tell it everything again.
        self._resend_due = True
        self._acknowledge_due = hello.first_kept <= self._committed
        self._shown_lock = self._shown_lamps = None
        if news:
            self._answered = False
            numbers = (hello.log, hello.first_kept, hello.next_record, hello.decks)
            events.append(ShoeHello(hello.serial, *numbers, hello.components))

    def _take_heartbeat(self, beat: frames.Heartbeat, now: float, events: list[ShoeEvent]) -> None:
        if self._hello is None:
            return
        if self._missed_hello(self._hello, beat):
            self._forget_hello()
            return
        self._newest, self._kept_from = beat.next_record, beat.first_kept
        self._obeys = beat.last_command > 0
        if beat.locked != self._locked and now - self._lock_at >= REPEAT_SECONDS:
            self._shown_lock = None
        if beat.lamps != self._lamps and now - self._lamps_at >= REPEAT_SECONDS:
            self._shown_lamps = None
        if self._accepted:
            self._compare_records(beat, now, events)

    def _missed_hello(self, hello: frames.Hello, beat: frames.Heartbeat) -> bool:
        """Whether the shoe must have said hello since, for another memory, other decks or a restart, and it was lost."""
        if (beat.log, beat.decks) != (hello.log, hello.decks) or beat.next_record < self._newest:
            return True
        return self._obeys and not beat.last_command

    def _compare_records(self, beat: frames.Heartbeat, now: float, events: list[ShoeEvent]) -> None:
        if beat.first_kept > self._next:
            lost = RecordsLost(self._next, beat.first_kept - 1)
            if lost != self._lost:
                self._lost = lost
                events.append(lost)
        elif beat.next_to_send > self._next or not beat.sending:
            self._ask_from_next(now)
        if beat.first_kept <= self._committed and now - self._acknowledged_at >= REPEAT_SECONDS:
            self._acknowledge_due = True

    def _take_record(self, record: frames.Record, now: float, events: list[ShoeEvent]) -> None:
        if self._hello is None or not self._accepted:
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
            self._delivered_log = self._hello.log
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
        if total > NOISE_FRAMES and now - self._noise_told_at >= NOISE_SECONDS:
            self._noise_told_at = now
            events.append(LinkNoise(total, NOISE_SECONDS))

    # --- what the caller decided

    def want(self, orders: ShoeOrders) -> None:
        """Take what the table wants after it has handled the events so far."""
        before, self._orders = self._orders, orders
        self._answered = True
        if (orders.log, orders.expected) == (before.log, before.expected):
            return
        self._committed = self._acknowledgeable(orders)
        if (
            orders.log != before.log or orders.expected != self._next
        ):  # decided, not merely moved on with the records
            self._next = orders.expected
            self._went_back = False
            self._resend_due = True

    def acknowledge(self, record: int) -> None:
        """Allow the shoe to forget all records up to and with this one: they are committed."""
        if self._hello is None or self._hello.log != self._delivered_log:
            return  # the log changed in the same batch: the number means another record now
        self._committed = max(self._committed, record)
        self._acknowledge_due = True

    # --- what goes out

    def data_to_send(self, now: float) -> bytes:
        """Return the bytes for the line: orders, a request for records, an acknowledgement.

        The acknowledgement has the orders in it, so they go alone only when nothing is to be acknowledged.
        """
        hello = self._hello
        if hello is None:
            return self._ask(now)
        if not self._answered:
            return b""  # not even dark lamps: a prompt to burn that goes and comes back would be a new shoe change
        if not self._accepted:
            return self._order(now)
        acknowledges = self._acknowledge_due and self._committed > 0
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
        return encode(frames.AskHello(self._number()))

    def _order(self, now: float) -> bytes:
        data = b""
        if self._shown_lock != self._locked:
            self._shown_lock, self._lock_at = self._locked, now
            data += encode((frames.Lock if self._locked else frames.Unlock)(self._number()))
        if self._shown_lamps != self._lamps:
            self._shown_lamps, self._lamps_at = self._lamps, now
            data += encode(frames.SetLamps(self._number(), self._lamps))
        return data

    def _resend(self, now: float, log: int) -> bytes:
        self._resend_due = False
        self._resent_at, self._resent_from = now, self._next
        self.counters.resends += 1
        return encode(frames.Resend(self._number(), log, self._next))

    def _acknowledgement(self, now: float, log: int) -> bytes:
        self._shown_lock, self._shown_lamps = self._locked, self._lamps
        self._acknowledged_at = self._lock_at = self._lamps_at = now
        return encode(frames.Acknowledge(self._number(), log, self._committed, self._locked, self._lamps))

    def _number(self) -> int:
        self._command += 1
        return self._command

    # --- what follows from the above

    @property
    def _accepted(self) -> bool:
        """Whether the table takes records from this shoe, and has seen its hello."""
        hello = self._hello
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

    def _forget_hello(self) -> None:
        self._hello = None
        self._answered = False

    @staticmethod
    def _acknowledgeable(orders: ShoeOrders) -> int:
        """Everything before the record that the table wants is committed or given up, in the log that it names."""
        return 0 if orders.log is None else orders.expected - 1


def _identity(hello: frames.Hello) -> tuple[object, ...]:
    """Give what makes a hello news: not the record numbers, which every heartbeat tells."""
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
