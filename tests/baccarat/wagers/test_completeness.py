"""A wager's rules decide every coup, and each of them can decide one."""

import random

import pytest

from punto.baccarat.cards import STANDARD_DECK
from punto.baccarat.coup import Coup, Side, Winner
from punto.baccarat.wagers.completeness import Fault, coups_by_points, faults
from punto.baccarat.wagers.condition import BY_POINTS, Condition
from punto.baccarat.wagers.definition import Rule, Wager

LOSE = Rule(name="lose", pays="lose")


def wager(*conditions: Condition, last: bool = True) -> Wager:
    rules = [Rule(name=f"rule_{n}", pays="2 to 1", when=each) for n, each in enumerate(conditions, 1)]
    return Wager(name="wager", title="Wager", rules=(*rules, LOSE) if last else tuple(rules))


ALL_WINNERS = tuple(Winner)
PLAYER, BANKER, TIE = ((each,) for each in Winner)


@pytest.mark.parametrize(
    "rules",
    [
        wager(),
        wager(Condition(winner=PLAYER)),
        wager(Condition(winner=PLAYER), Condition(winner=BANKER), Condition(winner=TIE), last=False),
        wager(Condition(natural=True), Condition(natural=False), last=False),
        wager(Condition(coup_cards=(4, 5)), Condition(coup_cards=(6,)), last=False),
        wager(Condition(player_cards=(2,), banker_cards=(2,)), Condition(coup_cards=(5, 6)), last=False),
        wager(Condition(margin=(0,)), Condition(winner=(Winner.PLAYER, Winner.BANKER)), last=False),
        # whether a rule on ranks or suits ever holds is for the odds to count
        wager(Condition(winner=TIE, winning_suit=("S",))),
        wager(Condition(winning_ranks=("5-5",))),
        wager(Condition(player_pair=True), Condition(player_pair=False)),
        wager(Condition(player_perfect_pair=True, player_pair=False)),
    ],
)
def test_rules_that_decide_every_coup_and_each_some_have_no_fault(rules):
    assert faults(rules) == []


@pytest.mark.parametrize(
    "impossible",
    [
        Condition(winner=TIE, margin=(3,)),
        Condition(winner=(Winner.PLAYER, Winner.BANKER), margin=(0,)),
        Condition(winner=PLAYER, player_total=(0,)),
        Condition(winner=BANKER, banker_total=(5,), player_total=(6, 7)),
        Condition(natural=True, player_cards=(3,)),
        Condition(natural=True, coup_cards=(5, 6)),
        Condition(natural=False, player_cards=(2,), player_total=(8, 9)),
        Condition(natural=False, banker_cards=(2,), banker_total=(1, 2)),
        Condition(player_cards=(2,), player_total=(5,), banker_cards=(3,)),
        Condition(coup_cards=(4,), banker_total=(0,), player_total=(7,)),
        Condition(coup_cards=(6,), banker_cards=(2,)),
        Condition(margin=(9,), player_total=(1, 8)),
        Condition(margin=(9,), coup_cards=(5,)),
        # so it is with a rule on ranks or suits beside it
        Condition(winner=TIE, margin=(3,), player_pair=True),
    ],
)
def test_an_impossible_condition_is_reported(impossible):
    (fault,) = faults(wager(Condition(winner=PLAYER, margin=(1,)), impossible))

    assert fault.rule == 1
    assert fault.message.startswith("no coup can meet rule_2, because no coup has ")


def test_an_impossible_condition_is_reported_without_what_is_not_to_blame():
    asked = Condition(winner=TIE, margin=(3, 4), player_cards=(2,), player_pair=True)

    assert faults(wager(Condition(winner=PLAYER, margin=(1,)), asked)) == [
        Fault(1, 'no coup can meet rule_2, because no coup has winner = ["tie"] and margin = [3, 4]')
    ]


