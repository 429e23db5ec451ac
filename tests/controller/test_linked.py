"""Two services on one progressive, and the authority that keeps its meter: processes, a real broker, and kills."""

import asyncio
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from punto.configs.game_files import load_game
from punto.controller.journal.audit import audit, compare
from punto.controller.journal.recovery import history
from punto.controller.meter_link.authority_end import GAME_SECONDS, GAMES_AT_ONCE
from tests.consoles.consoles import Browser
from tests.controller.linked_services import Service, signed
from tests.controller.progressive_devices import switched_on
from tests.controller.table_in_this_process import eventually, rows
from tests.controller.table_on_a_machine import STAFF, Broker, Listener, inputs, wait_until
from tests.deadline import pauses
from tests.ports import free_port
from tests.share import soaked

GAMES = Path(__file__).parents[2] / "configs" / "games"
ALL = "2D KC 3D JC 4D KH"  # the whole meter
QUARTER = "2H KC 3H JC 4H KD"  # 25% of the meter
NOTHING = "KS 2S 9H 3S"
CONTRIBUTED = 20 * 1_000_000
"""What one wager brings, in millionths of a cent."""


@contextmanager
def opened(folder: Path, keypad: str = "") -> Iterator[tuple[Broker, list[Service]]]:
    """The services `meter-1`, `t1`, which may have a keypad, and `t2`, with the meter and the tables open."""
    with ExitStack() as running:
        broker = running.enter_context(Broker(folder))
        services = [Service(folder, broker, name) for name in ("meter-1", "t1", "t2")]
        with services[1].config.open("a", encoding="utf-8") as config:
            config.write(keypad)
        for each in services:
            running.enter_context(each)
        authority, *tables = services
        authority.order("open_meter")
        for table in tables:
            table.open()
        yield broker, services


@pytest.fixture
def floor(tmp_path) -> Iterator[tuple[Broker, list[Service]]]:
    with opened(tmp_path) as found:
        yield found


def win(table: Service, cards: str) -> None:
    """A hand that seat 1 wins, to its hand button."""
    table.bet(1)
    table.play(cards)
    table.order("hand_button", seat=1)


def logged(service: Service) -> list[tuple[str, int, str]]:
    """The awards in the books."""
    return [(each.table, each.amount, each.state.value) for each in service.progressive.books.awards]


def shown(listener: Listener) -> dict[str, int]:
    """The meter that each service last published."""
    found = [each for each in listener.heard() if each.topic.endswith("/progressive/dragon")]
    return {each.topic.split("/")[1]: each.payload["meter"] for each in found}


def ask_in_vain(authority: Service, table: Service) -> None:
    """Press START GAME at a table while its authority hangs, and then kill the authority."""
    table.order("wager_placed", seat=1)
    authority.process.send_signal(signal.SIGSTOP)  # its connection stays open
    table.order("start_game", round=table.status()["round"])
    authority.kill()


@pytest.mark.parametrize("killed", [0, 1])
def test_two_tables_fill_one_meter_whatever_is_killed(floor, killed, tmp_path):
    broker, services = floor
    authority, t1, t2 = services
    with Listener(tmp_path, broker.port) as listener:
        t1.bet(1)
        t2.bet(2)
        services[killed].kill()
        services[killed].start()
        wait_until(lambda: t1.linked, "the table hears its authority again")
        t1.play(ALL)
        for order, fields in (("hand_button", {"seat": 1}), ("turn_key", {"to": "jph"}), ("jpot", {})):
            t1.order(order, **fields)
        wait_until(lambda: t1.step == "logged", "the award is logged")
        t1.order("turn_key", to="run")
        wait_until(lambda: t1.step == "adjusted", "the meter is adjusted")

        assert authority.contributions == 2 * CONTRIBUTED
        wait_until(lambda: len(set(shown(listener).values())) == 1, "all tables show one meter")
        assert set(shown(listener)) == {"meter-1", "t1", "t2"}
    books, *parts = (audit(each.record) for each in services)
    assert [each.difference for each in (books, *parts)] == [None] * 3
    assert [compare(books, part).difference for part in parts] == [None] * 2


