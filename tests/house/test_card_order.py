"""The watch over the order of cards: shoes that come as before are alarms of their table, and others are none."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.baccarat.table.state import RoundRecord
from punto.baccarat.wagers.definition import Game
from punto.house import card_order
from punto.house.card_order import EARLIER, CardOrderWatch
from punto.house.choices import choose, dispute
from punto.house.store import Store
from punto.house.taken import Disputed, Taken
from tests.baccarat.shoes import NEW_DECK, shuffled
from tests.house.conftest import CALENDAR
from tests.house.tables import with_five_wagers

DAY = datetime(2026, 11, 24, 6, 0, tzinfo=UTC)
GAME, (HAND, *_) = with_five_wagers(1)


@pytest.fixture
def store(tmp_path):
    opened = Store(f"sqlite:///{tmp_path}/store.db", CALENDAR)
    yield opened
    opened.close()


def coups(cards: Sequence[Card]) -> Iterator[Coup]:
    """The coups of a shoe of which these cards are dealt."""
    coup = Coup(())
    for card in cards:
        coup = coup.with_card(card)
        if coup.over:
            yield coup
            coup = Coup(())


class Table:
    """A table whose rounds are taken in."""

    def __init__(
        self,
        store: Store,
        name: str = "table-1",
        record: str = "aa",
        *,
        simulation: bool = False,
        game: Game = GAME,
    ) -> None:
        self.store = store
        self.name = name
        self.record = record
        self.simulation = simulation
        self.game = game
        self.rounds = 0

    def deal(self, shoe: int, cards: Sequence[Card], began: datetime = DAY) -> None:
        taken = []
        for number, coup in enumerate(coups(cards), 1):
            self.rounds += 1
            hand = replace(
                HAND, round=self.rounds, shoe=shoe, coup=number, player=coup.player, banker=coup.banker
            )
            taken.append(self._taken(replace(hand, settlements=()), began))
        self.store.take(taken)

    def correct(self) -> None:
        """Take the last round back."""
        corrected, self.rounds = self.rounds, self.rounds + 1
        hand = replace(
            HAND,
            round=self.rounds,
            shoe=3,
            status="correction",
            winner=None,
            settlements=(),
            corrects=corrected,
        )
        self.store.take([self._taken(hand, DAY)])

    def _taken(self, hand: RoundRecord, began: datetime) -> Taken:
        ts = began + timedelta(seconds=hand.round)
        game = self.game
        return Taken(self.name, self.record, self.simulation, "USD", ts, game.name, game.rules_digest, hand)


@pytest.fixture
def table(store) -> Table:
    return Table(store)


def orders(found) -> list[tuple[int, str]]:
    return [(each.shoe, each.order) for each in found.get("table-1", ())]


def test_shoes_that_are_well_shuffled_are_no_alarm(store, table):
    for shoe in range(1, 5):
        table.deal(shoe, shuffled(shoe)[11:400])

    assert CardOrderWatch(store).look() == {}


@pytest.mark.parametrize(
    ("cards", "order"),
    [
        (NEW_DECK * 2, "new decks"),
        (shuffled(2)[:60], "shoe 2 of 24 Nov 2026"),
        (shuffled(1)[100:160], "shoe 1 of 24 Nov 2026"),
        (shuffled(2)[200:80:-1], "shoe 2 of 24 Nov 2026, reversed"),
    ],
    ids=["new decks", "the shoe before", "an earlier shoe, cut elsewhere", "the shoe before, reversed"],
)
def test_a_shoe_that_comes_as_before_is_an_alarm_while_it_is_in_play_and_after_it(store, table, cards, order):
    table.deal(1, shuffled(1)[11:400])
    table.deal(2, shuffled(2)[7:400])
    watch = CardOrderWatch(store)
    assert watch.look() == {}

    table.deal(3, cards[:30])
    table.deal(3, cards[30:])

    (alarm,) = watch.look()["table-1"]
    assert (alarm.shoe, alarm.order) == (3, order)
    assert alarm.evidence > 1e6
    assert CardOrderWatch(store).look() == {"table-1": (alarm,)}  # after a start
    table.correct()
    for shoe in range(4, 4 + EARLIER):
        table.deal(shoe, shuffled(shoe)[:100])
        assert orders(watch.look()) == [(3, order)]
    table.deal(99, shuffled(99)[:100])
    assert watch.look() == {}


def test_the_shoe_of_another_table_is_not_compared(store, table):
    Table(store, "table-2").deal(1, shuffled(1)[:300])
    table.deal(1, shuffled(1)[:300])

    assert CardOrderWatch(store).look() == {}


def test_a_shoe_of_an_earlier_day_that_is_dealt_again_is_an_alarm_also_after_a_start(store, table):
    for shoe in range(1, 12):
        table.deal(shoe, shuffled(shoe)[:300], DAY - timedelta(days=20 - shoe))
    watch = CardOrderWatch(store)
    assert watch.look() == {}
    table.deal(12, shuffled(2)[40:100])

    assert orders(watch.look()) == [(12, "shoe 2 of 6 Nov 2026")]
    assert CardOrderWatch(store).look() == watch.look()
    table.deal(13, shuffled(3)[100:40:-1])
    assert orders(watch.look())[1:] == [(13, "shoe 3 of 7 Nov 2026, reversed")]
    assert CardOrderWatch(store).look() == watch.look()


@pytest.mark.parametrize("last_shoes", [1, 7], ids=["by neighbours", "of many shoes"])
def test_a_new_record_of_a_table_forgets_no_shoe(store, table, last_shoes):
    for shoe in range(last_shoes, 0, -1):
        table.deal(shoe, shuffled(shoe)[:300])
    watch = CardOrderWatch(store)
    assert watch.look() == {}
    Table(store, record="0b").deal(1, shuffled(last_shoes)[30:90], DAY + timedelta(hours=1))

    named = f"shoe {last_shoes} of 24 Nov 2026, on an earlier record of the table"
    assert orders(watch.look()) == [(1, named)]
    assert CardOrderWatch(store).look() == watch.look()


def test_an_alarm_stands_over_a_new_record_until_four_further_shoes(store, table):
    table.deal(1, NEW_DECK * 2)
    watch, later = CardOrderWatch(store), Table(store, record="0b")
    for shoe in range(1, 1 + EARLIER):
        later.deal(shoe, shuffled(shoe)[:100], DAY + timedelta(hours=shoe))
        assert orders(watch.look()) == orders(CardOrderWatch(store).look()) == [(1, "new decks")]
    later.deal(99, shuffled(99)[:100], DAY + timedelta(hours=9))

    assert watch.look() == CardOrderWatch(store).look() == {}


@pytest.mark.parametrize("short", [EARLIER, 300])
def test_shoes_of_one_hand_do_not_make_the_watch_forget_a_whole_shoe(store, table, short):
    table.deal(1, shuffled(1)[:300])
    dice = Random(short)
    for shoe in range(2, 2 + short):
        table.deal(shoe, dice.sample(shuffled(1), 6))
    watch = CardOrderWatch(store)
    assert watch.look() == {}
    table.deal(2 + short, shuffled(1)[20:80])

    assert (
        orders(watch.look()) == orders(CardOrderWatch(store).look()) == [(2 + short, "shoe 1 of 24 Nov 2026")]
    )


def test_as_many_cards_are_remembered_as_are_documented_and_no_more(store, table, monkeypatch):
    monkeypatch.setattr(card_order, "CARDS", 8 * 290)
    for shoe in range(1, 10):
        table.deal(shoe, shuffled(shoe)[:300])
    watch = CardOrderWatch(store)
    table.deal(10, shuffled(2)[:60])

    assert orders(watch.look()) == [(10, "shoe 2 of 24 Nov 2026")]
    table.deal(11, shuffled(11)[:300])
    table.deal(12, shuffled(2)[100:160])
    assert orders(CardOrderWatch(store).look()) == [(10, "shoe 2 of 24 Nov 2026")]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_start_at_any_time_changes_nothing(store, seed, monkeypatch):
    """Shoes of two records that the table plays in turn, some of which repeat an earlier one, looked at after any number of hands."""
    monkeypatch.setattr(card_order, "CARDS", 6 * 100)
    dice, watch = Random(seed), CardOrderWatch(store)
    records = [Table(store, record=name) for name in ("aa", "0b")]
    shoes, began = [0, 0], DAY
    for number in range(25):
        own = dice.choice([0, 0, 0, 1])
        shoes[own] += 1
        cards = shuffled(dice.choice([number, max(0, number - 2), max(0, number - 6)]))
        for first in range(0, 120, 40):
            began += timedelta(minutes=20)
            records[own].deal(shoes[own], cards[first : first + 40], began)
            if dice.random() < 0.4:
                assert watch.look() == CardOrderWatch(store).look()

    assert watch.look() == CardOrderWatch(store).look()


def test_the_shoes_of_a_rehearsal_are_not_those_of_the_table(store, table):
    rehearsal = Table(store, record="0b", simulation=True)
    rehearsal.deal(1, NEW_DECK * 2, DAY - timedelta(days=1))
    rehearsal.deal(2, shuffled(1)[:300], DAY - timedelta(days=1))
    assert orders(CardOrderWatch(store).look()) == [(1, "new decks")]

    table.deal(1, shuffled(1)[:300])
    assert CardOrderWatch(store).look() == {}


def test_the_shoes_of_a_record_that_was_rejected_are_not_those_of_the_table(store, table):
    table.deal(1, shuffled(1)[:300])
    other, watch = Table(store, record="0b"), CardOrderWatch(store)
    other.deal(1, shuffled(1)[:300], DAY + timedelta(hours=1))
    assert orders(watch.look()) == [(1, "shoe 1 of 24 Nov 2026, on an earlier record of the table")]

    dispute(store, [Disputed("table-1", record, False) for record in ("aa", "0b")])
    assert len(orders(watch.look())) == 1
    choose(store, "table-1", "aa", {"0b"}, "mei", DAY)
    assert watch.look() == CardOrderWatch(store).look() == {}


def test_a_game_that_the_house_comes_to_know_is_followed_from_the_begin_of_its_shoe(store):
    unknown = replace(GAME, name="unknown")
    table, watch = Table(store, game=unknown), CardOrderWatch(store)
    table.deal(1, NEW_DECK * 2)
    assert watch.look() == {}

    store.learn(unknown)
    assert orders(watch.look()) == [(1, "new decks")]


def test_rounds_that_come_twice_are_followed_once(store, table):
    watch = CardOrderWatch(store)
    cards = shuffled(1)[:60]
    table.deal(1, cards)
    table.rounds = 0
    table.deal(1, cards)

    assert watch.look() == {}


def test_records_without_a_round_do_not_raise_the_evidence_that_is_needed(store, table, monkeypatch):
    asked: list[int] = []

    def alarm_at(figures: int) -> float:
        asked.append(figures)
        return 1e9

    monkeypatch.setattr(card_order, "alarm_at", alarm_at)
    table.deal(1, shuffled(1)[:300])
    CardOrderWatch(store).look()
    dispute(store, [Disputed("table-2", f"record-{number}", False) for number in range(50)])
    CardOrderWatch(store).look()

    assert asked == [card_order.SHOES_A_DAY * card_order.ORDERS] * 2
