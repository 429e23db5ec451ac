"""The steps of a game by either procedure: in each step an event leads where the transition table says, or is refused."""

from dataclasses import dataclass
from itertools import product
from types import ModuleType
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from punto.baccarat.progressive import aquarius, nexus
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.progressive.procedure import Step
from punto.baccarat.progressive.state import State
from tests.baccarat.progressive import test_aquarius, test_nexus
from tests.baccarat.progressive.floor import COMMANDS, Floor, refusal
from tests.baccarat.progressive.test_aquarius import FORTY, LOGGED, MAY, PLAY, WON
from tests.baccarat.progressive.test_nexus import CONFIRMED

BOOKS: TypeAdapter[State] = TypeAdapter(State)


@dataclass(frozen=True)
class Procedure:
    name: str
    rules: ModuleType
    machine: Any
    games: Any
    """The module with the games that have come so far: `OVER`, `NOBODY` and others."""
    ends: str
    """The command that ends a game."""
    scenarios: list[tuple[list[str], str, str, str]]
    """What happened so far, and the event: of which step it is, and what it leads to. `of_both` has those of both procedures."""
    refusals: list[tuple[list[str], str, str]]
    """What happened so far, the event that is refused then, and the refusal's code."""
    day: list[str]

    def floor(self, **changes: Any) -> Floor:
        return Floor(procedure=self.name, **changes)

    def event_of(self, command: str) -> type:
        verb, *words = command.split()
        return type(COMMANDS[verb](self.machine.new("t1", 100).state, words))


def scenarios(games: Any, ends: str) -> list[tuple[list[str], str, str, str]]:
    """Those of both procedures."""
    return [
        ([], "place 1", "betting", "betting"),
        (["place 1"], "lift 1", "betting", "betting"),
        (["place 1"], "void 1", "betting", "betting"),
        (["place 1"], "start", "betting", "playing"),
        (games.OVER, "won quarter 1 3", "betting", "betting"),
        ([*PLAY, "lost", ends], "won quarter 1", "betting", "settling"),
        ([], "back", "betting", "betting"),
        (games.OVER, "back", "betting", "settling"),
        (games.NOBODY, "reopen ann", "betting", "settling"),
        (PLAY, "lift 1", "playing", "playing"),
        (PLAY, "void 1", "playing", "playing"),
        (PLAY, "won quarter 1", "playing", "settling"),
        (WON, "lift 1", "settling", "settling"),
        (WON, "void 1", "settling", "settling"),
        (WON, "won all 1", "settling", "settling"),
        (WON, "back", "settling", "settling"),
        (WON, "press 1", "settling", "settling"),
        ([*PLAY, "may forty 1 3"], "nobody", "settling", "adjusted"),
        ([*PLAY, "lost"], ends, "settling", "betting"),
        (games.PAID, "lift 1", "adjusted", "adjusted"),
        (games.PAID, "void 1", "adjusted", "adjusted"),
        (games.PAID, "won all 1 3", "adjusted", "settling"),
        (games.PAID, "back", "adjusted", "settling"),
        (games.PAID, ends, "adjusted", "betting"),
    ]


def refusals(games: Any, ends: str, confirms: str, confirmed: list[str]) -> list[tuple[list[str], str, str]]:
    """Those of both procedures."""
    return [
        ([], "press 1", "not_started"),
        ([], confirms, "no_hand_selected"),
        ([], "nobody", "not_started"),
        ([], ends, "not_started"),
        (PLAY, "place 2", "after_start"),
        (PLAY, "start", "already_started"),
        (PLAY, "back", "of_no_round"),
        (PLAY, "press 1", "hand_not_over"),
        (PLAY, confirms, "no_hand_selected"),
        (PLAY, "nobody", "hand_not_over"),
        ([*games.NOBODY, *PLAY[2:]], "reopen ann", "already_started"),
        (PLAY, ends, "hand_not_over"),
        (WON, "place 2", "after_start"),
        (WON, "start", "already_started"),
        (MAY, "reopen ann", "not_over"),
        (confirmed, "place 2", "after_start"),
        (confirmed, "start", "already_started"),
        (confirmed, confirms, "already_confirmed"),
        (games.DENIED, "reopen ann", "not_over"),
        (games.PAID, "place 2", "after_start"),
        (games.PAID, "start", "already_started"),
        (games.PAID, "press 1", "already_confirmed"),
        (games.PAID, confirms, "already_confirmed"),
        (games.PAID, "nobody", "already_confirmed"),
        (games.NOBODY[:-1], "reopen ann", "not_over"),
    ]


