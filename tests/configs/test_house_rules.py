"""What a sheet leaves to the house is decided in the table's configuration, and nothing else of a wager is."""

import json
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from punto.baccarat.wagers.definition import Limits
from punto.baccarat.wagers.settlement import PlacedWager, WagerRefusedError, check_wagers, settle
from punto.commands.cli import main
from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError
from punto.controller.config.file import load_config
from punto.controller.config.jurisdiction import Law
from punto.controller.config.limits import LimitsConfig, RulesConfig, house_game, in_chips
from punto.controller.orders.games import games_on_offer
from tests.baccarat.wagers.coups import coup

TABLE = """version = 1
[table]
id = "table-1"
name = "Baccarat 1"
game = "{game}"
cards = "keyed"
[record]
path = "table.db"
"""


@pytest.fixture
def written(tmp_path: Path):
    """A configuration of a table that plays a game, with sections of its own; gives its path."""

    def write(game: str, sections: str = "") -> Path:
        path = tmp_path / "table.toml"
        path.write_text(TABLE.format(game=game) + sections, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("needs", ["none", "any", "same_side"])
@pytest.mark.parametrize(
    ("game", "wager"), [("dragon-bonus-1", "dragon_bonus_player"), ("progressive-2", "dragon_bonus_banker")]
)
def test_whether_dragon_bonus_needs_a_base_wager_is_the_houses_to_say(written, game, wager, needs):
    """Sheet 000 leaves it to the casino, 001 wants the same side, and 004 any standard wager."""
    played = load_config(written(game, f'[rules.{wager}]\nrequires_base = "{needs}"\n')).game
    other = "banker" if wager.endswith("player") else "player"
    bonus = PlacedWager(1, wager, 500)

    for beside, allowed in (
        ([], needs == "none"),
        ([PlacedWager(1, other, 500)], needs != "same_side"),
        ([PlacedWager(1, wager.removeprefix("dragon_bonus_"), 500)], True),
    ):
        if allowed:
            check_wagers(played, [*beside, bonus])
        else:
            with pytest.raises(WagerRefusedError):
                check_wagers(played, [*beside, bonus])


@pytest.mark.parametrize("reveal", ["dealer", "player"])
def test_who_turns_hidden_cards_is_the_houses_to_say(written, reveal):
    """Sheet 004 has the player with the largest wager turn them in midi baccarat, and the dealer in mini baccarat."""
    path = written("midi-baccarat")
    path.write_text(
        path.read_text(encoding="utf-8").replace("cards =", f'reveal = "{reveal}"\ncards ='), encoding="utf-8"
    )

    assert load_config(path).settings().reveal == reveal


def test_who_turns_cards_that_are_not_hidden_is_not(written):
    path = written("mini-baccarat")
    path.write_text(
        path.read_text(encoding="utf-8").replace("cards =", 'reveal = "player"\ncards ='), encoding="utf-8"
    )

    with pytest.raises(ConfigError, match="is only for cards that lie face down, and Mini Baccarat has none"):
        load_config(path)


def test_dai_baccs_main_wager_may_be_mandatory(written):
    """Sheet 003: "Player or Banker bets may or may not be mandatory. See house rules"."""
    tiger = PlacedWager(1, "tiger_7", 500)
    check_wagers(load_config(written("dai-bacc")).game, [tiger])

    mandatory = load_config(written("dai-bacc", '[rules.tiger_7]\nrequires_base = "any"\n')).game
    with pytest.raises(WagerRefusedError, match="also needs a wager of the same seat on player or banker"):
        check_wagers(mandatory, [tiger])


def test_the_progressive_may_win_whichever_hand_wins_and_by_a_natural_nine(written):
    rules = "[rules.progressive]\nrequires_base_win = false\nnatural_nine = true\n"
    played = load_config(written("progressive-1", rules)).game
    wagers = [PlacedWager(1, "banker", 2500), PlacedWager(1, "progressive", 100)]
    natural = coup("4S TH 5S KH")  # Player has 9 over 0 in two cards

    assert [each.rule for each in settle(played, natural, wagers)] == ["lose", "nine_over_zero"]
    assert [each.rule for each in settle(load_game("progressive-1"), natural, wagers)] == ["lose", "lose"]


@pytest.mark.parametrize(
    ("game", "sections", "said"),
    [
        (
            "dragon-bonus-1",
            '[rules.player]\nrequires_base = "any"\n',
            "(sheet 000, 001, 002, 004) does not let the house set this rule of player; rules of player that the house sets: none",
        ),
        (
            "progressive-2",
            "[rules.progressive]\nnatural_nine = true\n",
            "(sheet 000, 001, 004) does not let the house set this rule of progressive",
        ),
        (
            "dai-bacc",
            "[rules.tiger_7]\nrequires_base_win = true\n",
            "does not let the house set this rule of tiger_7; rules of tiger_7 that the house sets: requires_base",
        ),
        ("dai-bacc", '[rules.tigre_7]\nrequires_base = "any"\n', "did you mean tiger_7?"),
        (
            "dai-bacc",
            '[rules.tiger_7]\nrequires_base = "same_side"\n',
            'rules: tiger_7 requires a base wager on the same side: write side = "player" or "banker"',
        ),
    ],
)
def test_what_is_not_the_houses_to_say_is_refused_with_its_key(written, game, sections, said):
    with pytest.raises(ConfigError) as error:
        load_config(written(game, sections))

    assert said in str(error.value)


def test_the_odds_are_those_of_the_houses_rules(written, capsys):
    """Sheet 000 prints 24.22% for pay table #3, with a win of either hand."""
    path = written("progressive-3", "[rules.progressive]\nrequires_base_win = false\n")

    assert main(["odds", "--game", str(path), "--json"]) == 0

    wagers = json.loads(capsys.readouterr().out)["wagers"]
    assert f"{wagers['progressive']['edge']:.4%}" == "24.2182%"
    assert not [name for name in wagers if name.startswith("progressive:")]


EITHER = "[rules.progressive]\nrequires_base_win = false\nnatural_nine = true\n"


def test_printed_figures_are_compared_with_the_houses_rules(written, capsys):
    """Sheet 000 prints a hit frequency of 3.47% for pay table #1, which counts naturals."""
    path = written("progressive-1", EITHER)

    figures = path.parent / "figures.toml"

    def compared(game: str, *arguments: str) -> list[str]:
        figures.write_text(FIGURES.format(game), encoding="utf-8")
        main(["odds", "--published", str(figures), *arguments, "--json"])
        found = json.loads(capsys.readouterr().out)["figures"]
        return [each["result"] for each in found if "hit frequency" in each["what"]]

    assert compared("progressive-1") == ["differs"]
    assert compared("./table.toml") == ["nearly"]
    assert compared("progressive-1", "--game", str(path)) == ["nearly"]
    assert compared("progressive-1", "--game", "progressive-1") == ["differs"]


FIGURES = """[[progressive]]
table = 1
denomination = 1
house_advantage = 22.90
hit_frequency = 3.47
one_in = 569182
average = 98101
seed_amount = 10000
sheet = "000"
reproducible = "nearly"
game = "{}"
"""


def test_a_game_without_printed_figures_has_none_to_compare(capsys):
    assert main(["odds", "--published", "--game", "mini-baccarat"]) == 2

    assert "no printed figure is of mini-baccarat: leave out --game" in capsys.readouterr().err


def test_a_tables_game_is_described_with_the_houses_rules_and_limits(written, capsys):
    path = written("progressive-1", EITHER + "[limits.player]\nminimum = 2500\n")

    assert main(["games", str(path)]) == 0

    text = capsys.readouterr().out
    assert "| `player` | $25 or more |" in text
    assert "| A hand wins by 9 | `nine_over_zero` |" in text


def test_a_tables_game_is_scored_with_the_houses_rules(written, capsys, monkeypatch):
    path = written("progressive-1", EITHER)
    line = {
        "cards": ["4S", "TH", "5S", "KH"],  # Player has 9 over 0 in two cards
        "wagers": [{"seat": 1, "wager": wager, "amount": 100} for wager in ("banker", "progressive")],
    }
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(json.dumps(line).encode() + b"\n")))

    assert main(["score", "--game", str(path)]) == 0

    settled = json.loads(capsys.readouterr().out)["settlements"]
    assert [each["rule"] for each in settled] == ["lose", "nine_over_zero"]


