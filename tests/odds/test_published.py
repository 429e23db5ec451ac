"""What regulators' sheets print is what the game files come to, and where it is not, that is said."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from itertools import product
from pathlib import Path

import pytest

from punto.baccarat.coup import Side, Winner
from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.definition import Game, Rule, Wager
from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds
from punto.odds.published import check as published
from punto.odds.published.check import SIMULATED, Figure, Report, check
from punto.odds.published.readings import AS_PRINTED, Chances, Supposed, held_beside, supposed, variants
from tests.share import sampled

SHIPPED = (files("punto.odds.published") / "published-figures.toml").read_text(encoding="utf-8")
GAMES = Path(__file__).parents[2] / "configs" / "games"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "published-figures.md"


@pytest.fixture(scope="module")
def report() -> Report:
    return check()


def held(tmp_path: Path, text: str) -> Report:
    """What a file of this text is held to."""
    (tmp_path / "figures.toml").write_text(text, encoding="utf-8")
    return check(tmp_path / "figures.toml")


def changed(tmp_path: Path, game: str, old: str, new: str) -> str:
    """A copy of a game file with one change; its path beside the file of figures."""
    text = (GAMES / f"{game}.toml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "changed.toml").write_text(text.replace(old, new), encoding="utf-8")
    return "./changed.toml"


# --- what the sheets print

STATISTICS = ("house advantage", "hit frequency", "top award", "average top award")


def test_every_figure_is_as_it_is_marked(report):
    assert report.as_marked
    assert {
        figure.what for figure in report.figures if figure.reproducible is True and figure.result != "agrees"
    } == set()
    assert [figure.result for figure in report.figures if figure.reproducible == "nearly"].count(
        "differs"
    ) == 0


def test_the_top_award_of_table_3_tells_that_the_sheets_print_one_in_n(report):
    (top,) = (each for each in report.figures if each.what == "Progressive #3, $1, either hand: top award")

    assert published.rounded(top.exact, 0) == 171_375
    assert published.rounded(top.exact - 1, 0) == 171_374  # "171,375 to 1" would be this


# --- against the engine itself


@pytest.mark.parametrize("table", [1, 2, 3])
def test_a_house_edge_is_that_of_the_game_file(report, table):
    exact = GameOdds(load_game(f"dragon-bonus-{table}"))

    for decks, side in product((4, 6, 8), Side):
        what = f"Dragon Bonus {table}, {side.value.capitalize()}: house edge"
        edge = exact.odds(Composition.of_decks(decks))[f"dragon_bonus_{side.value}"].edge
        assert {each.exact for each in report.figures if (each.what, each.decks) == (what, decks)} == {
            100 * edge
        }


def either_hand(game: Game) -> Game:
    """The game with a progressive that any winning hand wins."""
    wager = game.wager("progressive")
    others = (each for each in game.wagers if each is not wager)
    return replace(game, wagers=(*others, replace(wager, requires_base_win=False)))


@pytest.mark.parametrize(
    ("title", "game", "position", "top"),
    sampled(
        [
            ("#1, $1, either hand", either_hand(load_game("progressive-1")), "progressive", "two_three_four_diamonds"),
            ("#1, $5, either hand", either_hand(load_game("progressive-1-five-dollar")), "progressive", "two_three_four_diamonds"),
            ("#2, $1, Banker", load_game("progressive-2"), "progressive:banker", "two_three_four_diamonds"),
            ("#2, $1, Player", load_game("progressive-2"), "progressive:player", "two_three_four_diamonds"),
            ("#3, $1, either hand", either_hand(load_game("progressive-3")), "progressive", "six_cards_suited"),
        ],
        one_in=3,
    ),
)  # fmt: skip
def test_a_progressives_statistics_are_those_of_the_game_file(report, title, game, position, top):
    exact = GameOdds(
        replace(game, wagers=tuple(each for each in game.wagers if each.base or each.progressive))
    )
    its = exact.odds(Composition.of_decks(8))[position]
    (chance,) = (rule.probability for rule in its.rules if rule.rule == top)

    figures = {figure.what: figure.exact for figure in report.figures}
    assert [figures[f"Progressive {title}: {what}"] for what in STATISTICS] == [
        100 * its.edge,
        100 * its.hit,
        1 / chance,
        exact.average_top_awards()[position] / 100,
    ]


# --- readings

ONE = load_game("progressive-1")
FIVE = load_game("progressive-1-five-dollar")


def readings(game: Game, hands: int | None = None) -> dict[tuple[tuple[str, ...], int], Supposed]:
    """The readings of a game's pay table, by their words and decks; of the first so many variants, or of all."""
    changes = variants(game.wager("progressive"), None, wide=True)[:hands]
    chances = Chances(each.wager for each in changes)
    tried = [each for change in changes for each in supposed(change, chances, Fraction(569182), wide=True)]
    found = {(each.words, each.decks): each for each in tried}
    assert len(found) == len(tried)  # no reading twice
    return found


