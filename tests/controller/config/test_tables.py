"""A configuration of several tables: what is shared, what each table has for itself, and what is refused."""

import shutil
from pathlib import Path

import pytest

from punto.configs.problems import ConfigError
from punto.controller.config.file import load_config
from punto.controller.config.tables import load_configs, load_table
from punto.runtime.secret_file import read_secret
from tests.command import punto

SHIPPED = Path(__file__).parents[3] / "configs"

SHARED = """\
version = 1
[mqtt]
port = 1885
base = "house"
[accounts]
path = "operators.db"
[shoe]
link_version = 1
[limits.player]
minimum = 2500
step = 500
"""
ONE = """\
[[table]]
id = "one"
name = "First"
game = "dragon-bonus-1"
[table.shoe]
port = "/dev/shoe-1"
[table.record]
path = "one.db"
[table.operator]
socket = "one.sock"
[table.console]
port = 8091
"""
TWO = """\
[[table]]
id = "two"
name = "Second"
game = "dragon-bonus-1"
seats = 9
[table.shoe]
port = "/dev/shoe-2"
baud = 9600
[table.record]
path = "two.db"
[table.mqtt]
username = "two"
[table.limits.player]
minimum = 5000
[table.operator]
socket = "two.sock"
[table.console]
port = 8092
"""
SECOND_ALONE = """\
version = 1
[table]
id = "two"
name = "Second"
game = "dragon-bonus-1"
seats = 9
[shoe]
port = "/dev/shoe-2"
baud = 9600
link_version = 1
[record]
path = "two.db"
[mqtt]
port = 1885
base = "house"
username = "two"
[accounts]
path = "operators.db"
[limits.player]
minimum = 5000
step = 500
[operator]
socket = "two.sock"
[console]
port = 8092
"""


@pytest.fixture
def house(tmp_path):
    path = tmp_path / "house.toml"
    path.write_text(SHARED + ONE + TWO, encoding="utf-8")
    return path


def changed(path: Path, good: str, bad: str) -> Path:
    text = path.read_text(encoding="utf-8")
    assert good in text
    path.write_text(text.replace(good, bad), encoding="utf-8")
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(ConfigError) as error:
        load_configs(path)
    return [str(problem).removeprefix(f"{path}:") for problem in error.value.problems]


def test_each_table_is_what_it_would_be_in_a_file_of_its_own(house):
    (house.parent / "two.toml").write_text(SECOND_ALONE, encoding="utf-8")
    one, two = load_configs(house)
    alone = load_config(house.parent / "two.toml")

    assert two == alone
    assert two.digest() == alone.digest()
    assert one.mqtt is not None
    assert one.mqtt.username is None
    assert one.settings().game.wager("player").limits.minimum == 2500


