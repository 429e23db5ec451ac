"""The alarms of the floor that stand: since when, and who has acknowledged each, until it ends."""

from datetime import UTC, datetime, timedelta

import pytest

from punto.house.alarms import AlarmError
from punto.house.live import TableView, Taker
from punto.house.standing import Standing, acknowledge, found
from punto.messages.building import timestamp
from punto.messages.models import StandingCall
from tests.house.behind_sign_on import house
from tests.house.pages.house import AGO, DEVIATION, STOP, meter, table

NOW = datetime(2026, 11, 25, 14, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
MUCH_LATER = NOW + timedelta(minutes=9)


@pytest.fixture(autouse=True)
def _cheap(cheap_passwords):
    """What a password costs is not what these tests are about."""


def stopped(number: int = 1, **changes) -> TableView:
    return table(number, **{"overlays": ("needs_supervisor",), "notices": (STOP,), **changes})


def shown(
    standing: Standing, view: TableView, now: datetime = MUCH_LATER
) -> list[tuple[str, str, Taker | None]]:
    """The alarms of a table as they are shown: label, since when, and who has acknowledged it when."""
    (seen,) = standing.on([view], now)
    return [(each.label, each.since, each.acknowledged) for each in seen.alarms]


def key(view: TableView) -> tuple[str, str]:
    return view.table, found(view)[0].id


def test_an_alarm_stands_since_it_was_seen_first_at_every_game_manager_and_after_a_restart(open_store):
    store = open_store()
    leader, other = Standing(store), Standing(store)
    leader.look([stopped()], NOW, keeps=True)
    other.look([stopped()], LATER, keeps=False)

    since = [("Waiting for a supervisor", timestamp(NOW), None)]
    assert shown(leader, stopped()) == since
    assert shown(other, stopped()) == since
    restarted = Standing(store)
    restarted.look([stopped()], LATER, keeps=True)
    assert shown(restarted, stopped()) == since


@pytest.mark.parametrize(
    ("label", "changes"),
    [
        ("NOT LIVE", {"live": False, "reason": "stopped", "as_of": AGO}),
        ("Meter not live", {"meter": meter(100, live=False, as_of=AGO)}),
    ],
)
def test_what_is_not_live_has_its_alarm_since_it_was_seen_last(open_store, label, changes):
    standing = Standing(open_store())
    away = table(1, **changes)
    assert shown(standing, away) == [(label, AGO, None)]
    standing.look([away], NOW, keeps=True)
    assert shown(standing, away) == [(label, AGO, None)]


def test_the_first_who_acknowledges_an_alarm_is_shown_until_it_ends(open_store):
    store = open_store()
    standing, other = Standing(store), Standing(store)
    standing.look([stopped()], NOW, keeps=True)
    acknowledge(store, key(stopped()), "Sue", LATER)
    with pytest.raises(AlarmError, match="Sue has acknowledged this alarm at 2026-11-25T14:05") as refused:
        acknowledge(store, key(stopped()), "Omar", MUCH_LATER)
    assert refused.value.status == 409

    by_sue = [
        ("Waiting for a supervisor", timestamp(NOW), Taker(who="Sue", ts=timestamp(LATER))),
    ]
    for each in (standing, other):
        each.look([stopped()], MUCH_LATER, keeps=each is standing)
        assert shown(each, stopped()) == by_sue

    standing.look([table(1)], MUCH_LATER, keeps=True)
    assert shown(standing, stopped()) == [("Waiting for a supervisor", timestamp(MUCH_LATER), None)]
    with pytest.raises(AlarmError, match="it has ended") as refused:
        acknowledge(store, key(stopped()), "Sue", MUCH_LATER)
    assert refused.value.status == 404


def test_an_alarm_that_ends_and_comes_again_between_two_looks_is_not_acknowledged(open_store):
    store = open_store()
    standing = Standing(store)
    standing.look([stopped()], NOW, keeps=True)
    acknowledge(store, key(stopped()), "Sue", LATER)
    standing.look([stopped()], LATER, keeps=True)
    assert shown(standing, table(1)) == []
    new = [("Waiting for a supervisor", timestamp(MUCH_LATER), None)]
    assert shown(standing, stopped()) == new
    standing.look([stopped()], MUCH_LATER, keeps=True)
    assert shown(standing, stopped()) == new
    acknowledge(store, key(stopped()), "Omar", MUCH_LATER)


def test_another_alarm_of_the_same_kind_is_not_acknowledged(open_store):
    store = open_store()
    standing = Standing(store)
    standing.look([stopped()], NOW, keeps=True)
    acknowledge(store, key(stopped()), "Sue", LATER)
    flood = STOP.model_copy(update={"text": "a card was pushed back into the shoe"})
    standing.look([stopped(notices=(STOP, flood))], LATER, keeps=True)
    assert [who for *_, who in shown(standing, stopped(notices=(STOP, flood)))] == [
        Taker(who="Sue", ts=timestamp(LATER)),
        None,
    ]


@pytest.mark.parametrize(
    "unknown",
    [[], [table(1, live=False, as_of=None)], [table(1, live=False, as_of=AGO)]],
    ids=["not heard yet", "nothing known yet", "not live"],
)
def test_an_acknowledgement_stays_while_it_is_not_known_whether_the_alarm_is_over(open_store, unknown):
    store = open_store()
    standing = Standing(store)
    standing.look([stopped()], NOW, keeps=True)
    acknowledge(store, key(stopped()), "Sue", LATER)
    standing.look(unknown, LATER, keeps=True)
    standing.look([stopped()], MUCH_LATER, keeps=True)
    assert [who for *_, who in shown(standing, stopped())] == [Taker(who="Sue", ts=timestamp(LATER))]


def test_an_alarm_of_the_house_ends_also_at_a_table_that_is_not_live(open_store):
    store = open_store()
    standing = Standing(store)
    away = {"live": False, "as_of": AGO}
    odd = table(1, deviations=(DEVIATION,), **away)
    standing.look([odd], NOW, keeps=True)
    of_deviation = next(each.id for each in found(odd) if each.kind == "deviation")
    standing.look([table(1, **away)], LATER, keeps=True)
    with pytest.raises(AlarmError, match="it has ended"):
        acknowledge(store, ("table-1", of_deviation), "Sue", LATER)


def test_only_the_game_manager_that_takes_in_ends_an_alarm(open_store):
    store = open_store()
    leader, other = Standing(store), Standing(store)
    leader.look([stopped()], NOW, keeps=True)
    other.look([table(1)], LATER, keeps=False)
    acknowledge(store, key(stopped()), "Sue", LATER)


def test_a_table_that_stands_still_and_a_call_come_before_what_favours_the_players():
    call = StandingCall(number=7, text="a dispute")
    view = stopped(calls=(call,), edge_alarms=("panda_8",), deviations=(DEVIATION,))
    assert [each.kind for each in found(view)] == ["stop", "call", "edge", "deviation"]


def test_a_call_that_comes_again_is_a_new_alarm():
    first, again = (table(1, calls=(StandingCall(number=number, text="a dispute"),)) for number in (41, 52))
    (one,), (other,) = found(first), found(again)
    assert (one.label, one.text) == ("Supervisor called", "A dispute")
    assert one.id != other.id


def test_an_amount_that_is_not_by_chance_is_in_the_tables_currency():
    kept = DEVIATION.model_copy(
        update={"rule": None, "found": -1_234_500, "counted": 9_876_500, "expected": 120_000.4}
    )
    (odd,) = found(table(1, deviations=(kept,), currency="USD"))
    assert odd.text == (
        "Dragon Bonus Player · win: -12,345.00 USD of 98,765.00 USD staked since 24 Nov 2026, 1,200.00 USD expected. "
        "By chance, at most once in 2,410,000"
    )


async def test_supervisors_and_executives_acknowledge_alarms_of_the_floor_and_others_do_not(tmp_path):
    async with house(tmp_path) as here:
        here.do(
            "INSERT INTO standing_alarms VALUES ('table-1', 'stop-1', '2026-11-25 14:00:00.000000', NULL, NULL)"
        )
        sue, eve, ada, tom = [await here.signed_on(name) for name in ("Sue", "Eve", "Ada", "Tom")]
        body = {"table": "table-1", "alarm": "stop-1"}

        async def acknowledged(browser, told=body) -> tuple[int, str]:
            answer = await browser.ask("POST", "/api/floor/acknowledgements", told)
            return answer.status, "" if answer.status == 204 else answer.text

        for reader in (ada, tom):
            status, text = await acknowledged(reader)
            assert (status, "not_of_role" in text) == (403, True)
        for told in ({}, {**body, "note": "x"}, {**body, "table": "x" * 65}, {**body, "alarm": 5}):
            assert (await acknowledged(sue, told))[0] == 422
        assert (await acknowledged(sue, {**body, "alarm": "stop-2"}))[0] == 404
        assert await acknowledged(sue) == (204, "")
        status, text = await acknowledged(eve)
        assert (status, "Sue has acknowledged this alarm at" in text) == (409, True)
        assert (
            "access_refused",
            "Ada",
            "refused acknowledge an alarm: not_of_role",
            "127.0.0.1",
        ) in here.accesses()
