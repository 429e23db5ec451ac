"""Awards: locked, booked, backed out, and denied (nobody won).

Awards that the tray pays (sheet 000, 7a: "Other hands are paid from the tray or from the meter") take the
same steps as awards that the meter pays, but move no money in the meter's books.

An award's amount is fixed when it is locked, from the meter less the amounts already locked. The record keeps
the order of the locks, so if two tables win at the same moment, one award follows the other.

The next meter begins when a 100% award is locked, not when it is booked. It holds the rest of the won meter
(less than a cent), the seed, all of the reserve (sheet 000: "added on to any configured seed amount after a
100% award is given") and as much of the overflow as the display limit allows. So wagers between lock and
booking feed the next meter, and an award of another table at that moment is taken from a meter that has its
seed.

If an award is backed out and the hand is confirmed again, with other seats or another tier, the hand still wins the meter that it
found: neither the seed of the next meter nor wagers since then are paid to it. Until then the amount is on the meter, so an award of
another table is taken from it too.

The overflow returns to the meter only at a 100% award, and for a fixed award that the meter cannot pay without it. The
sheets do not cover this; if the overflow filled the gap after each smaller award, players would not see that
award "deducted from the meter" (sheet 001, 7b).
"""

from dataclasses import replace
from typing import Final, get_args

from punto.baccarat.currency import written
from punto.baccarat.progressive.effects import (
    AwardBackedOut,
    AwardBooked,
    AwardLocked,
    NobodyWonLogged,
    TableForgotten,
)
from punto.baccarat.progressive.events import (
    BackOut,
    BookAward,
    DenyAward,
    ForgetTable,
    LockAward,
    SeatWager,
)
from punto.baccarat.progressive.ledger import Account, Cause, Line, Reference
from punto.baccarat.progressive.money import amount, share_of_meter, whole
from punto.baccarat.progressive.orders import refuse_not_linked, refuse_unreasoned, table_round
from punto.baccarat.progressive.people import refuse_too_few
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.progressive.settings import Payer
from punto.baccarat.progressive.shares import Share, order_of_paying, split
from punto.baccarat.progressive.state import Award, AwardState, TableRound
from punto.baccarat.progressive.turn import Turn
from punto.baccarat.wagers.definition import Rule

KEPT: Final = 25
"""Number of completed awards kept per payer for the Game Manager; the record keeps all of them."""


def lock(turn: Turn, event: LockAward) -> None:
    """Fix an award. With Nexus this step also books it (sheet 000, Nexus Command, 7e).

    Raises:
        RefusedError: the round is not open, the tier wins no award, a seat has no wager, the award was
            confirmed before, the people who confirmed may not, or the meter does not hold the amount.
    """
    award = _claimed(turn, event)
    _refuse_again(turn, event)
    if award.payer == "meter":
        _refuse_unpayable(turn, award)
    refuse_too_few(turn.state.settings, turn.currency, event, award.amount)
    missing = amount(award.amount) - turn.state.available
    if award.payer == "meter" and missing > 0:
        # The amount that the display limit kept off the meter also belongs to the players. Before the next
        # meter it is used only here.
        back = (Line(Account.OVERFLOW, -missing), Line(Account.PRIMARY, missing))
        turn.post(Cause.OVERFLOW_ADDED, back, _about(award))
    turn.change(awards=(*turn.state.awards, award), next_award=award.id + 1)
    turn.emit(AwardLocked(award))
    if award.begins:
        _begin_next_meter(turn, award)
    elif award.whole_meter:
        _add_overflow(turn, award)  # a back-out may have put a part of the next meter there
    if turn.state.settings.procedure == "nexus":
        _book(turn, award)


