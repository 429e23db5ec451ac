"""Reports from the record: rounds, a round's inputs, a shift. They read the record beside its writer and change nothing."""

import json
import sqlite3
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from punto.baccarat.table.after_settlement import as_dealt
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.meters import of_game
from punto.baccarat.table.order_kinds import CALLED
from punto.baccarat.table.shoe_events import NOT_RESUMED, OTHER_DECKS
from punto.baccarat.table.state import CommissionOwed, RoundRecord, Stop, TableState
from punto.controller.journal import out_of_the_ordinary, schema, store
from punto.controller.journal.entries import ROUNDS
from punto.controller.journal.meters import expectations_of, game_at, games_since
from punto.controller.journal.out_of_the_ordinary import ENTRANCES, INCIDENTS, LID_CLOSED, Entrance, Incident
from punto.messages.building import public_round, timestamp
from punto.messages.metering import metered, meters_of
from punto.messages.meters import MeterReadings
from punto.messages.models import Part, Timestamp

_AN_HOUR: Final = timedelta(hours=1)
_LEAST_FOR_A_PACE: Final = timedelta(minutes=10)
"""In less time, each hand would change the pace by a tenth or more."""
_NO_ROUND: Final = 2**62  # above every round's number

MOST_LISTED: Final = 1000
"""The most inputs of a round, and the most entries of each list of a shift. A report has the last ones."""

# The rounds from a first one on that were settled and then taken back. For an earlier round, the change is in the totals.
_TAKEN_BACK: Final = """
SELECT json_extract(record, '$.corrects') AS taken_back FROM rounds
WHERE round >= :first AND status = 'correction' AND winner IS NULL AND taken_back >= :first
"""
_TOTALS: Final = f"""
SELECT wager, sum(stake > 0), sum(stake), sum(returned) FROM settlements WHERE round >= :first AND round NOT IN (
    SELECT round FROM rounds WHERE round >= :first AND (
        status = 'void' OR round IN ({_TAKEN_BACK})
        OR (status = 'correction' AND json_extract(record, '$.corrects') IN ({_TAKEN_BACK}))
    )
) GROUP BY wager ORDER BY wager
"""  # noqa: S608 - literals
# The number of rounds of each status. A hand that was taken back is void and not played, and its entry is a correction.
_COUNTS: Final = f"""
SELECT status, sum(counts) FROM (
    SELECT status, status != 'played' OR round NOT IN ({_TAKEN_BACK}) AS counts FROM rounds WHERE round >= :first
    UNION ALL SELECT 'void', 1 FROM rounds WHERE round >= :first AND status = 'correction' AND winner IS NULL
) GROUP BY status ORDER BY status
"""  # noqa: S608 - literals
_PLAYED: Final = f"""
SELECT count(*), max(min(ts), :since) FROM rounds WHERE round >= :first AND status = 'played' AND round NOT IN ({_TAKEN_BACK})
"""  # noqa: S608 - literals
_SHOES: Final = "SELECT count(DISTINCT shoe) FROM rounds WHERE round >= ?"
_SEEN_TO: Final = f"""
SELECT ts, game, record FROM rounds WHERE round >= ? AND (
    status IN ('void', 'correction') OR json_array_length(record, '$.corrections')
) ORDER BY round DESC LIMIT {MOST_LISTED + 1}
"""  # noqa: S608 - literals


# The entries directly after a round: only the last round can be corrected or voided, so they are all of this round.
_ENTRIES: Final = f"""
SELECT ts, game, record FROM rounds WHERE round > :newest AND round < coalesce(
    (SELECT round FROM rounds WHERE round > :newest AND status != 'correction' ORDER BY round LIMIT 1), {_NO_ROUND}
) ORDER BY round
"""  # noqa: S608 - literals
_COMMISSION: Final = """
SELECT coalesce(sum(amount) FILTER (WHERE cause IN ('earned', 'corrected')), 0) AS earned,
    coalesce(-sum(amount) FILTER (WHERE cause = 'collected'), 0) AS collected,
    coalesce(-sum(amount) FILTER (WHERE cause = 'waived'), 0) AS waived FROM commissions WHERE input >= ?
"""
_CLEARED: Final = f"""
SELECT ts, seat, cause, -amount, json_extract(payload, '$.who'), json_extract(payload, '$.approved_by'),
    json_extract(payload, '$.reason') FROM commissions JOIN inputs ON seq = input
WHERE input >= ? AND cause IN ('collected', 'waived') AND amount < 0 ORDER BY input DESC LIMIT {MOST_LISTED + 1}
"""  # noqa: S608 - literals


