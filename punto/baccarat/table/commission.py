"""The seats' accounts of commission, at a table that collects it at the end of the shoe (`commission = "shoe_end"`).

At such a table the dealer pays the whole win and marks the commission at the seat with a lammer. The settlement is the same as
elsewhere: what changes hands at once is its net amount and what was marked, and collecting the account moves the rest. So over
a shoe, a seat has paid the same wherever the house collects it. Sheet 004 takes it "as each wager is settled", which is the default.

An account is never negative. If a correction takes back a commission that was collected already, the account gives as much as it
has, and the dealer pays the rest in chips. If it takes back one that was waived, the player never paid it, so it is owed again
before it is taken back, and the player returns the whole win.
"""

from collections.abc import Iterable
from typing import Literal

from punto.baccarat.currency import in_words
from punto.baccarat.table.effects import CommissionMoved
from punto.baccarat.table.order_kinds import CollectCommission, WaiveCommission
from punto.baccarat.table.state import CommissionEntry, CommissionOwed, TableState
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
        turn.change_history(waived=())
    marked = []
    for each in settlements:
        more = commission_of(game, each) - taken.get((each.seat, each.wager), 0)
        _owe_again(turn, each, -more - owed_by(turn.state, each.seat), number)
        more = max(more, -owed_by(turn.state, each.seat))
        if more:
            cause: Literal["earned", "corrected"] = "corrected" if taken else "earned"
            marked.append(_enter(turn, each.seat, cause, more, number, each.wager))
    turn.change_history(marked=tuple(marked))


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
    if isinstance(order, CollectCommission):
        _enter(turn, order.seat, "collected", -owed)
        return
    last, game = turn.state.history.last, turn.state.settings.game
    settled = () if last is None else last.settlements
    of_last = sum(commission_of(game, each) for each in settled if each.seat == order.seat)
    _change_waived(turn, order.seat, min(owed, of_last - _waived_of_last(turn.state, order.seat)))
    _enter(turn, order.seat, "waived", -owed)


def _owe_again(turn: Turn, settled: Settlement, short: int, number: int) -> None:
    """Owe a commission again that was waived, up to what the account is `short` of to give back."""
    again = min(short, _waived_of_last(turn.state, settled.seat))
    if again > 0:
        _change_waived(turn, settled.seat, -again)
        _enter(turn, settled.seat, "waived", again, number, settled.wager)


def _waived_of_last(state: TableState, seat: int) -> int:
    return _of(state.history.waived, seat)


def _change_waived(turn: Turn, seat: int, more: int) -> None:
    waived = turn.state.history.waived
    turn.change_history(waived=_with(waived, seat, _of(waived, seat) + more))


def owed_by(state: TableState, seat: int) -> int:
    """The commission that a seat owes, in minor units."""
    return _of(state.commissions, seat)


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
    turn.change(commissions=_with(turn.state.commissions, seat, owed))
    entry = CommissionEntry(seat, cause, amount, owed, number, wager)
    turn.emit(CommissionMoved(entry))
    return entry


def _of(amounts: Iterable[CommissionOwed], seat: int) -> int:
    return next((each.amount for each in amounts if each.seat == seat), 0)


def _with(amounts: Iterable[CommissionOwed], seat: int, amount: int) -> tuple[CommissionOwed, ...]:
    """These amounts, in the order of the seats, with another one of this seat."""
    others = [each for each in amounts if each.seat != seat]
    now = [*others, CommissionOwed(seat, amount)] if amount else others
    return tuple(sorted(now, key=lambda each: each.seat))
