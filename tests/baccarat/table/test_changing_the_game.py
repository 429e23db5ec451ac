"""A supervisor chooses another game or other limits; between shoes only, and a restart does not undo it."""

from dataclasses import replace
from typing import Any

import pytest

from punto.baccarat.table.events import ServiceStarted
from punto.baccarat.table.order_kinds import ChangeGame
from punto.baccarat.table.state import Phase
from punto.baccarat.table.turn import RefusedError
from tests.baccarat.table.croupier import PLAYER_NATURAL, Croupier, game, happenings, settings

DRAGON = "dragon-bonus-1"


def at_closed(**house: Any) -> Croupier:
    return Croupier.at_betting(f"draw {PLAYER_NATURAL}", "close table", **house)


def test_the_next_shoe_is_played_by_the_new_game():
    croupier = at_closed().do(f"game {DRAGON}")

    assert croupier.kinds == ["game_changed"]
    assert croupier.state.settings.game == game(DRAGON)
    with pytest.raises(RefusedError, match="the burn is not finished"):
        croupier.do("open")
    croupier.do("change shoe", "open", "wager 1 player 500", "wager 1 dragon_bonus_player 500")
    croupier.do(f"draw {PLAYER_NATURAL}")
    assert len(croupier.rounds[1].settlements) == 2


@pytest.mark.parametrize(
    ("commands", "when"),
    [
        ([], "betting is open"),
        (["draw KS"], "a hand is being dealt"),
        (["change shoe"], "the shoe is being changed"),
    ],
)
def test_it_is_refused_while_a_shoe_is_in_play(commands, when):
    croupier = Croupier.at_betting(*commands)

    with pytest.raises(RefusedError, match=f"not now: {when}"):
        croupier.do(f"game {DRAGON}")


def test_a_game_that_the_letter_forbids_is_refused_with_its_sentence():
    croupier = at_closed()

    with pytest.raises(
        RefusedError, match="The card recognition feature must not be used with any variations"
    ):
        croupier.do("game dai-bacc")
    assert croupier.state.settings.game == game("mini-baccarat")


def test_a_start_with_the_same_configuration_keeps_the_game_that_was_chosen():
    croupier = at_closed().do("start", f"game {DRAGON}", "change shoe", "draw KS")

    croupier.do("start")

    assert croupier.state.settings.game == game(DRAGON)
    assert croupier.phase is Phase.DEALING


def test_a_start_with_another_configuration_takes_that():
    croupier = at_closed().do("start", f"game {DRAGON}")

    croupier.handle(ServiceStarted("0.1.0", settings(game_name="canberra")))

    assert croupier.state.settings.game == game("canberra")
    assert [each.title for each in happenings(croupier.effects) if each.kind == "game_changed"] == [
        game(DRAGON).title,
        game("canberra").title,
    ]


def test_a_start_with_other_policies_keeps_the_game_and_says_nothing_of_it():
    croupier = at_closed()

    croupier.handle(ServiceStarted("0.1.0", settings(approval=("void_coup",))))

    assert croupier.state.settings.approval == ("void_coup",)
    assert "game_changed" not in croupier.kinds


def test_a_start_with_another_configuration_is_refused_in_mid_shoe():
    croupier = at_closed().do("start", f"game {DRAGON}", "change shoe", "draw KS")

    with pytest.raises(RefusedError, match="only between shoes"):
        croupier.handle(ServiceStarted("0.1.0", settings(game_name="canberra")))


def outlawed(croupier: Croupier, reason: str = "player has a maximum of 30000") -> ServiceStarted:
    return ServiceStarted("0.1.0", croupier.state.configured or settings(), reason)


def test_a_start_puts_the_configured_game_in_place_of_a_chosen_one_that_the_law_forbids():
    croupier = at_closed().do("start", f"game {DRAGON}")

    croupier.handle(outlawed(croupier))

    assert croupier.state.settings == croupier.state.configured == settings()
    assert "game_changed" in croupier.kinds
    (alarm,) = croupier.state.alarms
    assert alarm.code == "outside_the_law"
    assert alarm.text.startswith("player has a maximum of 30000. ")


def test_in_mid_shoe_a_start_with_a_chosen_game_that_the_law_forbids_is_refused_with_what_to_do():
    croupier = at_closed().do("start", f"game {DRAGON}", "change shoe", "draw KS")

    with pytest.raises(
        RefusedError, match=r"a maximum of 30000\. .* start without \[jurisdiction\], close the table"
    ):
        croupier.handle(outlawed(croupier))
    croupier.do("start")

    assert croupier.state.settings.game == game(DRAGON)
    assert croupier.state.alarms == ()


def test_the_law_concerns_a_chosen_game_alone_because_the_configured_one_was_checked_before():
    croupier = at_closed().do("start", "change shoe", "draw KS")

    croupier.handle(outlawed(croupier))

    assert croupier.state.settings == settings()
    assert croupier.state.alarms == ()


def test_the_last_round_of_the_game_before_cannot_be_corrected_by_the_new_ones_pays():
    with pytest.raises(RefusedError, match="there is no round"):
        at_closed().do(f"game {DRAGON}", "void round")


def test_limits_change_with_the_game():
    croupier = at_closed()
    player = croupier.state.settings.game.wager("player")
    higher = replace(player, limits=replace(player.limits, minimum=5000))
    wagers = tuple(higher if each is player else each for each in croupier.state.settings.game.wagers)

    croupier.handle(ChangeGame("bob", replace(croupier.state.settings.game, wagers=wagers)))

    with pytest.raises(RefusedError, match=r"below its minimum of 50\.00 USD"):
        croupier.do("change shoe", "open", "wager 1 player 500")
