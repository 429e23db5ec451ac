"""`punto operator`: give a running table an order over its local socket."""

import argparse
import json
import socket
import sys
from pathlib import Path
from typing import Any, Final

from controller.config import load_config

HELP: Final = (
    "Give a running table an order over its local socket, in the name of the user who runs this. `punto operator ORDER --help` "
    "says what an order takes. The exit status is 1 when the table refuses it, with its reason, and 2 when no service answers."
)
TIMEOUT_SECONDS: Final = 10
_ORDERS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "status": ("show the table as it is", ()),
    "sign-on": ("sign on, so that the table can be opened", ()),
    "sign-off": ("sign off; the table locks", ()),
    "change-shoe": ("begin a shoe change: load, first card and burn", ()),
    "open-betting": ("open betting for the next coup", ()),
    "close-betting": ("no more wagers", ()),
    "close-table": ("close the table between coups", ()),
    "reveal": ("show the hands and settle (midi baccarat)", ()),
    "void-coup": ("declare a misdeal: wagers go back", ("reason",)),
    "correct-card": ("correct a misread card before settlement", ("position", "card", "reason")),
    "correct-round": (
        "settle the last round again by its real hands, each in quotes: 'KS 9H'",
        ("round", "player", "banker", "reason"),
    ),
    "void-round": ("take the last round back after it was settled", ("round", "reason")),
    "key-card": ("enter a card that the shoe could not read", ("card",)),
    "resume-play": ("resume after what stopped the table was seen to", ("reason",)),
    "accept-shoe": ("accept another shoe in place of the one before", ("serial",)),
    "change-game": ("play another game, or with other limits, from the next shoe on", ("game",)),
    "call-supervisor": ("ask for a supervisor at the table", ("reason",)),
    "acknowledge-alarm": ("an alarm has been seen to; its number is that of its event", ("number",)),
    # of the table's progressive
    "wager-placed": ("a progressive wager lies before this seat, where there are no sensors", ("seat",)),
    "wager-lifted": ("it was taken back before START GAME", ("seat",)),
    "start-game": ("count the progressive wagers of this round into the meter", ("round",)),
    "hand-button": ("this seat's hand won of the meter; again takes it back", ("seat",)),
    "turn-key": ("turn the key to jph or to run (Aquarius)", ("to",)),
    "jpot": ("log the award of the hands that are selected (Aquarius)", ()),
    "game-over": ("the game is over (Aquarius)", ()),
    "confirm": ("confirm the award of the hands that are selected (Nexus Command)", ()),
    "swipe-card": ("complete the award by a supervisor or executive card (Nexus Command)", ("level",)),
    "end-game": ("the game is over (Nexus Command)", ()),
    "open-meter": ("put the meter into service, with its seed", ()),
    "adjust": (
        "put so many cents on the meter (cause increase), or take them off it (malfunction, over_limit, recovery_of_seed)",
        ("cause", "amount", "reason"),
    ),
    "back-out": ("put a booked award back on the meter", ("award", "reason")),
    "change-settings": ("change settings of the progressive between rounds", ("reason",)),
    "retire": ("retire the progressive for good, with all that its meter holds", ("reason",)),
    "count-coins": (
        "what the wagers of a gaming day, such as 2026-11-21, were counted as",
        ("day", "amount"),
    ),
}
_NUMBERS: Final = frozenset({"position", "round", "number", "seat", "amount", "award"})
_HANDS: Final = frozenset({"player", "banker"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the socket's path, or the configuration that names it, and the order."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--socket", type=Path, help="the table's operator socket")
    where.add_argument("--config", type=Path, help="the table's configuration, which names the socket")
    orders = parser.add_subparsers(dest="order", required=True, metavar="ORDER")
    for name, (text, fields) in _ORDERS.items():
        order = orders.add_parser(name, help=text, description=text)
        for field in fields:
            order.add_argument(
                field, type=int if field in _NUMBERS else str.split if field in _HANDS else str
            )
        if name == "key-card":
            order.add_argument(
                "--position",
                type=int,
                help="which card it is: its number in the coup as dealt, or 0 for the first of the shoe. Another is refused, so "
                "that an order given twice is not two cards",
            )
        if name == "change-game":
            order.add_argument(
                "--limit",
                dest="limits",
                type=_limit,
                action="append",
                default=[],
                metavar="WAGER.KEY=CENTS",
                help="the house's own, such as player.minimum=2500; also maximum and step; several may be given",
            )
        if name == "change-settings":
            order.add_argument(
                "--set",
                dest="settings",
                type=_setting,
                action="append",
                default=[],
                metavar="KEY=VALUE",
                help="as [progressive] has it, such as reserve=1%% or seed=1000000, or none; several may be given",
            )


def _limit(text: str) -> tuple[str, str, int]:
    wager, _, rest = text.partition(".")
    key, _, amount = rest.partition("=")
    try:
        return wager, key, int(amount)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no limit: write it like player.minimum=2500") from None


def _setting(text: str) -> tuple[str, str | int | None]:
    key, _, value = text.partition("=")
    if not value:
        raise argparse.ArgumentTypeError(f"{text!r} is no setting: write it like reserve=1%")
    if value == "none":
        return key, None
    return key, int(value) if value.isascii() and value.isdecimal() else value


def main(args: argparse.Namespace) -> int:
    """Print the answer; status 0 when the order was carried out, 1 when it was refused, 2 when nobody answered."""
    path = args.socket or load_config(args.config).operator.socket
    request = {"order": args.order.replace("-", "_")}
    request |= {field: getattr(args, field) for field in _ORDERS[args.order][1]}
    if args.order == "key-card" and args.position is not None:
        request["position"] = args.position
    if args.order == "change-game":
        limits: dict[str, dict[str, int]] = {}
        for wager, key, amount in args.limits:
            limits.setdefault(wager, {})[key] = amount
        request["limits"] = limits
    if args.order == "change-settings":
        request |= dict(args.settings)
    try:
        answer = ask(path, request)
    except (OSError, ValueError) as error:
        print(f"punto operator: no service answers at {path} ({error}): is it running?", file=sys.stderr)
        return 2
    if not answer["accepted"]:
        print(f"refused: {answer['reason']}", file=sys.stderr)
        return 1
    print(json.dumps(answer["state"], indent=2, ensure_ascii=False) if answer.get("state") else "done")
    return 0


def ask(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Send one request to a table's socket and return its answer.

    Raises:
        OSError: nobody answers there.
        ValueError: who answers is no table's service.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.settimeout(TIMEOUT_SECONDS)
        door.connect(str(path))
        door.sendall(json.dumps(request).encode() + b"\n")
        with door.makefile("rb") as answers:
            line = answers.readline()
    if not line:
        raise ConnectionError("the service hung up")
    answer: dict[str, Any] = json.loads(line)
    if not isinstance(answer, dict) or "accepted" not in answer:
        raise ValueError("what answers is no table's service")
    return answer
