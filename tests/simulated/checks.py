"""What must hold at every moment of a simulation, by the record's rows and by what the broker took.

The checks compute again, from what is written: the chain of the hashes, the outcome of each input and the digests of its rows and
of the state, the shoe's records, the rights of the people, the wagers and their settlements (by the pay tables, with the tableau of
tests/odds/oracle.py), and what the public may see.
"""

import hashlib
import json
import sqlite3
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from math import floor
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from punto.baccarat.cards import Card
from punto.baccarat.progressive.effects import AwardLocked
from punto.baccarat.table.effects import (
    AlarmRaised,
    Announced,
    CardAwaited,
    Effect,
    Happening,
    MeterMoved,
    RoundEnded,
)
from punto.baccarat.table.events import (
    BooksOrder,
    CardDrawn,
    Event,
    GameOrder,
    RecordDiffers,
    Sensed,
    ServiceStarted,
    SetWager,
)
from punto.baccarat.table.order_kinds import ChangeShoe, Order, Reveal
from punto.baccarat.table.state import Phase, RoundRecord, TableState
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.definition import Game, Wager
from punto.controller import engine
from punto.controller.components import own_version
from punto.controller.journal.entries import EVENTS, FIRST_LINK, ROUNDS
from punto.controller.journal.execution import StateDigest
from punto.controller.journal.recovery import MOST_DIFFERENCES, replay
from punto.controller.journal.schema import SNAPSHOTS_KEPT
from punto.controller.journal.snapshots import STATES
from punto.messages.building import public_round
from tests.baccarat.table.second_books import SecondBooks
from tests.odds import oracle
from tests.simulated.awards import LastGame, moves_an_award, wrong_with
from tests.simulated.broker import Published
from tests.simulated.defects import REQUESTS, Defect, FailedChecks
from tests.simulated.people import ANN, AUD, BOB, EVE, MAX, TIM
from tests.simulated.plan import Wrong
from tests.simulated.shoe import Memory
from tests.simulated.shoe_checks import ShoeChecks

_EXECUTIVES: Final = frozenset({EVE.name, MAX.name})
_SUPERVISORS: Final = _EXECUTIVES | {BOB.name}
_DEALERS: Final = _SUPERVISORS | {ANN.name}
MAY: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("sign_on", "open_betting", "close_betting", "reveal", "key_card"), _DEALERS),
    **dict.fromkeys(("call_supervisor", "hold_play", "collect_commission"), _DEALERS),
    **dict.fromkeys(("wager_placed", "wager_lifted", "start_game", "hand_button"), _DEALERS),
    **dict.fromkeys(("game_over", "end_game"), _DEALERS),
    **dict.fromkeys(("sign_off", "close_table", "change_shoe", "correct_card", "void_coup"), _SUPERVISORS),
    **dict.fromkeys(("correct_round", "void_round", "change_game", "waive_commission"), _SUPERVISORS),
    **dict.fromkeys(("turn_key", "jpot", "confirm", "sign_award", "nobody_won"), _SUPERVISORS),
    **dict.fromkeys(("reopen_game", "back_out", "adjust"), _SUPERVISORS),
    **dict.fromkeys(
        ("resume_play", "acknowledge_alarm", "accept_shoe", "accept_device"), _SUPERVISORS | {TIM.name}
    ),
    "open_meter": _EXECUTIVES,
}
"""Order -> the people of the simulation who may give it, as docs/reference/roles.md has it. `aud` may give none."""
HAPPENINGS: Final[TypeAdapter[Happening]] = TypeAdapter(Happening)
_APPROVED: Final = frozenset({"open_meter", "back_out", "reopen_game", "adjust"})
"""The orders that a second person must approve whatever the house asks: `approval_above` is 0."""
_OF_ROUNDS: Final = {
    "rounds": "rounds.round",
    "settlements": "seat, wager",
    "games": "games.round",
    "decided": "wager",
}
_FOLLOWING: Final = {
    table: f"SELECT ended.input, {table}.* FROM {table} JOIN rounds AS ended USING (round) WHERE ended.round > ? "  # noqa: S608 - literals
    f"ORDER BY ended.round, {_OF_ROUNDS[table]}"
    if table in _OF_ROUNDS
    else f"SELECT input, * FROM {table} WHERE input > ? ORDER BY input, place"  # noqa: S608 - literals
    for table in (
        "incidents",
        *_OF_ROUNDS,
        "commissions",
        "postings",
        "progressive_rounds",
        "progressive_log",
    )
}
"""The tables of the rows that follow from inputs, in the order in which an input's digest covers them, each with its query."""
_REFUSED_ON_RECORD: Final = Order | GameOrder | BooksOrder | Sensed
"""The inputs whose refusal is an incident; that of a wager is only answered."""
_RETURN_WAGERS: Final = frozenset({"close_table", "change_shoe"})
_ON_THE_METER: Final = "progressive"
"""The wager whose settlement is in the books of the meter."""
_TROUBLE: Final = frozenset(
    {"card_unread", "card_overdrawn", "key_card", "correct_card", "resume_play", "void_coup", "accept_shoe"}
)

