"""A table's configuration: what it sets, what it may not say, and what is told of it."""

import argparse
import json
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.wagers.definition import FACE_UP_ONLY, Limits
from punto.commands import check_config
from punto.configs.game_files import load_game, shipped_games
from punto.configs.problems import ConfigError
from punto.controller.config.file import ServiceConfig, load_config
from tests.command import punto
from tests.share import part

SHIPPED = Path(__file__).parents[3] / "configs"

GOOD = """\
version = 1
[table]
id = "table-1"
name = "Baccarat 1"
game = "dragon-bonus-1"
[limits.dragon_bonus_player]
minimum = 1000
[limits.player]
minimum = 2500
maximum = 500000
step = 100
[shoe]
port = "/dev/serial/by-id/usb-ishoe"
serial = "IS-004711"
key_file = "shoe.key"
[record]
path = "var/table-1.db"
[mqtt]
username = "table-1"
password_file = "secret"
[operator]
socket = "/run/punto/table-1.sock"
"""
ACCOUNTS = '[accounts]\npath = "operators.db"\n'


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(GOOD, encoding="utf-8")
    return path


def without_warning(path: Path) -> None:
    """Make it one that nothing is warned of: its accounts and its password are there, and not for everybody."""
    path.write_text(path.read_text(encoding="utf-8") + ACCOUNTS, encoding="utf-8")
    (path.parent / "operators.db").touch(0o600)
    (path.parent / "var").mkdir(exist_ok=True)
    (path.parent / "secret").write_text("secret\n", encoding="utf-8")
    (path.parent / "secret").chmod(0o640)
    (path.parent / "shoe.key").touch(0o600)


def warnings(said: str) -> list[str]:
    """What is warned of, except that the shoe is not plugged in."""
    lines = [line for line in said.splitlines() if line.startswith("warning: ")]
    return [line for line in lines if "/usb-ishoe does not exist: plug the device in" not in line]


def changed(path: Path, good: str, bad: str) -> Path:
    """The file with this part of it, which must be there, written otherwise."""
    text = path.read_text(encoding="utf-8")
    assert good in text
    path.write_text(text.replace(good, bad), encoding="utf-8")
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(ConfigError) as error:
        load_config(path)
    return [str(problem).removeprefix(f"{path}:") for problem in error.value.problems]


def test_a_configuration_becomes_a_tables_settings(config_file):
    config = load_config(config_file)
    settings = config.settings()

    assert (settings.table, settings.name, settings.shoe_serial) == ("table-1", "Baccarat 1", "IS-004711")
    assert config.shoe is not None
    assert (config.shoe.port, config.shoe.baud) == ("/dev/serial/by-id/usb-ishoe", 115_200)
    assert config.mqtt is not None
    assert (config.mqtt.host, config.mqtt.port, config.mqtt.base) == ("127.0.0.1", 1883, "punto")
    assert config.operator is not None
    assert config.operator.mode_bits == 0o660
    assert settings.game.wager("player").limits == Limits(minimum=2500, maximum=500_000, step=100)
    assert settings.game.wager("dragon_bonus_player").limits == Limits(minimum=1000, maximum=10_000)
    assert settings.game.wager("banker") == load_game("dragon-bonus-1").wager("banker")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_consoles_on_this_machine_alone_need_no_certificate(host, config_file):
    changed(
        config_file,
        "[operator]",
        f'[accounts]\npath = "operators.db"\n[console]\nhost = "{host}"\n[operator]',
    )
    config = load_config(config_file)
    console, accounts = config.console, config.accounts

    assert console is not None
    assert accounts is not None
    assert console.on_loopback
    assert (console.port, console.idle_minutes) == (8090, 15)
    assert accounts.path == config_file.parent / "operators.db"
    assert (accounts.lock_out_after, accounts.lock_out_minutes) == (5, 15)


