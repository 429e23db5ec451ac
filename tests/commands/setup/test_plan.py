"""The plan of `punto setup`: which files and commands follow from the answers of a table."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from punto.commands import check_config
from punto.commands.setup.answers import (
    Answers,
    BrokerAnswer,
    DeviceAnswer,
    PagesAnswer,
    SensorsAnswer,
    read_answers,
)
from punto.commands.setup.configuration import can_be_rehearsed, metered, rehearsal_config
from punto.commands.setup.page import pit_page
from punto.commands.setup.plan import (
    BrokerUsers,
    Certificate,
    Command,
    Copy,
    File,
    Key,
    Once,
    PortRule,
    Step,
    answers_file,
    config_file,
    display_file,
    plan_of,
)
from punto.configs.game_files import load_game, shipped_games
from punto.configs.problems import ConfigError
from punto.controller.accounts.roles import Role
from punto.controller.config.file import load_config
from punto.displays.options import read_options

SHOE = DeviceAnswer(port="/dev/serial/by-id/usb-shoe")
BY_HAND = "dai-bacc"
"""The game that no shoe may read (approval letter)."""


def answers(**others: Any) -> Answers:
    return Answers(**{"shoe": SHOE, "people": {"Mei": (Role.SUPERVISOR,)}, **others}).with_ports(())


def files(steps: object) -> dict[Path, File]:
    assert isinstance(steps, list)
    return {each.path: each for each in steps if isinstance(each, File)}


def kinds(steps: object, kind: type[Step]) -> list[Any]:
    assert isinstance(steps, list)
    return [each for each in steps if isinstance(each, kind)]


def written(folder: Path, given: Answers) -> Path:
    """The table's configuration, as the plan writes it."""
    path = folder / f"{given.table}.toml"
    path.write_text(files(plan_of(given))[config_file(given.table)].signed, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("game", "currency"),
    [*((game, "USD") for game in shipped_games()), ("ez-baccarat", "JPY"), ("super-6", "KWD")],
)
def test_the_configuration_of_each_game_passes_check_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str, currency: str
) -> None:
    monkeypatch.setattr(
        check_config, "_WITH_ODDS", False
    )  # as on the PC of a table; and the edges take seconds
    given = answers(game=game, currency=currency, shoe=None if game == BY_HAND else SHOE)

    warnings = [
        line
        for line in check_config.summaries([written(tmp_path, given)])
        if line.lower().startswith("warning")
    ]

    expected = ("does not exist", "no such group")
    assert [line for line in warnings if not any(each in line for each in expected)] == []


def test_no_wager_of_a_table_is_without_limits(tmp_path: Path) -> None:
    for game in ("dragon-bonus-1", "five-treasures", "progressive-2"):
        config = load_config(written(tmp_path, answers(game=game, minimum=5000, maximum=1_000_000)))
        limits = {wager.name: wager.limits for wager in config.game.wagers}

        assert (limits["player"].minimum, limits["player"].maximum) == (5000, 1_000_000)
        assert (limits["tie"].minimum, limits["tie"].maximum) == (1000, 100_000)
        assert all(each.maximum is not None for each in limits.values()), game


def test_a_side_wager_keeps_the_limits_of_its_game() -> None:
    game = load_game("progressive-2")
    (own,) = (wager.name for wager in game.wagers if wager.progressive is not None)

    assert f"[limits.{own}]" not in files(plan_of(answers(game="progressive-2")))[config_file("table-1")].text


def test_a_progressive_has_its_meter_and_waits_for_the_dealer(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, answers(game="progressive-2", table="table-3")))

    assert config.progressive is not None
    assert (config.progressive.id, config.progressive.reserve) == ("table-3", "1%")
    assert (config.table.betting_closes, config.table.next_coup) == ("order", "order")


def test_all_devices_are_in_the_configuration_with_their_keys(tmp_path: Path) -> None:
    given = answers(
        game="progressive-2",
        keypad=DeviceAnswer(input="/dev/input/by-id/keypad", link_version=1),
        coin_spot=SensorsAnswer(port="/dev/sensors", seats=(1, 2, 0)),
        card_reader=DeviceAnswer(port="/dev/reader"),
    )
    config = load_config(written(tmp_path, given))

    assert {name: device.key_file and device.key_file.name for name, device in config.devices()} == {
        "shoe": "table-1.shoe.key",
        "keypad": None,
        "coin_spot": "table-1.coin-spot.key",
        "card_reader": "table-1.card-reader.key",
    }
    assert config.coin_spot is not None
    assert config.coin_spot.seats == (1, 2, 0)
    assert {each.path.name for each in kinds(plan_of(given), Key)} == {
        "table-1.shoe.key",
        "table-1.coin-spot.key",
        "table-1.card-reader.key",
    }


