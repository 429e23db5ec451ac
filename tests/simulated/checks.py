"""What must hold at every moment of a simulation, by the record's rows and by what the broker took.

The checks compute again, from what is written: the chain of the hashes, the shoe's records, the rights of the people, the
wagers and their settlements (by the pay tables, with the tableau of tests/odds/oracle.py), and what the public may see.
"""

import hashlib
import json
import sqlite3
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from math import floor
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from punto.baccarat.cards import Card
from punto.baccarat.progressive.effects import AwardLocked
from punto.baccarat.table.effects import Effect, Happened, Happening, MeterMoved, RoundEnded
from punto.baccarat.table.events import CardDrawn, Event, ServiceStarted, SetWager
from punto.baccarat.table.order_kinds import Reveal
from punto.baccarat.table.state import Phase, RoundRecord, TableState
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.definition import Game, Wager
from punto.controller import engine
from punto.controller.components import own_version
from punto.controller.journal.entries import EVENTS, FIRST_LINK, ROUNDS
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import SNAPSHOTS_KEPT
from punto.controller.messages.building import public_round
from tests.odds import oracle
from tests.simulated.awards import moves_an_award, wrong_with
from tests.simulated.broker import Published
from tests.simulated.people import ANN, AUD, BOB, EVE, MAX, TIM
from tests.simulated.plan import Wrong
from tests.simulated.shoe import Memory
from tests.simulated.shoe_checks import ShoeChecks
from tests.table.second_books import SecondBooks

_EXECUTIVES: Final = frozenset({EVE.name, MAX.name})
_SUPERVISORS: Final = _EXECUTIVES | {BOB.name}
_DEALERS: Final = _SUPERVISORS | {ANN.name}
MAY: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("sign_on", "open_betting", "close_betting", "reveal", "key_card"), _DEALERS),
    **dict.fromkeys(("call_supervisor", "hold_play"), _DEALERS),
    **dict.fromkeys(("wager_placed", "wager_lifted", "start_game", "hand_button"), _DEALERS),
    **dict.fromkeys(("game_over", "end_game"), _DEALERS),
    **dict.fromkeys(("sign_off", "close_table", "change_shoe", "correct_card", "void_coup"), _SUPERVISORS),
    **dict.fromkeys(("correct_round", "void_round", "change_game"), _SUPERVISORS),
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
_RETURN_WAGERS: Final = frozenset({"close_table", "change_shoe"})
_ON_THE_METER: Final = "progressive"
"""The wager whose settlement is in the books of the meter."""
_TROUBLE: Final = frozenset(
    {"card_unread", "card_overdrawn", "key_card", "correct_card", "resume_play", "void_coup", "accept_shoe"}
)

if AUD.name in frozenset().union(*MAY.values()):
    raise AssertionError("an auditor may give no order")