def test_a_file_of_one_table_means_what_it_always_meant():
    path = SHIPPED / "table.toml"

    assert load_configs(path) == (load_config(path),)
    assert load_table(path, None) == load_table(path, "table-1") == load_config(path)


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ('id = "two"', 'id = "one"', ["25: one: table.id: one is also the id of another table: write another id in [[table]]"]),
        (
            'path = "two.db"',
            'path = "one.db"',
            ["33: two: record.path: FOLDER/one.db is also the record of one: write another path in [table.record]"],
        ),
        (
            'path = "two.db"',
            'path = "other-name.db"',
            ["33: two: record.path: FOLDER/other-name.db is also the record of one: write another path in [table.record]"],
        ),
        (
            'socket = "two.sock"',
            'socket = "one.sock"',
            ["39: two: operator.socket: FOLDER/one.sock is also the operators' socket of one: write another socket in [table.operator]"],
        ),
        (
            "port = 8092",
            "port = 8091",
            ["41: two: console.port: 8091 is also the port of the consoles of one: write another port in [table.console]"],
        ),
        (
            'port = "/dev/shoe-2"',
            'port = "/dev/shoe-1"',
            ["30: two: shoe.port: /dev/shoe-1 is also a device of one: write another port in [table.shoe]"],
        ),
        (
            'path = "two.db"',
            'path = "two.db"\n[table.keypad]\nport = "/dev/shoe-1"\nlink_version = 1',
            ["35: two: keypad.port: /dev/shoe-1 is also a device of one: write another port in [table.keypad]"],
        ),
        ('[table.shoe]\nport = "/dev/shoe-2"\nbaud = 9600\n', "", ["7: two: shoe.port: is missing"]),
        ("seats = 9", "sets = 9", ["28: two: table.sets: no such key (did you mean seats?)"]),
        (
            '[table.record]\npath = "two.db"',
            '[table.recrd]\npath = "two.db"',
            ["24: two: record: is missing", "32: two: recrd: no such key (did you mean record?)"],
        ),
        ('id = "two"', "id = 2", ["25: table[2]: table.id: must be text in quotes, not 2"]),
        ("port = 1885", "prt = 1885", ["3: one, two: mqtt.prt: no such key (did you mean port?)"]),
    ],
)  # fmt: skip
def test_an_error_names_its_table_and_its_key(house, good, bad, said):
    (house.parent / "other-name.db").symlink_to(house.parent / "one.db")
    found = problems(changed(house, good, bad))

    assert [each.replace(str(house.parent), "FOLDER") for each in found] == said


def test_a_file_without_a_table_in_its_list_is_refused(house):
    house.write_text("version = 1\ntable = []\n", encoding="utf-8")

    assert problems(house) == ["2: table: must not be empty: write at least one [[table]]"]


def test_a_problem_of_every_table_is_reported_once(house):
    house.write_text(
        SHARED.replace("port = 1885", "prt = 1885")
        + "".join(ONE.replace("one", f"t{n}").replace("8091", f"{9000 + n}") for n in range(5)),
        encoding="utf-8",
    )

    assert "3: t0 and 4 more tables: mqtt.prt: no such key (did you mean port?)" in problems(house)


def test_a_command_for_one_table_asks_which(house):
    assert load_table(house, "two").table.id == "two"
    for table, said in (
        (None, "the file has 2 tables (one, two): name one of them with --table"),
        ("tow", "the file has no table 'tow'; it has one, two (did you mean two?)"),
    ):
        with pytest.raises(ConfigError, match=r".*") as error:
            load_table(house, table)
        assert str(error.value) == f"{house}: {said}"
    with pytest.raises(ConfigError, match="this file has several tables"):
        load_config(house)


def test_punto_operator_finds_the_socket_of_a_table(house):
    ran = punto("operator", "--config", str(house), "--table", "two", "status")

    assert ran.returncode == 2
    assert f"no service answers at {house.parent / 'two.sock'}" in ran.stderr


def test_the_accounts_and_the_brokers_users_are_those_of_all_tables(house):
    assert "there is no accounts' file at" in punto("operators", "--config", str(house), "list").stderr
    made = punto("broker-users", str(house), "--out", str(house.parent / "broker"))

    assert made.returncode == 0
    assert read_secret(house.parent / "broker" / "passwords" / "one", "password", "")
    assert read_secret(house.parent / "broker" / "passwords" / "two", "password", "")


def test_tables_with_different_games_have_no_common_odds(house):
    ran = punto("games", str(house))

    assert (ran.returncode, ran.stdout) != (0, "")
    assert "play different games or limits" in ran.stderr


def test_check_config_reports_each_table_and_the_warnings_with_their_tables(house):
    ran = punto("check-config", str(house))
    lines = ran.stdout.splitlines()

    assert ran.returncode == 0
    assert [line.split("'")[1] for line in lines if line.startswith("table ")] == ["First", "Second"]
    assert "warning: two: mqtt.username 'two' has no password: write its password_file too" in lines
    assert any(line.startswith("warning: one, two: accounts.path") for line in lines)


