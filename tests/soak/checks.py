"""What must be true after an evening of faults, of the records, of what a subscriber heard, and of each seat's answers."""

import dataclasses
import json
import sqlite3
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from punto.baccarat.table.events import Event, SetWager
from punto.baccarat.table.state import RoundRecord, TableState
from punto.controller.components import own_version
from punto.controller.journal.audit import audit, compare
from punto.controller.journal.recovery import replay
from tests.controller.table_on_a_machine import (
    STAFF,
    cards,
    expected_cards,
    expected_rounds,
    inputs,
    round_records,
    rounds,
    settlements,
    shoe_records,
)
from tests.simulated.checks import MAY, Record
from tests.simulated.plan import Wrong
from tests.soak.house import House, Service
from tests.soak.people import Seats, Subscriber

METERED: Final = "progressive"
"""The wager on the meter, which is made with coins."""
_LOADED: Final = "SELECT seq FROM inputs WHERE json_extract(payload, '$.kind') = 'lid_moved' AND json_extract(payload, '$.open') ORDER BY seq"
_ENDED: Final = "SELECT input FROM rounds ORDER BY round"


class SoakRecord(Record):
    """The checks of a simulation on a record: chain, wagers, settlements, books, each computed again by other code."""

    may: Mapping[str, frozenset[str]] = dict.fromkeys(MAY, frozenset({STAFF["name"]}))

    def __init__(self, path: Path) -> None:
        super().__init__(path, None)
        self.returned: set[str] = set()
        """The ids of accepted wagers that went back to their seats, because the shoe was changed or the table was closed."""
        self._staked: set[str] = set()

    def _accept(self, seq: int, source: str, event: Event, before: TableState) -> None:
        super()._accept(seq, source, event, before)
        if isinstance(event, SetWager):
            self._staked.add(event.id)
        elif event.kind in {"change_shoe", "close_table"}:
            self.returned |= self._staked
            self._staked.clear()

    def needs_second(self, event: Event, state: TableState) -> bool:
        """One person does everything here, except what the house asks a second person for."""
        return event.kind in state.settings.approval

    def balance(self, state: TableState) -> None:
        """Nothing: an audit checks the books of linked services, over all their records."""

    def _book(self, entry: Any, state: TableState) -> None:
        """Nothing, as above."""

    def _end(self, record: RoundRecord, before: TableState) -> None:
        """The wager on the meter is for the audit too."""
        self._staked.clear()
        others = tuple(each for each in record.settlements if each.wager != METERED)
        super()._end(dataclasses.replace(record, settlements=others), before)


def check(house: House, seats: Mapping[str, Seats], subscriber: Subscriber, seed: int) -> Counter[str]:
    """Check everything; the services are stopped. The figures are what was counted on the way.

    Raises:
        Wrong: something was lost, doubled or changed.
    """
    found: Counter[str] = Counter()
    records: dict[str, SoakRecord] = {}
    for service in house.services:
        records[service.name] = _record(service)
        found["inputs"] += records[service.name].seq
        found["starts"] += len(inputs(service.record, "service_started"))
        found["clock steps on the records"] += len(inputs(service.record, "clock_stepped"))
    for table in house.tables:
        _shoe(table, f"soak {seed} {table.name}")
        found["cards"] += len(cards(table.record))
        found["losses of a shoe on the records"] += len(inputs(table.record, "shoe_lost"))
        _published(table, subscriber)
        found["rounds"] += len(rounds(table.record))
        found["rounds that the subscriber had to ask for"] += len(subscriber.requested[table.name])
        found += _wagers(table, seats[table.name], records[table.name])
    found["messages that came again"] += subscriber.again
    found += _meter(house)
    return found


def _record(service: Service) -> SoakRecord:
    found = replay(service.record, version=own_version())
    if found.difference is not None:
        raise Wrong(f"{service.name}: the replay says {found.difference}")
    if inputs(service.record, "record_differs") or "the record differs" in "\n".join(service.said()):
        raise Wrong(f"{service.name} says that its record differs")
    record = SoakRecord(service.record)
    with closing(record):
        record.read()
    if len(record.rounds) != len(rounds(service.record)):
        raise Wrong(
            f"{service.name}: {len(rounds(service.record))} rounds, but the inputs give {len(record.rounds)}"
        )
    return record


