"""Messages of tables that a shoe, a dealer, a supervisor and seats drive through all that can happen."""

import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from random import Random
from typing import Any

from punto.baccarat.cards import Card
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.state import AwardState
from punto.baccarat.table import events as ev
from punto.baccarat.table import order_kinds
from punto.baccarat.table.effects import AwardChanged, CardHeld, Happened, MeterMoved, RoundEnded
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import Phase
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.configs.expectations import shipped
from punto.configs.game_files import load_game
from punto.controller.linked import written
from punto.controller.messages import books, linked, models, requests, restricted
from punto.controller.messages.building import (
    public_round,
    scoreboard_message,
    shoe_message,
    state_message,
    timestamp,
)
from punto.controller.messages.metering import meters_message
from punto.controller.messages.models import Payload
from tests.table.linked_floor import LinkedFloor

RULES = load_game("progressive-2").rules_by_part
RULES_ID, RECORD = "5e2c1f08a7d94b36", "b03109c519a19102"
NOW = datetime(2026, 3, 14, 21, 5, 9, 123456, UTC)
CARDS = list(Card)


def settings(game: str) -> Settings:
    return Settings(table="table-1", name="Baccarat 1", game=load_game(game), betting_closes="order")


def hello(record: int, log: int = 1) -> ev.ShoeHello:
    part = ev.Component("firmware", "3.1", "ab" * 32)
    return ev.ShoeHello("IS-1", log, 1, record, 8, (part,))


def _onwards(dice: Random, table: Table) -> ev.Event:
    """What gets this table on with the game."""
    state = table.state
    if state.link.offered is not None:
        return order_kinds.AcceptShoe("ana", state.link.offered.serial)
    if state.waiting.stops:
        return order_kinds.ResumePlay("ana", "seen to it")
    if state.waiting.doubt is not None:
        return order_kinds.KeyCard("mei", dice.choice(CARDS))
    none_to_open = state.phase is Phase.CLOSED and state.shoe.burn_left != 0
    if none_to_open or (state.shoe_over and state.phase in {Phase.CLOSED, Phase.BETTING, Phase.SETTLED}):
        return order_kinds.ChangeShoe("mei")
    draw = ev.CardDrawn(state.link.expected, dice.choice(CARDS), 99)
    steps: dict[Phase, ev.Event] = {
        Phase.LOCKED: order_kinds.SignOn("mei"),
        Phase.CLOSED: order_kinds.OpenBetting("mei"),
        Phase.BETTING: order_kinds.CloseBetting("mei"),
        Phase.REVEAL: order_kinds.Reveal("mei"),
        Phase.SETTLED: order_kinds.OpenBetting("mei"),
    }
    return steps.get(state.phase, draw)


def _wager(dice: Random, table: Table) -> ev.Event:
    wager = dice.choice([each.name for each in table.state.settings.game.wagers])
    return ev.SetWager(str(dice.random()), dice.randint(1, 7), wager, 1000, table.state.round.number)


def _last(table: Table) -> int:
    return table.state.history.last.round if table.state.history.last else 0


