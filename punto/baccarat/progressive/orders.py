"""Rounds and their wagers, and orders for a meter. Orders that are not allowed now are refused with a reason."""

import re
from dataclasses import replace
from typing import Final

from punto.baccarat.currency import written
from punto.baccarat.progressive import effects, events
from punto.baccarat.progressive.ledger import HOLDINGS, Account, Cause, Line, Reference
from punto.baccarat.progressive.money import MOST, amount, share, whole
from punto.baccarat.progressive.people import refuse_too_few
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.progressive.state import TableRound
from punto.baccarat.progressive.turn import Turn

_AGAINST: Final = {
    Cause.INCREASE: Account.ADJUSTMENTS,
    Cause.MALFUNCTION: Account.ADJUSTMENTS,
    Cause.OVER_LIMIT: Account.OVERFLOW,
    Cause.RECOVERY_OF_SEED: Account.SEED_MONEY,
}
"""The causes of an adjustment, each with the account that gives or takes."""


_DAY: Final = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", re.ASCII)


def open_meter(turn: Turn, event: events.OpenMeter) -> None:
    """Put the seed on the meter."""
    seed = amount(turn.state.settings.seed)
    turn.post(
        Cause.SEED,
        (Line(Account.SEED_MONEY, -seed), *turn.to_meter(seed)),
        Reference(who=event.who, approved_by=event.approved_by),
    )


def contribute(turn: Turn, event: events.Contribute) -> None:
    """Begin a table's round and count its wagers into the meter.

    Raises:
        RefusedError: the table is not linked, its previous round is not over, or a wager is invalid.
    """
    settings = turn.state.settings
    refuse_not_linked(turn, event.table)
    last = turn.state.round_at(event.table)
    if last is not None and last.lost:
        last = None
    if last is not None and not last.over:
        raise RefusedError(
            "already_started",
            f"the game of round {last.round} at {event.table} is not over: end that game before you start the next one",
        )
    if last is not None and event.round <= last.round:
        raise RefusedError(
            "not_next_round",
            f"the game of round {event.round} cannot start: {event.table} has already played the game of round {last.round}",
        )
    seats = {wager.seat for wager in event.wagers}
    amounts = [wager.amount for wager in event.wagers]
    if len(seats) < len(amounts) or min(amounts, default=1) <= 0:
        raise RefusedError(
            "bad_wagers", "each seat in the game must have one progressive wager of more than 0"
        )
    stakes = sum(amounts)
    turn.emit(effects.WagersCounted(event.table, event.round, event.wagers))
    to_meter, to_reserve = share(stakes, settings.contribution_rate), share(stakes, settings.reserve_rate)
    turn.post(
        Cause.CONTRIBUTION,
        (
            Line(Account.CONTRIBUTIONS, -(to_meter + to_reserve)),
            *turn.to_meter(to_meter),
            Line(Account.RESERVE, to_reserve),
        ),
        Reference(table=event.table, round=event.round),
        rounds=turn.rounds_with(
            TableRound(event.table, event.round, event.wagers, first_award=turn.state.next_award)
        ),
    )


def end_round(turn: Turn, event: events.EndRound) -> None:
    """End a table's round; if the last one is lost, any of the table, which may have come back in another one.

    Raises:
        RefusedError: it is not the table's last round, is over already, or has an award without a meter
            adjustment.
    """
    last = turn.state.round_at(event.table)
    if last is not None and last.lost:
        turn.change(rounds=turn.rounds_with(replace(last, over=True)))
        return
    played = table_round(turn, event.table, event.round)
    if played.over:
        raise RefusedError("round_over", f"round {event.round} of {event.table} is already over")
    for award in turn.state.locked:
        if award.table == event.table:
            raise RefusedError(
                "award_open",
                f"award {award.id} is logged, but the meter is not adjusted yet: turn the key to RUN, then end the game",
            )
    turn.change(rounds=turn.rounds_with(replace(played, over=True)))


def reopen_round(turn: Turn, event: events.ReopenRound) -> None:
    """Reopen a table's last round: its cards were corrected, or a person ordered it.

    Raises:
        RefusedError: it is not the table's last round, is not over, or no second person approved a person's order.
    """
    played = table_round(turn, event.table, event.round)
    if not played.over:
        raise RefusedError("round_open", f"round {event.round} of {event.table} is not over")
    refuse_too_few(turn.state.settings, turn.currency, event)
    turn.change(rounds=turn.rounds_with(replace(played, over=False)))
    if event.by is not None:
        turn.emit(
            effects.GameReopened(
                event.table, event.round, event.by.reason, event.by.who, event.by.approved_by
            )
        )


