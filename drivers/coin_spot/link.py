"""The host's end of the wager sensors' link without I/O: bytes and the time go in, events and bytes come out.

The law is docs/reference/coin-spot.md: each report is the device's whole picture, and an event is where it differs from what was told
before. So a report that is lost is made good by the next, and one that comes twice tells nothing. Which wagers are in a
round the device decides, when it takes the START; nothing that comes later is in it.

One `CoinSpotLink` lives as long as its driver, over many connections. Times are seconds of any clock that does not go back.

    link.want(now, orders)
    send(link.data_to_send(now))             # acknowledges what `receive` gave: that must be safe by now
    events = link.receive(data, now) + link.tick(now)
"""

from collections.abc import Callable, Iterable, Mapping
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
from punto.drivers.framing import encode

_TYPES: Final[Mapping[int, Callable[[int, bytes], FromDevice]]] = {
    Here.TYPE: Here.parse,
    Report.TYPE: Report.parse,
}
_NEVER_SEEN: Final = Spot(answers=0)

_Place = tuple[int, int]
"""An event's place in the order of the device's changes: a number, and which comes first of two that have it."""


class PowerOn(NamedTuple):
    """A device between two losses of its power; its changes are numbered within one."""

    serial: str
    boot: int


class _Latched(NamedTuple):
    """The last round whose wagers were told, who latched them, and by which START."""

    round: int
    by: PowerOn
    start: int


class _Fault(NamedTuple):
    position: int
    fault: SensorFault


@dataclass(slots=True)
class LinkCounters(link.LinkCounters):
    """What the link has seen, besides what every link counts."""

    changes: int = 0  # reports that told something new
    stale: int = 0  # frames from before what is known already
    held_back: int = (
        0  # reports that are not for this connection, or of a power-on that has not introduced itself
    )
    restarts: int = 0


