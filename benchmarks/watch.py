"""The watch over a floor in ten simulated years, and the hands that it needs to find a fault.

python -m benchmarks.watch [YEARS]    # writes the tables of docs/explanation/watch.md; some minutes
"""

import sys
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import product
from math import erfc, exp, inf, lgamma, log, log1p, sqrt
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from punto.baccarat.card_order import FACTORY, DealtShoe, ManyShoes, Order, order_of, packed
from punto.baccarat.cards import RANKS, STANDARD_DECK, Card
from punto.baccarat.evidence import alarm_at, of_count, of_win
from punto.baccarat.wagers.definition import Game
from punto.configs.expectations import WIN, shipped
from punto.configs.game_files import load_game
from punto.house.card_order import CARDS, EARLIER, ORDERS
from punto.house.card_order import SHOES_A_DAY as SHOES_A_DAY_AT_MOST
from punto.house.watch import SPANS
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds, Position
from punto.odds.expectations import as_counted, of_a_wager
from punto.odds.simulation.outcomes import Outcomes
from punto.odds.simulation.simulator import Block, ShoeRules, Simulation
from tests.baccarat.shoes import DECKS, NEW_DECK, riffled, shuffled

PAGE: Final = Path(__file__).parents[1] / "docs" / "explanation" / "watch.md"
BEGIN: Final = "<!-- Written by `python -m benchmarks.watch`. -->"
END: Final = "<!-- End of what `python -m benchmarks.watch` writes. -->"
TABLES: Final = 200
HANDS_A_DAY: Final = 24 * 70
SHOES_A_DAY: Final = 21
LOOKS_A_DAY: Final = 7
SHOES: Final = 400_000
REMEMBERED: Final = CARDS // 400
"""The whole shoes that the watch remembers."""
STAKE: Final = 100_00
"""What is staked on each wager of a hand, in minor units."""
OLD_ERRORS: Final = 3.0
"""What was an alarm before, by the day and by the table's life."""
LONGEST_DAYS: Final = 1024
REPEATS: Final = 31

Key = tuple[str | None, str]
Numbers = NDArray[np.float64]


class Floor:
    """What is watched at each table of a floor with one game."""

    def __init__(self, game: str = "progressive-1", tables: int = TABLES, shoes: int = SHOES) -> None:
        self.game: Game = load_game(game)
        self.tables = tables
        self._shoes = shoes
        self.counted = as_counted(self.game)
        self.expected = shipped(self.game)
        self.counts = [key for key in self.expected if key[1] != WIN]
        self.wins = [key for key in self.expected if key[1] == WIN]
        self.chances = np.array([self.expected[key].mean for key in self.counts])
        self.kept = np.array(
            [[self._kept(*key) if key[0] == wager else 0.0 for key in self.counts] for wager, _ in self.wins]
        )
        """What the house keeps of a unit staked on each wager, by the rule that decides."""

    @property
    def alarm(self) -> float:
        """The evidence that is an alarm."""
        return alarm_at(self.tables * len(self.expected))

    def _kept(self, wager: str | None, rule: str) -> float:
        rules = {} if wager is None else {each.name: each.pay for each in self.game.wager(wager).rules}
        return 1 - float(rules[rule].returned(1)) if rule in rules else 0.0

    @cached_property
    def shoes(self) -> NDArray[np.uint8]:
        """Shoes that were dealt: the hands of each, and how often each count came. They are drawn again for the floor's shoes."""
        return np.concatenate([*self._dealt()])

    def _dealt(self, seed: int = 33) -> Iterator[NDArray[np.uint8]]:
        positions = [Position(each.name, each) for each in self.counted.wagers]
        outcomes = Outcomes(positions)
        columns = [
            [self._column(position.name, rule) for rule in rules]
            for position, rules in zip(positions, outcomes.rules, strict=True)
        ]
        width = len(self.counts) + 2  # the hands, and what is not counted
        found: list[NDArray[np.uint8]] = []

        def count(block: Block) -> None:
            decided = outcomes.deciding[block.kept.outcome[: block.rounds]]
            first = block.kept.shoe[: block.rounds].astype(np.int64) * width
            number = int(block.kept.shoe[block.rounds - 1]) + 1
            sums = np.bincount(first, minlength=number * width)
            for place, of_position in enumerate(columns):
                column = np.array(of_position)[decided[:, place]]
                sums += np.bincount(first + column, minlength=number * width)
            # The last shoe may not have been dealt to its end.
            found.append(sums.reshape(number, width)[:-1, :-1].astype(np.uint8))

        Simulation(outcomes, decks=self.game.decks, rounds=self._shoes * 81, seed=seed, shoe=ShoeRules()).run(
            on_block=count, keep=True
        )
        yield from found

    def _column(self, position: str, rule: str) -> int:
        key = of_a_wager(position), rule
        return 1 + (self.counts.index(key) if key in self.expected else len(self.counts))

    def alarms(self, hands: Numbers, hits: Numbers) -> NDArray[np.bool_]:
        """Whether each count and each win of these looks is an alarm. The hits have a row for each look."""
        own, alarm = self.expected, self.alarm
        expected = hands[:, None] * self.chances
        off, variance = hits - expected, expected * (1 - self.chances)
        found = np.zeros((len(hands), len(own)), np.bool_)
        # The evidence is never above exp(the square of the standard errors), nor 10 at the first hit of a rare rule.
        suspect = (off**2 > log(alarm) * variance) & ((hits > 1) | (off < 0))
        for look, at in np.argwhere(suspect):
            found[look, at] = of_count(int(hits[look, at]), int(hands[look]), self.chances[at]) >= alarm
        for at, key in enumerate(self.wins):
            won = STAKE * (hits @ self.kept[at]) - STAKE * hands * own[key].mean
            squares = hands * STAKE**2
            for look in np.flatnonzero(won**2 > log(alarm) * squares * own[key].variance):
                widest = self.widest(key, above=won[look] > 0)
                evidence = of_win(float(won[look]), int(squares[look]), own[key].variance, widest)
                found[look, len(self.counts) + at] = evidence >= alarm
        return found

    def widest(self, key: Key, *, above: bool) -> float:
        """How far a unit staked can be off what the house keeps of it, above or below."""
        kept = self.kept[self.wins.index(key)]
        return float(kept.max() - self.expected[key].mean if above else self.expected[key].mean - kept.min())