AQUARIUS = Procedure(
    "aquarius",
    aquarius,
    aquarius.Aquarius,
    test_aquarius,
    "over",
    [
        *scenarios(test_aquarius, "over"),
        ([], "key jph", "betting", "betting"),
        (PLAY, "key jph", "playing", "playing"),
        (WON, "key jph", "settling", "settling"),
        (LOGGED[:-1], "jpot", "settling", "logged"),
        (FORTY, "jpot", "settling", "adjusted"),
        (test_aquarius.DENIED[:-1], "nobody", "settling", "logged"),
        (LOGGED, "lift 1", "logged", "logged"),
        (LOGGED, "void 1", "logged", "logged"),
        (LOGGED, "key jph", "logged", "logged"),
        (LOGGED, "key run", "logged", "adjusted"),
        (test_aquarius.PAID, "won quarter 1 3", "adjusted", "adjusted"),
        (test_aquarius.PAID, "key jph", "adjusted", "adjusted"),
    ],
    [
        *refusals(test_aquarius, "over", "jpot", LOGGED),
        (LOGGED, "lost", "award_open"),
        (LOGGED, "back", "of_no_round"),
        (LOGGED, "press 1", "already_confirmed"),
        (LOGGED, "nobody", "already_confirmed"),
        (LOGGED, "over", "key_in_jph"),
    ],
    [
        *(*test_aquarius.OVER, "place 5", "start", "won all 5", "press 5", "key jph", "jpot", "key run", "over"),
        *("won all 5", "place 1", "start", "lost", "over", "won quarter 1", "press 1", "key jph", "jpot", "key run"),
        *("over", "place 3", "start", "may all 3", "key jph", "nobody", "key run", "over", "reopen ann"),
        *("press 3", "press 3", "key jph", "nobody", "key run", "over"),
    ],
)  # fmt: skip
NEXUS = Procedure(
    "nexus",
    nexus,
    nexus.Nexus,
    test_nexus,
    "end",
    [
        *scenarios(test_nexus, "end"),
        (CONFIRMED, "back", "confirmed", "settling"),
        (CONFIRMED[:-1], "confirm", "settling", "confirmed"),
        (FORTY, "confirm", "settling", "adjusted"),
        (MAY, "nobody", "settling", "confirmed"),
        (CONFIRMED, "lift 1", "confirmed", "confirmed"),
        (CONFIRMED, "void 1", "confirmed", "confirmed"),
        (CONFIRMED, "won quarter 1 3", "confirmed", "confirmed"),
        (CONFIRMED, "lost", "confirmed", "settling"),
        (CONFIRMED, "press 1", "confirmed", "settling"),
        (CONFIRMED, "swipe supervisor", "confirmed", "adjusted"),
        (CONFIRMED, "sign supervisor", "confirmed", "adjusted"),
        (test_nexus.DENIED, "swipe supervisor", "confirmed", "adjusted"),
        (test_nexus.DENIED, "press 3", "confirmed", "settling"),
        (test_nexus.PAID, "lost", "adjusted", "adjusted"),
    ],
    [
        *refusals(test_nexus, "end", "confirm", CONFIRMED),
        *((start, f"{how} executive", "not_confirmed") for start in ([], PLAY, WON) for how in ("swipe", "sign")),
        *((test_nexus.PAID, f"{how} executive", "already_confirmed") for how in ("swipe", "sign")),
        (test_nexus.DENIED, "nobody", "already_confirmed"),
        (CONFIRMED, "end", "award_unconfirmed"),
    ],
    [
        *(*test_nexus.OVER, "place 5", "start", "won all 5", "press 5", "confirm", "swipe executive", "end"),
        *("won all 5", "place 1", "start", "lost", "end", "won quarter 1", "press 1", "confirm", "swipe supervisor"),
        *("end", "place 3", "start", "may all 3", "nobody", "sign supervisor", "end", "reopen ann"),
        *("nobody", "press 3", "confirm", "sign supervisor", "end"),
    ],
)  # fmt: skip
BOTH = (AQUARIUS, NEXUS)
of_both = pytest.mark.parametrize("by", BOTH, ids=lambda by: by.name)


