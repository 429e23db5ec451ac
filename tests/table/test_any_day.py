"""Whatever happens, in whatever order: what must hold of a table at all times."""

import re
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from pydantic import TypeAdapter

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.table.effects import CardHeld, Effect, Happened, RoundEnded
from punto.baccarat.table.events import (
    AccessRefused,
    CardDrawn,
    CardOverdrawn,
    CardUnread,
    CutCardSeen,
    Event,
    LidMoved,
    LinkNoise,
    RecordDiffers,
    RecordsLost,
    ReverseMovement,
    ServiceStarted,
    SessionBegun,
    SetWager,
    ShoeFault,
    ShoeHello,
    ShoeLost,
)
from punto.baccarat.table.order_kinds import (
    AcceptShoe,
    AcknowledgeAlarm,
    CallSupervisor,
    ChangeGame,
    ChangeShoe,
    CloseBetting,
    CloseTable,
    CorrectCard,
    CorrectRound,
    KeyCard,
    OpenBetting,
    ResumePlay,
    Reveal,
    SignOff,
    SignOn,
    VoidCoup,
    VoidRound,
)
from punto.baccarat.table.shoe_orders import shoe_orders
from punto.baccarat.table.state import Phase, RoundRecord, TableState
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from tests.share import share
from tests.table.croupier import game, settings

pytestmark = pytest.mark.by_chance

STATE: TypeAdapter[TableState] = TypeAdapter(TableState)
CARD_CODE = re.compile(r"\b[A2-9TJQK][SHDC]\b")
PUBLIC_CARDS = {"burn_card_turned", "cards_revealed", "round_corrected", "card_corrected"}

CARDS = st.sampled_from(STANDARD_DECK)
CONFIDENCES = st.sampled_from((99, 99, 50))
HOUSES = st.fixed_dictionaries(
    {
        "game_name": st.sampled_from(("mini-baccarat", "midi-baccarat", "canberra")),
        "decks": st.sampled_from((1, 2, 8)),
        "cards": st.sampled_from(("shoe", "shoe", "shoe", "keyed")),
        "shoe_serial": st.sampled_from((None, "A")),
        "betting_closes": st.sampled_from(("first_card", "order")),
        "next_coup": st.sampled_from(("automatic", "order")),
        "burn": st.sampled_from(("none", "first_card", "fixed")),
        "burn_ace": st.sampled_from((1, 11)),
        "burn_cards": st.sampled_from((1, 3)),
        "coups_after_cut_card": st.sampled_from((0, 1, 2)),
        "overdraw": st.sampled_from(("next_coup", "burn", "dummy")),
    }
)


def outcome(table: Table, event: Event) -> list[Effect] | tuple[str, str]:
    """What an event leads to: effects, or the code and the text of its refusal."""
    try:
        return table.handle(event)
    except RefusedError as refused:
        return refused.code, str(refused)


