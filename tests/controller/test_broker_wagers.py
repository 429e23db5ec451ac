"""A wager over the broker has one answer, its terminal gets it, and no seat's flood costs another its wagers."""

import asyncio
import threading
import time
from typing import Any

import pytest

from punto.baccarat.table.events import Flooded, SetWager
from punto.controller import engine, heartbeat, mqtt
from punto.controller.journal import recovery, store
from punto.controller.journal.answers import MOST_KEPT
from punto.controller.journal.schema import SNAPSHOTS_KEPT
from punto.controller.mqtt_requests import LONGEST_REQUEST
from punto.runtime.pace import AT_ONCE, DEAR, SUMMED_SECONDS, Pace
from tests.consoles.test_orders import UNSEEN
from tests.controller.at_a_broker import Cable, online, wager, wager_answers
from tests.controller.table_in_this_process import STAKE, TOPIC, connected, documented, ear, eventually, table
from tests.controller.table_on_a_machine import inputs

WAGERS: list[tuple[str, Any, str | None]] = [
    ("3", wager(), None),
    ("3", wager(wager="dragon_bonus_banker"), "needs_base"),
    ("3", wager(round=1), "wrong_round"),
    ("3", wager(round=2**53), "wrong_round"),
    ("3", wager(round=10**30), "bad_payload"),
    ("3", wager(round=0), "bad_payload"),
    ("0", wager(), "no_such_seat"),
    ("8", wager(), "no_such_seat"),
    ("999", wager(), "no_such_seat"),
    ("3", wager(wager="bankr"), "unknown_wager"),
    ("3", wager(amount=499), "below_minimum"),
    ("3", wager(id="w\n1"), "bad_payload"),
    ("3", wager(wager="tie\x1b[2J"), "bad_payload"),
    *(("3", wager(id=f"w{each}"), "bad_payload") for each in UNSEEN),
    *(("3", wager(wager=f"tie{each}"), "bad_payload") for each in UNSEEN),
    ("3", wager(amount=1_000_500), "above_maximum"),
    ("3", wager(amount=10**30), "bad_payload"),
    ("3", wager(amount=501), "off_step"),
    ("3", wager(amount=-500), "bad_payload"),
    ("3", wager(amount=5000.0), "bad_payload"),
    ("3", wager(amount="5000"), "bad_payload"),
    ("3", wager(amount=True), "bad_payload"),
    ("3", wager(amount=None), "bad_payload"),
    ("3", wager(round="2"), "bad_payload"),
    ("3", wager(id=""), "bad_payload"),
    ("3", wager(id="x" * 65), "bad_payload"),
    ("3", wager(id=7), "bad_payload"),
    ("3", wager(wager="x" * 65), "bad_payload"),
    ("3", wager(seat=3), "bad_payload"),
    ("3", {"id": "w-1"}, "bad_payload"),
    ("3", b"", "bad_payload"),
    ("3", b"{", "bad_payload"),
    ("3", b"[]", "bad_payload"),
    ("3", b"\xff\xfe\x00", "bad_payload"),
    ("3", b'{"id": "\\ud800", "round": 2, "wager": "player", "amount": 5000}', "bad_payload"),
    ("3", b"[" * 100_000, "bad_payload"),
    ("3", b'{"id": "w", "round": 2, "wager": "player", "amount": ' + b"9" * 5000 + b"}", "bad_payload"),
    ("3", b'{"id": "w", "round": 2, "wager": "player", "amount": NaN}', "bad_payload"),
]


async def test_each_wager_is_answered_with_what_became_of_it(here, mosquitto):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        here.engine.pace = Pace(at_once=10 * len(WAGERS))  # nobody asks so often
        await asyncio.gather(
            *(listening.publish(f"wagers/{seat}/set", payload) for seat, payload, _ in WAGERS)
        )
        await eventually(lambda: len(wager_answers(listening)) == len(WAGERS), "all answers")
        answers = wager_answers(listening)

    # Of requests that arrive together, those that are no wager at all are answered after the wagers.
    told = [(answer["seat"], answer["code"], answer["accepted"]) for answer in answers]
    wanted = [(int(seat), code, code is None) for seat, _, code in WAGERS]
    for unreadable in (False, True):
        assert [each for each in told if (each[1] == "bad_payload") is unreadable] == [
            each for each in wanted if (each[1] == "bad_payload") is unreadable
        ]
    assert all(answer["reason"] for answer in answers if not answer["accepted"])
    assert all(documented("wagers/3/result", answer) for answer in answers)
    numbers = [answer["seq"] for answer in answers]
    assert (numbers, min(numbers) > 0) == (sorted(numbers), True)
    assert len({answer["id"] for answer in answers}) == len(answers)
    assert [(placed.seat, placed.wager, placed.amount) for placed in here.state.round.wagers] == [
        (3, "player", STAKE)
    ]