@pytest.mark.soak
def test_check_config_says_which_rules_the_house_has_chosen(written, capsys):
    path = written("progressive-1", EITHER)
    written_rules = [
        "rules     that the sheet leaves to the house, as chosen here",
        "  progressive  requires_base_win = false  sheet 000 ties the progressive wager to the winning base wager, but the printed odds are for a win of either hand",
        "  progressive  natural_nine = true        sheet 000 pays for 9-0 (non-natural), but the printed hit frequency counts naturals too",
    ]

    assert main(["check-config", str(path)]) == 0
    assert "\n".join(written_rules) in capsys.readouterr().out
    assert main(["check-config", str(written("progressive-1"))]) == 0
    assert "of the house" not in capsys.readouterr().out


def test_another_game_has_those_of_the_rules_that_its_sheet_leaves_to_the_house():
    rules = {
        "dragon_bonus_player": RulesConfig(requires_base="none"),
        "progressive": RulesConfig(natural_nine=True),
    }

    played = house_game(load_game("dragon-bonus-2"), {}, rules, Law(), 1, "USD")

    assert played.wager("dragon_bonus_player").requires_base == "none"
    assert house_game(load_game("progressive-2"), {}, rules, Law(), 1, "USD").wager(
        "progressive"
    ) == load_game("progressive-2").wager("progressive")


