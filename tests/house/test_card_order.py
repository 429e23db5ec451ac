"""The watch over the order of cards: shoes that come as before are alarms of their table, and others are none."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.baccarat.table.state import RoundRecord
from punto.house import card_order
from punto.house.card_order import EARLIER, CardOrderWatch
from punto.house.store import Store
from punto.house.taken import Disputed, Taken
from tests.baccarat.shoes import NEW_DECK, shuffled
from tests.house.conftest import CALENDAR
from tests.house.tables import with_five_wagers

DAY = datetime(2026, 11, 24, 6, 0, tzinfo=UTC)
NOW = DAY + timedelta(hours=20)
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

    def __init__(self, store: Store, name: str = "table-1") -> None:
        self.store = store
        self.name = name
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
        return Taken(self.name, "aa", False, "USD", ts, GAME.name, GAME.rules_digest, hand)


@pytest.fixture
def table(store) -> Table:
    return Table(store)


def orders(found) -> list[tuple[int, str]]:
    return [(each.shoe, each.order) for each in found.get("table-1", ())]


def test_shoes_that_are_well_shuffled_are_no_alarm(store, table):
    for shoe in range(1, 5):
        table.deal(shoe, shuffled(shoe)[11:400])

    assert CardOrderWatch(store).look(NOW) == {}


@pytest.mark.parametrize(
    ("cards", "order"),
    [
        (NEW_DECK * 2, "new decks"),
        (shuffled(2)[:60], "shoe 2"),
        (shuffled(1)[100:160], "shoe 1"),
        (shuffled(2)[200:80:-1], "shoe 2 backwards"),
    ],
    ids=["new decks", "the shoe before", "an earlier shoe, cut elsewhere", "the shoe before, backwards"],
)
def test_a_shoe_that_comes_as_before_is_an_alarm_while_it_is_in_play_and_after_it(store, table, cards, order):
    table.deal(1, shuffled(1)[11:400])
    table.deal(2, shuffled(2)[7:400])
    watch = CardOrderWatch(store)
    assert watch.look(NOW) == {}

    table.deal(3, cards[:30])
    table.deal(3, cards[30:])

    (alarm,) = watch.look(NOW)["table-1"]
    assert (alarm.shoe, alarm.order) == (3, order)
    assert alarm.evidence > 1e6
    assert CardOrderWatch(store).look(NOW) == {"table-1": (alarm,)}  # after a start
    table.correct()
    for shoe in range(4, 4 + EARLIER):
        table.deal(shoe, shuffled(shoe)[:100])
        assert orders(watch.look(NOW)) == [(3, order)]
    table.deal(99, shuffled(99)[:100])
    assert watch.look(NOW) == {}


def test_the_shoe_of_another_table_is_not_compared(store, table):
    Table(store, "table-2").deal(1, shuffled(1)[:300])
    table.deal(1, shuffled(1)[:300])

    assert CardOrderWatch(store).look(NOW) == {}


def test_a_start_reads_the_rounds_of_the_day_before_too_but_no_earlier_ones(store, table):
    table.deal(1, shuffled(1)[:300], DAY - timedelta(days=2))
    table.deal(2, shuffled(2)[:300], DAY - timedelta(days=1))
    table.deal(3, shuffled(1)[:100])
    table.deal(4, shuffled(2)[:100])

    assert orders(CardOrderWatch(store).look(NOW)) == [(4, "shoe 2")]


def test_records_without_a_round_do_not_raise_the_evidence_that_is_needed(store, table, monkeypatch):
    asked: list[int] = []

    def alarm_at(figures: int) -> float:
        asked.append(figures)
        return 1e9

    monkeypatch.setattr(card_order, "alarm_at", alarm_at)
    table.deal(1, shuffled(1)[:300])
    CardOrderWatch(store).look(NOW)
    store.dispute([Disputed("table-2", f"record-{number}", False) for number in range(50)])
    CardOrderWatch(store).look(NOW)

    assert asked == [card_order.SHOES_A_DAY * card_order.ORDERS] * 2