@pytest.mark.parametrize(
    ("payload", "request_id"),
    [
        (wager(amount="5000"), "w-1"),
        ({"id": "w-2"}, "w-2"),
        (b'{"id": "w", "round": 2, "wager": "player", "amount": NaN}', "w"),
        (wager(id=7), None),
        (wager(id=""), None),
        (wager(id="x" * 65), None),
        (b'{"id": "w-1"', None),
        (b'["w-1"]', None),
        (b'{"id": "\\ud800"}', None),
        (b"\xff", None),
        (b"[" * 100_000, None),
    ],
)
@pytest.mark.parametrize("topic", ["wagers/3", "request/rounds", "request/roundz"])
async def test_what_is_not_a_request_is_answered_with_its_id_where_that_can_be_read(
    topic, payload, request_id, here, mosquitto
):
    name, answered = ("wagers/3/set", "wagers/3/result") if "wagers" in topic else (topic, "response")
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        await listening.publish(name, payload)
        await eventually(lambda: any(each[0].startswith(answered) for each in listening.heard), "the answer")
    answer = next(each for heard, each, _ in listening.heard if heard.startswith(answered))

    assert answer["request"] == request_id
    assert answer["seq"] == (here.engine.seq if "wagers" in topic else 0)


async def test_what_is_not_a_request_is_ignored_and_the_next_one_is_answered(here, mosquitto):
    """A wager that is retained would be made again at each connection; others name no seat, or cannot be answered."""
    async with ear(mosquitto.port) as listening:
        await listening.publish("wagers/3/set", wager(id="retained"), retain=True)
        async with connected(here, mosquitto.port):
            await online(listening)
            for seat in ("", "x", "-1", "1.5", "٣", "9" * 5000, "3 "):
                await listening.publish(f"wagers/{seat}/set", wager(id="no seat"))
            longest = "x" * (65535 - len(TOPIC("request/")))
            for verb in (
                longest,
                "",
                "a b",
                "ü",
                "snapshot/by/",
                "snapshot/by/a b",
                f"snapshot/by/{'x' * 65}",
            ):
                await listening.publish(f"request/{verb}", {"id": "no verb"})
            await listening.publish("wagers/3/set", wager(id="last"))
            await eventually(lambda: wager_answers(listening), "the answer")

            assert [answer["request"] for answer in wager_answers(listening)] == ["last"]
            assert listening.of("response/snapshot") == []


async def test_a_wager_on_the_record_is_answered_after_a_start(tmp_path, mosquitto):
    """The service may end between the record of a wager and its answer."""
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(1)
        for number, amount in enumerate((STAKE, 499, 2 * STAKE)):  # the second is below the minimum
            asked = SetWager(f"w-{number}", 3, "player", amount, here.state.round.number)
            await here.engine.submit([asked], "mqtt seat 3")
        seq = here.engine.seq
    async with table(record) as here, ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        await eventually(lambda: len(wager_answers(listening)) >= 3, "they are answered")

        assert [(each["request"], each["accepted"], each["code"]) for each in wager_answers(listening)] == [
            ("w-0", True, None),
            ("w-1", False, "below_minimum"),
            ("w-2", True, None),
        ]
        assert [each["seq"] for each in wager_answers(listening)] == [seq - 2, seq - 1, seq]
        assert wager_answers(listening)[2]["id"] == f"table-1/wager/{seq}"


@pytest.mark.parametrize("cards", [0, 1, 6], ids=["in betting", "after the first card", "after the hand"])
async def test_a_wager_that_is_asked_again_gets_its_first_answer(tmp_path, mosquitto, cards):
    """Beside a terminal that did not hear the answer, before and after a start, at any moment of the hand."""
    record = tmp_path / "table.db"
    async with table(record) as here, ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await here.begin_shoe()
        await here.play(1)
        await online(listening)
        asked = [wager(id="stands", amount=STAKE), wager(id="refused", amount=499)]
        for each in asked:
            await listening.publish("wagers/3/set", each)
        await eventually(lambda: len(wager_answers(listening)) == 2, "both are answered")
        first = wager_answers(listening)
        await here.play(1) if cards == 6 else await here.draw(cards)
        seq = here.engine.seq
        for each in asked:
            await listening.publish("wagers/3/set", each)
        await eventually(lambda: len(wager_answers(listening)) == 4, "both are answered again")

        assert [each["code"] for each in first] == [None, "below_minimum"]
        assert wager_answers(listening)[2:] == first
        assert here.engine.seq == seq
    async with table(record) as here, ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        await eventually(lambda: len(wager_answers(listening)) == 2, "the broker may not have them")
        seq = here.engine.seq
        for each in asked:
            await listening.publish("wagers/3/set", each)
        await eventually(lambda: len(wager_answers(listening)) == 4, "both are answered again")

        assert wager_answers(listening) == [*first, *first]
        assert here.engine.seq == seq


