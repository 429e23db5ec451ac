"""Mosquitto with the users, passwords and access lists that Punto ships or makes."""

import getpass
import subprocess
from base64 import b64encode
from pathlib import Path

from punto.commands.cli import main
from tests.controller.table_in_this_process import HERE
from tests.controller.table_on_a_machine import Broker
from tests.ports import free_port


class GuardedBroker(Broker):
    """Mosquitto with what punto ships, in the place where docs/how-to/install.md puts it: beside Debian's own configuration."""

    USERS = ("punto", "display", "terminal", "game-manager", "witness", "surveillance")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.own_port = free_port()
        """The listener of the table PC's own programs."""
        passwords, acl = folder / "punto.passwd", folder / "punto.acl"
        self.make_users(passwords, acl)
        shipped = (HERE / "configs" / "mosquitto.conf").read_text(encoding="utf-8")
        for theirs, ours in {
            "listener 1883 ": f"listener {self.port} ",
            "listener 1885 ": f"listener {self.own_port} ",
            "/etc/mosquitto/punto.passwd": str(passwords),
            "/etc/mosquitto/punto.acl": str(acl),
        }.items():
            assert theirs in shipped
            shipped = shipped.replace(theirs, ours)
        (folder / "conf.d").mkdir()
        (folder / "conf.d" / "punto.conf").write_text(shipped, encoding="utf-8")
        (folder / "mosquitto.conf").write_text(
            f"pid_file {folder}/mosquitto.pid\npersistence true\npersistence_location {folder}/\n"
            f"log_dest file {folder}/broker.log\ninclude_dir {folder}/conf.d\n"
            f"user {getpass.getuser()}\n",  # started by root, Mosquitto would else be a user who cannot read in here
            encoding="utf-8",
        )

    def make_users(self, passwords: Path, acl: Path) -> None:
        passwords.touch(mode=0o600)
        for user in self.USERS:
            subprocess.run(
                ["mosquitto_passwd", "-b", passwords, user, f"{user}'s"], check=True, capture_output=True
            )
        acl.write_bytes((HERE / "configs" / "mosquitto.acl").read_bytes())
        acl.chmod(0o600)

    def login(self, user: str) -> dict[str, str]:
        return {"username": user, "password": f"{user}'s"}


HOUSE = """version = 1
[table]
id = "{id}"
name = "Baccarat"
game = "dragon-bonus-1"
cards = "keyed"
seats = 3
[record]
path = "{id}.db"
[mqtt]
"""


class HousesBroker(GuardedBroker):
    """Mosquitto with the users that `punto broker-users` makes for two tables."""

    accounts = ""
    """The `[accounts]` of the first table."""

    def make_users(self, passwords: Path, acl: Path) -> None:
        tables = [acl.with_name(f"{name}.toml") for name in ("table-1", "table-2")]
        for table_ in tables:
            table_.write_text(HOUSE.format(id=table_.stem), encoding="utf-8")
        with tables[0].open("a", encoding="utf-8") as first:
            first.write(self.accounts)
        assert main(["broker-users", *map(str, tables), "--out", str(acl.parent)]) == 0
        self.passwords = acl.parent / "passwords"
        acl.chmod(0o600)

    def login(self, user: str) -> dict[str, str]:
        return {"username": user, "password": (self.passwords / user).read_text(encoding="utf-8").strip()}


class KeepersBroker(HousesBroker):
    accounts = f'[accounts]\npath = "a.db"\nhouse = "{b64encode(bytes(32)).decode()}"\n'