def test_without_a_shoe_the_cards_are_keyed(tmp_path: Path) -> None:
    given = answers(shoe=None)

    assert load_config(written(tmp_path, given)).table.cards == "keyed"
    assert kinds(plan_of(given), Key) == kinds(plan_of(given), PortRule) == []


def test_only_a_table_for_practice_takes_a_virtual_shoe(tmp_path: Path) -> None:
    assert load_config(written(tmp_path, answers(simulation=True))).table.simulation
    assert not load_config(written(tmp_path, answers())).table.simulation


def test_the_display_shows_the_table_in_the_language_with_a_user_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "display.toml"
    path.write_text(files(plan_of(answers(language="zh-Hant")))[display_file("table-1")].signed)
    options = read_options(path, {})

    assert (options.display.tables, options.display.lang) == (("table-1",), "zh-Hant")
    assert options.mqtt.username == "table-1-display"


def test_the_answers_are_kept_as_they_were_given(tmp_path: Path) -> None:
    given = answers(
        name='Baccarat "1" 百家樂',
        broker=BrokerAnswer(host="broker.example", passwords="/srv/passwords"),
        coin_spot=SensorsAnswer(port="/dev/sensors"),
        people={"美 O'Neil": (Role.SUPERVISOR, Role.DEALER)},
    )
    path = tmp_path / "table-1.answers"
    path.write_text(files(plan_of(given))[answers_file("table-1")].signed, encoding="utf-8")

    assert read_answers(path) == given


def test_only_root_and_the_groups_of_the_table_and_the_broker_can_read_secrets() -> None:
    steps = plan_of(answers(console=PagesAnswer(host="10.0.7.5")))

    assert {(each.path.name, each.group) for each in kinds(steps, Key)} == {
        ("table-1.shoe.key", "punto-table-1")
    }
    assert [each.group for each in kinds(steps, Certificate)] == ["punto-table-1"]
    assert {(str(each.path), each.group, each.mode) for each in kinds(steps, Copy)} == {
        ("/etc/punto/table-1.mqtt-password", "root", 0o600),
        ("/etc/punto-display/table-1.mqtt-password", "root", 0o600),
        ("/etc/mosquitto/punto.acl", "mosquitto", 0o640),
        ("/etc/mosquitto/punto.passwd", "mosquitto", 0o640),
    }
    assert {str(each.path): (each.group, each.mode) for each in files(steps).values()} == {
        "/etc/tmpfiles.d/punto-table-1.conf": ("root", 0o644),
        "/etc/punto/table-1.toml": ("punto-table-1", 0o640),
        "/etc/punto/table-1.answers": ("root", 0o600),
        "/etc/punto/table-1.html": ("punto", 0o640),
        "/etc/punto-display/table-1.toml": ("punto-display", 0o640),
    }


def test_a_console_beyond_this_pc_has_a_certificate(tmp_path: Path) -> None:
    given = answers(console=PagesAnswer(host="10.0.7.5", port=8443))
    config = load_config(written(tmp_path, given))

    assert config.console is not None
    assert (config.console.certificate, config.console.key) == (
        tmp_path / "table-1.pem",
        tmp_path / "table-1.key",
    )
    assert [each.host for each in kinds(plan_of(given), Certificate)] == ["10.0.7.5"]
    assert kinds(plan_of(answers()), Certificate) == []


def test_the_page_for_the_pit_has_the_addresses_and_people() -> None:
    at_a_tablet = pit_page(answers(name="<Salon> 8", console=PagesAnswer(host="10.0.7.5", port=8443)))
    here = pit_page(answers())

    for text in (
        "&lt;Salon&gt; 8",
        "https://10.0.7.5:8443/dealer",
        "http://127.0.0.1:8080",
        "Mei: supervisor",
        "table-1.pem",
    ):
        assert text in at_a_tablet
    assert "http://127.0.0.1:8090/supervisor" in here
    assert "table-1.pem" not in here


