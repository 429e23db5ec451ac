from dataclasses import replace

import pytest

from tests.baccarat.table.croupier import Croupier


def test_a_state_with_other_fields_is_the_same_but_for_them():
    state = Croupier.at_betting("draw KS").state

    assert state.replace(operator="mei", happenings=7) == replace(state, operator="mei", happenings=7)
    assert (state.operator, state.happenings) != ("mei", 7)


def test_a_field_that_there_is_not_is_refused():
    with pytest.raises(TypeError, match="TableState has no cards"):
        Croupier().state.replace(cards=())


@pytest.mark.parametrize(
    ("commands", "waiting"),
    [([], False), (["draw KS"], False), (["unread"], True), (["lid open"], True), (["hello B"], True)],
)
def test_a_table_waits_for_a_person_who_must_act(commands, waiting):
    assert Croupier.at_betting(*commands).state.waiting.for_person is waiting


@pytest.mark.parametrize("policy", ["burn", "next_coup", "dummy"])
@pytest.mark.parametrize(
    ("commands", "out"),
    [
        (["draw KS"], 1),
        (["draw KS", "unread"], 2),
        (["draw KS", "unread", "key 4D"], 2),
        (["draw KS 2S", "lid open", "draw 9H", "cut card", "draw 3S"], 4),
        (["overdraw KS"], 1),
        (["overdraw KS", "resume"], 1),
        (["overdraw KS", "resume", "draw 4S"], 2),
    ],
)
def test_each_card_that_has_left_the_shoe_is_counted_once_wherever_it_is(commands, out, policy):
    assert Croupier.at_betting(*commands, overdraw=policy).state.cards_left == 416 - out