@pytest.mark.parametrize("off", [(0, 1, 2), *soaked(((0,),), ((1,),))])
async def test_a_power_cut_between_jpot_and_run_leaves_the_award_logged_and_the_meter_not_adjusted(
    tmp_path, off
):
    """Of the whole house; of the authority alone; of the table alone."""
    in_thread = asyncio.to_thread
    section = f'[keypad]\nport = "{tmp_path}/keypad"\nkey_switch = true\n'
    async with switched_on(tmp_path) as devices:
        with ExitStack() as running:
            _, services = await in_thread(running.enter_context, opened(tmp_path, section))
            authority, t1, t2 = services
            await in_thread(t2.bet, 2)
            await in_thread(win, t1, QUARTER)
            before, award = 10_000_40, 2500_10
            devices.keypad.turn("jph")
            await eventually(lambda: t1.key == "jph", "the key is at JPH")
            assert (await devices.keypad.press("F7")).result != "refused"
            await eventually(lambda: t1.step == "logged", "the award is logged")
            for cut in off:
                services[cut].kill()
            for cut in off:
                await in_thread(services[cut].start)

            assert t1.step == "logged"
            assert logged(authority) == logged(t1) == [("t1", award, "locked")]
            assert authority.progressive.books.shown == before
            devices.keypad.turn("run")
            await eventually(lambda: t1.step == "adjusted", "the meter is adjusted")
            assert logged(authority) == logged(t1) == [("t1", award, "booked")]
            assert authority.progressive.books.shown == before - award
            await in_thread(t1.order, "game_over")
            await eventually(lambda: t1.step == "betting", "the next game can begin")
    books, *parts = (audit(each.record) for each in services)
    assert [each.difference for each in (books, *parts)] == [None] * 3
    assert [compare(books, part).difference for part in parts] == [None] * 2


def test_an_award_is_shown_at_every_table_within_30_seconds_of_jpot(floor, tmp_path):
    broker, (authority, t1, t2) = floor
    with Listener(tmp_path, broker.port) as listener:
        t2.bet(2)
        win(t1, ALL)
        t1.order("jpot")  # the signature of a table without a key switch, which turns to RUN as well

        def awarded() -> dict[str, datetime]:
            """When each service first published the award."""
            found: dict[str, datetime] = {}
            for each in listener.heard():
                if each.topic.endswith("/progressive/dragon") and each.payload["award"]:
                    service, award = each.topic.split("/")[1], each.payload["award"]
                    assert (award["table"], award["amount"], award["seats"]) == ("t1", 10_000_40, [1])
                    found.setdefault(service, datetime.fromisoformat(each.payload["ts"]))
            return found

        wait_until(lambda: set(awarded()) == {"meter-1", "t1", "t2"}, "every table shows the award")
        ((pressed,),) = rows(
            t1.record, "SELECT ts FROM inputs WHERE json_extract(payload, '$.kind') = 'jpot'"
        )
        late = [(each - datetime.fromisoformat(pressed)).total_seconds() for each in awarded().values()]
        assert max(late) < 30
        wait_until(lambda: set(shown(listener).values()) == {10_000_00}, "every table shows the next meter")
    assert authority.progressive.books.locked == ()


def test_a_table_without_its_authority_says_so_and_deals_on(floor):
    _, (authority, t1, _) = floor
    authority.kill()
    wait_until(lambda: not t1.linked, "the table knows that its authority is away")
    t1.order("wager_placed", seat=1)
    refused = t1.ask(order="start_game", round=t1.status()["round"])
    assert (refused["accepted"], refused["code"]) == (False, "meter_away")
    t1.play(NOTHING)
    assert t1.status()["round"] == 2

    authority.start()
    wait_until(lambda: t1.linked, "the authority is back")
    t1.start_game()
    assert (authority.contributions, t1.contributions) == (CONTRIBUTED, CONTRIBUTED)


