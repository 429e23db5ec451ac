"""Machines on one network, as network namespaces: each has an address, can be cut off, and can lose its power.

    with Network() as network:
        node = network.machine("n1")
        broker = node.run(folder / "n1.log", "mosquitto", "-c", config)
        network.cut(node)        # pulls its cable
        broker.kill()            # ends one program
        node.power_cut()         # ends all programs

One run at a time has the network 10.77.0.0/24; PUNTO_TESTS_NET names another one for a run beside it. Only root can make it.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from tests.controller.table_on_a_machine import HERE, wait_until
from tests.ports import takes_connections

NET: Final = os.environ.get("PUNTO_TESTS_NET", "10.77.0")
_TAG: Final = NET.split(".")[1]
HOME: Final = f"{NET}.1"
"""The address of the tests' own process."""
_SWITCH: Final = f"pt{_TAG}"
_PATH: Final = "/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin:/sbin:/bin"


def missing(*programs: str) -> list[str]:
    """The programs that are not installed; `root` is one if this is another user."""
    found = [name for name in ("ip", *programs) if shutil.which(name, path=_PATH) is None]
    return found if os.geteuid() == 0 else ["root", *found]


def _ip(*command: str, check: bool = True) -> None:
    subprocess.run(["ip", *command], check=check, capture_output=not check)


class Part:
    """A program on a machine. What it prints goes to `log`, each start after the one before."""

    def __init__(
        self, machine: "Machine", log: Path, command: tuple[str, ...], user: str | None, env: dict[str, str]
    ) -> None:
        as_user = () if user is None else ("setpriv", "--reuid", user, "--regid", user, "--clear-groups")
        self._command = ("ip", "netns", "exec", machine.namespace, *as_user, *command)
        self._env = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{_PATH}",
            "PYTHONPATH": str(HERE),
            **env,
        }
        self.log = log
        self.start()

    def start(self) -> None:
        """Start it, in a group of processes of its own."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, cwd=HERE, env=self._env, stdout=log, stderr=log, start_new_session=True
            )

    def signal(self, number: signal.Signals) -> None:
        """Send this signal to the program and all programs that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """End it without a warning."""
        self.signal(signal.SIGKILL)
        self._process.wait()

    def freeze(self) -> None:
        """Stop it where it is; its connections stay open."""
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self.signal(signal.SIGCONT)

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def printed(self) -> str:
        """What it has printed so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")


class Machine:
    """A machine of the network, with an address and programs."""

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.address = address
        self.namespace = f"punto{_TAG}-{name}"
        self._cable = f"pt{_TAG}-{name}"
        self._parts: list[Part] = []
        _ip("netns", "add", self.namespace)
        _ip("link", "add", self._cable, "type", "veth", "peer", "name", "eth0", "netns", self.namespace)
        _ip("link", "set", self._cable, "master", _SWITCH, "up")
        for command in ("link set lo up", "link set eth0 up", f"addr add {address}/24 dev eth0"):
            _ip("-n", self.namespace, *command.split())

    def run(self, log: Path, *command: str | Path, user: str | None = None, **env: str) -> Part:
        """Start a program here."""
        part = Part(self, log, tuple(map(str, command)), user, env)
        self._parts.append(part)
        return part

    def cut(self) -> None:
        """Pull its cable."""
        _ip("link", "set", self._cable, "down")

    def mend(self) -> None:
        """Put its cable back."""
        _ip("link", "set", self._cable, "up")

    def refuse(self, *others: "Machine") -> None:
        """Send nothing to these machines: a partition in which all others still reach it."""
        for other in others:
            _ip("-n", self.namespace, "route", "add", "blackhole", f"{other.address}/32")

    def accept(self, *others: "Machine") -> None:
        """Send to these machines again."""
        for other in others:
            _ip("-n", self.namespace, "route", "del", "blackhole", f"{other.address}/32")

    def pids(self) -> list[int]:
        """Its processes."""
        found = subprocess.run(
            ["ip", "netns", "pids", self.namespace], check=True, capture_output=True, text=True
        )
        return [int(pid) for pid in found.stdout.split()]

    def signal(self, number: signal.Signals) -> None:
        """Send this signal to all its programs."""
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def freeze(self) -> None:
        """Stop all its programs where they are; their connections stay open."""
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let its programs go on."""
        self.signal(signal.SIGCONT)

    def power_cut(self) -> None:
        """End all its programs without a warning."""
        self.signal(signal.SIGKILL)
        for part in self._parts:
            part.kill()
        wait_until(lambda: not self.pids(), f"{self.name} is off")

    def resident_bytes(self) -> int:
        """The memory that its programs have in use."""
        total = 0
        for pid in self.pids():
            with suppress(OSError):
                total += int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return total * os.sysconf("SC_PAGE_SIZE")

    def answers(self, *ports: int) -> bool:
        """Whether programs here take connections at all of these ports."""
        return takes_connections(*ports, address=self.address)


class Network:
    """The network with its machines. Leaving it ends all programs and removes all machines."""

    def __init__(self) -> None:
        self.machines: list[Machine] = []
        self._lock: IO[bytes] | None = None

    def __enter__(self) -> Self:
        self._lock = (Path(tempfile.gettempdir()) / f"punto-network-{_TAG}.lock").open("wb")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        _remove_all()
        _ip("link", "add", _SWITCH, "type", "bridge")
        _ip("addr", "add", f"{HOME}/24", "dev", _SWITCH)
        _ip("link", "set", _SWITCH, "up")
        return self

    def machine(self, name: str) -> Machine:
        """A new machine with the next address; `name` has at most 10 letters."""
        found = Machine(name, f"{NET}.{11 + len(self.machines)}")
        self.machines.append(found)
        return found

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        for machine in self.machines:
            machine.power_cut()
        _remove_all()
        if self._lock is not None:
            self._lock.close()


def _remove_all() -> None:
    """Remove what this run, or one that was killed, has left."""
    listed = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True).stdout
    for namespace in (line.split()[0] for line in listed.splitlines() if line.startswith(f"punto{_TAG}-")):
        found = subprocess.run(["ip", "netns", "pids", namespace], check=True, capture_output=True, text=True)
        for pid in found.stdout.split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        _ip(
            "link", "del", namespace.replace("punto", "pt"), check=False
        )  # Linux removes it some time after the namespace
        _ip("netns", "del", namespace)
    _ip("link", "del", _SWITCH, check=False)
