"""The certificates of a table: usable with their keys, and not at the end of their time."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote
from typing import Final

from punto.configs.given_files import read_given
from punto.configs.problems import ConfigError
from punto.doctor.findings import Finding
from punto.doctor.patient import Patient
from punto.runtime.tls import client_tls, server_tls

CHECK: Final = "certificates"
SOON: Final = timedelta(days=30)
_MOST_BYTES: Final = 1_000_000


def check(patient: Patient) -> Iterator[Finding]:
    """The certificates that the configuration names."""
    console, mqtt = patient.config.console, patient.config.mqtt
    if (console is None or console.certificate is None) and (mqtt is None or mqtt.ca_file is None):
        yield Finding(CHECK, "not checked", CHECK, "the configuration names no certificate")
    if console is not None and console.certificate is not None and console.key is not None:
        yield from _pair(console.certificate, console.key, "console", console.host)
    if mqtt is not None and mqtt.ca_file is not None:
        key = None if mqtt.key is None else patient.found(mqtt.key)
        try:
            client_tls(mqtt.ca_file, mqtt.certificate, key, "mqtt")
        except ConfigError as error:
            yield Finding(CHECK, "wrong", "mqtt", error.problems[0].message)
            return
        for path in (mqtt.ca_file, mqtt.certificate):
            if path is not None:
                yield _dated(path, None)


def _pair(certificate: Path, key: Path, section: str, host: str) -> Iterator[Finding]:
    command = (
        f"openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj {quote(f'/CN={host}')} -addext "
        f"{quote(f'subjectAltName={_name(host)}')} -keyout {quote(str(key))} -out {quote(str(certificate))}"
    )
    try:
        server_tls(certificate, key, section)
    except ConfigError as error:
        yield Finding(
            CHECK, "wrong", f"{section}.certificate {certificate}", error.problems[0].message, command
        )
        return
    yield _dated(certificate, command)


def _name(host: str) -> str:
    return f"IP:{host}" if host.replace(".", "").isdigit() or ":" in host else f"DNS:{host}"


def _dated(path: Path, command: str | None) -> Finding:
    try:
        from cryptography.x509 import load_pem_x509_certificate  # noqa: PLC0415 - an extra
    except ImportError:
        return Finding(CHECK, "not checked", str(path), "its dates cannot be read: install punto[console]")
    try:
        found = load_pem_x509_certificate(read_given(path, _MOST_BYTES))
    except (OSError, ValueError) as error:
        return Finding(CHECK, "wrong", str(path), f"it cannot be read: {error}", command)
    times = found.not_valid_before_utc, found.not_valid_after_utc
    return judged(path, *times, datetime.now(UTC), command)


def judged(path: Path, since: datetime, until: datetime, now: datetime, command: str | None) -> Finding:
    """How a certificate's dates are. The command replaces it by one that it signs itself; a house's authority makes a better one."""
    if now < since:
        return Finding(CHECK, "wrong", str(path), f"it is valid only from {since:%Y-%m-%d}: check the clock")
    if now >= until:
        how = f"it has expired on {until:%Y-%m-%d}: browsers refuse it; have the house's authority sign another, or make one"
        return Finding(CHECK, "wrong", str(path), how, command)
    if until - now < SOON:
        how = f"it expires on {until:%Y-%m-%d}: have the house's authority sign another, or make one"
        return Finding(CHECK, "warning", str(path), how, command)
    return Finding(CHECK, "ok", str(path), f"valid until {until:%Y-%m-%d}")