def test_consoles_beyond_this_machine_have_a_certificate_and_its_key(config_file):
    tls = 'certificate = "table-1.pem"\nkey = "table-1.key"'
    changed(
        config_file,
        "[operator]",
        f'[accounts]\npath = "a.db"\n[console]\nhost = "0.0.0.0"\n{tls}\n[operator]',
    )
    console = load_config(config_file).console

    assert console is not None
    assert (console.certificate, console.key) == (
        config_file.parent / "table-1.pem",
        config_file.parent / "table-1.key",
    )


def test_a_house_says_which_orders_a_second_person_must_approve(config_file):
    changed(
        config_file, 'name = "Baccarat 1"', 'name = "Baccarat 1"\napproval = ["void_round", "correct_round"]'
    )

    assert load_config(config_file).settings().approval == ("void_round", "correct_round")


@pytest.mark.parametrize("key", ["id", "name"])
@pytest.mark.parametrize(
    "text", ["", " ", "t" * 201, "t" * 40_000, "t\\u001b[2J", "t\\r\\nu"], ids=["empty", "blank", "long", "longer", "escape", "lines"]
)  # fmt: skip
def test_a_table_is_called_what_people_can_read_as_a_line(config_file, key, text):
    written = {"id": 'id = "table-1"', "name": 'name = "Baccarat 1"'}[key]
    (problem,) = problems(changed(config_file, written, f'{key} = "{text}"'))

    assert f"table.{key}: must be one line of 1 to 200 printable characters, not " in problem
    assert len(problem) < 200


def test_relative_paths_are_relative_to_the_file(config_file, monkeypatch):
    changed(config_file, "/dev/serial/by-id/usb-ishoe", "shoe")
    changed(config_file, "/run/punto/table-1.sock", "run/table-1.sock")
    folder = config_file.parent
    monkeypatch.chdir(folder.parent)
    config = load_config(Path(folder.name) / config_file.name)

    assert config.record.path == folder / "var/table-1.db"
    assert config.operator is not None
    assert config.operator.socket == folder / "run/table-1.sock"
    assert config.shoe is not None
    assert config.shoe.port == str(folder / "shoe")
    assert config.mqtt is not None
    assert config.mqtt.password_file == folder / "secret"


def test_a_game_file_beside_the_configuration(config_file):
    own = (
        (SHIPPED / "games" / "dragon-bonus-1.toml")
        .read_text(encoding="utf-8")
        .replace("decks = 8", "decks = 6")
    )
    (config_file.parent / "own.toml").write_text(own, encoding="utf-8")
    changed(config_file, '"dragon-bonus-1"', '"own.toml"')

    assert load_config(config_file).game.decks == 6


