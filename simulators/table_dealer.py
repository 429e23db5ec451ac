"""A dealer, and the supervisor who comes when called, at a table with a progressive (sheet 000, dealing procedures).

They see the public data over MQTT: the table, the progressive and each finished round. They act through
`Hands`: keys and a key switch with Aquarius, a console and a card reader with Nexus Command. Now and then the
dealer does something out of order, reads why it was refused, and continues as before.
"""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from punto.messages.topics import ROUND, STATE, Topics, progressive
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import Connection, Link
from punto.runtime.broker_login import BrokerConfig
from punto.simulators.staff import Act, Procedure, Seen, in_a_game, wrong_acts

REGULARS_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an act, in the words shown to the person."""

    done: bool
    text: str


class Hands(Protocol):
    """The dealer's and the supervisor's way of acting at this table."""

    async def do(self, act: Act) -> Outcome:
        """Do it, and read the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DealerOptions:
    """One dealer at one table.

    - `wager` is the progressive's, and `seats` the number of the table's seats.
    - `betting`: the players' time for their wagers, `think`: the time for each press, `supervisor`: the time
      for an act of a supervisor or for paying an award; in seconds.
    - `patience`: how long the dealer waits for the effect of a press, in seconds.
    - `slips`: the rate of acts out of order; `seed` decides when.
    """

    broker: BrokerConfig
    table: str
    wager: str
    seats: int
    procedure: Procedure = "aquarius"
    betting: float = 4.0
    think: float = 0.5
    supervisor: float = 2.0
    patience: float = 3.0
    slips: float = 0.0
    seed: int = 1


class TableDealer:
    """Deals a table's progressive until cancelled; `say` receives each act and its result.

    The dealer waits with START GAME until all regular players have `wagered`, as long as `REGULARS_SECONDS`. It is asked with
    the seats whose lamps were last seen lit.
    """

    def __init__(
        self,
        options: DealerOptions,
        hands: Hands,
        say: Callable[[Act, Outcome], None],
        wagered: Callable[[tuple[int, ...]], Awaitable[bool]] | None = None,
    ) -> None:
        self._options = options
        self._hands = hands
        self._say = say
        self._wagered = wagered
        self._random = random.Random(f"dealer {options.seed}")
        self._seen = Seen(procedure=options.procedure, closes=True)
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Deal until cancelled; reconnect to the broker when it is lost."""
        await Link(self._options.broker, Backoff(1, 1)).run(self._attend)

    async def _attend(self, connection: Connection) -> None:
        topic = Topics(self._options.broker.base, self._options.table)
        await connection.subscribe([topic(name) for name in (STATE, progressive("+"), ROUND)])
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._deal())
            async for message in connection.messages():
                if message.payload:  # a retained message that the broker has deleted has none
                    self._look(json.loads(message.payload))

    # --- observation

    def _look(self, message: dict[str, Any]) -> None:
        """Take note of a message on any topic; a broker may deliver more than was subscribed to."""
        before = self._seen
        match message.get("schema"):
            case "punto/state/1":
                over = self._seen.shoe_over and message["phase"] != "shoe_change"
                self._note(phase=message["phase"], shoe_over=over)
            case "punto/progressive/1":
                self._note(step=message["step"], seats=tuple(message["seats"]))
            case "punto/round/1" if message["round"]["status"] == "played":
                self._note(won=self._winners(message["round"]))
        if self._seen != before:
            self._news.set()

    def _note(self, **news: Any) -> None:
        self._seen = replace(self._seen, **news)

    def _winners(self, record: dict[str, Any]) -> frozenset[int]:
        return frozenset(
            each["seat"]
            for each in record["settlements"]
            if each["wager"] == self._options.wager and each["outcome"] == "award"
        )

    async def _until_news(self, seconds: float) -> bool:
        """Whether anything new was seen within this time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()
        found = self._news.is_set()
        self._news.clear()
        return found

    # --- action

    async def _deal(self) -> None:
        """Do one act after another, each after the effect of the previous one is visible."""
        slipped = False
        while True:
            act = in_a_game(self._seen)
            if act is None:
                if not await self._until_news(self._options.patience) and self._seen.step == "settling":
                    # The winners are not known, as after a start in mid-game: a hand button's answer tells.
                    self._note(won=frozenset(self._seen.seats), selected=frozenset())
                continue
            await asyncio.sleep(self._pause_before(act))
            if act.do == "start_game" and self._wagered is not None:
                await self._until_the_regulars_have(self._wagered)
            if in_a_game(self._seen) != act:
                continue
            wrong = wrong_acts(self._seen, self._options.seats)
            slipped = not slipped and bool(wrong) and self._random.random() < self._options.slips
            if slipped:
                await self._do(self._random.choice(wrong))
            else:
                await self._do_right(act)

    async def _until_the_regulars_have(self, wagered: Callable[[tuple[int, ...]], Awaitable[bool]]) -> None:
        """On a busy machine, players need longer than `betting`, and a hand that wins the meter would have no winner."""
        with suppress(TimeoutError):
            async with asyncio.timeout(REGULARS_SECONDS):
                while self._seen.step == "betting" and not await wagered(self._seen.seats):
                    await self._until_news(self._options.patience)

    def _pause_before(self, act: Act) -> float:
        if act.do == "start_game":
            return self._options.betting
        paying = act.do == "game_over" and self._seen.step == "adjusted"
        if paying or act.do in {"key_to_jph", "key_to_run", "confirm", "change_shoe"}:
            return self._options.supervisor
        return self._options.think

    async def _do_right(self, act: Act) -> None:
        seen = self._seen
        outcome = await self._do(act)
        match act.do, outcome.done:
            case "hand_button", True:
                on = "taken back" not in outcome.text
                self._note(selected=seen.selected | {act.seat} if on else seen.selected - {act.seat})
            case "hand_button", False:
                self._note(won=(seen.won or frozenset()) - {act.seat})
            case "open_betting", False if "the next hand waits" not in outcome.text:
                self._note(shoe_over=True)  # else the award is not seen yet
            case "jpot" | "confirm" | "game_over", False:
                self._note(won=None)
            case (
                "start_game",
                False,
            ):  # the sensors have not confirmed it, so the lamps that were seen are dark
                self._note(seats=())
                await self._until_news(self._options.patience)
            case "key_to_jph", True:
                self._note(key="jph")
            case _, True:
                await self._come_of(act, seen)
            case _:
                await self._until_news(
                    self._options.patience
                )  # wait after a refusal, without repeated attempts

    async def _come_of(self, act: Act, seen: Seen) -> None:
        """Note the change by an act, and wait until it is visible."""
        match act.do:
            case "start_game":
                self._note(won=None, selected=frozenset())
            case "key_to_run":
                self._note(key="run")
        shows = asyncio.get_running_loop().time() + self._options.patience
        while (self._seen.phase, self._seen.step) == (seen.phase, seen.step):
            left = shows - asyncio.get_running_loop().time()
            if left <= 0 or not await self._until_news(left):
                return

    async def _do(self, act: Act) -> Outcome:
        outcome = await self._hands.do(act)
        self._say(act, outcome)
        return outcome