@pytest.mark.parametrize(
    ("before", "after", "by"),
    [
        ([Condition()], Condition(natural=True), "rule_1"),
        ([Condition(winner=PLAYER)], Condition(winner=PLAYER), "rule_1"),
        ([Condition(winner=ALL_WINNERS)], Condition(winner=TIE), "rule_1"),
        ([Condition(margin=(8, 9))], Condition(margin=(9,), natural=False), "rule_1"),
        ([Condition(natural=True), Condition(natural=False)], Condition(winner=PLAYER), "rule_1, rule_2"),
        (
            [Condition(player_total=(9,)), Condition(banker_total=(9,))],
            Condition(margin=(9,)),
            "rule_1, rule_2",
        ),
        ([Condition(margin=(9,))], Condition(winning_ranks=("2-3-4",), margin=(9,)), "rule_1"),
        ([Condition(winner=TIE)], Condition(winner=TIE, coup_suit=("S",)), "rule_1"),
        # the rules before it that decide none of its coups, or may not, are not named
        ([Condition(winner=PLAYER), Condition(winner=TIE)], Condition(winner=TIE, margin=(0,)), "rule_2"),
        ([Condition(winner=TIE), Condition(natural=True)], Condition(winner=TIE, natural=True), "rule_1"),
        ([Condition(player_pair=True), Condition(winner=TIE)], Condition(winner=TIE), "rule_2"),
    ],
)
def test_a_rule_that_earlier_rules_leave_nothing_is_reported_with_those(before, after, by):
    place = len(before)

    assert Fault(
        place,
        (
            f"rule_{place + 1} can never decide, because earlier rules ({by}) decide every coup that meets it: "
            f"move rule_{place + 1} above them, or leave rule_{place + 1} out"
        ),
    ) in faults(wager(*before, after))


def test_a_last_rule_that_is_left_nothing_is_not_to_be_moved():
    assert faults(wager(Condition(winner=PLAYER), Condition())) == [
        Fault(
            2,
            (
                "lose can never decide, because earlier rules (rule_1, rule_2) decide every coup that meets it: "
                "narrow these earlier rules, or leave lose out"
            ),
        )
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Condition(winning_ranks=("2-3-4",), margin=(9,)), Condition(margin=(9,))),
        (Condition(player_pair=True), Condition(player_pair=True, natural=True)),
        (Condition(coup_suit=("S", "H", "D", "C")), Condition(winner=TIE)),
        (Condition(margin=(9,), natural=False), Condition(margin=(9,))),
    ],
)
def test_a_rule_that_may_not_hold_leaves_all_to_those_after_it(before, after):
    assert faults(wager(before, after)) == []


@pytest.mark.parametrize(
    "rules",
    [
        [Condition(winner=PLAYER)],
        [Condition(winner=(Winner.PLAYER, Winner.TIE))],
        [Condition(player_pair=True), Condition(player_pair=False)],
        [Condition(coup_cards=(4, 5))],
        [Condition(margin=tuple(range(9)))],
    ],
)
def test_a_coup_that_no_rule_decides_is_shown_with_what_to_do(rules):
    (fault,) = faults(wager(*rules, last=False))

    assert fault.rule is None
    assert fault.message.startswith("no rule decides a coup such as Player ")
    assert fault.message.endswith(
        '. End the rules with a rule that has no `when`: [[wagers.rules]], then name = "lose" and pays = "lose" on lines of '
        "their own"
    )


def test_the_coup_shown_is_one_that_no_rule_decides():
    rules = wager(Condition(winner=(Winner.PLAYER, Winner.TIE)), Condition(natural=True), last=False)

    (fault,) = faults(rules)

    shown = fault.message.removeprefix("no rule decides a coup such as Player ").partition(". End")[0]
    player, _, banker = shown.partition(", Banker ")
    found = next(
        each
        for each in coups_by_points()
        if (" ".join(each.player), " ".join(each.banker)) == (player, banker)
    )
    assert rules.deciding_rule(found) is None
    assert found.winner is Winner.BANKER


def test_every_fault_of_a_wager_is_reported_in_the_order_of_its_rules():
    rules = wager(
        Condition(winner=TIE, margin=(1,)), Condition(winner=TIE), Condition(winner=TIE), last=False
    )

    assert [fault.rule for fault in faults(rules)] == [0, 2, None]


def by_points(coup: Coup) -> tuple[object, ...]:
    return tuple(getattr(coup, name) for name in sorted(BY_POINTS))


def test_whatever_is_dealt_is_one_of_the_coups_looked_at():
    looked_at = {by_points(each) for each in coups_by_points()}
    cards = random.Random(8)
    dealt = set()
    for _ in range(20_000):
        coup = Coup()
        while coup.next_side is not None:
            coup = coup.with_card(cards.choice(STANDARD_DECK))
        dealt.add(by_points(coup))

    assert dealt <= looked_at
    assert len(looked_at) == len(coups_by_points())


def test_the_coups_looked_at_are_over_and_in_no_way_remarkable():
    for coup in coups_by_points():
        assert coup.over
        assert coup.coup_suit is None
        assert {coup.side_of(0), coup.side_of(1)} == set(Side)
