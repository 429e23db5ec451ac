"""Plays a table with a progressive, and takes examples of each message from what was really sent.

python -m tools.message_examples    # writes punto/messages/examples.json, for `make schema`

The programs are the real ones: `punto run`, `punto shoe`, Mosquitto. Only the folder that they run in is written as that
of an installed table, and the user who runs them as `mei`. Of the game in `info` one wager is left.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from punto.messages import topics
from punto.messages.schema import EXAMPLES, MESSAGES
from punto.runtime.gaming_days import Calendar
from tests.controller.linked_services import Service
from tests.controller.table_on_a_machine import HERE, STAFF, TABLE, Broker, Listener, Shoe, Table, wait_until

Payloads = list[dict[str, Any]]
ROUNDS: Final = 3
SEED: Final = "examples"
FILE: Final = HERE / "punto" / "messages" / EXAMPLES
SETTINGS: Final = 'betting_closes = "order"\nnext_coup = "order"'
SECTIONS: Final = (
    'restricted = true\n[edge]\nalarm = "1%"\n'
    '[progressive]\nid = "dragon"\nprocedure = "nexus"\nbase_wagers = "recorded"\napproval_above = 1_000_000\n'
)


def _one(payloads: Payloads) -> Payloads:
    return payloads[-1:]


def _most_cards(states: Payloads) -> Payloads:
    """The state with most of a hand on the table."""
    dealt = [each for each in states if each["hands"] is not None]
    return [max(dealt, key=lambda state: len(state["hands"]["player"]) + len(state["hands"]["banker"]))]


def _of_each_kind(events: Payloads) -> Payloads:
    return list({each["happening"]["kind"]: each for each in events}.values())


def _one_wager(infos: Payloads) -> Payloads:
    """What it is and how it is set up, with one wager of the game in place of all, which would be most of it."""
    (info,) = _one(infos)
    game = info["configuration"]["game"]
    return [
        {**info, "configuration": {**info["configuration"], "game": {**game, "wagers": game["wagers"][:1]}}}
    ]


def _few_counts(meters: Payloads) -> Payloads:
    """The last meters, of the hands and of the first wager's first rules."""
    (last,) = _one(meters)
    few = {name: {**last[name], "counts": last[name]["counts"][:6]} for name in ("lifetime", "gaming_day")}
    return [{**last, **few}]


def _one_rule(answers: Payloads) -> Payloads:
    """The last answer with one rule of the wager in place of all."""
    (last,) = _one(answers)
    settings = last["heard"]["settings"]
    wager = {**settings["wager"], "rules": settings["wager"]["rules"][:1]}
    return [{**last, "heard": {**last["heard"], "settings": {**settings, "wager": wager}}}]


# The message, its topic, and which of those that were sent.
_TAKEN: Final[Mapping[str, tuple[str, Callable[[Payloads], Payloads]]]] = {
    "Availability": ("availability", _one),
    "Device": (topics.device("shoe"), _one),
    "Info": ("info", _one_wager),
    "Health": ("health", _one),
    "State": ("state", _most_cards),
    "Scoreboard": ("scoreboard", _one),
    "TableMeters": ("meters", _few_counts),
    "Progressive": ("progressive/dragon", lambda sent: [each for each in sent if each["seats"]][-1:]),
    "Event": ("event", _of_each_kind),
    "Round": ("round", _one),
    "RestrictedCard": ("restricted/card", _one),
    "RestrictedHead": ("restricted/head", _one),
    "Edge": ("restricted/edge", _one),
    "WagerRequest": ("wagers/3/set", lambda sent: sent[-2:]),
    "WagerAnswer": ("wagers/3/result", lambda sent: sent[-2:]),
    "SnapshotRequest": ("request/snapshot", _one),
    "Response": ("response/snapshot", _one),
    "RoundsRequest": ("request/rounds", _one),
    "RoundsResponse": ("response/rounds", _one),
    "IncidentsRequest": (topics.request("incidents", "game-manager"), _one),
    "IncidentsResponse": ("response/incidents", _one),
    "BooksRequest": (topics.request("books", "game-manager"), _one),
    "BooksResponse": ("response/books", _one),
}


