"""The wager sensors' door where two things happen at the same moment: each coin is in one game, or dark until it is laid anew."""

import asyncio

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.order_kinds import CorrectRound
from punto.drivers.base import SensorFailed, SensorsFound, WagerLifted, WagersLatched
from tests.controller.progressive_devices import NOTHING, at_a_table, settings

UNSEEN = settings(base_wagers="unseen")


@pytest.fixture
def unheard(monkeypatch):
    """What the sensors say from now on is lost, so that a test says in their place what they latched."""

    def unheard(here):
        monkeypatch.setattr(here.sensors, "_data_to_send", lambda _: [])
        return monkeypatch.undo

    return unheard


@pytest.mark.parametrize(
    ("meanwhile", "latched"),
    [([], (2,)), (["draw KS"], (2, 5))],
    ids=["the latch lacks a lit wager", "a card is dealt before the latch"],
)
async def test_a_start_that_starts_no_game_leaves_all_its_wagers_dark(tmp_path, unheard, meanwhile, latched):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2, 5)
        heard_again = unheard(here)
        starting = asyncio.create_task(here.start())
        await here.until(lambda: here.spots.orders().round == 1, "the START is wanted")
        await here.table.do(*meanwhile)

        await here.spots.take([WagersLatched(1, latched)])

        assert (await starting).refusal is not None
        assert (here.step, here.hand.sensors) == ("betting", ())
        heard_again()


@pytest.mark.parametrize(
    "event",
    [
        SensorFailed(3, 3, "missing"),
        WagerLifted(3),
        SensorsFound(empty=(3,), lying=()),
        SensorsFound(empty=(), lying=(), spent=(3,)),
    ],
    ids=["its sensor fails", "it is lifted", "it is gone after a silence", "it has had its START"],
)
async def test_a_late_wager_that_counts_no_more_is_not_in_the_next_game(tmp_path, unheard, event):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.started()
        here.sensors.put(3)
        await here.until(lambda: here.spots.late() == (3,), "the wager is late")
        heard_again = unheard(here)

        await here.spots.take([event])

        assert here.spots.late() == ()
        heard_again()


async def test_a_start_right_after_a_game_has_the_wager_that_was_late_for_it(tmp_path, monkeypatch):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.started()
        here.sensors.put(3)
        await here.until(lambda: here.spots.late() == (3,), "the wager is late")
        await here.deal(NOTHING)

        async def is_slow() -> None:
            """The door's own task, which would end the game too, has not had its turn yet."""

        monkeypatch.setattr(here.spots, "_on_link_changed", is_slow)
        await here.over()

        await here.started()
        assert here.hand.wagers == (3,)


async def test_a_game_that_a_correction_opens_again_is_not_started_again(tmp_path):
    async with at_a_table(tmp_path, UNSEEN) as here:
        await here.open()
        await here.wager(2)
        await here.started()
        await here.deal("2H KC 3H JC 5D KD")
        await here.over()
        last = here.table.state.history.last
        assert last is not None
        won = (Card("2H"), Card("3H"), Card("4H"))

        await here.give(CorrectRound("ann", last.round, won, tuple(map(Card, last.banker)), "misread", "eve"))

        assert (here.step, here.spots.orders().round) == ("settling", None)
