"""The accounts of a table: whether nobody is missing whom the table's work needs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from shlex import quote
from typing import Final

from punto.controller.accounts.accounts import Account, Accounts
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import Role
from punto.doctor.findings import Finding
from punto.doctor.patient import Patient

CHECK: Final = "accounts"


def check(patient: Patient) -> Iterator[Finding]:
    """The people who may give orders at the table."""
    accounts = patient.config.accounts
    if accounts is None:
        how = "without [accounts] nobody can give a supervisor's order, such as a shoe change"
        yield Finding(CHECK, "warning", "accounts", how)
        return
    what = str(accounts.path)
    if accounts.house is not None:
        yield Finding(CHECK, "not checked", what, "the Game Manager of the house keeps the accounts")
        return
    if (
        not accounts.path.exists() or not accounts.path.stat().st_size
    ):  # an empty file would be made one of accounts
        yield Finding(CHECK, "wrong", what, "there are no accounts", _add(patient, Role.SUPERVISOR))
        return
    try:
        with closing(Accounts.open(accounts.path)) as opened:
            found = opened.all()
            foreign = opened.not_as_logged()
    except AccountsError as error:
        yield Finding(CHECK, "wrong", what, str(error))
        return
    yield from judged(found, len(foreign), what, patient)


def judged(found: Sequence[Account], foreign: int, what: str, patient: Patient) -> Iterator[Finding]:
    """Who can sign on. `foreign` counts accounts that the audit log does not have as they are."""
    can = Counter(role for each in found if not each.disabled and not each.altered for role in each.roles)
    needed = {Role.SUPERVISOR: 1}
    if patient.config.progressive is not None:
        needed[Role.EXECUTIVE] = 1
    if patient.config.table.approval and len([each for each in found if not each.disabled]) < 2:
        how = "orders need a second person's approval, and only one person can sign on"
        yield Finding(CHECK, "wrong", what, how, _add(patient, Role.SUPERVISOR))
    missing = [role for role, number in needed.items() if can[role] < number]
    for role in missing:
        yield Finding(CHECK, "wrong", what, f"nobody who can sign on is a {role}", _add(patient, role))
    if foreign:
        how = f"{foreign} accounts do not match the audit log, so another program has changed the file, and they cannot sign on"
        yield Finding(
            CHECK,
            "wrong",
            what,
            how,
            patient.as_user(f"punto operators --config {quote(str(patient.file))} log"),
        )
    if not missing:
        numbers = ", ".join(f"{can[role]} {role}" for role in Role if can[role])
        yield Finding(CHECK, "ok", what, numbers)


def _add(patient: Patient, role: Role) -> str:
    return patient.as_user(f"punto operators --config {quote(str(patient.file))} add NAME --role {role}")