def play(folder: Path) -> dict[str, Payloads]:
    """Examples of each message, by its name, of a table that is played in this folder."""
    with ExitStack() as running:
        broker = running.enter_context(Broker(folder))
        table = Table(folder, broker, SETTINGS, SECTIONS)
        written = table.config.read_text(encoding="utf-8")
        table.config.write_text(written.replace('"dragon-bonus-1"', '"progressive-2"'))
        heard = running.enter_context(Listener(folder, broker.port))
        running.enter_context(Shoe(table.port, "--seed", SEED, "--pace", "0.05"))
        running.enter_context(table)
        for order in ("sign_on", "open_meter", "change_shoe"):
            table.order(order)
        for number in range(1, ROUNDS + 1):
            _round(table, broker, heard, number)
        broker.publish(f"punto/{TABLE}/request/snapshot", {"id": "display-3"})
        broker.publish(f"punto/{TABLE}/request/rounds", {"id": "reports-9", "after": 2, "limit": 10})
        table.order("call_supervisor", reason="a dispute at seat 3")
        asked = {"id": "incidents-1", "after": 0, "limit": 10}
        broker.publish(f"punto/{TABLE}/request/incidents/by/game-manager", asked)
        asked = {"id": "books-1", "day": Calendar.of().day_of(datetime.now(UTC)).isoformat()}
        broker.publish(f"punto/{TABLE}/request/books/by/game-manager", asked)
        for topic, _ in _TAKEN.values():
            wait_until(lambda topic=topic: heard.heard(topic), topic)  # type: ignore[misc]
        wait_until(lambda: len(heard.heard("round")) == ROUNDS, "all rounds")
        found = {
            name: choose([each.payload for each in heard.heard(topic)])
            for name, (topic, choose) in _TAKEN.items()
        }
    found |= _linked(folder)
    text = json.dumps(found).replace(str(folder), "/var/lib/punto")
    for before in ("", "operator "):
        text = text.replace(json.dumps(before + STAFF["name"]), json.dumps(f"{before}mei"))
    examples: dict[str, Payloads] = json.loads(text)
    return {model.__name__: examples[model.__name__] for model in MESSAGES}


def _linked(folder: Path) -> dict[str, Payloads]:
    """Examples of what a linked table and its authority tell each other."""
    (folder / "linked").mkdir()
    with ExitStack() as running:
        broker = running.enter_context(Broker(folder / "linked"))
        heard = running.enter_context(Listener(folder / "linked", broker.port))
        authority, table = (Service(folder / "linked", broker, name) for name in ("meter-1", "t1"))
        running.enter_context(authority)
        running.enter_context(table)
        authority.order("open_meter")
        table.open()
        table.bet(3)
        sent = [(each.topic, each.payload) for each in heard.heard()]
    requests = [payload for topic, payload in sent if topic == "punto/t1/meter/request" and payload["asked"]]
    answers = [payload for topic, payload in sent if topic == "punto/meter-1/meter/answer/t1"]
    return {"MeterRequest": _one(requests), "MeterAnswer": _one_rule(answers)}


def _round(table: Table, broker: Broker, heard: Listener, number: int) -> None:
    """One round: a seat wagers, and once more too late."""
    if number > 1:
        table.order("open_betting")
    wait_until(lambda: table.status()["phase"] == "betting", "betting")
    _wager(broker, heard, number, "t3-811")
    table.order("wager_placed", seat=3)
    table.order("start_game", round=number)
    table.order("close_betting")
    _wager(broker, heard, number, "t3-812")
    wait_until(lambda: table.status()["phase"] == "settled", "the result")
    table.order("end_game")


def _wager(broker: Broker, heard: Listener, number: int, request: str) -> None:
    asked = {"id": f"{request}-{number}", "round": number, "wager": "player", "amount": 2500}
    broker.publish(f"punto/{TABLE}/wagers/3/set", asked)
    wait_until(
        lambda: (heard.last("wagers/3/result") or {}).get("request") == asked["id"], "the wager's answer"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="punto-") as folder:
        FILE.write_text(json.dumps(play(Path(folder)), indent=2) + "\n", encoding="utf-8")