# The last inputs that keyed a card, and those whose card had to be keyed, with the reason; of an input that did both, the key first.
_TO_KEY: Final = f"""
SELECT seq, ts, why, who, position FROM (
    SELECT seq, ts, NULL AS why, json_extract(payload, '$.who') AS who, json_extract(payload, '$.position') AS position FROM inputs
    WHERE seq >= :first AND json_extract(payload, '$.kind') = 'key_card'
    AND seq NOT IN (SELECT input FROM incidents WHERE input >= :first AND kind = 'refused')
    UNION ALL SELECT input, ts, text, NULL, NULL FROM incidents JOIN inputs ON seq = input
    WHERE input >= :first AND kind = 'card_awaited'
) ORDER BY seq DESC, why IS NULL LIMIT {2 * (MOST_LISTED + 1)}
"""  # noqa: S608 - literals
_ENDED: Final = "SELECT input, round FROM rounds WHERE round >= ? AND status != 'correction' ORDER BY input"
_HELLOS: Final = (
    "SELECT seq FROM inputs WHERE seq >= ? AND json_extract(payload, '$.kind') = 'shoe_hello' ORDER BY seq"
)
_OFFLINE: Final = "the shoe was offline"
_RAISED: Final = frozenset({"alarm", "stop", "call"})
_NOT_BY_AN_ORDER: Final = NOT_RESUMED | {OTHER_DECKS}
"""The codes of stops that end by what the shoe reports, and not only by the order to resume play."""
_CALLED: Final = str(CATALOGUE["call_supervisor"].report).format(reason=CALLED)


class Entry(Part):
    """An entry that corrected or voided a round after settlement, and when it was made."""

    ts: Timestamp
    round: RoundRecord


class PastRound(Part):
    """A round on the record: when it ended, the name of its game, and the entries that corrected or voided it, in order."""

    ts: Timestamp
    game: str
    round: RoundRecord
    entries: tuple[Entry, ...] = ()


class Rounds(Part):
    """Rounds, the newest first; `more` is true if there are older ones."""

    rounds: tuple[PastRound, ...]
    more: bool


class Input(Part):
    """An input on the record. A card that the round does not show is null."""

    seq: int
    ts: Timestamp
    source: str
    event: dict[str, Any]


class RoundInputs(PastRound):
    """A round with its inputs, from the end of the previous round to its own end: the last 1000 at most.

    `title` and `titles` are those of its game, by language. `earlier` is the number of inputs that are left out.
    """

    title: str
    titles: dict[str, str]
    inputs: tuple[Input, ...]
    earlier: int


class Raised(Incident):
    """An alarm, a stop, a call, or an order that dealt with one; `until` is when play was resumed after a stop, or null."""

    until: Timestamp | None


class WagerTotals(Part):
    """The totals of a wager in minor units, corrections included; `wagers` is the number of wagers that were made.

    Void hands are left out, because their wagers were returned whole, and so are hands that were voided after settlement.
    If such a hand was before the shift, the amounts that were paid or taken back are in `returned`.
    """

    wager: str
    title: str
    wagers: int
    staked: int
    returned: int
    net: int


class Correction(Part):
    """A round that was corrected or voided after settlement, or a card that was corrected before settlement.

    `coup` is the number of its hand in the `shoe`. `voided` is true if the round was voided.
    """

    round: int
    shoe: int
    coup: int
    ts: Timestamp
    corrects: int | None
    voided: bool
    who: str | None
    approved_by: str | None
    reason: str | None
    net: int


class VoidCoup(Part):
    """A misdeal, or a round that was taken back after settlement; `entry` is the number of the entry that did that."""

    round: int
    entry: int | None
    ts: Timestamp
    who: str | None
    approved_by: str | None
    reason: str | None


class KeyedCard(Part):
    """A card that had to be keyed; `who` keyed it, null if it was not keyed.

    `round` is the round of its hand, and `position` its number in the coup as dealt. Position 0 is the first card of the shoe, which
    is of no round. Both are null if not known.
    """

    seq: int
    ts: Timestamp
    round: int | None
    position: int | None
    why: str
    who: str | None


class CommissionTotals(Part):
    """The commission that was marked at the seats, with corrections, and what was collected and waived, in minor units."""

    earned: int
    collected: int
    waived: int