def test_the_studio_that_ships_can_be_used(tmp_path):
    shutil.copy(SHIPPED / "studio.toml", tmp_path)
    configs = load_configs(tmp_path / "studio.toml")
    for config in configs:
        for _, device in config.devices():
            assert device.key_file is not None
            assert punto("device-key", str(device.key_file)).returncode == 0
        assert config.settings().unproven == ()
    vip = configs[-1].settings().game.wager("player").limits

    assert [config.table.id for config in configs] == ["studio-1", "studio-2", "studio-vip"]
    assert (vip.minimum, vip.maximum, vip.step) == (2500, 5_000_000, 100)
    assert punto("check-config", str(tmp_path / "studio.toml")).returncode == 0


# --- tables that share a meter

FLOOR = """\
version = 1
[mqtt]
port = 1885
"""
AUTHORITY = """\
[[table]]
id = "meter-1"
name = "The meter"
game = "progressive-2"
cards = "keyed"
[table.record]
path = "meter-1.db"
[table.progressive]
id = "dragon"
authority = "meter-1"
key_folder = "keys"
tables = ["t1", "t2"]
"""
LINKED = """\
[[table]]
id = "t1"
name = "First"
game = "progressive-2"
cards = "keyed"
[table.record]
path = "t1.db"
[table.progressive]
id = "dragon"
authority = "meter-1"
key_folder = "keys"
"""


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        (
            'name = "First"',
            'name = "First"\ncurrency = "EUR"',
            "t1 plays in EUR, but meter-1 keeps the meter of dragon in USD: write the same currency in [table] of both",
        ),
        (
            'name = "First"',
            'name = "First"\nsimulation = true',
            "either the table or the authority is a simulation, and not both: configure simulation alike at both",
        ),
        (
            'authority = "meter-1"\n',
            'authority = "meter-1"\nprocedure = "nexus"\n',
            (
                "t1 confirms awards by the procedure nexus, but meter-1 keeps the meter of dragon for aquarius: write the same procedure "
                "in [progressive] of both"
            ),
        ),
        (
            'cards = "keyed"',
            'cards = "keyed"\n[table.rules.dragon_bonus_player]\nrequires_base = "none"',
            (
                "the game of t1 has other rules than the game for which meter-1 keeps the meter of dragon "
                "(wager dragon_bonus_player): configure the same game with the same rules at both"
            ),
        ),
        (
            'id = "t1"',
            'id = "t3"',
            "t3 is not linked to dragon: add it to tables of meter-1",
        ),
    ],
)
def test_a_table_that_its_authority_refuses_is_found_in_the_configuration_of_a_house(
    tmp_path, good, bad, said
):
    house = tmp_path / "house.toml"
    house.write_text(FLOOR + AUTHORITY + LINKED, encoding="utf-8")
    assert len(load_configs(house)) == 2

    house.write_text(FLOOR + AUTHORITY + LINKED.replace(good, bad), encoding="utf-8")
    text = house.read_text(encoding="utf-8")
    line = text[: text.rindex("authority =")].count("\n") + 1
    table = "t3" if "t3" in bad else "t1"
    assert problems(house) == [f"{line}: {table}: progressive.authority: {said}"]


def test_a_setting_of_the_meter_that_its_authority_decides_is_refused_at_a_table(tmp_path):
    house = tmp_path / "tables.toml"
    own = LINKED.replace(
        'authority = "meter-1"\n', 'authority = "meter-1"\nbase_wagers = "recorded"\nseed = 500\n'
    )
    house.write_text(FLOOR + AUTHORITY + own, encoding="utf-8")
    (problem,) = problems(house)
    assert problem.endswith(
        "base_wagers, seed: meter-1 keeps the meter and decides this for all its tables: write it in the configuration of meter-1, "
        "and remove it here"
    )