def test_the_dealers_page_shows_the_meter_of_the_sign(tmp_path):
    """Also what another table's wager brings, of which the table's own record has nothing yet."""
    with ExitStack() as running:
        broker = running.enter_context(Broker(tmp_path))
        authority, t1, t2 = (Service(tmp_path, broker, name) for name in ("meter-1", "t1", "t2"))
        browser = Browser(free_port())
        with t1.config.open("a", encoding="utf-8") as config:
            config.write(f"[console]\nport = {browser.port}\n")
        listener = running.enter_context(Listener(tmp_path, broker.port))
        for each in (authority, t1, t2):
            running.enter_context(each)
        authority.order("open_meter")
        for each in (t1, t2):
            each.open()
        asyncio.run(browser.sign_on(**STAFF))

        def page() -> tuple[int, bool]:
            game = asyncio.run(browser.get("/api/table")).json["progressive"]
            return game["meter"], game["stale"]

        before, known = shown(listener)["t1"], t1.progressive.books.shown
        t2.bet(2)
        wait_until(lambda: shown(listener)["t1"] > before, "the sign shows the other table's wager")
        assert (page(), t1.progressive.books.shown) == ((shown(listener)["t1"], False), known)

        authority.kill()
        wait_until(lambda: page()[1], "the page says that the meter is not live")
        assert page() == (shown(listener)["t1"], True)


def test_a_table_is_linked_again_by_a_broker_that_has_lost_what_was_retained(floor):
    broker, (authority, t1, _) = floor
    t1.kill()
    for name in ("availability", "meter/answer/t1", "progressive/dragon"):
        broker.forget(f"punto/meter-1/{name}")
    t1.start()

    wait_until(lambda: t1.linked, "the table hears its authority")
    t1.bet(1)
    assert authority.contributions == CONTRIBUTED


def test_a_table_that_its_authority_answers_no_more_starts_no_game_until_it_is_in_the_list_again(floor):
    """What the authority last answered is retained by the broker, and its meter still comes."""
    _, (authority, t1, _) = floor
    listed = authority.config.read_text(encoding="utf-8")
    authority.stop()
    authority.config.write_text(listed.replace('tables = ["t1", "t2"]', 'tables = ["t2"]'), encoding="utf-8")
    authority.start()
    wait_until(lambda: "does not answer t1" in t1.link.reason, "the table knows that it is not served")
    t1.order("wager_placed", seat=1)
    for start in (False, True):
        if start:
            t1.stop()
            t1.start()
        refused = t1.ask(order="start_game", round=t1.status()["round"])
        assert (refused["accepted"], refused["code"]) == (False, "meter_away")

    authority.stop()
    authority.config.write_text(listed, encoding="utf-8")
    authority.start()
    wait_until(lambda: t1.linked, "the table is served again")
    t1.start_game()
    assert (authority.contributions, t1.contributions) == (CONTRIBUTED, CONTRIBUTED)


def test_a_request_that_is_refused_again_and_again_is_recorded_once(floor, tmp_path):
    broker, (authority, t1, t2) = floor
    topic = "punto/t1/meter/request"
    with Listener(tmp_path, broker.port, topic) as listener:
        t1.bet(1)
        wait_until(lambda: any(each.payload["asked"] for each in listener.heard()), "the request is heard")
        asked = next(each.payload for each in listener.heard() if each.payload["asked"])
        asked["record"] = asked["asked"]["record"] = "another"
    t1.kill()  # or its own messages, in between, would say that all is well again
    with Listener(tmp_path, broker.port, "punto/meter-1/meter/answer/t1") as listener:
        for _ in range(2):
            broker.publish(topic, signed(asked))
        wait_until(lambda: "another record" in str(listener.heard()[-1:]), "the authority answers why")
    t2.bet(1)  # which the authority takes after both

    of_t1 = [each for each in inputs(authority.record, "table_asked") if each["table"] == "t1"]
    assert len(of_t1) == 1
    assert len(refused_tables(authority)) == 1


def test_one_old_meter_of_another_service_is_not_a_rival(floor, tmp_path):
    broker, (authority, *_) = floor
    with Listener(tmp_path, broker.port, "punto/meter-1/progressive/dragon") as listener:
        wait_until(listener.heard, "the meter")
        other = {**listener.heard()[-1].payload, "kept_by": "t9 elsewhere"}
    for _ in range(3):  # one of each node
        broker.publish("punto/t9/progressive/dragon", other)
    time.sleep(1)
    assert authority.progressive.rival is None

    broker.publish("punto/t9/progressive/dragon", {**other, "ts": other["valid_until"]})
    wait_until(lambda: authority.progressive.rival, "the authority hears a rival that lives")


