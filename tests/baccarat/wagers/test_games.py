"""Every rule of every wager of every game that ships, by coups that decide it, as the sheets print the pays."""

import pytest

from punto.baccarat.wagers.definition import Game, Progressive
from punto.baccarat.wagers.settlement import Outcome, PlacedWager, Settlement, check_wagers, settle
from punto.configs.game_files import load_game, shipped_games
from tests.baccarat.wagers.coups import (
    EIGHT_OVER_ZERO,
    NATURAL,
    NATURAL_NINE_OVER_ZERO,
    NATURAL_OVER_NATURAL,
    NATURAL_TIES,
    NEARLY_SUITED_BY_NINE,
    NINE_OVER_ONE,
    NOT_NATURAL,
    OTHER_NINE_OVER_ZERO,
    OTHER_TIES,
    OVER_ZERO,
    SUITED_BY_EIGHT,
    SUITED_BY_NINE,
    TWO_THREE_FOUR_OTHERWISE,
    coup,
)

GAMES = {name: load_game(name) for name in shipped_games()}
STAKE = 10_00
LOSE: tuple[str, int, str] = ("lose", 0, "lose")

PROGRESSIVE = ("progressive-1", "progressive-1-five-dollar", "progressive-2", "progressive-3")
COMMISSION = (
    "mini-baccarat",
    "midi-baccarat",
    "dragon-bonus-1",
    "dragon-bonus-2",
    "dragon-bonus-3",
    "canberra-high-limit",
    *PROGRESSIVE,
    "side-wagers",
    "five-treasures",
)
HALF_ON_SIX = ("canberra", "super-6", "lucky-6")
BAR_SEVEN = ("dai-bacc", "ez-baccarat")
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
    **dict.fromkeys(PROGRESSIVE, 1),
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
PERFECT_PAIRS = {
    # codes: whether Player's and Banker's first two cards are alike in rank and suit
    "KS 2S KS 3S 9D": (True, False),
    "KS 2S KD 2D 9D": (False, False),
    "2S KD 3S KD 9D AC": (False, True),
    "7S 2H 7S 2H 2D 3C": (True, True),
    "KS 2D 7S 2D 2C": (False, True),
    "3S 2D 3D 2D 2C": (False, True),
    "2H KS KH 2S 2H KS": (False, False),
}


def pays(odds: float, rule: str) -> tuple[str, int, str]:
    """A win "to 1": the stake back and the odds on it."""
    return "win", round(STAKE + odds * STAKE), rule


def pays_for(odds: int, rule: str) -> tuple[str, int, str]:
    """A win "for 1": the stake was taken at the start."""
    return "win", odds * STAKE, rule


def award(rule: str, *, stays: bool = False) -> tuple[str, int, str]:
    """A share of the meter, which is not the settlement's to reckon; only a stake that stays on its sensor is."""
    return "award", STAKE if stays else 0, rule


def push(rule: str) -> tuple[str, int, str]:
    return "push", STAKE, rule


CASES: list[tuple[str, str, str, tuple[str, int, str]]] = []


def decide(game: str, wager: str, codes: list[str], expected: tuple[str, int, str]) -> None:
    CASES.extend((game, wager, each, expected) for each in codes)


for each in (*COMMISSION, *HALF_ON_SIX, *BAR_SEVEN):
    decide(each, "player", PLAYER_WINS, pays(1, "player_wins"))
    decide(each, "player", BANKER_WINS, LOSE)
    decide(each, "player", ANY_TIE, push("tie"))
    decide(each, "banker", PLAYER_WINS, LOSE)
    decide(each, "banker", ANY_TIE, push("tie"))

for each in (*COMMISSION, *HALF_ON_SIX, "ez-baccarat"):
    decide(each, "tie", ANY_TIE, pays(8, "tie"))
    decide(each, "tie", PLAYER_WINS + BANKER_WINS, LOSE)

