"""A house of real processes: Mosquitto, an authority of a meter and tables, each with a disk of its own, and shoes on terminals.

`t1` and `t2` share the meter of `meter-1`, and a dealer gives their orders. `t3` and `t4` deal by themselves.
Only root can make the disks. They vanish with the process that made them, because it has its mounts to itself.

    with House(folder) as house:
        house.start()
        house.tables[0].disk.fill()
"""

import ctypes
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from punto.baccarat.table.state import AuthorityLink, TablesProgressive
from punto.controller.journal.recovery import history
from punto.simulators.shoe.faults import parse_faults
from punto.simulators.shoe.options import ShoeOptions
from punto.simulators.shoe.virtual_shoe import VirtualShoe
from tests.controller.linked_services import METER, OF_THE_AUTHORITY
from tests.controller.table_on_a_machine import Broker, Table
from tests.soak.shim import NAME, Shim

AUTHORITY: Final = "meter-1"
LINKED: Final = ("t1", "t2")
ALONE: Final = ("t3", "t4")
DISK_BYTES: Final = 96 << 20
PACE: Final = 0.03
BETWEEN: Final = 0.25
"""Seconds between two cards, and from a result to the next card: in this time the seats wager."""
NOISE: Final = ("noise=0.002", "flip=0.00002", "lose=0.002", "repeat=0.002", "deaf=0.002")
"""The line of the last table, always."""
_NEW_MOUNTS: Final = 0x20000
_OF_THE_AUTHORITY: Final = f'{OF_THE_AUTHORITY}base_wagers = "recorded"\n'
_DEALER: Final = 'betting_closes = "order"\nnext_coup = "order"\n'


def missing() -> list[str]:
    """What this machine lacks for a soak."""
    programs = [name for name in ("cc", "mkfs.ext4", "e2fsck", "mosquitto", "mount") if not _found(name)]
    return programs if os.geteuid() == 0 else ["root", *programs]


def _found(name: str) -> bool:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is not None


def own_mounts() -> None:
    """Give this process its own mounts: they end with it and its children, whatever ends it."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), "unshare")
    _run("mount", "--make-rprivate", "/")


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


class Disk:
    """An ext4 on a file. It can be full, and the kernel can make it read-only as it does after an error."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "disk"
        self.path.mkdir()
        self._image = folder / "disk.img"
        self._filler = self.path / "filler"
        with self._image.open("wb") as image:
            image.truncate(DISK_BYTES)
        _run("mkfs.ext4", "-q", "-m", "0", self._image)
        self.mount()

    def mount(self) -> None:
        """Mount it."""
        _run("mount", "-o", "loop", self._image, self.path)

    def unmount(self) -> None:
        """Unmount it, once no program has a file of it open."""
        for _ in range(100):
            with suppress(OSError):
                _run("umount", self.path)
                return
            time.sleep(0.05)
        _run("umount", self.path)

    def fill(self) -> None:
        """Write to it until there is no byte left."""
        with self._filler.open("ab", buffering=0) as filler, suppress(OSError):
            for size in (1 << 20, 4096, 1):
                with suppress(OSError):
                    while True:
                        filler.write(bytes(size))

    def free(self) -> None:
        """Remove what fills it."""
        self._filler.unlink(missing_ok=True)

    def fail(self) -> None:
        """Make it read-only at once, with all files that are open: `abort` is what the kernel does after an error.

        No program may be in a sync at this moment: Linux (6.18) lets such a sync succeed, but loses what it wrote.
        """
        _run("mount", "-o", "remount,abort", self.path)

    def repair(self) -> None:
        """Unmount it, check it and mount it again."""
        self.unmount()
        # 1: errors were found and repaired.
        subprocess.run(["e2fsck", "-p", self._image], capture_output=True, check=False)
        self.mount()


