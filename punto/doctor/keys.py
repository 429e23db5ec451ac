"""The files with secrets: there, readable by the service's user and by nobody else, and with what belongs in them."""

import os
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Final

from punto.configs.problems import ConfigError
from punto.controller.config.needs import Need, secrets_of
from punto.doctor.findings import Finding, Level
from punto.doctor.patient import Patient
from punto.runtime.permissions import obstacle, open_file
from punto.runtime.secret_file import is_credential, read_key, read_secret

CHECK: Final = "keys"
_PASSWORDS: Final = Path("/etc/punto-broker/passwords")


def check(patient: Patient) -> Iterator[Finding]:
    """Each file with a secret of the table."""
    fine = 0
    for need in secrets_of(patient.config):
        finding = _judged(patient, need)
        if finding is None:
            fine += 1
        else:
            yield finding
    if fine:
        yield Finding(CHECK, "ok", f"{fine} secret{'s' * (fine > 1)}", f"{patient.user.name} can read them")


def _judged(patient: Patient, need: Need) -> Finding | None:
    """What is wrong with a secret; None if nothing is."""
    path = patient.found(need.path)
    level: Level = "wrong" if need.stops_the_table else "warning"
    what = f"{need.key} {path}"
    is_key = need.key.endswith(("key_file", "key_folder"))
    if not path.exists():
        user = patient.config.mqtt.username if patient.config.mqtt is not None else None
        made = _PASSWORDS / (user or patient.config.table.id)
        command = (
            f"punto device-key {quote(str(path))} && {open_file(path, patient.user)}" if is_key else None
        )
        if need.key == "mqtt.password_file" and made.exists():
            command = f"install -m 0600 {made} {quote(str(path))}"
        return Finding(CHECK, level, what, "the file does not exist", command)
    stands = None if is_credential(need.path) else obstacle(path, patient.user, os.R_OK)
    if stands is not None:
        return Finding(CHECK, level, what, f"the user {patient.user.name} cannot read it", stands.remedy)
    try:
        if is_key:
            read_key(path, "key", need.key)
        elif need.key == "mqtt.password_file":
            read_secret(path, "password", need.key)
    except ConfigError as error:
        if not os.access(path, os.R_OK):
            return Finding(CHECK, "not checked", what, "you may not read it: run the command as root")
        command = (
            f"mv {quote(str(path))} {quote(f'{path}.old')} && punto device-key {quote(str(path))} && {open_file(path, patient.user)}"
            if is_key
            else None
        )
        return Finding(CHECK, level, what, error.problems[0].message, command)
    if path.stat().st_mode & 0o007:
        return Finding(
            CHECK, "warning", what, "every user of this PC can open it", f"chmod o= {quote(str(path))}"
        )
    return None
