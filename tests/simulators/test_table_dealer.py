"""A dealer does what the procedures ask for, and what is done out of order is refused by them."""

from typing import Any

import pytest

from punto.baccarat.progressive import aquarius, nexus
from punto.baccarat.progressive.aquarius import Aquarius, GameOver, Jpot, Key, TurnKey
from punto.baccarat.progressive.events import Won
from punto.baccarat.progressive.game_events import HandButton, HandDecided, StartGame
from punto.baccarat.progressive.nexus import Confirm, EndGame, Nexus, SwipeCard
from punto.baccarat.progressive.refusal import RefusedError
from punto.simulators.table_dealer import Act, Procedure, Seen, right_act, wrong_acts

SEATS = 7
EVENTS = {
    "start_game": StartGame(1, "Mei", (1, 3, 6)),
    "key_to_jph": TurnKey(Key.JPH, "Chan"),
    "key_to_run": TurnKey(Key.RUN, "Chan"),
    "jpot": Jpot("Chan"),
    "confirm": Confirm("Chan"),
    "swipe_card": SwipeCard("Chan", "supervisor"),
}


class OneTable:
    """A procedure with a table around it whose hands win what a test says; the phases are those of orders alone."""

    def __init__(self, procedure: Procedure, winners: tuple[int, ...]) -> None:
        self.procedure = procedure
        self.machine: Aquarius | Nexus = (Aquarius if procedure == "aquarius" else Nexus).new("t", 100)
        self.phase = "betting"
        self.winners = winners

    @property
    def state(self) -> aquarius.State | nexus.State:
        return self.machine.state

    def seen(self) -> Seen:
        state = self.state
        return Seen(
            phase=self.phase,
            step=state.step.value,
            seats=state.hand.wagers,
            won=frozenset(self.winners) if state.step.value not in {"betting", "playing"} else None,
            selected=frozenset(state.hand.selected),
            key=state.key.value if isinstance(state, aquarius.State) else "run",
        )

    def do(self, act: Act) -> None:
        if act.do == "open_betting":
            self.phase = "betting"
        elif act.do == "close_betting":
            self.phase = "settled"
            self._handle(HandDecided(Won("nine_over_zero", self.winners) if self.winners else None))
        elif act.do == "hand_button":
            self._handle(HandButton(act.seat, "Mei"))
        elif act.do == "game_over":
            self._handle(GameOver("Mei") if self.procedure == "aquarius" else EndGame("Mei"))
        else:
            self._handle(EVENTS[act.do])

    def _handle(self, event: Any) -> None:
        self.machine.handle(event)


def a_game(table: OneTable) -> list[Act]:
    """What a dealer does from one betting to the next, with all that could be done wrong tried before each act."""
    done: list[Act] = []
    while not done or (table.phase, table.state.step.value) != ("betting", "betting"):
        for wrong in wrong_acts(table.seen(), table.procedure, SEATS):
            before = table.state
            with pytest.raises(RefusedError):
                table.do(wrong)
            assert table.state == before
        act = right_act(table.seen(), table.procedure)
        assert act is not None
        table.do(act)
        done.append(act)
    return done


def words(acts: list[Act]) -> str:
    return ", ".join(act.do + (f" {act.seat}" if act.seat else "") for act in acts)


@pytest.mark.parametrize(
    ("procedure", "winners", "acts"),
    [
        ("aquarius", (), "start_game, close_betting, game_over, open_betting"),
        ("nexus", (), "start_game, close_betting, game_over, open_betting"),
        (
            "aquarius",
            (3, 6),
            "start_game, close_betting, hand_button 3, hand_button 6, key_to_jph, jpot, key_to_run, game_over, open_betting",
        ),
        (
            "nexus",
            (3, 6),
            "start_game, close_betting, hand_button 3, hand_button 6, confirm, swipe_card, game_over, open_betting",
        ),
    ],
)
def test_a_game_is_dealt_from_start_to_end_whatever_is_tried_out_of_order(procedure, winners, acts):
    assert words(a_game(OneTable(procedure, winners))) == acts


def test_while_the_cards_are_dealt_there_is_nothing_to_press():
    assert right_act(Seen(phase="dealing", step="playing"), "aquarius") is None
    assert right_act(Seen(phase="shoe_change", step="betting"), "aquarius") is None


def test_before_it_is_known_who_won_nothing_is_pressed():
    assert right_act(Seen(phase="settled", step="settling", seats=(1,)), "aquarius") is None


def test_a_game_whose_hand_was_void_is_played_with_the_next():
    assert right_act(Seen(phase="settled", step="playing"), "aquarius") == Act("open_betting")
    assert right_act(Seen(phase="betting", step="playing"), "aquarius") == Act("close_betting")


def test_a_shoe_that_is_over_is_changed():
    assert right_act(Seen(phase="settled", step="betting", shoe_over=True), "nexus") == Act("change_shoe")


def test_a_key_that_was_left_in_jph_is_turned_back():
    assert right_act(Seen(phase="settled", step="adjusted", key="jph"), "aquarius") == Act("key_to_run")
