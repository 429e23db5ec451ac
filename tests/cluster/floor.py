"""A floor: three nodes with Mosquitto, PostgreSQL on two of them, and table PCs. Each is a machine of the network.

All run what deploy/ and configs/ ship, with other paths. A part has `start` and `kill`; a machine has `power_cut`, `cut` and
`mend`. What came of it is at `Ear.rounds` and `FloorTable.record`.

    with Network() as network, floor_folder() as folder:
        floor = Floor(network, folder, ["t1", "t2"])
        floor.start()
        ear = floor.ear(floor.nodes[1])
        floor.tables[0].deal()
        floor.nodes[0].power_cut()
        floor.start_node(0)
"""

import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import paho.mqtt.client as mqtt
import sqlalchemy
from paho.mqtt.enums import CallbackAPIVersion

from punto.baccarat.table.state import TablesProgressive
from punto.controller.journal.recovery import history
from tests.cluster.machines import Machine, Network, Part
from tests.command import punto
from tests.controller.table_on_a_machine import HERE, Program, Shoe, Table, rounds, wait_until

POSTGRESQL: Final = Path("/usr/lib/postgresql/15/bin")
BRIDGE_PORT: Final = 8883
CLIENT_PORT: Final = 8884
AUTHORITY: Final = "meter-1"
PACE: Final = float(os.environ.get("PUNTO_FLOOR_PACE", "1"))
"""How fast the shoes deal: 1 is a hand in some 0.6 s, and 0.045 is five times as fast as a dealer."""
NEEDED: Final = ("mosquitto", "openssl", "setpriv")
_METER: Final = f'[progressive]\nid = "dragon"\nauthority = "{AUTHORITY}"\n'
_MAIN: Final = """\
persistence true
persistence_location {folder}/
log_dest file {folder}/mosquitto.log
include_dir {folder}/conf.d
user root
"""
"""As Debian's own mosquitto.conf."""