def test_a_service_that_is_not_named_in_its_meter_is_not_a_rival(floor, tmp_path):
    broker, (authority, *_) = floor
    with Listener(tmp_path, broker.port, "punto/meter-1/progressive/dragon") as listener:
        wait_until(listener.heard, "the meter")
        other = listener.heard()[-1].payload
    for number in range(20):
        ts = f"{other['ts'][:20]}{number:06}+00:00"
        broker.publish("punto/t9/progressive/dragon", {**other, "ts": ts, "kept_by": f"t8 {number}"})
    assert inputs(authority.record, "meter_claimed") == []

    for number in range(20):
        ts = f"{other['ts'][:20]}{number:06}+00:00"
        broker.publish("punto/t9/progressive/dragon", {**other, "ts": ts, "kept_by": f"t9 {number}"})
    wait_until(lambda: inputs(authority.record, "meter_claimed"), "the authority hears a rival")
    assert len(inputs(authority.record, "meter_claimed")) == 1


def test_a_table_of_the_list_that_keeps_a_meter_itself_is_an_alarm_and_stops_no_other_table(floor, tmp_path):
    broker, (authority, t1, t2) = floor
    with Listener(tmp_path, broker.port, "punto/meter-1/progressive/dragon") as listener:
        wait_until(listener.heard, "the meter")
        other = listener.heard()[-1].payload
    for number in range(3):
        ts = f"{other['ts'][:20]}{number:06}+00:00"
        broker.publish("punto/t1/progressive/dragon", {**other, "ts": ts, "kept_by": "t1 elsewhere"})
    wait_until(lambda: alarms_of(authority), "the authority hears the meter of its table")

    assert refused_tables(authority) == [
        "t1: t1 keeps a meter of dragon itself: write the authority in [progressive] of t1, or find out what sends a meter in its name"
    ]
    assert authority.progressive.rival is None
    assert alarms_of(authority)[0][0] == "table_unsigned"
    t2.bet(2)
    t1.bet(1)
    assert authority.contributions == 2 * CONTRIBUTED


def test_a_request_of_a_table_whose_other_record_is_connected_is_refused(floor):
    broker, (authority, t1, t2) = floor
    broker.publish("punto/t1/meter/request", signed(asked_for(1, record="made up")))
    wait_until(lambda: alarms_of(authority), "the authority refuses the request")

    assert refused_tables(authority) == [
        "t1: t1 asks from another record than that of the t1 that is connected: find out which services have this id, and stop all but one"
    ]
    t2.bet(2)
    wait_until_served_again(t1, "the t1 that is connected")
    t1.bet(1)
    assert authority.contributions == 2 * CONTRIBUTED


def test_a_table_with_another_record_than_before_is_refused_before_it_asks(floor, tmp_path):
    broker, (authority, t1, _) = floor
    t1.bet(1)
    t1.kill()
    wait_until(
        lambda: broker_has(tmp_path, broker, "punto/t1/availability")["state"] == "offline", "t1 is away"
    )
    broker.publish(
        "punto/t1/meter/request", signed({**in_the_name_of_t1(0, record="made up"), "asked": None})
    )

    wait_until(lambda: alarms_of(authority), "the authority refuses the table")
    assert "t1 asks from another record than before" in alarms_of(authority)[0][1]


def wait_until_served_again(table: Service, reason: str) -> None:
    """Wait until a table has heard that it is not served, and why, and is served."""

    def refused() -> bool:
        return any(reason in each["reason"] for each in inputs(table.record, "meter_heard"))

    wait_until(refused, f"{table.name} hears that it is not served")
    wait_until(lambda: table.linked, f"{table.name} is served again")


def broker_has(folder: Path, broker: Broker, topic: str) -> dict[str, Any]:
    """The last retained message of a topic."""
    with Listener(folder, broker.port, topic) as listener:
        wait_until(listener.heard, topic)
        found: dict[str, Any] = listener.heard()[-1].payload
        return found


def asked_for(number: int, currency: str = "USD", record: str = "made up", **order: Any) -> dict[str, Any]:
    """A request in the name of `t1` to count the wagers of a game."""
    return in_the_name_of_t1(number, {**wagers_of(number), **order}, record=record, currency=currency)


def wagers_of(round_: int, seats: Iterable[int] = (1,)) -> dict[str, Any]:
    """The order to count the wagers of a game at `t1`."""
    wagers = [{"seat": seat, "amount": 100} for seat in seats]
    return {"kind": "contribute", "table": "t1", "round": round_, "wagers": wagers}


