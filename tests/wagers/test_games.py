"""Every rule of every wager of every game that ships, by coups that decide it, as the sheets print the pays."""

import pytest

from controller.games import load_game, shipped_games
from controller.wagers.settlement import PlacedWager, Settlement, settle
from tests.wagers.coups import NATURAL, NATURAL_OVER_NATURAL, NATURAL_TIES, NOT_NATURAL, OTHER_TIES, coup

GAMES = {name: load_game(name) for name in shipped_games()}
STAKE = 10_00
LOSE, PUSH = ("lose", 0, "lose"), "push"

COMMISSION = (
    "mini-baccarat",
    "midi-baccarat",
    "dragon-bonus-1",
    "dragon-bonus-2",
    "dragon-bonus-3",
    "canberra-high-limit",
)
ANY_TIE = [*NATURAL_TIES.values(), *OTHER_TIES.values()]
PLAYER_WINS = [codes for (side, _), codes in {**NOT_NATURAL, **NATURAL}.items() if side == "player"]
BANKER_WINS = [codes for (side, _), codes in {**NOT_NATURAL, **NATURAL}.items() if side == "banker"]

# Banker wins with a six or a seven; the name says with how many cards.
TWO_CARD_SIX, THREE_CARD_SIX = "TH 6S 2D KC JH", "QD AC 3D 9S QC 6H"
TWO_CARD_SEVEN, THREE_CARD_SEVEN = "KH 5C AS 2H 9C", "3C 2D AS AS JH 4H"
OTHER_BANKER_WIN = "QS AD 4C TS 6C 8D"

# Dai Bacc: Player's three-card six and Banker's three-card seven, alone, against each other, and tied.
OX_WINS = "8H 3H 3H 9C 5H 9D"
OX_MEETS_TIGER = "3C 7D 8C 3C 5H 7S"
SEVEN_LOSES = "5H KC KC 4D 4H 3D"
SIX_LOSES = "9S 4D 5S 3C 2C"
SEVEN_TIES, SEVEN_TIES_TWO_CARDS = "9H KH 3S QH 5D 7C", "QC 6S 7C 8D 3D"
SIX_TIES, SIX_TIES_TWO_CARDS = "2D 3S 3C KD AH 3S", "KS JH AC 6H 5D"
TWO_CARD_SIX_OF_PLAYER = "6D 5C TH QD JS"
TWO_CARD_SEVEN_TIES = "QS 7C 4H TS 3H"

# Sheet 000: what a non-natural win by so many points pays to 1.
DRAGON = {
    1: {9: 30, 8: 10, 7: 6, 6: 4, 5: 2, 4: 1},
    2: {9: 20, 8: 8, 7: 7, 6: 4, 5: 3, 4: 1},
    3: {9: 30, 8: 10, 7: 4, 6: 4, 5: 2, 4: 2},
}
DRAGON_GAMES = {
    "dragon-bonus-1": 1,
    "dragon-bonus-2": 2,
    "dragon-bonus-3": 3,
    "canberra": 1,
    "canberra-high-limit": 1,
}
PAIRS = {
    # codes: whether Player and Banker have a pair in their first two cards
    "KS 2S KD 3S 9D": (True, False),
    "KS 2S QD 3S 9D": (False, False),
    "2S KS 3S KD 9D AC": (False, True),
    "2S KS 3S QD 9D AC": (False, False),
    "7S 2S 7H 2H 2D 3C": (True, True),
    "2D 7S 7H 2H": (False, False),
    "3C QS 5D 4C": (False, False),
    "4S 8S 4S 9S": (True, False),
    "9H 4S KD 4C": (False, True),
}


def pays(odds: float, rule: str) -> tuple[str, int, str]:
    """A win "to 1": the stake back and the odds on it."""
    return "win", round(STAKE + odds * STAKE), rule


def push(rule: str) -> tuple[str, int, str]:
    return PUSH, STAKE, rule


