"""The seats' accounts of commission, at a table that collects it at the end of the shoe (`commission = "shoe_end"`).

At such a table the dealer pays the whole win and marks the commission at the seat with a lammer. The settlement is the same as
elsewhere: what changes hands at once is its net amount and what was marked, and collecting the account moves the rest. So over
a shoe, a seat has paid the same wherever the house collects it. Sheet 004 takes it "as each wager is settled", which is the default.

An account is never negative. If a correction takes back a commission that was collected already, the account gives as much as it
has, and the dealer pays the rest in chips. If it takes back one that was waived, the player never paid it, so it is owed again
before it is taken back, and the player returns the whole win.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from punto.baccarat.currency import in_words
from punto.baccarat.table.effects import CommissionMoved
from punto.baccarat.table.order_kinds import CollectCommission, WaiveCommission
from punto.baccarat.table.state import CommissionEntry, CommissionOfWager, CommissionOwed, TableState
from punto.baccarat.table.turn import RefusedError, Turn
from punto.baccarat.wagers.settlement import Settlement, commission_of


def mark(
    turn: Turn, number: int, settlements: Iterable[Settlement], *, before: Iterable[Settlement] = ()
) -> None:
    """Mark the commission of a round's settlements; if it was settled otherwise `before`, the differences.

    `number` is that of the round, or of the entry that corrects it.
    """
    if turn.state.settings.commission == "each_win":
        return
    game = turn.state.settings.game
    taken = {(each.seat, each.wager): commission_of(game, each) for each in before}
    if not before:
        turn.change_history(commissions=())
    marked: list[CommissionEntry] = []
    for each in settlements:
        more = commission_of(game, each) - taken.get((each.seat, each.wager), 0)
        marked += _owe_again(turn, each, more, number)
        more = max(more, -owed_by(turn.state, each.seat))
        if more:
            cause: Literal["earned", "corrected"] = "corrected" if taken else "earned"
            marked.append(_enter(turn, each.seat, cause, more, number, each.wager))
    turn.change_history(marked=tuple(marked))


def _owe_again(turn: Turn, settled: Settlement, more: int, number: int) -> list[CommissionEntry]:
    """Owe again what was waived of a commission that is now less by more than what is owed of it."""
    last = turn.state.history.commissions
    of = next(
        (each for each in last if (each.seat, each.wager) == (settled.seat, settled.wager)),
        CommissionOfWager(settled.seat, settled.wager),
    )
    again = min(of.waived, max(0, -more - of.owed))
    now = replace(of, owed=max(0, of.owed + more), waived=of.waived - again)
    others = tuple(each for each in last if each != of)
    turn.change_history(commissions=(*others, now) if now.owed or now.waived else others)
    return [_enter(turn, of.seat, "waived", again, number, of.wager)] if again else []


def settle_account(turn: Turn, order: CollectCommission | WaiveCommission) -> None:
    """Collect or waive all that a seat owes.

    Raises:
        RefusedError: no_commission, or other_amount if it is not all.
    """
    owed, currency = owed_by(turn.state, order.seat), turn.state.settings.currency
    if not owed:
        raise RefusedError(
            "no_commission", f"seat {order.seat} owes no commission, so there is nothing to collect or waive"
        )
    if order.amount != owed:
        raise RefusedError(
            "other_amount",
            f"seat {order.seat} owes a commission of {in_words(owed, currency)}, but the order is for "
            f"{in_words(order.amount, currency)}: give the order for the whole commission",
        )
    waived = isinstance(order, WaiveCommission)
    left, cleared = owed if waived else 0, []
    for each in turn.state.history.commissions:
        of_seat = each.seat == order.seat
        # An account that gave back what was collected of one wager has less than is owed of the others.
        part = min(each.owed, left) if of_seat else 0
        left -= part
        cleared.append(replace(each, owed=0, waived=each.waived + part) if of_seat else each)
    turn.change_history(commissions=tuple(cleared))
    _enter(turn, order.seat, "waived" if waived else "collected", -owed)


def owed_by(state: TableState, seat: int) -> int:
    """The commission that a seat owes, in minor units."""
    return next((each.amount for each in state.commissions if each.seat == seat), 0)


def refuse_while_owed(state: TableState, first: str = "") -> None:
    """Refuse what ends the shoe while a seat owes commission, with what to do `first`; raises RefusedError (commission_owed)."""
    if state.commissions:
        currency = state.settings.currency
        seats = ", ".join(f"seat {each.seat} {in_words(each.amount, currency)}" for each in state.commissions)
        raise RefusedError(
            "commission_owed",
            f"commission is owed by {seats}: {first}collect it at each seat, or let a supervisor waive it, and then try again",
        )


def _enter(
    turn: Turn,
    seat: int,
    cause: Literal["earned", "corrected", "collected", "waived"],
    amount: int,
    number: int | None = None,
    wager: str | None = None,
) -> CommissionEntry:
    owed = owed_by(turn.state, seat) + amount
    others = [each for each in turn.state.commissions if each.seat != seat]
    standing = [*others, CommissionOwed(seat, owed)] if owed else others
    turn.change(commissions=tuple(sorted(standing, key=lambda each: each.seat)))
    entry = CommissionEntry(seat, cause, amount, owed, number, wager)
    turn.emit(CommissionMoved(entry))
    return entry