class CoinSpotLink(link.Link[FromDevice]):
    """A chain of wager sensors, over all its connections.

    After the end of a round a wager that was in it has `stuck_seconds` to go before its sensor is called stuck.
    """

    counters: LinkCounters
    here: Here | None

    def __init__(self, seats: Seats, stuck_seconds: float) -> None:
        super().__init__("coin spot", _TYPES, LinkCounters())
        self._seats = seats
        self._stuck_seconds = stuck_seconds
        # What the device said, and what of it was told.
        self._device: PowerOn | None = None
        self._picture: Report | None = None  # of that device
        self._latched: _Latched | None = None
        self._over: _Latched | None = None  # the one before, which a START of the same round does not take up
        self._faults: frozenset[_Fault] = frozenset()
        # Wagers that have had their round, and were not seen to go since.
        self._kept: frozenset[int] = frozenset()  # over a loss of power, of which the device knows nothing
        self._unread: set[int] = set()  # positions of which the first picture could say nothing
        self._stuck: frozenset[int] = frozenset()
        self._open_since = inf
        # What the table wants, and what the device was told.
        self._wanted = SensorOrders()
        self._wanted_since = 0.0
        self._start_until = -inf
        self._given_up = False  # the START that is wanted
        self._said: tuple[int, int, frozenset[int]] | None = None
        self._said_at = -inf
        self._number = 0  # of the last orders

    def disconnect(self) -> None:
        """End the connection: the device is not there until it answers in another."""
        self._lose()

    # --- what comes in

    def receive(self, data: bytes, now: float) -> list[SensorEvent]:
        """Take bytes from the line; give what they tell, in the device's order."""
        events: list[SensorEvent] = []
        for frame in self._decoder.feed(data):
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
        self._said = None

    def _is_from_before(self, here: Here) -> bool:
        """Whether the line gave it late: a device's power-ons count up while it is connected."""
        return self.here is not None and here.serial == self.here.serial and here.boot < self.here.boot

    def _is_for_us(self, report: Report) -> bool:
        if self.here is None or (report.token, report.boot) != (self._token, self.here.boot):
            self.counters.held_back += 1
            return False
        if self._picture is not None and self._powered_on == self._device:
            stale = report.number < self._picture.number
            self.counters.stale += stale
            return not stale
        return True

    @property
    def _powered_on(self) -> PowerOn | None:
        return None if self.here is None else PowerOn(self.here.serial, self.here.boot)

    def _take_report(self, report: Report, now: float) -> list[SensorEvent]:
        self._heard(now)
        self._number = max(self._number, report.taken)
        before, device = self._picture, self._powered_on
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
        self._device, self._picture = device, report
        self._kept = still if restarted else self._kept & still
        latched = list(self._latch(still))
        if known is None:
            told = [*self._found(self._kept if latched else self._spent()), *latched]
        else:
            told = [*self._wagers(known), *latched]
        return [*(event for _, event in sorted(told, key=lambda each: each[0])), *self._judge(now)]

    def _spent(self) -> frozenset[int]:
        """The positions whose wager has had its round: the device latches it no more until it goes and comes again."""
        picture = self._picture
        if picture is None:
            return frozenset()
        return frozenset(
            position
            for position in self._seats.by_position
            if _spot(picture, position).holds
            and (_spot(picture, position).came <= picture.start or position in self._kept)
        )

    def _found(self, spent: frozenset[int]) -> Iterable[tuple[_Place, SensorEvent]]:
        """What the first picture shows, of whose sensors nothing is known yet; `spent` have had their round."""
        spots = {position: _spot(self._picture, position) for position in self._seats.by_position}
        empty = frozenset(each for each, spot in spots.items() if spot.answers == 1 and not spot.holds)
        holding = frozenset(each for each, spot in spots.items() if spot.holds)
        self._unread = {each for each, spot in spots.items() if spot.answers != 1 and not spot.holds}
        seats = self._seats.seats
        yield (0, 0), SensorsFound(seats(empty), seats(holding - spent), seats(holding & spent))
        for position in holding - spent:
            yield self._placed(position)

    def _wagers(self, known: Report) -> Iterable[tuple[_Place, SensorEvent]]:
        """What came and what went since the picture `known`, each with its place in the order of changes."""
        for position, seat in self._seats.by_position.items():
            was, spot = _spot(known, position), _spot(self._picture, position)
            came = spot.came > was.came
            read = position in self._unread and spot.answers == 1
            if read:
                self._unread.discard(position)
            if came and was.holds:
                yield (spot.came, 0), WagerLifted(seat)  # by then at the latest
            if came and not (read and position in self._kept):
                yield self._placed(position)
            if not spot.holds and (came or was.holds or read):
                yield (spot.went, 1), WagerLifted(seat)

    def _placed(self, position: int) -> tuple[_Place, SensorEvent]:
        spot = _spot(self._picture, position)
        late_for = self._late_for(position, spot)
        return (spot.came, 1), WagerPlaced(self._seats.by_position[position], spot.came, late_for)

    def _late_for(self, position: int, spot: Spot) -> int | None:
        picture, latched = self._picture, self._latched
        if picture is not None and picture.round and spot.came > picture.start:
            return picture.round
        if latched is None or latched.round != self._wanted.round or latched.by == self._device:
            return None
        # The device lost its power in mid-round, and its numbers begin anew.
        return None if position in self._kept else latched.round

    def _latch(self, spent: frozenset[int]) -> Iterable[tuple[_Place, SensorEvent]]:
        """The wagers of the round that is wanted, once: the first that were told are the truth."""
        picture, device, wanted = self._picture, self._device, self._wanted.round
        if picture is None or device is None or picture.round != wanted or self._is_latched(wanted):
            return
        latched = _Latched(wanted, device, picture.start)
        if latched == self._over:
            return
        self._latched = latched
        self._stuck |= spent  # no time is left for them
        yield (picture.start, 1), WagersLatched(wanted, self._seats.seats(picture.latched - spent))

    # --- what time brings

    def tick(self, now: float) -> list[SensorEvent]:
        """Notice what is overdue; call some ten times a second."""
        events = self._judge(now) if self.here is not None else []
        wanted = self._wanted.round
        if wanted is None or self._is_latched(wanted) or self._given_up:
            return events
        if now - self._wanted_since >= START_SECONDS:
            self._given_up = True
            events.append(StartUnconfirmed(wanted))
        return events

    def _lose(self) -> None:
        super()._lose()
        self._said = None
        self._said_at = -inf

    def _judge(self, now: float) -> list[SensorEvent]:
        """The faults that are new, and those that have gone."""
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
        if self._picture is None:
            return
        for position in range(1, POSITIONS + 1):
            assigned = position in self._seats.by_position
            answers = _spot(self._picture, position).answers
            if assigned and not answers:
                yield _Fault(position, "missing")
            if answers > 1:
                yield _Fault(position, "doubled")
            if answers and not assigned:
                yield _Fault(position, "unassigned")
            if position in self._stuck:
                yield _Fault(position, "stuck")

    # --- what goes out

    def want(self, now: float, wanted: SensorOrders) -> None:
        """Take what the table wants; call at least as often as `tick`, also while there is no connection.

        A START that is given while the device is not there is not for it: it would take it late, and latch wagers that
        came after the dealer's key. So is what a record left off with, when its host begins.
        """
        if wanted.round != self._wanted.round:
            self._wanted_since = now
            self._start_until = -inf if self.here is None else now + START_SECONDS
            self._given_up = False
        if wanted.round is None and self._latched is not None:
            self._latched, self._over = None, self._latched
        self._wanted = wanted

    def data_to_send(self, now: float) -> bytes:
        """Return the bytes for the line: what the table wants, when that is due or has changed."""
        if self.here is None:
            return self._sent(now, Ask(self._token)) if now - self._said_at >= ORDERS_SECONDS else b""
        picture = self._picture if self._powered_on == self._device else None
        acknowledged = 0 if picture is None else picture.number
        round_ = self._round_to_say(now)
        saying = (acknowledged, round_, self._seats.positions(self._wanted.lights))
        confirmed = round_ == KEEP or (picture is not None and picture.round == round_)
        if saying == self._said and now - self._said_at < (ORDERS_SECONDS if confirmed else REPEAT_SECONDS):
            return b""
        self._said = saying
        self._number += 1
        return self._sent(now, Orders(self._number, self._token, self.here.boot, *saying))

    def _round_to_say(self, now: float) -> int:
        """A START is said while it is fresh and its latch is not known.

        Whether the device took one that it could not confirm is not known, so nothing is ended. And one that lost its power
        in the round is not told of it again: it would latch what came since.
        """
        wanted = self._wanted.round
        if wanted is None:
            return 0
        return wanted if now < self._start_until and not self._is_latched(wanted) else KEEP

    def _is_latched(self, round_: int) -> bool:
        return self._latched is not None and self._latched.round == round_

    def _sent(self, now: float, frame: Ask | Orders) -> bytes:
        self._said_at = now
        return encode(frame)


def _may_be_the_same(was: Spot, spot: Spot, *, restarted: bool) -> bool:
    """Whether a wager that lay there may lie there still; after a loss of power only an empty sensor says that it does not."""
    if spot.answers == 1 and not spot.holds:
        return False
    return restarted or not (spot.went > was.went or (was.holds and spot.came > was.came))


def _spot(report: Report | None, position: int) -> Spot:
    """What lies there; on a chain that does not reach so far, nothing."""
    if report is None or position > len(report.spots):
        return _NEVER_SEEN
    return report.spots[position - 1]