# How often each thing comes next; the table refuses what it may not do then.
_NEXT: list[tuple[int, Callable[[Random, Table], ev.Event]]] = [
    (100, _onwards),
    (1, lambda dice, _: ev.DeviceHeard("keypad", dice.choice(["KP-1", "KP-2"]))),
    (1, lambda dice, table: ev.CardDrawn(table.state.link.expected, dice.choice(CARDS), 99)),
    (3, lambda dice, table: ev.CardDrawn(table.state.link.expected, dice.choice(CARDS), 40)),
    (2, lambda _, table: ev.CardUnread(table.state.link.expected)),
    (1, lambda dice, table: ev.CardOverdrawn(table.state.link.expected, dice.choice(CARDS), 99)),
    (1, lambda _, table: ev.CutCardSeen(table.state.link.expected)),
    (1, lambda dice, table: ev.LidMoved(table.state.link.expected, dice.random() < 0.5)),
    (1, lambda *_: ev.ShoeLost("unplugged")),
    (1, lambda *_: ev.LinkNoise(60, 10)),
    (2, lambda dice, table: hello(table.state.link.expected, dice.choice([1, 1, 1, 2]))),
    (35, lambda dice, _: order_kinds.CorrectCard("mei", dice.randint(1, 6), dice.choice(CARDS), "misread")),
    (1, lambda *_: order_kinds.VoidCoup("mei", "misdeal")),
    (2, lambda _, table: order_kinds.VoidRound("mei", _last(table), "misdeal")),
    (2, lambda *_: order_kinds.CallSupervisor("mei", "a dispute")),
    (
        2,
        lambda _, table: order_kinds.AcknowledgeAlarm(
            "ana", max((each.number for each in table.state.alarms), default=0)
        ),
    ),
    (3, lambda _, table: order_kinds.ChangeGame("ana", table.state.settings.game)),
    (4, lambda *_: order_kinds.CloseTable("mei")),
    (40, _wager),
]
_WEIGHTS = [weight for weight, _ in _NEXT]


def _event(dice: Random, table: Table) -> ev.Event:
    ((_, make),) = dice.choices(_NEXT, _WEIGHTS)
    return make(dice, table)


def messages(game: str, seed: int, inputs: int = 1000) -> Iterator[Payload]:
    """Every message that such a table gives rise to, as the service makes them."""
    dice = Random(seed)
    table = Table.new(settings(game))
    first: list[ev.Event] = [
        ev.ServiceStarted("0.1.0", table.state.settings),
        hello(1),
        order_kinds.SignOn("mei"),
        order_kinds.ChangeShoe("mei"),
    ]
    for seq in range(1, inputs):
        event = first.pop(0) if first else _event(dice, table)
        try:
            effects = table.handle(event)
        except RefusedError as refusal:
            if isinstance(event, ev.SetWager):
                yield _answer(event, seq, refusal)
            continue
        if isinstance(event, ev.SetWager):
            yield _request(event)
            yield _answer(event, seq, None)
        yield state_message(table.state, seq, NOW)
        yield scoreboard_message(table.state, NOW)
        played = table.state.settings.game
        yield meters_message(table.state, shipped(played) if seq % 2 else {}, seq, NOW)
        yield shoe_message(table.state, seq, NOW, NOW)
        for effect in effects:
            if not isinstance(effect, MeterMoved):
                yield _of_effect(effect, seq, game)


def _of_effect(effect: Happened | CardHeld | RoundEnded, seq: int, game: str) -> Payload:
    ts = timestamp(NOW)
    if isinstance(effect, Happened):
        number = effect.number
        return models.Event(id=f"table-1/event/{number}", seq=number, ts=ts, happening=effect.happening)
    if isinstance(effect, CardHeld):
        return restricted.RestrictedCard(id=f"table-1/card/{seq}", seq=seq, ts=ts, card=effect)
    record = effect.record
    return models.Round(
        id=f"table-1/round/{record.round}",
        seq=record.round,
        ts=ts,
        game=game,
        rules=RULES_ID,
        record=RECORD,
        round=public_round(record),
    )


def _request(event: ev.SetWager) -> Payload:
    return models.WagerRequest(id=event.id, round=event.round, wager=event.wager, amount=event.amount)


def _answer(event: ev.SetWager, seq: int, refusal: RefusedError | None) -> Payload:
    return models.WagerAnswer(
        id=f"table-1/wager/{seq}",
        seq=seq,
        ts=timestamp(NOW),
        request=event.id,
        seat=event.seat,
        accepted=refusal is None,
        code=None if refusal is None else refusal.code,
        reason=None if refusal is None else str(refusal),
    )


