"""The wager sensors at a real engine with its record: what lies there, when it counts, and that it counts once."""

import asyncio

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.order_kinds import CorrectRound
from punto.controller.journal.recovery import replay
from punto.drivers.base import StartUnconfirmed, WagerPlaced, WagersLatched
from tests.controller.progressive_devices import NOTHING, SUITED, AtATable, at_a_table, settings, switched_on
from tests.controller.table_in_this_process import rows

# Coins are what these are about: which base wagers lie beside them nobody records here.
UNSEEN = settings(base_wagers="unseen")

# --- the wager sensors


async def test_a_wager_that_is_recognised_lights_and_one_that_is_taken_back_does_not(tmp_path):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        here.sensors.put(2)
        here.sensors.put(5)
        await here.recognised(2, 5)
        here.sensors.take(2)
        await here.recognised(5)

    assert [event["seat"] for event in here.record("wager_placed")] == [2, 5]
    assert [event["seat"] for event in here.record("wager_lifted")] == [2]


async def test_start_game_counts_what_the_sensors_latched(tmp_path):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2, 5)

        handled = await here.start()

        assert handled.refusal is None
        assert (here.step, here.hand.wagers) == ("playing", (2, 5))
        (started,) = here.record("start_game")
        assert (started["round"], started["who"], started["seats"]) == (1, "ann", [2, 5])
        here.sensors.take(2)  # the dealer takes the chips: the wagers stay lit, for they are in the game
        here.sensors.take(5)
        await here.until(lambda: here.hand.spent == (), "the sensors are empty")
        assert here.sensors.lit == {2, 5}
        await here.deal(NOTHING)


async def test_a_wager_after_the_start_is_refused_on_the_record_and_in_the_next_game(tmp_path):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2)
        await here.started()
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
        await here.started()
        assert here.hand.wagers == (3,)


async def test_a_wager_that_has_had_its_game_is_not_in_the_next_until_it_is_laid_anew(tmp_path):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2, 5)
        await here.started()
        await here.deal(NOTHING)
        await here.over()
        await here.recognised()
        assert here.standing() == []  # long before they are called stuck
        here.sensors.take(5)
        here.sensors.put(5)
        await here.recognised(5)

        await here.started()
        assert here.hand.wagers == (5,)
        await here.until(lambda: here.standing() == ["sensor_stuck"], "seat 2's wager is called stuck")
        here.sensors.take(2)
        await here.until(lambda: here.standing() == [], "it is gone")


async def test_start_twice_is_refused_and_the_sensors_are_not_told(tmp_path):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2)

        first, second = await asyncio.gather(here.start(), here.start())

        assert first.refusal is None
        assert second.refusal is not None
        assert second.refusal.code == "already_started"
        assert len(here.record("start_game")) == 2
        assert here.sensors.device.round == 1


async def test_sensors_that_do_not_answer_refuse_the_start_at_once(tmp_path):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2)
        here.sensors.unplug()
        await here.until(lambda: not here.online, "the loss is on the record")

        handled = await here.start()

        assert handled.refusal is not None
        assert str(handled.refusal).startswith("the wager sensors do not answer: ")
        assert here.step == "betting"
        here.sensors.plug()
        await here.heard()
        await here.started()


async def test_a_start_that_the_sensors_do_not_confirm_is_refused_and_a_late_latch_is_ended(
    tmp_path, monkeypatch
):
    async with at_a_table(tmp_path, UNSEEN) as here:
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
        # Its wager was in that START: it is dark, and in no game until it is laid anew.
        await here.recognised()
        assert (here.hand.spent, [event["seat"] for event in here.record("wager_voided")]) == ((2,), [2])
        await here.started()
        (started,) = here.record("start_game")[1:]
        assert started["seats"] == []
        await here.deal(NOTHING)
        await here.over()
        await here.recognised()
        here.sensors.take(2)
        here.sensors.put(2)
        await here.recognised(2)
        await here.started()
        assert here.hand.wagers == (2,)
        assert [code for kind, code in here.incidents() if kind == "refused"] == ["sensors_lost"]


async def test_a_wager_that_was_latched_before_it_was_told_is_in_the_game(tmp_path, monkeypatch):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2)
        monkeypatch.setattr(here.sensors, "_data_to_send", lambda _: [])
        starting = asyncio.create_task(here.start())
        await here.until(lambda: here.spots.orders().round == 1, "the START is wanted")

        await here.spots.take([WagerPlaced(3, 9), WagersLatched(1, (2, 3))])

        assert (await starting).refusal is None
        assert here.hand.wagers == (2, 3)


async def test_sensors_that_say_themselves_that_it_is_unconfirmed_are_not_waited_for(tmp_path, monkeypatch):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2)
        monkeypatch.setattr(here.sensors, "_data_to_send", lambda _: [])
        starting = asyncio.create_task(here.start())
        await here.until(lambda: here.spots.orders().round == 1, "the START is wanted")
        await here.spots.take([StartUnconfirmed(7), StartUnconfirmed(1), WagersLatched(1, (2,))])

        handled = await starting
        assert handled.refusal is not None
        assert handled.refusal.code == "start_unconfirmed"
        assert here.step == "betting"