class AnyDay(RuleBasedStateMachine):
    @initialize(house=HOUSES, asleep=st.sampled_from((False, False, False, True)))
    def open_the_house(self, house: dict[str, Any], asleep: bool) -> None:
        self.settings = settings(**house)
        self.table = Table.new(self.settings)
        self.events: list[Event] = []
        self.outcomes: list[list[Effect] | tuple[str, str]] = []
        self.out = 0  # cards that left this shoe
        self.in_hands: Counter[Card] = Counter()  # of them, those of ended rounds and the burn's first
        self.let_go: Counter[Card] = Counter()
        self.wagers: dict[tuple[int, str], int] = {}
        self.happened = 0
        self.round = 0
        self.on_roads = 0
        self.owed: dict[tuple[int, str], int] = {}  # by the last round that was played, corrections included
        while not asleep and self.state.phase is not Phase.BETTING:
            self.submit(self.wanted(Card.TWO_S))

    @property
    def state(self) -> TableState:
        return self.table.state

    # --- what can happen

    def submit(self, event: Event) -> bool:
        before = self.state
        found = outcome(self.table, event)
        self.events.append(event)
        self.outcomes.append(found)
        if isinstance(found, tuple):
            assert self.state is before
            assert not isinstance(event, ShoeHello | ShoeLost | RecordsLost | LinkNoise)
            assert not hasattr(event, "record")
            assert all(found)
            return False
        self.count_cards(event, before)
        if isinstance(event, KeyCard):
            assert event.position in {None, before.next_position}
        for effect in found:
            self.see(effect)
        if isinstance(event, SetWager):
            self.wagers[event.seat, event.wager] = event.amount
            if not event.amount:
                del self.wagers[event.seat, event.wager]
        return True

    def count_cards(self, event: Event, before: TableState) -> None:
        taken = self.state.link.expected == before.link.expected + 1
        keyed = self.state.settings.cards == "keyed"
        match event:
            case CardDrawn() | CardUnread() | CardOverdrawn() if taken and not keyed:
                # The late record of a card that was keyed while the shoe was away is of no further card.
                was_keyed = before.link.keyed_away and event.record < self.state.link.late_before
                self.out += not was_keyed
            case KeyCard() if keyed or (before.keyed_for_shoe and before.waiting.doubt is None):
                self.out += 1
            case OpenBetting():
                self.out += before.shoe.burn_left or 0  # only where it is burned by hand
            case _:
                pass
        if isinstance(event, ChangeShoe):
            self.on_roads = 0
        if isinstance(event, ChangeShoe) or before.settings != self.state.settings:
            self.out = 0
            self.in_hands, self.let_go = Counter(), Counter()

    def see(self, effect: Effect) -> None:
        match effect:
            case Happened(number, happening):
                self.happened += 1
                assert number == self.happened
                if happening.kind == "wagers_returned":
                    assert self.wagers
                    self.wagers = {}
                if happening.kind == "burn_card_turned":
                    self.in_hands[happening.card] += 1
                if self.state.settings.game.hides_cards and happening.kind not in PUBLIC_CARDS:
                    assert not CARD_CODE.search(repr(happening))
            case CardHeld(card, ("burned" | "overdrawn" | "outside_play")):
                self.let_go[card] += 1
            case RoundEnded(record):
                self.round += 1
                assert record.round == self.round
                if record.status == "correction":
                    self.see_correction(record)
                    return
                self.owed = {(each.seat, each.wager): each.net for each in record.settlements}
                self.corrected = record
                self.in_hands.update(record.player + record.banker)
                self.on_roads += record.status == "played"
                stakes = {(each.seat, each.wager): each.stake for each in record.settlements}
                assert stakes == self.wagers
                assert not (stakes and record.status == "dummy")
                assert all(each.net == each.returned - each.stake for each in record.settlements)
                self.wagers = {}
            case _:
                pass

    def see_correction(self, record: RoundRecord) -> None:
        """A correction adds differences to what was settled, and changes neither the cards' number nor wagers."""
        assert record.corrects == self.corrected.round
        for each in record.settlements:
            assert (each.stake, each.net) == (0, each.returned)
            assert each.net
            self.owed[each.seat, each.wager] += each.net
        last = self.state.history.last
        assert last is not None
        assert {(each.seat, each.wager): each.net for each in last.settlements} == self.owed
        if record.shoe == self.state.shoe.number:
            self.in_hands -= Counter(self.corrected.player + self.corrected.banker)
            self.in_hands += Counter(record.player + record.banker)
            self.on_roads -= record.winner is None
        self.corrected = record = replace(record, round=self.corrected.round)

    @rule(coming=st.lists(CARDS, min_size=1, max_size=3))
    def play_on(self, coming: list[Card]) -> None:
        """Do what the table waits for."""
        for card in coming:
            self.submit(self.wanted(card))

    @rule(seed=st.integers(0, 9999), steps=st.integers(3, 9))
    def play_a_coup(self, seed: int, steps: int) -> None:
        """Do so for some time, with wagers and with cards from the whole deck."""
        chance = Random(seed)
        for wager in chance.sample(("player", "banker", "tie"), chance.randint(0, 3)):
            self.submit(
                SetWager("w", chance.randint(1, 3), wager, chance.randint(1, 99), self.state.round.number)
            )
        self.play_on(chance.choices(STANDARD_DECK, k=steps))

    def wanted(self, card: Card) -> Event:  # noqa: PLR0911 - one answer for each thing that it waits for
        state = self.state
        if state.phase is Phase.LOCKED:
            return SignOn("ann")
        if state.waiting.stops and state.link.offered is not None and len(state.waiting.stops) == 1:
            return AcceptShoe("bob", state.link.offered.serial)
        if state.waiting.stops:
            return ResumePlay("bob", "seen")
        if state.phase in {Phase.CLOSED, Phase.SETTLED}:
            return (
                OpenBetting("ann") if state.shoe.burn_left == 0 and not state.shoe_over else ChangeShoe("ann")
            )
        if state.phase is Phase.REVEAL:
            return Reveal("ann")
        if state.phase is Phase.BETTING and state.settings.betting_closes == "order":
            return CloseBetting("ann")
        if state.phase is Phase.SHOE_CHANGE and (
            state.shoe.burn_left == 0 or (state.settings.cards == "keyed" and state.shoe.burn_left)
        ):
            return OpenBetting("ann")
        if state.waiting.doubt is not None or state.settings.cards == "keyed":
            return KeyCard("ann", card, state.next_position)
        return CardDrawn(state.link.expected, card, 99)

    @rule(
        offset=st.sampled_from((0, 0, 0, 0, -1, 2)),
        kind=st.sampled_from(
            (
                CardDrawn,
                CardDrawn,
                CardUnread,
                CardOverdrawn,
                CutCardSeen,
                LidMoved,
                ReverseMovement,
                ShoeFault,
            )
        ),
        card=CARDS,
        confidence=CONFIDENCES,
        flag=st.booleans(),
    )
    def the_shoe_sees(self, offset: int, kind: type, card: Card, confidence: int, flag: bool) -> None:
        record = max(1, self.state.link.expected + offset)
        event: Event
        if kind is CardDrawn:
            event = CardDrawn(record, card, confidence)
        elif kind is CardOverdrawn:
            event = CardOverdrawn(record, card if flag else None, confidence)
        elif kind is LidMoved:
            event = LidMoved(record, flag)
        elif kind is ShoeFault:
            event = ShoeFault(record, 3, "motor")
        else:
            event = kind(record)
        before = self.state
        self.submit(event)
        if record != before.link.expected:
            assert self.state == replace(before, happenings=self.state.happenings, alarms=self.state.alarms)

    @rule(
        serial=st.sampled_from("AAAB"),
        log=st.sampled_from((1, 1, 1, 2)),
        back=st.sampled_from((0, 0, 0, 2)),
        decks=st.sampled_from((0, 8)),
    )
    def the_shoe_says_hello(self, serial: str, log: int, back: int, decks: int) -> None:
        following = max(1, self.state.link.expected - back)
        self.submit(ShoeHello(serial, log, max(1, following - 1), following, decks))

    @rule(event=st.sampled_from((ShoeLost("gone"), LinkNoise(20, 10))))
    def the_line_fails(self, event: Event) -> None:
        self.submit(event)

    @rule(lost=st.integers(0, 2))
    def the_shoe_lost_records(self, lost: int) -> None:
        first = self.state.link.expected
        self.submit(RecordsLost(first, first + lost))

    @rule(
        order=st.one_of(
            st.sampled_from(
                (
                    SignOn("ann"),
                    SignOff("ann"),
                    ChangeShoe("ann"),
                    OpenBetting("ann"),
                    CloseBetting("ann"),
                    CloseTable("ann"),
                    Reveal("ann"),
                    VoidCoup("bob", "misdeal"),
                    ResumePlay("bob", "seen"),
                    AcceptShoe("bob", "A"),
                    AcceptShoe("bob", "B"),
                )
            ),
            st.sampled_from(
                (
                    SessionBegun("bob", ("supervisor",), "here"),
                    AccessRefused(None, "sign_on", "refused", "there"),
                    AccessRefused("bob", "sign_on", "locked_out", "there"),
                    CallSupervisor("ann", "a question"),
                    RecordDiffers("round 2 differs"),
                    ChangeGame("bob", game("dragon-bonus-1")),
                )
            ),
            st.builds(AcknowledgeAlarm, st.just("bob"), st.integers(1, 60)),
            st.builds(KeyCard, st.just("ann"), CARDS, st.sampled_from((None, 0, 1, 2, 3, 4))),
            st.builds(CorrectCard, st.just("bob"), st.integers(0, 7), CARDS, st.just("misread")),
        )
    )
    def somebody_orders(self, order: Event) -> None:
        self.submit(order)

    @precondition(lambda self: self.state.history.last is not None)
    @rule(
        place=st.integers(0, 5),
        card=CARDS,
        late=st.sampled_from((0, 0, 0, 1)),
        void=st.sampled_from((False, False, False, True)),
    )
    def somebody_corrects_the_last_round(self, place: int, card: Card, late: int, void: bool) -> None:
        last = self.state.history.last
        assert last is not None
        hands = [*last.player], [*last.banker]
        hand = hands[place % 2]
        if place // 2 < len(hand):
            hand[place // 2] = card
        player, banker = map(tuple, hands)
        if void:
            self.submit(VoidRound("bob", last.round - late, "misdeal"))
        else:
            self.submit(CorrectRound("bob", last.round - late, player, banker, "misread"))

    @precondition(lambda self: self.state.phase is Phase.BETTING)
    @rule(
        seat=st.integers(0, 3),
        wager=st.sampled_from(("player", "banker", "tie", "player_pair", "nonsense")),
        amount=st.sampled_from((-1, 0, 5, 1001)),
        late=st.sampled_from((0, 0, 0, 1)),
    )
    def a_seat_wagers(self, seat: int, wager: str, amount: int, late: int) -> None:
        if self.submit(SetWager("w", seat, wager, amount, self.state.round.number - late)):
            again = self.state
            self.submit(self.events[-1])
            assert self.state == again

    @rule(other=st.sampled_from((None, None, None, "next_coup", "dummy")))
    def the_service_starts(self, other: Any) -> None:
        house = self.state.settings
        if other is not None:
            house = settings(game_name=house.game.name, decks=1, overdraw=other)
        self.submit(ServiceStarted("0.1.0", house))

    # --- what holds

    @invariant()
    def every_card_is_in_one_place(self) -> None:
        state = self.state
        overdrawn = [stop for stop in state.waiting.stops if stop.overdrawn is not None]
        waiting = [each for each in state.waiting.backlog if not isinstance(each, CutCardSeen)]
        known = len(state.shoe.drawn) + len(state.shoe.carried)
        unknown = state.shoe.unknown + len(waiting) + len(overdrawn) + (state.waiting.doubt is not None)
        assert known + unknown == self.out
        drawn = Counter(state.shoe.drawn)
        hands = self.in_hands + Counter(state.round.coup.cards if state.round.coup else ())
        assert hands <= drawn
        assert drawn - hands <= self.let_go

    @invariant()
    def wagers_stand_until_they_are_settled_or_returned(self) -> None:
        assert {(each.seat, each.wager): each.amount for each in self.state.round.wagers} == self.wagers
        assert not self.wagers or self.state.phase in {Phase.BETTING, Phase.DEALING, Phase.REVEAL}

    @invariant()
    def a_coup_is_on_the_table_only_while_it_is_dealt_or_shown(self) -> None:
        state = self.state
        assert (state.round.coup is not None) is (state.phase in {Phase.DEALING, Phase.REVEAL})
        to_reveal = state.face_down and state.round.coup is not None and len(state.round.coup.cards) >= 4
        assert to_reveal is (state.phase is Phase.REVEAL)
        assert state.round.coup is None or not state.round.coup.over or to_reveal
        assert state.waiting.doubt is None or state.phase in {Phase.SHOE_CHANGE, Phase.DEALING}
        assert (
            state.waiting.for_person or not state.waiting.backlog or state.phase is Phase.REVEAL
        )  # a cut card waits there
        assert len(state.shoe.rounds) == self.on_roads

    @invariant()
    def the_shoe_is_locked_whenever_a_person_must_act(self) -> None:
        state, orders = self.state, shoe_orders(self.state)
        idle = state.phase in {Phase.LOCKED, Phase.CLOSED, Phase.REVEAL, Phase.SETTLED}
        assert orders.locked or not (state.waiting.for_person or idle or state.settings.cards == "keyed")
        assert orders.taken == state.link.taken

    @invariant()
    def the_state_survives_the_record(self) -> None:
        assert STATE.validate_json(STATE.dump_json(self.state), strict=True) == self.state

    def teardown(self) -> None:
        if not hasattr(self, "events"):
            return
        again = Table.new(self.settings)
        assert [outcome(again, event) for event in self.events] == self.outcomes
        assert again.state == self.state


class ManyDays(AnyDay):
    pass


TestAnyDay = AnyDay.TestCase
TestAnyDay.settings = hypothesis.settings(max_examples=share(200), stateful_step_count=50)

TestManyDays = pytest.mark.soak(pytest.mark.timeout(0)(ManyDays.TestCase))
TestManyDays.settings = hypothesis.settings(max_examples=3000, stateful_step_count=100)