def _shoe(table: Service, seed: str) -> None:
    """Its records are on the record once and in order, and the cards are those of its shoes, in order."""
    numbers = shoe_records(table.record)
    if numbers != list(range(1, len(numbers) + 1)):
        raise Wrong(f"{table.name}: the shoe's records are not once and in order on the record: {numbers}")
    shoes: list[list[str]] = []
    for event in inputs(table.record, "lid_moved", "card_drawn", "card_overdrawn"):
        if event["kind"] == "lid_moved":
            shoes += [[]] * event["open"]  # new cards
        else:
            shoes[-1] = [*shoes[-1], event["card"]]
    for number, dealt in enumerate(shoes, 1):
        # A dealer may change the shoe before its end.
        if dealt != expected_cards(seed, number)[: len(dealt)]:
            raise Wrong(f"{table.name}: the cards are not those of its shoe {number}: {dealt}")
    with closing(sqlite3.connect(f"file:{table.record}?mode=ro", uri=True)) as database:
        loaded = [seq for (seq,) in database.execute(_LOADED)]
        ended = [seq for (seq,) in database.execute(_ENDED)]
    for hand, seq in zip(rounds(table.record), ended, strict=True):
        right = expected_rounds(seed, bisect(loaded, seq))[hand.coup - 1]
        # A table whose dealer orders the change twice counts a shoe more than was loaded: then its cards alone are compared, above.
        if hand.shoe == bisect(loaded, seq) and hand != right:
            raise Wrong(f"{table.name}: {hand} is on the record, but the shoe gives {right}")


def _published(table: Service, subscriber: Subscriber) -> None:
    """Each round on the record was heard, and nothing else, as it is on the record."""
    heard, recorded = subscriber.rounds[table.name], round_records(table.record)
    if sorted(heard) != list(range(1, len(recorded) + 1)):
        missing = set(range(1, len(recorded) + 1)) ^ set(heard)
        raise Wrong(f"{table.name}: rounds that were heard or recorded, but not both: {sorted(missing)}")
    for number, round_ in enumerate(recorded, 1):
        if heard[number]["round"] != round_:
            raise Wrong(
                f"{table.name}: round {number} was heard as {heard[number]}, but the record has {round_}"
            )


def _wagers(  # noqa: C901, PLR0912 - flat: one case for each answer
    table: Service, seats: Seats, record: SoakRecord
) -> Counter[str]:
    """Each request that was answered accepted is on the record once and settled once; one that was refused is neither."""
    asked = defaultdict(list)
    for event in inputs(table.record, "set_wager"):
        asked[event["id"]].append(event)
    staked = settlements(table.record)
    with closing(sqlite3.connect(f"file:{table.record}?mode=ro", uri=True)) as database:
        ended = [input_ for (input_,) in database.execute(_ENDED)]
    last = len(ended)
    found: Counter[str] = Counter()
    expected = set()
    for name, request in seats.asked.items():
        round_, wager, amount = (request.payload[key] for key in ("round", "wager", "amount"))
        place = (round_, request.seat, wager)
        found["wager requests"] += 1
        found["wager requests that were repeated"] += request.sent > 1
        if len({json.dumps(each) for each in request.answers if each["accepted"]}) > 1:
            raise Wrong(f"{table.name}: {name} was accepted in different words: {request.answers}")
        if request.accepted:
            found["wagers accepted"] += 1
            if name in record.returned:
                found["wagers accepted, and returned by a change of the shoe"] += 1
                if place in staked:
                    raise Wrong(f"{table.name}: {name} was returned, but it is settled")
                continue
            if name not in asked:
                raise Wrong(f"{table.name}: {name} was accepted, but it is not on the record")
            if round_ <= last and staked.get(place) != amount:
                raise Wrong(
                    f"{table.name}: {name} of {amount} was accepted, but settled as {staked.get(place)}"
                )
            expected.add(place)
        elif request.refused:
            found["wagers refused"] += 1
            if place in staked:
                # The answer to the first request was lost, and the request was repeated after its two rounds.
                if any(bisect(ended, each["seq"]) < round_ + 1 for each in request.answers):
                    raise Wrong(f"{table.name}: {name} was refused, but it is settled: {request.answers}")
                found["wagers accepted, of which the answer came too late"] += 1
                expected.add(place)
        else:
            found["wager requests without an answer"] += 1
            expected.add(place)
    if strange := [place for place in staked if place not in expected and place[2] != METERED]:
        raise Wrong(f"{table.name}: nobody made the wagers {strange}")
    return found


def _meter(house: House) -> Counter[str]:
    """The authority's books are the sum of what its tables recorded."""
    books = audit(house.authority.record)
    if books.difference is not None:
        raise Wrong(f"the authority's books: {books.difference}")
    for table in house.linked:
        part = audit(table.record)
        if part.difference is not None:
            raise Wrong(f"the books of {table.name}: {part.difference}")
        if (differs := compare(books, part).difference) is not None:
            raise Wrong(f"the authority and {table.name}: {differs}")
    with closing(sqlite3.connect(f"file:{house.authority.record}?mode=ro", uri=True)) as database:
        kinds: Any = database.execute("SELECT kind, count(*) FROM progressive_log GROUP BY kind").fetchall()
    return Counter({"postings of the meter": books.postings, "awards of the meter": books.awards}) + Counter(
        {f"meter: {kind}": number for kind, number in kinds if not kind.startswith("award_")}
    )
