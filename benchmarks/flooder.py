"""Clients that each ask far more often than they may, in a process of its own: a line on its standard input names the next."""

import http.client
import itertools
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.client import connected, ready
from punto.drivers.framing import Decoder, encode
from punto.drivers.keypad import frames
from punto.simulators.shoe.terminal import Terminal
from tests.controller.table_on_a_machine import STAFF

Flood = Callable[[], object]
"""Asks once."""


def main() -> None:
    """Flood as the named client, so often a second, until another line comes. An empty line stops it."""
    rate, broker, console, keypad = *map(int, sys.argv[1:4]), Path(sys.argv[4])
    with _keypad(keypad) as press:
        floods: dict[str, Flood] = {
            "seat": _seat(broker),
            "account": _account(console),
            "device": press,
            "display": _display(broker),
            "elsewhere": _elsewhere(broker),
        }
        ready()
        ended, thread = threading.Event(), threading.Thread()
        for line in sys.stdin:
            ended.set()
            if thread.ident is not None:
                thread.join()
            if line.strip():
                ended = threading.Event()
                thread = threading.Thread(
                    target=_flood, args=(floods[line.strip()], rate, ended), daemon=True
                )
                thread.start()
            ready()


def _flood(ask: Flood, rate: int, ended: threading.Event) -> None:
    due = time.monotonic()
    while not ended.is_set():
        ask()
        due = max(due + 1 / rate, time.monotonic() - 0.1)
        time.sleep(max(0.0, due - time.monotonic()))


def _seat(broker: int) -> Flood:
    client = connected(broker)
    client.loop_start()
    numbers = itertools.count()

    def flood() -> None:
        wager = {"id": f"flood {next(numbers)}", "round": 1, "wager": "player", "amount": 1}
        client.publish("punto/bench/wagers/1/set", json.dumps(wager), qos=0)

    return flood


def _display(broker: int) -> Flood:
    client = connected(broker)
    client.loop_start()
    numbers = itertools.count()
    return lambda: client.publish("punto/bench/request/snapshot", json.dumps({"id": str(next(numbers))}))


def _elsewhere(broker: int) -> Flood:
    """As often as a display, at the same broker, on a topic that the service does not read."""
    client = connected(broker)
    client.loop_start()
    numbers = itertools.count()
    return lambda: client.publish("elsewhere", json.dumps({"id": str(next(numbers))}))


def _account(console: int) -> Flood:
    at = http.client.HTTPConnection("127.0.0.1", console)
    origin = {"Origin": f"http://127.0.0.1:{console}", "Content-Type": "application/json"}

    def post(path: str, body: dict[str, Any], **headers: str) -> tuple[Any, http.client.HTTPResponse]:
        at.request("POST", path, json.dumps(body), {**origin, **headers})
        answer = at.getresponse()
        return json.loads(answer.read()), answer

    session: dict[str, str] = {}

    def flood() -> None:
        if not session:
            signed_on, answer = post("/api/session", STAFF)
            cookies = answer.msg.get_all("Set-Cookie") or []
            session["Cookie"] = "; ".join(cookie.partition(";")[0] for cookie in cookies)
            session["X-CSRF-Token"] = signed_on["csrf"]
        try:
            post("/api/orders", {"order": "call_supervisor", "reason": "a flood"}, **session)
        except (OSError, http.client.HTTPException):
            at.close()  # the consoles end a connection of a flood; the next request opens another

    return flood


@contextmanager
def _keypad(link: Path) -> Iterator[Flood]:
    """A keypad that keeps its line alive, and presses without waiting for its answers."""
    terminal = Terminal(link)
    terminal.plug()
    decoder = Decoder({frames.Status.TYPE: frames.Status.parse})
    ended = threading.Event()
    numbers = itertools.count(1)

    def live() -> None:
        while not ended.is_set():
            for status in decoder.feed(terminal.read()):
                terminal.write(encode(frames.Here(status.token, 7, "FLOOD-1")))
            time.sleep(0.02)

    def press() -> None:
        number = next(numbers)
        terminal.write(encode(frames.Press(number, 7, 0, f"F{9 + number % 2 * 3}")))

    thread = threading.Thread(target=live, daemon=True)
    thread.start()
    try:
        yield press
    finally:
        ended.set()
        thread.join()
        terminal.unplug()


main()