@pytest.fixture(scope="module")
def of_one() -> dict[tuple[tuple[str, ...], int], Supposed]:
    return readings(ONE)


def test_the_grid_has_every_combination_once(of_one, report):
    # Three hands, naturals, pays, ties, odds as printed, three shoes.
    assert len(of_one) == 3 * 2 * 2 * 2 * 2 * 3 == report.readings[0].tried


def naturals_too(wager: Wager) -> Wager:
    return replace(
        wager,
        rules=tuple(
            replace(rule, when=Condition(margin=(9,))) if rule.name == "nine_over_zero" else rule
            for rule in wager.rules
        ),
    )


def ties_push(wager: Wager) -> Wager:
    push = Rule(name="tie", pays="push", when=Condition(winner=(Winner.TIE,)))
    return replace(wager, rules=(push, *wager.rules))


@pytest.mark.parametrize(
    ("words", "change", "side", "decks"),
    sampled(
        [
            ((), lambda wager: wager, None, 6),
            (("naturals count",), naturals_too, None, 4),
            (("ties push",), ties_push, None, 8),
            (("naturals count", "ties push"), lambda wager: ties_push(naturals_too(wager)), None, 8),
            (("with Player", "naturals count"), naturals_too, Side.PLAYER, 8),
            (("with Banker", "ties push"), ties_push, Side.BANKER, 6),
        ],
        one_in=3,
    ),
)
def test_a_reading_gives_what_a_game_file_that_says_so_gives(of_one, words, change, side, decks):
    wager = replace(
        held_beside(change(ONE.wager("progressive")), side), base=True, requires_base="none", name="alone"
    )
    exact = GameOdds(replace(ONE, wagers=(wager,), decks=decks))
    its = exact.odds(Composition.of_decks(decks))["alone"]

    given = of_one[words, decks].model.gives()
    assert given.house_advantage == 100 * its.edge
    assert given.hit_frequency == 100 * its.hit
    assert given.average == exact.average_top_awards()["alone"] / 100


@pytest.mark.parametrize(("game", "words", "sign"), [(ONE, "paid to 1", 1), (FIVE, "paid for 1", -1)])
def test_the_stake_is_all_that_for_and_to_differ_by(game, words, sign):
    found = readings(game, hands=1)
    printed, other = found[(), 8].model, found[(words,), 8].model
    # What is won, and not from the meter: 1 coup with all diamonds is 3 with another suit.
    fixed = printed.hit - 4 * printed.top

    assert other == replace(printed, returned=printed.returned + sign * fixed)


def test_odds_as_printed_change_the_chance_of_the_top_award_alone(of_one):
    printed = of_one[(AS_PRINTED,), 8].model

    assert printed == replace(of_one[(), 8].model, top=Fraction(1, 569_182))


def nearest(report: Report, what: str) -> dict[str, published.Reading]:
    (found,) = (each for each in report.readings if each.what == f"Progressive {what}")
    return dict(found.nearest)


