"""`punto operators`: the accounts of the people who may sign on at a table's consoles, or at a house's Game Manager."""

import argparse
import getpass
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from punto.configs.text_file import TextError, read_line
from punto.configs.toml_file import read
from punto.controller.accounts.accounts import HOUSE_KEEPS, Accounts
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import Role
from punto.controller.config.file import ServiceConfig
from punto.controller.config.sections import AccountsConfig
from punto.controller.config.tables import load_configs
from punto.house.config import GameManagerConfig, load_game_manager
from punto.messages.building import timestamp

HELP: Final = (
    "Make and change the accounts of operators. A password or a card's number is read at the prompt, or from the first line of "
    "the "
    "standard input. Anyone who can write the accounts' file can use this command. There are no accounts outside this file."
)
_READING: Final = frozenset({"list", "log"})
"""The actions that change nothing."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand, with a subcommand for each action."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--accounts", type=Path, help="the file of the accounts")
    where.add_argument(
        "--config",
        type=Path,
        help="the configuration of a table or of a house's Game Manager, which has the path of the accounts' file",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (
        ("add", "make an account"),
        ("list", "list the accounts, with the cards, the security keys and the problems of each account"),
        ("log", "show each change of an account, with the time, the author and the hash of the log's entry"),
        ("password", "set the password of an account, and end the account's session and lock-out"),
        ("roles", "replace the roles of an account, and end the account's session"),
        ("card", "replace or remove the card of an account, and end the account's session"),
        ("key", "remove the security key of an account; users add their own key at the consoles"),
        ("disable", "disable an account, and end the account's session"),
        ("enable", "enable an account again, and end the account's lock-out"),
        (
            "restore",
            (
                "repair an account that does not match the log: the account gets its state from the log, and a new password; it "
                "then has no card and no security key"
            ),
        ),
    ):
        action = actions.add_parser(name, help=text, description=text)
        if name not in _READING:
            action.add_argument("name", help="the operator's name, as the record shows it")
        if name in {"add", "roles"}:
            action.add_argument(
                "--role",
                required=True,
                action="append",
                choices=[role.value for role in Role],
                help="a role of the account; you can give this option more than once",
            )
        if name in {"card", "key"}:
            action.add_argument(
                "--remove",
                required=name == "key",
                action="store_true",
                help=f"remove the {name}, for example if it is lost",
            )


def main(args: argparse.Namespace) -> int:
    """Carry out the action; 1 if it fails."""
    try:
        path = args.accounts or _configured(args.config, args.action)
        accounts = Accounts.open(_accounts_file(path, args.action))
        try:
            _do(accounts, args)
        finally:
            accounts.close()
    except (AccountsError, TextError) as error:
        print(f"punto operators: {error}", file=sys.stderr)
        return 1
    return 0


def _accounts_file(path: Path, action: str) -> Path:
    """The accounts' file. Only `add` creates it."""
    if action != "add" and not path.exists():
        raise AccountsError(
            f"there is no accounts' file at {path}: make an account with `punto operators add`"
        )
    return path


def _configured(path: Path, action: str) -> Path:
    if "store" in read(path).document:
        configs: list[GameManagerConfig | ServiceConfig] = [load_game_manager(path)]
    else:
        configs = [*load_configs(path)]
    found = {config.accounts.path for config in configs if config.accounts is not None}
    if not found:
        raise AccountsError(f"{path} has no [accounts]: write the path of the accounts' file there")
    if len(found) > 1:
        raise AccountsError(
            f"the tables of {path} have several accounts' files: name one of them with --accounts"
        )
    if action not in _READING and any(_is_of_a_house(config) for config in configs):
        raise AccountsError(HOUSE_KEEPS)
    return found.pop()


def _is_of_a_house(config: GameManagerConfig | ServiceConfig) -> bool:
    return isinstance(config.accounts, AccountsConfig) and config.accounts.house is not None


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
            accounts.add(args.name, roles, _secret("New password"), timestamp(datetime.now(UTC)))
        case "password":
            accounts.set_password(args.name, _secret("New password"))
        case "roles":
            accounts.set_roles(args.name, [Role(role) for role in args.role])
        case "card" | "key" as what if args.remove:
            (accounts.remove_card if what == "card" else accounts.remove_key)(args.name)
        case "card":
            accounts.enroll(args.name, _secret("The card's number"))
        case "restore":
            accounts.restore(args.name, _secret("New password"))
        case action:
            accounts.set_disabled(args.name, disabled=action == "disable")


def _list(accounts: Accounts) -> None:
    for each in accounts.all():
        state, card = _state(each.disabled), _card(each.has_card)
        key = "no key" if each.security_key is None else f"key since {each.security_key.added}"
        print(
            f"{each.number}\t{each.name}\t{', '.join(each.roles)}\t{state}\tlast sign-on "
            f"{each.last_sign_on or 'never'}\t{card}\t{key}"
        )
    for name in accounts.not_as_logged():
        _warn(
            f"{name!r} does not match the log and cannot sign on: find out who changed the file, then restore the account"
        )


def _state(disabled: int) -> str:
    return "disabled" if disabled else "enabled"


def _card(has_card: int) -> str:
    return "card" if has_card else "no card"


def _warn(what: str) -> None:
    print(f"punto operators: {what}", file=sys.stderr)


def _secret(what: str) -> str:
    """A secret: entered twice at the prompt, or the first line of the standard input."""
    if not sys.stdin.isatty():
        return read_line(sys.stdin.buffer)
    typed = getpass.getpass(f"{what}: ")
    if getpass.getpass("Again: ") != typed:
        raise AccountsError("the second entry differs from the first: nothing was changed, try again")
    return typed