@pytest.mark.parametrize(
    ("good", "bad", "told"),
    [
        ("[operator]", "[console]\n[operator]", "21: console: needs accounts: add [accounts] with the path of the accounts' file"),
        ("[operator]", "[accounts]\n[operator]", "21: accounts.path: is missing"),
        ("[operator]", '[accounts]\npath = "a.db"\nlock_out_after = 0\n[operator]', "23: accounts.lock_out_after: must be 1 or more, not 0"),
        (
            "[operator]",
            '[accounts]\npath = "a.db"\n[console]\nhost = "0.0.0.0"\n[operator]',
            "24: console.host: host '0.0.0.0' can be reached from other machines, and passwords would cross the network unprotected",
        ),
        (
            "[operator]",
            '[accounts]\npath = "a.db"\n[console]\nhost = "table-1.example"\n[operator]',
            "24: console.host: host 'table-1.example' can be reached from other machines",
        ),
        (
            "[operator]",
            '[accounts]\npath = "a.db"\n[console]\nhost = "::"\nkey = "key.pem"\n[operator]',
            "25: console.key: key is given without certificate: TLS needs both",
        ),
        ("[operator]", '[accounts]\npath = "a.db"\n[console]\nidle_minutes = 0\n[operator]', "24: console.idle_minutes: must be 1 or more, not 0"),
        ('name = "B', 'approval = ["void_cuop"]\nname = "B', '(did you mean "void_coup"?)'),
        ('name = "B', 'approval = "void_coup"\nname = "B', '4: table.approval: must be a list: ["void_coup"]'),
        ("version = 1\n[table]", "version = 2\n[table]", "1: version: must be 1, not 2"),
        ("version = 1\n[table]", "\n[table]", "1: version: is missing"),
        ('name = "Baccarat 1"', 'nam = "Baccarat 1"', "4: table.nam: no such key (did you mean name?)"),
        ("[mqtt]", "[mqqt]", "18: mqqt: no such key (did you mean mqtt?)"),
        ("[record]", "[shoe.record]", "16: shoe.record: no such key here: record belongs to the top of the file, so write it outside shoe"),
        ('"dragon-bonus-1"', '"dragon-bonus1"', "5: table.game: there is no game 'dragon-bonus1'; the shipped games"),
        ('"dragon-bonus-1"', '"dragon-bonus.toml"', "5: table.game: there is no game file"),
        ('name = "B', 'currency = "usd"\nname = "B', "4: table.currency: 'usd' is not a currency of ISO 4217: write the code of the money that is wagered, such as USD"),
        ('name = "B', 'currency = "XXX"\nname = "B', "4: table.currency: 'XXX' is not a currency of ISO 4217"),
        ('name = "B', 'seats = 100\nname = "B', "4: table.seats: seats must be from 1 to 99, not 100"),
        ('name = "B', 'burn_ace = 2\nname = "B', "4: table.burn_ace: must be 1 or 11, not 2"),
        ('name = "B', 'burn = "fist_card"\nname = "B', '(did you mean "first_card"?)'),
        ('"table-1"\nname', '"house"\nname', "3: table.id: 'house' has the topics of the house: use another id"),
        ('"table-1"\nname', '"Table 1"\nname', "3: table.id: the table's id 'Table 1' goes into topics"),
        ('"dragon-bonus-1"', '"dai-bacc"', "6: limits.dragon_bonus_player: Dai Bacc has no wager 'dragon_bonus_"),
        ("[limits.player]", "[limits.plaier]", "(did you mean player?)"),
        ("minimum = 1000", "minimum = 499", "7: limits.dragon_bonus_player.minimum: 499 is below the game file's minimum of 500"),
        ("minimum = 1000", "maximum = 10001", "7: limits.dragon_bonus_player.maximum: 10001 is above the game file's maximum of 10000"),
        ("minimum = 1000", 'maximum_of_base = "half"', "7: limits.dragon_bonus_player.maximum_of_base: 'half' is not a percentage: write it as"),
        ("minimum = 1000", 'maximum_of_base = "0%"', "7: limits.dragon_bonus_player.maximum_of_base: must be more than 0%: no amount would be allowed"),
        ("step = 100", 'step = 100\nmaximum_of_base = "50%"', "8: limits.player: player cannot have maximum_of_base, which is for side wagers"),
        ("minimum = 1000", "minimum = 10001", "6: limits.dragon_bonus_player: the maximum 10000 is below the minimum 10001"),
        ("minimum = 1000", "maximum = 499", "6: limits.dragon_bonus_player: the maximum 499 is below the minimum 500"),
        (
            "minimum = 1000",
            "minimum = 900\nmaximum = 990\nstep = 500",
            (
                "6: limits.dragon_bonus_player: the minimum 900 is not a multiple of the step 500: write a multiple of the step, "
                "such as 1000"
            ),
        ),
        (
            "minimum = 1000",
            "minimum = 600\nstep = 300",
            (
                "6: limits.dragon_bonus_player: the maximum 10000 is not a multiple of the step 300: write a multiple of the step, "
                "such as 9900"
            ),
        ),
        ("minimum = 2500\n", "", "8: limits.player: the minimum 1 is not a multiple of the step 100: write a multiple of the step, such as 100"),
        ("step = 100", "step = 0", "11: limits.player.step: must be 1 or more, not 0"),
        ('port = "/dev/serial/by-id/usb-ishoe"\n', "", "12: shoe.port: is missing"),
        ('"/dev/serial/by-id/usb-ishoe"', '""', "13: shoe.port: port is empty"),
        ('"/dev/serial/by-id/usb-ishoe"', '"socket://shoe"', '13: shoe.port: "socket://shoe" is no address of a serial line: write'),
        ("[mqtt]", "[mqtt]\nport = 65536", "19: mqtt.port: must be 65535 or less, not 65536"),
        ("[mqtt]", '[mqtt]\nbase = "punto/#"', "19: mqtt.base: base 'punto/#' cannot begin a topic"),
        ("[mqtt]", '[mqtt]\nbase = "/punto"', "19: mqtt.base: base '/punto' cannot begin a topic"),
        ("[mqtt]", '[mqtt]\nbase = ""', "19: mqtt.base: base '' cannot begin a topic"),
        ('username = "table-1"\n', "", "19: mqtt.password_file: password_file is given without a username"),
        ("[operator]", '[operator]\nmode = "0690"', "22: operator.mode: '0690' is not a file mode: write octal digits, such as 0660"),
        ("[operator]", "[edge]\n[operator]", "21: edge.alarm: is missing"),
        ("[operator]", '[edge]\nalarm = "0.01"\n[operator]', "22: edge.alarm: '0.01' is not a percentage: write it as"),
        ("[operator]", '[edge]\nalarm = "-1%"\n[operator]', "22: edge.alarm: '-1%' is not a percentage: write it as"),
        ("[operator]", '[edge]\nalarm = "101%"\n[operator]', '22: edge.alarm: alarm must be from "0%" to "100%", not \'101%\''),
        ("[operator]", '[edge]\nalarm = "1%"\n[operator]', "21: edge: only surveillance may see the edges: write restricted = true in [mqtt]"),
    ],
)  # fmt: skip
def test_a_fault_is_reported_with_its_line_and_key(good, bad, told, config_file):
    found = problems(changed(config_file, good, bad))

    assert any(told in problem for problem in found), found