@pytest.mark.parametrize("dark", [(), (2,)], ids=["while it waits", "while it is given up"])
async def test_a_start_that_is_pressed_twice_and_not_confirmed_starts_no_game_without_its_wagers(
    tmp_path, monkeypatch, dark
):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2, 5)
        monkeypatch.setattr(here.sensors, "_data_to_send", lambda _: [])
        pressed = [asyncio.create_task(here.start())]
        await here.until(lambda: here.spots.orders().round == 1, "the START is wanted")

        def press_again(*_: object) -> None:
            if len(pressed) == 1 and here.hand.spent == dark:
                pressed.append(asyncio.create_task(here.start()))

        press_again()
        here.table.engine.watch(press_again)
        await asyncio.sleep(0)
        monkeypatch.undo()
        await here.spots.take([StartUnconfirmed(1)])

        answers = await asyncio.gather(*pressed)

        codes = [answer.refusal and answer.refusal.code for answer in answers]
        assert (codes, here.step) == (["start_unconfirmed"] * 2, "betting")
        await here.recognised()  # seen to be dark, it can be left out
        await here.started()
        assert here.hand.wagers == ()


async def test_a_fault_of_a_sensor_is_an_alarm_until_it_is_mended(tmp_path):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        here.sensors.break_(3, "missing")
        await here.until(lambda: here.standing() == ["sensor_missing"], "the fault is an alarm")
        here.sensors.mend(3)
        await here.until(lambda: here.standing() == [], "the alarm is gone")

    assert [(event["fault"], event["stands"]) for event in here.record("sensor_fault")] == [
        ("missing", True),
        ("missing", False),
    ]


async def test_a_service_that_comes_up_in_mid_game_finds_its_late_wager_again(tmp_path):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, UNSEEN, devices=devices) as here:
            await here.open()
            await here.wager(2, 5)
            await here.started()
            devices.sensors.put(3)
            await here.until(lambda: here.spots.late() == (3,), "the wager is late")
            devices.sensors.take(2)
            await here.until(lambda: here.hand.spent == (5,), "the dealer takes a chip")
            before = here.hand
        async with at_a_table(tmp_path, UNSEEN, devices=devices) as here:
            await here.heard()
            await here.until(lambda: here.spots.late() == (3,), "the wager is late")
            assert (here.step, here.hand) == ("playing", before)
            assert here.spots.orders().round == 1
            assert [event["seat"] for event in here.record("wager_placed")] == [2, 5, 3, 3]
            await here.table.hello()
            await here.deal(SUITED)
            assert here.hand.won is not None
            assert here.hand.won.seats == (2, 5)


# --- coins that have had their game, whatever loses its power


async def a_game_to_its_end(here: AtATable) -> None:
    await here.deal(NOTHING)
    await here.over()


async def test_a_stuck_sensor_blocks_no_other_seats_game_over_a_loss_of_power(tmp_path):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2, 5)
        await here.started()
        here.sensors.break_(2, "stuck")
        here.sensors.take(2)
        here.sensors.take(5)
        await a_game_to_its_end(here)
        await here.until(lambda: here.standing() == ["sensor_stuck"], "it is called stuck")
        here.sensors.lose_power()
        here.sensors.put(5)
        await here.recognised(5)

        await here.started()
        assert here.hand.wagers == (5,)
        assert here.standing() == ["sensor_stuck"]


@pytest.mark.parametrize("fault", ["missing", "doubled"])
async def test_a_wager_whose_sensor_fails_is_dark_and_keeps_nobody_from_the_start(tmp_path, fault):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2, 5)
        here.sensors.break_(5, fault)
        await here.recognised(2)

        await here.started()
        assert (here.hand.wagers, here.standing()) == ((2,), [f"sensor_{fault}"])
        await a_game_to_its_end(here)
        here.sensors.mend(5)
        await here.until(lambda: here.standing() == [], "it is mended")
        await here.recognised()
        here.sensors.take(5)
        here.sensors.put(5)
        await here.recognised(5)


async def test_a_late_wager_whose_sensor_fails_is_in_no_game(tmp_path):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2)
        await here.started()
        here.sensors.put(3)
        await here.until(lambda: here.spots.late() == (3,), "the wager is late")
        here.sensors.break_(3, "missing")
        await here.until(lambda: here.standing() == ["sensor_missing"], "the fault is an alarm")
        here.sensors.mend(3)
        await here.until(lambda: here.standing() == [], "it is mended")
        await a_game_to_its_end(here)
        await here.recognised()

        await here.started()
        assert (here.hand.wagers, here.hand.spent) == ((), (2, 3))


