"""From one shoe of cards to the next, and from one day's settings to the next."""

from dataclasses import replace

import pytest

from punto.baccarat.table.events import ServiceStarted
from punto.baccarat.table.state import Phase
from punto.baccarat.table.turn import RefusedError
from tests.baccarat.table.croupier import PLAYER_NATURAL, Croupier, cards, settings

MIDI = {"game_name": "midi-baccarat"}


@pytest.mark.parametrize(
    ("house", "commands"),
    [
        ({}, [f"draw {PLAYER_NATURAL}"]),
        ({}, ["cut card"]),
        ({}, ["overdraw 7C"]),  # its card is of the old shoe, and play stays stopped
        ({}, ["lid open", "draw 7C", "unread", "cut card"]),
        ({"overdraw": "next_coup"}, ["overdraw 7C", "resume"]),
        ({"next_coup": "order"}, [f"draw {PLAYER_NATURAL}", "draw 7C", "overdraw ?"]),
    ],
)
def test_nothing_of_the_old_shoe_counts_in_the_new(house, commands):
    croupier = Croupier.at_betting(*commands, **house)
    stops = croupier.stops
    croupier.do("change shoe")

    state = croupier.state
    assert (state.shoe.number, state.shoe.coups, state.shoe.rounds) == (2, 0, ())
    assert (state.shoe.drawn, state.shoe.unknown, state.shoe.carried, state.waiting.backlog) == (
        (),
        0,
        (),
        (),
    )
    assert (state.waiting.card, state.shoe.last_coup) == (None, None)
    assert croupier.stops == stops
    if stops:
        croupier.do("resume")
    assert (croupier.phase, croupier.state.shoe.drawn) == (Phase.SHOE_CHANGE, ())


def test_what_left_the_old_shoe_and_went_to_no_hand_is_known_to_surveillance():
    croupier = Croupier.at_betting("overdraw 7C", "draw 8C", "change shoe", overdraw="next_coup")
    assert croupier.held == [("8C", "outside_play"), ("7C", "overdrawn")]

    croupier = Croupier.at_betting("overdraw 7C", "resume", "change shoe", overdraw="next_coup")
    assert croupier.held == [("7C", "overdrawn")]


def test_a_shoe_can_be_changed_before_its_end_and_rounds_count_on():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", "change shoe", "open", f"draw {PLAYER_NATURAL}")

    assert [(each.round, each.shoe, each.coup) for each in croupier.rounds] == [(1, 1, 1), (2, 2, 1)]


@pytest.mark.parametrize("burn", ["first_card", "none"])
def test_a_shoe_change_can_begin_again(burn):
    croupier = Croupier(burn=burn).do("hello", "sign on", "change shoe")
    croupier.do(*(["draw 2S", "unread"] if burn == "first_card" else []), "change shoe")

    assert (croupier.phase, croupier.state.shoe.number) == (Phase.SHOE_CHANGE, 2)
    assert (croupier.state.shoe.drawn, croupier.state.shoe.unknown) == ((), 0)


def test_there_is_no_betting_before_the_first_shoe():
    with pytest.raises(
        RefusedError, match="no shoe has been loaded yet: order a shoe change first"
    ) as refused:
        Croupier().do("sign on", "open")

    assert refused.value.code == "no_shoe"


# --- closing


def test_a_closed_table_goes_on_with_its_shoe():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", "close table", "sign off", "sign on", "open")
    croupier.do(f"draw {PLAYER_NATURAL}")

    assert [(each.shoe, each.coup) for each in croupier.rounds] == [(1, 1), (1, 2)]
    assert croupier.state.operator == "ann"


def test_a_table_closed_in_mid_burn_waits_for_nothing_and_needs_a_new_shoe():
    croupier = Croupier(burn="first_card").do(
        "hello", "sign on", "change shoe", "unread", "draw 7C", "close table"
    )

    assert (croupier.state.waiting.card, croupier.state.waiting.backlog, croupier.state.shoe.unknown) == (
        None,
        (),
        1,
    )
    assert croupier.held == [("7C", "outside_play")]
    with pytest.raises(RefusedError, match="the burn is not finished"):
        croupier.do("open")


def test_a_table_that_is_stopped_stays_so_when_it_is_closed():
    croupier = Croupier.at_betting("overdraw KS", "draw 2S", "close table", overdraw="next_coup")
    assert (croupier.stops, croupier.held) == (["overdraw"], [("2S", "outside_play")])
    with pytest.raises(RefusedError, match="play is stopped"):
        croupier.do("open")

    croupier.do("resume", "open")

    assert croupier.state.shoe.carried == cards("KS")


# --- the service starts


def test_a_start_with_the_same_settings_changes_only_the_link():
    croupier = Croupier.at_betting("wager 1 player 5", "draw KS", "push back")
    before = croupier.state

    croupier.do("start")

    assert croupier.state == replace(before, link=croupier.state.link)


OTHER = settings(decks=6, shoe_serial="B")


@pytest.mark.parametrize(
    "commands", [[], ["sign on"], ["sign on", "change shoe", "open", "draw KS 2S 9H 3S", "close table"]]
)
def test_other_settings_begin_with_a_new_shoe(commands):
    croupier = Croupier().do("hello", *commands)
    croupier.handle(ServiceStarted("0.2.0", OTHER))

    assert croupier.state.settings == OTHER
    assert (croupier.state.shoe.drawn, croupier.state.shoe.burn_left) == ((), None)
    if croupier.phase is Phase.CLOSED and croupier.state.shoe.number:
        with pytest.raises(RefusedError, match="the burn is not finished"):
            croupier.do("open")


def test_a_shoe_that_the_new_settings_do_not_name_must_be_accepted_again():
    croupier = Croupier().do("hello A")
    croupier.handle(ServiceStarted("0.2.0", OTHER))

    croupier.do("hello A")
    assert croupier.stops == ["shoe_not_accepted"]

    croupier.do("hello B decks=6")
    assert croupier.stops == []


def test_other_settings_go_on_in_the_records_of_the_same_shoe():
    croupier = Croupier().do("hello", "sign on", "draw KS QS")
    croupier.handle(ServiceStarted("0.2.0", settings(decks=6)))
    croupier.do("hello kept=1 next=3")

    assert croupier.state.link.expected == 3


@pytest.mark.parametrize(
    ("commands", "other", "code", "message"),
    [
        (
            ["sign on", "change shoe", "open"],
            OTHER,
            "settings_in_play",
            "the game, the limits and the policies can change only between shoes",
        ),
        (
            [],
            settings(table="table-2"),
            "other_table",
            "this is the record of table 'table-1', but the configuration is for table 'table-2'",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused(commands, other, code, message):
    croupier = Croupier().do("hello", *commands)
    before = croupier.state

    with pytest.raises(RefusedError, match=message) as refused:
        croupier.handle(ServiceStarted("0.2.0", other))

    assert refused.value.code == code
    assert croupier.state is before
