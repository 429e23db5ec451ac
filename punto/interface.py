"""The contents of `import punto`, for programs and notebooks. Each function matches the subcommand of its name."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from punto.baccarat.cards import Card, check_one_shoe
from punto.baccarat.coup import Coup, Winner
from punto.baccarat.roads.drawing import Tail
from punto.baccarat.roads.rounds import RoadRound
from punto.baccarat.roads.scoreboard import Scoreboard, draw
from punto.baccarat.table.state import RoundRecord
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.settlement import PlacedWager, Settlement, check_wagers, settle
from punto.configs.game_files import load_game, shipped_games

if TYPE_CHECKING:
    from punto.controller.journal.recovery import Replayed
    from punto.odds.exact import WagerOdds
    from punto.odds.simulation.simulator import ShoeRules
    from punto.odds.simulation.tally import Tally

_ROUNDS_AT_ONCE: Final = 500

__all__ = [
    "Card",
    "Coup",
    "Game",
    "PlacedWager",
    "RecordedRound",
    "Scored",
    "Settlement",
    "Winner",
    "exact_odds",
    "games",
    "load_game",
    "replay",
    "roads",
    "rounds",
    "score",
    "simulate",
]


@dataclass(frozen=True, slots=True)
class Scored:
    """A coup and its settlement: one settlement for each wager, in the order of the wagers."""

    coup: Coup
    settlements: tuple[Settlement, ...]


class RecordedRound(NamedTuple):
    """A round on a record: the time it ended (ISO 8601, UTC), the title of its game, and the round."""

    ts: str
    game: str
    round: RoundRecord


def games() -> list[str]:
    """The names of the shipped games, for `load_game`."""
    return shipped_games()


def score(game: Game, cards: Iterable[Card | str], wagers: Iterable[tuple[int, str, int]] = ()) -> Scored:
    """Score a coup and settle its wagers.

    `cards` are in the order that they left the shoe, such as `["9S", "KD", "3H", "4C", "8D"]`. `wagers` are
    tuples of seat, wager and amount in minor units, such as `(1, "player", 2500)`.

    Raises:
        ValueError: a card or wager is not valid, or the cards are not those of one complete coup.
    """
    dealt = tuple(map(Card, cards))
    check_one_shoe(dealt, game.decks)
    placed = [PlacedWager(*wager) for wager in wagers]
    for seat in {wager.seat: None for wager in placed}:
        check_wagers(game, [wager for wager in placed if wager.seat == seat])
    coup = Coup.complete(dealt)
    return Scored(coup, tuple(settle(game, coup, placed)))


def roads(rounds: Iterable[RoadRound | str], tail: Tail = "turn") -> Scoreboard:
    """The five roads of a shoe's rounds, the oldest first.

    A round is a `RoadRound`, or the name of its winner: "player", "banker" or "tie". `tail` is as in `punto
    roads`.

    Raises:
        ValueError: a name is not one of these.
    """
    return draw([each if isinstance(each, RoadRound) else RoadRound(Winner(each)) for each in rounds], tail)


def exact_odds(
    game: Game,
    *,
    decks: int | None = None,
    removed: Iterable[Card | str] = (),
    meters: Mapping[str, Fraction] | None = None,
) -> "dict[str, WagerOdds]":
    """The exact odds of every wager of a game, in a shoe of this many decks without the removed cards.

    `decks` defaults to the game's own. `meters` has the amount on the meter of a progressive wager, in minor
    units; a meter that it does not name stands at its average top award. This needs the extra `odds`.

    Raises:
        ValueError: the shoe is impossible, or `meters` names a wager without a meter.
        ModuleNotFoundError: numpy is not installed.
    """
    from punto.odds.composition import Composition  # noqa: PLC0415 - numpy, which a service does not need
    from punto.odds.exact import GameOdds  # noqa: PLC0415

    asked = game if decks is None else replace(game, decks=decks)
    shoe = Composition.of_decks(asked.decks).without(tuple(map(Card, removed)))
    return GameOdds(asked).odds(shoe, meters)


def simulate(
    game: Game, rounds: int = 1_000_000, *, seed: int = 1, shoe: "ShoeRules | None" = None, jobs: int = 1
) -> "Tally":
    """Deal rounds at random and count which rule decides each wager.

    The same seed deals the same rounds. Without `shoe` each round has a freshly shuffled shoe. `jobs` is the
    number of threads. This needs the extra `lab`.

    Raises:
        ValueError: a shoe cannot be played by these rules.
        ModuleNotFoundError: numba is not installed.
    """
    from punto.odds.exact import positions  # noqa: PLC0415 - numba, as above
    from punto.odds.simulation.outcomes import Outcomes  # noqa: PLC0415
    from punto.odds.simulation.simulator import Simulation  # noqa: PLC0415

    outcomes = Outcomes(positions(game))
    return Simulation(outcomes, decks=game.decks, rounds=rounds, seed=seed, shoe=shoe).run(jobs)


def replay(record: str | PathLike[str]) -> "Replayed":
    """Derive a table's record again from its inputs; `difference` of the result is None if both are the same.

    Raises:
        RecordError: the file cannot be opened as a record, or cannot be read now.
    """
    from punto.controller.journal import recovery  # noqa: PLC0415 - the service, which coups and roads do not need

    return recovery.replay(Path(record))


def rounds(record: str | PathLike[str]) -> Iterator[RecordedRound]:
    """The rounds of a table's record, the oldest first, as written; `replay` proves them.

    Raises:
        RecordError: the file cannot be opened as a record, or cannot be read.
    """
    from punto.controller.journal import schema, store  # noqa: PLC0415 - as above

    last = 0
    path = Path(record)
    with closing(schema.open_for_reading(path)) as connection, schema.readable(path):
        while page := store.rounds_after(connection, last, _ROUNDS_AT_ONCE):
            yield from map(RecordedRound._make, page)
            last = page[-1][2].round
