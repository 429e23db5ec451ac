"""Awards: locked, booked and backed out.

An award's amount is fixed when it is locked, of the meter less what is locked already. The order of the locks is the
order on the record, so two tables that win in the same moment are one after the other.

The next meter begins when a 100% award is locked, not when it is booked: what is left of the won meter (less than a
cent), the seed, all of the reserve (sheet 000: "added on to any configured seed amount after a 100% award is given")
and as much of the overflow as the display limit lets it. So wagers that come between lock and booking feed the next
meter, and another table's award of that moment is of a meter that has its seed.

The overflow comes back only then, and for a fixed award that the meter does not hold without it. No sheet speaks of it;
were it to fill the room that a smaller award makes, players would not see that award "deducted from the meter"
(sheet 001, 7b).
"""

from dataclasses import replace
from typing import Final

from controller.progressive.effects import AwardBackedOut, AwardBooked, AwardLocked
from controller.progressive.events import BackOut, BookAward, LockAward
from controller.progressive.ledger import Account, Cause, Line, Reference
from controller.progressive.money import amount, share_of_meter, whole, written
from controller.progressive.orders import refuse_unapproved, refuse_unreasoned, table_round
from controller.progressive.refusal import RefusedError
from controller.progressive.shares import Share, order_of_paying, split
from controller.progressive.state import Award, AwardState, TableRound
from controller.progressive.turn import Turn
from controller.wagers.definition import Rule

KEPT: Final = 25
"""So many awards that are over are at hand for the Game Manager; all of them are on the record."""


def lock(turn: Turn, event: LockAward) -> None:
    """Fix an award. With Nexus it is booked in the same step (sheet 000, Nexus Command, 7e).

    Raises:
        RefusedError: the round is not open, the tier is not the meter's to pay, a seat has no wager, the award was
            confirmed before, the card is not enough for it, or the meter does not hold it.
    """
    played = table_round(turn, event.table, event.round)
    if played.over:
        raise RefusedError(
            "round_over",
            f"round {event.round} of {event.table} is over: correct its cards, or its award is none",
        )
    rule = turn.state.settings.tier(event.rule)
    if rule is None:
        raise RefusedError(
            "not_from_meter",
            f"the meter pays nothing for {event.rule}: it loses, or is paid from the tray with the other wagers",
        )
    _refuse_seats(event, played)
    _refuse_again(turn, event)
    available = turn.state.available
    shares = _shares(turn, rule, event, played, available)
    award = Award(
        id=turn.state.next_award,
        rule=rule.name,
        table=event.table,
        round=event.round,
        meter=whole(available),
        amount=sum(share.amount for share in shares),
        seats=event.seats,
        shares=shares,
        whole_meter=rule.pay.meter == 1,
        who=event.who,
        card=event.card,
    )
    _refuse_unpayable(turn, award)
    _refuse_card(turn, award)
    missing = amount(award.amount) - available
    if missing > 0:
        # What a display limit kept off the meter is the players' too. It comes in no other way before the next meter.
        back = (Line(Account.OVERFLOW, -missing), Line(Account.PRIMARY, missing))
        turn.post(Cause.OVERFLOW_ADDED, back, _about(award))
    turn.change(awards=(*turn.state.awards, award), next_award=award.id + 1)
    turn.say(AwardLocked(award))
    if award.whole_meter:
        _begin_next_meter(turn, award)
    if turn.state.settings.procedure == "nexus":
        _book(turn, award)


def book(turn: Turn, event: BookAward) -> None:
    """Take the award that is locked at a table off the meter.

    Raises:
        RefusedError: none is.
    """
    award = next((each for each in turn.state.locked if each.table == event.table), None)
    if award is None:
        raise RefusedError(
            "nothing_locked", f"no award is logged at {event.table} that the meter has not been adjusted for"
        )
    _book(turn, award)


def back_out(turn: Turn, event: BackOut) -> None:
    """Put a booked award back on the meter.

    What began the next meter stays where it is: seed is taken back by an adjustment of its own, for its own cause.

    Raises:
        RefusedError: there is no such award any more, it is not booked, or the order is not in order.
    """
    if event.progressive not in {None, turn.state.settings.progressive}:
        raise RefusedError(
            "other_progressive",
            f"award {event.award} is {event.progressive}'s, and this is {turn.state.settings.progressive}: a meter that is no "
            "more is not adjusted",
        )
    award = next((each for each in turn.state.awards if each.id == event.award), None)
    if award is None:
        raise RefusedError(
            "unknown_award",
            f"award {event.award} is not among those at hand: make an adjustment that names it in its reason",
        )
    if award.state is AwardState.BACKED_OUT:
        raise RefusedError("already_backed_out", f"award {award.id} has been backed out already")
    if award.state is AwardState.LOCKED:
        raise RefusedError(
            "not_booked",
            f"award {award.id} is logged and the meter is not adjusted yet: turn the key at {award.table} to RUN, and "
            "then back it out",
        )
    refuse_unreasoned(event.reason)
    refuse_unapproved(turn, award.amount, event.who, event.approved_by)
    put = amount(award.amount)
    turn.post(
        Cause.BACK_OUT,
        (Line(Account.PAID, -put, award.rule), *turn.to_meter(put)),
        replace(_about(award), who=event.who, reason=event.reason, approved_by=event.approved_by),
    )
    after = replace(award, state=AwardState.BACKED_OUT)
    turn.put_award(after)
    turn.say(AwardBackedOut(after))


