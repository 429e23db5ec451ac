"""One evening as mosquitto_sub shows it: `punto run`, a `punto shoe` of eight decks, the cut card, and the next shoe.

The evening is played once, and each test states one thing about what was heard. What is on the record of a shoe is in
`test_crashes.py`, and what is asked and answered in `test_broker.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from tests.controller.table_on_a_machine import (
    TABLE,
    Broker,
    Dealt,
    Heard,
    Listener,
    Shoe,
    Table,
    expected_cards,
    expected_rounds,
    wait_until,
)

SEED = "an evening"
SHOE_1 = expected_rounds(SEED, 1)
NEXT_SHOE_ROUNDS = 3
RETAINED = {
    "availability",
    "devices/shoe",
    "info",
    "health",
    "state",
    "scoreboard",
    "meters",
    "restricted/head",
}


@dataclass(frozen=True)
class Evening:
    """What was heard by who was there the whole time, and by who came when it was over."""

    heard: list[Heard]
    latecomer: list[Heard]
    scoreboard: dict[str, Any]  # after the first shoe's last coup
    status: int

    def of(self, name: str) -> list[dict[str, Any]]:
        """The messages of a topic, in order."""
        return [message.payload for message in self.heard if message.topic == f"punto/{TABLE}/{name}"]

    def happenings(self, *kinds: str) -> list[dict[str, Any]]:
        """What the table said of itself."""
        all_of_them = [event["happening"] for event in self.of("event")]
        return [each for each in all_of_them if each["kind"] in kinds]


@pytest.fixture(scope="module")
def evening(tmp_path_factory) -> Iterator[Evening]:
    folder = tmp_path_factory.mktemp("evening")
    broker = Broker(folder)
    table = Table(folder, broker, sections="restricted = true\n")  # in [mqtt], which comes last
    shoe = Shoe(table.port, "--seed", SEED, "--between", "0.08")
    listener = Listener(folder, broker.port)
    with broker, listener, table:
        wait_until(lambda: listener.last("health"), "the table is heard of")
        with shoe:
            yield _play(folder, broker, table, listener)


def _play(folder: Path, broker: Broker, table: Table, listener: Listener) -> Evening:
    table.begin_shoe()
    wait_until(lambda: _scoreboard_of(listener, len(SHOE_1)), "the first shoe is over")
    (*_, scoreboard) = listener.heard("scoreboard")
    table.begin_shoe()
    enough = len(SHOE_1) + NEXT_SHOE_ROUNDS
    wait_until(lambda: _scoreboard_of(listener, enough), "the next shoe's first rounds")
    status = table.stop()
    wait_until(lambda: _is_offline(listener), "the table said that it stopped")
    with Listener(folder, broker.port, name="latecomer") as latecomer:
        wait_until(lambda: len(latecomer.heard()) >= len(RETAINED), "what is retained")
        return Evening(listener.heard(), latecomer.heard(), scoreboard.payload, status)


def _scoreboard_of(listener: Listener, round_: int) -> bool:
    board = listener.last("scoreboard")
    return board is not None and board["seq"] >= round_


def _is_offline(listener: Listener) -> bool:
    availability = listener.last("availability")
    return availability is not None and availability["state"] == "offline"


# --- what the evening was like


def test_each_topic_of_the_table_is_heard_and_no_other(evening):
    assert {message.topic.removeprefix(f"punto/{TABLE}/") for message in evening.heard} == RETAINED | {
        "event",
        "round",
        "restricted/card",  # this broker has no passwords; where it has, only surveillance reads these
    }


def test_the_phases_come_as_they_do_at_a_table(evening):
    # `locked` is where it was before anything happened, so it is in the state and is never entered.
    entered = [(each["phase"], each["shoe"]) for each in evening.happenings("phase_entered")]
    first_shoe = [("betting", 1), ("dealing", 1), ("settled", 1)] * len(SHOE_1)
    second_shoe = [("betting", 2), ("dealing", 2), ("settled", 2)] * NEXT_SHOE_ROUNDS
    evening_long = [("closed", 0), ("shoe_change", 1), *first_shoe, ("shoe_change", 2), *second_shoe]

    assert evening.of("state")[0]["phase"] == "locked"
    assert entered[: len(evening_long)] == evening_long


def test_the_cut_card_comes_once_and_names_the_last_coup(evening):
    assert [each["last_coup"] for each in evening.happenings("cut_card_reached")] == [len(SHOE_1)]


def test_only_the_last_coup_is_shown_as_the_last_hand(evening):
    shown = [
        (state["shoe"]["number"], state["round"]) for state in evening.of("state") if _is_last_hand(state)
    ]

    assert set(shown) == {(1, len(SHOE_1))}


def test_the_burn_is_by_the_first_card_of_each_shoe(evening):
    burned = [(each["card"], each["burns"]) for each in evening.happenings("burn_card_turned")]

    assert burned == [
        (first, Card(first).points or 10) for first in (expected_cards(SEED, n)[0] for n in (1, 2))
    ]


def test_the_scoreboard_holds_the_whole_shoe_and_begins_anew_with_the_next(evening):
    winners = [_coup(dealt).winner for dealt in SHOE_1]
    last = evening.of("scoreboard")[-1]

    assert [bead["winner"] for bead in evening.scoreboard["bead_plate"]] == winners
    assert evening.scoreboard["counts"]["hands"] == len(SHOE_1)
    assert (last["shoe"], last["counts"]["hands"]) == (2, last["seq"] - len(SHOE_1))


def test_the_shoe_that_was_not_there_at_the_start_is_shown_as_it_comes(evening):
    states = [(shoe["state"], shoe["serial"]) for shoe in evening.of("devices/shoe")]

    assert states[0] == ("offline", None)
    assert ("online", "VS-000001") in states
    assert "there is no port" in " ".join(shoe["reason"] for shoe in evening.of("devices/shoe"))


# --- the end


def test_it_ends_cleanly_and_says_so(evening):
    said = [(each["state"], each["reason"]) for each in evening.of("availability")]

    assert evening.status == 0
    assert said[0] == ("online", "running")
    assert said[-1] == ("offline", "the service was stopped")
    # With messages under way the broker may take the end of the connection for a loss, and say so before.
    assert {*said[:-1]} <= {("online", "running"), ("offline", "the connection was lost")}


def test_who_comes_late_gets_what_is_retained_and_nothing_else(evening):
    assert {message.topic for message in evening.latecomer} == {f"punto/{TABLE}/{name}" for name in RETAINED}
    assert all(message == _last(evening.heard, message.topic) for message in evening.latecomer)


def _coup(dealt: Dealt) -> Coup:
    """The coup of these hands: the cards of both sides by turns, and a third of Player's before Banker's."""
    player, banker = dealt.player.split(), dealt.banker.split()
    codes = [player[0], banker[0], player[1], banker[1], *player[2:], *banker[2:]]
    return Coup.complete(tuple(map(Card, codes)))


def _is_last_hand(state: dict[str, Any]) -> bool:
    return "last_hand" in state["overlays"]


def _last(heard: list[Heard], topic: str) -> Heard:
    return [message for message in heard if message.topic == topic][-1]
