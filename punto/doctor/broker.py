"""The broker: whether it can be reached, what it lets the table's user do, and what it keeps of tables that are not here.

The broker takes a client's id from its user, so a second connection of a user ends the first one. The doctor therefore asks the
service whether it is connected, and connects as the table's user only if the service is not.
"""

import asyncio
import ipaddress
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Final, NamedTuple, Self

from punto.configs.given_files import read_given
from punto.configs.problems import ConfigError
from punto.doctor.findings import Finding
from punto.doctor.patient import Patient, Process, listening, secret_of
from punto.messages.topics import AVAILABILITY, STATE, Topics
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import Connection, Link, LinkError, Sender, refuses
from punto.runtime.broker_login import BrokerConfig
from punto.runtime.table_ids import HOUSE

CHECK: Final = "broker"
CONNECT_SECONDS: Final = 5.0
ECHO_SECONDS = 3.0
"""How long the table's own message may take to come back."""
LISTEN_SECONDS: Final = 2.0
"""A table that runs sends its state every second."""
SLOW_SECONDS: Final = 0.2
_OWN: Final = "doctor"
"""The topic of the doctor's own message, below the table's. It is not retained, and no program reads it."""
_PASSWORDS: Final = Path("/etc/punto-broker/passwords")
_MOST_BYTES: Final = 4_000_000
"""Of a file of the broker: the passwords of a house with many thousand users."""


@dataclass(frozen=True, slots=True)
class LocalBroker:
    """The Mosquitto of this PC: its process, and the files of passwords and rights that its configuration names."""

    process: Process
    passwords: Path | None = None
    rights: Path | None = None

    @property
    def reload(self) -> str:
        """The command with which it reads its files again."""
        unit = self.process.unit
        return f"systemctl reload {unit}" if unit else f"kill -HUP {self.process.number}"


@dataclass(frozen=True, slots=True)
class BrokerFacts:
    """What the broker answered. `error` is why there is no connection; `kept` are the ids of tables that it keeps messages of.

    `rights` says that a message of the table's user came back; `live` says that another program publishes the state of this table now.
    """

    error: str = ""
    refused: bool = False
    seconds: float = 0.0
    rights: bool = False
    live: bool = False
    kept: frozenset[str] = field(default_factory=frozenset)


class Client(NamedTuple):
    """A program that signs on at the broker: its configuration, its login, its unit, and the user that it should have."""

    file: Path
    login: BrokerConfig
    unit: str
    user: str

    @classmethod
    def of(cls, mqtt: BrokerConfig, file: Path, unit: str, user: str) -> Self:
        """The program with this configuration. Its login has files in place of the credentials, which only the unit has."""
        named = {name: getattr(mqtt, name) for name in ("password_file", "key")}
        files = {name: secret_of(file, path) for name, path in named.items() if path is not None}
        return cls(file, mqtt.model_copy(update=files), unit, user)


def check(patient: Patient) -> Iterator[Finding]:
    """The table's broker, as the table's user."""
    mqtt = patient.config.mqtt
    if mqtt is None:
        yield Finding(
            CHECK, "not checked", "[mqtt]", "the table publishes nothing, because the section is missing"
        )
        return
    what = f"{mqtt.host}:{mqtt.port} as {mqtt.username or 'nobody'}"
    link = None if patient.links is None else patient.links.get("broker")
    if link is not None and link["connected"]:
        yield Finding(CHECK, "ok", what, "the service is connected")
        return
    if patient.service is not None and link is None:
        how = "the service runs, and a second connection of its user would end its own; it has no [operator] socket at which it can be asked"
        yield Finding(CHECK, "not checked", what, how)
        return
    login = Client.of(mqtt, patient.file, patient.unit, patient.config.table.id).login
    try:
        facts = asyncio.run(asked(login, patient.config.table.id))
    except ConfigError as error:
        yield Finding(CHECK, "not checked", what, f"it cannot be asked: {error.problems[0].message}")
        return
    yield from judged(facts, what, patient, local(login))


def judged(facts: BrokerFacts, what: str, patient: Patient, broker: LocalBroker | None) -> Iterator[Finding]:
    """How the broker is."""
    config = patient.config
    assert config.mqtt is not None  # noqa: S101 - else it was not asked
    if facts.refused:
        yield refused(Client.of(config.mqtt, patient.file, patient.unit, config.table.id), what)
        return
    if facts.error:
        here = is_here(config.mqtt.host)
        how = f"it cannot be reached ({facts.error})" + (
            "" if here else ": check the network and the broker's PC"
        )
        yield Finding(CHECK, "wrong", what, how, "systemctl restart mosquitto" if here else None)
        return
    topic = Topics(config.mqtt.base, config.table.id)("#")
    if facts.rights:
        slow = facts.seconds > SLOW_SECONDS
        how = f"it lets the user read and write {topic}, and answers in {1000 * facts.seconds:.0f} ms"
        yield Finding(CHECK, "warning" if slow else "ok", what, how)
    else:
        yield _no_rights(what, topic, broker, config.mqtt.username)
    if facts.live:
        how = f"another service publishes as {config.table.id} now, and none runs here: give one of the two tables another id"
        yield Finding(CHECK, "wrong", f"table {config.table.id}", how)
    for each in sorted(facts.kept - patient.known - {config.table.id, HOUSE}):
        how = "the broker keeps messages of this table, which the doctor was not given: if it was removed, clear them"
        command = f"punto retire-table {quote(each)} --config {quote(str(patient.file))}"
        yield Finding(CHECK, "warning", f"table {each}", how, command)


