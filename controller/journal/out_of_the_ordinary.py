"""What was out of the ordinary on a record, in words: incidents and entrances, for the shift report and the house's services.

The words name no card that the public may not see: alarms are public, and refused orders with a card are left out.
"""

import dataclasses
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.events import Access, BooksOrder, GameOrder, Sensed
from punto.baccarat.table.failing import INTERNAL_ERROR
from punto.configs.problems import cut
from punto.controller.journal import schema
from punto.messages.models import Part, Timestamp
from punto.messages.requests import LONGEST_INCIDENT, RecordedIncident

Remark = Literal["refused", "alarm", "stop", "card_awaited"]
"""The kinds of rows in `incidents`."""
What = Remark | Literal["call", "order", "device"]
_ORDERS: Final = {kind: each.report for kind, each in CATALOGUE.items() if each.report is not None}
"""The texts for orders; an order that the table refused has the refusal's reason instead."""
_RAISES: Final[Mapping[str, What]] = {"call_supervisor": "call", "hold_play": "stop"}
"""The orders that raise an alarm or a stop."""
_SAID_BY_ORDER: Final = frozenset({"supervisor_called", "held"})
"""The codes of what these orders raise, which has the order's text again."""
_OF_THE_METER: Final = tuple(
    str(field.default)
    for kind in get_args(Sensed | GameOrder | BooksOrder)
    for field in dataclasses.fields(kind)
    if field.name == "kind"
)
"""The inputs of a progressive's game and the orders for its meter, which are listed if they were refused."""
_KEYPAD: Final = "the configuration keypad was "
_DEVICES: Final = {
    "lid_moved": "the shoe's lid was {moved}",
    "configuration_keypad": _KEYPAD + "{moved}",
    "card_overdrawn": "one card too many was drawn",
    "shoe_lost": "the shoe was lost: {reason}",
    "service_started": "the service started, version {version}",
    "clock_stepped": "the clock of the PC was set: after {before} came {after}",
}
"""The texts for events of devices and of the PC for which the table has no text of its own."""
_MOVED: Final = {
    ("lid_moved", True): "opened",
    ("lid_moved", False): "closed",
    ("configuration_keypad", True): "plugged in",
    ("configuration_keypad", False): "unplugged",
}
LID_CLOSED: Final = _DEVICES["lid_moved"].format(moved="closed")
_ACCESS: Final = {
    "session_begun": "signed on",
    "session_ended": "session ended: {why}",
    "access_refused": "refused {what}: {code}",
}
"""The texts for sign-ons, sign-offs and refusals."""
REFUSED: Final = "refused: "
"""The text of a refused order or of a refused report of a sensor begins with it, and no other."""
ENTRANCE_KINDS: Final = frozenset(_ACCESS)
"""The kinds of entrances; every other kind is an incident's."""
JOURNAL_KINDS: Final = frozenset(
    (_ORDERS.keys() - _RAISES.keys()) | (_DEVICES.keys() - {"configuration_keypad"})
)
"""The kinds of incidents that are entries of a journal: they are neither alarms nor stops nor calls."""
JOURNAL_TEXTS: Final = (REFUSED, _KEYPAD)
"""How the texts of the other entries begin: an alarm has the code of the keypad's event too."""


def words_of_access(access: Access) -> str:
    """The text for a sign-on, its end or a refusal."""
    return _ACCESS[access.kind].format_map(dataclasses.asdict(access))


def _kinds(*kinds: str) -> str:
    return f"json_extract(payload, '$.kind') IN ({', '.join(map(repr, kinds))})"


_INCIDENTS_OF: Final = "SELECT input FROM incidents WHERE input BETWEEN :first AND :last"
INCIDENTS: Final = (
    f"({_kinds(*_ORDERS, *_DEVICES)} OR seq IN ({_INCIDENTS_OF} AND (kind != 'refused' OR code = '{INTERNAL_ERROR}')) "
    f"OR ({_kinds(*_OF_THE_METER)} AND seq IN ({_INCIDENTS_OF} AND kind = 'refused')))"
)
"""The inputs with incidents, as an SQL condition for `noted`."""
ENTRANCES: Final = _kinds(*_ACCESS)
"""The inputs that are entrances, as an SQL condition for `noted`."""
_REMARKS: Final = (
    "SELECT input, kind, code, text FROM incidents WHERE input BETWEEN ? AND ? ORDER BY input, place"
)
_NO_INPUT: Final = 2**62  # above every input's number

MOST_SCANNED: Final = 5000
"""Inputs that `incidents_after` reads at most: some 12 ms."""
MOST_OF_ONE: Final = 100
"""Incidents of one input in `incidents_after`: a shoe that deals while play is held leaves an alarm for each card, all at once."""