def test_a_side_wager_may_be_limited_by_its_base_wager(config_file):
    config = load_config(changed(config_file, "minimum = 1000", 'minimum = 1000\nmaximum_of_base = "50%"'))

    assert config.settings().game.wager("dragon_bonus_player").limits == Limits(
        minimum=1000, maximum=10_000, maximum_of_base="50%"
    )


def test_a_share_of_the_base_wager_may_not_exceed_the_game_files(config_file):
    game = (SHIPPED / "games" / "dragon-bonus-1.toml").read_text(encoding="utf-8")
    own = game.replace("maximum = 10000", 'maximum = 10000, maximum_of_base = "50%"')
    (config_file.parent / "own.toml").write_text(own, encoding="utf-8")
    changed(config_file, '"dragon-bonus-1"', '"own.toml"')
    changed(config_file, "minimum = 1000", 'maximum_of_base = "60%"')

    expected = (
        "7: limits.dragon_bonus_player.maximum_of_base: 60% is above the game file's 50% of the base wager"
    )
    assert any(problem.endswith(expected) for problem in problems(config_file))


def test_all_problems_are_reported_at_once(config_file):
    changed(config_file, "version = 1\n[table]", "version = 0\n[table]")
    changed(config_file, "step = 100", "steps = 100")
    changed(config_file, "path =", "pth =")

    assert [problem.partition(":")[0] for problem in problems(config_file)] == ["1", "11", "16", "17"]


def test_limits_beyond_the_sheets_are_reported_together_with_unknown_wagers(config_file):
    changed(config_file, "minimum = 1000", "minimum = 1\nmaximum = 20000")
    changed(config_file, "[limits.player]", "[limits.plyer]")

    assert [problem.partition(":")[0] for problem in problems(config_file)] == ["7", "8", "9"]


def test_a_step_that_is_not_one_of_the_sheets(config_file):
    own = (SHIPPED / "games" / "dragon-bonus-1.toml").read_text(encoding="utf-8")
    stepped = own.replace("maximum = 10000 }", "maximum = 10000, step = 500 }")
    (config_file.parent / "own.toml").write_text(stepped, encoding="utf-8")
    changed(config_file, '"dragon-bonus-1"', '"own.toml"')
    changed(config_file, "minimum = 1000", "step = 750")
    (problem,) = problems(config_file)

    assert problem == (
        "7: limits.dragon_bonus_player.step: 750 is not a multiple of 500, the step of the game file or the smallest chip"
    )