def test_wagers_and_commissions_are_in_the_houses_smallest_chip():
    game = in_chips(load_game("dragon-bonus-1"), 1000)

    assert game.wager("banker").limits == Limits(minimum=1000, maximum=None, step=1000)
    assert game.wager("dragon_bonus_player").limits == Limits(minimum=1000, maximum=10_000, step=1000)
    paid = {
        stake: settle(game, coup("KS 9S 2S KD"), [PlacedWager(1, "banker", stake)])[0].returned
        for stake in (1000, 20_000, 21_000)
    }
    assert paid == {1000: 1000, 20_000: 39_000, 21_000: 40_000}  # 5%, in whole chips upwards
    with pytest.raises(
        WagerRefusedError, match="1500 minor units on player is not a multiple of its step of 1000"
    ):
        check_wagers(game, [PlacedWager(1, "player", 1500)])


def test_a_game_that_cannot_be_played_in_these_chips_is_refused_and_not_on_offer(written, tmp_path):
    path = written("progressive-2")
    path.write_text(path.read_text().replace("game =", "smallest_chip = 1000\ngame ="), encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_config(path)
    (problem,) = refused.value.problems
    assert problem.key == "table.smallest_chip"
    assert problem.message.endswith(
        "takes 100 to 100 on progressive, and none of these amounts is a multiple of 1000: copy the game file, and write limits "
        "for these chips"
    )

    offered = games_on_offer(tmp_path, 1000)
    assert "progressive-2" not in offered
    assert offered["mini-baccarat"].wager("player").limits.step == 1000
    other = house_game(load_game("mini-baccarat"), {}, {}, Law(), 1000, "USD")
    assert other == offered["mini-baccarat"]
    with pytest.raises(
        ConfigError,
        match=r"5\.00 USD is not a multiple of 10\.00 USD, the step of the game file or the smallest chip",
    ):
        house_game(load_game("mini-baccarat"), {"tie": LimitsConfig(step=500)}, {}, Law(), 1000, "USD")


def test_check_config_names_the_step_with_which_commissions_are_whole_chips(written, capsys):
    path = written("mini-baccarat")
    path.write_text(path.read_text().replace("game =", "smallest_chip = 1000\ngame ="), encoding="utf-8")
    assert main(["check-config", str(path)]) == 0
    said = capsys.readouterr().out
    assert "chips     from 10.00 USD" in said
    (warning,) = [line for line in said.splitlines() if "house edge changes" in line]
    assert warning.startswith("warning: banker is paid in multiples of 1000")
    assert warning.endswith("write step = 20000 in [limits.banker]")

    path.write_text(f"{path.read_text()}[limits.banker]\nstep = 20000\nminimum = 20000\n", encoding="utf-8")
    assert main(["check-config", str(path)]) == 0
    assert "house edge changes" not in capsys.readouterr().out


def unpaid_lines(said: str) -> list[str]:
    return [line for line in said.splitlines() if "wins and pays nothing" in line]


@pytest.mark.parametrize(
    ("currency", "chip", "amount", "minimum"),
    [("USD", 1000, "10.00 USD", 2000), ("JPY", 1, "1 JPY", 2), ("JPY", 500, "500 JPY", 1000)],
)
def test_check_config_warns_of_an_amount_that_wins_nothing(written, capsys, currency, chip, amount, minimum):
    path = written("mini-baccarat")
    table = f'smallest_chip = {chip}\ncurrency = "{currency}"\ngame ='
    path.write_text(path.read_text().replace("game =", table), encoding="utf-8")
    assert main(["check-config", str(path)]) == 0
    warning = (
        f"warning: banker wins and pays nothing if {amount} is wagered and banker_wins decides (1 to 1 less 5%), because the commission "
        f"takes the whole win: write minimum = {minimum} in [limits.banker]"
    )
    assert unpaid_lines(capsys.readouterr().out) == [warning]

    path.write_text(f"{path.read_text()}[limits.banker]\nminimum = {minimum}\n", encoding="utf-8")
    assert main(["check-config", str(path)]) == 0
    assert unpaid_lines(capsys.readouterr().out) == []


def test_a_cent_that_is_no_chip_is_not_warned_of(written, capsys):
    assert main(["check-config", str(written("mini-baccarat"))]) == 0
    assert unpaid_lines(capsys.readouterr().out) == []


def test_a_wager_that_is_paid_for_no_amount_is_refused(written):
    path = written("mini-baccarat")
    path.write_text(path.read_text().replace("game =", "smallest_chip = 1000\ngame ="), encoding="utf-8")
    path.write_text(f"{path.read_text()}[limits.banker]\nmaximum = 1000\n", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_config(path)
    (problem,) = refused.value.problems
    assert problem.key == "limits.banker"
    assert problem.message.startswith(
        "banker pays nothing for any amount that wins by banker_wins (1 to 1 less 5%)"
    )

    with pytest.raises(ConfigError, match=r"are rounded to 10\.00 USD: write a larger maximum"):
        house_game(load_game("mini-baccarat"), {"banker": LimitsConfig(maximum=1000)}, {}, Law(), 1000, "USD")
