"""One signature for each award, at a console of a table without a key switch or a card reader.

With a key switch "the supervisor shall insert the key and rotate it to JPH and then press J-pot", and "returning the supervisor
key to the Run position" adjusts the meter (sheet 000, Aquarius, 7e and 7f). With a card reader CONFIRM and the card are two
acts (Nexus Command, 7e). Without these devices the same person would sign three times, or twice, for one award.

A key that a person has turned to JPH is not turned back with J-POT, because the person who turns it back decides when the meter
is adjusted and the table is at play again (7f).
"""

from collections.abc import Collection
from typing import Any

from punto.baccarat.progressive.aquarius import Jpot, Key, TurnKey
from punto.baccarat.progressive.events import CardLevel
from punto.baccarat.progressive.game_events import NobodyWon
from punto.baccarat.progressive.nexus import Confirm, SignAward
from punto.baccarat.table.possible import ANYBODY, Trials
from punto.baccarat.table.state import TableState
from punto.baccarat.table.turn import RefusedError


def ways_to_give(
    state: TableState, order: Any, level: CardLevel, by_device: Collection[str]
) -> list[list[Any]]:
    """The inputs that an order can be given by: all that its signature covers in turn, if it covers more, or else the order alone.

    The table carries out the first of the two that it does not refuse. `level` is the signer's; `by_device` are the orders that a
    device of the table gives.
    """
    alone = [order]
    if state.progressive is None:
        return [alone]
    procedure = state.progressive.procedure
    if procedure.hand.dealer_confirms:
        return [alone]
    if (
        procedure.kind == "aquarius"
        and procedure.key is Key.RUN
        and isinstance(order, Jpot | NobodyWon)
        and "turn_key" not in by_device
    ):
        return [[TurnKey(Key.JPH, order.who), order, TurnKey(Key.RUN, order.who)], alone]
    if procedure.kind == "nexus" and isinstance(order, Confirm | NobodyWon) and "swipe_card" not in by_device:
        return [[order, SignAward(order.who, level)], alone]
    return [alone]


def refusals_at_a_desk(trials: Trials, by_device: Collection[str]) -> dict[str, RefusedError | None]:
    """The refusal of each order of the catalogue at a desk, which turns the key together with the key's order."""
    found = dict(trials.refusals)
    for order in (Jpot(ANYBODY), NobodyWon(ANYBODY, "?")):
        refused = found[order.kind]
        if refused is not None and refused.code == "key_in_run" and "turn_key" not in by_device:
            found[order.kind] = trials.verdict(TurnKey(Key.JPH, ANYBODY), order).refusal
    return found
