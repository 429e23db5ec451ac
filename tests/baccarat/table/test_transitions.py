"""The transition table: each event in each phase is either refused and changes nothing, or leads where it says."""

from typing import Any, get_args

import pytest

from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.events import (
    Access,
    BooksOrder,
    ConfigurationKeypad,
    DeviceHeard,
    GameOrder,
    Sensed,
    SensorFault,
    SensorsLink,
    ServiceStarted,
    SetWager,
    ShoeEvent,
)
from punto.baccarat.table.order_kinds import Order
from punto.baccarat.table.state import Phase
from punto.baccarat.table.table import TRANSITIONS, leads_to
from tests.baccarat.table.croupier import BANKER_NATURAL, COMMANDS, LONG, PLAYER_NATURAL, Croupier

House = dict[str, Any]

BY_ORDER: House = {"next_coup": "order"}
MIDI: House = {"game_name": "midi-baccarat"}
DUMMY: House = {"overdraw": "dummy"}
CARRY: House = {"overdraw": "next_coup"}
BURN: House = {"burn": "first_card"}
KEYED: House = {"cards": "keyed"}
LAMMERS: House = {"commission": "shoe_end"}
METER: House = {"game_name": "progressive-2", "meter": {"base_wagers": "unseen"}}

ON: list[str] = ["hello", "sign on"]
SHOE: list[str] = [*ON, "change shoe"]
BET: list[str] = [*SHOE, "open"]
# The shoe is changed while play is stopped, and burned before it goes on.
LATE: list[str] = [*SHOE, "draw AS 3S", "lid open", "change shoe"]
COUP: list[str] = [*BET, "draw KS 2S 9H"]  # and 3S ends it
OVERDRAWN: list[str] = ["overdraw KD", "resume"]
# Play is stopped and the last card of the coup has come; then the shoe is exchanged as well.
STOPPED: list[str] = ["lid open", "draw 3S"]
EXCHANGED: list[str] = ["hello B", "resume"]

# What whoever deals may say at any time.
ASKED: list[str] = [f"order {kind} a question" for kind, each in CATALOGUE.items() if each.group == "help"]

# How a table comes into each phase.
IN_PHASE: dict[str, tuple[House, list[str]]] = {
    "locked": ({}, []),
    "closed": ({}, ON),
    "shoe_change": (BURN, SHOE),
    "betting": ({}, [*BET, "wager 1 player 500"]),
    "dealing": ({}, [*BET, "wager 1 player 500", "draw KS 2S"]),
    "reveal": (MIDI, [*BET, f"draw {PLAYER_NATURAL}"]),
    "settled": (BY_ORDER, [*BET, f"draw {PLAYER_NATURAL}"]),
}

# The same at a table with a progressive, whose game has had its hand and is not over.
REVEALED: list[str] = ["draw KS 2S 5S 3S", "reveal", "draw 4D", "reveal", "draw 9D", "reveal"]  # as LONG
PLAYED: list[str] = [*BET, "start game 2", f"draw {LONG}"]
METERED: dict[str, tuple[House, list[str]]] = {
    "closed": ({}, [*PLAYED, "close table"]),
    "shoe_change": (BURN, [*SHOE, "draw AS 2S", "start game 2", f"draw {LONG}", "change shoe"]),
    "betting": ({}, PLAYED),
    "dealing": ({}, [*PLAYED, "draw KS"]),
    "reveal": ({"reveal": "dealer"}, [*BET, "start game 2", *REVEALED, "draw KS 2S 5S 3S"]),
    "settled": (BY_ORDER, PLAYED),
}

# A hand that can have won of the meter, at a table that waits for its award; and one that did by its corrected cards.
AWARD, TO_AWARD = "draw 2H KC 3H JC 4H KD", "correct round 2H 3H 4H over KC JC KD"
NOTHING, TO_NOTHING = "draw 2H KC 3H JC 5C 4D", "correct round 2H 3H 5C over KC JC 4D"
GAME: list[str] = ["meter", "start game 2"]
WON: list[str] = [*BET, *GAME, AWARD]
FOUND: list[str] = [*BET, *GAME, NOTHING, "game over"]
BURNED: list[str] = [*SHOE, "draw AS 2S"]
# Seat 2 owes 50 of commission, or does by the corrected cards.
MARKED: list[str] = [*BET, "wager 2 banker 1000", f"draw {BANKER_NATURAL}"]
TO_BANKER = "correct round KS 2S over 9H 9S"