class CommissionCleared(Part):
    """The account of a seat that was collected or waived, in minor units."""

    ts: Timestamp
    seat: int
    cause: Literal["collected", "waived"]
    amount: int
    who: str
    approved_by: str | None
    reason: str | None


class Commission(Part):
    """The commission of a table that collects it at the end of the shoe, in the shift and since the gaming day began.

    `owed` is what each seat owes now.
    """

    shift: CommissionTotals
    day: CommissionTotals
    owed: tuple[CommissionOwed, ...]
    cleared: tuple[CommissionCleared, ...]


class GameMeters(Part):
    """The meters of a game in the shift and over the table's life; `rules` names its rules, as on the record.

    `game_titles` are its titles in other languages, and `titles` those of its wagers. A correction of a round before the shift does
    not count in the shift.
    """

    game: str
    title: str
    game_titles: dict[str, str]
    titles: dict[str, str]
    rules: str
    shift: MeterReadings
    lifetime: MeterReadings


class Shift(Part):
    """The last hours of the table of this name. `rounds` counts by status; lists are in order.

    `meters` has each game that was played, in order; if none was, the last game.

    `shoes` is the number of shoes of which hands ended. `stopped_seconds` is how long play was stopped: two stops at a time count
    once, and a stop of which the end is not known does not count.

    A hand that was voided after settlement is `void` and not `played`. The entry that took it back is a `correction`.

    `commission` is null at a table that keeps the commission from each win, if none was marked in the shift.

    `alarms` are the alarms, the stops, the calls, and the orders that dealt with them; `raised` is the number of those without the
    orders, and a call whose reason followed is one. `refused` are refused orders and reports. `devices` are what devices and the PC reported, such as a lid that was opened
    outside play; a lid that was closed is left out. A shoe that was lost is one entry until it comes back, however many reasons the driver found for it.

    A list has its last 1000 entries at most; `more` has the names of the lists with more entries.
    """

    name: str
    since: Timestamp
    until: Timestamp
    rounds: dict[str, int]
    hands_an_hour: float | None
    shoes: int
    stopped_seconds: int
    wagers: tuple[WagerTotals, ...]
    commission: Commission | None
    meters: tuple[GameMeters, ...]
    voids: tuple[VoidCoup, ...]
    corrections: tuple[Correction, ...]
    raised: int
    alarms: tuple[Raised, ...]
    keyed: tuple[KeyedCard, ...]
    refused: tuple[Incident, ...]
    devices: tuple[Incident, ...]
    access: tuple[Entrance, ...]
    more: tuple[str, ...]