class Service(Table):
    """A service of the house. Its record is alone on `disk`; `shim` makes its writes fail and sets its clock."""

    def __init__(self, folder: Path, broker: Broker, name: str) -> None:
        self.name = name
        self.folder = folder = folder / name
        folder.mkdir()
        self.disk = Disk(folder)
        self.shim = Shim(folder / "shim")
        linked, authority = name in LINKED, name == AUTHORITY
        tables = f"{_OF_THE_AUTHORITY}tables = {list(LINKED)}\n".replace("'", '"') if authority else ""
        keyed = 'cards = "keyed"\nburn = "none"' if authority else ""
        super().__init__(
            folder, broker, _DEALER if linked else keyed, METER + tables if linked or authority else ""
        )
        text = self.config.read_text(encoding="utf-8").replace('id = "table-1"', f'id = "{name}"')
        text = text.replace(f'path = "{self.record}"', f'path = "{self.disk.path / "table.db"}"')
        if linked or authority:
            text = text.replace("dragon-bonus-1", "progressive-2")
        if authority:
            text = text.replace(f'[shoe]\nport = "{self.port}"\n', "")
        self.config.write_text(text, encoding="utf-8")
        self.record = self.disk.path / "table.db"
        self.environment = {NAME: str(self.shim.path)}
        self.said_before = 0

    def begin_to_start(self, *, slow_disk: bool = False) -> None:
        """Start it, and do not wait."""
        self.said_before = self.log.stat().st_size
        super().begin_to_start(slow_disk=slow_disk)

    def says(self) -> str:
        """What it has said since its last start."""
        with self.log.open("rb") as log:
            log.seek(self.said_before)
            return log.read().decode(errors="replace")

    def freeze(self) -> None:
        """Stop it where it is; its connections stay open."""
        self.process.send_signal(signal.SIGSTOP)

    def frozen(self) -> bool:
        """Whether each of its threads stands still, and none is in a call of the kernel."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/stat")
        return all(each.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "T" for each in threads)

    def thaw(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)

    @property
    def progressive(self) -> TablesProgressive:
        """The progressive, as its record gives it."""
        *_, last = history(self.record)
        assert last.state.progressive is not None
        return last.state.progressive

    @property
    def link(self) -> AuthorityLink:
        """The link to the authority."""
        assert self.progressive.link is not None
        return self.progressive.link


class HouseBroker(Broker):
    """The broker; it can also be frozen, and refuse everyone."""

    def freeze(self) -> None:
        """Stop it where it is; its connections stay open."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """A broker in its place that knows none of the users."""
        text = self._config.read_text(encoding="utf-8")
        self.kill()
        self._config.write_text(
            text.replace("allow_anonymous true", "allow_anonymous false"), encoding="utf-8"
        )
        self.start()
        try:
            yield
        finally:
            self.kill()
            self._config.write_text(text, encoding="utf-8")
            self.start()


class House:
    """The processes of a house in `folder`; `shoes` are run by someone with an event loop."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.broker = HouseBroker(folder)
        self.services = [Service(folder, self.broker, name) for name in (AUTHORITY, *LINKED, *ALONE)]
        self.authority, *self.tables = self.services
        self.linked, self.alone = self.tables[: len(LINKED)], self.tables[len(LINKED) :]
        self.shoes = {table.name: _shoe(table, f"soak {seed}") for table in self.tables}
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        self._ending.enter_context(self.broker)
        for service in self.services:
            self._ending.callback(service.disk.unmount)
            self._ending.callback(service.kill)
            service.begin_to_start()
        for service in self.services:
            service.wait_until_up()
        self.authority.order("open_meter")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with closing(self._ending):
            pass


def _shoe(table: Service, seed: str) -> VirtualShoe:
    return VirtualShoe(
        ShoeOptions(
            store=table.folder / "shoe.store",
            link=table.port,
            seed=f"{seed} {table.name}",
            pace=PACE,
            between=BETWEEN if table.name in ALONE else 0.02,
            faults=parse_faults(NOISE if table.name == ALONE[-1] else ()),
        )
    )
