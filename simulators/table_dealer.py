"""A dealer, and the supervisor who comes when called, at a table with a progressive (sheet 000, dealing procedures).

They see the public data over MQTT: the table, the progressive and each finished round. They act through
`Hands`: keys and a key switch with Aquarius, a console and a card reader with Nexus Command. Now and then the
dealer does something out of order, reads why it was refused, and continues as before.
"""

import asyncio
import json
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol, get_args

from punto.controller.broker_login import BrokerConfig
from punto.controller.messages.topics import ROUND, STATE, Topics, progressive
from punto.controller.mqtt_link import Connection, Link
from punto.drivers.backoff import Backoff

_OfTheDealer = Literal["open_betting", "start_game", "close_betting", "hand_button", "game_over"]
_OfTheSupervisor = Literal["key_to_jph", "jpot", "key_to_run", "confirm", "swipe_card", "change_shoe"]
Do = _OfTheDealer | _OfTheSupervisor
Procedure = Literal["aquarius", "nexus"]

SUPERVISORS: Final = frozenset(get_args(_OfTheSupervisor))
"""The supervisor's acts."""


@dataclass(frozen=True, slots=True)
class Act:
    """An act; `seat` is that of a hand button."""

    do: Do
    seat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The public data that a dealer sees.

    - `phase`: the table's; `step`: the step of the progressive's game; `seats`: those with a coin in it.
    - `won`: the seats whose hand won an award of the meter, None while that is not known.
    - `selected`: the seats whose hand button is on.
    - `key`: the position of the supervisor's key.
    - `shoe_over`: the shoe's last hand has been dealt.
    """

    phase: str = ""
    step: str = ""
    seats: tuple[int, ...] = ()
    won: frozenset[int] | None = None
    selected: frozenset[int] = frozenset()
    key: Literal["run", "jph"] = "run"
    shoe_over: bool = False


def right_act(seen: Seen, procedure: Procedure) -> Act | None:  # noqa: PLR0911 - flat: one case a step
    """The act that is due now, None if the dealer must wait."""
    match seen.step:
        case "betting" | "playing" if seen.phase == "settled":
            return Act("change_shoe" if seen.shoe_over else "open_betting")
        case "betting" if seen.phase == "betting":
            return Act("start_game")
        case "playing" if seen.phase == "betting":
            return Act("close_betting")
        case "settling":
            return _settle(seen, procedure)
        case "logged":
            return Act("key_to_run")
        case "confirmed":
            return Act("swipe_card")
        case "adjusted":
            return Act("key_to_run" if seen.key == "jph" else "game_over")
        case _:
            return None


def _settle(seen: Seen, procedure: Procedure) -> Act | None:
    if seen.won is None:
        return None
    missing = sorted(seen.won - seen.selected)
    if missing:
        return Act("hand_button", missing[0])
    if not seen.won:
        return Act("game_over")
    if procedure == "nexus":
        return Act("confirm")
    return Act("key_to_jph" if seen.key == "run" else "jpot")


def wrong_acts(seen: Seen, procedure: Procedure, seats: int) -> list[Act]:
    """The possible mistakes of a dealer now: each is refused, and changes nothing."""
    none = [seat for seat in range(1, seats + 1) if seat not in seen.seats]
    award = Act("jpot" if procedure == "aquarius" else "confirm")
    match seen.step:
        case "betting":
            return [Act("game_over"), award, Act("hand_button", 1)]
        case "playing":
            return [Act("start_game"), Act("game_over"), award, Act("hand_button", 1)]
        case "settling" if seen.won:
            too_soon = [award] if seen.key == "run" and procedure == "aquarius" else []
            return [Act("game_over"), *too_soon, *(Act("hand_button", seat) for seat in none)]
        case "logged" | "confirmed":
            return [Act("game_over"), Act("start_game"), award]
        case "adjusted":
            return [Act("start_game"), award]
        case _:
            return []


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
    """Deals a table's progressive until cancelled; `say` receives each act and its result."""

    def __init__(self, options: DealerOptions, hands: Hands, say: Callable[[Act, Outcome], None]) -> None:
        self._options = options
        self._hands = hands
        self._say = say
        self._random = random.Random(f"dealer {options.seed}")
        self._seen = Seen()
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
        procedure = self._options.procedure
        slipped = False
        while True:
            act = right_act(self._seen, procedure)
            if act is None:
                if not await self._until_news(self._options.patience) and self._seen.step == "settling":
                    # The winners are not known, as after a start in mid-game: a hand button's answer tells.
                    self._note(won=frozenset(self._seen.seats), selected=frozenset())
                continue
            await asyncio.sleep(self._pause_before(act))
            if right_act(self._seen, procedure) != act:
                continue
            wrong = wrong_acts(self._seen, procedure, self._options.seats)
            slipped = not slipped and bool(wrong) and self._random.random() < self._options.slips
            if slipped:
                await self._do(self._random.choice(wrong))
            else:
                await self._do_right(act)

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