class Reports:
    """Reports from the record at `path`. Each method reads in one transaction, and works in any thread.

    Each method raises RecordError if the record cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def rounds(self, before: int | None, limit: int) -> Rounds:
        """At most `limit` rounds before this number; with None, the last rounds."""
        with schema.reading(self._path) as connection:
            rows = connection.execute(
                "SELECT ts, game, record FROM rounds WHERE round < ? ORDER BY round DESC LIMIT ?",
                (_NO_ROUND if before is None else before, limit + 1),
            ).fetchall()
            found = _with_entries(connection, [_past(*row) for row in rows[:limit]])
        return Rounds(rounds=found, more=len(rows) > limit)

    def round(self, number: int, *, sure: int) -> RoundInputs | None:
        """A round with its inputs, None if there is no round of this number.

        The inputs contain no card that the round does not show, in any game and for any reader: no card that was burned or
        removed unseen, and no card that was drawn too soon and begins the next hand, which may still accept wagers. They
        also contain no card that the shoe read with less than the confidence `sure`: the round has the keyed card.
        """
        with schema.reading(self._path) as connection:
            row = connection.execute(
                "SELECT ts, game, record, input FROM rounds WHERE round = ?", (number,)
            ).fetchone()
            if row is None:
                return None
            *past, last = row
            (ended,) = _with_entries(connection, [_past(*past)])
            game = game_at(connection, number)
            before = connection.execute(
                "SELECT input FROM rounds WHERE round < ? ORDER BY round DESC LIMIT 1", (number,)
            ).fetchone()
            first = min(last, (0 if before is None else before[0]) + 1)
            since = max(first, last - MOST_LISTED + 1)
            inputs = connection.execute(
                "SELECT seq, ts, source, payload FROM inputs WHERE seq BETWEEN ? AND ? ORDER BY seq",
                (since, last),
            ).fetchall()
            refused = connection.execute(
                "SELECT input FROM incidents WHERE kind = 'refused' AND input BETWEEN ? AND ?", (since, last)
            ).fetchall()
        events = {seq: json.loads(payload) for seq, *_, payload in inputs}
        _hide(events, {seq for (seq,) in refused}, ended.round, sure)
        return RoundInputs(
            **dict(ended),
            title=ended.game if game is None else game.title,
            titles={} if game is None else game.titles,
            inputs=tuple(
                Input(seq=seq, ts=ts, source=source, event=events[seq]) for seq, ts, source, _ in inputs
            ),
            earlier=since - first,
        )

    def hands_an_hour(self, now: datetime) -> float | None:
        """The coups an hour over the last hour, from the first of them to now; None if too few coups or minutes tell nothing."""
        with schema.reading(self._path) as connection:
            since = timestamp(now - _AN_HOUR)
            first = store.first_since(connection, "rounds", since)
            hands, began = connection.execute(_PLAYED, {"first": first, "since": since}).fetchone()
        return pace(hands, began, now)

    def shift(self, hours: int, now: datetime, state: TableState) -> Shift:
        """The report of the last `hours` hours; `state` has the meters of the table's life."""
        since = timestamp(now - timedelta(hours=hours))
        with schema.reading(self._path) as connection:
            round_ = store.first_since(connection, "rounds", since)
            seq = store.first_since(connection, "inputs", since)
            counts = connection.execute(_COUNTS, {"first": round_}).fetchall()
            hands, first = connection.execute(_PLAYED, {"first": round_, "since": since}).fetchone()
            games = [
                (game, records, expectations_of(connection, game))
                for game, records in games_since(connection, round_)
            ]
            (shoes,) = connection.execute(_SHOES, (round_,)).fetchone()
            totals = connection.execute(_TOTALS, {"first": round_}).fetchall()
            rows = connection.execute(_SEEN_TO, (round_,)).fetchall()
            commission, more_cleared = _commission(connection, seq, state)
            noted, entrances = (
                out_of_the_ordinary.noted(connection, which, MOST_LISTED + 1, seq, newest=True)
                for which in (INCIDENTS, ENTRANCES)
            )
            keyed = _keyed(connection, seq, round_, state)
            back = [each for (each,) in connection.execute(_HELLOS, (seq,))]
        played = [state.settings.game, *(game for game, *_ in games)]
        titles = {wager.name: wager.title for game in played for wager in game.wagers}
        rounds = [_past(*row) for row in reversed(rows)]
        voids = [_void(each) for each in rounds if each.round.status == "void" or _takes_back(each.round)]
        corrections = [correction for each in rounds for correction in _corrections(each)]
        incidents = [incident for each in noted for incident in each.incidents()]
        alarms = _until_resumed(
            _each_call_once([each for each in incidents if each.what in _RAISED | {"order"}])
        )
        lists: dict[str, Sequence[Incident]] = {
            "alarms": alarms,
            "refused": [each for each in incidents if each.what == "refused"],
            "devices": _each_loss_once(
                [each for each in incidents if each.what == "device" and each.text != LID_CLOSED], back
            ),
        }
        access = [entrance for each in entrances for entrance in each.entrances()]
        more = {
            "voids": len(rows) > MOST_LISTED,
            "corrections": max(len(rows), len(corrections)) > MOST_LISTED,
            **{name: max(len(noted), len(found)) > MOST_LISTED for name, found in lists.items()},
            "keyed": len(keyed) > MOST_LISTED,
            "access": len(entrances) > MOST_LISTED,
            "cleared": more_cleared,
        }
        return Shift(
            name=state.settings.title,
            since=since,
            until=timestamp(now),
            rounds=dict(counts),
            hands_an_hour=pace(hands, first, now),
            shoes=shoes,
            stopped_seconds=_stopped(alarms, now, state.waiting.stops),
            meters=tuple(
                GameMeters(
                    game=game.name,
                    title=game.title,
                    game_titles=game.titles,
                    titles={wager.name: wager.title for wager in game.wagers},
                    rules=game.rules_digest,
                    shift=metered(meters_of(game, records), game, expectations),
                    lifetime=metered(of_game(state.history.meters, game), game, expectations),
                )
                for game, records, expectations in games
            ),
            wagers=tuple(
                WagerTotals(
                    wager=wager,
                    title=titles.get(wager, wager),
                    wagers=made,
                    staked=staked,
                    returned=returned,
                    net=returned - staked,
                )
                for wager, made, staked, returned in totals
            ),
            commission=commission,
            voids=tuple(voids[-MOST_LISTED:]),
            corrections=tuple(corrections[-MOST_LISTED:]),
            raised=sum(each.what in _RAISED for each in alarms),
            alarms=tuple(alarms[-MOST_LISTED:]),
            keyed=tuple(keyed[-MOST_LISTED:]),
            refused=tuple(lists["refused"][-MOST_LISTED:]),
            devices=tuple(lists["devices"][-MOST_LISTED:]),
            access=tuple(access[-MOST_LISTED:]),
            more=tuple(name for name, has_more in more.items() if has_more),
        )