def forget(turn: Turn) -> None:
    """Keep the last awards, and those of the tables' last rounds, which are locked or could still be corrected."""
    last_rounds = {(each.table, each.round) for each in turn.state.rounds}
    oldest = turn.state.next_award - KEPT
    kept = tuple(
        award
        for award in turn.state.awards
        if award.id >= oldest or (award.table, award.round) in last_rounds
    )
    if len(kept) < len(turn.state.awards):
        turn.change(awards=kept)


def _refuse_seats(event: LockAward, played: TableRound) -> None:
    if not event.seats:
        raise RefusedError(
            "no_hand_selected", "no hand is selected: press the hand button of each seat that won"
        )
    with_wager = {wager.seat for wager in played.wagers}
    without = sorted(set(event.seats) - with_wager)
    if without or len(set(event.seats)) < len(event.seats):
        raise RefusedError(
            "no_wager",
            f"of the seats {', '.join(map(str, event.seats))} each must have a progressive wager in round {event.round}, "
            f"once; with one are {', '.join(map(str, sorted(with_wager))) or 'none'}",
        )


def _refuse_again(turn: Turn, event: LockAward) -> None:
    """One table has one winning hand, so a round has one award at most."""
    for award in turn.state.awards:
        if (award.table, award.round) == (
            event.table,
            event.round,
        ) and award.state is not AwardState.BACKED_OUT:
            raise RefusedError(
                "already_confirmed",
                f"award {award.id} of round {award.round} is confirmed already, {written(award.amount)} for "
                f"{award.rule}: if it is wrong, have it backed out at the Game Manager first",
            )


def _refuse_unpayable(turn: Turn, award: Award) -> None:
    """An award that the meter does not hold: whoever won it is to be paid in full, so the house adds to the meter."""
    held = whole(turn.state.available + turn.state.ledger.overflow)
    if not award.amount:
        raise RefusedError(
            "meter_dry", "the meter holds nothing to pay: add to it by a manual adjustment first"
        )
    if award.amount > held:
        raise RefusedError(
            "meter_dry",
            f"the meter holds {written(held)} and the award is {written(award.amount)}: add at least "
            f"{written(award.amount - held)} to it by a manual adjustment first",
        )


def _refuse_card(turn: Turn, award: Award) -> None:
    settings = turn.state.settings
    if settings.procedure == "aquarius":
        return
    if award.card is None:
        raise RefusedError(
            "no_card", "an award is completed by a card: swipe a Supervisor or an Executive card"
        )
    executive = settings.executive_from is not None and award.amount >= settings.executive_from
    if executive and award.card != "executive":
        raise RefusedError(
            "executive_needed", f"an award of {written(award.amount)} needs an Executive card: swipe one"
        )


def _shares(
    turn: Turn, rule: Rule, event: LockAward, played: TableRound, available: int
) -> tuple[Share, ...]:
    """Who gets what: of a percentage all who share it, of a fixed award each winner by the own wager."""
    settings = turn.state.settings
    staked = {wager.seat: wager.amount for wager in played.wagers}
    if not rule.pay.meter:
        order = order_of_paying(event.seats, settings.seat_one)
        return tuple(Share(seat, settings.fixed_award(rule, staked[seat])) for seat in order)
    sharing = event.seats if settings.split == "winners" else tuple(staked)
    return split(share_of_meter(available, rule.pay.meter), sharing, settings.seat_one)


def _begin_next_meter(turn: Turn, award: Award) -> None:
    about = _about(award)
    seed, reserve = amount(turn.state.settings.seed), turn.state.ledger.reserve
    turn.post(Cause.SEED, (Line(Account.SEED_MONEY, -seed), *turn.to_meter(seed)), about)
    turn.post(Cause.RESERVE_ADDED, (Line(Account.RESERVE, -reserve), *turn.to_meter(reserve)), about)
    fits, _ = turn.to_meter(turn.state.ledger.overflow)
    turn.post(Cause.OVERFLOW_ADDED, (Line(Account.OVERFLOW, -fits.amount), fits), about)


def _book(turn: Turn, award: Award) -> None:
    paid = amount(award.amount)
    turn.post(
        Cause.AWARD, (Line(Account.PRIMARY, -paid), Line(Account.PAID, paid, award.rule)), _about(award)
    )
    after = replace(award, state=AwardState.BOOKED)
    turn.put_award(after)
    turn.say(AwardBooked(after))
    forget(turn)


def _about(award: Award) -> Reference:
    return Reference(table=award.table, round=award.round, award=award.id, who=award.who)