def test_the_approval_letter_is_quoted_where_a_game_may_not_be_read_by_a_shoe(config_file):
    changed(config_file, '"dragon-bonus-1"', '"dai-bacc"')
    changed(config_file, "[limits.dragon_bonus_player]", "[limits.tiger_7]")
    (problem,) = problems(config_file)

    assert problem.startswith("5: table.game: Dai Bacc is a variation dealt face down")
    assert FACE_UP_ONLY in problem


def test_cards_that_are_keyed_need_no_shoe_and_may_have_none(config_file):
    changed(config_file, 'game = "dragon-bonus-1"', 'game = "dragon-bonus-1"\ncards = "keyed"')
    (problem,) = problems(config_file)
    assert problem.startswith('13: shoe: is not used with cards = "keyed" in [table]')

    shoe = '[shoe]\nport = "/dev/serial/by-id/usb-ishoe"\nserial = "IS-004711"\nkey_file = "shoe.key"\n'
    config = load_config(changed(config_file, shoe, ""))
    assert config.shoe is None
    assert config.settings().cards == "keyed"
    assert config.settings().shoe_serial is None


def test_cards_that_are_read_need_a_shoe(config_file):
    shoe = '[shoe]\nport = "/dev/serial/by-id/usb-ishoe"\nserial = "IS-004711"\nkey_file = "shoe.key"\n'
    (problem,) = problems(changed(config_file, shoe, ""))

    assert problem.endswith('shoe: is missing: write the shoe\'s port, or cards = "keyed" in [table]')


def test_a_fault_in_a_game_file_is_reported_with_its_own_line(config_file):
    own = (
        (SHIPPED / "games" / "dragon-bonus-1.toml")
        .read_text(encoding="utf-8")
        .replace("decks = 8", "deks = 8")
    )
    path = config_file.parent / "own.toml"
    path.write_text(own, encoding="utf-8")
    changed(config_file, '"dragon-bonus-1"', '"own.toml"')

    assert problems(config_file) == [f"{path}:10: deks: no such key (did you mean decks?)"]


def test_live_edges_need_a_broker_with_restricted_topics(config_file):
    alarmed = changed(config_file, "[operator]", '[edge]\nalarm = "2.5%"\n[operator]')
    config = load_config(changed(alarmed, "[mqtt]", "[mqtt]\nrestricted = true"))

    assert config.edge is not None
    assert config.edge.share == Fraction(25, 1000)
    assert config.redacted()["edge"] == {"alarm": "2.5%"}
    assert "edge      published to surveillance, alarm above 2.5%\n" in check(str(alarmed)).stdout

    mqtt = '[mqtt]\nrestricted = true\nusername = "table-1"\npassword_file = "secret"\n'
    (problem,) = problems(changed(config_file, mqtt, ""))
    assert problem.startswith("18: edge: only surveillance may see the edges")


def test_without_the_section_there_are_no_live_edges(config_file):
    assert load_config(config_file).edge is None


# --- passwords


def test_a_password_is_read_when_it_is_wanted_and_never_shown(config_file):
    (config_file.parent / "secret").write_text("s3cret-in-the-file\n", encoding="utf-8")
    config = load_config(config_file)
    shown = json.dumps(config.redacted())

    assert config.mqtt is not None
    assert config.mqtt.password() == "s3cret-in-the-file"
    assert "s3cret" not in shown
    assert "s3cret" not in repr(config)
    assert '"username": "table-1"' in shown


# --- the digest