def _keyed(connection: sqlite3.Connection, seq: int, round_: int, state: TableState) -> list[KeyedCard]:
    """The cards from the input `seq` on that had to be keyed; at a table whose cards are all keyed, none had to be."""
    ended = connection.execute(_ENDED, (round_,)).fetchall()
    awaited: KeyedCard | None = None
    found: list[KeyedCard] = []
    for number, ts, why, who, position in connection.execute(_TO_KEY, {"first": seq}).fetchall()[::-1]:
        at = bisect_left(ended, (number,))
        of = ended[at][1] if at < len(ended) else state.round.number
        if awaited is not None and (why is not None or of != awaited.round):  # its hand was voided
            found.append(awaited)
            awaited = None
        card = KeyedCard(
            seq=number,
            ts=ts,
            round=None if position == 0 else of,
            position=position,
            why=why or (_OFFLINE if awaited is None else awaited.why),
            who=who,
        )
        if why is not None:
            awaited = card
        elif awaited is not None or state.settings.cards == "shoe":
            found.append(card)
            awaited = None
    return found if awaited is None else [*found, awaited]


def _each_call_once(alarms: Sequence[Incident]) -> list[Incident]:
    """The alarms and what dealt with them. If the reason of a call followed, the two are one call, at the time of the first."""
    found: list[Incident] = []
    waits: int | None = None  # where the call is whose reason can follow
    for each in alarms:
        if each.kind == "acknowledge_alarm":
            waits = None
        elif each.what == "call" and waits is not None:
            found[waits] = found[waits].model_copy(update={"text": each.text})
            waits = None
            continue
        elif each.what == "call" and each.text == _CALLED:
            waits = len(found)
        found.append(each)
    return found


def _until_resumed(alarms: Sequence[Incident]) -> list[Raised]:
    """The alarms, with the time at which play was resumed after each stop."""
    found: list[Raised] = []
    resumed: str | None = None
    for each in reversed(alarms):
        if each.kind == "resume_play":
            resumed = each.ts
        of_a_stop = each.what == "stop" and each.kind not in _NOT_BY_AN_ORDER
        found.append(Raised(**dict(each), until=resumed if of_a_stop else None))
    return found[::-1]


def _stopped(alarms: Sequence[Raised], now: datetime, standing: Sequence[Stop]) -> int:
    """How many seconds play was stopped; what stops it now is `standing`, each since the last stop of its kind."""
    seconds = 0.0
    done: datetime | None = None
    stops = [each for each in alarms if each.what == "stop"]
    kinds = {"hold_play" if each.code == "held" else each.code for each in standing}
    go_on = {each.kind: each for each in stops if each.kind in kinds}
    for each in stops:
        if each.until is None and go_on.get(each.kind) is not each:
            continue
        began = datetime.fromisoformat(each.ts)
        ended = now if each.until is None else datetime.fromisoformat(each.until)
        began = began if done is None else max(began, done)
        seconds += max(0.0, (ended - began).total_seconds())
        done = ended if done is None else max(done, ended)
    return round(seconds)


def _each_loss_once(devices: Sequence[Incident], back: Sequence[int]) -> list[Incident]:
    """The events of the devices, without those that report again that the shoe is lost; `back` are the inputs that found it."""
    found: list[Incident] = []
    lost: int | None = None
    for each in devices:
        if each.kind == "shoe_lost":
            if lost is not None and bisect_left(back, lost) == bisect_left(back, each.seq):
                continue
            lost = each.seq
        found.append(each)
    return found