def test_a_reading_that_is_nearest_to_a_figure_has_none_nearer(report, of_one):
    for place, (name, what) in enumerate(
        zip(("house_advantage", "hit_frequency", "one_in", "average"), STATISTICS, strict=True)
    ):
        figure = nearest(report, "#1, $1, either hand")[what].figures[place]
        others = [
            abs(getattr(each.model.gives(), name) - Fraction(figure.printed))
            for (words, _), each in of_one.items()
            if name != "one_in" or AS_PRINTED not in words
        ]
        assert abs(figure.difference) == min(others)


def test_readings_together_give_the_house_advantage_and_are_in_order(report):
    for each in report.readings:
        away = []
        for reading in each.together:
            assert reading.figures[0].difference in {0, 10}
            away.append(
                max(
                    abs(reading.figures[at].difference) / Fraction(reading.figures[at].printed)
                    for at in (1, 3)
                )
            )
        assert away == sorted(away)
        assert len(away) == 6


# --- precision and marks


@pytest.mark.parametrize(
    ("exact", "places", "expected"),
    [
        ("0.125", 2, "0.13"),
        ("-0.125", 2, "-0.13"),
        ("0.1249999999999999999999", 2, "0.12"),
        ("-0.1250000000000000000001", 2, "-0.13"),
        ("2.5", 0, "3"),
        ("-2.5", 0, "-3"),
        ("3.5", 0, "4"),
        ("-0.004", 2, "0"),
        ("1/3", 4, "0.3333"),
        ("999.995", 2, "1000"),
    ],
)
def test_rounding_is_half_up_without_the_sign(exact, places, expected):
    assert published.rounded(Fraction(exact), places) == Fraction(expected)


@pytest.mark.parametrize(
    ("printed", "exact", "result"),
    [
        ("2.50", "2.495", "agrees"),
        ("2.50", "2.505", "nearly"),
        ("2.5", "2.54", "agrees"),
        ("2.50", "2.54", "nearly"),
        ("2.50", "2.625", "nearly"),
        ("2.50", "2.6251", "differs"),
        ("2.50", "2.375", "nearly"),
        ("2.50", "2.3749", "differs"),
        ("-0.13", "-0.125", "agrees"),
        ("-0.12", "-0.125", "nearly"),
        ("0.00", "0.004", "agrees"),
        ("0.00", "0.005", "differs"),
        ("569182", "569181.5", "agrees"),
        ("569182", "569182.5", "nearly"),
    ],
)
def test_half_of_the_last_printed_digit_is_the_tolerance(printed, exact, result):
    assert Figure("000", "a figure", 8, printed, "%", Fraction(exact)).result == result


def test_what_is_read_off_a_game_file_is_not_rounded():
    assert Figure("004", "maximum", None, "100", "$", Fraction("100.01")).result == "nearly"
    assert Figure("004", "maximum", None, "100", "$", Fraction(100)).result == "agrees"


@pytest.mark.parametrize(
    ("exact", "mark", "as_marked"),
    [
        ("2.50", True, True),
        ("2.51", True, False),
        ("2.50", "nearly", True),
        ("2.51", "nearly", True),
        ("3.00", "nearly", False),
        ("2.50", False, True),
        ("3.00", False, True),
    ],
)
def test_a_mark_says_what_is_expected(exact, mark, as_marked):
    figure = Figure("000", "a figure", 8, "2.50", "%", Fraction(exact), mark)

    assert figure.as_marked == as_marked
    assert Report((figure,), ()).as_marked == as_marked
    assert (
        list(published.lines(Report((figure,), ())))[-1] == "every figure agrees with its mark in the file"
    ) == as_marked


@pytest.mark.parametrize(
    ("player", "banker", "results"),
    [
        ("2.5", "9", "agrees agrees"),
        ("2.50", "8.53", "agrees agrees"),
        ("2.500", "8.530", "agrees nearly"),
        ("2.5000", "8.5300", "nearly nearly"),
    ],
)
def test_the_digits_that_are_printed_are_kept(tmp_path, player, banker, results):
    report = held(
        tmp_path,
        f'[[dragon_bonus]]\ntable = 3\ndecks = 8\nplayer = {player}\nbanker = {banker}\nsheet = "000"\n',
    )

    assert [each.printed for each in report.figures] == [player, banker]
    assert [each.result for each in report.figures] == results.split()