def same(config: ServiceConfig, path: Path) -> bool:
    return load_config(path).digest() == config.digest()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('name = "Baccarat 1"', 'name   =   "Baccarat 1" # a comment'),
        ('name = "Baccarat 1"', 'seats = 7\nname = "Baccarat 1"'),
        ("[mqtt]", '[mqtt]\nbase = "punto"\nport = 1883'),
    ],
)
def test_the_digest_stays_when_the_meaning_does(before, after, config_file):
    config = load_config(config_file)

    assert same(config, changed(config_file, before, after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('name = "Baccarat 1"', 'name = "Baccarat 2"'),
        ("minimum = 2500", "minimum = 2600"),
        ('"dragon-bonus-1"', '"dragon-bonus-2"'),
        ("IS-004711", "IS-004712"),
        ('username = "table-1"', 'username = "table-2"'),
        ("table-1.sock", "table-2.sock"),
    ],
)
def test_the_digest_changes_with_the_meaning(before, after, config_file):
    config = load_config(config_file)

    assert not same(config, changed(config_file, before, after))


def test_the_digest_changes_with_the_game_file_and_not_with_its_name(config_file):
    config = load_config(config_file)
    own = (SHIPPED / "games" / "dragon-bonus-1.toml").read_text(encoding="utf-8")
    path = config_file.parent / "own.toml"
    path.write_text(own, encoding="utf-8")
    changed(config_file, '"dragon-bonus-1"', '"own.toml"')
    assert same(config, config_file)

    path.write_text(own.replace("30 to 1", "31 to 1"), encoding="utf-8")
    assert not same(config, config_file)


def test_what_is_shown_is_json(config_file):
    shown: dict[str, Any] = load_config(config_file).redacted()

    assert json.loads(json.dumps(shown)) == shown
    assert shown["table"]["overdraw"] == "burn"
    assert shown["game"]["wagers"][0]["limits"]["minimum"] == 2500


# --- punto check-config

ONLY_BY_BANKER = """\
[[wagers]]
name = "jackpot"
title = "Jackpot"
requires_base = "any"
requires_base_win = true
progressive = { seed = 100000, contribution = "20%" }
[[wagers.rules]]
name = "nine_over_zero"
when = { banker_total = [9], player_total = [0] }
pays = "100% of the meter"
[[wagers.rules]]
name = "lose"
pays = "lose"
[[wagers]]"""


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    return punto("check-config", *arguments)


def test_the_command_sums_up_a_good_file(config_file):
    without_warning(config_file)
    ran = check(str(config_file))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "table     table-1, 'Baccarat 1', 7 seats" in ran.stdout
    assert "/dev/serial/by-id/usb-ishoe" in ran.stdout
    assert "player               2500 to 500000 in steps of 100" in ran.stdout
    assert "dragon_bonus_player  1000 to 10000" in ran.stdout
    assert f"accounts  {config_file.parent / 'operators.db'}\n" in ran.stdout
    assert "operator  /run/punto/table-1.sock, mode 0660\n" in ran.stdout
    assert load_config(config_file).digest() in ran.stdout
    assert warnings(ran.stdout) == []


@pytest.mark.parametrize(
    ("good", "risky", "warning"),
    [
        ("/dev/serial/by-id/usb-ishoe", "/dev/ttyUSB0", "shoe.port /dev/ttyUSB0 is not under /dev/serial/by-id"),
        (ACCOUNTS, "", "without accounts, nobody can give a supervisor's order, such as a shoe change"),
        ('"operators.db"', '"gone.db"', "gone.db does not exist: make an account with `punto operators`"),
        ('password_file = "secret"', 'password_file = "gone"', "mqtt.password_file"),
        ('password_file = "secret"', 'password_file = "secret"\nca_file = "gone.pem"', "mqtt.ca_file"),
        ('password_file = "secret"', 'password_file = "table.toml"', "is open to every user of this machine"),
        (
            "[record]",
            '[keypad]\ninput = "/dev/input/by-id/pad"\n[keypad.keys]\n"F9 SPACEBAR" = "reveal"\n[record]',
            "no input device has a key SPACEBAR (did you mean SPACE?): 'F9 SPACEBAR' is never pressed",
        ),
    ],
)  # fmt: skip
def test_the_command_warns_of_what_may_hurt(good, risky, warning, config_file):
    without_warning(config_file)
    config_file.chmod(0o644)
    ran = check(str(changed(config_file, good, risky)))

    (warned,) = [line for line in warnings(ran.stdout) if "does not exist: plug" not in line]
    assert ran.returncode == 0
    assert warning in warned


