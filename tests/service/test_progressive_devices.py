"""The progressive's devices at a real engine with its record: each step and each refusal of both procedures by its device."""

import asyncio

from drivers.base import StartUnconfirmed, WagersLatched
from tests.service.progressive_devices import NOTHING, SUITED, at_a_table, switched_on

# --- the wager sensors


async def test_a_wager_that_is_recognised_lights_and_one_that_is_taken_back_does_not(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        here.sensors.put(2)
        here.sensors.put(5)
        await here.recognised(2, 5)
        here.sensors.take(2)
        await here.recognised(5)

    assert [event["seat"] for event in here.record("wager_placed")] == [2, 5]
    assert [event["seat"] for event in here.record("wager_lifted")] == [2]


async def test_start_game_counts_what_the_sensors_latched(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2, 5)

        handled = await here.start()

        assert handled.refusal is None
        assert (here.step, here.hand.wagers) == ("playing", (2, 5))
        (started,) = here.record("start_game")
        assert (started["round"], started["who"], started["seats"]) == (1, "ann", [2, 5])
        here.sensors.take(2)  # the dealer takes the chips: the wagers stay lit, for they are in the game
        here.sensors.take(5)
        await here.until(lambda: here.hand.sensors == (), "the sensors are empty")
        assert here.sensors.lit == {2, 5}
        await here.deal(NOTHING)


async def test_a_wager_after_the_start_is_refused_on_the_record_and_in_the_next_game(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        await here.start()
        here.sensors.take(2)

        here.sensors.put(3)
        await here.until(lambda: here.spots.late() == (3,), "the wager is late")

        assert here.hand.wagers == (2,)
        assert here.sensors.lit == {2}
        await here.until(lambda: here.incidents() == [("refused", "after_start")], "the incident is there")
        await here.deal(NOTHING)
        await here.over()
        await here.recognised(3)
        assert here.spots.late() == ()
        assert (await here.start()).refusal is None
        assert here.hand.wagers == (3,)


async def test_a_late_wager_that_is_taken_back_is_in_no_game(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        await here.start()
        here.sensors.put(3)
        await here.until(lambda: here.spots.late() == (3,), "the wager is late")
        here.sensors.take(3)
        await here.until(lambda: here.spots.late() == (), "it is gone")
        await here.deal(NOTHING)
        await here.over()

        await here.recognised()


async def test_a_wager_that_has_had_its_game_is_not_in_the_next_until_it_is_laid_anew(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2, 5)
        await here.start()
        await here.deal(NOTHING)
        await here.over()
        await here.recognised()
        here.sensors.take(5)
        here.sensors.put(5)
        await here.recognised(5)

        assert (await here.start()).refusal is None
        assert here.hand.wagers == (5,)
        await here.until(lambda: here.standing() == ["sensor_stuck"], "seat 2's wager is called stuck")
        here.sensors.take(2)
        await here.until(lambda: here.standing() == [], "it is gone")


async def test_start_twice_is_refused_and_the_sensors_are_not_told(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)

        first, second = await asyncio.gather(here.start(), here.start())

        assert first.refusal is None
        assert second.refusal is not None
        assert second.refusal.code == "already_started"
        assert len(here.record("start_game")) == 2
        assert here.sensors.device.round == 1


async def test_sensors_that_do_not_answer_refuse_the_start_at_once(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        here.sensors.unplug()
        await here.until(lambda: not here.online, "the loss is on the record")

        handled = await here.start()

        assert handled.refusal is not None
        assert str(handled.refusal).startswith("the wager sensors do not answer: the port ")
        assert here.step == "betting"
        here.sensors.plug()
        await here.heard()
        assert (await here.start()).refusal is None


async def test_a_start_that_the_sensors_do_not_confirm_is_refused_and_a_late_latch_is_ended(
    tmp_path, monkeypatch
):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        # They hear the START and their answers come too late.
        monkeypatch.setattr(here.sensors, "_data_to_send", lambda _: [])

        handled = await here.start()

        assert handled.refusal is not None
        assert handled.refusal.code == "sensors_lost"
        assert here.step == "betting"
        monkeypatch.undo()
        await here.heard()
        await here.until(lambda: here.sensors.device.round == 0, "the sensors are told that it is over")
        assert here.step == "betting"
        # Its wager was in that START. It lights, and is not counted by the next without a word.
        again = await here.start()
        assert again.refusal is not None
        assert again.refusal.code == "start_unconfirmed"
        here.sensors.take(2)
        await here.recognised()
        here.sensors.put(2)
        await here.recognised(2)
        assert (await here.start()).refusal is None
        assert here.hand.wagers == (2,)
        assert [code for kind, code in here.incidents() if kind == "refused"] == [
            "sensors_lost",
            "start_unconfirmed",
        ]


async def test_sensors_that_say_themselves_that_it_is_unconfirmed_are_not_waited_for(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        starting = asyncio.create_task(here.start())
        await here.until(lambda: here.spots.orders().round == 1, "the START is wanted")
        await here.spots.take([StartUnconfirmed(7), StartUnconfirmed(1), WagersLatched(1, (2,))])

        handled = await starting
        assert handled.refusal is not None
        assert handled.refusal.code == "start_unconfirmed"
        assert here.step == "betting"


async def test_a_fault_of_a_sensor_is_an_alarm_until_it_is_mended(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        here.sensors.break_(3, "missing")
        await here.until(lambda: here.standing() == ["sensor_missing"], "the fault is an alarm")
        here.sensors.mend(3)
        await here.until(lambda: here.standing() == [], "the alarm is gone")

    assert [(event["fault"], event["stands"]) for event in here.record("sensor_fault")] == [
        ("missing", True),
        ("missing", False),
    ]


async def test_sensors_that_lost_their_power_say_anew_what_lies_there(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2, 5)
        here.sensors.unplug()
        here.sensors.take(2)
        here.sensors.lose_power()
        here.sensors.plug()
        await here.heard()

        await here.recognised(5)


async def test_a_service_that_comes_up_takes_the_wagers_from_the_sensors_and_not_from_the_record(tmp_path):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.open()
            await here.wager(2, 5)
        devices.sensors.take(2)
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.heard()
            await here.recognised(5)
            await here.table.hello()
            assert (await here.start()).refusal is None
            assert here.hand.wagers == (5,)


async def test_a_service_that_comes_up_in_mid_game_finds_its_late_wager_again(tmp_path):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.open()
            await here.wager(2, 5)
            await here.start()
            devices.sensors.put(3)
            await here.until(lambda: here.spots.late() == (3,), "the wager is late")
            before = here.hand
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.heard()
            await here.until(lambda: here.spots.late() == (3,), "the wager is late")
            assert (here.step, here.hand) == ("playing", before)
            assert here.spots.orders().round == 1
            await here.table.hello()
            await here.deal(SUITED)
            assert here.hand.won is not None
            assert here.hand.won.seats == (2, 5)
