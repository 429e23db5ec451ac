"""What becomes of every coin that is laid before a seat, whatever fails meanwhile, as its player and its dealer see it.

The law: a coin on a sensor that can be read is lit, because it waits for START GAME or is in the game; or the page says that it
must be laid anew; or it came after the START, was refused on the record, and the page says that it is late. It is never dark
without a word, never in two games, and in none that was started while it was dark. One that was lit when the dealer pressed
the key, and that nothing happened to, is in the game.

Evenings are made of chance, and judged by what can be seen: coins, lamps, the page, and what the device held at its START.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from punto.baccarat.progressive.game_events import StartGame, WagerPlaced
from punto.consoles.game_view import SeatInGame
from punto.controller.engine import Handled
from punto.drivers import serial_device
from punto.simulators.coin_spot.device import BREAKS
from tests.coin_spot.coin_table import SEATS, Coin, CoinTable
from tests.coin_spot.virtual_time import VirtualTime
from tests.share import share

pytestmark = pytest.mark.by_chance

LOST, SUITED_TWO, CORRECTED = "KS 2S 9H 3S", "2H KC 3H JC 5D KD", ("2H", "3H", "5D")
PAUSES = (0.0, 0.005, 0.02, 0.05, 0.1, 0.3, 1.0)
DOINGS = 150  # in an evening
SEEN_SECONDS = 1.0  # a coin is lit, or dark, after that
REST_SECONDS = 3.0  # a port is open again, a START is answered, and all is told after that


class Witness:
    """Sees a table from outside, and holds it to the law: `broken` says where it was not kept."""

    def __init__(self, table: CoinTable) -> None:
        self.table = table
        self.counted = 0
        self.broken: list[str] = []
        self._held: dict[int, list[dict[int, Coin]]] = {}  # round -> what lay there at each START of it
        self._promised: dict[int, Coin] = {}  # what was lit at the key, and nothing happened to
        table.on_latch = lambda round_, coins: self._held.setdefault(round_, []).append(coins)
        table.on_start = self._sees_a_game
        table.on_touch = self._sees_a_touch

    def must(self, so: bool, what: str) -> None:
        if not so:
            self.broken.append(what)

    def sees_the_key(self) -> None:
        """START GAME is about to be pressed."""
        lit = self.table.lit & {seat.seat for seat in self.table.page.seats if seat.lit}
        self._promised = {
            seat: coin
            for seat, coin in self.table.coins.items()
            if seat in lit and self.table.is_whole(seat, SEEN_SECONDS) and not coin.games
        }

    def _sees_a_touch(self, seat: int) -> None:
        self._promised.pop(seat, None)

    def _sees_a_game(self, order: StartGame) -> None:
        wagers = self.table.hand.wagers
        held = [coins for coins in self._held.get(order.round, []) if coins.keys() >= set(wagers)]
        self.must(held != [], f"the device never held wagers of {wagers} at a START of round {order.round}")
        for coin in [held[-1][seat] for seat in wagers if held]:
            self.must(not coin.games, f"{coin} has been in the game of round {coin.games}")
            self.must(not coin.must_be_laid_anew, f"{coin} is counted, and was not laid anew")
            coin.games.append(order.round)
            self.counted += 1
        left_out = self._promised.keys() - set(wagers)
        self.must(not left_out, f"of seats {left_out}, lit at the key, the game of {wagers} has none")
        self._promised.clear()

    def sees_all_at_rest(self) -> None:
        """Nothing fails any more, and all that happened has been told."""
        for seat in self.table.page.seats:
            lit = seat.seat in self.table.lit
            self.must(lit == seat.lit, f"seat {seat.seat}: the lamp says {lit} and the page {seat.lit}")
            coin = self.table.coins.get(seat.seat)
            if coin is None:
                self.must(not (seat.late or seat.spent), f"seat {seat.seat} has no coin, and the page one")
                self.must(seat.wagered or not lit, f"seat {seat.seat} is lit without a coin")
            else:
                self._sees_a_coin(coin, seat)

    def _sees_a_coin(self, coin: Coin, seat: SeatInGame) -> None:
        self.must(seat.lit or seat.late or seat.spent, f"{coin} is dark without a word")
        if seat.late:
            self.must(self._was_refused(seat.seat, coin), f"{coin} is late, and not on the record")
        elif seat.spent:
            coin.must_be_laid_anew = True
        elif not seat.wagered:
            self.must(not coin.games, f"{coin} is lit after its game")
            self.must(not coin.must_be_laid_anew, f"{coin} is lit, and was not laid anew")

    def _was_refused(self, seat: int, coin: Coin) -> bool:
        """Since it was laid; or in the game, where nobody can tell it from the one before it."""
        record = self.table.recorded
        started = max(each.at for each in record if each.event.kind == "start_game" and not each.refusal)
        known = coin.seen and self.table.powered_on_at < started
        since = coin.laid_at if known else started
        refused = {each.event for each in record if each.refusal == "after_start" and each.at >= since}
        return WagerPlaced(seat) in refused


class Evening:
    """What chance does at a table, one thing after the other."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.table = CoinTable(chance)
        self.witness = Witness(self.table)

    # --- players

    def seat(self) -> int:
        return self.chance.randint(1, SEATS)

    async def put(self) -> None:
        self.table.put(self.seat())

    async def take(self) -> None:
        self.table.take(self.seat())

    async def swap(self) -> None:
        seat = self.seat()
        self.table.take(seat)
        await asyncio.sleep(self.chance.choice([0, 0.01, 0.1]))
        self.table.put(seat)

    # --- the dealer

    async def press_start(self) -> None:
        """Mostly after the game before is over, and waited for or not."""
        if self.table.start_is_pressed:
            return
        if self.chance.random() < 0.8:
            await self.finish()
        start = self.press_the_key()
        if self.chance.random() < 0.5:
            await asyncio.wait([start])

    def press_the_key(self) -> asyncio.Task[Handled]:
        self.witness.sees_the_key()
        return self.table.press_start_meanwhile()

    async def press_start_twice(self) -> None:
        await self.press_start()
        await asyncio.sleep(self.chance.random())
        self.press_the_key()

    async def lay_at_the_key(self) -> None:
        """A player is as quick as the dealer, and what the device says of it may be lost."""
        if self.table.start_is_pressed:
            return
        await self.finish()
        if self.chance.random() < 0.5:
            self.spoil(to_device=0, to_host=1)
        pressed = self.chance.randrange(3)
        for at in range(3):
            if at == pressed:
                self.press_the_key()
            else:
                await self.put()
            await asyncio.sleep(self.chance.random() * 0.1)

    async def press_start_at_rest(self) -> None:
        """A START that is refused says once what must be laid anew, and with all that dark the next one is taken."""
        await self.rest()
        if self.table.step != "betting":
            return
        for _ in range(2):
            self.witness.sees_the_key()
            handled = await self.table.press_start()
            if handled.refusal is None:
                return
            await self.rest()
            self.witness.must(not self.table.lit, "a START was refused, and what lies there is lit still")
        self.witness.broken.append(f"START GAME was refused with nothing lit: {handled.refusal}")

    async def walk_away_from_start(self) -> None:
        self.table.walk_away_from_start()

    async def deal(self) -> None:
        if self.table.step == "playing" and not self.table.start_is_pressed:
            await self.table.deal(self.chance.choice([LOST, SUITED_TWO]))

    async def void_the_coup(self) -> None:
        if self.table.step == "playing" and not self.table.start_is_pressed:
            await self.table.void_the_coup()

    async def game_over(self) -> None:
        if self.table.step == "settling":
            await self.table.game_over()

    async def reopen(self) -> None:
        """Coins that were late for the last game wait for the next by then."""
        await self.finish()
        if self.table.step == "betting" and self.table.last_hand == CORRECTED:
            await self.table.correct_to_a_win()
            await self.rest()

    # --- what fails

    async def break_(self) -> None:
        self.table.break_(self.seat(), self.chance.choice(BREAKS))

    async def mend(self) -> None:
        self.table.mend()

    async def lose_power(self) -> None:
        self.table.lose_power()

    async def another_device(self) -> None:
        self.table.lose_power(f"VC-{self.chance.randint(2, 9999)}")

    async def plug_or_pull(self) -> None:
        cable = self.table.cable
        self.table.tell("the cable is pulled" if cable.plugged else "the cable is plugged in")
        cable.pull() if cable.plugged else cable.plug()

    async def spoil_the_line(self) -> None:
        to_device, to_host = self.chance.choice([(0, 0), (0.4, 0.4), (1, 0), (0, 1), (0, 1)])
        self.spoil(to_device, to_host, self.chance.choice([0, 0, 0.4]))

    def spoil(self, to_device: float = 0, to_host: float = 0, delay: float = 0) -> None:
        self.table.tell(f"the line: loss {to_device} out, {to_host} in, delay {delay}")
        cable = self.table.cable
        cable.to_device.loss, cable.to_host.loss = to_device, to_host
        cable.to_device.delay = cable.to_host.delay = delay

    async def kill(self) -> None:
        """The service is started anew, at once or after this and that has happened at the table."""
        await self.table.kill()
        for _ in range(self.chance.choice([0, 0, 2, 4])):
            await self.chance.choice([self.put, self.take, self.take, self.mend, self.lose_power])()
        await self.table.serve()

    # --- all of it

    async def goes_by(self) -> None:
        doings: tuple[tuple[int, Callable[[], Awaitable[None]]], ...] = (
            (12, self.put),
            (6, self.take),
            (4, self.swap),
            (9, self.press_start),
            (2, self.press_start_twice),
            (5, self.lay_at_the_key),
            (5, self.press_start_at_rest),
            (1, self.walk_away_from_start),
            (6, self.deal),
            (1, self.void_the_coup),
            (6, self.game_over),
            (4, self.reopen),
            (3, self.break_),
            (4, self.mend),
            (4, self.lose_power),
            (1, self.another_device),
            (3, self.plug_or_pull),
            (3, self.spoil_the_line),
            (6, self.kill),
            (4, self.rest),
            (2, self.all_is_laid_anew),
        )
        weights, what = zip(*doings, strict=True)
        for doing in self.chance.choices(what, weights, k=DOINGS):
            await doing()
            await asyncio.sleep(self.chance.choice(PAUSES))
            self.table.is_well()
            assert not self.witness.broken, self.witness.broken
        await self.all_is_laid_anew()
        assert not self.witness.broken, self.witness.broken

    async def rest(self) -> None:
        self.table.tell("--- all is mended")
        self.spoil()
        self.table.cable.plug()
        self.table.mend()
        await asyncio.sleep(REST_SECONDS)
        await self.table.starts_answered()
        self.witness.sees_all_at_rest()

    async def all_is_laid_anew(self) -> None:
        """After whatever it was, a game is played with the coins that are laid for it, and no others."""
        await self.rest()
        await self.finish()
        for seat in range(1, SEATS + 1):
            self.table.take(seat)
        await asyncio.sleep(SEEN_SECONDS)
        self.witness.sees_all_at_rest()
        seats = {seat for seat in range(1, SEATS + 1) if self.chance.random() < 0.6}
        for seat in seats:
            self.table.put(seat)
        await asyncio.sleep(SEEN_SECONDS)
        self.witness.sees_all_at_rest()
        self.witness.must(self.table.lit == seats, f"of coins at {seats}, {set(self.table.lit)} are lit")
        self.witness.sees_the_key()
        handled = await self.table.press_start()
        self.witness.must(handled.refusal is None, f"START GAME was refused: {handled.refusal}")
        self.witness.must({*self.table.hand.wagers} == seats, f"the game of {seats} is another's")

    async def finish(self) -> None:
        """The game that is started, if one is, is played to its end."""
        while self.table.step == "playing":
            await self.table.deal(self.chance.choice([LOST, SUITED_TWO]))
        if self.table.step == "settling":
            await self.table.game_over()