def test_a_line_in_the_network_without_a_key_has_a_warning(config_file):
    without_warning(config_file)
    changed(config_file, "/dev/serial/by-id/usb-ishoe", "socket://10.0.0.5:4001")
    with_key = check(str(config_file))
    changed(config_file, 'key_file = "shoe.key"', "link_version = 1")
    without = check(str(config_file))

    assert (with_key.returncode, warnings(with_key.stdout)) == (0, [])
    assert "read by the shoe at socket://10.0.0.5:4001" in with_key.stdout
    assert without.returncode == 0
    assert any(
        "anybody in that network can send what a shoe sends" in each for each in warnings(without.stdout)
    )


def test_the_command_tells_each_problem_on_a_line_and_ends_with_1(config_file):
    changed(config_file, "step = 100", "steps = 100")
    changed(config_file, "version = 1\n[table]", "version = 9\n[table]")
    ran = check(str(config_file))

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.splitlines() == [
        f"{config_file}:1: version: must be 1, not 9",
        f"{config_file}:11: limits.player.steps: no such key (did you mean step?)",
    ]


def test_the_command_checks_a_game_file_too():
    good, bad = check("--game", "dai-bacc"), check("--game", "dai-back")

    assert (good.returncode, bad.returncode) == (0, 1)
    assert "game      dai-bacc, 'Dai Bacc' (sheet 003): 8 decks, dealt face down, a variation" in good.stdout
    assert "did you mean dai-bacc?" in bad.stderr


@pytest.mark.parametrize(
    ("good", "risky", "warning"),
    [
        ('name = "own"', 'name = "mini-baccarat"', "mini-baccarat is the name of another game that ships with punto"),
        ('"1 to 1"', '"2 to 1"', "player favours the players by 43.3896%: compare its pays (`punto odds`) with its sheet, and correct the game file"),
        ("[[wagers]]", ONLY_BY_BANKER, "the edges cannot be computed: no award of jackpot can be won from this shoe"),
    ],
)  # fmt: skip
def test_the_command_warns_of_what_may_hurt_in_a_game_file(good, risky, warning, config_file):
    own = (SHIPPED / "games" / "dragon-bonus-1.toml").read_text(encoding="utf-8")
    own = own.replace('name = "dragon-bonus-1"', 'name = "own"').replace(good, risky, 1)
    path = config_file.parent / "own.toml"
    path.write_text(own, encoding="utf-8")
    changed(config_file, '"dragon-bonus-1"', '"own.toml"')
    without_warning(config_file)

    nobody_keeps = "warning: jackpot pays from a meter, but the table has no meter"
    for ran in (check("--game", str(path)), check(str(config_file))):
        (warned,) = [line for line in warnings(ran.stdout) if not line.startswith(nobody_keeps)]
        assert ran.returncode == 0
        assert warning in warned


@pytest.mark.in_part
@pytest.mark.parametrize("name", part([*shipped_games()], one_in=8))
def test_no_game_that_ships_is_warned_of(name, capsys):
    path = SHIPPED / "games" / f"{name}.toml"
    status = check_config.main(argparse.Namespace(game=str(path), file=None, user=None))
    out, err = capsys.readouterr()

    assert (status, err) == (0, "")
    assert out.startswith(f"game      {name}, ")
    warned = [line for line in out.splitlines() if line.startswith("warning")]
    # Beside both hands at once its meter is worth more than it costs, which no sheet forbids.
    assert [line.split()[1] for line in warned] == ["progressive:player+banker"] * (name == "progressive-2")


