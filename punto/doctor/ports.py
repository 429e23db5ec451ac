"""The ports of a table's devices: there, allowed, free, and the right device at the end of the cable.

A port that the running service has is asked through the service, and is never opened a second time.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any, Final

from punto.baccarat.table.shoe_orders import ShoeOrders
from punto.configs.problems import ConfigError
from punto.controller.config.devices import SerialConfig, SerialOrInputConfig
from punto.doctor.findings import Finding, Level
from punto.doctor.patient import Patient, Process, with_open
from punto.drivers.address import is_network
from punto.drivers.base import CardAnswer, Driver, KeyAnswer, KeypadLamps, LinkHealth
from punto.drivers.cable import BY_ID, PSEUDO_TERMINALS
from punto.drivers.retried import listing
from punto.runtime.permissions import Obstacle, obstacle

CHECK: Final = "ports"
ASK_SECONDS: Final = 4.0
"""How long a device has to introduce itself."""
_NO_SERVICE: Final = "the table's service does not run"


@dataclass(frozen=True, slots=True)
class PortFacts:
    """What is known of a device's port. `others` are the ports under by-id that no device of the table has.

    `link` is what the running service reports of it; `heard` is what the device answers if it was asked: empty if it
    introduced itself, else the reason.
    """

    section: str
    address: str
    there: bool
    obstacle: Obstacle | None = None
    holders: tuple[Process, ...] = ()
    link: Mapping[str, Any] | None = None
    heard: str | None = None
    not_asked: str = ""
    others: tuple[Path, ...] = ()
    rule: str | None = None


def check(patient: Patient) -> Iterator[Finding]:
    """The ports of all devices."""
    for section, device in patient.config.devices():
        yield judged(_facts(patient, section, device), patient)


def judged(facts: PortFacts, patient: Patient) -> Finding:
    """How a port is."""
    device = facts.section.replace("_", " ")
    level, how, command = _how(facts, patient, device)
    return Finding(CHECK, level, f"{device} at {facts.address}", how, command)


def _how(facts: PortFacts, patient: Patient, device: str) -> tuple[Level, str, str | None]:
    strangers = [each for each in facts.holders if each != patient.service]
    if not facts.there:
        how = f"the port does not exist: plug the {device} in, or write another path; {listing(BY_ID)}"
        script = f"s|{facts.address}|{facts.others[0]}|" if len(facts.others) == 1 else ""
        return "wrong", how, f"sed -i {quote(script)} {quote(str(patient.file))}" if script else None
    if facts.obstacle is not None:
        how = f"the user {patient.user.name} may not open it, so give it to the group {patient.user.group}"
        own = f"chgrp {quote(patient.user.group)} {facts.address} && chmod 0660 {facts.address}"
        return (
            "wrong",
            how,
            facts.rule or (own if str(facts.obstacle.path) == facts.address else facts.obstacle.remedy),
        )
    if strangers:
        return "wrong", f"{strangers[0]} uses it too", strangers[0].stop
    if facts.link is not None:
        known = f"the service has it, serial number {facts.link['serial'] or 'unknown'}"
        connected = bool(facts.link["connected"])
        return "ok" if connected else "wrong", known if connected else str(facts.link["reason"]), None
    if facts.heard is None:
        return "not checked", f"it is there; {facts.not_asked}", None
    return "wrong" if facts.heard else "ok", facts.heard or "the device introduces itself", None


def _facts(patient: Patient, section: str, device: SerialConfig | SerialOrInputConfig) -> PortFacts:
    address = str(getattr(device, "input", None) if device.port is None else device.port)
    if is_network(address):
        return _asked(patient, section, PortFacts(section, address, there=True))
    path = Path(address)
    if not path.exists():
        return PortFacts(section, address, there=False, others=_others(patient))
    stands = obstacle(path, patient.user, os.R_OK | os.W_OK)
    if stands is not None:
        rule = _rule(path, patient.user.group)
        return PortFacts(section, address, there=True, obstacle=stands, rule=rule)
    holders = tuple(each for each in with_open(path) if not _simulates(each, path))
    facts = PortFacts(section, address, there=True, holders=holders)
    if holders or device.port is None:
        return _unasked(patient, section, facts)
    return _asked(patient, section, facts)


def _asked(patient: Patient, section: str, facts: PortFacts) -> PortFacts:
    """What the device says of itself, if nobody else asks it."""
    if patient.service is not None or section == "coin_spot":
        return _unasked(patient, section, facts)
    try:
        driver = getattr(patient.devices_of(patient.config), section)
    except ConfigError as error:
        return replace(facts, not_asked=f"it cannot be asked: {error}")
    return replace(facts, heard=asyncio.run(ask(driver)))


def _unasked(patient: Patient, section: str, facts: PortFacts) -> PortFacts:
    """What the service says of the device."""
    why = "the service runs and has no [operator] socket at which it can be asked"
    if patient.service is None:
        why = "only the service asks this device"
    link = None if patient.links is None else patient.links.get(section)
    return replace(facts, link=link, not_asked=why)


def _simulates(process: Process, path: Path) -> bool:
    """Whether the process is the device at the other end of a pseudo-terminal, and keeps its own end open."""
    other_end = Path("/dev/ptmx").stat().st_rdev
    try:
        handles = [each.stat().st_rdev for each in Path(f"/proc/{process.number}/fd").iterdir()]
    except OSError:
        return False
    return os.major(path.stat().st_rdev) in PSEUDO_TERMINALS and other_end in handles


def _others(patient: Patient) -> tuple[Path, ...]:
    """The ports under by-id that no device of the table has."""
    used = {Path(str(each.port)) for _, each in patient.config.devices() if each.port is not None}
    try:
        return tuple(sorted(each for each in BY_ID.iterdir() if each not in used))
    except OSError:
        return ()


def _rule(path: Path, group: str) -> str | None:
    """The command that writes the udev rule for a USB device, and gives it to the group now; None for another device."""
    rule = rule_of(path, group)
    if rule is None:
        return None
    return f"echo {quote(rule)} >> /etc/udev/rules.d/60-punto.rules && udevadm control --reload && udevadm trigger"


def rule_of(path: Path, group: str) -> str | None:
    """The udev rule that gives a USB adapter or a USB keyboard to a group; None for another device."""
    known = usb_of(path)
    if known is None:
        return None
    number = f', ATTRS{{serial}}=="{known.serial}"' if known.serial else ""
    which = f'ATTRS{{idVendor}}=="{known.vendor}", ATTRS{{idProduct}}=="{known.product}"{number}'
    if _is_input(path):
        return f'SUBSYSTEM=="input", KERNEL=="event*", {which}, GROUP="{group}", MODE="0660"'
    return f'SUBSYSTEM=="tty", {which}, GROUP="{group}", MODE="0660", ENV{{ID_MM_DEVICE_IGNORE}}="1"'


@dataclass(frozen=True, slots=True)
class Usb:
    """What a USB device says of itself: its numbers, its serial number, and the names of its maker and product, empty without one."""

    vendor: str
    product: str
    serial: str = ""
    maker: str = ""
    model: str = ""


def usb_of(path: Path, sysfs: Path = Path("/sys")) -> Usb | None:
    """The USB device of a serial port or an input device; None for another device."""
    kind = "input" if _is_input(path) else "tty"
    place = (sysfs / "class" / kind / path.resolve().name / "device").resolve()
    for folder in (place, *place.parents):
        if (folder / "idVendor").exists():
            names = ("idVendor", "idProduct", "serial", "manufacturer", "product")
            return Usb(*(kernel_says(folder / name) for name in names))
    return None


def kernel_says(file: Path) -> str:
    """The first line of a file of the kernel; empty without one, and of what a device has made to be no name."""
    try:
        said = next(iter(file.read_text(encoding="utf-8", errors="replace").splitlines()), "").strip()
    except OSError:
        return ""
    return said if said.isprintable() and '"' not in said else ""


def _is_input(path: Path) -> bool:
    return path.resolve().name.startswith("event")


class _Bystander:
    """The user of a driver that only wants to know which device is there: it acknowledges nothing and orders nothing."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()

    def link_changed(self) -> None:
        self.changed.set()

    async def take(self, _: object) -> None:
        pass

    def orders(self) -> ShoeOrders:
        return ShoeOrders()

    async def press(self, _: str) -> KeyAnswer:
        return KeyAnswer("refused", _NO_SERVICE)

    async def turned(self, _: object) -> None:
        pass

    def restarted(self) -> None:
        pass

    def lamps(self) -> KeypadLamps:
        return KeypadLamps()

    async def swipe(self, _: str) -> CardAnswer:
        return CardAnswer("refused", _NO_SERVICE)

    async def unreadable(self) -> None:
        pass

    def awaited(self) -> bool:
        return False


async def ask(driver: Driver[Any]) -> str:
    """Open the port and wait for the device's introduction; returns the reason if none comes, and else an empty text."""
    user = _Bystander()
    running = asyncio.create_task(driver.run(user))
    try:
        async with asyncio.timeout(ASK_SECONDS):
            while not driver.health().connected:
                await user.changed.wait()
                user.changed.clear()
    except TimeoutError:
        pass
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    health: LinkHealth = driver.health()
    return "" if health.connected else health.reason
