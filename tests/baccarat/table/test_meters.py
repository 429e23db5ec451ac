"""The meters of a table's life: each hand once, as it was settled last, by what its cards were worth."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from punto.baccarat.coup import Coup, Winner
from punto.baccarat.table.events import DayBegan, ServiceStarted
from punto.baccarat.table.meters import Meters, deciding, every, of_game, with_hands
from punto.baccarat.wagers.definition import Game, HouseRule
from tests.baccarat.table.croupier import LONG, PLAYER_NATURAL, TIE, Croupier, cards, game


def meters(croupier: Croupier) -> Meters:
    return of_game(croupier.state.history.meters, croupier.state.settings.game)


def todays(croupier: Croupier) -> Meters:
    return croupier.state.history.todays(croupier.state.settings.game)


def hits(croupier: Croupier, wager: str | None = None) -> dict[str, int]:
    return {each.rule: each.hits for each in meters(croupier).hits if each.wager == wager and each.hits}


def test_hands_and_their_results_are_counted():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", f"draw {LONG}", f"draw {TIE}")

    assert meters(croupier).hands == 3
    assert hits(croupier) == {"player": 2, "tie": 1, "natural": 1}


def test_each_rule_is_counted_whether_or_not_somebody_made_its_wager():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", f"draw {TIE}", game_name="dragon-bonus-1")

    for wager in croupier.state.settings.game.wagers:
        expected = Counter(
            rule.name
            for codes in (PLAYER_NATURAL, TIE)
            if (rule := wager.deciding_rule(Coup(cards(codes)))) is not None
        )
        assert hits(croupier, wager.name) == expected


def test_what_was_staked_and_returned_is_summed_up_by_wager():
    croupier = Croupier.at_betting("wager 1 player 500", "wager 2 player 700", f"draw {PLAYER_NATURAL}")
    croupier.do("wager 1 banker 1000", f"draw {LONG}")

    assert {each.wager: (each.wagers, each.staked, each.returned) for each in meters(croupier).handle} == {
        "player": (2, 1200, 2400),
        "banker": (1, 1000, 0),
    }


def test_one_coup_decides_all_wagers_of_a_kind_so_their_stakes_are_squared_together():
    croupier = Croupier.at_betting("wager 1 player 500", "wager 2 player 700", f"draw {PLAYER_NATURAL}")
    croupier.do("wager 1 player 1000", f"draw {LONG}")

    assert [each.squares for each in meters(croupier).handle] == [1200**2 + 1000**2]


@pytest.mark.parametrize("not_a_hand", [["draw KS 2S", "void"], ["overdraw KS", "resume", "draw 2S 9H 3S"]])
def test_a_void_and_a_dummy_hand_do_not_count(not_a_hand):
    croupier = Croupier.at_betting(*not_a_hand, overdraw="dummy")

    assert meters(croupier).hands == 0


def test_a_corrected_hand_counts_as_it_was_settled_last():
    right = Croupier.at_betting("wager 1 player 500", "draw KS 2S 9D 3S")
    wrong = Croupier.at_betting(
        "wager 1 player 500", f"draw {PLAYER_NATURAL}", "correct round KS 9D over 2S 3S"
    )

    assert set(meters(wrong).hits) == set(meters(right).hits)
    assert meters(wrong).handle == meters(right).handle
    assert meters(wrong).hands == 1


def test_a_hand_that_is_taken_back_does_not_count():
    croupier = Croupier.at_betting("wager 1 player 500", f"draw {PLAYER_NATURAL}", "void round")

    assert (meters(croupier).hands, hits(croupier)) == (0, {})
    assert meters(croupier).handle == ()


def test_the_day_has_the_hands_since_it_began_and_corrections_go_to_the_day_of_their_hand():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}")
    croupier.handle(ServiceStarted("0.1.0", croupier.state.settings, day="2026-11-21T06:00:00.000000+00:00"))
    croupier.handle(DayBegan("2026-11-22T06:00:00.000000+00:00"))
    croupier.do("hello", "sign on", "void round")
    assert (meters(croupier).hands, todays(croupier).hands) == (0, 0)

    croupier.do("change shoe", "open", f"draw {LONG}", f"draw {TIE}", "void round")
    croupier.handle(DayBegan("2026-11-22T06:00:00.000000+00:00"))  # a start on the same day
    assert (meters(croupier).hands, todays(croupier).hands) == (1, 1)


YESTERDAY, TODAY, TOMORROW = (f"2026-11-{day}T06:00:00.000000+00:00" for day in (21, 22, 23))


def test_a_day_that_comes_again_after_the_clock_was_set_back_goes_on():
    """A time server sets the clock back by some seconds, and the day has begun already."""
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}")
    croupier.handle(DayBegan(YESTERDAY))
    counted = []
    for day, hands in ((TODAY, [LONG, TIE]), (YESTERDAY, [PLAYER_NATURAL]), (TODAY, [TIE]), (TOMORROW, [])):
        croupier.handle(DayBegan(day))
        croupier.do("change shoe", "open", *(f"draw {hand}" for hand in hands))
        counted.append(todays(croupier).hands)

    assert counted == [2, 1, 3, 0]
    assert meters(croupier).hands == 5


def test_a_day_after_a_clock_that_was_set_back_is_counted_from_its_own_beginning():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}")
    for day in (TODAY, YESTERDAY, TOMORROW, TODAY):
        croupier.handle(DayBegan(day))
        croupier.do("change shoe", "open", f"draw {PLAYER_NATURAL}")

    assert todays(croupier).hands == 1


def test_each_game_has_its_own():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", "change shoe", "close table", "game canberra")
    croupier.do("change shoe", "open", f"draw {LONG}")

    assert [(each.game, each.hands) for each in croupier.state.history.meters] == [
        ("mini-baccarat", 1),
        ("canberra", 1),
    ]


def with_house_rule(of: Game, wager: str, rule: HouseRule, value: Any) -> Game:
    """The game as a house plays it that has chosen this value of a rule."""
    return replace(of, wagers=tuple(w.with_rule(rule, value) if w.name == wager else w for w in of.wagers))


@pytest.mark.parametrize(
    ("wager", "rule", "value"),
    [("dragon_bonus_player", "requires_base", "any"), ("progressive", "natural_nine", True)],
)
def test_a_house_that_changes_a_rule_of_its_game_begins_other_meters_and_keeps_the_earlier_ones(
    wager, rule, value
):
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", "close table", game_name="progressive-1")
    before = croupier.state.settings
    after = replace(before, game=with_house_rule(before.game, wager, rule, value))
    croupier.handle(ServiceStarted("0.2.0", after))
    croupier.do("hello", "sign on", "change shoe", "open", f"draw {LONG}", f"draw {LONG}")

    assert [each.hands for each in croupier.state.history.meters] == [1, 2]
    assert of_game(croupier.state.history.meters, before.game).hands == 1
    assert of_game(croupier.state.history.meters, after.game).hands == 2


def test_other_limits_and_other_titles_are_the_same_rules():
    before = game("dragon-bonus-1")
    wagers = tuple(
        replace(each, short=each.name[-12:], limits=replace(each.limits, minimum=7), house=())
        for each in before.wagers
    )

    assert replace(before, title="Other", wagers=wagers).rules_digest == before.rules_digest


def test_a_game_that_comes_back_after_many_others_goes_on_where_it_was():
    kept: tuple[Meters, ...] = ()
    for number in (*range(30), 0):
        kept = with_hands(kept, Meters(game=f"game-{number}", rules="", hands=1))

    assert [each.hands for each in kept if each.game == "game-0"] == [2]
    assert len(kept) == 30


def test_all_that_can_be_counted_is_named_once_and_in_order():
    names = every(game("dragon-bonus-1"))

    assert names[:4] == [(None, "player"), (None, "banker"), (None, "tie"), (None, "natural")]
    assert len(set(names)) == len(names)


def test_a_wager_that_no_rule_decided_has_no_hit():
    played = game("dragon-bonus-1")
    bonus = next(wager for wager in played.wagers if not wager.base)
    wins_alone = replace(bonus, rules=bonus.rules[:1])

    others = (*(wager for wager in played.wagers if wager.base), wins_alone)
    hit = [wager for wager, _ in deciding(replace(played, wagers=others), Coup(cards(TIE)))]
    assert bonus.name not in hit
    assert None in hit


def test_a_correction_gives_the_round_as_it_was_settled_last():
    croupier = Croupier.at_betting("wager 1 player 500", "wager 2 tie 100", f"draw {PLAYER_NATURAL}")
    played = croupier.state.history.last
    assert played is not None
    own, other = played.settlements
    taken_back = replace(own, stake=0, returned=-1000, net=-1000, rule="tie")
    entry = replace(
        played, round=2, status="correction", corrects=1, winner=Winner.TIE, settlements=(taken_back,)
    )

    settled = played.corrected_by(entry)

    assert (settled.round, settled.status, settled.winner) == (1, "played", Winner.TIE)
    assert settled.settlements == (replace(own, returned=0, net=-500, rule="tie"), other)