def test_a_broker_of_the_house_gives_the_passwords_and_this_pc_makes_no_users(tmp_path: Path) -> None:
    given = answers(
        broker=BrokerAnswer(host="10.0.7.11", port=8883, passwords="/srv/passwords", ca_file="ca.pem")
    )
    steps = plan_of(given)
    config = load_config(written(tmp_path, given))

    assert config.mqtt is not None
    assert (config.mqtt.host, config.mqtt.port, config.mqtt.username) == ("10.0.7.11", 8883, "table-1")
    assert kinds(steps, BrokerUsers) == kinds(steps, Once) == []
    assert {str(each.source) for each in kinds(steps, Copy)} == {
        "/srv/passwords/table-1",
        "/srv/passwords/table-1-display",
    }


def test_a_broker_that_asks_nobody_to_sign_on_needs_no_password(tmp_path: Path) -> None:
    given = answers(broker=BrokerAnswer(host="10.0.7.11"))
    config = load_config(written(tmp_path, given))

    assert config.mqtt is not None
    assert config.mqtt.username is None
    assert kinds(plan_of(given), Copy) == []


def test_a_pc_without_mosquitto_gets_no_file_of_mosquitto() -> None:
    steps = plan_of(answers(), mosquitto=False)

    assert kinds(steps, BrokerUsers) == [BrokerUsers(Path("/etc/punto-broker"))]
    assert [each for each in steps if str(getattr(each, "path", "")).startswith("/etc/mosquitto")] == []
    assert [each.words for each in kinds(steps, Command) if "mosquitto" in each.words] == []


FILE = File(Path("/etc/x"), "one\ntwo\n")
EARLIER = File(Path("/etc/x"), "zero\n").signed


@pytest.mark.parametrize(
    ("there", "origin"),
    [
        (None, "absent"),
        (FILE.signed, "same"),
        (EARLIER, "ours"),
        (FILE.signed.replace("two", "three"), "edited"),
        (EARLIER.replace("zero", "three"), "theirs"),
        ("one\ntwo\n", "theirs"),
        ("", "theirs"),
    ],
)  # fmt: skip
def test_a_file_that_a_person_has_changed_is_recognised(there: str | None, origin: str) -> None:
    assert FILE.origin(there) == origin


def test_the_answers_are_never_taken_for_a_file_of_another_person() -> None:
    file = File(Path("/etc/x"), "one\n", shared=False)

    assert (file.signed, file.origin("two\n")) == ("one\n", "ours")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"table": "Table 1"}, "small letters"),
        ({"table": "display"}, "cannot be a table here"),
        ({"table": "t" * 26}, "at most 25"),
        ({"currency": "XXX"}, "not a currency"),
        ({"language": "xx"}, "one of en"),
        ({"minimum": 500, "maximum": 100}, "more than maximum"),
        ({"shoe": {}}, "either port or input"),
        ({"people": {"Mei": ("boss",)}}, "people"),
    ],
)  # fmt: skip
def test_an_answer_that_cannot_be_used_is_refused_with_the_reason(
    wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        Answers(**wrong)


def test_a_configuration_is_not_taken_for_answers(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a file of answers"):
        read_answers(written(tmp_path, answers()))


def test_pages_get_the_first_ports_that_no_other_table_has() -> None:
    second = Answers(table="table-2").with_ports({8080, 8090, 8091})
    own = Answers(console=PagesAnswer(port=9000)).with_ports({9000})

    assert (second.console.port, second.display.port) == (8092, 8081)
    assert own.console.port == 9000


def test_the_devices_belong_to_the_group_of_their_own_table() -> None:
    (rule,) = kinds(plan_of(answers(table="table-2")), PortRule)

    assert (rule.path.name, rule.group) == ("61-punto-table-2.rules", "punto-table-2")
    assert rule.devices == (("shoe", SHOE),)


def test_a_game_that_no_shoe_may_read_is_not_rehearsed() -> None:
    assert not can_be_rehearsed(answers(game=BY_HAND, shoe=None))
    assert can_be_rehearsed(answers(shoe=None))


@pytest.mark.parametrize("game", ["dragon-bonus-1", "midi-baccarat", "progressive-2"])
def test_a_rehearsal_has_the_game_and_limits_and_no_device_or_broker(tmp_path: Path, game: str) -> None:
    given = answers(game=game)
    path = tmp_path / "rehearsal.toml"
    path.write_text(rehearsal_config(given, tmp_path))
    rehearsed, real = load_config(path), load_config(written(tmp_path, given))

    assert rehearsed.game == real.game
    assert rehearsed.table.simulation
    assert (rehearsed.mqtt, rehearsed.console, rehearsed.progressive) == (None, None, None)
    assert rehearsed.shoe is not None
    assert Path(rehearsed.shoe.port).parent == rehearsed.record.path.parent == tmp_path
    assert metered(real.game) == (real.progressive is not None)
