"""What a witness finds in the heads that it hears. It is pure: heads and times go in, findings come out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from punto.controller.journal.entries import Head
from punto.controller.signing.heads import SignedHead

Kind = Literal[
    "unsigned",
    "forged",
    "key",
    "forked",
    "behind",
    "silent",
    "late",
    "flood",
    "other_record",
    "replayed",
    "withdrawn",
]
_WORDS: Final[dict[Kind, str]] = {
    "unsigned": "its heads are not signed: configure `signer` in [record] of the table",
    "forged": "a signature does not hold: another program writes its heads, or changes them on their way",
    "key": "another key signed: find out why, and write the new key into the witness's configuration",
    "forked": "input {seq} has another hash than before: the record was changed, or another program writes it",
    "behind": "the record ends at input {seq}, and had {last}: inputs were cut off, or a backup was restored",
    "silent": "no new head has come for {seconds:.0f} s: the table is off, or its messages are held back",
    "late": "the table has been at input {seq} for {seconds:.0f} s, and no head of that input has come: its heads are held back",
    "flood": "it sends more heads or records than a table has: some of them were discarded",
    "other_record": "at {ts} it had the record {record}, and before that {last}: ask why, and keep the files of both",
    "replayed": "the head that was signed at {ts} came again, after one of {last}: another program sends heads of the past, "
    "or the clock of the table was put back",
    "withdrawn": "it published input {last} and then input {seq}, and no head of the first: another program writes its state, "
    "a backup was restored, or a new record has begun",
}
LASTS: Final[frozenset[Kind]] = frozenset({"unsigned", "silent", "late"})
"""These end by themselves: all others stay in the report until the witness is started again."""
OVERDUE: Final[frozenset[Kind]] = frozenset({"silent", "late"})
"""What `Watch.overdue` finds."""


class Finding(NamedTuple):
    """What a witness reports of a table."""

    table: str
    kind: Kind
    text: str


@dataclass(slots=True)
class Seen:
    """The last head of each record of a table, its key, the record that was heard last, and when (seconds of any clock).

    `ts` is when that head was signed: one that was not signed later, from a broker, a table without its signer or another
    program, is not news.
    `back` has, of each record that went back, the input of the head that was heard last, and to which one it went back.
    `ahead` is an input that the table has published and no head has reached, and when it was heard.
    """

    key: str | None = None
    record: str | None = None
    heads: dict[str, Head] = field(default_factory=dict)
    ts: str | None = None
    heard: float | None = None
    back: dict[str, tuple[int, int]] = field(default_factory=dict)
    ahead: tuple[int, float] | None = None


class Watch:
    """Compares the heads of tables with those before.

    `keys` are the public keys of the tables by their ids; the first key that is heard of any other table is its key from then on.
    A table whose head has not come for `silence` seconds is silent, and one is late whose head stays behind what it publishes for
    this time.
    """

    def __init__(self, seen: dict[str, Seen], keys: Mapping[str, str], silence: float) -> None:
        self._seen = seen
        self._keys = keys
        self._silence = silence

    def hear_unsigned(self, table: str, now: float | None) -> Finding:
        """A head without a signature, which came now, or at an unknown time before if `now` is None."""
        seen = self._at(table)
        if self._key(table) is None:
            seen.heard = seen.heard if now is None else now
        return _finding(table, "unsigned")

    def hear_input(self, table: str, seq: int, now: float) -> list[Finding]:
        """The number of an input that the table has published elsewhere. It is nothing to a table without heads.

        A smaller number takes the place of one that no head has reached, which may have been invented. Returns what is to be
        reported.
        """
        seen = self._seen.get(table, Seen())
        head = seen.heads.get(seen.record or "")
        if head is None:
            return []
        ahead = seen.ahead
        withdrawn = ahead is not None and seq < ahead[0]
        if ahead is None or withdrawn:
            seen.ahead = (seq, now) if seq > head.seq else None
        return (
            [_finding(table, "withdrawn", seq=seq, last=ahead[0])] if ahead is not None and withdrawn else []
        )

    @staticmethod
    def flood(table: str) -> Finding:
        """That a table sends too much."""
        return _finding(table, "flood")

    def knows(self, table: str, record: str) -> bool:
        """Whether a head of this record was heard before."""
        return table in self._seen and record in self._seen[table].heads

    def hear(self, told: SignedHead, now: float | None) -> tuple[bool, list[Finding]]:
        """A head, as above. Returns whether it is true, so that it may be kept, and what is to be reported."""
        seen = self._at(told.table)
        if (contradiction := self._contradiction(seen, told)) is not None:
            return False, [contradiction]
        head, last = told.at, seen.heads.get(told.record)
        goes_on = told.record == seen.record and last is not None and head.seq > last.seq
        if seen.ts is not None and told.ts <= seen.ts and not goes_on:
            again = (told.ts, told.record, head) == (seen.ts, seen.record, last)
            if again or now is None:  # a broker can restore a retained head of the past
                return again, []
            return False, [_finding(told.table, "replayed", ts=told.ts, last=seen.ts)]
        seen.heard, seen.ts = seen.heard if now is None else now, told.ts
        if last is not None and head.seq < last.seq:
            before, low = seen.back.get(told.record, (last.seq, 0))
            low = head.seq if head.seq < before else low  # it went back now, or goes on from where it did
            seen.back[told.record] = head.seq, low
            return False, [_finding(told.table, "behind", seq=low, last=last.seq)]
        return True, self._advance(seen, told)

    def _contradiction(self, seen: Seen, told: SignedHead) -> Finding | None:
        """Why a head cannot be the table's, whenever it was signed."""
        head, last, expected = told.at, seen.heads.get(told.record), self._key(told.table)
        if not told.holds():
            return _finding(told.table, "forged")
        if expected is not None and told.key != expected:
            return _finding(told.table, "key")
        if last is not None and head.seq == last.seq and head.hash != last.hash:
            return _finding(told.table, "forked", seq=head.seq)
        return None

    @staticmethod
    def _advance(seen: Seen, told: SignedHead) -> list[Finding]:
        """A true head that is the last one of its record."""
        seen.back.pop(told.record, None)
        before = seen.record
        seen.key, seen.record, seen.heads[told.record] = told.key, told.record, told.at
        if before in {None, told.record}:
            if seen.ahead is not None and told.at.seq >= seen.ahead[0]:
                seen.ahead = None
            return []
        seen.ahead = None
        return [_finding(told.table, "other_record", ts=told.ts, record=told.record, last=before)]

    def overdue(self, now: float) -> Iterator[Finding]:
        """The tables from which no head has come for too long, or none of what they have published."""
        for table in sorted(self._seen.keys() | self._keys.keys()):
            seen = self._at(table)
            if seen.heard is None:
                seen.heard = now  # counted from the start of the witness
            elif now - seen.heard > self._silence:
                yield _finding(table, "silent", seconds=now - seen.heard)
            if seen.ahead is not None and now - seen.ahead[1] > self._silence:
                yield _finding(table, "late", seq=seen.ahead[0], seconds=now - seen.ahead[1])

    def _key(self, table: str) -> str | None:
        """The only key of the table, if one is known."""
        return self._keys.get(table, self._at(table).key)

    def _at(self, table: str) -> Seen:
        return self._seen.setdefault(table, Seen())


def _finding(table: str, kind: Kind, **values: object) -> Finding:
    return Finding(table, kind, f"{table}: {_WORDS[kind].format(**values)}")
