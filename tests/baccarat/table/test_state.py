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