def adjust(turn: Turn, event: events.Adjust) -> None:
    """Add to the meter, or take off it an amount that may be taken.

    Raises:
        RefusedError: the cause does not allow an adjustment, the amount is too large, or the order is
            invalid.
    """
    if event.cause not in _AGAINST:
        raise RefusedError(
            "not_a_cause",
            f"a manual adjustment cannot have the cause {event.cause}: write increase, malfunction, over_limit or "
            "recovery_of_seed. Awards and retirements have other orders",
        )
    if event.amount <= 0:
        raise RefusedError(
            "no_amount",
            "the amount must be above 0: the cause decides whether the amount is added to the meter or taken off",
        )
    if event.amount + whole(turn.state.ledger.primary + turn.state.ledger.overflow) > MOST:
        raise RefusedError(
            "too_much", f"a meter holds at most {written(MOST, turn.currency)}: enter a smaller amount"
        )
    refuse_unreasoned(event.reason)
    moved, against = amount(event.amount), _AGAINST[event.cause]
    reference = Reference(who=event.who, reason=event.reason, approved_by=event.approved_by)
    if event.cause is Cause.INCREASE:
        turn.post(event.cause, (Line(against, -moved), *turn.to_meter(moved)), reference)
        return
    if moved > turn.state.available:
        raise RefusedError(
            "more_than_meter",
            f"the meter has only {written(whole(turn.state.available), turn.currency)} that is not reserved for awards: take off at "
            "most this amount",
        )
    if event.cause is Cause.RECOVERY_OF_SEED and moved > turn.state.ledger.seed_money:
        raise RefusedError(
            "more_than_seed",
            f"the meter has only {written(whole(turn.state.ledger.seed_money), turn.currency)} of seed money: recover at most this amount",
        )
    turn.post(event.cause, (Line(Account.PRIMARY, -moved), Line(against, moved)), reference)


def counted(event: events.CountCoins) -> effects.CoinsCounted:
    """The counted total of a gaming day's wagers, as an entry for the record.

    Raises:
        RefusedError: the day or the amount is invalid.
    """
    if not _DAY.fullmatch(event.day):
        raise RefusedError("no_day", f"{event.day!r} is not a day: write the day in the form 2026-11-21")
    if event.amount < 0:
        raise RefusedError("no_amount", "the total of the counted wagers cannot be below 0: enter 0 or more")
    return effects.CoinsCounted(event.day, event.amount, event.who)


def count_coins(turn: Turn, event: events.CountCoins) -> None:
    """Put a gaming day's count on the record; raises RefusedError as `counted` does."""
    turn.emit(counted(event))


def change_settings(turn: Turn, event: events.ChangeSettings) -> None:
    """Apply new settings.

    Raises:
        RefusedError: a round or an award is open, the settings are those of another progressive, or the meter
            is above their display limit.
    """
    _refuse_while_open(turn, "change the settings")
    refuse_unreasoned(event.reason)
    before, after = turn.state.settings, event.settings
    if event.before not in {None, before}:
        raise RefusedError(
            "settings_changed",
            "another person has changed the settings in the meantime: check the new settings, then make your "
            "change again",
        )
    if after == before:
        raise RefusedError("same_settings", "these settings already apply: there is no change")
    if (before.progressive, before.wager, before.tables[0].game) != (
        after.progressive,
        after.wager,
        after.tables[0].game,
    ):
        raise RefusedError(
            "another_progressive",
            f"the wager, the pay table and the game of {before.progressive} cannot change: retire "
            f"{before.progressive}, and open another progressive",
        )
    if after.display_limit is not None and after.display_limit < turn.state.shown:
        raise RefusedError(
            "limit_below_meter",
            f"the display limit is less than the amount that the meter shows now: enter at least {written(turn.state.shown, turn.currency)}",
        )
    # The rounds of a table that is not linked any more are kept: it may be linked again, and nobody may count them twice.
    turn.change(settings=after)
    turn.emit(effects.SettingsChanged(before, after, event.reason, event.who, event.approved_by))


def retire(turn: Turn, event: events.Retire) -> None:
    """Take all the money off the meter, for good.

    Raises:
        RefusedError: a round or an award is open, or the order is invalid.
    """
    _refuse_while_open(turn, "retire the progressive")
    refuse_unreasoned(event.reason)
    held = {each: getattr(turn.state.ledger, each.value) for each in HOLDINGS}
    total = sum(held.values())
    turn.post(
        Cause.RETIREMENT,
        (
            *(Line(account, -balance) for account, balance in sorted(held.items())),
            Line(Account.ADJUSTMENTS, total),
        ),
        Reference(who=event.who, reason=event.reason, approved_by=event.approved_by),
    )
    turn.emit(effects.Retired(event.reason, event.who, event.approved_by))


def table_round(turn: Turn, table: str, number: int) -> TableRound:
    """The last round of a linked table, if it has this number; raises RefusedError if it does not."""
    refuse_not_linked(turn, table)
    last = turn.state.round_at(table)
    if last is None:
        raise RefusedError("no_round", f"{table} has had no round of this progressive")
    if last.round != number:
        raise RefusedError(
            "not_last_round",
            f"round {number} of {table} cannot change now: only the last round, {last.round}, can change",
        )
    return last


def refuse_not_linked(turn: Turn, table: str) -> None:
    """Refuse what names a table that is not linked to the progressive, also if it was once."""
    settings = turn.state.settings
    if table not in {each.table for each in settings.tables}:
        raise RefusedError(
            "unknown_table",
            f"{table} is not linked to the progressive {settings.progressive}: check the table's id, or add the table to the "
            "settings of this progressive",
        )


def refuse_unreasoned(reason: str) -> None:
    """Refuse an order for the record that has no reason."""
    if not reason.strip():
        raise RefusedError("no_reason", "enter a reason for the record")


def _refuse_while_open(turn: Turn, what: str) -> None:
    """Refuse a change of a parameter while a round or an award is open."""
    if turn.state.locked:
        award = turn.state.locked[0]
        raise RefusedError(
            "award_open",
            f"award {award.id} at {award.table} is not booked yet: book the award first, then {what}",
        )
    for each in turn.state.rounds:
        if not each.over:
            raise RefusedError(
                "round_open",
                f"the game of round {each.round} at {each.table} is not over: end that game first, then {what}",
            )
