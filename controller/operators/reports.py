"""What the record says to those who may read it: rounds, a round's inputs, a shift. Read beside the writer, never changed."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from controller.journal import store
from controller.journal.entries import ROUNDS
from controller.messages.building import public_round, timestamp
from controller.messages.models import Timestamp
from controller.table.state import RoundRecord

_AN_HOUR: Final = timedelta(hours=1)
_ROUNDS_OF_AN_HOUR: Final = 200  # more than anybody deals
_NO_ROUND: Final = 2**62  # above every round's number

_INCIDENTS: Final = {
    "call_supervisor": "called a supervisor: {reason}",
    "resume_play": "order to resume play: {reason}",
    "acknowledge_alarm": "order to acknowledge alarm {number}",
    "accept_shoe": "order to accept the shoe {serial}",
    "card_unread": "a card was not read",
    "card_overdrawn": "a card too many was drawn",
    "reverse_movement": "a card was pushed back into the shoe",
    "shoe_fault": "the shoe reported error {code}: {text}",
    "shoe_lost": "the shoe was lost: {reason}",
    "records_lost": "the shoe lost its records {first} to {last}",
    "link_noise": "{frames} broken frames within {seconds} s",
    "service_started": "the service started, version {version}",
}
"""What is out of the ordinary among the inputs, in words. An order is told as one: it may have been refused."""
_ACCESS: Final = {
    "session_begun": "signed on",
    "session_ended": "session ended: {why}",
    "access_refused": "refused {what}: {code}",
}
"""Who came in and who did not, in words."""
_TOTALS: Final = """
SELECT wager, sum(stake > 0), sum(stake), sum(returned) FROM settlements WHERE round >= ? GROUP BY wager ORDER BY wager
"""
_INPUTS: Final = (
    "SELECT seq, ts, payload FROM inputs WHERE seq >= ? AND json_extract(payload, '$.kind') IN ("  # noqa: S608 - literals
    + ", ".join(f"'{kind}'" for kind in (*_INCIDENTS, *_ACCESS))
    + ") ORDER BY seq"
)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class PastRound(_Part):
    """A round on the record: when it ended, and the name of the game that it was of."""

    ts: Timestamp
    game: str
    round: RoundRecord


class Rounds(_Part):
    """Rounds, the newest first; `more` says whether there are older ones."""

    rounds: tuple[PastRound, ...]
    more: bool


class Input(_Part):
    """An input on the record. A card that the public has not seen is null."""

    seq: int
    ts: Timestamp
    source: str
    event: dict[str, Any]


class RoundInputs(PastRound):
    """A round with every input from the end of the one before to its own."""

    inputs: tuple[Input, ...]


class WagerTotals(_Part):
    """What a wager came to, corrections included, in minor units; `wagers` counts those that were made."""

    wager: str
    wagers: int
    staked: int
    returned: int
    net: int


class Correction(_Part):
    """A round that was corrected or voided after settlement, or a card corrected before."""

    round: int
    ts: Timestamp
    corrects: int | None
    who: str | None
    approved_by: str | None
    reason: str | None
    net: int


class VoidCoup(_Part):
    """A misdeal."""

    round: int
    ts: Timestamp
    who: str | None
    approved_by: str | None
    reason: str | None


class Incident(_Part):
    """Something out of the ordinary on the record: what the shoe reported, a call, and who saw to it."""

    seq: int
    ts: Timestamp
    kind: str
    who: str | None
    text: str


class Entrance(_Part):
    """A sign-on, its end, or a refusal."""

    seq: int
    ts: Timestamp
    kind: str
    who: str | None
    text: str
    where: str | None


class Shift(_Part):
    """The last hours of a table. `rounds` counts by status; lists are in order."""

    since: Timestamp
    until: Timestamp
    rounds: dict[str, int]
    hands_an_hour: float | None
    wagers: tuple[WagerTotals, ...]
    voids: tuple[VoidCoup, ...]
    corrections: tuple[Correction, ...]
    alarms: tuple[Incident, ...]
    access: tuple[Entrance, ...]


class Reports:
    """Reports from the record at `path`; each is read in one transaction of its own, in a thread if that is wanted."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def rounds(self, before: int | None, limit: int) -> Rounds:
        """At most `limit` rounds before the one of this number, or the last ones.

        Raises:
            RecordError: the record cannot be read.
        """
        with self._open() as connection:
            rows = connection.execute(
                "SELECT ts, game, record FROM rounds WHERE round < ? ORDER BY round DESC LIMIT ?",
                (_NO_ROUND if before is None else before, limit + 1),
            ).fetchall()
        found = tuple(_past(*row) for row in rows[:limit])
        return Rounds(rounds=found, more=len(rows) > limit)

    def round(self, number: int, *, hide: bool) -> RoundInputs | None:
        """A round with its inputs, None where there is none of this number.

        `hide` takes out the cards that it has not shown; those of a hand voided before the reveal are never in it.

        Raises:
            RecordError: the record cannot be read.
        """
        with self._open() as connection:
            row = connection.execute(
                "SELECT ts, game, record, input FROM rounds WHERE round = ?", (number,)
            ).fetchone()
            if row is None:
                return None
            *past, last = row
            before = connection.execute(
                "SELECT input FROM rounds WHERE round < ? ORDER BY round DESC LIMIT 1", (number,)
            ).fetchone()
            first = min(last, (0 if before is None else before[0]) + 1)
            inputs = connection.execute(
                "SELECT seq, ts, source, payload FROM inputs WHERE seq BETWEEN ? AND ? ORDER BY seq",
                (first, last),
            ).fetchall()
        ended = _past(*past)
        events = [json.loads(payload) for *_, payload in inputs]
        if hide or ended.round.hidden or ended.round.status == "correction":
            _hide(events, ended.round)
        return RoundInputs(
            **dict(ended),
            inputs=tuple(
                Input(seq=seq, ts=ts, source=source, event=event)
                for (seq, ts, source, _), event in zip(inputs, events, strict=True)
            ),
        )

    def hands_an_hour(self, now: datetime) -> float | None:
        """How fast coups came over the last hour, from the first of them to now; None of fewer than two.

        Raises:
            RecordError: the record cannot be read.
        """
        with self._open() as connection:
            rows = connection.execute(
                "SELECT ts FROM rounds WHERE status = 'played' ORDER BY round DESC LIMIT ?",
                (_ROUNDS_OF_AN_HOUR,),
            ).fetchall()
        return _pace([ts for (ts,) in rows if ts >= timestamp(now - _AN_HOUR)], now)

    def shift(self, hours: int, now: datetime) -> Shift:
        """What happened in so many hours until now.

        Raises:
            RecordError: the record cannot be read.
        """
        since = timestamp(now - timedelta(hours=hours))
        with self._open() as connection:
            round_ = _first_since(connection, "rounds", "round", since)
            seq = _first_since(connection, "inputs", "seq", since)
            rows = connection.execute(
                "SELECT ts, game, record FROM rounds WHERE round >= ? ORDER BY round", (round_,)
            ).fetchall()
            totals = connection.execute(_TOTALS, (round_,)).fetchall()
            inputs = connection.execute(_INPUTS, (seq,)).fetchall()
        rounds = [_past(*row) for row in rows]
        events = [(seq, ts, json.loads(payload)) for seq, ts, payload in inputs]
        return Shift(
            since=since,
            until=timestamp(now),
            rounds=dict(Counter(each.round.status for each in rounds)),
            hands_an_hour=_pace([each.ts for each in rounds if each.round.status == "played"], now),
            wagers=tuple(
                WagerTotals(wager=wager, wagers=made, staked=staked, returned=returned, net=returned - staked)
                for wager, made, staked, returned in totals
            ),
            voids=tuple(
                VoidCoup(
                    round=each.round.round,
                    ts=each.ts,
                    who=each.round.who,
                    approved_by=each.round.approved_by,
                    reason=each.round.reason,
                )
                for each in rounds
                if each.round.status == "void"
            ),
            corrections=tuple(correction for each in rounds for correction in _corrections(each)),
            alarms=tuple(_incident(*each) for each in events if each[2]["kind"] not in _ACCESS),
            access=tuple(_entrance(*each) for each in events if each[2]["kind"] in _ACCESS),
        )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(store.open_for_reading(self._path)) as connection:
            try:
                connection.execute("BEGIN")  # one view of the record, though the service adds to it
                yield connection
            except sqlite3.Error as error:
                raise store.damaged(error) from error


