"""The host's end of the wager sensors' link without I/O: bytes and the time go in, events and bytes come out.

docs/reference/coin-spot.md defines the link. Each report is the device's whole state, and its differences from the reports
before become events. So the next report replaces a lost one, and a repeated report has no events. The device decides which
wagers are in a round at the moment when it accepts the START; a later wager is not in the round.

One `CoinSpotLink` lives as long as its driver, over many connections. Times are seconds of any clock that does not go back.

    link.want(now, orders)
    send(link.data_to_send(now))             # acknowledges the events of `receive`, which must be recorded by now
    events = link.receive(data, now) + link.tick(now)
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Final, NamedTuple

from punto.drivers import link
from punto.drivers.base import (
    SensorEvent,
    SensorFailed,
    SensorFault,
    SensorMended,
    SensorOrders,
    SensorsFound,
    StartUnconfirmed,
    WagerLifted,
    WagerPlaced,
    WagersLatched,
)
from punto.drivers.coin_spot.frames import (
    KEEP,
    ORDERS_SECONDS,
    POSITIONS,
    REPEAT_SECONDS,
    START_SECONDS,
    Ask,
    FromDevice,
    Here,
    Orders,
    Report,
    Spot,
)
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.frame import parsers
from punto.drivers.framing import UNSEALED, Seal

_NEVER_SEEN: Final = Spot(answers=0)

_Place = tuple[int, int]
"""An event's place in the order of the device's changes: the change's number, and the order of events within it."""


class PowerOn(NamedTuple):
    """The device between two losses of power. It numbers its changes from each power-on."""

    serial: str
    boot: int


class _Latched(NamedTuple):
    """The last round whose wagers were reported, the power-on that latched them, and the START's number."""

    round: int
    by: PowerOn
    start: int


class _Fault(NamedTuple):
    position: int
    fault: SensorFault


@dataclass(slots=True)
class LinkCounters(link.LinkCounters):
    """The link's own counts, with those of every link."""

    changes: int = 0  # reports with a change
    stale: int = 0  # frames that are older than the known state
    held_back: int = 0  # reports of another connection, or of a power-on without an introduction
    restarts: int = 0


