"""The staff of a simulated table: a supervisor, who keys the cards without a shoe, and a progressive's dealer."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, cast

from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.commands.demo.configuration import (
    CARD_READER,
    DEALER,
    EXECUTIVE,
    KEYPAD,
    SECOND,
    SUPERVISOR,
    Secrets,
    mqtt_of,
    socket_of,
)
from punto.commands.demo.options import TableOptions
from punto.commands.operator import ask
from punto.controller.config.file import ServiceConfig
from punto.controller.config.sections import ConsoleConfig
from punto.simulators.card_reader import VirtualCardReader
from punto.simulators.console import ConsoleRefusedError, ConsoleUser
from punto.simulators.hands import AquariusHands, NexusHands
from punto.simulators.keypad import VirtualKeypad
from punto.simulators.line import DeviceOnALine
from punto.simulators.players import Players
from punto.simulators.shoe.shuffle import shuffled
from punto.simulators.staff import Act, Seen, at_the_table, due, order_of
from punto.simulators.table_dealer import DealerOptions, Hands, Outcome, TableDealer

REGULARS: Final = {3: "player", 6: "banker"}
"""Seats and their base wagers in every game of a progressive, so that each hand that wins the meter has a winner."""
# Cards behind the cut card of a shoe that is dealt by hand, as in the virtual shoe.
_CUT: Final = 14
_QUICKEST: Final = 0.01  # seconds from one press to the next
_SLIPS: Final = 0.06

Say = Callable[[Act, Outcome], None]
"""Hears of each act of a progressive's dealer or supervisor, and of its result."""


class Staff:
    """A supervisor who uses the table's socket."""

    def __init__(self, config: ServiceConfig, passing: Secrets) -> None:
        self._door = socket_of(config)
        self._by = {"name": SUPERVISOR, "password": passing.password}
        self._collects = config.table.commission == "shoe_end"
        self._console = ConsoleUser(_console_of(config), SUPERVISOR, passing.password)

    async def state(self) -> dict[str, Any]:
        """The public table."""
        found: dict[str, Any] = (await self._ask({"order": "status"}))["state"]
        return found

    async def do(self, act: Act, **known: Any) -> Outcome:
        """Give the order that an act is, after the commission was collected if the shoe is to be changed."""
        if act.do == "change_shoe" and self._collects:
            try:
                await self._console.collect_commission()
            except ConsoleRefusedError as refused:
                return Outcome(done=False, text=str(refused))
        order, fields = order_of(act, "aquarius", **known)
        answer = await self._ask({"order": order, **fields, "by": self._by})
        return Outcome(done=answer["accepted"], text=answer["reason"] or "done")

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        while True:
            with suppress(TimeoutError):  # on a busy machine, ask again
                return await asyncio.to_thread(ask, self._door, request)


async def supervise(config: ServiceConfig, staff: Staff, players: Players) -> None:
    """Sign on when the players are there, change the shoe when it is over, turn the cards, and resume play after a stop.

    With a progressive, the dealer's orders open every coup, so the dealer ends the shoe.
    """
    await players.seated.wait()
    while True:
        seen = Seen.public(await staff.state())
        act = due(seen) if config.progressive is None else at_the_table(seen)
        if act is not None:
            await staff.do(act, reason="resolved, in a simulation")
        await asyncio.sleep(0.5)


async def key_cards(options: TableOptions, config: ServiceConfig, staff: Staff) -> None:
    """Deal from a shoe without a reader, key every card, and change the shoe after its cut card."""
    game = config.settings().game
    while True:
        state = await staff.state()
        phase, left = state["phase"], state["shoe"]["cards_left"]
        cards = shuffled(str(options.seed), state["shoe"]["number"], game.decks)
        # The burn is done: the shoe begins with the first card.
        burned, over = left < len(cards), phase == "betting" and left <= _CUT
        act = due(Seen(phase=phase, burned=burned, shoe_over=over, keyed=True))
        if act is None or phase not in {"shoe_change", "betting", "dealing"}:
            await asyncio.sleep(0.1)
            continue
        if act.do == "key_card":
            await asyncio.sleep(options.pace if phase == "dealing" else options.between)
        await staff.do(act, card=cards[-left])


# --- the progressive


async def open_meter(config: ServiceConfig, passing: Secrets) -> None:
    """Open the meter with two executives, unless a kept record has an open one.

    An order that waits for approval is dropped when the table changes, for example at its first shoe. So it is repeated.
    """
    first, second = (ConsoleUser(_console_of(config), name, passing.password) for name in (EXECUTIVE, SECOND))
    while (await first.table())["progressive"]["phase"] == "new":
        with suppress(ConsoleRefusedError):
            await first.order("open_meter")
            await second.approve()
        await asyncio.sleep(_QUICKEST)
    for each in (first, second):
        await each.sign_off()


def _console_of(config: ServiceConfig) -> int:
    return cast(ConsoleConfig, config.console).port


class ProgressiveDealer:
    """The dealer of a table with a progressive, and the dealer's `device`, a keypad or a card reader."""

    def __init__(self, options: TableOptions, config: ServiceConfig, passing: Secrets, say: Say) -> None:
        meter = cast(ProgressiveSettings, config.settings().progressive)
        self._staff = Staff(config, passing)
        port, password = _console_of(config), passing.password
        self._dealer = ConsoleUser(port, DEALER, password)
        self.device: DeviceOnALine
        hands: Hands
        if meter.procedure == "aquarius":
            self.device = keypad = VirtualKeypad(config.folder / KEYPAD, key="run")
            hands = AquariusHands(keypad, self._staff.do)
        else:
            self.device = reader = VirtualCardReader(config.folder / CARD_READER)
            hands = NexusHands(self._dealer, ConsoleUser(port, SUPERVISOR, password), reader, passing.card)
        dealer = DealerOptions(
            broker=mqtt_of(config),
            table=config.table.id,
            wager=meter.wager.name,
            seats=config.table.seats,
            procedure=meter.procedure,
            betting=options.between,
            think=max(options.between / 8, _QUICKEST),
            supervisor=options.between / 2,
            slips=_SLIPS,
            seed=options.seed,
        )
        self._table_dealer = TableDealer(dealer, hands, say, self._regulars_have_wagered)

    async def deal(self) -> None:
        """Sign on, which makes the dealer the table's operator, and deal."""
        await self._dealer.table()
        await self._table_dealer.run()

    async def _regulars_have_wagered(self, lit: tuple[int, ...]) -> bool:
        """Whether the page shows the wagers of all regulars, too: messages can be late, and show lamps that are dark by now."""
        if not REGULARS.keys() <= {*lit}:
            return False
        page = await self._dealer.table()
        lamps = {each["seat"] for each in page["progressive"]["seats"] if each["lit"]}
        return REGULARS.keys() <= lamps & {each["seat"] for each in page["seats"]}