# --- what a change of a game file does


EDGES = '[[dragon_bonus]]\ntable = 1\ndecks = 8\nplayer = 2.65\nbanker = 9.37\nsheet = "000"\ngame = "{}"\n'
NEARLY = """[[progressive]]
table = 2
side = "player"
denomination = 1
house_advantage = 17.41
hit_frequency = 16.99
one_in = 855757
average = 104044
seed_amount = 10000
sheet = "000"
reproducible = "nearly"
game = "{}"
"""
EXACTLY = """[[progressive]]
table = 3
denomination = 1
house_advantage = 24.22
hit_frequency = 3.48
one_in = 171375
average = 49557
seed_amount = 5000
sheet = "000"
game = "{}"
"""
LIMITS = '[dragon_bonus_limits]\nminimum = 5\nmaximum = 100\ngame = "{}"\n'
DAI_BACC = '[dai_bacc]\nmaximum_wagers = 4\ngame = "{}"\n'


@pytest.mark.parametrize(
    ("figures", "game"),
    [
        (EDGES, "dragon-bonus-1"),
        (EXACTLY, "progressive-3"),
        (NEARLY, "progressive-2"),
        (LIMITS, "dragon-bonus-1"),
        (DAI_BACC, "dai-bacc"),
    ],
)
def test_a_game_file_may_be_named(tmp_path, figures, game):
    assert held(tmp_path, figures.format(game)).as_marked


@pytest.mark.parametrize(
    ("figures", "game", "old", "new", "differ"),
    sampled(
        [
            (EDGES, "dragon-bonus-1", '"30 to 1"', '"31 to 1"', "house edge, house edge"),
            (EDGES, "dragon-bonus-1", "margin = [4]", "margin = [4, 3]", "house edge, house edge"),
            (EXACTLY, "progressive-3", '"10 for 1"', '"11 for 1"', "house advantage"),
            (EXACTLY, "progressive-3", '"10 for 1"', '"10 to 1"', "house advantage"),
            (EXACTLY, "progressive-3", '"26%"', '"27%"', "house advantage, average top award"),
            (EXACTLY, "progressive-3", "seed = 500000", "seed = 600000", "house advantage, average top award, seed"),
            (EXACTLY, "progressive-3", '"H", "D", "C"]', '"H", "D"]', "house advantage, top award, average top award"),
            (EXACTLY, "progressive-3", "maximum = 100,", "maximum = 200,", ""),
            (NEARLY, "progressive-2", '"2 for 1"', '"3 for 1"', "house advantage"),
            (NEARLY, "progressive-2", '"25% of the meter"', '"50% of the meter"', "average top award"),
            (NEARLY, "progressive-2", '"20%"', '"20.1%"', ""),
            (LIMITS, "dragon-bonus-1", "maximum = 10000", "maximum = 10001", "maximum, maximum"),
            (LIMITS, "dragon-bonus-1", "minimum = 500", "minimum = 5", "minimum, minimum"),
            (DAI_BACC, "dai-bacc", "maximum_wagers = 4", "maximum_wagers = 5", "wagers of a player"),
        ],
        one_in=5,
    ),
)  # fmt: skip
def test_a_changed_game_file_is_found_by_its_figures(tmp_path, figures, game, old, new, differ):
    report = held(tmp_path, figures.format(changed(tmp_path, game, old, new)))
    others = [figure.what.split(": ")[1] for figure in report.figures if not figure.as_marked]

    assert ", ".join(others) == differ
    assert report.as_marked == (not differ)
    assert len([line for line in published.lines(report) if "but does not" in line]) == len(others)


# --- other files


EDGE = '[[dragon_bonus]]\ntable = 1\ndecks = 8\nplayer = 2.65\nbanker = 9.37\nsheet = "000"\n'


def test_signatures_of_other_software_are_never_repeated(tmp_path):
    signature = (
        '[[signature]]\ncomponent = "x.dll"\nversion = "1"\nmd5 = "AAFE49F62D237C0A1001F0E6DAFEAEF3"\n'
    )

    assert held(tmp_path, EDGE + signature) == held(tmp_path, EDGE)
    assert "md5" not in SHIPPED.lower()
    assert "signature" not in SHIPPED