if AUD.name in frozenset().union(*MAY.values()):
    raise AssertionError("an auditor may give no order")


_STATES_KEPT: Final = 300
"""The states after so many inputs are known: a service is not further behind its record than that."""


class Record:
    """The record, read again after each commit. `may` has the people who may give each order.

    `memory` is that of the shoe; None if only the record tells of the shoe. `defect` is that of the service's program, None if
    it has none.
    """

    may: Mapping[str, frozenset[str]] = MAY

    def __init__(self, path: Path, memory: Memory | None, defect: Defect | None = None) -> None:
        self.path = path
        self.shoe = ShoeChecks(memory)
        self._defect = defect
        self._failed = FailedChecks()
        self.failures: Counter[str] = Counter()
        """How many inputs of each kind the program could not handle."""
        self.states: dict[int, TableState] = {}
        """The states after the last inputs, by their numbers."""
        self.hashes: dict[int, str] = {}
        """The hashes of all inputs, by their numbers."""
        self._connection: sqlite3.Connection | None = None
        self._table: Table | None = None
        self.seq = 0
        self.head = FIRST_LINK
        self.rounds: dict[int, RoundRecord] = {}
        self.happenings: list[Any] = []
        self.accepted: dict[int, bool] = {}
        self.wagers: dict[int, SetWager] = {}
        self.asked: dict[tuple[int, str], tuple[SetWager, int, int]] = {}
        """Each seat's request of an id: the last one, and the round at which it came."""
        self.revealed: dict[int, int] = {}
        """How many cards of a round dealt face down were turned."""
        self._stakes: dict[tuple[int, str], int] = {}
        self._window: list[Card] | None = None
        self.entries: list[Any] = []
        self._books: SecondBooks | None = None
        self._game = LastGame()
        self._settled: dict[int, dict[tuple[int, str], tuple[int, int, int]]] = {}

    @property
    def connection(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, isolation_level=None)
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    @property
    def state(self) -> TableState | None:
        return None if self._table is None else self._table.state

    @property
    def sees_hidden(self) -> bool:
        return self.state is not None and self.state.settings.game.hides_cards

    def read(self) -> list[str]:
        """Read the new inputs, and return their numbers and kinds."""
        found: list[str] = []
        inputs = self._select("SELECT * FROM inputs WHERE seq > ? ORDER BY seq", self.seq)
        if not inputs:
            return found
        following = self._following()
        snapshots = dict(self._select("SELECT seq, state FROM snapshots WHERE seq > ?", self.seq))
        for seq, *recorded, link in inputs:
            if seq != self.seq + 1:
                raise Wrong(f"input {self.seq + 1} is missing from the record")
            if _sha256("\n".join((self.head, str(seq), *recorded))) != link:
                raise Wrong(f"input {seq} does not continue the chain")
            self.seq, self.head = seq, link
            self.hashes[seq] = link
            _, source, payload, outcome, results, digest = recorded
            event = EVENTS.validate_json(payload, strict=True)
            effects = self._take(seq, source, event, outcome)
            rows = following.pop(seq, ())
            if results != _digest_of(rows) or _shown(rows) != _expected(event, effects, outcome):
                raise Wrong(f"the record does not have the rows of input {seq} ({event.kind})")
            ended = any(isinstance(effect, RoundEnded) for effect in effects)
            begins = ended or (isinstance(event, ChangeShoe) and self.accepted[seq])
            self._covered(seq, digest, snapshots.pop(seq, None), begins=begins)
            found.append(f"{seq} {event.kind}{'' if outcome == 'accepted' else f' ({outcome[:24]})'}")
        if following or snapshots:
            raise Wrong(
                f"the record has rows of inputs that it does not have: {following}, {list(snapshots)}"
            )
        return found

    def _select(self, query: str, *values: Any) -> list[Any]:
        return self.connection.execute(query, values).fetchall()

    def _following(self) -> dict[int, list[Any]]:
        """The rows of the new inputs, by their numbers."""
        found: dict[int, list[Any]] = {}
        for table, query in _FOLLOWING.items():
            for seq, *row in self._select(query, len(self.rounds) if table in _OF_ROUNDS else self.seq):
                found.setdefault(seq, []).append([table, row])
        return found

    def _covered(self, seq: int, digest: str, snapshot: str | None, *, begins: bool) -> None:
        """The state after an input, of which the input has the digest if a hand can begin from it, or a snapshot was taken."""
        state = self._table_state()
        self.states[seq] = state
        self.states.pop(seq - _STATES_KEPT, None)
        covered = begins or snapshot is not None
        if digest != (StateDigest().of(state) if covered else ""):
            raise Wrong(f"input {seq} does not have the digest of the state after it")
        if snapshot is not None and snapshot != STATES.dump_json(state).decode():
            raise Wrong(f"the snapshot after input {seq} is not the state after this input")

    def _take(self, seq: int, source: str, event: Event, outcome: str) -> list[Effect]:
        """Take an input, and return its effects."""
        if self._table is None:
            if not isinstance(event, ServiceStarted):
                raise Wrong("the record does not begin with a start")
            self._table = Table.new(event.settings)
        before = self._table.state
        if isinstance(event, SetWager):
            self._take_wager(seq, event, before)
        if isinstance(event, RecordDiffers) and not (self._defect and self._defect.explains(event.found)):
            raise Wrong(f"the service reports that its record differs: {event.found}")
        effects: list[Effect] = []
        kind, _, name = outcome.partition(" ")
        self.accepted[seq] = outcome == "accepted"
        if kind == "failed":
            if self._defect is None or not self._defect.struck(seq, event):
                raise Wrong(f"input {seq} ({event.kind}) failed, although the program can handle it")
            self.failures[event.kind] += 1
            effects, _ = self._table.fail(event, name)
            self._failed.check(source, event, before, self._table.state)
        else:
            effects, would = self._handled(event)
            if outcome != would:
                raise Wrong(f"input {seq} ({event.kind}) is recorded as {outcome}, but it is {would}")
            if self.accepted[seq]:
                self._accept(seq, source, event, before)
        self._follow(event, before, effects, accepted=self.accepted[seq], failed=kind == "failed")
        return effects

    def _handled(self, event: Event) -> tuple[list[Effect], str]:
        if self._table is None:
            raise AssertionError("there is no table yet")
        try:
            return self._table.handle(event), "accepted"
        except RefusedError as refusal:
            return [], f"refused {refusal.code}"

    def _take_wager(self, seq: int, asked: SetWager, state: TableState) -> None:
        self.wagers[seq] = asked
        last, at, before = self.asked.get((asked.seat, asked.id), (None, 0, 0))
        forgotten = (SNAPSHOTS_KEPT - 1) * engine.SNAPSHOT_EVERY
        if last == asked and state.round.number <= at + 1 and seq <= before + forgotten:
            raise Wrong(
                f"input {seq} is the wager {asked.id} of seat {asked.seat}, which the record already has"
            )
        self.asked[asked.seat, asked.id] = asked, state.round.number, seq

    def _accept(self, seq: int, source: str, event: Event, before: TableState) -> None:
        """An input that was accepted."""
        if source.startswith("operator "):
            who = getattr(event, "who", source.removeprefix("operator "))
            second = getattr(event, "approved_by", None)
            if who not in self.may[event.kind] or source != f"operator {who}":
                raise Wrong(f"input {seq}: {who} gave the order {event.kind} without the right to")
            needed = self.needs_second(event, before)
            if needed and (second is None or second == who or second not in self.may[event.kind]):
                raise Wrong(f"input {seq}: the order {event.kind} of {who} was approved by {second}")
        if isinstance(event, SetWager):
            if before.phase is not Phase.BETTING or event.round != before.round.number:
                raise Wrong(
                    f"input {seq}: a wager on round {event.round} was accepted in round {before.round.number}"
                )
            self._stakes[event.seat, event.wager] = event.amount
        if event.kind in _RETURN_WAGERS:
            self._stakes.clear()
        if isinstance(event, Reveal) and before.round.coup is not None:
            self.revealed[before.round.number] = len(before.round.coup.cards)

    def needs_second(self, event: Event, state: TableState) -> bool:
        """Whether a second person must approve an order."""
        asked = event.kind in _APPROVED or event.kind in state.settings.approval
        return asked or moves_an_award(event, state, self._stakes)

    # --- cards

    def _follow(
        self, event: Event, before: TableState, effects: list[Effect], *, accepted: bool, failed: bool
    ) -> None:
        """What an input did: the shoe's record, the hand's cards, the rounds that ended."""
        state = self._table_state()
        self.shoe.follow(event, before, state, accepted=accepted, failed=failed)
        busy = (
            state.waiting.stops,
            state.waiting.backlog,
            state.shoe.carried,
            state.waiting.card,
            state.link.keyed_away,
            before.link.keyed_away,
        )
        clean = not any(busy) and not state.round.dummy
        if not clean or failed or (event.kind in _TROUBLE and accepted):
            self._window = None
        elif (
            isinstance(event, CardDrawn) and self._window is not None and event.record == before.link.expected
        ):
            self._window.append(event.card)
        ended = False
        for effect in effects:
            if isinstance(effect, Announced):
                if effect.number != len(self.happenings) + 1:
                    raise Wrong(f"event {len(self.happenings) + 1} was left out")
                self.happenings.append(effect.happening)
            elif isinstance(effect, MeterMoved):
                self._book(effect.entry, state)
            elif isinstance(effect, RoundEnded):
                ended = True
                self._end(effect.record, before)
                self._game.hand(effect.record, before)
        self.balance(state)
        if passed_over := self._game.passed_over(self.entries, state, self._settled):
            raise Wrong(passed_over)
        opened = state.phase is Phase.BETTING and (ended or before.phase is not Phase.BETTING)
        if clean and opened and state.round.coup is None:
            self._window = []

    def _book(self, entry: Any, state: TableState) -> None:
        self.entries.append(entry)
        locked = isinstance(entry, AwardLocked)
        if locked and (
            wrong := wrong_with(entry.award, self.rounds_of(entry.award.table), self.entries, state)
        ):
            raise Wrong(wrong)

    def rounds_of(self, _table: str) -> Iterable[RoundRecord]:
        """The rounds of a table of the meter."""
        return self.rounds.values()

    def balance(self, state: TableState) -> None:
        """The books of the meter are the sum of its entries."""
        if state.progressive is None:
            return
        if self._books is None:
            self._books = SecondBooks(state.progressive.books.settings)
        try:
            self._books.check(self.entries, state.progressive, {})
        except AssertionError as error:
            raise Wrong(
                f"the books of the meter: {traceback.extract_tb(error.__traceback__)[-1].line}"
            ) from error

    def _table_state(self) -> TableState:
        if self._table is None:
            raise AssertionError("there is no table yet")
        return self._table.state

    # --- settlement

    def _end(self, record: RoundRecord, before: TableState) -> None:
        game = before.settings.game
        if record.round != len(self.rounds) + 1:
            raise Wrong(f"round {len(self.rounds) + 1} was left out")
        self.rounds[record.round] = record
        stakes = {key: amount for key, amount in self._stakes.items() if amount}
        found = {
            (each.seat, each.wager): (each.stake, each.returned, each.net) for each in record.settlements
        }
        self._stakes.clear()
        window, self._window = self._window, None
        if record.status == "dummy" or (record.status == "void" and before.round.dummy):
            expected: dict[tuple[int, str], tuple[int, int, int]] = {}
        elif record.status == "void":
            expected = {key: (amount, amount, 0) for key, amount in stakes.items()}
        elif record.status == "played":
            if window is not None and _dealt(record) != window:
                raise Wrong(f"round {record.round} has the cards {_dealt(record)}, but {window} were dealt")
            expected = {
                (seat, name): _paid(game, name, amount, _ended(record), stakes, seat)
                for (seat, name), amount in stakes.items()
            }
        else:
            self._correct(record, game)
            return
        if found != expected:
            raise Wrong(f"round {record.round} is settled {found}, but {expected} is right")
        if record.status == "played":
            self._settled[record.round] = found

    def _correct(self, record: RoundRecord, game: Game) -> None:
        """A correction: with it, the round is settled as by its right cards."""
        if record.corrects is None or record.corrects not in self._settled:
            raise Wrong(f"entry {record.round} corrects a round that was not played")
        before = self._settled[record.corrects]
        after = dict(before)
        for each in record.settlements:
            if each.wager == _ON_THE_METER:
                continue
            stake, returned, net = before[each.seat, each.wager]
            after[each.seat, each.wager] = (stake, returned + each.returned, net + each.net)
        staked = {key: stake for key, (stake, _, _) in before.items()}
        if record.winner is None:
            right = {key: (stake, stake, 0) for key, stake in staked.items()}
        else:
            right = {
                (seat, name): _paid(game, name, stake, _ended(record), staked, seat)
                for (seat, name), stake in staked.items()
            }
        if after != right:
            raise Wrong(
                f"after its correction, round {record.corrects} is settled {after}, but {right} is right"
            )
        self._settled[record.corrects] = after

    # --- as a whole

    def replayed(self) -> None:
        """Everything on the record follows from its inputs."""
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as connection:
            (rounds,) = connection.execute("SELECT count(*) FROM rounds").fetchone()
        if rounds != len(self.rounds):
            raise Wrong(f"the record has {rounds} rounds, but its inputs give {len(self.rounds)}")
        found = replay(self.path, version=own_version())
        if wrong := self.unexplained(found.differences):
            raise Wrong(f"a replay differs: {wrong}")
        failed = self.failures.total()
        if len(found.differences) != min(failed, MOST_DIFFERENCES):
            raise Wrong(f"{failed} inputs failed, but a replay reports {found.differences}")
        if self.failures and self._defect is not None:
            with self._defect.running():
                found = replay(self.path, version=own_version())
            if found.difference is not None:
                raise Wrong(f"a replay by the version that fails differs: {found.difference}")

    def unexplained(self, differences: Sequence[str]) -> str | None:
        """The first difference that does not only say that another version has failed."""
        explained = (lambda _: False) if self._defect is None else self._defect.explains
        return next((each for each in differences if not explained(each)), None)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _digest_of(rows: Sequence[Any]) -> str:
    """The digest of an input's rows, empty without rows."""
    return _sha256(json.dumps(rows, ensure_ascii=False, separators=(",", ":"))) if rows else ""