class CoinSpotLink(link.Link[FromDevice]):
    """A chain of wager sensors, over all its connections.

    If a wager of a round still lies there `stuck_seconds` after the end of the round, its sensor has the fault "stuck".
    """

    counters: LinkCounters
    here: Here | None

    def __init__(self, seats: Seats, stuck_seconds: float, seal: Seal = UNSEALED) -> None:
        super().__init__("coin spot", parsers(Here, Report), LinkCounters(), seal)
        self._seats = seats
        self._stuck_seconds = stuck_seconds
        # Received from the device, and reported.
        self._device: PowerOn | None = None
        self._report: Report | None = None  # the last report of that device
        self._latched: _Latched | None = None
        self._over: _Latched | None = (
            None  # the one before; a new START of the same round does not continue it
        )
        self._faults: frozenset[_Fault] = frozenset()
        # Wagers that have had their round, and have not gone since.
        self._kept: frozenset[int] = (
            frozenset()
        )  # from before a loss of power: the device no longer knows them
        self._unread: set[int] = set()  # positions whose state was unknown in the first report
        self._stuck: frozenset[int] = frozenset()
        self._open_since = inf
        # The table's orders, and the orders that were sent.
        self._wanted = SensorOrders()
        self._wanted_since = 0.0
        self._start_until = -inf
        self._given_up = False  # the driver no longer sends the START
        self._sent: tuple[int, int, frozenset[int]] | None = None
        self._sent_at = -inf
        self._number = 0  # of the last orders

    def forget(self) -> None:
        """Forget what was reported: the next report is a whole new picture."""
        self._report = None
        self._faults = frozenset()

    # --- input

    def receive(self, data: bytes, now: float) -> list[SensorEvent]:
        """Decode bytes from the line; return the events in the device's order."""
        events: list[SensorEvent] = []
        for frame in self._decode(data, now):
            if isinstance(frame, Here):
                self._take_here(frame, now)
            elif self._is_for_us(frame):
                events += self._take_report(frame, now)
        return events

    def _take_here(self, here: Here, now: float) -> None:
        if here.token != self._token or self._is_from_before(here):
            self.counters.stale += 1
            return
        self._heard(now)
        self.here = here
        self._number = max(self._number, here.taken)
        self._sent = None

    def _is_from_before(self, here: Here) -> bool:
        """Return True for a frame from before the last power-on. The device adds 1 to its counter at each power-on."""
        return self.here is not None and here.serial == self.here.serial and here.boot < self.here.boot

    def _is_for_us(self, report: Report) -> bool:
        if self.here is None or (report.token, report.boot) != (self._token, self.here.boot):
            self.counters.held_back += 1
            return False
        if self._report is not None and self._powered_on == self._device:
            stale = report.number < self._report.number
            self.counters.stale += stale
            return not stale
        return True

    @property
    def _powered_on(self) -> PowerOn | None:
        return None if self.here is None else PowerOn(self.here.serial, self.here.boot)

    def _take_report(self, report: Report, now: float) -> list[SensorEvent]:
        self._heard(now)
        self._number = max(self._number, report.taken)
        before, device = self._report, self._powered_on
        restarted = before is not None and device != self._device
        still = frozenset(
            position
            for position in self._spent() | self._kept
            if _may_be_the_same(_spot(before, position), _spot(report, position), restarted=restarted)
        )
        self.counters.restarts += restarted
        known = None if restarted else before
        self.counters.changes += known is None or report.number > known.number
        if report.round:
            self._open_since = inf
        elif before is None or before.round:
            self._open_since = now
        self._device, self._report = device, report
        self._kept = still if restarted else self._kept & still
        latched = list(self._latch(still))
        if known is None:
            placed = [*self._found(self._kept if latched else self._spent()), *latched]
        else:
            placed = [*self._wagers(known), *latched]
        in_order = sorted(placed, key=lambda each: each[0])
        return [*(event for _, event in in_order), *self._check_faults(now)]

    def _spent(self) -> frozenset[int]:
        """The positions whose wager has had its round: the device does not latch it again until it goes and comes back."""
        report = self._report
        if report is None:
            return frozenset()
        return frozenset(
            position
            for position in self._seats.by_position
            if _spot(report, position).holds
            and (_spot(report, position).came <= report.start or position in self._kept)
        )

    def _found(self, spent: frozenset[int]) -> Iterable[tuple[_Place, SensorEvent]]:
        """The events of the first report; the wagers at `spent` have had their round."""
        spots = {position: _spot(self._report, position) for position in self._seats.by_position}
        empty = frozenset(each for each, spot in spots.items() if spot.answers == 1 and not spot.holds)
        holding = frozenset(each for each, spot in spots.items() if spot.holds)
        self._unread = {each for each, spot in spots.items() if spot.answers != 1 and not spot.holds}
        seats = self._seats.seats
        yield (0, 0), SensorsFound(seats(empty), seats(holding - spent), seats(holding & spent))
        for position in holding - spent:
            yield self._placed(position)

    def _wagers(self, known: Report) -> Iterable[tuple[_Place, SensorEvent]]:
        """The wagers that came and went since the report `known`, each with its place in the order of changes."""
        for position, seat in self._seats.by_position.items():
            was, spot = _spot(known, position), _spot(self._report, position)
            came = spot.came > was.came
            read = position in self._unread and spot.answers == 1
            if read:
                self._unread.discard(position)
            if came and was.holds:
                yield (spot.came, 0), WagerLifted(seat)  # the earlier wager went at this change at the latest
            if came and not (read and position in self._kept):
                yield self._placed(position)
            if not spot.holds and (came or was.holds or read):
                yield (spot.went, 1), WagerLifted(seat)

    def _placed(self, position: int) -> tuple[_Place, SensorEvent]:
        spot = _spot(self._report, position)
        late_for = self._late_for(position, spot)
        return (spot.came, 1), WagerPlaced(self._seats.by_position[position], spot.came, late_for)

    def _late_for(self, position: int, spot: Spot) -> int | None:
        report, latched = self._report, self._latched
        if report is not None and report.round and spot.came > report.start:
            return report.round
        if latched is None or latched.round != self._wanted.round or latched.by == self._device:
            return None
        # The device lost its power during the round, and its numbers begin again.
        return None if position in self._kept else latched.round

    def _latch(self, spent: frozenset[int]) -> Iterable[tuple[_Place, SensorEvent]]:
        """The wagers of the round that the table wants, once: only the first report of them counts."""
        report, device, wanted = self._report, self._device, self._wanted.round
        if report is None or device is None or report.round != wanted or self._is_latched(wanted):
            return
        latched = _Latched(wanted, device, report.start)
        if latched == self._over:
            return
        self._latched = latched
        self._stuck |= spent  # a round has started, so their time is over
        yield (report.start, 1), WagersLatched(wanted, self._seats.seats(report.latched - spent))

    # --- time

    def tick(self, now: float) -> list[SensorEvent]:
        """The events that only the time causes; call it about ten times a second."""
        events = self._check_faults(now) if self.here is not None else []
        wanted = self._wanted.round
        if wanted is None or self._is_latched(wanted) or self._given_up:
            return events
        if now - self._wanted_since >= START_SECONDS:
            self._given_up = True
            events.append(StartUnconfirmed(wanted))
        return events

    def disconnect(self) -> None:
        """End the connection; see `Link.disconnect`."""
        super().disconnect()
        self._sent = None
        self._sent_at = -inf

    def _check_faults(self, now: float) -> list[SensorEvent]:
        """The faults that are new, and those that are mended."""
        spent = self._spent()
        open_since = max(self._open_since, self._wanted_since)
        overdue = self._wanted.round is None and now - open_since > self._stuck_seconds
        self._stuck = spent if overdue else self._stuck & spent
        faults = frozenset(self._faults_now())
        gone, new = self._faults - faults, faults - self._faults
        self._faults = faults
        seat = self._seats.by_position.get
        return [
            *(SensorMended(each.position, seat(each.position), each.fault) for each in sorted(gone)),
            *(SensorFailed(each.position, seat(each.position), each.fault) for each in sorted(new)),
        ]

    def _faults_now(self) -> Iterable[_Fault]:
        if self._report is None:
            return
        for position in range(1, POSITIONS + 1):
            assigned = position in self._seats.by_position
            answers = _spot(self._report, position).answers
            if assigned and not answers:
                yield _Fault(position, "missing")
            if answers > 1:
                yield _Fault(position, "doubled")
            if answers and not assigned:
                yield _Fault(position, "unassigned")
            if position in self._stuck:
                yield _Fault(position, "stuck")

    # --- output

    def want(self, now: float, wanted: SensorOrders) -> None:
        """Set the table's orders; call it at least as often as `tick`, also while there is no connection.

        A START that is given while the device is lost is not sent: the device would accept it late, and latch wagers that
        came after the dealer's key. The same is true of a round that the record has when the host starts.
        """
        if wanted.round != self._wanted.round:
            self._wanted_since = now
            self._start_until = -inf if self.here is None else now + START_SECONDS
            self._given_up = False
        if wanted.round is None and self._latched is not None:
            self._latched, self._over = None, self._latched
        self._wanted = wanted

    def data_to_send(self, now: float) -> bytes:
        """The bytes for the line: the table's orders, when they are due or have changed."""
        if self.here is None:
            return self._sending(now, Ask(self._token)) if now - self._sent_at >= ORDERS_SECONDS else b""
        report = self._report if self._powered_on == self._device else None
        acknowledged = 0 if report is None else report.number
        round_ = self._round_to_send(now)
        orders = (acknowledged, round_, self._seats.positions(self._wanted.lights))
        confirmed = round_ == KEEP or (report is not None and report.round == round_)
        if orders == self._sent and now - self._sent_at < (ORDERS_SECONDS if confirmed else REPEAT_SECONDS):
            return b""
        self._sent = orders
        self._number += 1
        return self._sending(now, Orders(self._number, self._token, self.here.boot, *orders))

    def _round_to_send(self, now: float) -> int:
        """A START is sent while it is fresh and its latch is unknown.

        If the device could not confirm a START, the host does not know whether it accepted it, so it ends no round. If the
        device lost its power during the round, the START is not repeated: the device would latch later wagers.
        """
        wanted = self._wanted.round
        if wanted is None:
            return 0
        return wanted if now < self._start_until and not self._is_latched(wanted) else KEEP

    def _is_latched(self, round_: int) -> bool:
        return self._latched is not None and self._latched.round == round_

    def _sending(self, now: float, frame: Ask | Orders) -> bytes:
        self._sent_at = now
        return self._encode(frame)


def _may_be_the_same(was: Spot, spot: Spot, *, restarted: bool) -> bool:
    """Whether an earlier wager may still lie there; after a loss of power only an empty sensor proves that it does not."""
    if spot.answers == 1 and not spot.holds:
        return False
    return restarted or not (spot.went > was.went or (was.holds and spot.came > was.came))


def _spot(report: Report | None, position: int) -> Spot:
    """The state of a position; beyond the end of the chain there is no sensor."""
    if report is None or position > len(report.spots):
        return _NEVER_SEEN
    return report.spots[position - 1]