def deny(turn: Turn, event: DenyAward) -> None:
    """Record that nobody won an award, with the confirmation that the award would need. It moves no money.

    Raises:
        RefusedError: the round is not open, the tier wins no award, or the people who confirmed may not.
    """
    award = _claimed(turn, event)
    refuse_too_few(turn.state.settings, turn.currency, event, award.amount)
    turn.emit(
        NobodyWonLogged(
            table=award.table,
            round=award.round,
            rule=award.rule,
            seats=award.seats,
            amount=award.amount,
            payer=award.payer,
            reason=event.reason,
            who=award.who,
            by=award.by,
            level=award.level,
            confirmed_by=award.confirmed_by,
            approved_by=event.approved_by,
        )
    )


def book(turn: Turn, event: BookAward) -> None:
    """Book the award that is locked at a table, and take the meter's part off the meter.

    Raises:
        RefusedError: no award is locked.
    """
    award = next((each for each in turn.state.locked if each.table == event.table), None)
    last = turn.state.round_at(event.table)
    if award is None and last is not None and last.lost:
        return
    if award is None:
        raise RefusedError("nothing_locked", f"no logged award at {event.table} waits to be booked")
    _book(turn, award)


def back_out(turn: Turn, event: BackOut) -> None:
    """Reverse a booked award; the amount that the meter paid is put back on it.

    The amount that began the next meter stays. If the hand is confirmed again, it wins the meter that it found, and the next meter
    does not begin a second time. If it did not win the whole meter after all, recover the seed by a separate adjustment.

    Raises:
        RefusedError: the award does not exist any more, is not booked, or the order is invalid.
    """
    if event.progressive not in {None, turn.state.settings.progressive}:
        raise RefusedError(
            "other_progressive",
            f"award {event.award} belongs to the progressive {event.progressive}, but this table has "
            f"{turn.state.settings.progressive}: the meter of another progressive cannot be adjusted here",
        )
    award = next((each for each in turn.state.awards if each.id == event.award), None)
    if award is None and not 1 <= event.award < turn.state.next_award:
        raise RefusedError("unknown_award", f"there is no award {event.award}: check the number of the award")
    if award is None:
        raise RefusedError(
            "unknown_award",
            f"award {event.award} is too old to be backed out: make a manual adjustment of the meter, and write the award's number "
            "into the reason of the adjustment",
        )
    if award.state is AwardState.BACKED_OUT:
        raise RefusedError("already_backed_out", f"award {award.id} has been backed out already")
    if award.state is AwardState.LOCKED:
        raise RefusedError(
            "not_booked",
            f"award {award.id} is logged, but the meter is not adjusted yet: turn the key at {award.table} to "
            "RUN, then back out the award",
        )
    refuse_unreasoned(event.reason)
    put = amount(award.amount)
    if award.payer == "meter":
        turn.post(
            Cause.BACK_OUT,
            (Line(Account.PAID, -put, award.rule), *turn.to_meter(put)),
            replace(_about(award), who=event.who, reason=event.reason, approved_by=event.approved_by),
        )
    after = replace(award, state=AwardState.BACKED_OUT, next_award=turn.state.next_award)
    turn.put_award(after)
    turn.emit(AwardBackedOut(after, event.who, event.reason, event.approved_by))


def forget_table(turn: Turn, event: ForgetTable) -> None:
    """End what a table whose record was lost or restored has left open at the meter.

    An award that is logged is booked, because it was confirmed and its amount is fixed; it can be backed out. An award that nobody
    has confirmed is not in these books: if the players won it, its amount is taken off the meter by a manual adjustment.

    Raises:
        RefusedError: the table is not linked, or the order has no reason.
    """
    refuse_not_linked(turn, event.table)
    refuse_unreasoned(event.reason)
    for award in turn.state.locked:
        if award.table == event.table:
            _book(turn, award)
    # Without a round here, the authority's own record may be the older one: the table may be in a game all the same.
    last = turn.state.round_at(event.table) or TableRound(event.table, 0, ())
    turn.change(rounds=turn.rounds_with(replace(last, over=True, lost=True)))
    turn.emit(TableForgotten(event.table, last.round, event.reason, event.who, event.approved_by))


