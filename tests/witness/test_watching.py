"""What a witness reports of the heads that it hears."""

import pytest

from punto.controller.signing.heads import SignedHead
from punto.controller.signing.keys import SigningKey
from punto.witness.store import WitnessStore, heads_of
from punto.witness.watching import Seen, Watch
from tests.controller.signing.test_signer import TS, said


@pytest.fixture
def sign(tmp_path):
    """Signs a statement as if nothing had been signed before, with the key of this name."""

    def signed(key: str = "key", *head: object, **changes: str) -> SignedHead:
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
    watch.hear(sign("key", 5), 170)
    watch.hear_unsigned("t3", None)  # retained: it may be of a table that is off
    assert silent(171) == ["t3"]
    watch.hear(sign("key", 5), 200)  # the same again, with the same time
    assert silent(231) == ["t1", "t3"]
    watch.hear(sign("key", 5, ts=TS.replace("12:00:00", "12:00:10")), 232)
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

    def head(seq: int, now: int, **changes: str) -> None:
        watch.hear(sign("key", seq, ts=TS.replace("12:00:00", f"12:00:{now:02}"), **changes), now)

    for now in range(0, 60, 5):  # the same head again, signed at another time
        head(56, now)
        watch.hear_input("t1", 56 + now, now)
        assert late(now) == (["late"] if now > 25 else [])
    head(60, 58)
    assert late(58) == ["late"]
    head(61, 59)  # the input that the table had published after the head
    assert late(59) == []
    watch.hear_input("t1", 70, 59)
    head(3, 59, record="bb")  # a new record counts from 1
    assert late(90) == ["silent"]


def test_after_a_start_it_knows_what_it_had_heard(sign, tmp_path):
    key = SigningKey.open(tmp_path / "witness")
    with WitnessStore(tmp_path / "witness.db", key) as store:
        for told in (sign("key", 5), sign("key", 7), sign("key", 1, record="bb")):
            store.keep(told)
    with WitnessStore(tmp_path / "witness.db", key) as store:
        watch = Watch(store.seen(), {}, 60)
        kinds = [each.kind for told in (sign("key", 6), sign("other", 8)) for each in watch.hear(told, 0)[1]]

    assert kinds == ["behind", "key"]
    kept = heads_of(tmp_path / "witness.db", "aa")
    assert [(each.told.at.seq, each.holds()) for each in kept] == [(5, True), (7, True)]
    assert not kept[0]._replace(witnessed=kept[1].witnessed + " ").holds()
    assert not kept[0]._replace(told=kept[1].told).holds()
