"""`punto operators`: the accounts of the people who may sign on at a table's consoles."""

import argparse
import getpass
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from controller.config import load_config
from controller.messages.building import timestamp
from controller.operators.accounts import Accounts, AccountsError
from controller.operators.roles import Role

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
        ("list", "list the accounts, and who has a card"),
        ("password", "give an account another password; its session ends, and it is locked out no more"),
        ("roles", "give an account these roles in place of those that it has; its session ends"),
        ("card", "give an account a card, in place of one that it has, or take it away; its session ends"),
        ("disable", "let an account in no more; its session ends"),
        ("enable", "let an account in again, also one that is locked out"),
    ):
        action = actions.add_parser(name, help=text, description=text)
        if name != "list":
            action.add_argument("name", help="the operator's name, as it will be on the record")
        if name in {"add", "roles"}:
            action.add_argument(
                "--role",
                required=True,
                action="append",
                choices=[role.value for role in Role],
                help="several may be given",
            )
        if name == "card":
            action.add_argument(
                "--remove", action="store_true", help="take its card away, such as one that is lost"
            )


def main(args: argparse.Namespace) -> int:
    """Do it; 1 if it cannot be done."""
    try:
        accounts = Accounts.open(args.accounts or _configured(args.config))
        try:
            _do(accounts, args)
        finally:
            accounts.close()
    except AccountsError as error:
        print(f"punto operators: {error}", file=sys.stderr)
        return 1
    return 0


def _configured(path: Path) -> Path:
    console = load_config(path).console
    if console is None:
        raise AccountsError(f"{path} has no [console], which names the accounts' file")
    return console.accounts


def _do(accounts: Accounts, args: argparse.Namespace) -> None:
    match args.action:
        case "list":
            for each in accounts.all():
                state = "disabled" if each.disabled else "enabled"
                signed_on = each.last_sign_on or "never"
                card = "card" if each.has_card else "no card"
                print(f"{each.name}\t{', '.join(each.roles)}\t{state}\tlast sign-on {signed_on}\t{card}")
        case "add":
            roles = [Role(role) for role in args.role]
            accounts.add(args.name, roles, _asked("New password"), timestamp(datetime.now(UTC)))
        case "password":
            accounts.set_password(args.name, _asked("New password"))
        case "roles":
            accounts.set_roles(args.name, [Role(role) for role in args.role])
        case "card" if args.remove:
            accounts.remove_card(args.name)
        case "card":
            accounts.enroll(args.name, _asked("The card's number"))
        case action:
            accounts.set_disabled(args.name, disabled=action == "disable")


def _asked(what: str) -> str:
    """A secret: typed twice and not shown, or the first line of the standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    typed = getpass.getpass(f"{what}: ")
    if getpass.getpass("Again: ") != typed:
        raise AccountsError("the two are not the same: nothing was changed")
    return typed