def others(rounds: list[models.Round]) -> Iterator[Payload]:
    """The messages that no input gives rise to."""
    ts = timestamp(NOW)
    floor = LinkedFloor(1)
    floor.settle()
    floor.tables["t1"].do("spot 1", "start game")
    floor.ask("t1")
    floor.answer("t1")
    for asked in (None, written(floor.asks[0])):
        yield linked.MeterRequest(
            id="t1/meter/request/1", seq=1, ts=ts, currency="USD", seats=7, rules=RULES, asked=asked
        )
    heard = written(floor.answers[0][1])
    floor.settle()
    floor.answer("t1")
    for answered in (None, written(floor.answers[1][1])):
        yield linked.MeterAnswer(
            id="m/meter/answer/t1/1",
            seq=1,
            ts=ts,
            currency="USD",
            seats=7,
            rules=RULES,
            last_input=4,
            heard=heard,
            answered=answered,
        )
    part = models.ComponentDigest(name="controller", version="0.1.0", digest="ab" * 32)
    yield models.Availability(
        id="table-1/availability/1", seq=0, ts=ts, state="online", reason="started", since=ts
    )
    yield models.Info(
        id="table-1/info/1",
        seq=0,
        ts=ts,
        version="0.1.0",
        components=(part,),
        configuration_digest="cd" * 32,
        configuration={"version": 1, "table": {"id": "table-1"}, "mqtt": None},
    )
    yield models.Health(
        id="table-1/health/1",
        seq=1,
        ts=ts,
        valid_until=ts,
        uptime_seconds=1.5,
        inputs=3,
        rounds=2,
        rounds_waiting=0,
        events_waiting=0,
        events_dropped=0,
        resident_bytes=50_000_000,
        links={"shoe": {"frames": 7}, "keypad": {"presses": 3}},
    )
    yield restricted.RestrictedHead(
        id="table-1/restricted/head/3",
        seq=3,
        ts=ts,
        head=f"3:{hashlib.sha256(b'3').hexdigest()}",
        record=RECORD,
    )
    worth = restricted.PositionEdge(wager="tie", edge=-0.0125, favourable=True, alarm=True)
    for positions, alarms, unavailable in (((worth,), ("tie",), None), ((), (), "no odds")):
        yield restricted.Edge(
            id="table-1/restricted/edge/99",
            seq=99,
            ts=ts,
            valid_until=ts,
            shoe=1,
            round=12,
            cards_left=300,
            unseen=4,
            positions=positions,
            alarms=alarms,
            unavailable=unavailable,
            record=RECORD,
        )
    changed = AwardChanged(1, "top", 1_000_000, 12, (2, 5), AwardState.LOCKED)
    yield models.Event(id="table-1/event/1", seq=1, ts=ts, happening=changed)
    tier = models.MeterTier(
        rule="top", title="Player wins", pays="100% of meter", amount=1_000_000, of_meter=True
    )
    won = models.MeterAward(
        award=1,
        rule="top",
        title="Player wins",
        amount=1_000_000,
        table="table-1",
        round=12,
        seats=(2, 5),
        whole_meter=True,
        state="booked",
        won=ts,
    )
    for award in (None, won):
        yield models.Progressive(
            id="table-1/progressive/dragon/99",
            seq=99,
            ts=ts,
            valid_until=ts,
            progressive="dragon",
            title="Dragon Bonus Progressive",
            currency="USD",
            phase="open",
            meter=1_000_020,
            wager=100,
            tables=("table-1",),
            step="betting",
            seats=(3,),
            tiers=(tier,),
            award=award,
        )
    yield requests.SnapshotRequest(id="display-3")
    yield requests.RoundsRequest(id="reports-9", after=0)
    yield requests.IncidentsRequest(id="incidents-1", after=0)
    yield requests.Response(id="table-1/response/display-3", seq=0, ts=ts, request="display-3", error=None)
    yield requests.RoundsResponse(
        id="table-1/response/reports-9",
        seq=2,
        ts=ts,
        request="reports-9",
        rounds=tuple(each.round for each in rounds),
        ended=tuple(requests.RoundEnd(ts=ts, game=each.game, rules=RULES_ID) for each in rounds),
        record=RECORD,
        more=False,
    )
    incident = requests.RecordedIncident(
        seq=3,
        place=0,
        ts=ts,
        kind="lid_open",
        source="shoe",
        who=None,
        text="the shoe's lid was opened",
        where=None,
    )
    entrance = requests.RecordedIncident(
        seq=4,
        place=0,
        ts=ts,
        kind="session_begun",
        source="console",
        who="Mei",
        text="signed on",
        where="127.0.0.1",
    )
    yield requests.BooksRequest(id="books-1", day=date(2026, 3, 14))
    yield from _books(ts)
    for incidents in ((incident, entrance), ()):
        yield requests.IncidentsResponse(
            id="table-1/response/incidents-1",
            seq=9000,
            ts=ts,
            request="incidents-1",
            incidents=incidents,
            until=5000,
            record=RECORD,
            more=True,
        )