def refused(client: Client, what: str) -> Finding:
    """The broker refuses a program: it knows the user not at all, or with another password."""
    login, broker = client.login, local(client.login)
    user, path = login.username, login.password_file
    if user is None:
        own = f"{client.file.stem}.mqtt-password"
        place = "$CREDENTIALS_DIRECTORY/mqtt-password" if Path("/run/systemd/system").exists() else own
        script = quote(rf's|^\[mqtt\].*|&\nusername = "{client.user}"\npassword_file = "{place}"|')
        how = "it refuses programs without a user, and [mqtt] has no username"
        return Finding(CHECK, "wrong", what, how, f"sed -i {script} {quote(str(client.file))}")
    made, known = _PASSWORDS / user, _users(broker)
    if known is not None and user not in known:
        how = f"it refuses the user: {broker.passwords if broker else ''} has no user {user}"
    else:
        how = f"it refuses the user: the password in {path} is not the broker's"
    command = None
    if path is not None and made.exists() and _differ(made, path):
        command = f"install -m 0600 {quote(str(made))} {quote(str(path))} && systemctl restart {client.unit}"
    elif path is not None and broker is not None and broker.passwords is not None:
        command = f'mosquitto_passwd -b {quote(str(broker.passwords))} {quote(user)} "$(cat {quote(str(path))})" && {broker.reload}'
    return Finding(CHECK, "wrong", what, how, command)


def _no_rights(what: str, topic: str, broker: LocalBroker | None, user: str | None) -> Finding:
    command = None
    if broker is not None and broker.rights is not None and user is not None:
        lines = quote(rf"\nuser {user}\ntopic readwrite {topic}\n")
        command = f"printf '%b' {lines} >> {quote(str(broker.rights))} && {broker.reload}"
    how = f"its access list does not let the user read and write {topic}"
    return Finding(CHECK, "wrong", what, how, command)


async def asked(login: BrokerConfig, table: str) -> BrokerFacts:
    """Connect, and try what the table's service does: subscribe, publish, and read what comes back.

    Raises:
        ConfigError: the password or a certificate cannot be read.
    """
    link = Link(login, Backoff(1, 1))
    try:
        async with (
            asyncio.timeout(CONNECT_SECONDS + ECHO_SECONDS + LISTEN_SECONDS),
            link.connection() as connection,
        ):
            return await _tried(connection, Topics(login.base, table))
    except LinkError as error:
        return BrokerFacts(error=str(error) or type(error).__name__, refused=refuses(error))
    except (TimeoutError, OSError) as error:
        return BrokerFacts(error=str(error) or f"no answer within {CONNECT_SECONDS:g} s")


async def _tried(connection: Connection, topic: Topics) -> BrokerFacts:
    began = time.monotonic()
    granted = await connection.subscribe([topic("#")])
    seconds = time.monotonic() - began
    every = Topics(topic.base, "+")(AVAILABILITY)
    await connection.subscribe([every])
    token = secrets.token_hex(8).encode()
    Sender(connection).send(topic(_OWN), token)
    came, live, kept = False, False, set[str]()
    # The broker sends what it keeps before the message that comes back. It drops a message that the user may not write without a word.
    with suppress(TimeoutError):
        async with asyncio.timeout(ECHO_SECONDS) as limit:
            async for message in connection.messages():
                if message.matches(every) and message.payload:
                    kept.add(message.topic.removeprefix(f"{topic.base}/").partition("/")[0])
                if (message.topic, message.payload) == (topic(_OWN), token):
                    came = True
                    if topic.table not in kept:
                        break
                    limit.reschedule(asyncio.get_running_loop().time() + LISTEN_SECONDS)
                if message.topic == topic(STATE) and not message.retained:
                    live = True
                    break
    return BrokerFacts("", False, seconds, rights=granted and came, live=live, kept=frozenset(kept))


# --- the broker of this PC


def is_here(host: str) -> bool:
    """Whether a broker at this address is on this PC."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def local(login: BrokerConfig) -> LocalBroker | None:
    """The Mosquitto of this PC at this address, None if it is elsewhere or cannot be looked into."""
    process = listening(login.port) if is_here(login.host) else None
    if process is None or not process.number:
        return None
    try:
        words = Path(f"/proc/{process.number}/cmdline").read_text(encoding="utf-8").split("\0")
        files = files_of(Path(words[words.index("-c") + 1]))
    except (OSError, ValueError, IndexError):
        return LocalBroker(process)
    return LocalBroker(process, files.get("password_file"), files.get("acl_file"))


def files_of(config: Path) -> Mapping[str, Path]:
    """The files of passwords and rights in a configuration of Mosquitto and the folders that it includes."""
    found: dict[str, Path] = {}
    for line in read_given(config, _MOST_BYTES).decode().splitlines():
        match line.split(maxsplit=1):
            case [("password_file" | "acl_file") as key, path]:
                found[key] = Path(path.strip())
            case ["include_dir", folder]:
                for each in sorted(Path(folder.strip()).glob("*.conf")):
                    found |= files_of(each)
    return found


def _users(broker: LocalBroker | None) -> set[str] | None:
    """The users of the broker's file of passwords, None if it cannot be read."""
    if broker is None or broker.passwords is None:
        return None
    try:
        lines = read_given(broker.passwords, _MOST_BYTES).decode().splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    return {line.partition(":")[0] for line in lines}


def _differ(one: Path, other: Path) -> bool:
    try:
        return read_given(one, _MOST_BYTES) != read_given(other, _MOST_BYTES)
    except OSError:
        return False
