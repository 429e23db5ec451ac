"""Whatever happens at two linked tables and to their meter, in whatever order: what must hold at all times."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, Final

import hypothesis
import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from pydantic import TypeAdapter

from punto.baccarat.progressive.aquarius import State as AquariusState
from punto.baccarat.progressive.effects import (
    AwardBackedOut,
    AwardBooked,
    AwardLocked,
    Effect,
    GameReopened,
    NobodyWonLogged,
    Posted,
    SettingsChanged,
    WagersCounted,
)
from punto.baccarat.progressive.events import Adjust, BackOut, ChangeSettings
from punto.baccarat.progressive.ledger import SOURCES, Account, Cause
from punto.baccarat.progressive.money import amount, whole
from punto.baccarat.progressive.nexus import State as NexusState
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.progressive.state import Award, AwardState, State, TableRound
from tests.progressive.floor import TIERS, Floor, accounted, paid_in_all
from tests.share import share

pytestmark = pytest.mark.by_chance

BOOKS: TypeAdapter[State] = TypeAdapter(State)
PROCEDURES: Final[dict[str, TypeAdapter[Any]]] = {
    "aquarius": TypeAdapter(AquariusState),
    "nexus": TypeAdapter(NexusState),
}

TABLES: Final = ("t1", "t2")
SEATS: Final = (1, 2, 3)
DOWN: Final = {Cause.AWARD, Cause.MALFUNCTION, Cause.OVER_LIMIT, Cause.RECOVERY_OF_SEED, Cause.RETIREMENT}
COMMON: Final = [
    *("may quarter 1 2", "may all 2 3", "may forty 1 3", "may thousand 2"),
    *("nobody", "reopen ann"),
    *(f"{verb} {seat}" for verb in ("place", "lift", "void", "press") for seat in SEATS),
    *(f"won {tier} {seats}" for tier in TIERS for seats in ("1", "2 3", "1 2 3")),
    *("start", "latched 1", "latched 2 3"),
    "lost",
]
COMMANDS: Final = {
    "aquarius": [*COMMON, "key jph", "key run", "jpot", "over"],
    "nexus": [*COMMON, "confirm", "swipe supervisor", "swipe executive", "sign executive", "end"],
}
HOUSES: Final = {
    "procedure": ("aquarius", "aquarius", "nexus"),
    "split": ("winners", "participants"),
    "fixed_awards": ("tray", "meter"),
    "seat_one": ("right", "left"),
    "supervisor_from": (0, 0, 8001, 1_000_000),
    "seed": (0, 700, 1_000_000),
    "display_limit": (None, None, 1_000_500),
    "contribution": ("20%", "33.3333%", "0.0001%"),
    "reserve": ("0%", "5%", "0.0007%"),
}
CHANGES: Final = {
    name: HOUSES[name] for name in ("split", "seed", "display_limit", "contribution", "reserve")
}
HOW: Final = ("won", "may", "nobody")
AMOUNTS: Final = (1, 50, 7001, 300_000)


class House:
    """A floor where anything may be tried, and which is looked over after each step."""

    def __init__(self, **changes: Any) -> None:
        self.procedure: str = changes["procedure"]
        if changes["fixed_awards"] == "meter":
            changes["supervisor_from"] = 0
        self.floor = Floor(how_many=2, approval_above=5000, **changes)
        self.balances = dict.fromkeys(Account, 0)
        self.paid = 0
        self.nobody = 0
        # what was confirmed of a table's games, by table and round: of whom and of what, nobody among them
        self.confirmed: set[tuple[str, int, str]] = set()
        self.locked: dict[int, Award] = {}
        self.booked: dict[int, Award] = {}
        self.awards = 0
        self.look()

    # --- what can be tried; whether it was done

    def attempt(self, does: Callable[[], object]) -> bool:
        floor = self.floor
        before = {name: machine.state for name, machine in floor.tables.items()}, floor.state
        try:
            does()
        except RefusedError as error:
            refused = error
        else:
            self.look()
            return True
        assert all((refused.code, str(refused)))
        assert ({name: machine.state for name, machine in floor.tables.items()}, floor.state) == before
        assert not floor.effects
        return False

    def happens(self, table: str, command: str) -> bool:
        return self.attempt(lambda: self.floor.at(table, command))

    def goes_on(self, table: str, tier: str, seats: tuple[int, ...], how: str = "won") -> None:
        """Do what comes next at a table; of a hand that is dealt, these seats win this tier, or may, or may and nobody did."""
        command = self.next_command(table, tier, seats, how)
        if not self.happens(table, command) and command in {"jpot", "swipe executive"}:
            self.happens(table, "lost")  # the award cannot be given: the round is taken back

    def next_command(self, table: str, tier: str, seats: tuple[int, ...], how: str) -> str:  # noqa: PLR0911 - one answer a step
        machine = self.floor.tables[table].state
        hand, step = machine.hand, machine.step.value
        keyed = self.procedure == "aquarius"
        if step == "betting":
            without = [seat for seat in seats if seat not in hand.sensors]
            return f"place {without[0]}" if without else "start"
        if step == "playing":
            return f"{'may' if how == 'nobody' else how} {tier} {' '.join(map(str, seats))}"
        if step == "settling" and hand.open and how == "nobody" and not hand.won.certain:
            if hand.selected:
                return f"press {hand.selected[0]}"
            return "key jph" if keyed and machine.key == "run" and not hand.won.dealer_up_to else "nobody"
        if step == "settling" and hand.open:
            missing = [seat for seat in hand.won.seats if seat not in hand.selected]
            if missing:
                return f"press {missing[0]}"
            if not keyed:
                return "confirm"
            return "key jph" if machine.key == "run" else "jpot"
        if step == "confirmed":
            return "swipe executive"
        if keyed and machine.key == "jph":
            return "key run"
        return "over" if keyed else "end"

    def adjusts(self, cause: Cause, minor_units: int, approved_by: str | None) -> None:
        self.attempt(lambda: self.floor.order(Adjust(cause, minor_units, "test", "eve", approved_by)))

    def backs_out(self, number: int, approved_by: str | None) -> None:
        if self.attempt(lambda: self.floor.order(BackOut(number, "test", "eve", approved_by))):
            (award,) = (each for each in self.floor.state.awards if each.id == number)
            if self.floor.tables[award.table].state.hand.round == award.round:
                self.happens(award.table, "back")

    def changes(self, **changes: Any) -> None:
        other = replace(self.floor.state.settings, **changes)
        self.attempt(lambda: self.floor.order(ChangeSettings(other, "test", "eve")))

    def restarts(self) -> None:
        """Everything is stored, forgotten, and taken up again."""
        stored = PROCEDURES[self.procedure]
        for machine in self.floor.tables.values():
            again = stored.validate_json(stored.dump_json(machine.state), strict=True)
            assert again == machine.state
            machine.state = again
        books = BOOKS.validate_json(BOOKS.dump_json(self.floor.state), strict=True)
        assert books == self.floor.state
        self.floor.progressive.state = books

    # --- what holds

    def look(self) -> None:
        for effect in self.floor.effects:
            self.see(effect)
        self.floor.effects.clear()
        self.check_books()
        self.check_tables()

    def see(self, effect: Effect) -> None:
        match effect:
            case Posted(posting):
                assert posting.number <= self.floor.state.ledger.last
                for line in posting.lines:
                    self.balances[line.account] += line.amount
                down = sum(line.amount for line in posting.lines if line.account is Account.PRIMARY) < 0
                assert not down or posting.cause in DOWN
            case AwardLocked(award):
                self.awards += 1
                assert award.id == self.awards  # none is lost, none is there twice
                assert award.amount == sum(share.amount for share in award.shares)
                order = [share.seat for share in award.shares]
                assert order == sorted(order, reverse=self.floor.settings.seat_one == "left")
                of_meter = [*self.locked.values(), award]
                promised = sum(each.amount for each in of_meter if each.payer == "meter")
                assert amount(promised) <= self.balances[Account.PRIMARY]
                assert (award.by == "dealer") <= (award.amount < self.floor.state.settings.supervisor_from)
                self.locked[award.id] = award
                self.confirmed.add((award.table, award.round, award.rule))
            case AwardBooked(award):
                before = self.locked.pop(award.id)
                assert replace(award, state=before.state) == before
                self.booked[award.id] = award
                self.paid += award.amount * (award.payer == "meter")
            case AwardBackedOut(award):
                before = self.booked.pop(award.id)
                assert replace(award, state=before.state) == before
                self.paid -= award.amount * (award.payer == "meter")
            case NobodyWonLogged(table=table, round=round_, rule=rule_):
                hand = self.floor.tables[table].state.hand
                assert (hand.round, hand.won.certain, hand.selected) == (round_, False, ())
                self.confirmed.add((table, round_, rule_))
                self.nobody += 1
            case GameReopened(table=table, round=round_, who=who, approved_by=other):
                assert who != other
                self.confirmed = {each for each in self.confirmed if each[:2] != (table, round_)}
            case WagersCounted(table, round_, wagers):
                assert self.floor.state.round_at(table) == TableRound(table, round_, wagers)
            case SettingsChanged(before=was, after=is_now):
                assert was != is_now == self.floor.state.settings
            case _:
                raise AssertionError(effect)

    def check_books(self) -> None:
        state = self.floor.state
        ledger = state.ledger
        assert ledger.given == accounted(ledger)
        assert min(ledger.primary, ledger.reserve, ledger.overflow, ledger.seed_money, state.available) >= 0
        for account in (Account.PRIMARY, Account.RESERVE, Account.OVERFLOW, *SOURCES):
            balance = -self.balances[account] if account in SOURCES else self.balances[account]
            assert getattr(ledger, account.value) == balance
        assert paid_in_all(ledger) == self.balances[Account.PAID] == amount(self.paid)
        limit = state.settings.display_limit
        assert limit is None or max(state.shown, whole(state.available)) <= limit
        assert [award.id for award in state.locked] == sorted(self.locked)
        for award in state.awards:
            standing = self.locked.get(award.id) or self.booked.get(award.id)
            assert standing == (None if award.state is AwardState.BACKED_OUT else award)
        for forgotten in self.booked.keys() - {award.id for award in state.awards}:
            del self.booked[forgotten]  # so that a long run does not keep them all

    def check_tables(self) -> None:
        locked = {award.table for award in self.locked.values()}
        awarded = {(award.table, award.round) for award in self.floor.state.awards}
        for name, machine in self.floor.tables.items():
            step, hand = machine.state.step.value, machine.state.hand
            assert (step == "logged" and not hand.denied) is (name in locked)
            assert not {*hand.sensors} & {*hand.spent}
            # what a game won, or can have won, was confirmed before it ended, an award of it or that nobody won
            if step == "betting" and hand.won is not None:
                assert (name, hand.round, hand.won.rule) in self.confirmed
                assert (name, hand.round) in awarded or not hand.won.certain
                assert hand.denied or (name, hand.round) in awarded
            assert (step == "betting") is ((last := self.floor.state.round_at(name)) is None or last.over)


class AnyDay(RuleBasedStateMachine):
    @initialize(
        house=st.fixed_dictionaries({name: st.sampled_from(values) for name, values in HOUSES.items()})
    )
    def open_the_house(self, house: dict[str, Any]) -> None:
        self.house = House(**house)

    @rule(table=st.sampled_from(TABLES), chance=st.randoms(use_true_random=False))
    def something_happens_at_a_table(self, table: str, chance: Random) -> None:
        self.house.happens(table, chance.choice(COMMANDS[self.house.procedure]))

    @rule(
        table=st.sampled_from(TABLES),
        tier=st.sampled_from(tuple(TIERS)),
        seats=st.sampled_from(((1,), (2, 3), (1, 2, 3))),
        steps=st.integers(1, 12),
        how=st.sampled_from(HOW),
    )
    def a_table_goes_on(self, table: str, tier: str, seats: tuple[int, ...], steps: int, how: str) -> None:
        for _ in range(steps):
            self.house.goes_on(table, tier, seats, how)

    @rule(
        cause=st.sampled_from(Cause),
        minor_units=st.sampled_from(AMOUNTS),
        approved_by=st.sampled_from((None, "ann")),
    )
    def somebody_adjusts_the_meter(self, cause: Cause, minor_units: int, approved_by: str | None) -> None:
        self.house.adjusts(cause, minor_units, approved_by)

    @rule(back=st.integers(0, 2), approved_by=st.sampled_from((None, "ann")))
    def somebody_backs_an_award_out(self, back: int, approved_by: str | None) -> None:
        self.house.backs_out(self.house.awards - back, approved_by)

    @rule(changes=st.fixed_dictionaries({name: st.sampled_from(values) for name, values in CHANGES.items()}))
    def somebody_changes_the_settings(self, changes: dict[str, Any]) -> None:
        self.house.changes(**changes)

    @rule()
    def the_power_is_cut(self) -> None:
        self.house.restarts()


TestAnyDay = pytest.mark.timeout(600)(AnyDay.TestCase)
# All are 30,000 rules, which are some 120,000 steps, for a table goes on by several.
TestAnyDay.settings = hypothesis.settings(max_examples=share(300), stateful_step_count=100)


def anything(house: House, chance: Random) -> None:
    """One step by chance, as the machine above takes them."""
    table, what = chance.choice(TABLES), chance.random()
    if what < 0.7:
        house.goes_on(
            table, chance.choice(tuple(TIERS)), chance.choice(((1,), (2, 3), (1, 2, 3))), chance.choice(HOW)
        )
    elif what < 0.93:
        house.happens(table, chance.choice(COMMANDS[house.procedure]))
    elif what < 0.96:
        house.adjusts(chance.choice(tuple(Cause)), chance.choice(AMOUNTS), chance.choice((None, "ann")))
    elif what < 0.98:
        house.backs_out(house.awards - chance.randint(0, 2), "ann")
    elif what < 0.999:
        house.changes(**{name: chance.choice(values) for name, values in CHANGES.items()})
    else:
        house.restarts()


def any_house(chance: Random) -> House:
    return House(**{name: chance.choice(values) for name, values in HOUSES.items()})


def test_days_by_chance_come_to_every_kind_of_award():
    """So what holds above is not held of tables at which nothing happens."""
    chance = Random(7)
    paid: dict[str, int] = {}
    nobody = 0
    for _ in range(6):
        house = any_house(chance)
        for _ in range(1500):
            anything(house, chance)
        for each in house.floor.state.ledger.paid:
            paid[each.tier] = paid.get(each.tier, 0) + each.amount
        nobody += house.nobody

    assert set(paid) == set(TIERS.values())
    assert nobody > 50


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("seed", range(10))
def test_ten_million_steps(seed):
    chance = Random(seed)
    for _ in range(100):
        house = any_house(chance)
        for _ in range(10_000):
            anything(house, chance)