def in_the_name_of_t1(
    number: int, *orders: dict[str, Any], record: str = "made up", **others: Any
) -> dict[str, Any]:
    asked = {"kind": "table_asked", "table": "t1", "record": record, "number": number, "orders": orders}
    head = {
        "schema": "punto/meter-request/1",
        "id": "x",
        "seq": number,
        "ts": "2026-11-25T12:00:00.000000+00:00",
        "record": record,
    }
    rules = load_game("progressive-2").rules_by_part
    own = {"simulation": True, "currency": "USD", "seats": 7, "rules": rules, "procedure": "aquarius"}
    return {**head, **own, **others, "asked": asked}


def alarms_of(service: Service) -> list[tuple[str, str]]:
    """The alarms that stand."""
    *_, last = history(service.record)
    return [(each.code, each.text) for each in last.state.alarms]


def refused_tables(authority: Service) -> list[str]:
    """Why the authority has refused tables."""
    return [f"{each['table']}: {each['reason']}" for each in inputs(authority.record, "table_refused")]


def test_what_a_stolen_table_asks_neither_moves_the_meter_nor_ends_its_authority(floor, tmp_path):
    broker, (authority, _, t2) = floor
    record = broker_has(tmp_path, broker, "punto/t1/availability")["record"]
    for false in (
        {"wagers": [{"seat": 1, "amount": 5_000_000_000}]},
        {"wagers": [{"seat": 1, "amount": 10**30}]},
        {"wagers": [{"seat": seat, "amount": 100} for seat in range(-2000, 0)]},
        {"wagers": [{"seat": seat, "amount": 100} for seat in range(1, 9)]},  # one more than the table has
        {"round": 10**30},
        {"table": "x" * 100_000},
    ):
        broker.publish("punto/t1/meter/request", signed(asked_for(1, record=record, **false)))
    several = [
        order
        for game in range(1, 29)
        for order in (wagers_of(game), {"kind": "end_round", "table": "t1", "round": game})
    ]
    broker.publish("punto/t1/meter/request", signed(in_the_name_of_t1(1, *several, record=record)))
    t2.bet(2)

    assert (authority.running, authority.contributions) == (True, CONTRIBUTED)
    assert [each["table"] for each in inputs(authority.record, "table_asked")] == ["t2"]
    ((code, text),) = alarms_of(authority)
    assert (code, text) == (
        "table_refused",
        "t1 is not served: t1 asks for several steps of a game at once: only an award and its booking come together",
    )


def test_a_stolen_password_starts_no_more_games_than_a_table_can_deal(tmp_path):
    with ExitStack() as running:
        broker = running.enter_context(Broker(tmp_path))
        authority = Service(tmp_path, broker, "meter-1")
        text = authority.config.read_text(encoding="utf-8")
        authority.config.write_text(text.replace("simulation = true\n", ""), encoding="utf-8")
        running.enter_context(authority)
        authority.order("open_meter")
        topic, began = "punto/t1/meter/request", time.monotonic()

        def begun() -> int:
            asked = inputs(authority.record, "table_asked")
            return sum(order["kind"] == "contribute" for each in asked for order in each["orders"])

        for game in count(1):
            request = in_the_name_of_t1(2 * game - 1, wagers_of(game), simulation=False)
            broker.publish(topic, signed(request))
            wait_until(lambda at=game: begun() == at or alarms_of(authority), "an answer")  # type: ignore[misc]
            if begun() < game:
                break
            end = {"kind": "end_round", "table": "t1", "round": game}
            broker.publish(topic, signed(in_the_name_of_t1(2 * game, end, simulation=False)))

        assert GAMES_AT_ONCE <= game - 1 <= GAMES_AT_ONCE + (time.monotonic() - began) / GAME_SECONDS
        assert authority.contributions == (game - 1) * CONTRIBUTED
        ((code, text),) = alarms_of(authority)
        assert code == "table_refused"
        assert "t1 starts games faster than a table can deal, which is one in 10 seconds" in text

        def asks_again() -> bool:
            broker.publish(topic, signed(request))
            return begun() == game

        wait_until(asks_again, "the request is carried out ten seconds after the last game")


