"""The meters of a table as they are published and reported: each count beside its exact expectation."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from math import sqrt

from punto.baccarat import evidence
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
            CountReading(
                wager=wager,
                rule=rule,
                hits=found,
                **_beside(found, of, meters.hands, meters.hands),
                evidence=_evidence_of_count(found, of, meters.hands),
            )
            for wager, rule, found, of in counts
        ),
        wagers=tuple(_of_wager(each, game, expectations.get((each.wager, WIN))) for each in meters.handle),
    )


def told(readings: MeterReadings) -> Expectations:
    """The chances of the rules and results as a table tells them, without the win of a wager, which takes the place of a rule."""
    chances = (
        (each, each.expected / readings.hands)
        for each in readings.counts
        if each.expected is not None and readings.hands > 0 and each.rule != WIN
    )
    return {
        (each.wager, each.rule): Expectation(chance, chance * (1 - chance))
        for each, chance in chances
        if 0 < chance < 1
    }


def _evidence_of_count(hits: int, of: Expectation | None, hands: int) -> float | None:
    if of is None or not 0 < of.mean < 1 or not 0 <= hits <= hands:
        return None
    return _in_digits(evidence.of_count(hits, hands, of.mean), 3)


def _evidence_of_win(win: int, of: Expectation | None, handle: Handle, game: Game) -> float | None:
    if of is None:
        return None
    off = win - float(handle.rounded) - handle.staked * of.mean
    most_paid = max(rule.pay.returned(1) for rule in game.wager(handle.wager).rules) - 1
    widest = 1 - of.mean if off > 0 else float(most_paid) + of.mean
    return _in_digits(evidence.of_win(off, handle.squares, of.variance, widest), 3)


def _of_wager(handle: Handle, game: Game, of: Expectation | None) -> WagerReading:
    win = handle.staked - handle.returned
    return WagerReading(
        wager=handle.wager,
        wagers=handle.wagers,
        handle=handle.staked,
        returned=handle.returned,
        win=win,
        **_beside(win, of, handle.staked, handle.squares, float(handle.rounded)),
        evidence=_evidence_of_win(win, of, handle, game),
    )


def _beside(
    found: int, of: Expectation | None, times: int, squares: int, rounded: float = 0.0
) -> dict[str, float | None]:
    """What is to be expected, and how many standard errors the found number is above it.

    `times` is what the expectation is of, `squares` the sum of its squares over the hands, and `rounded` what is to be added to it:
    the rounding of each hand is known, because it follows from the hand's stakes and rules.
    """
    if of is None:
        return {"expected": None, "errors": None}
    expected, spread = times * of.mean + rounded, sqrt(max(0, squares) * of.variance)
    errors = round((found - expected) / spread, 2) if spread > 0 else None
    return {"expected": _in_digits(expected, 9), "errors": errors}


def _in_digits(figure: float, digits: int) -> float:
    """The figure with so many significant digits: rare hits are expected less than once in a hundred days."""
    return float(f"{figure:.{digits}g}")


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