class Record:
    """The record, read again after each commit. `may` has the people who may give each order.

    `memory` is that of the shoe; None if only the record tells of the shoe.
    """

    may: Mapping[str, frozenset[str]] = MAY

    def __init__(self, path: Path, memory: Memory | None) -> None:
        self.path = path
        self.shoe = ShoeChecks(memory)
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
        found = []
        rows = self.connection.execute(
            "SELECT seq, ts, source, payload, hash FROM inputs WHERE seq > ? ORDER BY seq", (self.seq,)
        ).fetchall()
        for seq, ts, source, payload, link in rows:
            if seq != self.seq + 1:
                raise Wrong(f"input {self.seq + 1} is missing from the record")
            line = f"{self.head}\n{seq}\n{ts}\n{source}\n{payload}"
            if hashlib.sha256(line.encode()).hexdigest() != link:
                raise Wrong(f"input {seq} does not continue the chain")
            self.seq, self.head = seq, link
            event = EVENTS.validate_json(payload, strict=True)
            self._take(seq, source, event)
            found.append(f"{seq} {event.kind}{'' if self.accepted[seq] else ' (refused)'}")
        return found

    def _take(self, seq: int, source: str, event: Event) -> None:
        if self._table is None:
            if not isinstance(event, ServiceStarted):
                raise Wrong("the record does not begin with a start")
            self._table = Table.new(event.settings)
        before = self._table.state
        if isinstance(event, SetWager):
            self._take_wager(seq, event, before)
        effects: list[Effect] = []
        try:
            effects = self._table.handle(event)
        except RefusedError:
            self.accepted[seq] = False
        else:
            self.accepted[seq] = True
            self._accept(seq, source, event, before)
        self._follow(event, before, effects, accepted=self.accepted[seq])

    def _take_wager(self, seq: int, asked: SetWager, state: TableState) -> None:
        self.wagers[seq] = asked
        last, at, before = self.asked.get((asked.seat, asked.id), (None, 0, 0))
        forgotten = (SNAPSHOTS_KEPT - 1) * engine.SNAPSHOT_EVERY
        if last == asked and state.round <= at + 1 and seq <= before + forgotten:
            raise Wrong(
                f"input {seq} is the wager {asked.id} of seat {asked.seat}, which the record already has"
            )
        self.asked[asked.seat, asked.id] = asked, state.round, seq

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
            if before.phase is not Phase.BETTING or event.round != before.round:
                raise Wrong(
                    f"input {seq}: a wager on round {event.round} was accepted in round {before.round}"
                )
            self._stakes[event.seat, event.wager] = event.amount
        if event.kind in _RETURN_WAGERS:
            self._stakes.clear()
        if isinstance(event, Reveal) and before.coup is not None:
            self.revealed[before.round] = len(before.coup.cards)

    def needs_second(self, event: Event, state: TableState) -> bool:
        """Whether a second person must approve an order."""
        asked = event.kind in _APPROVED or event.kind in state.settings.approval
        return asked or moves_an_award(event, state, self._stakes)

    # --- cards

    def _follow(self, event: Event, before: TableState, effects: list[Effect], *, accepted: bool) -> None:
        """What an input did: the shoe's record, the hand's cards, the rounds that ended."""
        state = self._table_state()
        self.shoe.follow(event, before, state, accepted=accepted)
        busy = (state.stops, state.backlog, state.carried, state.doubt, state.keyed_away, before.keyed_away)
        clean = not any(busy) and not state.dummy
        if not clean or (event.kind in _TROUBLE and accepted):
            self._window = None
        elif (
            isinstance(event, CardDrawn) and self._window is not None and event.record == before.link.expected
        ):
            self._window.append(event.card)
        ended = False
        for effect in effects:
            if isinstance(effect, Happened):
                if effect.number != len(self.happenings) + 1:
                    raise Wrong(f"event {len(self.happenings) + 1} was left out")
                self.happenings.append(effect.happening)
            elif isinstance(effect, MeterMoved):
                self._book(effect.entry, state)
            elif isinstance(effect, RoundEnded):
                ended = True
                self._end(effect.record, before)
        self.balance(state)
        opened = state.phase is Phase.BETTING and (ended or before.phase is not Phase.BETTING)
        if clean and opened and state.coup is None:
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
        if record.status == "dummy" or (record.status == "void" and before.dummy):
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
        if found.difference is not None:
            raise Wrong(f"a replay differs: {found.difference}")


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
        self._checks: dict[str, Callable[[dict[str, Any], bytes], None]] = {
            "round": self._round,
            "event": self._event,
            "state": self._state,
            "availability": self._availability,
            "wagers": self._answer,
        }

    def see(self, published: Published) -> dict[str, Any]:
        """Check a message of the service, and return it: empty if there is nothing to check."""
        name = published.topic.removeprefix(self._base)
        check = self._checks.get("wagers" if name.startswith("wagers/") else name)
        if check is None:
            return {}
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
        expected = json.loads(HAPPENINGS.dump_json(self._record.happenings[number - 1]))
        if happening != expected:
            raise Wrong(f"event {number} was published as {happening}, but it is {expected}")
        if happening["kind"] == "card_dealt" and happening["card"] is not None:
            self._shown(happening["round"], happening["position"], f"event {number}")

    def _state(self, message: dict[str, Any], _: bytes) -> None:
        if message["seq"] > self._record.seq:
            raise Wrong(
                f"the state after input {message['seq']} was published, but the record ends with {self._record.seq}"
            )
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