for each in COMMISSION:
    decide(
        each,
        "banker",
        [*BANKER_WINS, TWO_CARD_SIX, THREE_CARD_SIX, THREE_CARD_SEVEN],
        pays(0.95, "banker_wins"),
    )

for each in HALF_ON_SIX:
    decide(each, "banker", [TWO_CARD_SIX, THREE_CARD_SIX], pays(0.5, "banker_wins_with_six"))
    decide(each, "banker", [TWO_CARD_SEVEN, THREE_CARD_SEVEN, OTHER_BANKER_WIN], pays(1, "banker_wins"))

for each in BAR_SEVEN:
    decide(each, "banker", [THREE_CARD_SEVEN, OX_MEETS_TIGER], push("three_card_seven_barred"))
    decide(
        each,
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

for each in ("canberra", "canberra-high-limit", "side-wagers"):
    for codes, pairs in PAIRS.items():
        for side, pair in zip(("player", "banker"), pairs, strict=True):
            decide(each, f"{side}_pair", [codes], pays(11, "pair") if pair else LOSE)

# The Dragon Bonus Progressive, each tier for a win of either side: sheets 000 and 001.
for each, pay in (
    ("progressive-1", pays_for),
    ("progressive-1-five-dollar", pays),
    ("progressive-2", pays_for),
):
    for side in ("player", "banker"):
        stays = pay is pays
        decide(
            each, "progressive", OVER_ZERO[side, "diamonds"], award("two_three_four_diamonds", stays=stays)
        )
        decide(each, "progressive", OVER_ZERO[side, "suited"], award("two_three_four_suited", stays=stays))
        decide(each, "progressive", OVER_ZERO[side, "unsuited"], pay(1000, "two_three_four_unsuited"))

for each, pay in (("progressive-1", pays_for), ("progressive-1-five-dollar", pays)):
    for side in ("player", "banker"):
        decide(each, "progressive", OTHER_NINE_OVER_ZERO[side], pay(10, "nine_over_zero"))
        decide(each, "progressive", NATURAL_NINE_OVER_ZERO[side] + EIGHT_OVER_ZERO[side], LOSE)
        decide(each, "progressive", NINE_OVER_ONE[side], LOSE)
    decide(each, "progressive", TWO_THREE_FOUR_OTHERWISE + ANY_TIE, LOSE)

for side in ("player", "banker"):
    natural_wins = [*NATURAL_NINE_OVER_ZERO[side], NATURAL_OVER_NATURAL[side], NATURAL[side, 8]]
    decide("progressive-2", "progressive", OTHER_NINE_OVER_ZERO[side], pays_for(40, "nine_over_zero"))
    decide("progressive-2", "progressive", EIGHT_OVER_ZERO[side], pays_for(20, "eight_over_zero"))
    decide("progressive-2", "progressive", natural_wins, pays_for(2, "natural_winner"))
    decide("progressive-2", "progressive", [*NINE_OVER_ONE[side], NOT_NATURAL[side, 7]], LOSE)
    decide("progressive-3", "progressive", SUITED_BY_NINE[side, 6], award("six_cards_suited"))
    decide("progressive-3", "progressive", SUITED_BY_NINE[side, 4], pays_for(300, "four_cards_suited"))
    by_nine = NEARLY_SUITED_BY_NINE[side] + NATURAL_NINE_OVER_ZERO[side] + OTHER_NINE_OVER_ZERO[side]
    decide("progressive-3", "progressive", by_nine, pays_for(10, "wins_by_9"))
    decide("progressive-3", "progressive", EIGHT_OVER_ZERO[side] + NINE_OVER_ONE[side], LOSE)
decide("progressive-2", "progressive", TWO_THREE_FOUR_OTHERWISE + ANY_TIE, LOSE)
decide("progressive-3", "progressive", SUITED_BY_EIGHT + ANY_TIE, LOSE)

# The wagers of the games that the sheets do not have, as the sources print them that the files name.
THREE_CARD_EIGHT, TWO_CARD_EIGHT = EIGHT_OVER_ZERO["player"], [NATURAL["player", 8]]
EIGHT_LOSES, EIGHT_TIES = "KS 2D 3S 3D 5D 4D", OTHER_TIES[8]
for game, dragon, panda in (
    ("ez-baccarat", "dragon_7", "panda_8"),
    ("five-treasures", "fortune_7", "golden_8"),
):
    decide(game, dragon, [THREE_CARD_SEVEN, OX_MEETS_TIGER], pays(40, "three_card_seven_wins"))
    decide(game, dragon, [TWO_CARD_SEVEN, SEVEN_LOSES, SEVEN_TIES, THREE_CARD_SIX], LOSE)
    decide(game, panda, THREE_CARD_EIGHT, pays(25, "three_card_eight_wins"))
    decide(game, panda, [*TWO_CARD_EIGHT, EIGHT_LOSES, EIGHT_TIES, *EIGHT_OVER_ZERO["banker"]], LOSE)

SIX_LOSES_OR_TIES = [OTHER_TIES[6], "9H KH 8S 6D", "KD 2H 6S 4H"]
decide("super-6", "super_6", [TWO_CARD_SIX, THREE_CARD_SIX], pays(12, "banker_wins_with_six"))
decide("super-6", "super_6", [*SIX_LOSES_OR_TIES, TWO_CARD_SIX_OF_PLAYER, OTHER_BANKER_WIN], LOSE)
decide("lucky-6", "lucky_6", [TWO_CARD_SIX], pays(12, "two_card_six_wins"))
decide("lucky-6", "lucky_6", [THREE_CARD_SIX], pays(23, "three_card_six_wins"))
decide("lucky-6", "lucky_6", [*SIX_LOSES_OR_TIES, TWO_CARD_SIX_OF_PLAYER, OTHER_BANKER_WIN], LOSE)

for codes, (of_player, of_banker) in PAIRS.items():
    either = "player_pair" if of_player else "banker_pair"
    decide("side-wagers", "either_pair", [codes], pays(5, either) if of_player or of_banker else LOSE)
for codes, (of_player, of_banker) in PERFECT_PAIRS.items():
    if of_player and of_banker:
        expected = pays(250, "two_perfect_pairs")
    elif of_player or of_banker:
        expected = pays(25, "player_perfect_pair" if of_player else "banker_perfect_pair")
    else:
        expected = LOSE
    decide("side-wagers", "perfect_pair", [codes], expected)
FOUR_CARDS = [*NATURAL.values(), *NATURAL_TIES.values(), OTHER_TIES[6], OTHER_TIES[7]]
FIVE_OR_SIX_CARDS = [*OTHER_NINE_OVER_ZERO["player"], TWO_CARD_SIX, OTHER_TIES[0], OTHER_TIES[4]]
decide("side-wagers", "big", FIVE_OR_SIX_CARDS, pays(0.54, "five_or_six_cards"))
decide("side-wagers", "big", FOUR_CARDS, LOSE)
decide("side-wagers", "small", FOUR_CARDS, pays(1.5, "four_cards"))
decide("side-wagers", "small", FIVE_OR_SIX_CARDS, LOSE)
THREE_CARD_WINS = {
    "player": [*EIGHT_OVER_ZERO["player"], OX_WINS],
    "banker": [*EIGHT_OVER_ZERO["banker"], THREE_CARD_SIX],
}
for side, other, odds in (("player", "banker", 4), ("banker", "player", 5)):
    wager = f"{side}_three_card_win"
    decide("side-wagers", wager, THREE_CARD_WINS[side], pays(odds, "three_cards_win"))
    decide("side-wagers", wager, [*THREE_CARD_WINS[other], NATURAL[side, 4], OTHER_TIES[0]], LOSE)

NINES_TIE, TWO_CARD_NINE_TIES = OTHER_TIES[9], NATURAL_TIES[9]
NINE_OF_PLAYER, NINE_OF_BANKER = OTHER_NINE_OVER_ZERO["player"], OTHER_NINE_OVER_ZERO["banker"]
SEVENS_OF_THREE, SEVENS_OF_TWO = "2D 3D KD KD 5C 4C", OTHER_TIES[7]
NO_TREASURE = [THREE_CARD_SIX, SIX_LOSES, SEVEN_TIES_TWO_CARDS, TWO_CARD_NINE_TIES, EIGHT_TIES]
decide("five-treasures", "heavenly_9", [NINES_TIE], pays(75, "two_three_card_nines"))
decide("five-treasures", "heavenly_9", NINE_OF_PLAYER, pays(10, "player_three_card_nine"))
decide("five-treasures", "heavenly_9", NINE_OF_BANKER, pays(10, "banker_three_card_nine"))
decide("five-treasures", "heavenly_9", [*NO_TREASURE, SEVENS_OF_THREE], LOSE)
decide("five-treasures", "blazing_7s", [SEVENS_OF_THREE], pays(200, "three_card_sevens_tie"))
decide("five-treasures", "blazing_7s", [SEVENS_OF_TWO], pays(50, "two_card_sevens_tie"))
decide("five-treasures", "blazing_7s", [*NO_TREASURE, NINES_TIE, THREE_CARD_SEVEN], LOSE)
decide("five-treasures", "cover_all", [THREE_CARD_SEVEN], pays(6, "fortune_7"))
decide("five-treasures", "cover_all", THREE_CARD_EIGHT, pays(6, "golden_8"))
decide("five-treasures", "cover_all", [*NINE_OF_PLAYER, NINES_TIE], pays(6, "heavenly_9_of_player"))
decide("five-treasures", "cover_all", NINE_OF_BANKER, pays(6, "heavenly_9_of_banker"))
decide("five-treasures", "cover_all", [SEVENS_OF_THREE], pays(6, "blazing_7s_of_three"))
decide("five-treasures", "cover_all", [SEVENS_OF_TWO], pays(6, "blazing_7s_of_two"))
decide("five-treasures", "cover_all", NO_TREASURE, LOSE)


@pytest.mark.parametrize(("game", "wager"), dict.fromkeys(case[:2] for case in CASES))
def test_a_wager_is_settled_as_the_sheet_prints_it(game, wager):
    # Beside both base wagers: whatever hand wins, the seat's own does.
    placed = [PlacedWager(1, name, STAKE) for name in ("player", "banker") if name != wager]
    for of_game, of_wager, codes, (outcome, returned, rule) in CASES:
        if (of_game, of_wager) == (game, wager):
            settled = settle(GAMES[game], coup(codes), [*placed, PlacedWager(1, wager, STAKE)])
            expected = Settlement(1, wager, Outcome(outcome), STAKE, returned, returned - STAKE, rule, "0")
            assert settled[-1] == expected, codes


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
        *((each, {"progressive": ("player", "banker")}) for each in PROGRESSIVE),
        *((each, {"dragon_bonus_player": ("player",)}) for each in PROGRESSIVE),
        *(("ez-baccarat", {each: ("player", "banker")}) for each in ("tie", "dragon_7", "panda_8")),
        ("super-6", {"super_6": ()}),
        ("lucky-6", {"lucky_6": ()}),
        ("side-wagers", {"either_pair": (), "player_pair": (), "big": ()}),
        ("five-treasures", {"fortune_7": (), "cover_all": ()}),
    ],
)
def test_which_base_wager_a_side_wager_needs(game, sides):
    found = GAMES[game]

    assert {name: found.bases_for(found.wager(name)) for name in sides} == sides


