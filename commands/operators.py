"""`punto operators`: the accounts of the people who may sign on at a table's consoles."""

import argparse
import getpass
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import Role
from punto.controller.config.file import load_config
from punto.controller.messages.building import timestamp

HELP: Final = (
    "Make and change the accounts of operators. A password or a card's number comes from the prompt, or is the first line "
    "of the standard input. Whoever may write the accounts' file may do all of this: there is no account but those made here."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the accounts' file, or the configuration that names it, and what to do."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--accounts", type=Path, help="the accounts' file")
    where.add_argument("--config", type=Path, help="the table's configuration, which names it")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (
        ("add", "make an account"),
        ("list", "list the accounts, who has a card or a security key, and what is wrong with one"),
        ("log", "show who changed which account when, and the hash of each entry"),
        ("password", "give an account another password; its session ends, and it is locked out no more"),
        ("roles", "give an account these roles in place of those that it has; its session ends"),
        ("card", "give an account a card, in place of one that it has, or take it away; its session ends"),
        ("key", "take an account's security key away; people add their own at the consoles"),
        ("disable", "let an account in no more; its session ends"),
        ("enable", "let an account in again, also one that is locked out"),
        (
            "restore",
            "bring an account that does not match the log back to what the log says, with a new password, no card and no key",
        ),
    ):
        action = actions.add_parser(name, help=text, description=text)
        if name not in {"list", "log"}:
            action.add_argument("name", help="the operator's name, as it will be on the record")
        if name in {"add", "roles"}:
            action.add_argument(
                "--role",
                required=True,
                action="append",
                choices=[role.value for role in Role],
                help="several may be given",
            )
        if name in {"card", "key"}:
            action.add_argument(
                "--remove",
                required=name == "key",
                action="store_true",
                help=f"take its {name} away, such as one that is lost",
            )


def main(args: argparse.Namespace) -> int:
    """Do it; 1 if it cannot be done."""
    try:
        accounts = Accounts.open(_there(args.accounts or _configured(args.config), args.action))
        try:
            _do(accounts, args)
        finally:
            accounts.close()
    except AccountsError as error:
        print(f"punto operators: {error}", file=sys.stderr)
        return 1
    return 0


def _there(path: Path, action: str) -> Path:
    """The accounts' file, which `add` alone may begin."""
    if action != "add" and not path.exists():
        raise AccountsError(f"there are no accounts at {path}: `punto operators add` begins them")
    return path


def _configured(path: Path) -> Path:
    accounts = load_config(path).accounts
    if accounts is None:
        raise AccountsError(f"{path} has no [accounts], which names the accounts' file")
    return accounts.path


def _do(accounts: Accounts, args: argparse.Namespace) -> None:
    match args.action:
        case "list":
            _list(accounts)
        case "log":
            for each in accounts.log():
                state, card = _state(each.disabled), _card(each.card)
                account = f"{each.number}\t{each.name}\t{', '.join(each.roles.split())}\t{state}\t{card}"
                print(f"{each.entry}\t{each.at}\t{each.who}\t{each.what}\t{account}\t{each.hash}")
        case "add":
            roles = [Role(role) for role in args.role]
            accounts.add(args.name, roles, _asked("New password"), timestamp(datetime.now(UTC)))
        case "password":
            accounts.set_password(args.name, _asked("New password"))
        case "roles":
            accounts.set_roles(args.name, [Role(role) for role in args.role])
        case "card" | "key" as what if args.remove:
            (accounts.remove_card if what == "card" else accounts.remove_key)(args.name)
        case "card":
            accounts.enroll(args.name, _asked("The card's number"))
        case "restore":
            accounts.restore(args.name, _asked("New password"))
        case action:
            accounts.set_disabled(args.name, disabled=action == "disable")


def _list(accounts: Accounts) -> None:
    from punto.controller.accounts.look_alikes import alike  # noqa: PLC0415 - other actions need not wait for its data

    found = accounts.all()
    for each in found:
        state, card = _state(each.disabled), _card(each.has_card)
        key = "no key" if each.security_key is None else f"key since {each.security_key.added}"
        print(
            f"{each.number}\t{each.name}\t{', '.join(each.roles)}\t{state}\tlast sign-on {each.last_sign_on or 'never'}\t{card}\t{key}"
        )
        for other in found:
            if other.number < each.number and alike(other.name, each.name):
                _warn(
                    f"{each.name!r} ({each.number}) looks like {other.name!r} ({other.number}): disable one of them"
                )
    for name in accounts.not_as_logged():
        _warn(
            f"{name!r} does not match the log and is not let in: find out who changed the file, then restore the account"
        )


def _state(disabled: int) -> str:
    return "disabled" if disabled else "enabled"


def _card(has_card: int) -> str:
    return "card" if has_card else "no card"


def _warn(what: str) -> None:
    print(f"punto operators: {what}", file=sys.stderr)


def _asked(what: str) -> str:
    """A secret: typed twice and not shown, or the first line of the standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    typed = getpass.getpass(f"{what}: ")
    if getpass.getpass("Again: ") != typed:
        raise AccountsError("the two are not the same: nothing was changed")
    return typed