class Incident(Part):
    """An unusual event: an alarm, a stop or a card to be keyed, by its code; a call, and who handled it.

    `what` is its sort: an order is one that handled an alarm or a stop, and a device's event is none of the others. `source` is the
    source of the input: a device, or "operator" and the name of the console's operator.
    """

    seq: int
    ts: Timestamp
    kind: str
    what: What
    source: str
    who: str | None
    text: str


class Entrance(Part):
    """A sign-on, its end, or a refusal."""

    seq: int
    ts: Timestamp
    kind: str
    who: str | None
    text: str
    where: str | None


class Noted(NamedTuple):
    """An input, with the kind, code and text of each of its rows in `incidents`."""

    seq: int
    ts: str
    source: str
    event: dict[str, Any]
    remarks: list[tuple[Remark, str, str]]

    def incidents(self) -> Iterator[Incident]:
        """The incidents of the input: the order, the table's alarms, or else the device's event."""
        event = self.event
        kind = event["kind"]

        def incident(what: What, code: str, text: str, who: str | None = None) -> Incident:
            return Incident(
                seq=self.seq, ts=self.ts, kind=code, what=what, source=self.source, who=who, text=text
            )

        refusals = [text for what, _, text in self.remarks if what == "refused"]
        if refusals:
            yield incident("refused", kind, f"{REFUSED}{refusals[0]}", event.get("who"))
        elif kind in _ORDERS:
            yield incident(_RAISES.get(kind, "order"), kind, _ORDERS[kind].format_map(event), event["who"])
        alarms = [
            (what, code, text)
            for what, code, text in self.remarks
            if what != "refused" and code not in _SAID_BY_ORDER
        ]
        for what, code, text in alarms:
            # The alarm itself is public, and does not name an account.
            yield incident(what, code, text, event["who"] if code == "flood" else None)
        if kind in _DEVICES and not alarms:
            moved = _MOVED.get((kind, event.get("open", event.get("attached", False))))
            yield incident("device", kind, _DEVICES[kind].format_map({**event, "moved": moved}))

    def entrances(self) -> Iterator[Entrance]:
        """The entrance that the input is, if it is one."""
        kind = self.event["kind"]
        if kind in _ACCESS:
            yield Entrance(
                seq=self.seq,
                ts=self.ts,
                kind=kind,
                who=self.event["who"],
                text=_ACCESS[kind].format_map(self.event),
                where=self.event.get("where"),
            )

    def recorded(self) -> Iterator[RecordedIncident]:
        """The entrance and the incidents of the input, as they are sent."""
        own: Iterator[Entrance | Incident] = chain(self.entrances(), self.incidents())
        for place, each in enumerate(islice(own, MOST_OF_ONE)):
            yield RecordedIncident(
                seq=self.seq,
                place=place,
                ts=self.ts,
                kind=each.kind,
                source=self.source,
                who=each.who,
                text=cut(each.text, LONGEST_INCIDENT - 1),
                where=each.where if isinstance(each, Entrance) else None,
            )


def noted(
    connection: sqlite3.Connection,
    which: str,
    most: int,
    first: int,
    last: int = _NO_INPUT,
    *,
    newest: bool = False,
) -> list[Noted]:
    """The inputs `first` to `last` that meet the condition `which`, in order: at most `most`, the first or the newest of them."""
    rows = connection.execute(
        f"SELECT seq, ts, source, payload FROM inputs WHERE seq BETWEEN :first AND :last AND ({which}) "  # noqa: S608 - literals
        f"ORDER BY seq {'DESC' if newest else 'ASC'} LIMIT :most",
        {"first": first, "last": last, "most": most},
    ).fetchall()
    if newest:
        rows.reverse()
    remarks: defaultdict[int, list[tuple[Remark, str, str]]] = defaultdict(list)
    if rows:
        for number, *remark in connection.execute(_REMARKS, (rows[0][0], rows[-1][0])):
            remarks[number].append((remark[0], remark[1], remark[2]))
    return [Noted(seq, ts, source, json.loads(payload), remarks[seq]) for seq, ts, source, payload in rows]


def incidents_after(
    path: Path, after: int, last: int, limit: int
) -> tuple[tuple[RecordedIncident, ...], int]:
    """At most `limit` incidents and entrances of the inputs after `after`, and the number of the input up to which these are all.

    They are in order. Those of one input are together: at most `MOST_OF_ONE`, also if `limit` is less. Inputs after `last` are not
    read. It works in any thread.

    Raises:
        RecordError: the record cannot be read.
    """
    until = min(after + MOST_SCANNED, last)
    found: list[RecordedIncident] = []
    if after < until:
        with schema.reading(path) as connection:
            inputs = noted(connection, f"{INCIDENTS} OR {ENTRANCES}", limit, after + 1, until)
        if len(inputs) == limit:
            until = inputs[-1].seq
        for each in inputs:
            own = list(each.recorded())
            if found and len(found) + len(own) > limit:
                return tuple(found), each.seq - 1
            found += own
    return tuple(found), until