def _shown(rows: Sequence[Any]) -> list[tuple[object, ...]]:
    """What the rows of an input say of its incidents, rounds, settlements and postings."""
    found: list[tuple[object, ...]] = []
    for table, row in rows:
        match table:
            case "incidents":
                found.append((table, *row[2:4]))
            case "rounds":
                found.append((table, row[-1]))
            case "settlements":
                found.append((table, row[0], row[1], row[2], *row[4:7]))
            case "postings" | "progressive_rounds" | "progressive_log":
                found.append(("books",))
            case _:
                pass
    return found


def _expected(event: Event, effects: Sequence[Effect], outcome: str) -> list[tuple[object, ...]]:
    """The same, as it follows from the input's outcome and its effects."""
    kind, _, code = outcome.partition(" ")
    happenings = [effect.happening for effect in effects if isinstance(effect, Announced)]
    found: list[tuple[object, ...]] = []
    if kind == "refused" and isinstance(event, _REFUSED_ON_RECORD):
        found.append(("incidents", "refused", code))
    if kind == "failed" and isinstance(event, REQUESTS):
        found.append(("incidents", "refused", "internal_error"))
    for each in happenings:
        if isinstance(each, AlarmRaised):
            found.append(("incidents", "stop" if each.stops else "alarm", each.code))
        elif isinstance(each, CardAwaited):
            found.append(("incidents", "card_awaited", each.code))
    ended = [effect.record for effect in effects if isinstance(effect, RoundEnded)]
    found += [("rounds", ROUNDS.dump_json(record).decode()) for record in ended]
    for record in ended:
        paid = sorted(record.settlements, key=lambda each: (each.seat, each.wager))
        found += [
            ("settlements", record.round, each.seat, each.wager, each.stake, each.returned, each.net)
            for each in paid
        ]
    return [*found, *[("books",) for effect in effects if isinstance(effect, MeterMoved)]]