CASES: list[tuple[str, str, str, tuple[str, int, str]]] = []


def decide(game: str, wager: str, codes: list[str], expected: tuple[str, int, str]) -> None:
    CASES.extend((game, wager, each, expected) for each in codes)


for each in (*COMMISSION, "canberra", "dai-bacc"):
    decide(each, "player", PLAYER_WINS, pays(1, "player_wins"))
    decide(each, "player", BANKER_WINS, LOSE)
    decide(each, "player", ANY_TIE, push("tie"))
    decide(each, "banker", PLAYER_WINS, LOSE)
    decide(each, "banker", ANY_TIE, push("tie"))

for each in (*COMMISSION, "canberra"):
    decide(each, "tie", ANY_TIE, pays(8, "tie"))
    decide(each, "tie", PLAYER_WINS + BANKER_WINS, LOSE)

for each in COMMISSION:
    decide(
        each,
        "banker",
        [*BANKER_WINS, TWO_CARD_SIX, THREE_CARD_SIX, THREE_CARD_SEVEN],
        pays(0.95, "banker_wins"),
    )

decide("canberra", "banker", [TWO_CARD_SIX, THREE_CARD_SIX], pays(0.5, "banker_wins_with_six"))
decide("canberra", "banker", [TWO_CARD_SEVEN, THREE_CARD_SEVEN, OTHER_BANKER_WIN], pays(1, "banker_wins"))

decide("dai-bacc", "banker", [THREE_CARD_SEVEN, OX_MEETS_TIGER], push("three_card_seven_barred"))
decide(
    "dai-bacc",
    "banker",
    [TWO_CARD_SEVEN, TWO_CARD_SIX, THREE_CARD_SIX, OTHER_BANKER_WIN],
    pays(1, "banker_wins"),
)
decide("dai-bacc", "tiger_7", [THREE_CARD_SEVEN, OX_MEETS_TIGER], pays(40, "three_card_seven_wins"))
decide(
    "dai-bacc",
    "tiger_7",
    [TWO_CARD_SEVEN, SEVEN_LOSES, SEVEN_TIES, SEVEN_TIES_TWO_CARDS, SIX_LOSES, OX_WINS],
    LOSE,
)
decide("dai-bacc", "ox_6", [OX_WINS], pays(40, "three_card_six_wins"))
decide(
    "dai-bacc",
    "ox_6",
    [TWO_CARD_SIX_OF_PLAYER, SIX_LOSES, SIX_TIES, SIX_TIES_TWO_CARDS, OX_MEETS_TIGER],
    LOSE,
)
decide(
    "dai-bacc", "kill", [SEVEN_LOSES, SEVEN_TIES, SEVEN_TIES_TWO_CARDS], pays(30, "three_card_seven_killed")
)
decide(
    "dai-bacc",
    "kill",
    [SIX_LOSES, SIX_TIES, SIX_TIES_TWO_CARDS, OX_MEETS_TIGER],
    pays(30, "three_card_six_killed"),
)
decide(
    "dai-bacc",
    "kill",
    [
        OX_WINS,
        THREE_CARD_SEVEN,
        TWO_CARD_SEVEN,
        TWO_CARD_SEVEN_TIES,
        TWO_CARD_SIX_OF_PLAYER,
        OTHER_TIES[6],
        OTHER_TIES[7],
    ],
    LOSE,
)

for each, table in DRAGON_GAMES.items():
    for side, other in (("player", "banker"), ("banker", "player")):
        dragon = f"dragon_bonus_{side}"
        for margin in range(1, 10):
            odds = DRAGON[table].get(margin)
            expected = LOSE if odds is None else pays(odds, f"wins_by_{margin}")
            decide(each, dragon, [NOT_NATURAL[side, margin]], expected)
            decide(each, dragon, [NATURAL[side, margin]], pays(1, "natural_winner"))
            decide(each, dragon, [NOT_NATURAL[other, margin], NATURAL[other, margin]], LOSE)
        decide(each, dragon, [NATURAL_OVER_NATURAL[side]], pays(1, "natural_winner"))
        decide(each, dragon, [NATURAL_OVER_NATURAL[other]], LOSE)
        decide(each, dragon, [*NATURAL_TIES.values()], push("natural_tie"))
        decide(each, dragon, [*OTHER_TIES.values()], LOSE)