@pytest.mark.parametrize(
    ("by", "so_far", "command", "before", "after"), [(by, *each) for by in BOTH for each in by.scenarios]
)
def test_an_event_leads_where_the_table_says(by, so_far, command, before, after):
    floor = by.floor(supervisor_from=10_000).do(
        *so_far
    )  # the dealer may confirm less than 100.00 from the tray
    found = floor.step
    floor.do(command)

    assert (found, floor.step) == (before, after)


@of_both
def test_every_way_that_the_transition_table_lists_is_gone_by_a_scenario(by):
    gone = {(Step(before), by.event_of(command), Step(after)) for _, command, before, after in by.scenarios}

    assert gone == {
        (before, event, after)
        for before, events in by.rules.TRANSITIONS.items()
        for event, steps in events.items()
        for after in steps
    }


@of_both
def test_an_event_leads_on_or_is_refused_with_a_reason_in_every_step(by):
    listed = [(step, event) for step, events in by.rules.TRANSITIONS.items() for event in events]
    refused = [(step, event) for step, events in by.rules.REFUSED.items() for event in events]
    every = product(by.rules.TRANSITIONS, get_args(by.rules.Event))

    assert sorted(map(str, listed + refused)) == sorted(map(str, every))


@pytest.mark.parametrize(
    ("by", "so_far", "command", "code"), [(by, *each) for by in BOTH for each in by.refusals]
)
def test_what_a_step_does_not_allow_is_refused_and_changes_nothing(by, so_far, command, code):
    floor = by.floor().do(*so_far)

    assert refusal(floor, lambda: floor.do(command))[0] == code


@of_both
def test_every_refusal_of_a_step_has_a_scenario(by):
    gone = {(Step(by.floor().do(*so_far).step), by.event_of(command)) for so_far, command, _ in by.refusals}

    assert gone == {(step, event) for step, events in by.rules.REFUSED.items() for event in events}


@of_both
def test_pressing_a_hand_button_again_takes_it_back(by):
    floor = by.floor().do(*WON, "press 1", "press 3", "press 1")

    assert floor.tables["t1"].state.hand.selected == (3,)


@of_both
def test_a_table_that_loses_its_power_after_any_step_goes_on_from_there(by):
    """It is stored and taken up again after each, with the books: between J-POT and RUN as anywhere."""
    stored: TypeAdapter[Any] = TypeAdapter(by.rules.State)
    straight, killed = by.floor(reserve="5%"), by.floor(reserve="5%")
    stood = set()
    for command in by.day:
        straight.do(command)
        killed.do(command)
        machine = by.machine(stored.validate_json(stored.dump_json(killed.tables["t1"].state), strict=True))
        assert machine.state == killed.tables["t1"].state
        killed.tables["t1"] = machine
        killed.progressive.state = BOOKS.validate_json(BOOKS.dump_json(killed.state), strict=True)
        stood.add(machine.state.step)

    assert (killed.state, killed.effects) == (straight.state, straight.effects)
    assert stood == set(by.rules.TRANSITIONS)


@of_both
def test_a_way_that_is_not_listed_is_never_gone(by, monkeypatch):
    monkeypatch.setitem(by.rules.TRANSITIONS[Step.BETTING], StartGame, frozenset({Step.BETTING}))
    floor = by.floor()

    with pytest.raises(AssertionError, match="start_game led from betting to playing, which the transition"):
        floor.do("start")

    assert floor.step == "betting"
