import pytest

from punto.baccarat.wagers.definition import FACE_UP_ONLY
from tests.baccarat.table.croupier import settings

KEY_THEM = (
    'Dai Bacc is a variation dealt face down, so its cards must be keyed (cards = "keyed"). '
    f'Approval letter: "{FACE_UP_ONLY}"'
)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"game_name": "dai-bacc"}, KEY_THEM),
        ({"table": ""}, "the table's id '' goes into topics: use small letters, digits, - and _ only"),
        (
            {"table": "Table/1"},
            "the table's id 'Table/1' goes into topics: use small letters, digits, - and _ only",
        ),
        ({"seats": 0}, "seats must be from 1 to 99, not 0"),
        ({"seats": 100}, "seats must be from 1 to 99, not 100"),
        ({"minimum_confidence": -1}, "minimum_confidence must be from 0 to 100, not -1"),
        ({"minimum_confidence": 101}, "minimum_confidence must be from 0 to 100, not 101"),
        ({"burn_cards": 0}, "burn_cards must be from 1 to 20, not 0"),
        ({"burn_cards": 21}, "burn_cards must be from 1 to 20, not 21"),
        ({"coups_after_cut_card": -1}, "coups_after_cut_card must be from 0 to 9, not -1"),
        ({"coups_after_cut_card": 10}, "coups_after_cut_card must be from 0 to 9, not 10"),
    ],
)
def test_settings_that_cannot_be_played_say_what_to_do(changes, message):
    with pytest.raises(ValueError) as error:
        settings(**changes)

    assert str(error.value) == message


@pytest.mark.parametrize(
    "changes",
    [
        {"game_name": "dai-bacc", "cards": "keyed"},
        {"game_name": "canberra"},  # a variation, but face up
        {"game_name": "midi-baccarat"},  # the players turn its cards, and it is no variation
        {"seats": 99, "minimum_confidence": 0, "burn_cards": 20, "coups_after_cut_card": 9, "table": "a-1_b"},
    ],
)
def test_what_the_letter_and_the_bounds_allow_is_played(changes):
    assert settings(**changes).currency == "USD"