def test_a_displays_configuration_is_checked_too(tmp_path):
    shipped = check(str(SHIPPED / "display.toml"))
    wrong = tmp_path / "display.toml"
    wrong.write_text('[display]\ntables = ["table-1"]\nlayuot = "portrait"\n', encoding="utf-8")
    refused = check(str(wrong))

    assert (shipped.returncode, shipped.stderr) == (0, "")
    assert "tables    table-1, topics punto/... of the broker at 127.0.0.1:1885" in shipped.stdout
    assert "pages     at 127.0.0.1:8080: landscape, lacquer, en" in shipped.stdout
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == f"{wrong}:3: display.layuot: no such key (did you mean layout?)\n"


@pytest.mark.parametrize("command", [["check-config"], ["run", "--config"]])
def test_a_game_file_where_a_configuration_should_be_is_reported_in_one_line(command):
    path = SHIPPED / "games" / "dai-bacc.toml"
    ran = punto(*command, str(path))

    assert ran.returncode != 0
    assert ran.stderr == (
        f"{path}: this is a game file, not a table's configuration: check it with `punto check-config --game {path}`\n"
    )


def test_a_configuration_where_a_game_file_should_be_is_reported_in_one_line():
    path = SHIPPED / "table.toml"
    ran = check("--game", str(path))

    assert ran.returncode != 0
    assert ran.stderr == (
        f"{path}: this is a table's configuration, not a game file: check it with `punto check-config {path}`\n"
    )


def test_the_command_reports_a_missing_file():
    ran = check("no/such.toml")

    assert (ran.returncode, ran.stderr) == (1, "no/such.toml: cannot be read: No such file or directory\n")


def test_the_configuration_to_copy_can_be_used():
    assert load_config(SHIPPED / "table.toml").settings()


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        (
            "[record]",
            '[keypad]\nport = "/dev/serial/by-id/usb-ishoe"\nlink_version = 1\n[record]',
            "keypad.port: /dev/serial/by-id/usb-ishoe is also the port of the shoe: each device needs a port of its own",
        ),
        (
            'game = "dragon-bonus-1"',
            'game = "dragon-bonus-1"\nburn = "fixed"',
            'table.burn: a "fixed" burn needs a number of cards: write burn_cards too, such as burn_cards = 3',
        ),
    ],
)
def test_settings_that_cannot_be_together_are_refused_with_what_to_write(config_file, good, bad, said):
    (problem,) = problems(changed(config_file, good, bad))

    assert problem.partition(": ")[2] == said
    changed(
        config_file, bad, bad.replace("usb-ishoe", "usb-keypad").replace('"fixed"', '"fixed"\nburn_cards = 3')
    )
    load_config(config_file)


def test_a_folder_that_is_not_there_is_warned_of(config_file):
    without_warning(config_file)
    changed(config_file, "/run/punto/table-1.sock", f"{config_file.parent}/doors/table-1.sock")
    (config_file.parent / "var").rmdir()

    lines = check(str(config_file)).stdout.splitlines()
    warned = [line.split()[1] for line in lines if line.startswith("warning: ") and "the folder" in line]
    assert warned == ["record.path", "operator.socket"]


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ('[names]\nen = "The Peninsula"\n', 0, "a theme for a display's [display] house"),
        ('[colours]\ngold = "red"\n', 1, "'red' is not a colour"),
        (
            "[mqtt]\n",
            1,
            "the file is not a configuration: a table's configuration has [table], a display's has [display], and a Game Manager's has [store]",
        ),
    ],
)
def test_a_file_is_judged_as_what_it_is(tmp_path, text, status, said):
    path = tmp_path / "what.toml"
    path.write_text(text)

    ran = check(str(path))

    assert ran.returncode == status
    assert said in ran.stdout + ran.stderr


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, True), (0o644, True)])
def test_it_warns_of_an_accounts_file_that_others_can_read(config_file, capsys, mode, warned):
    without_warning(config_file)
    path = config_file.parent / "operators.db"
    path.chmod(mode)
    check_config.main(argparse.Namespace(game=None, file=[config_file], user=None))

    assert (
        f"{path} is open to other users of this machine: chmod go= {path}" in capsys.readouterr().out
    ) is warned