# The house, what happened so far, and the event: the word that says it, of which phase it is, and what it leads to.
SCENARIOS: list[tuple[House, list[str], str, str, str]] = [
    ({}, [], "hello", "locked", "locked"),
    ({}, [], "start", "locked", "locked"),
    ({}, [], "sign on", "locked", "closed"),
    # closed
    ({}, ON, "draw KS", "closed", "closed"),
    ({}, ON, "start", "closed", "closed"),
    ({}, ON, "sign off", "closed", "locked"),
    ({}, ON, "change shoe", "closed", "shoe_change"),
    ({}, [*BET, "close table"], "open", "closed", "betting"),
    (DUMMY, [*BET, "overdraw KS", "close table", "resume"], "open", "closed", "dealing"),
    ({}, [*BET, "lid open", "close table"], "resume", "closed", "closed"),
    ({}, [*BET, "hello B", "close table"], "accept B", "closed", "closed"),
    # shoe change
    (BURN, SHOE, "draw 2S", "shoe_change", "shoe_change"),
    (BURN, [*SHOE, "draw AS"], "draw 2S", "shoe_change", "betting"),
    ({}, SHOE, "draw KS", "shoe_change", "dealing"),
    (BURN, SHOE, "start", "shoe_change", "shoe_change"),
    (BURN, SHOE, "change shoe", "shoe_change", "shoe_change"),
    (BURN, SHOE, "close table", "shoe_change", "closed"),
    ({}, SHOE, "open", "shoe_change", "betting"),
    (BURN, [*SHOE, "unread"], "key 2S", "shoe_change", "shoe_change"),
    (BURN, [*SHOE, "unread", "draw 2S"], "key AS", "shoe_change", "betting"),
    (BURN, [*SHOE, "records lost 1"], "resume", "shoe_change", "shoe_change"),
    (BURN, [*LATE, "draw AS 2S"], "resume", "shoe_change", "betting"),
    (BURN, [*SHOE, "draw AS", "hello B"], "accept B", "shoe_change", "shoe_change"),
    (BURN, [*LATE, "draw AS 2S", *EXCHANGED], "accept B", "shoe_change", "betting"),
    # betting
    ({}, BET, "lid open", "betting", "betting"),
    ({}, BET, "draw KS", "betting", "dealing"),
    ({**CARRY, **BY_ORDER}, [*BET, *OVERDRAWN, *OVERDRAWN, *OVERDRAWN], "draw 9S", "betting", "settled"),
    ({**CARRY, **MIDI}, [*BET, *OVERDRAWN, *OVERDRAWN, *OVERDRAWN], "draw 9S", "betting", "reveal"),
    ({}, BET, "start", "betting", "betting"),
    ({}, BET, "wager 1 player 500", "betting", "betting"),
    ({}, BET, "no more bets", "betting", "dealing"),
    ({}, BET, "close table", "betting", "closed"),
    ({}, BET, "change shoe", "betting", "shoe_change"),
    (KEYED, BET, "key KS", "betting", "dealing"),
    ({}, [*BET, "lid open"], "resume", "betting", "betting"),
    (DUMMY, [*BET, "overdraw KS"], "resume", "betting", "dealing"),
    ({**DUMMY, **BY_ORDER}, [*BET, "overdraw KS", "draw 2S 9H 3S"], "resume", "betting", "settled"),
    ({**DUMMY, **MIDI}, [*BET, "overdraw KS", "draw 2S 9H 3S"], "resume", "betting", "reveal"),
    ({}, [*BET, "hello B"], "accept B", "betting", "betting"),
    # dealing
    ({}, [*BET, "draw KS"], "draw 2S", "dealing", "dealing"),
    ({}, COUP, "draw 3S", "dealing", "betting"),
    (BY_ORDER, COUP, "draw 3S", "dealing", "settled"),
    (MIDI, COUP, "draw 3S", "dealing", "reveal"),
    ({}, COUP, "start", "dealing", "dealing"),
    ({}, [*BET, "unread"], "key 2S", "dealing", "dealing"),
    ({}, [*COUP, "unread"], "key 3S", "dealing", "betting"),
    (BY_ORDER, [*COUP, "unread"], "key 3S", "dealing", "settled"),
    (MIDI, [*COUP, "unread"], "key 3S", "dealing", "reveal"),
    ({}, COUP, "correct 1 QS", "dealing", "dealing"),
    ({}, [*BET, "draw KS 2S 5S 3S"], "correct 3 9S", "dealing", "betting"),
    (BY_ORDER, [*BET, "draw KS 2S 5S 3S"], "correct 3 9S", "dealing", "settled"),
    (MIDI, [*BET, "draw KS 2S 5S 3S", "reveal"], "correct 3 9S", "dealing", "betting"),
    (MIDI, [*BET, "draw KS 2S 5S 3S", "reveal"], "draw 4D", "dealing", "reveal"),
    ({}, COUP, "void", "dealing", "betting"),
    (BY_ORDER, COUP, "void", "dealing", "settled"),
    (DUMMY, [*COUP, *OVERDRAWN], "void", "dealing", "dealing"),
    ({}, [*COUP, "lid open"], "resume", "dealing", "dealing"),
    ({}, [*COUP, *STOPPED], "resume", "dealing", "betting"),
    (BY_ORDER, [*COUP, *STOPPED], "resume", "dealing", "settled"),
    (MIDI, [*COUP, *STOPPED], "resume", "dealing", "reveal"),
    ({}, [*COUP, "hello B"], "accept B", "dealing", "dealing"),
    ({}, [*COUP, *STOPPED, *EXCHANGED], "accept B", "dealing", "betting"),
    (BY_ORDER, [*COUP, *STOPPED, *EXCHANGED], "accept B", "dealing", "settled"),
    (MIDI, [*COUP, *STOPPED, *EXCHANGED], "accept B", "dealing", "reveal"),
    # reveal
    (MIDI, [*COUP, "draw 3S"], "draw KD", "reveal", "reveal"),
    (MIDI, [*COUP, "draw 3S"], "start", "reveal", "reveal"),
    (MIDI, [*COUP, "draw 3S"], "reveal", "reveal", "betting"),
    ({**MIDI, **BY_ORDER}, [*COUP, "draw 3S"], "reveal", "reveal", "settled"),
    ({**MIDI, **DUMMY}, [*COUP, "draw 3S", *OVERDRAWN], "reveal", "reveal", "dealing"),
    ({**MIDI, **DUMMY}, [*COUP, "draw 3S", *OVERDRAWN * 3, "cut card", "draw KD"], "reveal", "reveal", "reveal"),
    (MIDI, [*COUP, "draw 3S"], "correct 1 QS", "reveal", "reveal"),
    (MIDI, [*COUP, "draw 3S"], "correct 3 2H", "reveal", "reveal"),
    (MIDI, [*BET, "draw KS 2S 5S 3S"], "reveal", "reveal", "dealing"),
    (MIDI, [*COUP, "draw 3S"], "void", "reveal", "betting"),
    ({**MIDI, **BY_ORDER}, [*COUP, "draw 3S"], "void", "reveal", "settled"),
    ({**MIDI, **DUMMY}, [*COUP, "draw 3S", *OVERDRAWN], "void", "reveal", "dealing"),
    (MIDI, [*COUP, "draw 3S KD"], "resume", "reveal", "reveal"),
    (MIDI, [*COUP, "draw 3S", "hello B"], "accept B", "reveal", "reveal"),
    # settled
    (BY_ORDER, [*COUP, "draw 3S"], "draw KD", "settled", "settled"),
    (BY_ORDER, [*COUP, "draw 3S"], "start", "settled", "settled"),
    (BY_ORDER, [*COUP, "draw 3S"], "open", "settled", "betting"),
    (BY_ORDER, [*COUP, "draw 3S"], "change shoe", "settled", "shoe_change"),
    (BY_ORDER, [*COUP, "draw 3S"], "close table", "settled", "closed"),
    (BY_ORDER, [*COUP, "draw 3S KD"], "resume", "settled", "settled"),
    ({**BY_ORDER, **DUMMY}, [*COUP, "draw 3S KD"], "resume", "settled", "dealing"),
    ({**BY_ORDER, **DUMMY, **MIDI}, [*COUP, "draw 3S", "reveal", "draw KD 2S 9H 3S"], "resume", "settled", "reveal"),
    (BY_ORDER, [*COUP, "draw 3S", "hello B"], "accept B", "settled", "settled"),
    # corrections of the round before
    *(
        (house, so_far, order, phase, phase)
        for order in ("correct round KS 9H over 2S 7D", "void round")
        for house, so_far, phase in (
            ({}, [*COUP, "draw 3S", "close table"], "closed"),
            (BURN, [*SHOE, "draw AS 2S", "draw KS 2S 9H 3S", "change shoe"], "shoe_change"),
            ({}, [*COUP, "draw 3S"], "betting"),
            (BY_ORDER, [*COUP, "draw 3S"], "settled"),
        )
    ),
    ({}, ON, "game canberra", "closed", "closed"),
    # the seats' commission
    *(
        ({**LAMMERS, **house}, so_far, command, phase, phase)
        for command in ("collect 2 50", "waive 2 50")
        for house, so_far, phase in (
            ({}, [*MARKED, "close table"], "closed"),
            (BURN, [*BURNED, "wager 2 banker 1000", f"draw {PLAYER_NATURAL}", "change shoe", TO_BANKER], "shoe_change"),
            ({}, MARKED, "betting"),
            ({}, [*MARKED, "draw KS"], "dealing"),
            (MIDI, [*MARKED, "reveal", f"draw {PLAYER_NATURAL}"], "reveal"),
            (BY_ORDER, MARKED, "settled"),
        )
    ),
    # the progressive
    (METER, [], "meter", "locked", "locked"),
    *(
        ({**METER, **house}, ["meter", *so_far], command, phase, phase)
        for phase, (house, so_far) in METERED.items()
        for command in ("turn jph", "count 100", "game over")
    ),
    (METER, ["meter", *BET], "start game", "betting", "betting"),
    ({**METER, "meter": {"base_wagers": "unseen", "start_closes_betting": True}}, ["meter", *BET], "start game", "betting", "dealing"),
    (METER, ["meter", *BET, "no more bets"], "start game", "dealing", "dealing"),
    # an award that the next hand waits for
    *(
        (
            {**METER, **house, **system},
            [*("end game" if each == "game over" and system else each for each in so_far), *waits, *done],
            command,
            before,
            after,
        )
        for house, so_far, waits, before, after in (
            ({}, WON, [], "settled", "betting"),
            (DUMMY, WON, OVERDRAWN, "settled", "dealing"),
            (BURN, [*BURNED, *GAME, AWARD, "change shoe"], ["draw AS 2S"], "shoe_change", "betting"),
            (DUMMY, [*FOUND, TO_AWARD], OVERDRAWN, "betting", "dealing"),
        )
        for system, done, command in (
            ({}, ["turn jph", "nobody"], "turn run"),
            ({"meter": {"procedure": "nexus", "base_wagers": "unseen"}}, ["nobody"], "sign executive"),
            ({}, ["hand 2", "turn jph", "j-pot"], "turn run"),
            ({}, [], TO_NOTHING),
            ({}, [], "void round"),
            ({}, [], "resume"),
        )
    ),
    # at any time
    *(
        (house, ["heard keypad KP-1", "heard keypad KP-2", *so_far, "noise"], command, phase, phase)
        for phase, (house, so_far) in IN_PHASE.items()
        for command in (
            "sign on",
            "acknowledge link_noise",
            "come in",
            "plug keypad",
            "accept device KP-2",
            *ASKED,
        )
        if phase != "locked" or command in {"come in", "plug keypad"}
    ),
]  # fmt: skip