def test_what_a_stolen_authority_answers_does_not_end_its_tables(floor, tmp_path):
    broker, (authority, t1, _) = floor
    topic = "punto/meter-1/meter/answer/t1"
    with Listener(tmp_path, broker.port, topic) as listener:
        wait_until(listener.heard, "an answer")
        answer = listener.heard()[-1].payload
    answer["record"] = broker_has(tmp_path, broker, "punto/t1/availability")["record"]
    ask_in_vain(authority, t1)
    asked, entry = t1.link.asked, {"kind": "wagers_counted", "table": "t1", "round": 10**30, "wagers": []}
    assert asked is not None
    extract = answer["heard"]["extract"]
    false = {"kind": "meter_answered", "number": asked.number, "refused": None, "extract": extract}
    for entries, record in (
        ([entry], answer["record"]),
        ([{**entry, "round": 7}], answer["record"]),
        ([], "another"),  # captured when an earlier record of the table asked with this number
    ):
        said = {**answer, "seq": asked.number, "record": record, "answered": {**false, "entries": entries}}
        broker.publish(topic, signed(said))
    broker.publish(topic, signed({**answer, "heard": {**answer["heard"], "reason": "x" * 100_000}}))
    t1.play(NOTHING)

    assert (t1.running, t1.link.asked) == (True, asked)
    authority.start()
    wait_until(lambda: t1.link.asked is None, "the authority answers")
    assert authority.contributions == t1.contributions == CONTRIBUTED


def test_a_simulation_does_not_share_a_meter_with_a_live_table(tmp_path):
    with ExitStack() as running:
        broker = running.enter_context(Broker(tmp_path))
        authority, t1 = (Service(tmp_path, broker, name) for name in ("meter-1", "t1"))
        text = t1.config.read_text(encoding="utf-8")
        t1.config.write_text(text.replace("simulation = true\n", ""), encoding="utf-8")
        for each in (authority, t1):
            running.enter_context(each)
        authority.order("open_meter")
        wait_until(lambda: "simulation" in t1.link.reason, "the table says why it is not linked")
        assert not t1.linked


@contextmanager
def configured(
    folder: Path, good: str, bad: str, of: tuple[str, ...] = ("t1",)
) -> Iterator[tuple[Broker, Service, Service]]:
    """The broker, the authority and the table `t1`; `of` are those that are configured otherwise."""
    with ExitStack() as running:
        broker = running.enter_context(Broker(folder))
        authority, t1 = (Service(folder, broker, name) for name in ("meter-1", "t1"))
        for each in (authority, t1):
            text = each.config.read_text(encoding="utf-8")
            assert good in text
            each.config.write_text(text.replace(good, bad if each.name in of else good), encoding="utf-8")
            running.enter_context(each)
        authority.order("open_meter")
        for order in ("sign_on", "change_shoe", "open_betting"):
            t1.order(order)
        yield broker, authority, t1


def test_a_table_in_another_currency_is_refused_by_both_sides(tmp_path):
    says = "t1 plays in EUR, but meter-1 keeps the meter of dragon in USD: write the same currency in [table] of both"
    with configured(tmp_path, "simulation = true", 'simulation = true\ncurrency = "EUR"') as (
        broker,
        authority,
        t1,
    ):
        wait_until(lambda: t1.link.reason == says, "the table says why it is not linked")
        wait_until(lambda: refused_tables(authority), "the authority has refused the table")
        t1.order("wager_placed", seat=1)
        refused = t1.ask(order="start_game", round=1)
        assert (refused["accepted"], refused["code"]) == (False, "meter_away")
        assert says in refused["reason"]

        # As a table that does not compare.
        broker.publish("punto/t1/meter/request", signed(asked_for(1, "EUR")))
        time.sleep(1)
        assert inputs(authority.record, "table_asked") == []
        assert refused_tables(authority) == [f"t1: {says}"]
        assert alarms_of(authority) == [("table_refused", f"t1 is not served: {says}")]


def test_a_table_with_the_other_procedure_is_refused_by_both_sides(tmp_path):
    says = (
        "t1 confirms awards by the procedure nexus, but meter-1 keeps the meter of dragon for aquarius: write the same procedure in "
        "[progressive] of both"
    )
    with configured(tmp_path, 'authority = "meter-1"\n', 'authority = "meter-1"\nprocedure = "nexus"\n') as (
        _,
        authority,
        t1,
    ):
        wait_until(lambda: t1.link.reason == says, "the table says why it is not linked")
        wait_until(lambda: refused_tables(authority), "the authority has refused the table")
        assert refused_tables(authority) == [f"t1: {says}"]