def test_a_table_that_keeps_the_meter_of_its_authority_itself_is_found(tmp_path):
    house = tmp_path / "house.toml"
    house.write_text(
        FLOOR + AUTHORITY + LINKED.replace('authority = "meter-1"\nkey_folder = "keys"\n', ""),
        encoding="utf-8",
    )

    (problem,) = problems(house)
    assert problem.endswith(
        'meter-1 has t1 in tables, but t1 keeps a meter of dragon itself: write authority = "meter-1" in [progressive] of t1, or another '
        "id"
    )

    changed(house, 'id = "dragon"\n', 'id = "tiger"\n')  # of both: the first is the authority's
    changed(house, 'id = "tiger"\nauthority', 'id = "dragon"\nauthority')
    assert len(load_configs(house)) == 2


def test_check_config_compares_the_tables_of_several_files(tmp_path):
    files = [tmp_path / "meter-1.toml", tmp_path / "t1.toml"]
    for path, text in zip(files, (AUTHORITY, LINKED), strict=True):
        alone = text.replace("[[table]]", "[table]").replace("[table.", "[")
        path.write_text(FLOOR + alone, encoding="utf-8")
    ran = punto("check-config", *map(str, files))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [line.split("'")[1] for line in ran.stdout.splitlines() if line.startswith("table ")] == [
        "The meter",
        "First",
    ]

    changed(files[1], 'name = "First"', 'name = "First"\ncurrency = "EUR"')
    ran = punto("check-config", *map(str, files))
    assert ran.returncode == 1
    assert f"{files[1]}: progressive.authority: t1 plays in EUR" in ran.stderr

    for path in files:
        changed(path, 'cards = "keyed"', "")
    ran = punto("check-config", *map(str, files))
    assert [line.split(":")[0] for line in ran.stderr.splitlines()] == list(map(str, files))


@pytest.mark.parametrize("text", [AUTHORITY, LINKED])
def test_a_link_without_a_key_is_refused_except_in_a_simulation(tmp_path, text):
    path = tmp_path / "table.toml"
    without = (FLOOR + text).replace('key_folder = "keys"\n', "")
    path.write_text(without, encoding="utf-8")
    (said,) = problems(path)
    assert (
        "progressive.key_folder: is missing, so anyone with a table's password at the broker could move the meter"
        in said
    )

    path.write_text(without.replace('name = "', 'simulation = true\nname = "'), encoding="utf-8")
    ran = punto("check-config", str(path))
    assert ran.returncode == 0
    assert "warning: progressive: what the tables ask of the meter is not signed" in ran.stdout


def test_a_folder_of_keys_is_refused_for_a_meter_of_the_table_alone(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(FLOOR + LINKED.replace('authority = "meter-1"\n', ""), encoding="utf-8")
    (said,) = problems(path)
    assert "progressive.key_folder: is for tables that share a meter" in said


def test_each_end_of_a_link_names_the_keys_that_it_needs(tmp_path):
    path, keys = tmp_path / "house.toml", tmp_path / "keys"
    path.write_text(FLOOR + AUTHORITY + LINKED, encoding="utf-8")
    said = punto("check-config", str(path)).stdout
    for name in ("t1", "t2"):
        missing = f"progressive.key_folder {keys / name}.key does not exist: make it with `punto device-key`"
        assert missing in said

    keys.mkdir()
    for name in ("t1", "t2", "t1.new"):
        assert punto("device-key", str(keys / f"{name}.key")).returncode == 0
    authority, t1 = load_configs(path)
    assert authority.progressive is not None
    assert t1.progressive is not None
    found = authority.progressive.link_keys("meter-1")
    assert [len(each) for each in found.values()] == [2, 1]
    assert t1.progressive.link_keys("t1") == {"t1": found["t1"][:1]}

    (keys / "t2.key").write_text("no key\n", encoding="ascii")
    with pytest.raises(ConfigError, match="does not have a key of a link, which is 64 hexadecimal digits"):
        authority.progressive.link_keys("meter-1")