for each in ("canberra", "canberra-high-limit"):
    for codes, pairs in PAIRS.items():
        for side, pair in zip(("player", "banker"), pairs, strict=True):
            decide(each, f"{side}_pair", [codes], pays(11, "pair") if pair else LOSE)


@pytest.mark.parametrize(("game", "wager", "codes", "expected"), CASES)
def test_a_wager_is_settled_as_the_sheet_prints_it(game, wager, codes, expected):
    outcome, returned, rule = expected

    settled = settle(GAMES[game], coup(codes), [PlacedWager(1, wager, STAKE)])

    assert settled == (Settlement(1, wager, outcome, STAKE, returned, returned - STAKE, rule, "0"),)


def test_every_rule_of_every_wager_of_every_game_has_its_case():
    tried = {(game, wager, rule) for game, wager, _, (_, _, rule) in CASES}

    assert tried == {
        (game, wager.name, rule)
        for game in GAMES
        for wager in GAMES[game].wagers
        for rule in (rule.name for rule in wager.rules)
    }


@pytest.mark.parametrize(
    ("game", "sides"),
    [
        ("dragon-bonus-1", {"dragon_bonus_player": ("player",), "dragon_bonus_banker": ("banker",)}),
        ("dragon-bonus-2", {"dragon_bonus_player": ("player",), "dragon_bonus_banker": ("banker",)}),
        ("dragon-bonus-3", {"dragon_bonus_player": ("player",), "dragon_bonus_banker": ("banker",)}),
        ("canberra", {"dragon_bonus_player": (), "dragon_bonus_banker": ()}),
        ("canberra-high-limit", {"dragon_bonus_player": (), "dragon_bonus_banker": ()}),
        ("dai-bacc", {"tiger_7": (), "ox_6": (), "kill": ()}),
    ],
)
def test_which_base_wager_a_side_wager_needs(game, sides):
    found = GAMES[game]

    assert {name: found.bases_for(found.wager(name)) for name in sides} == sides


@pytest.mark.parametrize(
    ("game", "variation", "dealt", "reveal", "maximum_wagers"),
    [
        ("mini-baccarat", False, "face_up", "shoe", None),
        ("midi-baccarat", False, "face_up", "dealer", None),
        ("dragon-bonus-1", False, "face_up", "shoe", None),
        ("dragon-bonus-2", False, "face_up", "shoe", None),
        ("dragon-bonus-3", False, "face_up", "shoe", None),
        ("canberra", True, "face_up", "shoe", None),
        ("canberra-high-limit", False, "face_up", "shoe", None),
        ("dai-bacc", True, "face_down", "dealer", 4),
    ],
)
def test_how_a_game_is_dealt_and_what_the_letter_calls_it(game, variation, dealt, reveal, maximum_wagers):
    found = GAMES[game]

    assert (found.name, found.decks) == (game, 8)
    assert (found.variation, found.dealt, found.reveal, found.maximum_wagers) == (
        variation,
        dealt,
        reveal,
        maximum_wagers,
    )


def test_only_dai_bacc_has_no_tie_wager():
    assert [game for game in GAMES if "tie" not in {w.name for w in GAMES[game].wagers}] == ["dai-bacc"]


def test_a_dragon_bonus_of_table_one_is_from_five_to_a_hundred_dollars():
    limits = GAMES["dragon-bonus-1"].wager("dragon_bonus_banker").limits

    assert (limits.minimum, limits.maximum) == (5_00, 100_00)
