import sqlite3
import subprocess
import sys

import pytest

from punto.baccarat.cards import Card
from punto.drivers.framing import encode
from punto.drivers.ishoe.frames import CardRecord, CutCardRecord, UnreadRecord
from punto.simulators.shoe.store import Inside, Store, StoreError
from tests.deadline import DEADLINE

pytestmark = pytest.mark.disk

CARDS = (Card.AS, Card.TWO_H, Card.KC)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shoe.store"


def test_what_is_committed_is_there_again(path):
    store = Store(path)
    store.inside = Inside(3, 8, CARDS, 1, 2, cut_card_seen=True, loaded_for_burn=True, lid_open=True)
    store.add(CardRecord(1, Card.AS, 99))
    store.add(UnreadRecord(2))
    store.add(CutCardRecord(3))
    store.forget(1)
    before = (store.log, store.first_kept, store.next_record, store.inside)
    store.close()
    again = Store(path)

    assert (again.log, again.first_kept, again.next_record, again.inside) == before
    assert again.first_kept == 2
    assert again.frames(2, 3) == [encode(UnreadRecord(2)), encode(CutCardRecord(3))]


def test_a_card_and_its_record_are_lost_together_or_not_at_all(path):
    """A process that dies with an open transaction: the card is inside, and no record says otherwise."""
    dies = f"""
import os
from dataclasses import replace
from pathlib import Path
from punto.baccarat.cards import Card
from punto.drivers.ishoe.frames import CardRecord
from punto.simulators.shoe.store import Inside, Store
store = Store(Path({str(path)!r}))
store.inside = Inside(1, 8, (Card.AS, Card.KC))
for number, card in enumerate(store.inside.cards, start=1):
    store.add(CardRecord(number, card, 99))
    store.inside = replace(store.inside, out=number)
    if number == 1:
        store.commit()
os._exit(9)
"""
    subprocess.run([sys.executable, "-c", dies], check=False, timeout=DEADLINE)
    store = Store(path)

    assert (store.inside.out, store.next_record) == (1, 2)
    assert store.frames(1, 1) == [encode(CardRecord(1, Card.AS, 99))]


def test_records_acknowledged_before_they_reached_the_file_do_not_come_back(path):
    store = Store(path)
    for number in (1, 2, 3):
        store.add(UnreadRecord(number))
    store.forget(2)
    store.close()
    again = Store(path)

    assert (again.first_kept, again.next_record) == (3, 4)


def test_a_lost_memory_begins_another_log_at_one_and_leaves_the_cards(path):
    store = Store(path)
    log = store.log
    store.inside = Inside(1, 8, CARDS, out=1)
    store.add(UnreadRecord(1))
    store.commit()
    store.add(UnreadRecord(2))
    store.lose()
    store.close()
    again = Store(path)

    assert again.log != log
    assert (again.first_kept, again.next_record) == (1, 1)
    assert again.inside == Inside(1, 8, CARDS, out=1)


def test_two_shoes_never_share_a_store(path):
    store = Store(path)
    with pytest.raises(
        StoreError, match=r"another virtual shoe uses the store .*: give this shoe another store"
    ):
        Store(path)
    store.close()
    Store(path).close()


def test_a_file_that_is_not_a_store_is_refused_and_left_as_it_was(path):
    path.write_text("my tax return, " * 100)
    before = path.read_bytes()

    with pytest.raises(StoreError, match="not a database; give another file"):
        Store(path)
    assert path.read_bytes() == before


def test_another_programs_database_is_refused_and_left_as_it_was(path):
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE taxes (amount)")
    other.close()
    before = path.read_bytes()

    with pytest.raises(StoreError, match="not this virtual shoe's store: give another file"):
        Store(path)
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_named(path):
    with pytest.raises(StoreError, match="cannot open the store /proc/none/store"):
        Store(type(path)("/proc/none/store"))
