"""The people that an order for the meter needs if it confirms an award or reopens a game.

The procedure at a table and the consoles already ask for these people. A linked table is another machine, however, so the books
ask again, at a table alone and at an authority.
"""

from typing import Any, Final

from punto.baccarat.currency import written
from punto.baccarat.progressive.events import DenyAward, LockAward, ReopenRound
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.progressive.settings import Settings

REOPENED_BY_TWO: Final = "a second person must approve each order to reopen a game"
KNOWN_AT_A_TABLE: Final = frozenset(
    {"needs_approval", "supervisor_needed", "no_key", "no_card", "not_confirmed"}
)
"""Codes of the refusals that a table makes itself, because they do not depend on the amount of the award."""


def by_one_person(order: Any) -> bool:
    """Whether an order that a second person can approve was approved by nobody, or only by the person who gave it."""
    return getattr(order, "approved_by", order) in {None, getattr(order, "who", None)}


def refuse_too_few(
    settings: Settings, currency: str, order: LockAward | DenyAward | ReopenRound, award: int = 0
) -> None:
    """Refuse an order that does not name the people that it needs; `award` is the award's amount in minor units.

    Raises:
        RefusedError: too few people, or the wrong ones, confirmed the award or approved the order.
    """
    if isinstance(order, ReopenRound):
        if order.by is not None and by_one_person(order.by):
            raise RefusedError("needs_approval", REOPENED_BY_TWO)
    elif order.confirmation.by == "dealer":
        rule = settings.tier(order.won.rule)
        if rule is None or len(order.won.seats) > settings.dealer_up_to(rule):
            raise RefusedError(
                "supervisor_needed",
                "the dealer alone must not confirm this award: a supervisor must confirm it",
            )
    elif settings.procedure == "aquarius":
        if order.confirmation.by != "key":
            raise RefusedError(
                "no_key", "an award is confirmed with the key: turn the key to JPH, then press J-POT"
            )
    else:
        _refuse_level(settings, currency, order, award)


def _refuse_level(settings: Settings, currency: str, order: LockAward | DenyAward, award: int) -> None:
    """Nexus Command, 7e: "a Supervisor or Executive card (depending on jackpot level) swipe is required"."""
    confirmation = order.confirmation
    if confirmation.by == "key" or confirmation.level is None:
        raise RefusedError(
            "no_card",
            "an award is completed by a card or a signature: swipe a Supervisor or an Executive card, or sign",
        )
    if confirmation.confirmed_by is None:
        raise RefusedError(
            "not_confirmed", "nobody has pressed CONFIRM: select the hands, then press CONFIRM"
        )
    if settings.executive_from is None or award < settings.executive_from:
        return
    if confirmation.level != "executive":
        raise RefusedError(
            "executive_needed",
            f"an award of {written(award, currency)} needs an executive: swipe an Executive card, or have an executive sign",
        )
    if confirmation.confirmed_by == confirmation.who:
        raise RefusedError(
            "second_person_needed",
            f"an award of {written(award, currency)} needs two people. {confirmation.who} pressed CONFIRM, so another executive "
            "must complete the award",
        )
