"""The meters of a table as they are published and reported: each count beside its exact expectation."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from math import sqrt

from punto.baccarat.coup import Coup
from punto.baccarat.table.after_settlement import as_dealt
from punto.baccarat.table.meters import Meters, every, of_game, of_hand
from punto.baccarat.table.state import RoundRecord, TableState
from punto.baccarat.wagers.definition import Game
from punto.controller.messages import models
from punto.controller.messages.building import timestamp

Chances = Mapping[tuple[str | None, str], float]


def metered(meters: Meters, game: Game, chances: Chances | None) -> models.MeterReadings:
    """The readings of meters, with all that the game can count, in its order."""
    hits = {(each.wager, each.rule): each.hits for each in meters.hits}
    return models.MeterReadings(
        hands=meters.hands,
        counts=tuple(_count(*key, hits.get(key, 0), meters.hands, chances) for key in every(game)),
        wagers=tuple(
            models.WagerReading(
                wager=each.wager,
                wagers=each.wagers,
                drop=each.staked,
                returned=each.returned,
                hold=each.staked - each.returned,
            )
            for each in meters.drop
        ),
    )


def _count(
    wager: str | None, rule: str, hits: int, hands: int, chances: Chances | None
) -> models.CountReading:
    chance = None if chances is None else chances.get((wager, rule))
    expected = errors = None
    if chance is not None:
        expected = hands * chance
        spread = sqrt(expected * (1 - chance))
        errors = (hits - expected) / spread if spread > 0 else None
    return models.CountReading(
        wager=wager,
        rule=rule,
        hits=hits,
        expected=None if expected is None else round(expected, 2),
        errors=None if errors is None else round(errors, 2),
    )


def meters_message(state: TableState, seq: int, chances: Chances | None, now: datetime) -> models.TableMeters:
    """The meters of the table's life for the game that it plays."""
    settings = state.settings
    return models.TableMeters(
        id=f"{settings.table}/meters/{seq}",
        seq=seq,
        ts=timestamp(now),
        simulation=settings.simulation,
        game=settings.game.name,
        readings=metered(of_game(state.meters, settings.game), settings.game, chances),
    )


def meters_of(game: Game, records: Iterable[RoundRecord]) -> Meters:
    """The meters of these rounds of a game, each as it was settled last.

    A correction of a round that is not among them does not count.
    """
    meters = Meters(game=game.name, rules=game.rules_digest)
    for record in _as_settled(records):
        coup = Coup(as_dealt(record.player, record.banker))
        meters = meters.plus(of_hand(game, coup, record.settlements))
    return meters


def _as_settled(records: Iterable[RoundRecord]) -> Iterator[RoundRecord]:
    rounds: dict[int, RoundRecord] = {}
    for record in records:
        if record.status == "played":
            rounds[record.round] = record
        elif record.corrects in rounds:
            before = rounds.pop(record.corrects)
            if record.winner is not None:
                rounds[record.corrects] = before.corrected_by(record)
    yield from rounds.values()
