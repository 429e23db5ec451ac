"""`punto operator`: give a running table an order over its local socket."""

import argparse
import dataclasses
import getpass
import json
import math
import socket
import sys
import time
from pathlib import Path
from typing import Any, Final, get_args

from punto.baccarat.cards import Card
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.definition import Field
from punto.baccarat.wagers.definition import Limits
from punto.commands.arguments import add_table
from punto.commands.numbers import whole_number
from punto.configs.problems import cut, nearest
from punto.configs.text_file import TextError, read_line
from punto.controller.config.tables import load_table

HELP: Final = (
    "Give a running table an order over its local socket. If the table has accounts, --as names the account that gives the "
    "order. "
    "The password of the account is read at the prompt, or from the first line of the standard input. `punto operator ORDER "
    "--help` shows the arguments of an order. If the table refuses the order, the reason is printed, and the exit status is 1. "
    "If "
    "no service answers, the exit status is 2. With --wait, the command waits for a service that is still starting."
)
TIMEOUT_SECONDS: Final = 10
WAIT_SECONDS: Final = 30
_EVERY_SECONDS: Final = 0.1
_STATUS: Final = "show the present state of the table"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand, with a subcommand for each order."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--socket", type=Path, help="the path of the table's operator socket")
    where.add_argument(
        "--config", type=Path, help="the table's configuration, which has the path of the socket"
    )
    add_table(parser)
    parser.add_argument("--as", dest="giver", metavar="NAME", help="the account that gives the order")
    parser.add_argument(
        "--approved-by",
        dest="second",
        metavar="NAME",
        help="the account of the person who approves the order",
    )
    parser.add_argument(
        "--wait",
        type=_seconds,
        nargs="?",
        const=WAIT_SECONDS,
        default=0,
        metavar="SECONDS",
        help=f"wait until the service answers, but at most SECONDS (default: {WAIT_SECONDS})",
    )
    orders = parser.add_subparsers(dest="order", required=True, metavar="ORDER")
    orders.add_parser("status", help=_STATUS, description=_STATUS)
    for kind, definition in CATALOGUE.items():
        if definition.seen:
            continue
        text = definition.sentence
        order = orders.add_parser(kind.replace("_", "-"), help=text, description=text)
        for name, field in definition.fields.items():
            _add_field(order, name, field)


def _add_field(order: argparse.ArgumentParser, name: str, field: Field) -> None:
    help_ = field.help.replace("%", "%%")
    if name == "limits":
        order.add_argument(
            "--limit",
            dest="limits",
            type=_limit,
            action="append",
            default=[],
            metavar="WAGER.KEY=AMOUNT",
            help=f"{help_}. KEY is minimum, maximum or step, such as player.minimum=2500, or maximum_of_base, such as "
            "tie.maximum_of_base=50%%; you can give this option more than once",
        )
    elif field.required:
        order.add_argument(name, type=_type(field), help=help_)
    else:
        order.add_argument(
            f"--{name.replace('_', '-')}", dest=name, type=_type(field), default=_MISSING, help=help_
        )


_MISSING: Final = object()


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of seconds: write --wait=30, or --wait and then another option"
        )
    return seconds


def _type(field: Field) -> Any:
    kinds = get_args(field.type) or (field.type,)
    if Card in kinds and field.type is not Card:
        return str.split
    if int not in kinds:
        return str
    return _number_or_none if type(None) in kinds else int


def _number_or_none(text: str) -> int | None:
    return None if text == "none" else int(text)


def _limit(text: str) -> tuple[str, str, int | str]:
    wager, _, rest = text.partition(".")
    key, _, amount = rest.partition("=")
    keys = [each.name for each in dataclasses.fields(Limits)]
    if amount and key not in keys:
        close = nearest(key, keys)
        meant = f" (did you mean {close}?)" if close else ""
        raise argparse.ArgumentTypeError(
            f"{cut(text)!r}: there is no limit {key!r}{meant}; there are {', '.join(keys)}"
        )
    if amount and key == "maximum_of_base":
        return wager, key, amount  # the service reads it
    try:
        return wager, key, whole_number(amount)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{cut(text)!r} is not a limit: write it like player.minimum=2500"
        ) from None


def main(args: argparse.Namespace) -> int:
    """Print the answer; status 0 if the order was carried out, 1 if it was refused, 2 if no service answered."""
    path = args.socket or _configured(args.config, args.of_table)
    if path is None:
        print(
            f"punto operator: {args.config} has no [operator], so this table has no socket", file=sys.stderr
        )
        return 2
    request = _request(args)
    try:
        for field, name in (("by", args.giver), ("approval", args.second)):
            if name is not None and args.order != "status":  # the status needs no account
                request[field] = {"name": name, "password": _password(name)}
    except TextError as error:
        print(f"punto operator: the password cannot be read: {error}", file=sys.stderr)
        return 2
    try:
        _wait(path, args.wait)
        answer = ask(path, request)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        print(f"punto operator: no service answers at {path} ({why}): is it running?", file=sys.stderr)
        return 2
    if not answer["accepted"]:
        print(f"refused: {answer['reason']}", file=sys.stderr)
        if answer.get("code") == "not_signed" and args.giver is None:
            print("Name the account that gives this order: punto operator --as NAME …", file=sys.stderr)
        return 1
    print(json.dumps(answer["state"], indent=2) if answer.get("state") else "done")
    return 0


def _configured(path: Path, table: str | None) -> Path | None:
    operator = load_table(path, table).operator
    return None if operator is None else operator.socket


def _request(args: argparse.Namespace) -> dict[str, Any]:
    kind = args.order.replace("-", "_")
    fields = CATALOGUE[kind].fields if kind in CATALOGUE else {}
    request = {name: value for name in fields if (value := getattr(args, name)) is not _MISSING}
    if "limits" in fields:
        limits: dict[str, dict[str, int | str]] = {}
        for wager, key, amount in request["limits"]:
            limits.setdefault(wager, {})[key] = amount
        request["limits"] = limits
    return {"order": kind, **request}


def _password(name: str) -> str:
    """An account's password: from the prompt, or the next line of the standard input."""
    if sys.stdin.isatty():
        return getpass.getpass(f"Password of {name}: ")
    return read_line(sys.stdin.buffer)


def _wait(path: Path, seconds: float) -> None:
    """Wait until a service answers, at most `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            ask(path, {"order": "status"})
        except (FileNotFoundError, ConnectionError):  # there is no socket, or a killed service has left it
            time.sleep(_EVERY_SECONDS)
        else:
            return


def ask(path: Path, request: dict[str, Any], seconds: float = TIMEOUT_SECONDS) -> dict[str, Any]:
    """Send one request to a table's socket and return its answer.

    Raises:
        OSError: nothing answers at the socket.
        ValueError: the program that answers is not a table's service.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.settimeout(seconds)
        door.connect(str(path))
        door.sendall(json.dumps(request).encode() + b"\n")
        with door.makefile("rb") as answers:
            line = answers.readline()
    if not line:
        raise ConnectionError("the service closed the connection")
    answer: dict[str, Any] = json.loads(line)
    if not isinstance(answer, dict) or "accepted" not in answer:
        raise ValueError("the program that answers is not a table's service")
    return answer