@contextmanager
def floor_folder() -> Iterator[Path]:
    """A folder in which PostgreSQL's user can work."""
    with tempfile.TemporaryDirectory(prefix="punto-floor-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


class FloorTable(Table):
    """A table PC: `broker` is its Mosquitto, with the bridges; the table itself is its service, `shoe` its virtual shoe.

    An authority is one too, without a shoe.
    """

    def __init__(self, folder: Path, machine: Machine, name: str, progressive: str, *, shoe: bool) -> None:
        self.name, self.machine, self.folder = name, machine, folder
        self.broker: Part | None = None
        password = f'username = "{name}"\npassword_file = "{folder / "password"}"\n'
        super().__init__(folder, None, sections=f"[mqtt]\nport = 1885\n{password}{progressive}")
        text = self.config.read_text(encoding="utf-8").replace('id = "table-1"', f'id = "{name}"')
        if progressive:
            text = text.replace("dragon-bonus-1", "progressive-2")
        if not shoe:
            text = text.replace(f'[shoe]\nport = "{self.port}"\n', "").replace(
                "[table]", '[table]\ncards = "keyed"\nburn = "none"'
            )
        self.config.write_text(text, encoding="utf-8")
        options = ("--seed", name, "--pace", str(0.05 / PACE), "--between", str(0.2 / PACE))
        self.shoe = Shoe(self.port, *options) if shoe else None

    def begin_to_start(self, *, slow_disk: bool = False) -> None:
        """Start the service on its machine."""
        self._command = (
            *("ip", "netns", "exec", self.machine.namespace),
            *(sys.executable, "-m", "punto", "run", "--config", self.config),
        )
        Program.start(self)

    def start_all(self) -> None:
        """Start the broker, the service and the shoe, and wait until the table takes orders."""
        self.begin_all()
        self.wait_until_up()

    def begin_all(self) -> None:
        """Start them, and do not wait: many tables start at the same time."""
        self.start_broker()
        self.begin_to_start()
        if self.shoe is not None and not self.shoe.running:
            self.shoe.start()

    def start_broker(self) -> None:
        """Start its Mosquitto."""
        self.broker = self.machine.run(
            self.folder / "broker.out", "mosquitto", "-c", self.folder / "mosquitto.conf"
        )

    def power_cut(self) -> None:
        """End its programs; the shoe has a power supply of its own."""
        self.machine.power_cut()
        self.kill()

    @property
    def progressive(self) -> TablesProgressive:
        """The progressive, as its record gives it."""
        *_, last = history(self.record)
        assert last.state.progressive is not None
        return last.state.progressive


class Ear:
    """A client of a node, with a session that the node keeps: everything that it hears, in order."""

    def __init__(self, machine: Machine, user: str, password: str, authority: Path, topic: str) -> None:
        self.heard: list[tuple[str, Any]] = []
        self._changed = threading.Lock()
        self._client = mqtt.Client(CallbackAPIVersion.VERSION2, user, clean_session=False)
        self._client.username_pw_set(user, password)
        self._client.tls_set_context(ssl.create_default_context(cafile=authority))
        self._client.reconnect_delay_set(1, 1)
        self._client.on_connect = lambda client, *_: client.subscribe(topic, qos=1)
        self._client.on_message = self._take
        self._client.connect_async(machine.address, CLIENT_PORT, 5)
        self._client.loop_start()
        wait_until(self._client.is_connected, f"{user} is connected to {machine.name}")

    def _take(self, _: Any, __: Any, message: mqtt.MQTTMessage) -> None:
        with self._changed:
            self.heard.append((message.topic, json.loads(message.payload)))

    def publish(self, topic: str, payload: Any) -> None:
        """Publish this, and wait until the node has it."""
        self._client.publish(topic, json.dumps(payload), qos=1).wait_for_publish(10)

    def of(self, topic: str) -> list[Any]:
        """The payloads of a topic, such as `punto/t1/round`, in order."""
        with self._changed:
            return [payload for at, payload in self.heard if at == topic]

    def rounds(self, table: str) -> Counter[int]:
        """How often it heard each round of a table."""
        return Counter(payload["seq"] for payload in self.of(f"punto/{table}/round"))

    def missed(self, table: FloorTable) -> dict[str, list[int]]:
        """The rounds on the table's record that it never heard, and those that it heard more than once."""
        found = self.rounds(table.name)
        expected = range(1, len(rounds(table.record)) + 1)
        return {
            "lost": [each for each in expected if each not in found],
            "doubled": [each for each, count in found.items() if count > 1],
        }

    def close(self) -> None:
        """Leave the node."""
        self._client.disconnect()
        self._client.loop_stop()


class Floor:
    """Three nodes, a primary and a replica of PostgreSQL on the first two, and a PC for each of `names`.

    With `linked`, all tables share the meter of `authority`, which is one more PC. `keyed` are more tables, which share it in any
    case, and have no shoe.
    """

    def __init__(
        self,
        network: Network,
        folder: Path,
        names: Sequence[str],
        *,
        linked: bool = False,
        keyed: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self.nodes = [network.machine(f"n{number}") for number in (1, 2, 3)]
        progressive = _METER if linked else ""
        self.tables = [self._table(network, name, progressive, shoe=True) for name in names]
        self.keyed = [self._table(network, name, _METER, shoe=False) for name in keyed]
        sharing = [*(names if linked else ()), *keyed]
        self.authority = (
            self._table(
                network,
                AUTHORITY,
                f"{_METER}approval_above = 100000000\ntables = {json.dumps(sharing)}\n",
                shoe=False,
            )
            if sharing
            else None
        )
        self.ears: list[Ear] = []
        self._make_certificates()
        self._make_machines()

    @property
    def pcs(self) -> list[FloorTable]:
        """All table PCs, the authority's first."""
        return [*([] if self.authority is None else [self.authority]), *self.tables, *self.keyed]

    def _table(self, network: Network, name: str, progressive: str, *, shoe: bool) -> FloorTable:
        folder = self.folder / name
        folder.mkdir()
        return FloorTable(folder, network.machine(name), name, progressive, shoe=shoe)

    def _make_certificates(self) -> None:
        self.certificates = self.folder / "certificates"
        names = [f"{each.name}={each.address}" for each in self.nodes]
        names += [*(each.name for each in self.pcs), "replica", "game-manager"]
        subprocess.run([HERE / "deploy" / "house" / "certificates", self.certificates, *names], check=True)
        self.certificates.chmod(0o711)

    def _make_machines(self) -> None:
        """Make /etc/mosquitto of each machine, and give it the paths of this floor."""
        users = self.folder / "users"
        nodes = [word for each in self.nodes for word in ("--node", each.address)]
        made = punto("broker-users", *(str(each.config) for each in self.pcs), "--out", str(users), *nodes)
        assert made.returncode == 0, made.stderr
        names = [each.name for each in self.nodes]
        subprocess.run([HERE / "deploy" / "house" / "machines", self.folder, *names], check=True)
        for name in (*names, *(each.name for each in self.pcs)):
            folder = self.folder / name
            config = folder / "conf.d" / "punto.conf"
            text = config.read_text(encoding="utf-8").replace("/etc/mosquitto", str(folder))
            config.write_text(text, encoding="utf-8")
            (folder / "mosquitto.conf").write_text(_MAIN.format(folder=folder), encoding="utf-8")
        for pc in self.pcs:
            shutil.copy(users / "passwords" / pc.name, pc.folder / "password")

    # --- the nodes

    def start(self) -> None:
        """Start all nodes and all PCs, and open the meter."""
        for number in range(len(self.nodes)):
            self.start_node(number)
        for pc in self.pcs:
            pc.begin_all()
        for pc in self.pcs:
            pc.wait_until_up()
        if self.authority is not None:
            self.authority.order("open_meter")

    def stop(self) -> None:
        """End all services and shoes; the network ends all other programs."""
        for pc in self.pcs:
            pc.kill()
            if pc.shoe is not None:
                pc.shoe.kill()
        for ear in self.ears:
            ear.close()

    def start_node(self, number: int) -> Part:
        """Start the broker of a node, and wait until it takes the connections of tables and of clients."""
        node = self.nodes[number]
        folder = self.folder / node.name
        broker = node.run(folder / "out", "mosquitto", "-c", folder / "mosquitto.conf")
        ports = (BRIDGE_PORT, CLIENT_PORT)
        wait_until(lambda: node.answers(*ports), f"the broker of {node.name} takes connections")
        return broker

    def ear(self, node: Machine, user: str = "surveillance", topic: str = "punto/#") -> Ear:
        """A client of a node with a user of `punto broker-users`."""
        password = (self.folder / "users" / "passwords" / user).read_text(encoding="utf-8").strip()
        self.ears.append(Ear(node, user, password, self.certificates / "ca.pem", topic))
        return self.ears[-1]

    # --- the database

    def start_database(self, number: int, *role: str) -> Part:
        """Start the database of a node as `primary`, or as `replica` of an address, and wait until it answers."""
        home = self.folder / f"database-{number + 1}"
        if not home.exists():
            shutil.copytree(self.folder / self.nodes[number].name / "certs", home)
            for kind in ("pem", "key"):
                shutil.copy(self.certificates / f"replica.{kind}", home)
            for each in (home, *home.iterdir()):
                shutil.chown(each, "postgres")
                each.chmod(0o700)
        part = self.nodes[number].run(
            home.with_suffix(".log"),
            HERE / "deploy" / "house" / "database",
            *role,
            *("-c", "fsync=off", "-c", f"unix_socket_directories={home}"),
            user="postgres",
            PATH=f"{POSTGRESQL}:/usr/bin:/bin",
            PGDATA=str(home / "data"),
            CERTIFICATES=str(home),
        )
        wait_until(
            lambda: self.answers(number) or not part.running, f"the database of node {number + 1} answers"
        )
        assert part.running, part.printed()
        return part

    def start_game_manager(self, number: int) -> Part:
        """Start the Game Manager of a node. It reads the broker of its node, and uses the database that takes writes."""
        node = self.nodes[number]
        config = self.folder / f"game-manager-{number + 1}.toml"
        config.write_text(
            f'version = 1\n[mqtt]\nusername = "game-manager"\n'
            f'password_file = "{self.folder}/users/passwords/game-manager"\n'
            f'[store]\naddress = "{self.database_url()}"\n[pages]\nport = 8070\n',
            encoding="utf-8",
        )
        command = (sys.executable, "-m", "punto", "game-manager", "--config", config)
        return node.run(config.with_suffix(".log"), *command)

    def remove_database(self, number: int) -> None:
        """Remove the data of a node's database, which does not run."""
        shutil.rmtree(self.folder / f"database-{number + 1}" / "data")

    def answers(self, number: int) -> bool:
        """Whether a node's database answers."""
        try:
            return self.sql(number, "SELECT 1") == "1"
        except subprocess.CalledProcessError:
            return False

    def sql(self, number: int, statement: str, database: str = "postgres") -> str:
        """What a node's database answers to a statement; the values only."""
        home = self.folder / f"database-{number + 1}"
        command = ("psql", "-h", home, "-d", database, "-v", "ON_ERROR_STOP=1", "-Atc", statement)
        return _as_postgres(*command).strip()

    def primary(self) -> str:
        """The address of the database that takes the Game Manager's writes, over TLS.

        Raises:
            sqlalchemy.exc.OperationalError: no database takes them.
        """
        url = self.database_url().replace("postgresql:", "postgresql+psycopg:")
        engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)
        with engine.connect() as connection:
            return str(connection.scalar(sqlalchemy.text("SELECT host(inet_server_addr())")))

    def promote(self) -> None:
        """Make the replica the primary."""
        self.sql(1, "SELECT pg_promote()")

    def database_url(self, user: str = "game-manager") -> str:
        """Where `user` finds the primary, as the Game Manager's configuration has it."""
        hosts = "&".join(f"host={each.address}:5432" for each in self.nodes[:2])
        files = f"sslrootcert={self.certificates}/ca.pem&sslcert={self.certificates}/{user}.pem"
        return (
            f"postgresql://{user}@/{user}?{hosts}&target_session_attrs=read-write&connect_timeout=3"
            f"&sslmode=verify-full&{files}&sslkey={self.certificates}/{user}.key"
        )


def _as_postgres(program: str, *arguments: str | Path) -> str:
    command = [
        "setpriv",
        "--reuid",
        "postgres",
        "--regid",
        "postgres",
        "--clear-groups",
        POSTGRESQL / program,
        *arguments,
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd="/")
    return done.stdout


def deal(*tables: FloorTable) -> None:
    """Load the shoe of each table; they deal from then on."""
    for each in tables:
        each.begin_shoe()


def reach(ear: Ear, table: FloorTable, more: int) -> Callable[[], bool]:
    """Whether a subscriber has heard so many more rounds of a table than now."""
    goal = max(ear.rounds(table.name), default=0) + more
    return lambda: max(ear.rounds(table.name), default=0) >= goal