@dataclass(frozen=True)
class FalseAlarms:
    """Alarms on a floor without a fault, in so many months."""

    months: float
    by_evidence: int
    by_errors: int


def false_alarms(floor: Floor, years: float) -> FalseAlarms:
    """Play a floor without a fault and count the alarms that begin; the figures are looked at after each third shoe."""
    at_tables = [_false_alarms_at(floor, number, round(365 * years)) for number in range(floor.tables)]
    by_evidence, by_errors = map(sum, zip(*at_tables, strict=True))
    return FalseAlarms(12 * years, by_evidence, by_errors)


def _false_alarms_at(floor: Floor, number: int, days: int) -> tuple[int, int]:
    """The alarms of a table, by evidence and by standard errors."""
    drawn = np.random.default_rng([1, number]).integers(len(floor.shoes), size=days * SHOES_A_DAY)
    looked_at = floor.shoes[drawn].reshape(days * LOOKS_A_DAY, SHOES_A_DAY // LOOKS_A_DAY, -1)
    sums = np.zeros((days * LOOKS_A_DAY + 1, len(floor.counts) + 1))
    sums[1:] = looked_at.sum(axis=1, dtype=np.int64).cumsum(axis=0)
    looks = np.arange(1, len(sums))
    on = np.zeros((len(looks), len(floor.expected)), np.bool_)
    old = np.zeros((len(looks), len(floor.counts)), np.bool_)
    for span in (*SPANS, days):
        since = np.maximum(0, (looks - 1) // LOOKS_A_DAY - span + 1) * LOOKS_A_DAY
        counted = sums[looks] - sums[since]
        hands, hits = counted[:, 0], counted[:, 1:]
        if span in SPANS:
            on |= floor.alarms(hands, hits)
        if span in {1, days}:
            variance = hands[:, None] * floor.chances * (1 - floor.chances)
            old |= (hits - hands[:, None] * floor.chances) ** 2 >= OLD_ERRORS**2 * variance
    return _begun(on), _begun(old)


def _begun(on: NDArray[np.bool_]) -> int:
    return int(on[0].sum() + (on[1:] & ~on[:-1]).sum())


# --- what the evidence needs, by the formula alone


def _last_alarm(evidence: Callable[[int], float], alarm: float, most: int) -> int | None:
    """The most hands, up to `most`, with so much evidence, if more hands are less evidence; None if no number of hands is an alarm."""
    hands = bisect_left(range(1, most + 1), x=True, key=lambda hands: evidence(hands) < alarm)
    return hands or None


def jackpots_table(floor: Floor) -> str:
    """Within how many hands the first hits of the rarest rule are an alarm, on floors of some sizes."""
    chance = float(floor.chances.min())
    sizes = (1, 10, TABLES)
    titles = " | ".join(f"{size} {'table' if size == 1 else 'tables'}" for size in sizes)
    rows = [f"| Hits | {titles} |", "| --- | --- | --- | --- |"]
    for hits in (1, 2, 3, 4, 5, 6):
        within = [
            _last_alarm(
                partial(_at_least, hits, chance), alarm_at(size * len(floor.expected)), int(1 / chance)
            )
            for size in sizes
        ]
        cells = ("never" if each is None else f"within {each:,} hands" for each in within)
        rows.append(f"| {hits} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _at_least(hits: int, chance: float, hands: int) -> float:
    """The evidence of so many hits, in at least as many hands."""
    return of_count(hits, max(hits, hands), chance)


def winning_seat_table(floor: Floor) -> str:
    """How many hands it takes to find a seat that stakes on Player only if Player wins, beside another seat's stakes on Player."""
    a_look = HANDS_A_DAY // LOOKS_A_DAY
    looks = range(a_look, max(SPANS) * HANDS_A_DAY + 1, a_look)
    rows = ["| The other seat's stake on each hand | Hands to the alarm |", "| --- | --- |"]
    for times in (0, 1, 5, 10, 20, 50):
        found = (hands for hands in looks if _of_a_winning_seat(floor, times, hands) >= floor.alarm)
        hands = written_hands(next(found, inf), f"not in {max(SPANS)} days")
        rows.append(f"| {f'{times} times as much' if times > 1 else ('none', 'as much')[times]} | {hands} |")
    return "\n".join(rows)


def _of_a_winning_seat(floor: Floor, times: int, hands: int) -> float:
    """The evidence if Player wins as often as it should, and the other seat loses what it should."""
    key = "player", WIN
    wins = hands * floor.expected[None, "player"].mean
    squares = STAKE**2 * (wins * (1 + times) ** 2 + (hands - wins) * times**2)
    off = -wins * STAKE * (1 + floor.expected[key].mean)
    return of_win(off, round(squares), floor.expected[key].variance, floor.widest(key, above=False))


# --- the faults


@dataclass(frozen=True)
class Fault:
    """A fault that is planted at a table: other cards in the shoe, a rule that hits so many times as often, or wagers
    on Player that win so many times as often.
    """

    what: str
    cards: Mapping[str, int] | None = None
    rule: Key = (None, "")
    times: float = 1.0


def _each(ranks: str, by: int, suits: str = "CDHS") -> dict[str, int]:
    return {f"{rank}{suit}": by for rank in ranks for suit in suits}


FAULTS: Final = (
    Fault("a Banker that wins 1 % too often", rule=(None, "banker"), times=1.01),
    Fault("a Banker that wins 2 % too often", rule=(None, "banker"), times=1.02),
    Fault("a Banker that wins 5 % too often", rule=(None, "banker"), times=1.05),
    Fault("a Player that wins 2 % too often", rule=(None, "player"), times=1.02),
    Fault("ties 5 % too often", rule=(None, "tie"), times=1.05),
    Fault("ties twice as often", rule=(None, "tie"), times=2),
    Fault("naturals 2 % too often", rule=(None, "natural"), times=1.02),
    Fault("Player's win by 4 twice as often", rule=("dragon_bonus_player", "wins_by_4"), times=2),
    Fault("Player's win by 9 twice as often", rule=("dragon_bonus_player", "wins_by_9"), times=2),
    Fault("Player's win by 9 half as often", rule=("dragon_bonus_player", "wins_by_9"), times=0.5),
    Fault("no win of Player by 8", rule=("dragon_bonus_player", "wins_by_8"), times=0),
    Fault("the award for 9 over 0 twice as often", rule=("progressive", "nine_over_zero"), times=2),
    Fault("2-3-4 unsuited twice as often", rule=("progressive", "two_three_four_unsuited"), times=2),
    Fault("2-3-4 unsuited ten times as often", rule=("progressive", "two_three_four_unsuited"), times=10),
    Fault("2-3-4 in diamonds 1,000 times as often", rule=("progressive", "two_three_four_diamonds"), times=1000),
    Fault("wagers on Player that win 5 % more often", rule=("player", WIN), times=1.05),
    Fault("wagers on Player that win 20 % more often", rule=("player", WIN), times=1.2),
    Fault("a deck without one seven", cards={"7H": -1}),
    Fault("a deck without its four sevens", cards=_each("7", -1)),
    Fault("a deck without its eights and nines", cards=_each("89", -1)),
    Fault("all decks without eights and nines of hearts", cards=_each("89", -8, "H")),
    Fault("a deck of 52 hearts among the eight", cards={**_each("".join(RANKS), -1, "CDS"), **_each("".join(RANKS), 3, "H")}),
)  # fmt: skip


@dataclass(frozen=True)
class Planted:
    """A fault with the figure that finds it, and the chances of what decides this figure, before and now.

    `values` are what each outcome counts for the figure: hits, or what the house keeps of a unit staked.
    """

    fault: Fault
    key: Key
    before: tuple[float, ...]
    now: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """What a hand counts for the figure without the fault."""
        return sum(chance * value for chance, value in zip(self.before, self.values, strict=True))


def planted(floor: Floor, fault: Fault) -> Planted:
    """A fault at a table of this floor. With other cards, the figure is the one that they change the most."""
    if fault.cards is not None:
        shoe = Composition.of_decks(floor.game.decks).counts
        changed = [
            number + fault.cards.get(str(card), 0) for card, number in zip(STANDARD_DECK, shoe, strict=True)
        ]
        odds = GameOdds(floor.counted).odds(Composition(tuple(changed)))
        now = {
            (of_a_wager(name), each.rule): float(each.probability)
            for name, of in odds.items()
            for each in of.rules
        }
        key = max(floor.counts, key=lambda each: _divergence(now.get(each, 0.0), floor.expected[each].mean))
        return _hit(floor, fault, key, now.get(key, 0.0))
    if fault.rule[1] != WIN:
        return _hit(floor, fault, fault.rule, fault.times * floor.expected[fault.rule].mean)
    win, tie = (floor.expected[None, each].mean for each in ("player", "tie"))
    more = fault.times * win
    return Planted(
        fault, fault.rule, (win, tie, 1 - win - tie), (more, tie, 1 - more - tie), (-1.0, 0.0, 1.0)
    )


def _hit(floor: Floor, fault: Fault, key: Key, now: float) -> Planted:
    before = floor.expected[key].mean
    return Planted(fault, key, (before, 1 - before), (now, 1 - now), (1.0, 0.0))


def _divergence(one: float, other: float) -> float:
    """How much a hand says on average for the chance `one` and against the chance `other`."""
    return sum(p * log(p / q) for p, q in ((one, other), (1 - one, 1 - other)) if p > 0)


def hands_to_detection(floor: Floor, of: Planted, repeats: int = REPEATS, seed: int = 2) -> float:
    """The median of the hands from the fault's first day to the alarm, at a table that was in order before; inf if it is later
    than LONGEST_DAYS.
    """
    dice = np.random.default_rng([seed, FAULTS.index(of.fault)])
    return median(_found_after(floor, of, dice) for _ in range(repeats))


def _found_after(floor: Floor, of: Planted, dice: np.random.Generator) -> float:
    values, a_look = np.array(of.values), HANDS_A_DAY // LOOKS_A_DAY
    fair = dice.multinomial(a_look, of.before, size=max(SPANS) * LOOKS_A_DAY) @ values
    faulty = dice.multinomial(a_look, of.now, size=LONGEST_DAYS * LOOKS_A_DAY) @ values
    sums = np.concatenate([[0.0], np.concatenate([fair, faulty]).cumsum()])
    looks = np.arange(len(fair) + 1, len(sums))
    spread = floor.expected[of.key].variance
    suspects = []
    for span in SPANS:
        since = ((looks - 1) // LOOKS_A_DAY - span + 1) * LOOKS_A_DAY
        hands = (looks - since) * a_look
        found = sums[looks] - sums[since]
        off = found - hands * of.mean
        suspects += [
            (look, hands[look], found[look], off[look])
            for look in np.flatnonzero(off**2 > log(floor.alarm) * hands * spread)
        ]
    for look, hands, found, off in sorted(suspects):
        if _evidence(floor, of, int(hands), float(found), float(off)) >= floor.alarm:
            return float((look + 1) * a_look)
    return inf


def _evidence(floor: Floor, of: Planted, hands: int, found: float, off: float) -> float:
    own = floor.expected[of.key]
    if of.key[1] != WIN:
        return of_count(round(found), hands, own.mean)
    widest = 1 - own.mean if off > 0 else 1 + own.mean
    return of_win(off * STAKE, hands * STAKE**2, own.variance, widest)


def hands_by_chi_square(floor: Floor, of: Planted) -> float | None:
    """The mean of the hands that a chi-square test of each day needs, with as many false alarms as the watch may raise.

    It is None if fewer than five hits, or five misses, are to be expected in a day: such a test is not valid.
    """
    limit, mean = _errors_of(1 / floor.alarm), of.mean
    if of.key[1] == WIN:
        spread = sqrt(HANDS_A_DAY * floor.expected[of.key].variance)
        off = HANDS_A_DAY * (sum(map(float.__mul__, of.now, of.values)) - mean) / spread
        return HANDS_A_DAY / (_above(limit - off) + _above(limit + off))
    if HANDS_A_DAY * min(mean, 1 - mean) < 5:
        return None
    away = limit * sqrt(HANDS_A_DAY * mean * (1 - mean))
    power = sum(
        _chance(hits, of.now[0]) for hits in range(HANDS_A_DAY + 1) if abs(hits - HANDS_A_DAY * mean) >= away
    )
    return HANDS_A_DAY / power if power else inf


def _chance(hits: int, of: float) -> float:
    """The chance of so many hits in a day."""
    if of <= 0:
        return float(hits == 0)
    misses = HANDS_A_DAY - hits
    ways = lgamma(HANDS_A_DAY + 1) - lgamma(hits + 1) - lgamma(misses + 1)
    return exp(ways + hits * log(of) + misses * log1p(-of))


def _above(errors: float) -> float:
    return erfc(errors / sqrt(2)) / 2


def _errors_of(chance: float) -> float:
    """The standard errors that are exceeded on both sides with this chance."""
    low, high = 0.0, 40.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if 2 * _above(middle) > chance else (low, middle)
    return low


# --- the order of cards


def orders_table(repeats: int = REPEATS) -> str:
    """Shoes in an order that they had, not shuffled or shuffled badly: how many are found, and after how many cards."""
    alarm = alarm_at(TABLES * SHOES_A_DAY_AT_MOST * ORDERS)
    rows = [
        "| Order of the cards | Riffles since | Found | Cards to the alarm |",
        "| --- | --- | --- | --- |",
    ]
    for what, riffles in product(_BEFORE, range(4)):
        found = [_cards_to_alarm(what, riffles, seed, alarm) for seed in range(repeats)]
        half = median(each or inf for each in found)
        share = sum(each is not None for each in found) / repeats
        rows.append(
            f"| {what} | {riffles} | {share:.0%} | {'not in half of them' if half == inf else f'{half:.0f}'} |"
        )
    return "\n".join(rows)


_BEFORE: Final = (
    "new decks",
    "the shoe before, cut elsewhere",
    "the shoe before, backwards",
    "a shoe of a week ago, cut elsewhere",
    "a shoe of a week ago, backwards",
)


@cache
def _of_a_week() -> list[bytes]:
    return [packed(shuffled(seed)[11:402]) for seed in range(10_000, 10_000 + REMEMBERED)]


def _cards_to_alarm(what: str, riffles: int, seed: int, alarm: float) -> int | None:
    before = NEW_DECK * DECKS if what == "new decks" else shuffled(seed)
    order: Order = FACTORY
    if what != "new decks":
        seen = before[11:402]  # without what was burned and what was behind the cut card
        seen = seen[::-1] if what.endswith("backwards") else seen
        order = order_of(seen)
        if "week" in what:
            order = ManyShoes([packed(seen), *(_of_a_week()[EARLIER + 1 :])])
        before = [*before[100:], *before[:100]]
    cards = riffled(before[::-1] if what.endswith("backwards") else before, riffles, seed)
    shoe = DealtShoe(DECKS, {what: order})
    for number, card in enumerate(cards[11:402], 1):
        shoe.draw(card)
        if shoe.trials[what].reached >= alarm:
            return number
    return None


def orders_by_chance(shoes: int = 2000) -> str:
    """How often the order of well-shuffled shoes reaches an evidence of 100, each shoe compared as the watch does."""
    before: deque[list[Card]] = deque(maxlen=REMEMBERED)
    reached = compared = 0
    for seed in range(shoes):
        cards = shuffled(seed)[11:402]
        last, earlier = [*before][-EARLIER:], [*before][:-EARLIER]
        orders: list[Order] = [FACTORY]
        for step in (1, -1):
            orders += [order_of(each[::step]) for each in last]
            orders += [ManyShoes([packed(each[::step]) for each in earlier])] if earlier else []
        shoe = DealtShoe(DECKS, {str(at): order for at, order in enumerate(orders)})
        for card in cards:
            shoe.draw(card)
        reached += sum(each.reached >= 100 for each in shoe.trials.values())
        compared += len(shoe.trials)
        before.append(cards)
    return (
        f"In {shoes:,} well-shuffled shoes, {reached:,} of {compared:,} comparisons reached an evidence of 100; "
        f"by the bound, at most {compared // 100:,} are to be expected."
    )


# --- the page


def faults_table(floor: Floor, found: Mapping[str, float]) -> str:
    """A row for each fault; `found` has the hands to detection."""
    rows = [
        "| Fault | Found by | Chance | With the fault | Hands to the alarm | A chi-square by the day |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for fault in FAULTS:
        of = planted(floor, fault)
        rows.append(
            f"| {fault.what} | {named(of.key)} | {' | '.join(chances(of.before[0], of.now[0]))} | "
            f"{written_hands(found[fault.what], 'not in 1,024 days')} | {by_chi_square(floor, of)} |"
        )
    return "\n".join(rows)


def named(key: Key) -> str:
    """A figure in words."""
    wager, rule = (each.replace("_", " ") if each else "" for each in key)
    return ", ".join(filter(None, (wager or "results", rule or "win")))


def chances(before: float, now: float) -> tuple[str, str]:
    """Both with as many digits as differ."""
    digits = next(each for each in range(2, 20) if f"{before:.{each}g}" != f"{now:.{each}g}")
    return f"{before:.{digits}g}", f"{now:.{digits}g}"


def by_chi_square(floor: Floor, of: Planted) -> str:
    """What a chi-square test needs, in words."""
    hands = hands_by_chi_square(floor, of)
    return "not valid" if hands is None else written_hands(hands, "never")


def written_hands(hands: float, never: str) -> str:
    """A number of hands, in two digits."""
    if hands == inf:
        return never
    if hands > 1e10:
        return "more than 10,000,000,000"
    return f"{float(f'{hands:.2g}'):,.0f}"


def false_alarms_table(found: FalseAlarms) -> str:
    """What chance alone raised."""
    rows = [
        ("by evidence", found.by_evidence),
        (f"by {OLD_ERRORS:g} standard errors, by the day and by the table's life", found.by_errors),
    ]
    return "\n".join(
        [
            f"| Alarms | in {found.months / 12:g} years | a month |",
            "| --- | --- | --- |",
            *(f"| {what} | {number:,} | {number / found.months:,.2f} |" for what, number in rows),
        ]
    )


def tables(floor: Floor, years: float) -> str:
    """What is computed on the page."""
    found = {each.what: hands_to_detection(floor, planted(floor, each)) for each in FAULTS}
    return "\n\n".join(
        [
            false_alarms_table(false_alarms(floor, years)),
            faults_table(floor, found),
            orders_table(),
            orders_by_chance(),
            jackpots_table(floor),
            winning_seat_table(floor),
        ]
    )


def main(years: float) -> None:
    """Simulate, and write the page's tables."""
    found = tables(Floor(), years)
    print(found)
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{found}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 10)
