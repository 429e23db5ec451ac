"""The table's orders to the shoe: a pure function of the table's state, carried out by the shoe's driver."""

from dataclasses import dataclass
from typing import Literal

from punto.baccarat.coup import Coup, Winner
from punto.baccarat.table.state import Phase, TableState


@dataclass(frozen=True, slots=True)
class Lamps:
    """The lamps on the shoe: the result, and the dealer's next action.

    `next` is the hand that receives the next card; `burn` asks the dealer for a shoe change: load the new
    cards, turn the first and burn; `none` calls for no card.
    """

    player: bool = False
    banker: bool = False
    tie: bool = False
    next: Literal["none", "player", "banker", "burn"] = "none"


@dataclass(frozen=True, slots=True)
class ShoeOrders:
    """The state that the driver must bring the shoe to and keep it in.

    `accept` is the serial number of the shoe that may deal here (None: no shoe, or the shoe gave too many cards) and `log` its run of record
    numbers (None: the one it introduces itself with). `taken` is the last record that the table has taken; it
    advances with every record, and by decision when a supervisor accepts another shoe or memory.
    """

    accept: str | None = None
    log: int | None = None
    taken: int = 0
    locked: bool = True
    lamps: Lamps = Lamps()


def shoe_orders(state: TableState) -> ShoeOrders:
    """The orders to the shoe for this state of the table."""
    return ShoeOrders(
        accept=None if state.overfull else state.link.serial,
        log=state.link.log,
        taken=state.link.taken,
        locked=state.waiting.for_person or not _card_wanted(state),
        lamps=_lamps(state),
    )


def _card_wanted(state: TableState) -> bool:
    if state.settings.cards == "keyed":
        return False
    if state.phase is Phase.BETTING:
        return state.settings.betting_closes == "first_card" and not state.award_waits
    if state.phase is Phase.SHOE_CHANGE:
        return state.shoe.burn_left != 0
    return state.phase is Phase.DEALING


def _lamps(state: TableState) -> Lamps:
    last = state.history.last
    shown = last is not None and last.shoe == state.shoe.number and state.round.coup is None
    winner = last.winner if last is not None and shown else None
    return Lamps(
        player=winner is Winner.PLAYER,
        banker=winner is Winner.BANKER,
        tie=winner is Winner.TIE,
        next=_next(state),
    )


def _next(state: TableState) -> Literal["none", "player", "banker", "burn"]:
    # The prompt stays on `burn` while a person resolves a stop: a change to `burn` means that new cards are
    # needed.
    if state.phase is Phase.SHOE_CHANGE:
        return "burn"
    if state.waiting.for_person or not _card_wanted(state):
        return "none"
    coup = state.round.coup or Coup(state.shoe.carried)
    return coup.side_of(len(coup.cards)).value