def _dealt(record: RoundRecord) -> list[Card]:
    """The cards in the order of the deal."""
    player, banker = record.player, record.banker
    return [player[0], banker[0], player[1], banker[1], *player[2:], *banker[2:]]


def _ended(record: RoundRecord) -> oracle.Ended:
    codes = [[card.value for card in hand] for hand in (record.player, record.banker)]
    coup = oracle.ended(tuple(codes[0]), tuple(codes[1]))
    dealt = [card.value for card in _dealt(record)]
    if oracle.first_coup([*dealt, "KS", "KS"]) != coup:
        raise Wrong(f"round {record.round}: {' '.join(dealt)} is not a coup")
    shown = (record.winner, record.player_total, record.banker_total, record.natural)
    if shown != (coup.winner, coup.player_total, coup.banker_total, coup.natural):
        raise Wrong(f"round {record.round}: {' '.join(dealt)} is not {shown}")
    return coup


def _paid(
    game: Game, name: str, amount: int, coup: oracle.Ended, stakes: dict[tuple[int, str], int], seat: int
) -> tuple[int, int, int]:
    """The stake, what goes back to the seat, and what it has won or lost."""
    wager: Wager = next(each for each in game.wagers if each.name == name)
    own = [side for side in ("player", "banker") if (seat, side) in stakes]
    base = "+".join(own) if wager.requires_base_win else None
    rule = next(each for each in wager.rules if oracle.decides(each, coup, base))
    won = oracle.net(str(rule.pays)) * amount
    # The games of the simulation pay whole cents and keep the rest, and take a whole cent for a part of one as commission.
    net = floor(won) if won >= 0 else -amount
    return amount, amount + net, net