async def test_an_answer_that_the_broker_did_not_take_is_sent_on_the_next_connection(here, mosquitto):
    """The connection may be lost between a wager and its answer. What the broker has taken is not sent again."""
    cable = Cable(mosquitto.port)
    async with ear(mosquitto.port) as listening, connected(here, cable.port):
        async with cable.laid():
            await online(listening)
            await listening.publish("wagers/3/set", wager(id="taken"))
            await eventually(lambda: wager_answers(listening), "the answer")
            await eventually(lambda: not here.engine.publication.answers.not_taken(2), "the broker has it")
            cable.hang()
            await here.order(SetWager("on a dead line", 3, "player", 2 * STAKE, 2))
        await eventually(lambda: not here.outbox.connected, "it is away")
        await here.order(SetWager("without a broker", 4, "player", STAKE, 2))
        await here.play(1)
        async with cable.laid():
            await eventually(lambda: len(wager_answers(listening)) >= 3, "the answers of the last round")
            await listening.last("round", lambda last: last["seq"] == 2)
            await asyncio.sleep(0.05)

            asked = [each["request"] for each in wager_answers(listening)]
            assert asked == ["taken", "on a dead line", "without a broker"]


async def test_a_wager_that_is_on_its_way_to_the_record_is_not_recorded_again(here, mosquitto, monkeypatch):
    """A slow disk: the connection is lost while a wager is written, and its terminal asks again at once."""
    writing, add_steps = threading.Event(), store.add_steps

    def slowly(connection: Any, steps: Any) -> Any:
        if not writing.is_set() and steps[0].entry.source == "mqtt seat 3":
            writing.set()
            time.sleep(3)  # longer than the table waits before it connects again
        return add_steps(connection, steps)

    monkeypatch.setattr(store, "add_steps", slowly)
    cable = Cable(mosquitto.port)
    async with ear(mosquitto.port) as listening, connected(here, cable.port):
        before = here.engine.seq
        async with cable.laid():
            await online(listening)
            await listening.publish("wagers/3/set", wager())
            await eventually(writing.is_set, "it is being written")
        async with cable.laid():
            while not wager_answers(listening):
                here.outbox.snapshot_due("state")  # as every second: so the table finds the connection lost
                await listening.publish("wagers/3/set", wager())
                await asyncio.sleep(0.05)

        assert {each["id"] for each in wager_answers(listening)} == {f"table-1/wager/{before + 1}"}
        assert here.engine.seq == before + 1


async def test_after_a_start_from_a_snapshot_a_wager_is_answered_too(tmp_path, mosquitto, monkeypatch):
    monkeypatch.setattr(recovery, "FEW_INPUTS", 0)
    monkeypatch.setattr(engine, "SNAPSHOT_EVERY", 20)
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(12)
        await here.order(SetWager("w-1", 3, "player", STAKE, here.state.round.number))
        seq = here.engine.seq
    async with table(record) as here, ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        await eventually(lambda: wager_answers(listening), "it is answered")

        assert [each["seq"] for each in wager_answers(listening)] == [seq]


async def test_a_start_knows_the_wagers_of_a_round_with_many_inputs(tmp_path, monkeypatch):
    monkeypatch.setattr(recovery, "FEW_INPUTS", 10)
    monkeypatch.setattr(engine, "SNAPSHOT_EVERY", 10)
    record, asked = tmp_path / "table.db", SetWager("w-1", 3, "player", STAKE, 4)
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(3)
        await here.order(asked)
        last = here.engine.seq + (SNAPSHOTS_KEPT - 1) * engine.SNAPSHOT_EVERY
        while here.engine.seq < last:
            await here.order(SetWager(f"other-{here.engine.seq}", 4, "player", STAKE, 4))
    async with table(record) as here:
        assert here.engine.publication.answers.to(asked, here.state.round.number) is not None


async def test_answers_older_than_the_last_round_are_forgotten(here, mosquitto):
    async with connected(here, mosquitto.port):
        await eventually(lambda: here.outbox.connected, "it is connected")
        asked = SetWager("old", 3, "player", STAKE, 2)
        await here.order(asked)
        await here.play(1)
        assert here.engine.publication.answers.to(asked, here.state.round.number) is not None
        await here.play(1)
        assert here.engine.publication.answers.to(asked, here.state.round.number) is None
        for number in range(MOST_KEPT + 2):
            await here.order(SetWager(str(number), 3, "player", STAKE, 4))

        assert len(here.engine.publication.answers.not_taken(4)) <= MOST_KEPT
        assert here.engine.publication.answers.to(SetWager("0", 3, "player", STAKE, 4), 4) is None
        assert here.engine.publication.answers.to(SetWager("2", 3, "player", STAKE, 4), 4) is not None


