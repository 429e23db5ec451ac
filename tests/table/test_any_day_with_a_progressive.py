"""Whatever happens at a table with a progressive, in whatever order: what must hold of both at all times."""

from contextlib import suppress
from random import Random
from typing import Any, Final

import pytest
from pydantic import TypeAdapter

from punto.baccarat.progressive.effects import AwardBackedOut, AwardBooked, AwardLocked, Posted
from punto.baccarat.progressive.events import ChangeSettings, OpenMeter
from punto.baccarat.progressive.money import amount
from punto.baccarat.progressive.state import AwardState
from punto.baccarat.table.effects import AwardChanged, Effect, Happened, MeterMoved
from punto.baccarat.table.events import Event
from punto.baccarat.table.order_kinds import CorrectCard, CorrectRound, VoidRound
from punto.baccarat.table.shoe_orders import shoe_orders
from punto.baccarat.table.state import Phase, TablesProgressive, TableState
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from tests.progressive.floor import accounted, paid_in_all
from tests.share import soaked
from tests.table.croupier import Croupier, events_of

pytestmark = pytest.mark.by_chance

STATE: TypeAdapter[TableState] = TypeAdapter(TableState)
HANDS: Final = (
    "2H KC 3H JC 4H KD",  # 25% of the meter
    "2D KC 3D JC 4D KH",  # all of it
    "2H KC 3D JC 4H KD",  # 1000 for 1
    "KC 2H JC 3H 5C 4H",  # of Banker, who draws on 5 as Player has drawn a five
    "KS 2S 9H 3S",  # a natural
    "KS KD 7S 7D",  # a tie
)
AT_THE_TABLE: Final = (
    *(f"wager {seat} {side} 500" for seat in (1, 2, 3) for side in ("player", "banker")),
    *(f"{verb} {seat}" for verb in ("spot", "lift", "hand") for seat in (1, 2, 3)),
    *("start game 1 2", "start game 3", "start game"),
    *(
        "turn jph",
        "turn run",
        "j-pot",
        "game over",
        "confirm",
        "swipe supervisor",
        "swipe executive",
        "sign executive",
        "nobody",
        "reopen",
        "end game",
    ),
    *("void", "void round", "correct round 2H 3H 4H over KC JC KD", "correct round 2H 2D 5H over KC JC KD"),
    *(
        "add 500",
        "back out 1",
        "back out 2",
        "count 100",
        "close table",
        "open",
        "change shoe",
        "no more bets",
    ),
    *("start", "overdraw KD", "resume", "sign on", "reveal"),
    *("alone void round", "alone correct round 2H 3H 4H over KC JC KD", "alone correct 5 4D", "alone meter"),
)
HOUSES: Final[tuple[dict[str, Any], ...]] = (
    {"meter": {}},
    {"meter": {"fixed_awards": "meter", "contribution": "70%"}, "next_coup": "order"},
    {"meter": {"base_wagers": "unseen", "procedure": "nexus", "executive_from": 100_000}},
    {"meter": {"procedure": "nexus", "split": "participants"}, "overdraw": "dummy", "reveal": "dealer"},
    {"meter": {"base_wagers": "unseen", "reserve": "1%"}, "betting_closes": "order"},
    {"meter": {"base_wagers": "unseen", "supervisor_from": 10_000}},
)


def of_the_meter(progressive: TablesProgressive) -> tuple[Any, ...] | None:
    """What the hand won of the meter: the tier, the seats and the side."""
    won = progressive.procedure.hand.won
    if won is None or not progressive.books.settings.of_the_meter(won.rule):
        return None
    return (won.rule, won.seats, won.side)