@pytest.mark.parametrize("game", ["canberra", "canberra-high-limit"])
@pytest.mark.parametrize("beside", ["", "player", "banker", "tie"])
def test_canberras_dragon_bonus_is_made_regardless_of_other_wagers_and_on_both_hands_at_once(game, beside):
    bases = [PlacedWager(1, beside, STAKE)] if beside else []

    check_wagers(
        GAMES[game],
        [*bases, *(PlacedWager(1, f"dragon_bonus_{side}", STAKE) for side in ("player", "banker"))],
    )


@pytest.mark.parametrize(
    ("game", "variation", "dealt", "reveal", "maximum_wagers"),
    [
        ("mini-baccarat", False, "face_up", "shoe", None),
        ("midi-baccarat", False, "face_down", "player", None),
        ("dragon-bonus-1", False, "face_up", "shoe", None),
        ("dragon-bonus-2", False, "face_up", "shoe", None),
        ("dragon-bonus-3", False, "face_up", "shoe", None),
        ("canberra", True, "face_up", "shoe", None),
        ("canberra-high-limit", False, "face_up", "shoe", None),
        ("dai-bacc", True, "face_down", "dealer", 4),
        *((each, False, "face_up", "shoe", None) for each in PROGRESSIVE),
        ("ez-baccarat", True, "face_up", "shoe", None),
        ("super-6", True, "face_up", "shoe", None),
        ("lucky-6", True, "face_up", "shoe", None),
        ("side-wagers", False, "face_up", "shoe", None),
        ("five-treasures", True, "face_up", "shoe", None),
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


@pytest.mark.parametrize(
    ("game", "amount", "seed", "rate", "shares"),
    [
        ("progressive-1", 1_00, 10_000_00, "20%", [100, 10]),
        ("progressive-1-five-dollar", 5_00, 50_000_00, "20%", [100, 10]),
        ("progressive-2", 1_00, 10_000_00, "20%", [100, 25]),
        ("progressive-3", 1_00, 5_000_00, "26%", [100]),
    ],
)
def test_a_progressive_wager_is_of_one_amount_and_pays_shares_of_its_meter(game, amount, seed, rate, shares):
    wager = GAMES[game].wager("progressive")

    assert (wager.limits.minimum, wager.limits.maximum, wager.limits.step) == (amount,) * 3
    assert wager.progressive == Progressive(seed=seed, contribution=rate)
    assert [rule.pay.meter * 100 for rule in wager.rules if rule.pay.meter] == shares


@pytest.mark.parametrize("game", PROGRESSIVE)
def test_the_tiers_of_a_progressive_wager_stand_highest_first(game):
    pays = [rule.pay for rule in GAMES[game].wager("progressive").rules]

    assert pays == sorted(pays, key=lambda pay: (pay.meter, pay.odds), reverse=True)


@pytest.mark.parametrize("game", PROGRESSIVE)
@pytest.mark.parametrize(("side", "other"), [("player", "banker"), ("banker", "player")])
def test_a_progressive_wager_wins_only_with_the_seats_own_hand(game, side, other):
    top = OVER_ZERO[side, "diamonds"][0] if game != "progressive-3" else SUITED_BY_NINE[side, 6][0]
    outcomes = {}
    for base in (side, other, "tie"):
        placed = [PlacedWager(1, base, STAKE), PlacedWager(1, "progressive", STAKE)]
        outcomes[base] = settle(GAMES[game], coup(top), placed)[1].outcome

    assert outcomes == {side: "award", other: "lose", "tie": "lose"}


def test_a_game_names_the_sheet_that_prints_the_commission_or_the_limits_of_dragon_bonus():
    def prints(game: Game) -> bool:
        commission = any("less 5%" in rule.pays for wager in game.wagers for rule in wager.rules)
        return commission or any(
            wager.name.startswith("dragon") and wager.limits.maximum for wager in game.wagers
        )

    printed = {name for name in shipped_games() if prints(GAMES[name])}
    named = {name for name in printed if "004" in GAMES[name].sheet}

    assert printed - named == {"canberra-high-limit"}  # sheet 002 prints a commission too
    assert named