LISTED: set[type | str] = {
    *get_args(Order), SetWager, ServiceStarted, ConfigurationKeypad, StartGame, "shoe", "access", "meter", "game"
}  # fmt: skip
"""What the transition table lists events under."""


def kind_of(command: str) -> type | str:
    """The event that a command says, as the transition table names it."""
    verb = next(verb for verb in COMMANDS if f"{command} ".startswith(f"{verb} "))
    (event,) = COMMANDS[verb](Croupier().do("noise"), command.removeprefix(verb).split())
    if isinstance(event, Order | SetWager | ServiceStarted | ConfigurationKeypad | StartGame):
        return type(event)
    if isinstance(event, GameOrder):
        return "game"
    if isinstance(event, BooksOrder | Sensed | SensorsLink | SensorFault):
        return "meter"
    return "access" if isinstance(event, Access | DeviceHeard) else "shoe"


@pytest.mark.parametrize(("house", "so_far", "command", "before", "after"), SCENARIOS)
def test_an_event_leads_where_the_table_says(house, so_far, command, before, after):
    croupier = Croupier(**house).do(*so_far)
    found = croupier.phase
    croupier.do(command)

    assert (found, croupier.phase) == (before, after)


def test_every_way_that_the_transition_table_lists_is_gone_by_a_scenario():
    gone = {(Phase(before), kind_of(command), Phase(after)) for _, _, command, before, after in SCENARIOS}

    assert gone == {
        (before, listed, after) for before in Phase for listed in LISTED for after in leads_to(before, listed)
    }


