"""What a table and the authority of its meter send each other is signed: the bytes, and both ends at a real broker."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from punto.controller.meter_link.link import LONGEST, Link
from punto.messages.linked import MeterRequest
from tests.controller.linked_services import Service, key_of, signed
from tests.controller.table_on_a_machine import Listener, inputs, wait_until
from tests.controller.test_linked import (
    CONTRIBUTED,
    alarms_of,
    asked_for,
    broker_has,
    floor,
)

__all__ = ["floor"]  # the fixture
LOSES = "KS 2S 5S 3S 4D 9D"
"""A hand whose game ends without an award."""
REQUEST = "punto/t1/meter/request"
ANSWER = "punto/meter-1/meter/answer/t1"
OLD, NEW = key_of("t1"), key_of("new")
LINK = Link("dragon", "meter-1", "t1", (OLD,))


def request() -> MeterRequest:
    return MeterRequest.model_validate(asked_for(1))


def forged(sealed: bytes, by: bytes) -> bytes:
    """The message with another end, which a careless reader would take for its signatures."""
    return sealed.removesuffix(b"]}") + by


SIGNED = LINK.signed(request()).wire()
TAG = SIGNED[-69:-2]


def test_a_message_is_signed_as_the_contract_says():
    assert json.loads(SIGNED)["signatures"] == json.loads(signed(json.loads(request().wire())))["signatures"]
    assert LINK.holds(SIGNED)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(request().wire(), id="no signature"),
        pytest.param(SIGNED.replace(b'"number":1', b'"number":2'), id="another number"),
        pytest.param(SIGNED.replace(b'"record":"made up"', b'"record":"another"'), id="another record"),
        pytest.param(SIGNED + b" ", id="a byte more"),
        pytest.param(b" " + SIGNED, id="a byte before"),
        pytest.param(SIGNED.replace(TAG, TAG.upper()), id="another text of the same digits"),
        pytest.param(SIGNED.replace(TAG, b'""'), id="an empty signature"),
        pytest.param(forged(SIGNED, b',"a"],"record":["evil"]}'), id="a key after the signatures"),
        pytest.param(forged(SIGNED, b'],"asked":null,"signatures":[' + TAG + b"]}"), id="a second list"),
        pytest.param(forged(SIGNED, b"," + TAG + b"," + TAG + b"]}"), id="three signatures"),
        pytest.param(b"x" * LONGEST + SIGNED, id="too long"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xff" * 100, id="noise"),
    ],
)
def test_a_message_that_was_changed_does_not_hold(changed):
    assert not LINK.holds(changed)


@pytest.mark.parametrize(
    "other",
    [
        Link("dragon", "meter-1", "t2", (OLD,)),
        Link("dragon", "meter-2", "t1", (OLD,)),
        Link("tiger", "meter-1", "t1", (OLD,)),
        Link("dragon", "meter-1", "t1", (NEW,)),
        Link("dragon", "meter-1", "t1"),
    ],
)
def test_a_message_holds_on_no_other_link_and_with_no_other_key(other):
    assert not other.holds(SIGNED)


def test_without_a_key_only_what_is_not_signed_holds():
    without = Link("dragon", "meter-1", "t1")
    assert without.signed(request()) == request()
    assert without.holds(request().wire())
    assert not LINK.holds(request().wire())


def test_while_a_key_is_changed_the_authority_hears_and_is_heard_by_the_old_and_the_new_one():
    both = Link("dragon", "meter-1", "t1", (OLD, NEW))
    for key in (OLD, NEW):
        table = Link("dragon", "meter-1", "t1", (key,))
        assert both.holds(table.signed(request()).wire())
        assert table.holds(both.signed(request()).wire())


def unsigned(authority: Service) -> list[str]:
    """The tables in whose name the authority has recorded messages without a signature."""
    found = inputs(authority.record, "table_refused")
    return [each["table"] for each in found if each["code"] == "table_unsigned"]


def test_a_stolen_password_changes_nothing_and_the_genuine_table_plays_on(floor, tmp_path):
    broker, (authority, t1, t2) = floor
    topics = (REQUEST, "punto/t2/meter/request", "punto/meter-1/progressive/dragon")
    with Listener(tmp_path, broker.port, "punto/#") as listener:
        t1.bet(1)
        t1.play(LOSES)
        t1.order("game_over")
        t2.bet(2)
        heard = {name: [each.payload for each in listener.heard() if each.topic == name] for name in topics}
    # A table that waits sends its request again: of each, one is replayed.
    captured = {(name, each["seq"]): each for name in topics[:2] for each in heard[name] if each["asked"]}
    replayed = [json.dumps(each, separators=(",", ":")) for each in captured.values()]  # also those of t2
    number = t1.link.number
    own = broker_has(tmp_path, broker, "punto/t1/availability")["record"]
    before = authority.contributions
    assert before == 2 * CONTRIBUTED

    forgeries: list[Any] = [
        asked_for(number + 1, record=own),
        signed(asked_for(number + 1, record=own), "t2"),  # by another table of the house
        {**asked_for(number + 1, record=own), "signatures": heard[REQUEST][0]["signatures"]},
        {**asked_for(number + 1, record=own), "currency": "EUR"},
        {"schema": "punto/meter-request/9"},
        *replayed,
    ]
    for _ in range(2):
        for each in forgeries:
            broker.publish(REQUEST, each)
    meter = heard[topics[2]][-1]
    for second in range(3):  # and as if t1 kept a meter itself
        ts = f"{meter['ts'][:20]}{second:06}+00:00"
        broker.publish("punto/t1/progressive/dragon", {**meter, "ts": ts, "kept_by": "t1 elsewhere"})
    there = broker_has(tmp_path, broker, "punto/t1/availability")  # and as if another service had its id
    broker.publish("punto/t1/availability", {**there, "record": "made up", "ts": f"9{there['ts'][1:]}"})
    wait_until(lambda: len(unsigned(authority)) == 2, "the authority reports requests and meters, once each")
    t1.order("wager_lifted", seat=1)
    t1.bet(1)  # which the authority takes after all of them

    assert authority.contributions == before + CONTRIBUTED
    assert unsigned(authority) == ["t1", "t1"]
    assert {code for code, _ in alarms_of(authority)} == {"table_unsigned"}
    reasons = sorted(each["reason"] for each in inputs(authority.record, "table_refused"))
    assert [each[:29] for each in reasons] == [
        "it is not signed with the key",
        "t1 keeps a meter of dragon it",
    ]
    heard_away = [each for each in inputs(t1.record, "meter_heard") if not each["online"]]
    assert [each for each in heard_away if "signed" in each["reason"]] == []


def test_a_false_authority_tells_a_table_nothing(floor, tmp_path):
    broker, (authority, t1, _) = floor
    answer = broker_has(tmp_path, broker, ANSWER)
    heard = len(inputs(t1.record, "meter_heard"))
    closed = {**answer["heard"], "extract": {**answer["heard"]["extract"], "phase": "closed"}}
    away = {"kind": "meter_heard", "online": False, "reason": "go away"}
    for told in ({**answer, "heard": closed}, {**answer, "heard": away, "signatures": []}):
        broker.publish(ANSWER, json.dumps({**told, "last_input": 10**6}, separators=(",", ":")))
    broker.publish(ANSWER, signed({**answer, "heard": away, "last_input": 10**6}, "t2"))
    t1.bet(1)

    assert len(inputs(t1.record, "meter_heard")) == heard
    assert (t1.linked, authority.contributions) == (True, CONTRIBUTED)


@contextmanager
def links_again(*tables: Service) -> Iterator[None]:
    """Wait until these tables have heard their authority again after what is done meanwhile."""

    def heard(table: Service) -> int:
        return sum(each["online"] for each in inputs(table.record, "meter_heard"))

    before = {table: heard(table) for table in tables}
    yield
    for table, number in before.items():
        wait_until(lambda at=table, n=number: heard(at) > n and at.linked, f"{table.name} is linked again")  # type: ignore[misc]


@contextmanager
def restarted(service: Service) -> Iterator[None]:
    """The service is stopped, and afterwards started again."""
    service.stop()
    yield
    service.start()


def write_key(service: Service, key: bytes, name: str = "t1.key") -> None:
    (service.keys / name).write_text(key.hex() + "\n", encoding="ascii")


def test_a_table_with_another_key_says_why_its_meter_does_not_answer(floor):
    _, (authority, t1, t2) = floor
    with restarted(t1):
        write_key(t1, NEW)
    wait_until(lambda: not t1.linked and "signed with the key" in t1.link.reason, "t1 says why")
    refused = t1.ask(order="start_game", round=t1.status()["round"])
    assert (refused["accepted"], refused["code"]) == (False, "meter_away")
    assert "put the same t1.key into key_folder of meter-1 and of t1" in refused["reason"]
    wait_until(lambda: unsigned(authority) == ["t1"], "the authority says why")
    t2.bet(2)

    with links_again(t1), restarted(t1):
        write_key(t1, OLD)
    t1.bet(1)
    assert authority.contributions == 2 * CONTRIBUTED


def test_an_authority_that_comes_back_with_another_key_is_not_taken_for_the_one_before(floor):
    _, (authority, t1, t2) = floor
    with links_again(t2), restarted(authority):
        write_key(authority, NEW)
    wait_until(lambda: not t1.linked and "signed with the key" in t1.link.reason, "t1 says why")


def test_a_table_without_keys_and_an_authority_with_keys_say_so_to_each_other(floor):
    _, (authority, t1, _) = floor
    with restarted(t1):
        text = t1.config.read_text(encoding="utf-8")
        t1.config.write_text(text.replace(f'key_folder = "{t1.keys}"\n', ""), encoding="utf-8")
    wait_until(lambda: "this table has no key" in t1.link.reason, "t1 says why")
    wait_until(lambda: unsigned(authority) == ["t1"], "the authority says why")
    assert any("what tables ask of the meter is not signed" in line for line in t1.said())


def test_a_key_is_changed_while_all_tables_play_on(floor):
    _, (authority, t1, t2) = floor
    with links_again(t1, t2), restarted(authority):
        write_key(authority, NEW, "t1.new.key")
    t1.bet(1)
    with links_again(t1), restarted(t1):
        write_key(t1, NEW)
    t1.play(LOSES)
    t1.order("game_over")
    wait_until(lambda: t1.link.asked is None, "the authority knows that the game is over")
    with links_again(t1, t2), restarted(authority):
        (authority.keys / "t1.new.key").rename(authority.keys / "t1.key")
    t1.order("wager_lifted", seat=1)
    t1.bet(1)
    t2.bet(2)

    assert authority.contributions == 3 * CONTRIBUTED
    assert unsigned(authority) == []
