"""Nothing on the wire follows from cards that lie face down: every public topic of the registry, and what a display sends on."""

import re
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from punto.baccarat.table.order_kinds import VoidCoup
from punto.displays.board import LIVE, PROGRESSIVE_LIVE, Board
from punto.displays.feed import Feed
from punto.displays.options import MqttOptions
from punto.displays.server import _news
from punto.messages import topics
from punto.messages.building import progressive_message
from punto.messages.topics import CHANNELS
from punto.runtime.gaming_days import Calendar
from tests.baccarat.table.croupier import settings
from tests.controller.table_in_this_process import TABLE, TOPIC, Ear, Table, connected, ear, eventually, table
from tests.controller.table_on_a_machine import Broker
from tests.messages.test_hidden_hands import GAMES
from tests.share import part, sampled

PUBLIC = [
    each
    for each in CHANNELS
    if each.direction == "send" and not each.name.startswith(("restricted/", "meter/"))
]
"""All but what surveillance alone reads, and what a linked table and its authority alone tell each other."""
NOT_OF_CARDS = re.compile(
    rb'\d{4}-\d\d-\d\dT[\d:.]+\+00:00|"(?:uptime_seconds|resident_bytes|duration_ms)":[\d.]+'
    rb'|"record":"[0-9a-f]{16}"'
)
"""Moments, the process's own figures and the record's name, which follows from the first input: the moment of the start.

They differ between two runs of the same hand.
"""

TODAY = Calendar.of().day_of(datetime.now(UTC)).isoformat()

# Hands with the same visible history: cards in the order of the shoe, those before the word "reveal" are shown.
FOUR = part(["KS 9H 9D 2C", "KS 7H 7D KC", "2S 3H 3D 2C", "9S 9H KD KC", "KS KH KD 9C"], one_in=2)
THIRD = [f"2S 3H 3D 2C reveal {card}" for card in part(["4S", "9S", "KS", "TS"], one_in=2)]


def sent(name: str) -> bool:
    """Whether a topic is the service's, and not a request of this test."""
    return not name.startswith("request/") and not name.endswith("/set")


class Overheard:
    """A table that plays a game with hidden cards, and all that anyone but surveillance can hear of it."""

    def __init__(self, here: Table, listening: Ear) -> None:
        self.here = here
        self.listening = listening
        self.board = Board(TABLE, clock=lambda: 0.0)
        self.board.connected()
        self.feed = Feed(MqttOptions(), [self.board])
        self.told: list[tuple[str, bytes]] = []

    async def play(self, game: str, words: str) -> None:
        """Open betting, wager over MQTT as a terminal does, and deal or key these cards."""
        await self.here.begin_shoe()
        await self.here.do("open")
        for command in GAMES[game][1]:
            verb, *wager = command.split()
            await (self.wager(*wager) if verb == "wager" else self.here.do(command))
        deal = "key" if self.here.state.settings.cards == "keyed" else "draw"
        for word in words.split():
            await self.here.do(word if word == "reveal" else f"{deal} {word}")

    async def wager(self, seat: str, wager: str, amount: str) -> None:
        """Ask for a wager as a seat's terminal does, and wait for the answer."""
        id_ = f"{self.here.state.phase} {seat} {wager}"
        asked = {"id": id_, "wager": wager, "amount": int(amount), "round": self.here.state.round.number}
        await self.listening.publish(f"wagers/{seat}/set", asked)
        await self.listening.last(f"wagers/{seat}/result", lambda last: last["request"] == id_)

    async def gather(self) -> None:
        """Ask for all that can be asked for, and note what has come on each topic, and what a display now sends."""
        await eventually(lambda: self.here.journal.rounds_sent == self.here.journal.last_round, "the rounds")
        asked = len(self.listening.wire)
        await self.listening.publish("request/rounds", {"id": f"r{len(self.told)}", "after": 0})
        await self.listening.publish("request/incidents", {"id": f"i{len(self.told)}", "after": 0})
        await self.listening.publish("request/books", {"id": f"b{len(self.told)}", "day": TODAY})
        await self.listening.publish("request/snapshot", {"id": f"s{len(self.told)}"})
        responses = {f"response/{verb}" for verb in ("rounds", "incidents", "books", "snapshot")}
        await self.hears(self.retained | responses, asked)
        for name, payload, kept in self.listening.wire:
            self.feed.take(TOPIC(name), payload, retained=kept)
        heard = [(name, payload) for name, payload, kept in self.listening.wire if not kept and sent(name)]
        last = {name: payload for name, payload in heard if name in self.retained}
        rest = [each for each in heard if each[0] not in self.retained]
        sse = [("display", event) async for event in news(self.board)]
        told = sorted([*last.items(), *rest, *sse], key=lambda each: each[0])
        self.told += [(name, NOT_OF_CARDS.sub(b"", payload)) for name, payload in told]

    async def hears(self, names: set[str], since: int = 0) -> None:
        """Wait until these topics were heard since the message with this number, not as the broker had kept them."""
        wire = self.listening.wire
        await eventually(lambda: {name for name, _, kept in wire[since:] if not kept} >= names, f"{names}")

    @property
    def retained(self) -> set[str]:
        """The retained topics that this table has."""
        names = {
            each.name for each in PUBLIC if each.retained and not each.name.startswith("meter/")
        }  # of linked tables
        meter = self.here.state.progressive
        return {
            name.replace("{device}", "shoe").replace("{progressive}", "dragon")
            for name in names
            if meter is not None or "{progressive}" not in name
        }


async def news(board: Board) -> AsyncIterator[bytes]:
    """What a browser that opens a table's page now is sent (displays: SSE)."""
    last = LIVE if board.progressive is None else PROGRESSIVE_LIVE
    async for event in _news(board):
        yield event.encode()
        if event.event == last:
            return


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Broker]:
    with Broker(tmp_path) as broker:
        yield broker


async def overheard(folder: Path, port: int, game: str, words: str) -> list[tuple[str, bytes]]:
    own = {key: value for key, value in GAMES[game][0].items() if key != "meter"}
    meter = GAMES[game][0].get("meter")
    record = folder / f"{words}.db"
    async with (
        table(record, settings(meter=meter, **own)) as here,
        ear(port) as listening,
        connected(here, port) as broker,
    ):
        engine = here.engine
        if meter is not None:
            broker.retain(
                topics.progressive("dragon"),
                lambda now: progressive_message(
                    engine.state, engine.seq, engine.publication.award_since, now
                ),
            )
        at = Overheard(here, listening)
        await at.hears({topics.AVAILABILITY, topics.METERS})
        await at.play(game, words)
        assert here.state.phase == "reveal"
        await at.wager("3", "player", "1000")  # too late
        await at.gather()
        await here.order(VoidCoup("mei", "misdeal", "eve"))
        await at.gather()
    return at.told


@pytest.mark.parametrize("hands", sampled([FOUR, THIRD], one_in=4), ids=["four cards", "a third card"])
@pytest.mark.parametrize("game", GAMES)
async def test_no_byte_that_anyone_else_can_read_follows_from_hidden_cards(tmp_path, mosquitto, game, hands):
    told = [await overheard(tmp_path, mosquitto.port, game, words) for words in hands]
    heard = {
        re.sub(r"(?<=^wagers/)\d+|(?<=^devices/)\w+|(?<=^progressive/)\w+", "+", name) for name, _ in told[0]
    }

    assert heard - {"display"} == {
        each.filter for each in PUBLIC if game == "metered" or "{progressive}" not in each.name
    }
    for other in told[1:]:
        assert other == told[0]
