"""`[mqtt]`, the user at the broker and where the password lies: the same for a table's service and for a display."""

from pathlib import Path

import pytest

from punto.configs.problems import ConfigError
from punto.controller.config.file import load_config
from punto.controller.config.sections import MqttConfig
from punto.displays.options import MqttOptions, read_options
from punto.runtime.broker_login import BrokerConfig
from tests.controller.config.test_config import check

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


def login(config: Path) -> BrokerConfig:
    found = read_options(config, {}).mqtt if config.stem == "display" else load_config(config).mqtt
    assert found is not None
    return found


def rewritten(config: Path, old: str, new: str) -> None:
    text = config.read_text(encoding="utf-8")
    assert old in text
    config.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("base", ["punto", "casino floor/punto", "Étage 2", " ", "a/$b"])
def test_a_base_is_what_a_topic_may_begin_with(base, config):
    rewritten(config, 'base = "punto"', f'base = "{base}"')

    assert login(config).base == base


@pytest.mark.parametrize(
    "base", ["", "/", "/punto", "punto/", "a//b", "punto/#", "+/punto", "pun+to", "$SYS", "a\\u0000b"]
)
def test_a_base_that_no_topic_may_begin_with_is_refused(base, config):
    rewritten(config, 'base = "punto"', f'base = "{base}"')
    with pytest.raises(ConfigError) as refused:
        login(config)

    (problem,) = refused.value.problems
    assert problem.key == "mqtt.base"
    assert problem.message.endswith(
        "cannot begin a topic: write names with / between them, without +, # and a leading $"
    )


@pytest.mark.parametrize("host", ["mqtt://127.0.0.1", "http://127.0.0.1:1883", "mei@broker", "", "two words"])
def test_a_host_is_a_name_or_an_address_alone(host, config):
    rewritten(config, '\nhost = "127.0.0.1"', f'\nhost = "{host}"')
    with pytest.raises(ConfigError) as refused:
        login(config)

    assert refused.value.problems[0].key.endswith(".host")
    assert f"{host!r} is not a host: write only the name or address of the host, such as 127.0.0.1" in str(
        refused.value
    )


def test_a_user_without_a_password_is_warned_of(config):
    rewritten(config, f'password_file = "{CREDENTIAL}"\n', "")

    assert [*login(config).warnings()] == [
        "warning: mqtt.username 'somebody' has no password: write its password_file too"
    ]


def test_an_authority_that_cannot_be_read_is_reported(config):
    rewritten(config, f'username = "somebody"\npassword_file = "{CREDENTIAL}"\n', 'ca_file = "ca.pem"\n')
    broker = login(config)
    authority = config.parent / "ca.pem"
    warned = f"warning: mqtt.ca_file {authority} does not exist\n"
    assert warned in check(str(config)).stdout
    for make in (lambda: None, lambda: authority.write_text("no certificate")):
        make()
        with pytest.raises(
            ConfigError, match=f"mqtt.ca_file: {authority} cannot be used as the broker's authority"
        ):
            broker.tls()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('certificate = "c.pem"', "certificate is given without key: add the key"),
        ('key = "c.key"', "key is given without certificate: add the certificate"),
        ('certificate = "c.pem"\nkey = "c.key"', "certificate is given without ca_file: add the authority"),
    ],
)
def test_a_certificate_needs_its_key_and_an_authority(keys, said, config):
    rewritten(config, f'username = "somebody"\npassword_file = "{CREDENTIAL}"\n', f"{keys}\n")

    with pytest.raises(ConfigError, match=said):
        login(config)


def test_a_certificate_that_cannot_be_used_is_reported(config, certificate, monkeypatch):
    keys = f'certificate = "certificate.pem"\nkey = "{CREDENTIAL}"\nca_file = "certificate.pem"\n'
    rewritten(config, f'username = "somebody"\npassword_file = "{CREDENTIAL}"\n', keys)
    broker = login(config)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(config.parent))
    secret = config.parent / "mqtt-password"
    assert "warning: mqtt" not in check(str(config)).stdout
    secret.write_bytes((config.parent / "key.pem").read_bytes())
    assert broker.tls() is not None
    for make in (lambda: secret.write_text("no key"), secret.unlink):
        make()
        with pytest.raises(
            ConfigError, match=f"mqtt.certificate: .*certificate.pem and {secret} cannot be used"
        ):
            broker.tls()


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
        f"warning: mqtt.password_file {config.parent}/$HOME/secret does not exist\n"
        in check(str(config)).stdout
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "secret: the password cannot be read: No such file or directory"),
        (b"", "secret: the file must have one line"),
        (b"\n", "secret: the file must have one line"),
        (b"one\ntwo\n", "secret: the file must have one line with the password, and nothing else"),
        (b"\xff\n", "secret: the password cannot be read: the text is not UTF-8"),
    ],
)
def test_a_password_file_that_holds_no_password(content, said, config):
    config.write_text(config.read_text(encoding="utf-8").replace(CREDENTIAL, "secret"), encoding="utf-8")
    if content is not None:
        (config.parent / "secret").write_bytes(content)

    with pytest.raises(ConfigError, match=said):
        login(config).password()


def test_without_a_password_file_there_is_no_password():
    assert MqttOptions(username="somebody").password() is None
    assert MqttConfig(username="somebody").password() is None
