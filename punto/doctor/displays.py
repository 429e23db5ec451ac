"""The displays of this PC: whether their server answers, and whether their tables are live."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Any, Final, NamedTuple

from punto.configs.problems import nearest
from punto.doctor.broker import Client, refused
from punto.doctor.findings import Finding
from punto.runtime.broker_login import BrokerConfig

CHECK: Final = "displays"
ANSWER_SECONDS: Final = 5
_EVERY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - what is written in a file


class Screen(NamedTuple):
    """A display: its configuration, the address of its pages, the tables that it shows, and its broker."""

    file: Path
    host: str
    port: int
    tables: tuple[str, ...]
    mqtt: BrokerConfig


def check(screen: Screen, known: frozenset[str]) -> Iterator[Finding]:
    """The server of a display; `known` are the ids of the tables that the doctor was given."""
    yield from strangers(screen.file, screen.tables, known)
    address = f"http://{_EVERY_ADDRESS.get(screen.host, screen.host)}:{screen.port}/healthz"
    unit = f"punto-display@{screen.file.stem}"
    try:
        with urllib.request.urlopen(address, timeout=ANSWER_SECONDS) as answer:
            health = json.loads(answer.read(1_000_000))
    except (OSError, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        how = f"no display answers there ({reason})"
        yield Finding(CHECK, "wrong", address, how, f"systemctl restart {unit}")
        return
    if any(each["situation"] == "refused" for each in health.values()):
        user = f"{screen.tables[0]}-display" if len(screen.tables) == 1 else "displays"
        mqtt = screen.mqtt
        what = f"{mqtt.host}:{mqtt.port} as {mqtt.username or 'nobody'}, for the display at {address}"
        yield refused(Client.of(mqtt, screen.file, unit, user), what)
        return
    yield from judged(health, address)


def strangers(file: Path, shown: Iterable[str], known: frozenset[str]) -> Iterator[Finding]:
    """The tables of a display that are not among the known ones. Without any, the tables are on other PCs."""
    for table in shown:
        if known and table not in known:
            names = ", ".join(sorted(known))
            meant = nearest(table, known) or (names if len(known) == 1 else None)
            script = "" if meant is None else quote(f's/"{table}"/"{meant}"/')
            how = f"no configuration that the doctor was given has this table: they have {names}"
            yield Finding(
                CHECK,
                "warning",
                f"table {table} of {file}",
                how,
                f"sed -i {script} {quote(str(file))}" if script else None,
            )


def judged(health: Mapping[str, Mapping[str, Any]], address: str) -> Iterator[Finding]:
    """How the tables of a display are, by its `/healthz`."""
    for table, each in health.items():
        what = f"{table} at {address}"
        unread = sum(each.get("refused", {}).values())
        if not each["live"]:
            yield Finding(
                CHECK,
                "wrong",
                what,
                f"it is not live: {each['reason']}; last seen: {each['seen'] or 'never'}",
            )
        elif unread:
            how = f"it is live, but {unread} messages do not match this version of the display: upgrade both to one version"
            yield Finding(CHECK, "warning", what, how)
        else:
            yield Finding(CHECK, "ok", what, "it is live")