class Day:
    """A table to which anything happens, and its books kept a second time."""

    def __init__(self, house: dict[str, Any], chance: Random) -> None:
        self.croupier = Croupier(game_name="progressive-2", **house)
        self.chance = chance
        self.events: list[Event] = []
        self.awards: dict[int, AwardState] = {}
        self.announced: dict[int, AwardState] = {}
        self.of_tray: set[int] = set()
        self.paid = self.postings = 0
        self.waited, self.phase, self.step = False, Phase.LOCKED, "betting"
        for command in ("hello", "sign on", "meter", "change shoe", "open"):
            self.do(command)

    @property
    def progressive(self) -> TablesProgressive:
        found = self.croupier.state.progressive
        assert found is not None
        return found

    def anything(self) -> None:
        what = self.chance.random()
        if what < 0.15:
            self.draw(self.chance.choice(HANDS))
        elif what < 0.4:
            self.play_a_game()
        elif what < 0.45:
            self.do(f"back out {self.chance.randint(1, len(self.awards) + 1)}")
        else:
            self.do(self.chance.choice(AT_THE_TABLE))

    def draw(self, codes: str) -> None:
        for code in codes.split():
            self.do(f"draw {code}")

    def play_a_game(self) -> None:
        """What people at the table do who make no mistake; whatever happened before, most of it can be done."""
        for command in ("hello", "resume", "turn run", "game over", "end game"):
            self.do(command)
        # A dummy can follow a void hand.
        for command in ("void eve", "resume", "void eve", "change shoe", "resume", "open"):
            self.do(command)
        self.do("wager 1 player 500")
        for command in ("start game 1 2", "no more bets"):
            self.do(command)
        self.draw(self.chance.choice(HANDS))
        for command in ("reveal", "hand 1", "hand 2"):
            self.do(command)
        for command in ("confirm", "swipe executive", "turn jph", "j-pot", "turn run"):
            if self.chance.random() < 0.95:
                self.do(command)

    def do(self, command: str) -> None:
        for event in events_of(self.croupier, command):
            self.events.append(event)
            before = self.croupier.state
            try:
                self.croupier.handle(event)
            except RefusedError:
                assert self.croupier.state is before
            else:
                self.check_approval(event, before)
                self.see(self.croupier.new)
                self.croupier.new.clear()
        self.check()

    def see(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case MeterMoved(Posted(posting)):
                    self.postings += 1
                    assert posting.number == self.postings
                case MeterMoved(AwardLocked(award)):
                    assert award.id not in self.awards
                    assert sum(share.amount for share in award.shares) == award.amount
                    self.awards[award.id] = award.state
                    if award.payer == "tray":
                        self.of_tray.add(award.id)
                case MeterMoved(AwardBooked(award)):
                    assert self.awards[award.id] is AwardState.LOCKED
                    self.awards[award.id] = award.state
                    self.paid += award.amount * (award.payer == "meter")
                case MeterMoved(AwardBackedOut(award)):
                    assert self.awards[award.id] is AwardState.BOOKED
                    self.awards[award.id] = award.state
                    self.paid -= award.amount * (award.payer == "meter")
                case Happened(_, AwardChanged() as changed):
                    self.announced[changed.award] = changed.state
                case _:
                    pass

    def check(self) -> None:
        progressive, state = self.progressive, self.croupier.state
        ledger, hand = progressive.books.ledger, progressive.procedure.hand
        assert ledger.given == accounted(ledger)
        assert paid_in_all(ledger) == amount(self.paid)
        assert self.announced == {
            number: state for number, state in self.awards.items() if number not in self.of_tray
        }
        step = progressive.procedure.step.value
        assert (step == "logged" and not hand.denied) is bool(progressive.books.locked)
        # A game that won or can have won does not end before that was confirmed, of its winners or of nobody.
        assert step != "betting" or not hand.open
        assert not (step == "logged" and progressive.procedure.kind == "nexus")
        assert hand.round < state.round.number or (
            hand.round == state.round.number and step in {"playing", "betting"}
        )
        if step == "playing":
            assert hand.won is None
        self.check_the_next_hand(state, progressive)
        self.check_the_game(state, progressive)
        if hand.won is not None:
            assert progressive.decided is not None
            assert set(hand.won.seats) <= set(hand.wagers)

    def check_the_next_hand(self, state: TableState, progressive: TablesProgressive) -> None:
        """While an award is not complete no hand is begun, unless a supervisor lets play go on without it."""
        unfinished = progressive.open_award not in {None, progressive.played_on}
        assert state.award_waits is (unfinished and state.phase not in {Phase.DEALING, Phase.REVEAL})
        if state.award_waits and state.phase in {Phase.SETTLED, Phase.BETTING}:
            assert shoe_orders(state).locked
        if self.waited and state.phase in {Phase.DEALING, Phase.REVEAL}:
            assert not unfinished
        if self.waited and state.award_waits and self.phase is Phase.SETTLED:
            assert state.phase is not Phase.BETTING
        self.waited, self.phase = state.award_waits, state.phase

    def check_the_game(self, state: TableState, progressive: TablesProgressive) -> None:
        """Whoever is in a game had, at its start, a wager on Player or on Banker; on one of them where the house asks for it."""
        settings, hand = progressive.books.settings, progressive.procedure.hand
        step = progressive.procedure.step.value
        started = step == "playing" and self.step != "playing"
        self.step = step
        if settings.base_wagers == "unseen" or not started:
            return
        for seat in hand.wagers:
            sides = {each.wager for each in state.round.wagers if each.seat == seat} & {"player", "banker"}
            assert len(sides) == 1 or (len(sides) == 2 and not settings.one_side_only)
        counted = progressive.books.round_at(state.settings.table)
        assert counted is not None
        assert tuple(each.seat for each in counted.wagers) == hand.wagers

    def check_approval(self, event: Event, before: TableState) -> None:
        """What was carried out moved no award and changed no setting of the meter in the name of one person alone."""
        if not isinstance(event, CorrectRound | VoidRound | CorrectCard | ChangeSettings | OpenMeter):
            return
        was, now = before.progressive, self.croupier.state.progressive
        assert was is not None
        assert now is not None
        if event.approved_by in {None, event.who}:
            # A card of the next hand may be corrected while play goes on before the award of the last one.
            allowed = {None, of_the_meter(was)} if isinstance(event, CorrectCard) else {of_the_meter(was)}
            assert of_the_meter(now) in allowed
            assert (was.books.settings, was.books.phase) == (now.books.settings, now.books.phase)


@pytest.mark.parametrize("house", HOUSES)
@pytest.mark.parametrize("seed", [1, *soaked(2)])
def test_what_must_hold_of_a_table_and_its_progressive_holds(house, seed):
    day = Day(house, Random(seed))
    for step in range(400):
        day.anything()
        if step % 20 == 0:  # a restart
            again = STATE.validate_json(STATE.dump_json(day.croupier.state), strict=True)
            assert again == day.croupier.state
            day.croupier.table.state = again

    assert AwardState.BACKED_OUT in day.awards.values()  # which was booked before: so a day has its awards
    twin = Table.new(day.croupier.settings)
    for event in day.events:
        with suppress(RefusedError):
            twin.handle(event)
    assert twin.state == day.croupier.state