def forget(turn: Turn) -> None:
    """Keep the last awards of either payer, and those of the tables' last rounds.

    The latter are locked or could still be corrected.
    """
    awards = turn.state.awards
    # Frequent awards from the tray must not displace the rare ones of the meter, which could then not be
    # backed out.
    last = {
        award.id
        for payer in get_args(Payer)
        for award in [each for each in awards if each.payer == payer][-KEPT:]
    }
    last |= {award.id for each in turn.state.rounds for award in turn.state.awards_of(each.table, each.round)}
    # If a backed-out award is confirmed again, the next meter begins with it unless another hand has won the whole meter since.
    since = min((award.next_award for award in awards if award.id in last and award.next_award), default=None)
    if since is not None:
        last |= {award.id for award in awards if award.whole_meter and award.id >= since}
    kept = tuple(award for award in awards if award.id in last)
    if len(kept) < len(awards):
        turn.change(awards=kept)


def _claimed(turn: Turn, event: LockAward | DenyAward) -> Award:
    """The award as a lock would fix it now."""
    played = _lost_round(turn, event) or table_round(turn, event.table, event.round)
    if played.over and not played.lost:
        raise RefusedError(
            "round_over",
            f"the game of round {event.round} at {event.table} is over: to confirm an award of this round, first correct the cards "
            "of the round",
        )
    won, confirmation, settings = event.won, event.confirmation, turn.state.settings
    before = _backed_out(turn, event.table, event.round)
    rule = settings.tier(won.rule)
    if rule is None:
        raise RefusedError("no_award", f"{won.rule} is not an award of {settings.wager.title}")
    _refuse_seats(won.seats, event.round, played)
    available = turn.state.available
    if before:  # the hand wins the meter that it found, and not what came onto it since, such as the seed of the next one
        available = min(available, amount(before[0].meter))
    shares = _shares(turn, rule, won.seats, played, available)
    whole_meter = rule.pay.meter == 1
    return Award(
        id=turn.state.next_award,
        rule=rule.name,
        table=event.table,
        round=event.round,
        meter=whole(available),
        amount=sum(share.amount for share in shares),
        seats=won.seats,
        shares=shares,
        whole_meter=whole_meter,
        begins=whole_meter and not any(_has_begun(turn, each) for each in before),
        payer=settings.payer(rule),
        who=confirmation.who,
        by=confirmation.by,
        level=confirmation.level,
        card=confirmation.level if confirmation.by == "card" else None,
        confirmed_by=confirmation.confirmed_by,
        side=won.side,
        player=won.player,
        banker=won.banker,
    )


def _lost_round(turn: Turn, event: LockAward | DenyAward) -> TableRound | None:
    """The round of a table that came back in another one than its last here: nobody may be paid for it, but it can end.

    These books do not have its wagers: their seats are those of the order, and a fixed award of an unknown wager counts as 0.
    """
    last = turn.state.round_at(event.table)
    if last is None or not last.lost or last.round == event.round or isinstance(event, LockAward):
        return None
    refuse_not_linked(turn, event.table)
    return TableRound(event.table, event.round, tuple(SeatWager(seat, 0) for seat in event.won.seats))


def _backed_out(turn: Turn, table: str, round_: int) -> list[Award]:
    """The awards of the meter that this hand won before, and that were backed out, in order."""
    return [
        each
        for each in turn.state.awards_of(table, round_)
        if (each.payer, each.state) == ("meter", AwardState.BACKED_OUT)
    ]


def _has_begun(turn: Turn, backed_out: Award) -> bool:
    """Whether the next meter is there beside the amount that was put back: it is, unless another hand has won both since."""
    since = backed_out.next_award
    return backed_out.whole_meter and not any(
        each.whole_meter and each.id >= since and each.state is not AwardState.BACKED_OUT
        for each in turn.state.awards
    )