def _commission(
    connection: sqlite3.Connection, seq: int, state: TableState
) -> tuple[Commission | None, bool]:
    """The commission from the input `seq` on, and whether more accounts were cleared than are listed."""
    day = state.history.day
    first = seq if day is None else store.first_since(connection, "inputs", day.began)
    shift, today = (_totals(connection, since) for since in (seq, first))
    if state.settings.commission == "each_win" and not (shift.earned or shift.collected or shift.waived):
        return None, False
    rows = connection.execute(_CLEARED, (seq,)).fetchall()
    names = list(CommissionCleared.model_fields)
    cleared = [CommissionCleared(**dict(zip(names, row, strict=True))) for row in reversed(rows)]
    found = Commission(shift=shift, day=today, owed=state.commissions, cleared=tuple(cleared[-MOST_LISTED:]))
    return found, len(rows) > MOST_LISTED


def _totals(connection: sqlite3.Connection, first: int) -> CommissionTotals:
    earned, collected, waived = connection.execute(_COMMISSION, (first,)).fetchone()
    return CommissionTotals(earned=earned, collected=collected, waived=waived)


def _past(ts: str, game: str, record: str) -> PastRound:
    return PastRound(ts=ts, game=game, round=public_round(ROUNDS.validate_json(record, strict=True)))


def _with_entries(connection: sqlite3.Connection, rounds: Sequence[PastRound]) -> tuple[PastRound, ...]:
    """These rounds, the newest first and none left out in between, with the entries that corrected or voided them."""
    if not rounds:
        return ()
    later = [_past(*row) for row in connection.execute(_ENTRIES, {"newest": rounds[0].round.round})]
    entries: defaultdict[int | None, list[Entry]] = defaultdict(list)
    for each in (*reversed(rounds), *later):
        entries[each.round.corrects].append(Entry(ts=each.ts, round=each.round))
    return tuple(each.model_copy(update={"entries": tuple(entries[each.round.round])}) for each in rounds)


def _hide(events: dict[int, dict[str, Any]], refused: set[int], shown: RoundRecord, sure: int) -> None:
    """Remove every card that the round does not show.

    If the last cards that came are exactly the cards of the round in their order, they are its own and stay. If another
    card came in between, all are removed: showing one of two equal cards would disclose the other.
    """
    cards = [event for event in events.values() if "card" in event]
    own = [
        event
        for seq, event in events.items()
        if seq not in refused
        and (event["kind"] == "key_card" or (event["kind"] == "card_drawn" and event["confidence"] >= sure))
    ]
    came = _as_it_came(shown)
    own = own[len(own) - len(came) :] if len(own) >= len(came) else []
    if tuple(event["card"] for event in own) != came:
        own = []
    corrected = {str(each.after) for each in shown.corrections}
    for event in cards:
        shown_by_correction = event["kind"] == "correct_card" and event["card"] in corrected
        if not shown_by_correction and not any(event is each for each in own):
            event["card"] = None


def _as_it_came(shown: RoundRecord) -> tuple[str, ...]:
    """The cards of a round's coup as they were dealt, before any was corrected."""
    cards = list(as_dealt(shown.player, shown.banker))
    for each in reversed(shown.corrections):
        cards[each.position - 1] = each.before
    return tuple(map(str, cards))


def pace(hands: int, first: str | None, now: datetime) -> float | None:
    """The hands an hour since the first of them; None if too few hands or minutes tell nothing."""
    if first is None or hands < 2:
        return None
    took = now - datetime.fromisoformat(first)
    return round(hands / (took / _AN_HOUR), 1) if took >= _LEAST_FOR_A_PACE else None


def _takes_back(record: RoundRecord) -> bool:
    """Whether a round is an entry that voids another round after settlement."""
    return record.status == "correction" and record.winner is None


def _void(past: PastRound) -> VoidCoup:
    record = past.round
    return VoidCoup(
        round=record.round if record.corrects is None else record.corrects,
        entry=None if record.corrects is None else record.round,
        ts=past.ts,
        **_why(record),
    )


def _why(record: RoundRecord) -> dict[str, Any]:
    return {"who": record.who, "approved_by": record.approved_by, "reason": record.reason}


def _corrections(past: PastRound) -> Iterator[Correction]:
    """The correction that a round is, and each of its cards that was corrected before settlement."""
    record = past.round
    made = partial(Correction, round=record.round, shoe=record.shoe, coup=record.coup, ts=past.ts)
    for card in record.corrections:
        yield made(corrects=None, voided=False, who=card.who, approved_by=None, reason=card.reason, net=0)
    if record.status == "correction":
        net = sum(each.net for each in record.settlements)
        yield made(corrects=record.corrects, voided=_takes_back(record), net=net, **_why(record))