def test_other_decks_can_be_given(tmp_path):
    report = held(tmp_path, EXACTLY.format("progressive-3") + "decks = 4\n")

    assert [figure.decks for figure in report.figures] == [4, 4, 4, 4, None, None]
    assert [figure.result for figure in report.figures[2:4]] == ["differs", "differs"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1: the file has no figures: add a [[dragon_bonus]] or a [[progressive]]"),
        ("[[dragon_bonus]", "1: this is not TOML: "),
        (EDGE.replace("table = 1", "table = 4"), "2: dragon_bonus[1].table: table must be 1, 2 or 3, not 4"),
        (EDGE.replace("decks = 8", "decks = 13"), "3: dragon_bonus[1].decks: decks must be from 1 to 12, not 13"),
        (EDGE.replace("decks = 8", 'decks = "8"'), "3: dragon_bonus[1].decks: must be a whole number, not '8'"),
        (EDGE.replace("9.37", "inf"), "5: dragon_bonus[1].banker: must be a number as printed, such as 9.42, not 'inf'"),
        (EDGE.replace("9.37", "9.3e1"), "5: dragon_bonus[1].banker: must be a number as printed"),
        (EDGE.replace("9.37", '"9,37"'), "5: dragon_bonus[1].banker: must be a number as printed"),
        (EDGE.replace("9.37", "true"), "5: dragon_bonus[1].banker: must be a number as printed, such as 9.42, not True"),
        (EDGE.replace("9.37", "9." + "1" * 5000), "5: dragon_bonus[1].banker: must be a number as printed"),
        (EDGE.replace("banker = 9.37\n", ""), "1: dragon_bonus[1].banker: is missing"),
        (EDGE.replace("banker", "bankr"), "1: dragon_bonus[1].banker: is missing"),
        (EDGE + "edge = 1\n", "7: dragon_bonus[1].edge: no such key; there are table, decks, player"),
        (EDGE + 'reproducible = "almost"\n', '7: dragon_bonus[1].reproducible: must be true, false or "nearly", not \'almost\''),
        (EDGE + 'game = "dragon-bonus-4"\n', "7: dragon_bonus[1].game: there is no game 'dragon-bonus-4'"),
        (EDGE + 'game = "./none.toml"\n', "7: dragon_bonus[1].game: there is no game file "),
        (EDGE + 'game = "dai-bacc"\n', "7: dragon_bonus[1].game: Dai Bacc has no wager dragon_bonus_player"),
        (LIMITS.format("dai-bacc"), "4: dragon_bonus_limits.game: Dai Bacc has no wager dragon_bonus_player"),
        (LIMITS.format("canberra"), "4: dragon_bonus_limits.game: "),
        (DAI_BACC.format("dragon-bonus-1"), "3: dai_bacc.game: Mini Baccarat, Dragon Bonus 1 has no maximum_wagers"),
        (EXACTLY.format("dai-bacc"), "10: progressive[1].game: Dai Bacc must have one wager that pays from a meter, but has 0"),
        (EXACTLY.format("").replace("denomination = 1", "denomination = 5"), "2: progressive[1].table: table 3 for $5 has no game file; there are game files for 1 for $1, 1 for $5, 2 for $1, 3 for $1. Or name a game file"),
        (EXACTLY.format("").replace("171375", "0"), "6: progressive[1].one_in: one_in must be at least 1, not 0"),
        (EXACTLY.format("").replace("171375", "0.99"), "6: progressive[1].one_in: one_in must be at least 1, not 0.99"),
        (EXACTLY.format("") + "decks = 0\n", "11: progressive[1].decks: decks must be from 1 to 12, not 0"),
        (EXACTLY.format("") + 'side = "tie"\n', "11: progressive[1].side: must be 'player' or 'banker', not 'tie'"),
    ],
)  # fmt: skip
def test_a_fault_in_a_file_is_reported_by_line_and_key(tmp_path, text, said):
    with pytest.raises(ConfigError) as error:
        held(tmp_path, text)

    assert str(error.value).startswith(f"{tmp_path / 'figures.toml'}:{said}")