def _refuse_seats(seats: tuple[int, ...], round_: int, played: TableRound) -> None:
    if not seats:
        raise RefusedError(
            "no_hand_selected", "no hand is selected: press the hand button of each seat that won"
        )
    with_wager = {wager.seat for wager in played.wagers}
    without = sorted(set(seats) - with_wager)
    if without or len(set(seats)) < len(seats):
        raise RefusedError(
            "no_wager",
            f"each of the seats {', '.join(map(str, seats))} must have one progressive wager in round {round_}; "
            f"seats with a wager: {', '.join(map(str, sorted(with_wager))) or 'none'}",
        )


def _refuse_again(turn: Turn, event: LockAward) -> None:
    """Refuse a second award of a round: one table has one winning hand."""
    for award in turn.state.awards_of(event.table, event.round):
        if award.state is not AwardState.BACKED_OUT:
            raise RefusedError(
                "already_confirmed",
                f"award {award.id} of round {award.round} ({written(award.amount, turn.currency)} for {award.rule}) is already "
                "confirmed: if this award is wrong, have it backed out at the Game Manager, then confirm the correct award",
            )


def _refuse_unpayable(turn: Turn, award: Award) -> None:
    """Refuse an award that the meter does not hold: winners are paid in full, so the house must first add to it."""
    held = whole(turn.state.available + turn.state.ledger.overflow)
    if not award.amount:
        raise RefusedError(
            "meter_dry",
            "the meter has no money for this award: add money to the meter by a manual adjustment, then repeat the order",
        )
    if award.amount > held:
        raise RefusedError(
            "meter_dry",
            f"the award is {written(award.amount, turn.currency)}, but the meter has only {written(held, turn.currency)}: add at least "
            f"{written(award.amount - held, turn.currency)} to the meter by a manual adjustment, then repeat the order",
        )


def _shares(
    turn: Turn, rule: Rule, seats: tuple[int, ...], played: TableRound, available: int
) -> tuple[Share, ...]:
    """The shares: a percentage is split among the sharing seats; a fixed award pays each winner by their wager."""
    settings = turn.state.settings
    staked = {wager.seat: wager.amount for wager in played.wagers}
    if not rule.pay.meter:
        order = order_of_paying(seats, settings.seat_one)
        return tuple(Share(seat, settings.fixed_award(rule, staked[seat])) for seat in order)
    sharing = seats if settings.split == "winners" else tuple(staked)
    return split(share_of_meter(available, rule.pay.meter), sharing, settings.seat_one)


def _begin_next_meter(turn: Turn, award: Award) -> None:
    about = _about(award)
    seed, reserve = amount(turn.state.settings.seed), turn.state.ledger.reserve
    turn.post(Cause.SEED, (Line(Account.SEED_MONEY, -seed), *turn.to_meter(seed)), about)
    turn.post(Cause.RESERVE_ADDED, (Line(Account.RESERVE, -reserve), *turn.to_meter(reserve)), about)
    _add_overflow(turn, award)


def _add_overflow(turn: Turn, award: Award) -> None:
    fits, _ = turn.to_meter(turn.state.ledger.overflow)
    turn.post(Cause.OVERFLOW_ADDED, (Line(Account.OVERFLOW, -fits.amount), fits), _about(award))


def _book(turn: Turn, award: Award) -> None:
    if award.payer == "meter":
        paid = amount(award.amount)
        turn.post(
            Cause.AWARD, (Line(Account.PRIMARY, -paid), Line(Account.PAID, paid, award.rule)), _about(award)
        )
    after = replace(award, state=AwardState.BOOKED)
    turn.put_award(after)
    turn.emit(AwardBooked(after))
    forget(turn)


def _about(award: Award) -> Reference:
    return Reference(table=award.table, round=award.round, award=award.id, who=award.who)
