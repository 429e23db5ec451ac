"""Deals rounds at random with a job per processor, and compares each wager with the exact odds.

The result depends only on the seed. Shoes are dealt in blocks of a fixed size, and block i takes its numbers
from `PCG64DXSM(SeedSequence(seed, spawn_key=(i,)))`, whichever job deals it. Counts are whole numbers. The
last block ends with the last requested round.

Without rules for a shoe each round is dealt from a full one, freshly shuffled, as the exact odds assume.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.random import PCG64DXSM, SeedSequence
from numpy.typing import NDArray

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.odds.composition import CARDS_OF_A_COUP
from punto.odds.simulation.kernel import Count, Kept, Limits, Play, close_batch, deal
from punto.odds.simulation.outcomes import NUMBERS, Outcomes, by_number
from punto.odds.simulation.tally import Tally

GENERATOR: Final = PCG64DXSM.__name__
SHOES_OF_A_BLOCK: Final = 4096
ROUNDS_OF_A_BLOCK: Final = 1 << 18
"""Number of rounds that are each dealt from a full shoe."""
SHOES_OF_A_BATCH: Final = 16
MOST_BURNED: Final = 20
MOST_COUPS_AFTER: Final = 9
_WORDS_AT_ONCE: Final = 1 << 14
_LINE: Final = 128
"""Bytes, and more than one line of any processor."""


Burn = Literal["first_card"] | int
"""The first card turned and its points in cards face down, 10 for a ten or a picture; or a number face down."""


@dataclass(frozen=True, kw_only=True)
class ShoeRules:
    """The beginning and end of a shoe; the defaults are those of a table's settings.

    `burn_ace` is the value of an ace there, `cut_card` the number of cards behind the cut card. If the cut
    card comes in mid-coup, `coups_after_cut_card` more are dealt; if it comes in place of a coup's first
    card, that coup is the last.

    Raises:
        ValueError: a number is outside a table's range.
    """

    burn: Burn = "first_card"
    burn_ace: Literal[1, 11] = 1
    cut_card: int = 14
    coups_after_cut_card: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.burn, int) and not 0 <= self.burn <= MOST_BURNED:
            raise ValueError(f"0 to {MOST_BURNED} cards can be burned, not {self.burn}")
        if not 0 <= self.coups_after_cut_card <= MOST_COUPS_AFTER:
            raise ValueError(
                f"0 to {MOST_COUPS_AFTER} coups can come after the cut card, not {self.coups_after_cut_card}"
            )

    def play(self, decks: int) -> Play:
        """These rules for a shoe of a number of decks.

        Raises:
            ValueError: the cut card may come before the first coup, or the cards end before the last one.
        """
        burned = by_number(self._burned)
        cut = 52 * decks - self.cut_card
        # A coup that begins with the last card before the cut card takes five from behind it.
        behind = max(CARDS_OF_A_COUP, CARDS_OF_A_COUP * (self.coups_after_cut_card + 1) - 1)
        if self.cut_card < behind:
            raise ValueError(
                f"{self.cut_card} cards behind the cut card may not be enough for the coups after it: write at least {behind}"
            )
        if cut < burned.max():
            raise ValueError(
                f"{self.cut_card} cards behind the cut card are too many: up to {burned.max()} of {52 * decks} "
                "cards are burned, so the cut card would come before the first coup"
            )
        return Play(cut + behind, burned, cut, self.coups_after_cut_card)

    def _burned(self, first: Card) -> int:
        """The number of cards removed before the first coup."""
        if self.burn != "first_card":
            return self.burn
        return 1 + (self.burn_ace if first.rank == "A" else first.points or 10)


ONE_COUP: Final = Play(CARDS_OF_A_COUP, by_number(lambda _: 0), 0, 0)
"""A shoe that is shuffled again after each coup."""


@dataclass(frozen=True, eq=False)
class Block:
    """The rounds of one block: the counts, and each round if they are kept. Shoes are counted from 0."""

    number: int
    first_shoe: int
    count: Count
    kept: Kept

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return int(self.count.done[1])


class Simulation:
    """Rounds from shoes of a number of decks, counted by these outcomes; without `shoe` each round has its own shoe.

    Raises:
        ValueError: a shoe of this number of decks cannot be played by these rules.
    """

    def __init__(
        self, outcomes: Outcomes, *, decks: int, rounds: int, seed: int, shoe: ShoeRules | None = None
    ) -> None:
        self.rounds = rounds
        self._outcomes = outcomes
        self._seed = seed
        self._cards = np.array([NUMBERS[card] for card in STANDARD_DECK] * decks, np.uint8)
        self._play = ONE_COUP if shoe is None else shoe.play(decks)
        self._shoes = ROUNDS_OF_A_BLOCK if shoe is None else SHOES_OF_A_BLOCK
        self._batch = 0 if shoe is None else SHOES_OF_A_BATCH
        cut = self._play.cut
        fewest = 1 if shoe is None else (cut - int(self._play.burned.max())) // CARDS_OF_A_COUP
        self._fewest_rounds = self._shoes * fewest
        self._most_rounds = self._shoes * (cut // 4 + 1 + self._play.after)

    def run(
        self, jobs: int = 1, on_block: Callable[[Block], None] | None = None, *, keep: bool = False
    ) -> Tally:
        """Deal all the rounds; `on_block` receives the blocks in order, with each round if they are kept."""
        pool = ThreadPoolExecutor(
            jobs
        )  # the deal does not hold the interpreter's lock, so threads are sufficient
        total = self._nothing_counted()
        left, begun = self.rounds, 0
        ahead: deque[Future[Block]] = deque()
        try:
            while left:
                # The number of blocks is known only after they are dealt; no more are begun than can be
                # needed.
                while len(ahead) < 2 * jobs and (needed := left - len(ahead) * self._fewest_rounds) > 0:
                    ahead.append(pool.submit(self._block, begun, needed, keep=keep))
                    begun += 1
                block = ahead.popleft().result()
                if block.rounds > left:
                    block = self._block(block.number, left, keep=keep)
                left -= block.rounds
                for so_far, more in zip(total, block.count, strict=True):
                    np.add(so_far, more, out=so_far)
                if on_block is not None:
                    on_block(block)
        finally:
            pool.shutdown(cancel_futures=True)
        shoes, rounds, batches = map(int, total.done)
        if not self._batch:
            return Tally(self._outcomes, rounds, shoes, rounds, total.rules, None)
        return Tally(self._outcomes, rounds, shoes, batches, total.rules, total.products)

    def _block(self, number: int, rounds: int, *, keep: bool) -> Block:
        """Deal a block, of at most this many rounds."""
        count, kept = self._nothing_counted(), _room_for(min(rounds, self._most_rounds) if keep else 0)
        limits = Limits(self._shoes, rounds, self._batch)
        words = PCG64DXSM(SeedSequence(self._seed, spawn_key=(number,)))
        cards = _apart(len(self._cards), np.uint8)
        cards[:] = self._cards
        while count.done[0] < limits.shoes and count.done[1] < limits.rounds:
            drawn = words.random_raw(_WORDS_AT_ONCE)
            # Four draws from each word, the lowest bits first whatever the machine's byte order.
            draws = drawn.astype("<u8", copy=False).view("<u2").astype(np.uint16, copy=False)
            deal(draws, cards, self._outcomes.tables, self._play, limits, count, kept)
        if count.batch.any():
            close_batch(self._outcomes.tables, count)
        return Block(number, number * self._shoes, count, kept)

    def _nothing_counted(self) -> Count:
        rules = sum(map(len, self._outcomes.rules))
        longest = max(map(len, self._outcomes.rules))
        return Count(
            done=_apart(3, np.int64),
            rules=_apart(rules, np.int64),
            products=_apart((rules if self._batch else 0) * longest, np.int64).reshape(-1, longest),
            batch=_apart(len(self._outcomes.deciding), np.int64),
        )


def _apart(size: int, kind: type[np.generic]) -> NDArray[Any]:
    """Zeros that do not share a processor's cache line: jobs that write to the same line wait for each other."""
    return np.zeros(size + 2 * _LINE, kind)[_LINE:-_LINE]


def _room_for(rounds: int) -> Kept:
    return Kept(
        shoe=np.zeros(rounds, np.int32),
        number=np.zeros(rounds, np.int32),
        cards=np.zeros((rounds, CARDS_OF_A_COUP), np.uint8),
        kind=np.zeros(rounds, np.uint16),
        outcome=np.zeros(rounds, np.uint32),
    )