def _first_since(connection: sqlite3.Connection, table: str, number: str, since: str) -> int:
    """The number of the first row at or after a time, by halving: numbers have no gaps, and times rise with them.

    Where the clock was set back in between, it is one of those that it may be.
    """
    low = 1
    high: int = connection.execute(f"SELECT coalesce(max({number}), 0) FROM {table}").fetchone()[0] + 1  # noqa: S608 - literals
    while low < high:
        middle = (low + high) // 2
        row = connection.execute(f"SELECT ts FROM {table} WHERE {number} = ?", (middle,)).fetchone()  # noqa: S608 - literals
        if row[0] < since:
            low = middle + 1
        else:
            high = middle
    return low


def _past(ts: str, game: str, record: str) -> PastRound:
    return PastRound(ts=ts, game=game, round=public_round(ROUNDS.validate_json(record, strict=True)))


def _hide(events: list[dict[str, Any]], shown: RoundRecord) -> None:
    """Take the cards out that the round has not shown: of a hand voided before the reveal, or drawn for a later one."""
    # What left the shoe before a correction's entry was not of the round that it corrects.
    own = () if shown.status == "correction" else (*shown.player, *shown.banker)
    cards = Counter(str(card) for card in own)
    for event in events:
        card = event.get("card")
        if card is None:
            continue
        if cards[card] and event["kind"] != "card_overdrawn":
            cards[card] -= 1
        else:
            event["card"] = None


def _pace(times: list[str], now: datetime) -> float | None:
    if len(times) < 2:
        return None
    hours = (now - datetime.fromisoformat(min(times))) / _AN_HOUR
    return round(len(times) / hours, 1) if hours > 0 else None


def _corrections(past: PastRound) -> Iterator[Correction]:
    """The entry that a round is, or each card of it that was corrected before settlement."""
    record = past.round
    for card in record.corrections:
        yield Correction(
            round=record.round,
            ts=past.ts,
            corrects=None,
            who=card.who,
            approved_by=None,
            reason=card.reason,
            net=0,
        )
    if record.status == "correction":
        yield _entry(past)


def _entry(past: PastRound) -> Correction:
    record = past.round
    return Correction(
        round=record.round,
        ts=past.ts,
        corrects=record.corrects,
        who=record.who,
        approved_by=record.approved_by,
        reason=record.reason,
        net=sum(each.net for each in record.settlements),
    )


def _incident(seq: int, ts: str, event: dict[str, Any]) -> Incident:
    kind = event["kind"]
    return Incident(seq=seq, ts=ts, kind=kind, who=event.get("who"), text=_INCIDENTS[kind].format_map(event))


def _entrance(seq: int, ts: str, event: dict[str, Any]) -> Entrance:
    kind = event["kind"]
    return Entrance(
        seq=seq,
        ts=ts,
        kind=kind,
        who=event["who"],
        text=_ACCESS[kind].format_map(event),
        where=event.get("where"),
    )