async def test_a_seats_flood_is_summed_up_and_no_other_seat_waits_for_it(here, mosquitto, monkeypatch):
    monkeypatch.setattr(mqtt, "FLOOD", 10_000)  # so that all of it is read, and can be counted
    now = [0.0]
    here.engine.pace = Pace(clock=lambda: now[0])
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        before = here.engine.seq
        await asyncio.gather(*(listening.publish("wagers/3/set", wager(id=str(n))) for n in range(1500)))
        await listening.publish("wagers/4/set", wager(id="honest"))
        nobodys = (listening.publish(f"wagers/{900 + n % 99}/set", wager(id=str(n))) for n in range(300))
        await asyncio.gather(*nobodys)
        await listening.publish("wagers/5/set", wager(id="honest too"))
        await eventually(
            lambda: "honest too" in {each["request"] for each in wager_answers(listening)}, "all came"
        )

        answers = wager_answers(listening)
        assert {each["request"] for each in answers if each["accepted"]} >= {"honest", "honest too"}
        flood = [each for each in answers if each["seat"] == 3]
        assert [each["code"] for each in flood] == [None] * AT_ONCE + ["too_fast"]
        assert here.engine.seq - before == AT_ONCE + AT_ONCE // DEAR + 2

        now[0] += SUMMED_SECONDS
        summed = [*here.engine.pace.summed_up()]
        assert summed == [
            Flooded("seat 3", 1500 - AT_ONCE, SUMMED_SECONDS),
            Flooded("seats that the table does not have", 300 - AT_ONCE // DEAR, SUMMED_SECONDS),
        ]
        await here.engine.submit(summed, "service")
        assert [each.code for each in here.state.alarms] == ["flood", "flood"]
        assert [*here.engine.pace.summed_up()] == []
        await listening.publish("wagers/3/set", wager(id="later"))
        await eventually(
            lambda: "later" in {each["request"] for each in wager_answers(listening)}, "it may again"
        )


async def test_a_seat_that_floods_is_not_listened_to_for_a_while(here, mosquitto, monkeypatch):
    flood, client = "wagers/3/set", "seat 3"
    monkeypatch.setattr(mqtt, "DEAF_SECONDS", 1.0)
    pace = here.engine.pace = Pace(per_second=0)
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        for _ in range(6):
            await asyncio.gather(*(listening.publish(flood, b"{}") for _ in range(500)))
        await listening.publish("wagers/4/set", wager(id="honest"))
        await eventually(
            lambda: "honest" in {each["request"] for each in wager_answers(listening)}, "the answer"
        )
        refused = pace.refused(client)
        assert mqtt.FLOOD <= refused < 3000 - AT_ONCE, "the rest did not come"

        # What comes while nobody listens is lost, so the seat goes on sending.
        while pace.refused(client) == refused:
            await listening.publish(flood, b"{}")
            await asyncio.sleep(0.1)


async def test_the_service_puts_the_sum_of_a_flood_on_the_record(tmp_path, monkeypatch):
    monkeypatch.setattr(heartbeat, "STATE_EVERY_SECONDS", 0)
    async with table(tmp_path / "table.db") as here:
        now = [0.0]
        here.engine.pace = Pace(per_second=0, at_once=1, clock=lambda: now[0])
        for _ in range(4):
            here.engine.pace.allows("seat 3")
        now[0] += SUMMED_SECONDS
        beats = asyncio.create_task(heartbeat.beat(here.engine, here.journal, here.outbox))
        await eventually(lambda: here.state.alarms, "the alarm")
        beats.cancel()
        await asyncio.wait([beats])

        assert [alarm.code for alarm in here.state.alarms] == ["flood"]
        (flooded,) = inputs(tmp_path / "table.db", "flooded")
        assert (flooded["who"], flooded["requests"], flooded["seconds"]) == ("seat 3", 3, SUMMED_SECONDS)


async def test_a_request_that_is_too_long_is_answered_and_not_read(here, mosquitto):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        before = here.engine.seq
        await listening.publish("wagers/3/set", wager(id="x" * LONGEST_REQUEST))
        await listening.publish("request/rounds", {"id": "x" * LONGEST_REQUEST, "after": 0})
        await eventually(
            lambda: wager_answers(listening) and listening.of("response/rounds"), "both are answered"
        )

        (answer,) = wager_answers(listening)
        assert (answer["code"], answer["request"]) == ("bad_payload", None)
        assert "at most 4096 bytes" in answer["reason"]
        assert "at most 4096 bytes" in listening.of("response/rounds")[0]["error"]
        assert here.engine.seq == before
