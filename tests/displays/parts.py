"""The real parts around a display: Mosquitto, `punto display` as a process, and the table's publisher."""

import asyncio
import contextlib
import getpass
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import aiomqtt

from punto.displays.options import DisplayOptions, MqttOptions, PageOptions
from punto.displays.server import serve
from punto.messages.models import Message
from tests.deadline import DEADLINE, pauses
from tests.ports import free_port, takes_connections
from tests.started import Started

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")  # the lighter one
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--renderer-process-limit=1",
]
CALM: Final[Any] = {"reduced_motion": "reduce"}
"""Options of a page without animations, because the processor draws each of their frames and axe reads colours halfway."""
MOSQUITTO = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin")


async def listening(port: int) -> None:
    for pause in pauses():
        if takes_connections(port):
            return
        await asyncio.sleep(pause)
    raise TimeoutError(f"nothing listens on port {port}")


def make_certificates(folder: Path) -> Path:
    """A certificate for 127.0.0.1 with its key, server.pem and server.key, by an authority of our own, which is returned."""
    authority = folder / "ca.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    by = ["-CA", str(authority), "-CAkey", str(folder / "ca.key"), "-addext", "subjectAltName=IP:127.0.0.1"]
    for name, more in (("ca", []), ("server", by)):
        files = ["-out", str(folder / f"{name}.pem"), "-keyout", str(folder / f"{name}.key")]
        subprocess.run([*made, "-subj", f"/CN={name}", *files, *more], check=True, capture_output=True)
    return authority


class Broker:
    """Mosquitto on a free loopback port; with `users`, only for them, and where `make_certificates` made some, by TLS."""

    def __init__(self, folder: Path, users: dict[str, str] | None = None) -> None:
        self.port = free_port()
        self._config = folder / "mosquitto.conf"
        lines = [f"listener {self.port} 127.0.0.1", "set_tcp_nodelay true", "persistence false"]
        lines.append(
            f"user {getpass.getuser()}"
        )  # started by root, Mosquitto would else be a user who cannot read here
        if (folder / "server.pem").exists():
            lines += [f"certfile {folder}/server.pem", f"keyfile {folder}/server.key"]
        if users is None:
            lines.append("allow_anonymous true")
        else:
            passwords = folder / "passwords"
            passwords.touch(mode=0o600)
            for user, password in users.items():
                subprocess.run(
                    ["mosquitto_passwd", "-b", passwords, user, password], check=True, capture_output=True
                )
            lines += ["allow_anonymous false", f"password_file {passwords}"]
        self._config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        assert MOSQUITTO, "these tests need Mosquitto"
        self._process = subprocess.Popen(  # noqa: ASYNC220  it starts at once, and is killed from where nothing awaits
            [MOSQUITTO, "-c", self._config], stderr=subprocess.DEVNULL
        )
        await listening(self.port)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class Publisher:
    """A table's connection to the broker."""

    def __init__(self, client: aiomqtt.Client) -> None:
        self._client = client

    async def send(self, name: str, payload: Message | bytes, table: str = "table-1") -> None:
        wire = payload.wire() if isinstance(payload, Message) else payload
        await self._client.publish(f"punto/{table}/{name}", wire, qos=1, retain=True)


@contextlib.asynccontextmanager
async def publisher(broker: Broker, username: str | None = None, password: str | None = None, **options: Any):
    login: dict[str, Any] = {"username": username, "password": password}
    async with aiomqtt.Client("127.0.0.1", broker.port, timeout=DEADLINE, **login, **options) as client:
        yield Publisher(client)


@contextlib.asynccontextmanager
async def display(
    broker: Broker, *, page: dict[str, Any] | None = None, **mqtt: str | Path
) -> AsyncIterator[str]:
    """A display in this process; gives its address. `page` has options of its pages, `mqtt` those of its connection."""
    options = DisplayOptions(
        mqtt=MqttOptions.model_validate({"port": broker.port, **mqtt}),
        display=PageOptions.model_validate({"tables": ["table-1"], "port": 0, **(page or {})}),
    )
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(options, address.set_result))
    try:
        yield await address
    finally:
        serving.cancel()
        await asyncio.wait([serving])
        assert serving.cancelled()


class DisplayProcess:
    """`punto display` as a process of its own."""

    def __init__(self, *arguments: str) -> None:
        self._process = Started(
            [sys.executable, "-m", "punto", "display", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid

    def address(self) -> str:
        assert self._process.stdout is not None
        return next(str(line).split()[-1] for line in self._process.stdout if line.startswith("i-Score on "))

    def send_signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self, number: signal.Signals | None = None) -> tuple[int, str]:
        """Wait for its end, after a signal if one is given; its exit status and what it said on standard error."""
        if number is not None:
            self._process.send_signal(number)
        _, said = self._process.communicate(timeout=DEADLINE)
        return self._process.returncode, said