def test_what_is_legal_everywhere_stands_once_and_not_in_each_phase_again(monkeypatch):
    for phase, events in TRANSITIONS.items():
        assert events.keys() <= LISTED
        for listed, after in tuple(events.items()):
            with monkeypatch.context() as without:
                without.delitem(events, listed)
                assert leads_to(phase, listed) != after, f"{listed} stands in {phase} without need"


# How a refusal names the phase, to a person who does not know the program's words.
WHEN = {
    "locked": "the table is locked",
    "closed": "the table is closed",
    "shoe_change": "the shoe is being changed",
    "betting": "betting is open",
    "dealing": "a hand is being dealt",
    "reveal": "the cards are not revealed yet",
    "settled": "the hand is settled",
}

PERSONAL = [
    "sign on", "sign off", "change shoe", "open", "no more bets", "close table", "reveal", "void", "correct 1 QS",
    "key QS", "resume", "accept A", "accept device A", "wager 1 player 500", "start", "correct round QS 9H over 2S 3S", "void round",
    "game canberra", "acknowledge link_noise", "collect 1 50", "waive 1 50", *ASKED,
]  # fmt: skip
OF_THE_SHOE = [
    "draw 7C", "unsure 7C", "unread", "overdraw 7C", "overdraw ?", "cut card", "lid open", "lid closed", "push back",
    "fault", "hello", "hello B", "hello log=2", "hello next=1 kept=1", "lose shoe", "records lost 2", "noise",
]  # fmt: skip