def evening(seed: int) -> Witness:
    """An evening of this seed, held to the law; what breaks it is told with the end of its story."""
    random.seed(seed)  # the driver's own chance: tokens, and when it tries again
    evening = Evening(Random(seed))

    async def all_of_it() -> None:
        device = asyncio.create_task(evening.table.run_device())
        await evening.table.begin()
        await asyncio.sleep(SEEN_SECONDS)
        await evening.goes_by()
        await evening.table.kill()
        device.cancel()

    with (
        pytest.MonkeyPatch.context() as patch,
        asyncio.Runner(loop_factory=VirtualTime) as runner,
    ):
        patch.setattr(serial_device, "Port", lambda *_: evening.table.cable.open())
        try:
            runner.run(all_of_it())
        except Exception as broken:
            broken.add_note("\n".join([f"evening {seed}:", *evening.table.story[-60:]]))
            raise
    return evening.witness


@pytest.mark.in_part
def test_no_coin_is_dark_without_a_word_or_in_two_games():
    assert sum(evening(seed).counted for seed in range(1, 1 + share(6, one_in=3))) > 10


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1000, 5000, 100))
def test_no_coin_is_dark_without_a_word_or_in_two_games_on_many_evenings(first):
    for seed in range(first, first + 100):
        evening(seed)