def six_decks(folder: Path) -> str:
    """The key of a game file that has the name of the shipped game, and six decks."""
    text = (GAMES / "progressive-2.toml").read_text(encoding="utf-8").replace("decks = 8", "decks = 6")
    (folder / "own.toml").write_text(text, encoding="utf-8")
    return f'game = "{folder / "own.toml"}"'


def test_a_table_whose_game_has_other_rules_is_refused_by_both_sides(tmp_path):
    with configured(tmp_path, 'game = "progressive-2"', six_decks(tmp_path)) as (broker, authority, t1):
        wait_until(lambda: "has other rules" in t1.link.reason, "the table says why it is not linked")
        assert "(decks)" in t1.link.reason
        wait_until(lambda: refused_tables(authority), "the authority has refused the table")
        assert refused_tables(authority) == [f"t1: {t1.link.reason}"]
        refused = t1.ask(order="start_game", round=1)
        assert (refused["accepted"], refused["code"]) == (False, "meter_away")

        # As a table that does not compare.
        broker.publish("punto/t1/meter/request", signed({**asked_for(1), "rules": {}}))
        time.sleep(1)
        assert inputs(authority.record, "table_asked") == []


def test_a_linked_table_that_changes_to_a_game_with_other_rules_is_not_linked_until_it_changes_back(tmp_path):
    both = ("meter-1", "t1")
    with configured(tmp_path, 'game = "progressive-2"', six_decks(tmp_path), both) as (_, _, t1):
        wait_until(lambda: t1.linked, "the table hears its authority")
        t1.order("close_table")
        t1.order("change_game", game="progressive-2")  # the one that ships, with eight decks
        wait_until(lambda: "(decks)" in t1.link.reason, "the table says why it is not linked")
        t1.kill()
        t1.config.write_text(
            t1.config.read_text(encoding="utf-8") + "[limits.tie]\nminimum = 500\n", encoding="utf-8"
        )
        t1.start()  # with the game of the configuration, because that is another one now
        wait_until(lambda: t1.linked, "the table hears its authority")


def test_a_message_of_another_version_is_refused_by_both_sides_until_one_comes_that_can_be_read(floor):
    broker, (authority, t1, t2) = floor
    for table, who, topic, schema in (
        (t1, "the authority", "punto/meter-1/meter/answer/t1", "punto/meter-answer/9"),
        (t2, "t2", "punto/t2/meter/request", "punto/meter-request/9"),
    ):
        text = f"{who} sends what this version cannot read"
        # The next message can be read again, and it comes soon: so none comes while the authority stands still.
        for pause in pauses():
            broker.publish(topic, signed({"schema": schema}, table.name))
            time.sleep(pause)
            authority.process.send_signal(signal.SIGSTOP)
            if text in table.link.reason:
                break
            authority.process.send_signal(signal.SIGCONT)
        refused = table.ask(order="start_game", round=1)
        authority.process.send_signal(signal.SIGCONT)
        assert (refused["accepted"], refused["code"]) == (False, "meter_away")

    for each, table in ((authority, t1), (t2, t2)):
        each.kill()
        each.start()
        wait_until(lambda at=table: at.linked, f"{table.name} is linked again")  # type: ignore[misc]


def test_two_services_that_keep_a_meter_of_one_progressive_are_both_refused(tmp_path):
    with ExitStack() as running:
        broker = running.enter_context(Broker(tmp_path))
        tables = [Service(tmp_path, broker, name, 'authority = "meter-1"\n') for name in ("t1", "t2")]
        for each in tables:
            running.enter_context(each)
            each.order("open_meter")
            for order in ("sign_on", "change_shoe", "open_betting"):
                each.order(order)
        for each, other in zip(tables, reversed(tables), strict=True):
            wait_until(lambda at=each: at.progressive.rival, f"{each.name} hears the other one")  # type: ignore[misc]
            refused = each.ask(order="start_game", round=1)
            assert (refused["accepted"], refused["code"]) == (False, "second_meter")
            assert other.name in refused["reason"]

        tables[0].kill()
        wait_until(lambda: tables[1].progressive.rival is None, "the other one is gone")
        tables[1].bet(1)