async def test_a_game_that_is_opened_again_leaves_the_coins_of_the_next_as_they_are(tmp_path):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, UNSEEN, devices=devices) as here:
            await here.open()
            await here.wager(2)
            await here.started()
            await here.deal("2H KC 3H JC 5D KD")
            await here.over()
            last = here.table.state.history.last
            assert last is not None
            here.sensors.take(2)
            here.sensors.put(2)
            here.sensors.put(3)
            await here.recognised(2, 3)
            cards = (Card("2H"), Card("3H"), Card("4H"))
            await here.give(
                CorrectRound("ann", last.round, cards, tuple(map(Card, last.banker)), "misread", "eve")
            )
            assert here.step == "settling"
        async with at_a_table(tmp_path, UNSEEN, devices=devices) as here:
            await here.heard()
            here.sensors.put(4)
            await here.until(lambda: here.spots.late() == (4,), "a coin comes meanwhile")
            await here.until(
                lambda: here.sensors.lit == {2, 3}, "the game's wager is lit, and the next one's"
            )
            await here.press("F6 2")
            await here.turn("jph")
            await here.press("F7")
            await here.turn("run")
            assert (await here.press("F8")).result == "done"
            await here.recognised(2, 3, 4)
            await here.table.hello()
            await here.started()
            assert here.hand.wagers == (2, 3, 4)


# --- what was latched, or is looked for, where the service does not know of it


async def test_a_start_that_was_latched_and_not_recorded_does_not_count_after_a_kill(tmp_path, monkeypatch):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, UNSEEN, devices=devices) as here:
            await here.open()
            await here.wager(2)
            monkeypatch.setattr(here.spots, "_latched", nothing)  # it is killed before it could be recorded
            starting = asyncio.create_task(here.start())
            await here.until(lambda: devices.sensors.device.round == 1, "the sensors have latched it")
            starting.cancel()
        async with at_a_table(tmp_path, UNSEEN, devices=devices) as here:
            await here.heard()
            await here.until(
                lambda: devices.sensors.device.round == 0, "the sensors are told that it is over"
            )
            assert here.step == "betting"
            assert here.record("start_game") == []
            await here.table.hello()
            await here.recognised()  # its coin has been in that start: it must be laid anew
            assert (here.hand.spent, [event["seat"] for event in here.record("wager_voided")]) == ((2,), [2])
            devices.sensors.take(2)
            devices.sensors.put(2)
            await here.recognised(2)
            await here.started()
            assert here.hand.wagers == (2,)


@pytest.mark.parametrize("told", [False, True])
async def test_a_coin_that_was_latched_and_is_not_on_the_record_must_be_laid_anew(
    tmp_path, monkeypatch, told
):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, UNSEEN, devices=devices) as here:
            await here.open()
            if told:
                monkeypatch.setattr(here.spots, "_take", nothing)  # it is killed before it could be recorded
            else:
                monkeypatch.setattr(devices.sensors, "_data_to_send", lambda _: [])
            devices.sensors.put(2)
            starting = asyncio.create_task(here.start())
            await here.until(lambda: devices.sensors.device.round == 1, "the sensors have latched it")
            starting.cancel()
        monkeypatch.undo()
        async with at_a_table(tmp_path, UNSEEN, devices=devices) as here:
            await here.heard()
            await here.until(lambda: here.hand.spent == (2,), "the record says what must be laid anew")
            assert here.record("wager_placed", "start_game") == []
            await here.recognised()
            devices.sensors.take(2)
            devices.sensors.put(2)
            await here.recognised(2)
            await here.table.hello()
            await here.started()
            assert here.hand.wagers == (2,)


async def test_a_seat_that_has_no_sensor_any_more_has_nothing_to_lay_anew(tmp_path):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, UNSEEN, devices=devices) as here:
            await here.open()
            await here.wager(2, 5, 6)
            await here.started()
            await a_game_to_its_end(here)
            here.sensors.take(6)
            here.sensors.put(6)
            await here.recognised(6)
        async with at_a_table(tmp_path, UNSEEN, devices=devices, sensors=5) as here:
            assert (here.hand.sensors, here.hand.spent) == ((), (2, 5))
            await here.heard()
            await here.recognised()
            assert (here.hand.sensors, here.hand.spent) == ((), (2, 5))


async def nothing(_: object) -> None:
    """Do nothing of it."""


async def test_a_wager_without_a_base_wager_goes_dark_and_must_be_laid_anew(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        here.sensors.put(5)
        await here.recognised(2, 5)
        handled = await here.start()

        assert handled.refusal is None
        assert (here.hand.wagers, here.hand.sensors, here.hand.spent) == ((2,), (), (2, 5))
        await here.until(lambda: here.sensors.lit == frozenset({2}), "only seat 2 is lit")
        incidents = rows(
            tmp_path / "table.db", "SELECT text FROM incidents WHERE code = 'progressive_wager_left_out'"
        )
        assert len(incidents) == 1
        assert "seat 5" in incidents[0][0]
    assert replay(tmp_path / "table.db").difference is None
