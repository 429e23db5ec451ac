"""`[progressive]`, `[coin_spot]` and `[card_reader]` of a table's configuration."""

from pathlib import Path

import pytest

from punto.commands.cli import main
from punto.configs.problems import ConfigError
from punto.controller.config.file import load_config

TABLE = """version = 1
[table]
id = "table-1"
name = "Baccarat 1"
game = "{game}"
cards = "keyed"
[record]
path = "table-1.db"
[operator]
socket = "table-1.sock"
"""
PROGRESSIVE = '[progressive]\nid = "dragon"\nreserve = "1%"\n'
DOCS = Path(__file__).parents[3] / "docs"
CONSOLE = '[accounts]\npath = "operators.db"\n[console]\n'


@pytest.fixture
def file(tmp_path):
    def write(*sections: str, game: str = "progressive-2") -> Path:
        path: Path = tmp_path / "table.toml"
        path.write_text(TABLE.format(game=game) + "".join(sections), encoding="utf-8")
        return path

    return write


def problem(path: Path) -> str:
    with pytest.raises(ConfigError) as error:
        load_config(path)
    (found,) = error.value.problems
    return f"{found.key}: {found.message}"


def test_the_pay_table_says_what_the_configuration_leaves_out(file):
    settings = load_config(file(PROGRESSIVE)).settings().progressive

    assert settings is not None
    assert (settings.seed, settings.contribution, settings.reserve) == (1_000_000, "20%", "1%")
    assert (settings.procedure, settings.split, settings.fixed_awards) == ("aquarius", "winners", "tray")
    assert [(each.table, each.game) for each in settings.tables] == [("table-1", "progressive-2")]


def test_a_table_without_the_section_has_none(file):
    assert load_config(file()).settings().progressive is None


@pytest.mark.parametrize(
    ("sections", "game", "says"),
    [
        ([PROGRESSIVE], "mini-baccarat", "progressive.wager: Mini Baccarat has no wager with a meter"),
        ([PROGRESSIVE, 'wager = "tie"\n'], "progressive-2", "progressive.wager: the wagers of Dragon Bonus Progressive 2 with a meter are progressive"),
        ([PROGRESSIVE, "seed = -1\n"], "progressive-2", "progressive.seed: seed must be 0 minor units or more"),
        ([PROGRESSIVE, "seed = 10000000000000\n"], "progressive-2", "progressive.seed: seed must be at most"),
        ([PROGRESSIVE, 'contribution = "101%"\n'], "progressive-2", "progressive.contribution: "),
        ([PROGRESSIVE, "display_limit = 5\n"], "progressive-2", "the display limit is below the seed"),
        (['[calendar]\nzone = "Mars/Base"\n'], "mini-baccarat", "calendar.zone: "),
        (['[calendar]\nday_starts = "25:00"\n'], "mini-baccarat", "calendar.day_starts: '25:00' is not a time of day: write 00:00 to 23:59, such as 06:00",
        ),
        (["[calendar]\nday_starts = '6:00'\n"], "mini-baccarat", "calendar.day_starts: '6:00' is not a time"),
        ([PROGRESSIVE, 'zone = "Asia/Macau"\n'], "progressive-2", "progressive.zone: no such key here: zone belongs to [calendar]"),
        (
            [PROGRESSIVE.replace('"dragon"', '"Dragon 1"')],
            "progressive-2",
            "progressive.id: 'Dragon 1' is not a meter's name: write small letters, digits, - and _, such as dragon-1",
        ),
        ([PROGRESSIVE, "executive_from = 100\n"], "progressive-2", "progressive.executive_from: "),
        ([PROGRESSIVE, "supervisor_from = -1\n"], "progressive-2", "progressive.supervisor_from: "),
        ([PROGRESSIVE, 'fixed_awards = "meter"\nsupervisor_from = 1\n'], "progressive-2", "progressive.supervisor_from: "),
        ([PROGRESSIVE, CONSOLE, '[card_reader]\nport = "reader"\nlink_version = 1\n'], "progressive-2", "card_reader: is only for Nexus Command"),
        (['[coin_spot]\nport = "spot"\nlink_version = 1\nseats = [1]\n'], "progressive-2", "coin_spot: needs a progressive"),
        ([PROGRESSIVE, '[coin_spot]\nport = "spot"\nlink_version = 1\nseats = [1, 1]\n'], "progressive-2", "coin_spot.seats: seat 1 has position 1"),
        ([PROGRESSIVE, '[coin_spot]\nport = "spot"\nlink_version = 1\nseats = [9]\n'], "progressive-2", "coin_spot.seats: position 1 has seat 9"),
        ([PROGRESSIVE.replace("dragon", "Dragon!")], "progressive-2", "progressive.id: "),
    ],
)  # fmt: skip
def test_what_cannot_be_is_reported_at_its_key(sections, game, says, file):
    assert says in problem(file(*sections, game=game))


def test_a_card_reader_is_at_a_port_or_is_an_input(file):
    nexus = PROGRESSIVE + 'procedure = "nexus"\n'

    reader = '[card_reader]\nport = "reader"\nlink_version = 1\n'
    assert load_config(file(nexus, CONSOLE, reader)).card_reader is not None
    assert "give either port or input, such as port =" in problem(file(nexus, CONSOLE, "[card_reader]\n"))
    assert "card_reader: needs accounts: add [accounts] with the path of the accounts' file" in problem(
        file(nexus, reader)
    )


def test_a_wager_of_several_amounts_has_no_meter(file):
    own = "[limits.progressive]\n"
    assert load_config(file(PROGRESSIVE, own + "minimum = 100\n")).settings().progressive is not None


@pytest.mark.soak
def test_check_config_sums_the_meter_up_and_quotes_the_sheets_advice(file, capsys):
    path = file(PROGRESSIVE.replace("1%", "0%"), "seed = 0\n")
    assert main(["check-config", str(path)]) == 0

    said = capsys.readouterr().out
    assert "meter     dragon, pays 'Dragon Bonus Progressive' by Aquarius: seed 0.00, takes in 20%" in said
    assert 'WARNING: progressive: the meter starts with nothing. Sheet 000: "We do not recommend' in said
    assert "warning: progressive: nothing goes to the reserve" in said


def test_check_config_says_what_can_be_done_about_a_seat_with_both_base_wagers(file, capsys):
    assert main(["check-config", str(file(PROGRESSIVE))]) == 0

    (said,) = (line for line in capsys.readouterr().out.splitlines() if "player+banker" in line)
    assert said == (
        "warning: progressive:player+banker favours the players by 37.1085%: a seat with wagers on player and banker wins "
        "progressive if either of these base wagers wins. No sheet forbids these wagers: make a house rule against them, set high minimums, "
        "or watch such seats "
        "(docs/explanation/progressive.md, A seat with both base wagers)"
    )
    assert "## A seat with both base wagers\n" in (DOCS / "explanation" / "progressive.md").read_text(
        encoding="utf-8"
    )


def test_check_config_warns_of_a_meter_that_nobody_keeps(file, capsys):
    assert main(["check-config", str(file())]) == 0

    assert "warning: progressive pays from a meter, but the table has no meter" in capsys.readouterr().out