def test_the_cases_below_know_every_event_and_every_phase():
    assert {kind_of(command) for command in PERSONAL} == {*get_args(Order), SetWager, ServiceStarted}
    assert {type(COMMANDS[v](Croupier(), w.split())[0]) for v, w in _shoe_commands()} == {
        kind for part in get_args(ShoeEvent) for kind in (get_args(part) or (part,))
    }
    assert set(IN_PHASE) == set(TRANSITIONS) == set(Phase)


def _shoe_commands() -> list[tuple[str, str]]:
    found = []
    for command in OF_THE_SHOE:
        verb = next(verb for verb in COMMANDS if f"{command} ".startswith(f"{verb} "))
        found.append((verb, command.removeprefix(verb)))
    return found


@pytest.mark.parametrize(
    ("phase", "command"),
    [(phase, command) for phase in Phase for command in PERSONAL if not leads_to(phase, kind_of(command))],
)
def test_what_the_phase_does_not_allow_is_refused_and_changes_nothing(phase, command):
    house, so_far = IN_PHASE[phase]
    croupier = Croupier(**house).do(*so_far, "noise")
    assert croupier.phase is phase

    refused = croupier.refused(command)

    assert refused.code == ("betting_closed" if command.startswith("wager") else "not_now")
    assert str(refused) == f"not now: {WHEN[phase]}"


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("command", OF_THE_SHOE)
def test_what_the_shoe_saw_is_never_refused(phase, command):
    house, so_far = IN_PHASE[phase]
    croupier = Croupier(**house).do(*so_far)

    croupier.do(command)

    assert croupier.phase in leads_to(phase, "shoe")


def test_a_way_that_is_not_listed_is_never_gone(monkeypatch):
    monkeypatch.setitem(TRANSITIONS[Phase.CLOSED], kind_of("change shoe"), frozenset({Phase.BETTING}))
    croupier = Croupier().do("sign on")
    before = croupier.state

    with pytest.raises(
        AssertionError, match="change_shoe led from closed to shoe_change, which the transition table"
    ):
        croupier.do("change shoe")

    assert croupier.state is before
