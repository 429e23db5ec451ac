"""The user at the broker and where the password lies, for a table's service and for a display alike."""

from pathlib import Path

import pytest

from punto.configs.problems import ConfigError
from punto.controller.broker_login import BrokerLogin
from punto.controller.config import MqttConfig, load_config
from punto.displays.options import MqttOptions, read_options
from tests.config.test_config import check

CREDENTIAL = "$CREDENTIALS_DIRECTORY/mqtt-password"
HERE = Path(__file__).parents[2]


@pytest.fixture(params=["table", "display"])
def config(request, tmp_path: Path) -> Path:
    """A configuration of either kind, as it ships, with a credential as its password."""
    shipped = (HERE / "configs" / f"{request.param}.toml").read_text(encoding="utf-8")
    login = f'username = "somebody"\npassword_file = "{CREDENTIAL}"\n'
    path = tmp_path / f"{request.param}.toml"
    path.write_text(shipped.replace("\n[mqtt]\n", f"\n[mqtt]\n{login}"), encoding="utf-8")
    return path


def login(config: Path) -> BrokerLogin:
    found = read_options(config, {}).mqtt if config.stem == "display" else load_config(config).mqtt
    assert found is not None
    return found


def test_a_credential_is_read_where_systemd_put_it(config, tmp_path, monkeypatch):
    (tmp_path / "credentials").mkdir()
    (tmp_path / "credentials" / "mqtt-password").write_text(" p ä\n", encoding="utf-8")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "credentials"))

    assert login(config).password() == " p ä"


def test_the_configuration_is_the_same_wherever_systemd_puts_the_credential(tmp_path, monkeypatch):
    """A start whose configuration has another digest is refused in mid-shoe."""
    mqtt = MqttConfig.model_validate({"username": "punto", "password_file": Path(CREDENTIAL)}, context="/etc")
    before = mqtt.model_dump_json()
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))

    assert mqtt.model_dump_json() == before
    assert str(mqtt.password_file) == CREDENTIAL


def test_without_systemd_there_is_no_credential_and_the_message_says_what_to_do(config, monkeypatch):
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    with pytest.raises(ConfigError) as refused:
        login(config).password()

    assert str(refused.value) == (
        f"mqtt.password_file: {CREDENTIAL}: systemd has given this program no credentials: start it as a unit with "
        "LoadCredential=mqtt-password:FILE, or name a file that its user can read"
    )


def test_a_check_outside_the_unit_does_not_miss_the_credential(config):
    checked = check(str(config))

    assert (checked.returncode, checked.stderr) == (0, "")
    assert "password" not in checked.stdout


def test_any_other_path_is_relative_to_the_file(config):
    config.write_text(
        config.read_text(encoding="utf-8").replace(CREDENTIAL, "$HOME/secret"), encoding="utf-8"
    )

    assert login(config).password_file == config.parent / "$HOME" / "secret"
    assert (
        f"warning: mqtt.password_file {config.parent}/$HOME/secret is not there\n"
        in check(str(config)).stdout
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "secret: the password cannot be read: No such file or directory"),
        (b"", "secret: a password file has one line"),
        (b"\n", "secret: a password file has one line"),
        (b"one\ntwo\n", "secret: a password file has one line"),
        (b"\xff\n", "secret: the password is not UTF-8 text"),
    ],
)
def test_a_password_file_that_holds_no_password(content, said, config):
    config.write_text(config.read_text(encoding="utf-8").replace(CREDENTIAL, "secret"), encoding="utf-8")
    if content is not None:
        (config.parent / "secret").write_bytes(content)

    with pytest.raises(ConfigError, match=said):
        login(config).password()


def test_no_password_file_is_no_password():
    assert MqttOptions(username="somebody").password() is None
    assert MqttConfig(username="somebody").password() is None
