"""The brokers that a house can have, as three nodes each; the comparison of them is benchmarks/house_broker.py."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.cluster.machines import Machine, Part

PORT: Final = 1883
_RABBITMQ: Final = Path("/usr/lib/rabbitmq/lib")

_NATS: Final = """\
server_name: {name}
listen: 0.0.0.0:4222
jetstream {{ store_dir: "{folder}" }}
mqtt {{ listen: 0.0.0.0:1883 }}
cluster {{ name: house, listen: 0.0.0.0:6222, routes: [{routes}] }}
"""
_MOSQUITTO: Final = """\
listener 1883 0.0.0.0
allow_anonymous true
set_tcp_nodelay true
max_queued_messages 100000
max_inflight_messages 20
persistence true
persistence_location {folder}/
autosave_interval 60
"""
_RABBIT: Final = """\
loopback_users = none
mqtt.listeners.tcp.1 = 0.0.0.0:1883
mqtt.durable_queue_type = {queues}
cluster_formation.peer_discovery_backend = classic_config
cluster_partition_handling = pause_minority
log.console = true
log.console.level = warning
"""


@dataclass(frozen=True)
class Kind:
    """A kind of broker. `start` starts it on one of the nodes; `programs` must be installed."""

    name: str
    start: Callable[[Machine, Sequence[Machine], Path], Part]
    programs: tuple[str, ...]
    cluster: bool = True
    """Whether the nodes are one broker. If not, each table connects to all of them."""


def nats(node: Machine, nodes: Sequence[Machine], folder: Path) -> Part:
    """NATS with JetStream, in which it keeps sessions and retained messages, by default three times."""
    routes = ", ".join(f'"nats://{each.address}:6222"' for each in nodes)
    config = folder / "nats.conf"
    config.write_text(_NATS.format(name=node.name, folder=folder, routes=routes))
    return node.run(folder / "log", "nats-server", "-c", config)


def mosquitto(node: Machine, _: Sequence[Machine], folder: Path) -> Part:
    """A Mosquitto that does not know of the other nodes."""
    config = folder / "mosquitto.conf"
    config.write_text(_MOSQUITTO.format(folder=folder))
    return node.run(folder / "log", "mosquitto", "-c", config)


def rabbitmq(queues: str) -> Callable[[Machine, Sequence[Machine], Path], Part]:
    """RabbitMQ with these queues of persistent sessions: `classic` on one node, `quorum` on all."""

    def start(node: Machine, nodes: Sequence[Machine], folder: Path) -> Part:
        listed = "".join(
            f"cluster_formation.classic_config.nodes.{number} = rabbit@{each.address}\n"
            for number, each in enumerate(nodes, 1)
        )
        (folder / "rabbitmq.conf").write_text(_RABBIT.format(queues=queues) + listed)
        (folder / "plugins").write_text("[rabbitmq_mqtt].\n")
        cookie = folder / ".erlang.cookie"
        if not cookie.exists():
            cookie.write_text("HOUSE")
            cookie.chmod(0o400)
        (server,) = _RABBITMQ.glob("rabbitmq_server-*/sbin/rabbitmq-server")
        return node.run(
            folder / "log",
            server,
            HOME=str(folder),
            RABBITMQ_USE_LONGNAME="true",
            RABBITMQ_NODENAME=f"rabbit@{node.address}",
            RABBITMQ_MNESIA_BASE=str(folder / "mnesia"),
            RABBITMQ_LOG_BASE=str(folder / "logs"),
            RABBITMQ_CONFIG_FILE=str(folder / "rabbitmq.conf"),
            RABBITMQ_ENABLED_PLUGINS_FILE=str(folder / "plugins"),
            RABBITMQ_PID_FILE=str(folder / "pid"),
        )

    return start


KINDS: Final = {
    each.name: each
    for each in (
        Kind("nats", nats, ("nats-server",)),
        Kind("rabbitmq-classic", rabbitmq("classic"), ("rabbitmq-server",)),
        Kind("rabbitmq-quorum", rabbitmq("quorum"), ("rabbitmq-server",)),
        Kind("mosquitto", mosquitto, ("mosquitto",), cluster=False),
    )
}
