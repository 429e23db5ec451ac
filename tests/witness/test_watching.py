"""What a witness reports of the heads that it hears."""

from itertools import count

import pytest

from punto.controller.signing.heads import SignedHead
from punto.controller.signing.keys import SigningKey
from punto.witness.store import WitnessStore, heads_of
from punto.witness.watching import Seen, Watch
from tests.controller.signing.test_signer import TS, said


def at(seconds: float) -> str:
    """This time after `TS`."""
    return f"2026-11-25T12:00:{seconds:09.6f}+00:00"


@pytest.fixture
def sign(tmp_path):
    """Signs a statement as if nothing had been signed before, with the key of this name, and each later than the one before."""
    sent = count()

    def signed(key: str = "key", *head: object, **changes: str) -> SignedHead:
        changes = {"ts": at(next(sent) / 1000), **changes}
        return SignedHead.of(said(*head, **changes).statement, SigningKey.open(tmp_path / key))  # type: ignore[arg-type]

    return signed


def test_each_contradiction_is_found(sign):
    watch = Watch({}, {}, 60)

    def found(told: SignedHead) -> tuple[bool, list[str]]:
        new, findings = watch.hear(told, 0)
        return new, [each.kind for each in findings]

    assert found(sign("key", 5)) == (True, [])
    assert found(sign("key", 5)) == (True, [])
    assert found(sign("key", 7)) == (True, [])
    assert found(sign("key", 7, "b")) == (False, ["forked"])
    assert found(sign("key", 6)) == (False, ["behind"])
    assert found(sign("other", 8)) == (False, ["key"])
    assert found(sign("key", 8).model_copy(update={"head": f"9:{'a' * 64}"})) == (False, ["forged"])
    assert found(sign("key", 1, record="bb")) == (True, ["other_record"])
    assert found(sign("key", 8)) == (True, ["other_record"])
    assert found(sign("key", 9)) == (True, [])
    assert found(sign("other", 1, table="t2")) == (True, [])


def test_a_key_in_the_configuration_is_the_only_one_from_the_start(sign, tmp_path):
    watch = Watch({}, {"t1": SigningKey.open(tmp_path / "key").public}, 60)

    assert [each.kind for each in watch.hear(sign("other", 5), 0)[1]] == ["key"]
    assert watch.hear(sign("key", 5), 0) == (True, [])


def test_a_table_whose_heads_do_not_come_is_silent_until_one_comes(sign):
    watch = Watch({"t1": Seen()}, {"t3": sign("key", 1).key}, 60)

    def silent(now: float) -> list[str]:
        return [each.table for each in watch.overdue(now)]

    assert silent(100) == []
    assert silent(161) == ["t1", "t3"]
    watch.hear(sign("key", 5, ts=TS), 170)
    watch.hear_unsigned("t3", None)  # retained: it may be of a table that is off
    assert silent(171) == ["t3"]
    watch.hear(sign("key", 5, ts=TS), 200)  # the same again, with the same time
    assert silent(231) == ["t1", "t3"]
    watch.hear(sign("key", 5, ts=at(10)), 232)
    assert silent(233) == ["t3"]


def test_each_time_that_a_record_goes_back_is_another_finding(sign):
    watch = Watch({}, {}, 60)
    texts = [
        each.text
        for seq in (56, 55, 55, 30, 31, 40, 5, 6, 57, 20)
        for each in watch.hear(sign("key", seq), 0)[1]
    ]

    ends = [text.partition("ends at input ")[2].partition(",")[0] for text in texts]
    assert ends == ["55", "55", "30", "30", "30", "5", "5", "20"]


def test_a_head_that_stands_still_while_the_table_goes_on_is_late(sign):
    watch = Watch({}, {}, 20)

    def late(now: float) -> list[str]:
        return [each.kind for each in watch.overdue(now)]

    def head(seq: int, now: float, **changes: str) -> None:
        watch.hear(sign("key", seq, ts=at(now), **changes), now)

    for now in range(0, 60, 5):  # the same head again, signed at another time
        head(56, now)
        watch.hear_input("t1", 56 + now, now)
        assert late(now) == (["late"] if now > 25 else [])
    head(60, 58)
    assert late(58) == ["late"]
    head(61, 59)  # the input that the table had published after the head
    assert late(59) == []
    watch.hear_input("t1", 70, 59)
    head(3, 59.5, record="bb")  # a new record counts from 1
    assert late(90) == ["silent"]


