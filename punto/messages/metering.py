"""The meters of a table as they are published and reported: each count beside its exact expectation."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from math import sqrt

from punto.baccarat.coup import Coup
from punto.baccarat.table.after_settlement import as_dealt
from punto.baccarat.table.meters import Handle, Meters, every, of_game, of_hand
from punto.baccarat.table.state import RoundRecord, TableState
from punto.baccarat.wagers.definition import Game
from punto.configs.expectations import WIN, Expectation, Expectations
from punto.messages.building import timestamp
from punto.messages.meters import CountReading, MeterReadings, TableMeters, WagerReading


def metered(meters: Meters, game: Game, expectations: Expectations) -> MeterReadings:
    """The readings of meters, with all that the game can count, in its order."""
    hits = {(each.wager, each.rule): each.hits for each in meters.hits}
    counts = ((*key, hits.get(key, 0), expectations.get(key)) for key in every(game))
    return MeterReadings(
        hands=meters.hands,
        counts=tuple(
            CountReading(wager=wager, rule=rule, hits=found, **_beside(found, of, meters.hands, meters.hands))
            for wager, rule, found, of in counts
        ),
        wagers=tuple(_of_wager(each, expectations.get((each.wager, WIN))) for each in meters.handle),
    )


def _of_wager(handle: Handle, of: Expectation | None) -> WagerReading:
    win = handle.staked - handle.returned
    return WagerReading(
        wager=handle.wager,
        wagers=handle.wagers,
        handle=handle.staked,
        returned=handle.returned,
        win=win,
        **_beside(win, of, handle.staked, handle.squares),
    )


def _beside(found: int, of: Expectation | None, times: int, squares: int) -> dict[str, float | None]:
    """What is to be expected, and how many standard errors the found number is above it.

    `times` is what the expectation is of, and `squares` the sum of its squares over the hands.
    """
    if of is None:
        return {"expected": None, "errors": None}
    expected, spread = times * of.mean, sqrt(squares * of.variance)
    errors = round((found - expected) / spread, 2) if spread > 0 else None
    return {"expected": round(expected, 2), "errors": errors}


def meters_message(state: TableState, expectations: Expectations, seq: int, now: datetime) -> TableMeters:
    """The meters of the game that the table plays."""
    settings = state.settings
    game = settings.game
    return TableMeters(
        id=f"{settings.table}/meters/{seq}",
        seq=seq,
        ts=timestamp(now),
        simulation=settings.simulation,
        game=game.name,
        rules=game.rules_digest,
        lifetime=metered(of_game(state.history.meters, game), game, expectations),
        gaming_day=metered(state.history.todays(game), game, expectations),
        day_began=timestamp(now) if state.history.day is None else state.history.day.began,
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