def test_a_fault_in_a_game_file_is_reported_there(tmp_path):
    game = changed(tmp_path, "dragon-bonus-1", '"30 to 1"', '"30 two 1"')

    with pytest.raises(
        ConfigError, match=r"changed.toml:\d+: wagers\[4\].rules\[1\].pays: .*'30 two 1' is not a pay"
    ):
        held(tmp_path, EDGE + f'game = "{game}"\n')


def test_a_meter_that_no_coup_wins_is_reported(tmp_path):
    # Four cards of a hand that is natural cannot be six.
    game = changed(
        tmp_path,
        "progressive-3",
        "coup_cards = [6], margin = [9], coup_suit",
        'coup_cards = [6], margin = [9], winning_ranks = ["9-K"], coup_suit',
    )

    with pytest.raises(
        ConfigError,
        match=r"10: progressive\[1\].game: .* has no coup that wins the whole meter of progressive",
    ):
        held(tmp_path, EXACTLY.format(game))


def test_a_wager_that_one_hand_alone_can_win_has_no_readings_beside_the_other(tmp_path):
    game = changed(
        tmp_path,
        "progressive-3",
        "when = { coup_cards = [6], margin",
        'when = { winner = ["player"], coup_cards = [6], margin',
    )
    (found,) = held(tmp_path, EXACTLY.format(game) + "reproducible = false\n").readings

    # Both hands and Player's; pays, ties, odds as printed, three shoes.
    assert found.tried == 2 * 2 * 2 * 2 * 3


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match=r"none.toml: cannot be read: No such file or directory"):
        check(tmp_path / "none.toml")


# --- what is printed


def test_the_page_says_which_odds_look_simulated_and_by_how_many_coups(report):
    text = PAGE.read_text(encoding="utf-8")
    said = re.search(
        r"For table #1, the printed odds mean ([\d,]+) top awards in 10⁹ coups, and the exact odds mean ([\d,]+) top awards, "
        r"which is a difference of ([\d.]+) standard errors\.",
        text,
    )
    (figure,) = (each for each in report.figures if each.what == "Progressive #1, $1, either hand: top award")

    assert "are probably from a simulation of about 10⁹ coups." in text
    assert SIMULATED == 10**9
    assert said is not None
    assert figure.simulated is not None
    assert [float(each.replace(",", "")) for each in said.groups()] == [
        figure.simulated.hits,
        round(figure.simulated.expected),
        round(figure.simulated.standard_errors, 1),
    ]


def test_json_has_the_exact_numbers(report):
    plain = json.loads(json.dumps(published.as_json(report)))

    assert plain["as_marked"] is True
    assert [Fraction(each["exact_fraction"]) for each in plain["figures"]] == [
        each.exact for each in report.figures
    ]
    assert [each["printed"] for each in plain["figures"]] == [each.printed for each in report.figures]
    assert [each["tried"] for each in plain["readings"]] == [each.tried for each in report.readings]
    first = plain["readings"][0]["together"][0]
    assert Fraction(first["contribution_fraction"]) == report.readings[0].together[0].contribution
    assert [each["exact"] for each in first["figures"]] == [
        float(each.exact) for each in report.readings[0].together[0].figures
    ]


def test_the_page_has_what_is_printed_now(report):
    page = PAGE.read_text(encoding="utf-8")

    assert page.partition("```text\n")[2].partition("```")[0] == "".join(
        f"{line}\n" for line in published.lines(report)
    )


def test_the_pages_example_can_be_used(tmp_path):
    (example,) = (
        block.partition("```")[0] for block in PAGE.read_text(encoding="utf-8").split("```toml\n")[1:]
    )
    report = held(tmp_path, example.replace("./our-progressive.toml", "progressive-2"))

    assert report.figures[0].what == "Progressive #4, $1, Banker: house advantage"
    assert report.as_marked