class Public:
    """What the broker took, as its subscribers see it."""

    def __init__(self, record: Record, base: str) -> None:
        self._record = record
        self._base = base
        self._rounds: dict[int, bytes] = {}
        self._connection = ""
        self._ended: set[str] = set()
        self._last_state = 0
        self._last_event = 0
        self._of_connection = 0
        """The number of the connection over which the last event came."""
        self._published = 0
        self._checks: dict[str, Callable[[dict[str, Any], bytes], None]] = {
            "round": self._round,
            "event": self._event,
            "state": self._state,
            "availability": self._availability,
            "wagers": self._answer,
            "restricted/head": self._head,
            "scoreboard": self._scoreboard,
            **dict.fromkeys(("meters", "restricted/card"), self._not_ahead),
        }

    def see(self, published: Published) -> dict[str, Any]:
        """Check a message of the service, and return it: empty if there is nothing to check."""
        name = published.topic.removeprefix(self._base)
        check = self._checks.get("wagers" if name.startswith("wagers/") else name)
        if name.startswith(("devices/", "progressive/")):
            check = self._not_ahead
        if check is None:
            return {}
        self._published = published.connection
        message: dict[str, Any] = json.loads(published.payload)
        check(message, published.payload)
        return message

    def all_sent(self) -> None:
        """Each round of the record was published."""
        missing = self._record.rounds.keys() - self._rounds.keys()
        if missing:
            raise Wrong(f"the broker never got the rounds {sorted(missing)}")

    def _round(self, message: dict[str, Any], payload: bytes) -> None:
        number = message["seq"]
        row = self._record.connection.execute("SELECT 1 FROM rounds WHERE round = ?", (number,)).fetchone()
        if row is None or number not in self._record.rounds:
            raise Wrong(f"round {number} was published, but it is not on the record")
        if number > len(self._rounds) + 1:
            raise Wrong(f"round {number} was published, but round {len(self._rounds) + 1} was not")
        if self._rounds.setdefault(number, payload) != payload:
            raise Wrong(f"round {number} was published again with another content")
        expected = json.loads(ROUNDS.dump_json(public_round(self._record.rounds[number])))
        if message["round"] != expected:
            raise Wrong(f"round {number} was published as {message['round']}, but it is {expected}")
        record = self._record.rounds[number]
        turned = self._record.revealed.get(number, 0)
        if record.status == "void" and self._record.sees_hidden and turned < len(_dealt_so_far(record)):
            shown = len(message["round"]["player"]) + len(message["round"]["banker"])
            if shown:
                raise Wrong(
                    f"round {number} was voided before its cards were turned, and {shown} were published"
                )

    def _event(self, message: dict[str, Any], _: bytes) -> None:
        number, happening = message["seq"], message["happening"]
        if number > len(self._record.happenings):
            raise Wrong(f"event {number} was published, but its input is not on the record")
        if self._published == self._of_connection and number != self._last_event + 1:
            raise Wrong(f"event {number} was published after event {self._last_event}")
        if number <= self._last_event:
            raise Wrong(f"event {number} was published again, after event {self._last_event}")
        self._of_connection, self._last_event = self._published, number
        expected = json.loads(HAPPENINGS.dump_json(self._record.happenings[number - 1]))
        if happening != expected:
            raise Wrong(f"event {number} was published as {happening}, but it is {expected}")
        if happening["kind"] == "card_dealt" and happening["card"] is not None:
            self._shown(happening["round"], happening["position"], f"event {number}")

    def _not_ahead(self, message: dict[str, Any], _: bytes) -> None:
        """`seq` is an input's number: it is on the record."""
        if message["seq"] > self._record.seq:
            raise Wrong(
                f"{message['schema']} after input {message['seq']} was published, but the record ends with {self._record.seq}"
            )

    def _head(self, message: dict[str, Any], _: bytes) -> None:
        seq, _, link = message["head"].partition(":")
        if self._record.hashes.get(int(seq), FIRST_LINK) != link:
            raise Wrong(f"the head {message['head']} was published, but is not on the record")

    def _scoreboard(self, message: dict[str, Any], _: bytes) -> None:
        if message["seq"] > len(self._record.rounds):
            raise Wrong(
                f"the scoreboard after round {message['seq']} was published, but is not on the record"
            )

    def _state(self, message: dict[str, Any], payload: bytes) -> None:
        self._not_ahead(message, payload)
        if message["seq"] < self._last_state:
            raise Wrong(
                f"the state after input {message['seq']} was published after the one after {self._last_state}"
            )
        self._last_state = message["seq"]
        hands = message["hands"]
        if hands is not None:
            shown = sum(card is not None for card in (*hands["player"], *hands["banker"]))
            self._shown(message["round"], shown, "a state")

    def _shown(self, round_: int, cards: int, what: str) -> None:
        """So many cards of a round are public: at a game that hides cards, they must have been turned."""
        if self._record.sees_hidden and cards > self._record.revealed.get(round_, 0):
            raise Wrong(
                f"{what} shows {cards} cards of round {round_}, of which {self._record.revealed.get(round_, 0)} were turned"
            )

    def _availability(self, message: dict[str, Any], _: bytes) -> None:
        connection = message["id"].rpartition("/")[2]
        if message["state"] == "online" and connection != self._connection:
            self._ended.add(self._connection)
            self._connection = connection
        elif message["state"] == "offline" and connection in self._ended:
            raise Wrong(
                "the last will of an earlier connection was published after the table was online again"
            )

    def _answer(self, message: dict[str, Any], _: bytes) -> None:
        if message["code"] in {"bad_payload", "too_fast"}:
            return
        seq, asked = message["seq"], self._record.wagers.get(message["seq"])
        if asked is None or (asked.id, asked.seat) != (message["request"], message["seat"]):
            raise Wrong(
                f"the wager {message['request']} of seat {message['seat']} was answered, but input {seq} is another"
            )
        if self._record.accepted[seq] is not message["accepted"]:
            raise Wrong(f"the wager of input {seq} was answered with accepted = {message['accepted']}")


def _dealt_so_far(record: RoundRecord) -> tuple[Card, ...]:
    return (*record.player, *record.banker)