def _books(ts: str) -> Iterator[Payload]:
    """A day with an entry of each kind, and a day without a progressive in service."""
    began = books.Accounts(seed_money=10**12, primary=10**12)
    paid = books.Accounts(primary=-250_025_000_000, paid=250_025_000_000)
    person: dict[str, Any] = {"who": "Eve", "reason": "a promotion", "approved_by": "Omar"}
    won: dict[str, Any] = {"tier": "top", "table": "table-1", "round": 12, "award": 1}
    tray: dict[str, Any] = {"ts": ts, "tier": "natural", "table": "table-1", "round": 13, "input": 99}
    accrual = books.Accrual(
        progressive="dragon",
        rounds=2,
        wagers=3,
        staked=300,
        start=books.Accounts(),
        changes=(
            books.Change(cause=Cause.SEED, ts=ts, moved=began, who="Eve"),
            books.Change(cause=Cause.AWARD, ts=ts, moved=paid, **won),
        ),
        end=began + paid,
        explained=True,
        settings=(
            books.SettingsChange(ts=ts, who="Eve", reason="new", changed={"display_limit": (None, 5)}),
        ),
        open_awards=(2,),
        from_tray=(books.FromTray(award=3, amount=-4000, **person, **tray),),
        nobody_won=(books.NobodyWon(progressive="dragon", again=False, amount=200, **person, **tray),),
        left_out=7,
    )
    deposit = books.Deposit(
        progressive="dragon",
        start=0,
        components=(books.Component(cause=Cause.SEED, to_meter=10**12, to_reserve=0),),
        end=10**12,
        carried_in=0,
        carried_out=0,
        deposit=1_000_000,
        explained=True,
    )
    count = books.CoinCount(day=date(2026, 3, 13), amount=300, who="Eve", ts=ts)
    counted = books.Coins(taken=300, counted=200, who="Eve", ts=ts, difference=-100, todo="Count again.")
    compared = books.Reconciled(
        progressive="dragon",
        balanced=True,
        from_tray=-4000,
        checks=(books.Check(what="seed", ledger=10**12, expected=0),),
        differences=(books.Difference(input=5, text="posting 5 does not sum to zero"),),
        coins=counted,
        counts=(count,),
    )
    day = date(2026, 3, 14)
    about: dict[str, Any] = {"begins": ts, "ends": ts, "elsewhere": 0}
    for names in (("dragon",), ()):
        found = books.Books(
            first=day if names else None,
            day=books.Day(day=day, state="ended", progressives=(accrual,), **about),
            week=books.Week(first=day, last=day, state="open", progressives=(deposit,), **about),
            reconciliation=books.Reconciliation(
                day=day, state="ended", agrees=False, progressives=(compared,), **about
            ),
        )
        yield requests.BooksResponse(
            id="table-1/response/books-1",
            seq=9000,
            ts=ts,
            request="books-1",
            record=RECORD,
            books=found.of(*names),
        )