def test_heads_of_the_past_keep_no_table_from_being_silent_and_late(sign):
    """One of the record before and one of this record, in turn: both are genuine, and were on the broker once."""
    watch = Watch({}, {}, 20)
    before, last = sign("key", 900, record="bb", ts=at(0)), sign("key", 100, ts=at(1))
    assert watch.hear(before, 0) == (True, [])
    assert [each.kind for each in watch.hear(last, 1)[1]] == ["other_record"]
    for now in range(2, 40, 2):
        watch.hear_input("t1", 100 + now, now)
        assert [each.kind for each in watch.hear(before, now)[1]] == ["replayed"]
        assert watch.hear(last, now) == (True, [])

    assert [each.kind for each in watch.overdue(40)] == ["silent", "late"]
    watch.hear_unsigned("t1", 40)  # a table with a key signs its heads
    assert [each.kind for each in watch.overdue(40)] == ["silent", "late"]
    assert watch.hear(sign("key", 200, ts=at(2)), 40) == (True, [])
    assert [*watch.overdue(40)] == []


def test_each_return_to_an_earlier_record_is_a_finding_of_its_own(sign):
    watch = Watch({}, {}, 60)
    heads = [sign("key", 5 + n, record=("aa", "bb")[n % 2], ts=at(n)) for n in range(4)]
    texts = [each.text for told in heads for each in watch.hear(told, 0)[1]]

    assert texts == [
        f"t1: at {at(n)} it had the record {now}, and before that {then}: ask why, and keep the files of both"
        for n, now, then in ((1, "bb", "aa"), (2, "aa", "bb"), (3, "bb", "aa"))
    ]


def test_a_retained_head_of_the_past_is_no_finding_and_no_news(sign):
    """A broker that was restarted can have an earlier one."""
    watch = Watch({}, {}, 60)
    before, last = sign("key", 5), sign("key", 7)
    assert watch.hear(last, 0) == (True, [])
    assert watch.hear(before, None) == (False, [])


def test_a_record_that_goes_on_is_news_also_after_the_clock_was_put_back(sign):
    watch = Watch({}, {}, 60)
    assert watch.hear(sign("key", 5, ts=at(50)), 0) == (True, [])
    assert [each.kind for each in watch.hear(sign("key", 5, ts=at(1)), 50)[1]] == ["replayed"]
    assert watch.hear(sign("key", 6, ts=at(2)), 100) == (True, [])
    assert watch.hear(sign("key", 6, ts=at(3)), 100) == (True, [])
    assert [*watch.overdue(101)] == []


def test_after_a_start_it_knows_what_it_had_heard(sign, tmp_path):
    key = SigningKey.open(tmp_path / "witness")
    with WitnessStore(tmp_path / "witness.db", key) as store:
        for told in (sign("key", 5), sign("key", 7), sign("key", 1, record="bb")):
            store.keep(told)
    with WitnessStore(tmp_path / "witness.db", key) as store:
        watch = Watch(store.seen(), {}, 60)
        kinds = [each.kind for told in (sign("key", 6), sign("other", 8)) for each in watch.hear(told, 0)[1]]

        assert [each.kind for each in watch.hear(sign("key", 9, record="cc", ts=at(0)), 0)[1]] == ["replayed"]
    assert kinds == ["behind", "key"]
    kept = heads_of(tmp_path / "witness.db", "aa")
    assert [(each.told.at.seq, each.holds()) for each in kept] == [(5, True), (7, True)]
    assert not kept[0]._replace(witnessed=kept[1].witnessed + " ").holds()
    assert not kept[0]._replace(told=kept[1].told).holds()
