"""What each wager is worth in the rest of the shoe: after every coup, for surveillance alone, never in play's way."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from itertools import pairwise
from multiprocessing import active_children
from typing import Any

import psutil
import pytest
import structlog

from punto.baccarat.cards import Card
from punto.baccarat.table.events import CardOverdrawn, CutCardSeen
from punto.baccarat.table.order_kinds import ResumePlay
from punto.baccarat.table.settings import Settings
from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.definition import Game, Progressive, Rule, Wager
from punto.baccarat.wagers.pay import percentage
from punto.controller.edge import live, worker
from punto.controller.edge.left import left_of
from punto.controller.edge.live import LiveEdge
from punto.messages import topics
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds
from punto.simulators.shoe.shuffle import shuffled
from tests.baccarat.table.croupier import LONG, PLAYER_NATURAL, Croupier
from tests.controller.table_in_this_process import (
    Ear,
    Table,
    connected,
    documented,
    ear,
    eventually,
    settings,
    table,
)
from tests.share import soaked

EDGE = topics.RESTRICTED_EDGE


@cache
def odds(game: Game) -> GameOdds:
    return GameOdds(game)


def exact(game: Game, seen: list[Card]) -> dict[str, float]:
    """The edge of each position when these have been seen of a full shoe."""
    left = Composition.of_decks(game.decks).without(seen)
    return {name: float(figures.edge) for name, figures in odds(game).odds(left).items()}


def edges(message: dict[str, Any]) -> dict[str, float]:
    return {each["wager"]: each["edge"] for each in message["positions"]}


# --- what is left


def left(croupier: Croupier) -> tuple[int, int, int, int] | None:
    """Round, cards in the shoe, unseen ones, and how many the coup may be dealt from; None where nothing is valued."""
    found = left_of(croupier.state)
    if found is None:
        return None
    return found.round, found.cards_left, found.unseen, found.composition().cards


@pytest.mark.parametrize(
    ("policies", "commands", "expected"),
    [
        pytest.param({}, [], None, id="no shoe"),
        pytest.param({}, ["change shoe"], (0, 416, 0, 416), id="a full shoe"),
        pytest.param({"burn": "first_card"}, ["change shoe"], None, id="before the burn"),
        pytest.param({"burn": "first_card"}, ["change shoe", "draw 3S 9S"], None, id="in the burn"),
        pytest.param({"burn": "first_card"}, ["change shoe", "draw 2S 9S 9H"], (0, 413, 0, 413), id="a burn that is read"),
        pytest.param({"burn": "first_card"}, ["change shoe", "draw 2S", "unread", "unsure 9H"], (0, 413, 2, 415), id="a burn face down"),
        pytest.param({}, ["change shoe", "draw KS 2S 9H"], (0, 416, 0, 416), id="a coup being dealt"),
        pytest.param({}, ["change shoe", f"draw {PLAYER_NATURAL}"], (1, 412, 0, 412), id="a coup"),
        pytest.param({}, ["change shoe", f"draw {PLAYER_NATURAL} {LONG} KS"], (2, 406, 0, 406), id="two and a card"),
        pytest.param({}, ["change shoe", "draw KS 2S", "void"], (1, 414, 0, 414), id="a void coup's are gone"),
        pytest.param({}, ["change shoe", "draw KS 2S", "unread", "void"], (1, 413, 1, 414), id="one of them unread"),
        pytest.param({}, ["change shoe", "draw KS 2S", "unread", "key 9H"], (0, 416, 0, 416), id="one that is keyed"),
        pytest.param({}, ["change shoe", "draw KS 2S", "lid open", "draw 9H", "void", "resume"], (1, 413, 0, 413), id="one that came while play was stopped"),
        pytest.param(
            {"next_coup": "order"},
            ["change shoe", "open", f"draw {PLAYER_NATURAL}", "draw 9D", "resume"],
            (1, 411, 0, 411),
            id="an overdraw that is burned",
        ),
        pytest.param({}, ["change shoe", f"draw {PLAYER_NATURAL}", "change shoe"], (1, 416, 0, 416), id="the next shoe"),
        pytest.param({"burn": "first_card"}, ["change shoe", "draw AS 9S", f"draw {PLAYER_NATURAL}", "change shoe"], None, id="the next shoe before its burn"),
        pytest.param({}, ["change shoe", f"draw {PLAYER_NATURAL}", "close table", "sign off"], (1, 412, 0, 412), id="a pause"),
        pytest.param({}, ["change shoe", f"draw {PLAYER_NATURAL}", "start"], (1, 412, 0, 412), id="a restart"),
        pytest.param({}, ["change shoe", f"draw {PLAYER_NATURAL}", "cut card"], (1, 412, 0, 412), id="the last coup to come"),
        pytest.param({}, ["change shoe", f"draw {PLAYER_NATURAL}", "cut card", f"draw {LONG}"], None, id="after the last coup"),
        pytest.param({"game_name": "midi-baccarat"}, ["change shoe", f"draw {LONG}"], (0, 416, 0, 416), id="hidden"),
        pytest.param(
            {"game_name": "midi-baccarat"},
            ["change shoe", "draw KS 2S 5S 3S", "reveal", "draw 4D", "reveal", "draw 9D", "reveal"],
            (1, 410, 0, 410),
            id="hidden, and shown",
        ),
    ],
)  # fmt: skip
def test_what_is_left(policies, commands, expected):
    assert left(Croupier(**policies).do("hello", "sign on", *commands)) == expected


def test_a_corrected_card_is_gone_and_the_misread_one_is_not():
    croupier = Croupier().do("hello", "sign on", "change shoe", "draw KS 2S 5S", "correct 3 9H", "draw 3S")
    found = left_of(croupier.state)

    assert found is not None
    assert found.round == 1
    assert found.composition() == Composition.of_decks(8).without(map(Card, ["KS", "2S", "9H", "3S"]))


def test_a_shoe_of_other_decks_than_the_game_is_not_valued():
    croupier = Croupier().do("hello decks=6", "sign on", "change shoe", "resume", "open")

    assert left_of(croupier.state) is None


def test_with_less_than_six_cards_nothing_is_valued():
    croupier = Croupier(decks=1).do("hello", "sign on", "change shoe", "draw KS")
    deck = [card for card in Card if card != "KS"]
    while left_of(croupier.state) is not None:
        croupier.do(f"draw {deck.pop(0)}")

    assert (
        52
        - len(croupier.state.shoe.drawn)
        + len(croupier.state.round.coup.cards if croupier.state.round.coup else ())
        < 6
    )
    assert len(deck) > 0


def test_cards_drawn_too_soon_and_dealt_later_are_counted_apart():
    croupier = Croupier(overdraw="next_coup", next_coup="order").do("hello", "sign on", "change shoe", "open")
    croupier.do(f"draw {PLAYER_NATURAL}", "draw 9D", "resume")
    waiting = left_of(croupier.state)
    croupier.do("open", "draw KS 9S 9H")
    dealt = left_of(croupier.state)

    assert waiting is not None
    assert dealt is not None
    assert (waiting.carried, waiting.cards_left) == (1, 411)
    assert (dealt.round, dealt.carried, dealt.cards_left) == (2, 0, 408)


@pytest.mark.parametrize(
    ("commands", "carried", "cards_left"),
    [
        ([f"draw {PLAYER_NATURAL}", "draw 9D"], 1, 411),
        ([f"draw {PLAYER_NATURAL}", "draw 9D", "draw 8D", "unread", "cut card"], 3, 409),
        ([f"draw {PLAYER_NATURAL}", "draw 9D", "resume"], 0, 411),
        (["draw KS 2S", "lid open", "draw 9H"], 0, 416),
    ],
    ids=["one", "more after it", "seen to", "of the coup being dealt"],
)
def test_cards_that_wait_for_a_supervisor_may_begin_the_next_coup(commands, carried, cards_left):
    croupier = Croupier(next_coup="order").do("hello", "sign on", "change shoe", "open", *commands)
    found = left_of(croupier.state)

    assert found is not None
    assert (found.carried, found.cards_left) == (carried, cards_left)


# --- a table in this process, and its worker

ONE_DECK = replace(settings().game, decks=1)
TABLE_SETTINGS = settings()


def of_one_deck(**changes: Any) -> Settings:
    return replace(TABLE_SETTINGS, game=ONE_DECK, **changes)


@asynccontextmanager
async def surveyed(here: Table, port: int, alarm: str = "1%") -> AsyncIterator[Ear]:
    """The table with live edges as the service has them, and surveillance, which hears everything."""
    edge = LiveEdge(here.state.settings, here.engine.record_name, percentage(alarm), here.outbox)
    here.engine.watch(edge.see)
    edge.see(here.state, here.engine.seq)
    async with ear(port) as surveillance, connected(here, port) as broker:
        broker.retain(EDGE, edge.message)
        running = asyncio.create_task(edge.run())
        try:
            yield surveillance
            assert not running.done()
        finally:
            running.cancel()
            await asyncio.wait([running])
            if not running.cancelled():
                running.result()


def seen(here: Table) -> list[Card]:
    """The cards that have left this shoe."""
    order = shuffled("service", here.state.shoe.number, here.state.settings.game.decks)
    return order[: len(order) - len(here._cards)]


async def of_round(surveillance: Ear, number: int) -> dict[str, Any]:
    """The edges after this round."""
    return await surveillance.last(EDGE, lambda last: last["round"] == number)


def the_worker() -> psutil.Process:
    (process,) = active_children()
    assert process.pid is not None
    return psutil.Process(process.pid)


async def test_after_each_coup_come_the_exact_edges(tmp_path, mosquitto):
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()
        async with surveyed(here, mosquitto.port) as surveillance:
            for number in range(8):
                message = await of_round(surveillance, number)

                assert edges(message) == exact(here.state.settings.game, seen(here))
                assert (message["shoe"], message["cards_left"]) == (1, 416 - len(seen(here)))
                assert (message["unseen"], message["unavailable"]) == (0, None)
                assert message["seq"] == here.engine.seq
                assert message["record"] == here.engine.record_name != ""
                await here.play(1)


async def test_every_message_is_as_documented_and_retained(tmp_path, mosquitto):
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()
        async with surveyed(here, mosquitto.port) as surveillance:
            await here.play(1)
            last = await of_round(surveillance, 1)
            async with ear(mosquitto.port) as latecomer:
                await eventually(lambda: latecomer.of(EDGE), "what is retained")

                assert latecomer.of(EDGE) == [last]
                assert {retained for name, _, retained in latecomer.heard if name == EDGE} == {True}
        assert all(documented(name, payload) for name, payload, _ in surveillance.heard)


async def test_what_holds_is_sent_again_and_what_does_not_is_not(tmp_path, mosquitto, monkeypatch):
    monkeypatch.setattr(live, "EVERY_SECONDS", 0.05)
    async with table(tmp_path / "table.db", of_one_deck()) as here:
        await here.begin_shoe()
        async with surveyed(here, mosquitto.port) as surveillance:
            await here.play(1)
            await of_round(surveillance, 1)
            so_far = len(surveillance.of(EDGE))
            await eventually(lambda: len(surveillance.of(EDGE)) >= so_far + 4, "it is sent again and again")
            first, *_, last = surveillance.of(EDGE)[so_far - 1 :]
            await here.shoe(CutCardSeen(here.state.link.expected))
            while not here.state.shoe_over:
                await here.draw()
            await surveillance.last("state", lambda state: state["seq"] == here.engine.seq)
            until_now = len(surveillance.of(EDGE))
            await asyncio.sleep(0.5)

            assert first["ts"] < last["ts"] < last["valid_until"]
            assert first["valid_until"] < last["valid_until"]
            assert {**first, "ts": "", "valid_until": ""} == {**last, "ts": "", "valid_until": ""}
            assert len(surveillance.of(EDGE)) == until_now


async def test_cards_that_nobody_saw_count_as_if_they_were_in_the_shoe(tmp_path, mosquitto):
    async with table(tmp_path / "table.db", settings(burn="fixed", burn_cards=2)) as here:
        await here.begin_shoe()
        async with surveyed(here, mosquitto.port) as surveillance:
            await here.draw()
            await here.do("unread")
            burned = here._cards.pop(0)
            message = await of_round(surveillance, 0)

            assert (message["cards_left"], message["unseen"]) == (414, 1)
            assert edges(message) == exact(here.state.settings.game, seen(here)[:-1])
            assert edges(message) != exact(here.state.settings.game, [*seen(here)[:-1], burned])


async def test_the_edges_say_nothing_of_hidden_hands_before_the_reveal(tmp_path, mosquitto):
    async with table(tmp_path / "table.db", settings("midi-baccarat")) as here:
        await here.begin_shoe()
        async with surveyed(here, mosquitto.port) as surveillance:
            before = await of_round(surveillance, 0)
            while here.state.phase != "reveal":
                await here.draw()
            last = here.engine.seq
            await surveillance.last("state", lambda state: state["seq"] == last)
            await surveillance.publish("request/snapshot", {"id": "again"})
            await eventually(lambda: len(surveillance.of(EDGE)) > 1, "it is sent again")

            assert {json.dumps(edges(each)) for each in surveillance.of(EDGE)} == {json.dumps(edges(before))}
            assert {each["id"] for each in surveillance.of(EDGE)} == {before["id"]}

            await here.play(1)
            after = await of_round(surveillance, 1)
            assert edges(after) == exact(here.state.settings.game, seen(here))


# --- what cannot be valued


async def test_a_coup_that_begins_with_cards_drawn_too_soon_is_not_valued(tmp_path, mosquitto):
    async with table(tmp_path / "table.db", settings(overdraw="next_coup")) as here:
        await here.begin_shoe()
        async with surveyed(here, mosquitto.port) as surveillance:
            await here.play(1)
            await of_round(surveillance, 1)  # so the worker is there, and would answer at once
            before = len(seen(here))
            await here.shoe(CardOverdrawn(here.state.link.expected, here._cards.pop(0), 99))
            message = await surveillance.last(EDGE, lambda last: last["unavailable"])

            assert message["unavailable"] == "the next coup may begin with cards that were drawn too soon"
            assert (message["positions"], message["alarms"]) == ([], [])
            assert (message["round"], message["cards_left"]) == (1, 416 - before - 1)

            await here.order(ResumePlay("bob", "seen to"))
            await here.draw(1)
            await asyncio.sleep(0.5)
            assert (await surveillance.last(EDGE, lambda _: True))["unavailable"] == message["unavailable"]

            await here.play(1)
            assert edges(await of_round(surveillance, 2)) == exact(here.state.settings.game, seen(here))


async def test_a_card_more_often_than_the_shoe_has_it_is_reported_and_play_goes_on(tmp_path, mosquitto):
    async with table(tmp_path / "table.db", settings(burn="fixed", burn_cards=9)) as here:
        await here.begin_shoe()
        async with surveyed(here, mosquitto.port) as surveillance:
            with structlog.testing.capture_logs() as logged:
                for _ in range(9):
                    await here.do("draw 9S")
                message = await of_round(surveillance, 0)
                await here.play(1)
                await of_round(surveillance, 1)

    reason = "9S cannot be removed: all 8 copies are already removed"
    assert (message["unavailable"], message["positions"]) == (reason, [])
    told = [line for line in logged if line["event"] == "no edges"]
    assert [(line["log_level"], line["shoe"], line["round"], line["reason"]) for line in told] == [
        ("error", 1, number, reason) for number in (0, 1)
    ]


NEVER = Rule(
    name="never", pays="100% of the meter", when=Condition(margin=(9,), natural=True, coup_cards=(5,))
)
WITHOUT_ODDS = replace(
    TABLE_SETTINGS.game,
    wagers=(
        *TABLE_SETTINGS.game.wagers,
        Wager(
            name="jackpot",
            title="Jackpot",
            rules=(NEVER, Rule(name="lose", pays="lose")),
            progressive=Progressive(seed=1000, contribution="20%"),
        ),
    ),
)


async def test_a_game_without_odds_is_played_and_reported(tmp_path, mosquitto):
    async with table(tmp_path / "table.db", replace(TABLE_SETTINGS, game=WITHOUT_ODDS)) as here:
        await here.begin_shoe()
        async with surveyed(here, mosquitto.port) as surveillance:
            with structlog.testing.capture_logs() as logged:
                for number in range(3):
                    message = await of_round(surveillance, number)

                    assert message["unavailable"].startswith(
                        "no award of jackpot can be won from this shoe, so its meter has no average: "
                    )
                    assert message["positions"] == []
                    await here.play(1)

    assert {line["event"] for line in logged if line["log_level"] in {"warning", "error"}} >= {"no edges"}
    assert not any(line["event"] == "edge worker died" for line in logged)


# --- the worker


async def test_of_coups_that_end_while_one_is_valued_only_the_newest_is_and_play_does_not_wait(
    tmp_path, mosquitto
):
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()
        async with surveyed(here, mosquitto.port) as surveillance:
            await of_round(surveillance, 0)
            working = the_worker()
            working.suspend()
            await here.play(1)
            await surveillance.last("round", lambda last: last["seq"] == 1)
            await here.play(4)
            await surveillance.last("round", lambda last: last["seq"] == 5)
            while_away = len(surveillance.of(EDGE))
            working.resume()
            message = await of_round(surveillance, 5)

            assert while_away == 1
            # A newer message takes the place of one that waits to be sent, so that of round 1 may never be heard.
            assert {each["round"] for each in surveillance.of(EDGE)} - {1} == {0, 5}
            assert edges(message) == exact(here.state.settings.game, seen(here))
            assert the_worker() == working


async def test_a_worker_lets_the_service_go_first(tmp_path, mosquitto):
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()
        async with surveyed(here, mosquitto.port) as surveillance:
            await of_round(surveillance, 0)

            assert the_worker().nice() > psutil.Process().nice()
            assert the_worker().num_threads() == 2  # it computes, and watches over the service


async def test_a_worker_that_dies_is_reported_and_started_again(tmp_path, mosquitto):
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()
        async with surveyed(here, mosquitto.port) as surveillance:
            with structlog.testing.capture_logs() as logged:
                await of_round(surveillance, 0)
                dead = the_worker()
                dead.kill()
                await here.play(1)
                await surveillance.last(EDGE, lambda last: last["unavailable"])
                await here.play(1)
                message = await surveillance.last(
                    EDGE, lambda last: last["round"] == 2 and not last["unavailable"]
                )

            assert edges(message) == exact(here.state.settings.game, seen(here))
            assert the_worker() != dead
            (told,) = [line for line in logged if line["event"] == "edge worker died"]
            assert told["log_level"] == "warning"
            assert 0 <= told["again_in_seconds"] <= 0.5
            unavailable = [each for each in surveillance.of(EDGE) if each["unavailable"]]
            assert (
                unavailable[0]["unavailable"]
                == "the process that computes the edges died and is being restarted"
            )


async def test_a_worker_that_does_not_answer_is_replaced(tmp_path, mosquitto, monkeypatch):
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()
        async with surveyed(here, mosquitto.port) as surveillance:
            await of_round(surveillance, 0)
            stuck = the_worker()
            stuck.suspend()
            monkeypatch.setattr(worker, "SLOW_SECONDS", 0.1)
            await here.play(1)
            await surveillance.last(EDGE, lambda last: last["unavailable"])
            monkeypatch.undo()
            message = await surveillance.last(EDGE, lambda last: not last["unavailable"])

            assert message["round"] == 1
            assert edges(message) == exact(here.state.settings.game, seen(here))
            assert the_worker() != stuck
            assert not stuck.is_running()


async def test_the_pause_grows_while_it_dies_again_and_again(tmp_path, mosquitto, monkeypatch):
    monkeypatch.setattr(worker, "SLOW_SECONDS", 0)  # none is ever fast enough
    monkeypatch.setattr("random.uniform", lambda _, most: most)
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()
        with structlog.testing.capture_logs() as logged:
            async with surveyed(here, mosquitto.port):
                await eventually(lambda: len(pauses(logged)) >= 3, "three have died")
                await here.play(1)

    assert pauses(logged)[:3] == [0.5, 1, 2]


async def test_the_pause_has_an_end_however_often_it_died(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "SLOW_SECONDS", 0)
    monkeypatch.setattr("random.uniform", lambda _, most: most)
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()
        edge = LiveEdge(here.state.settings, here.engine.record_name, percentage("1%"), here.outbox)
        edge._backoff.failures = 5000
        edge.see(here.state, here.engine.seq)
        with structlog.testing.capture_logs() as logged:
            running = asyncio.create_task(edge.run())
            await eventually(lambda: pauses(logged) or running.done(), "it died")
            running.cancel()
            await asyncio.wait([running])

    assert pauses(logged) == [60]


def pauses(logged: Sequence[Mapping[str, Any]]) -> list[float]:
    return [line["again_in_seconds"] for line in logged if line["event"] == "edge worker died"]


# --- the alarm


def advantages(messages: list[dict[str, Any]]) -> list[tuple[int, dict[str, float]]]:
    return [(each["shoe"], {name: -edge for name, edge in edges(each).items()}) for each in messages]


@pytest.mark.parametrize("alarm", ["1%", *soaked("0%")])
async def test_an_alarm_is_logged_once_when_it_begins_and_once_when_it_ends(alarm, tmp_path, mosquitto):
    threshold = float(percentage(alarm))
    async with table(tmp_path / "table.db", of_one_deck()) as here:
        await here.begin_shoe()
        with structlog.testing.capture_logs() as logged:
            async with surveyed(here, mosquitto.port, alarm) as surveillance:
                await of_round(surveillance, 0)
                for number in range(1, 25):
                    await here.play(1)
                    await of_round(surveillance, number)
        heard = surveillance.of(EDGE)

    begun, ended = [], []
    standing: set[tuple[int, str]] = set()
    for (shoe, found), message in zip(advantages(heard), heard, strict=True):
        high = [name for name, advantage in found.items() if advantage > threshold]

        assert message["alarms"] == high
        assert [each["wager"] for each in message["positions"] if each["alarm"]] == high
        assert {each["wager"]: each["favourable"] for each in message["positions"]} == {
            name: advantage > 0 for name, advantage in found.items()
        }
        now = {(shoe, name) for name in high}
        begun += [(shoe, message["round"], name, found[name]) for shoe, name in sorted(now - standing)]
        ended += [(shoe, message["round"], name) for shoe, name in sorted(standing - now)]
        standing = now
    assert len(begun) > 1
    assert any(before["alarms"] and before["alarms"] == after["alarms"] for before, after in pairwise(heard))

    told = [line for line in logged if line["event"] == "wager favours the players"]
    over = [line for line in logged if line["event"] == "wager no longer favours the players"]
    assert {line["log_level"] for line in told} == {"warning"}
    assert [(line["shoe"], line["round"], line["wager"], line["advantage"]) for line in told] == begun
    assert [(line["round"], line["wager"]) for line in over] == [(number, name) for _, number, name in ended]
