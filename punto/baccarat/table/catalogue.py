"""The catalogue of orders: each order's meaning, the roles that may give it, and its name for people.

An order comes through many doors: the consoles' API and its OpenAPI document, the local socket, `punto operator` and
its help, the keypad's map. It is shown in many places: the consoles' buttons, dialogs and labels, the reports, the
table of roles in docs/reference/roles.md. All of them read this catalogue, so each order is defined once. If a door had
a list of its own, it could let an order through that another door refuses.

Three questions about an order are answered in three places:

- *What is it, and who may give it?* Its `Definition` says so. The table's own orders are defined beside their classes in
  `order_kinds`, and the progressive's orders here, because their classes do not depend on a table.
- *Is it legal now?* Only the table machine decides this, by `TRANSITIONS` and the order's handler. A list of conditions
  for the consoles would repeat what the handlers decide, so there is none: `possible` tries each order on a copy of the
  state, and the consoles offer those that succeed.
- *Must a second person approve it?* `approval` decides this from the order and the state, and the table machine
  enforces it, so no door can forget to ask.
"""

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any, Final, get_type_hints

from punto.baccarat.progressive import aquarius, events, game_events, nexus
from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.baccarat.table.definition import (
    DEALERS,
    DEFINED,
    EXECUTIVES,
    FIELDS,
    SUPERVISORS,
    Definition,
    Role,
    field_of,
    order,
)
from punto.baccarat.table.state import TableState

__all__ = ["CATALOGUE", "CHANGEABLE", "event_of", "orders_of"]

CHANGEABLE: Final = (
    *("seed", "contribution", "reserve", "display_limit", "split", "fixed_awards", "executive_from"),
    *("approval_above", "seat_one", "one_side_only", "supervisor_from"),
)
"""The settings of a progressive that can change while it is in service."""

_SETTING_TYPES: Final = get_type_hints(ProgressiveSettings)


def _confirms(state: TableState) -> bool:
    """Whether a dealer may confirm the game's award without a supervisor."""
    return state.progressive is not None and state.progressive.procedure.hand.dealer_confirms


# --- the progressive's game (sheet 000, dealing procedures)

order(
    label="Progressive wager",
    sentence="report a progressive wager at this seat, on a table without sensors",
    roles=DEALERS,
    group="game",
)(game_events.WagerPlaced)
order(
    label="Progressive wager",
    sentence="report that the progressive wager was taken back before START GAME",
    roles=DEALERS,
    group="game",
)(game_events.WagerLifted)
order(
    label="START GAME",
    sentence="start the progressive's game: add the meter's share of this round's progressive wagers to the meter",
    roles=DEALERS,
    group="game",
    twice=True,
    key=True,
    takes={"round": field_of("round", int, required=True)},  # the sensors latch the seats, a person does not
)(game_events.StartGame)
order(
    label="Hand button",
    sentence="mark this seat as the winner of an award; the same order again removes the mark",
    roles=DEALERS,
    group="game",
)(game_events.HandButton)
order(
    label="Turn the key",
    sentence="turn the supervisor's key to JPH or to RUN (Aquarius)",
    roles=SUPERVISORS,
    group="award",
    signed=True,
)(aquarius.TurnKey)
order(
    label="J-POT",
    sentence="log the award of the selected hands (Aquarius)",
    roles=SUPERVISORS,
    group="award",
    dealers=_confirms,
    signed=True,
    key=True,
)(aquarius.Jpot)
order(
    label="GAME OVER",
    sentence="end the progressive's game (Aquarius)",
    roles=DEALERS,
    group="game",
    twice=True,
    key=True,
)(aquarius.GameOver)
order(
    label="CONFIRM",
    sentence="confirm the award of the selected hands (Nexus Command)",
    roles=SUPERVISORS,
    group="award",
    dealers=_confirms,
    signed=True,
)(nexus.Confirm)
order(
    label="Sign the award",
    sentence="complete the confirmed award by a signature, if no card is swiped (Nexus Command)",
    roles=SUPERVISORS,
    group="award",
    signed=True,
    takes={},  # the level is that of the account
)(nexus.SignAward)
order(
    label="NOBODY WON",
    sentence="confirm that no seat won the award that this hand could have won",
    roles=SUPERVISORS,
    group="award",
    dealers=_confirms,
    signed=True,
    usual=("No seat wagered on the hand that won", "Seen on surveillance"),
)(game_events.NobodyWon)
order(
    label="Reopen the game",
    sentence="reopen the last game after it ended with NOBODY WON",
    roles=SUPERVISORS,
    group="award",
    signed=True,
    usual=("Seen on surveillance", "Wrong seats confirmed"),
)(game_events.ReopenGame)
order(
    label="Swipe card",
    sentence="complete the confirmed award by a card swipe (Nexus Command)",
    roles=SUPERVISORS,
    group="award",
    seen=True,
)(nexus.SwipeCard)
order(
    label="END GAME",
    sentence="end the progressive's game (Nexus Command)",
    roles=DEALERS,
    group="game",
    twice=True,
)(nexus.EndGame)
# --- the meter's books

order(
    label="Open the meter",
    sentence="put the meter into service with its seed (its first amount)",
    roles=EXECUTIVES,
    group="meter",
)(events.OpenMeter)
order(
    label="Adjust the meter",
    sentence="add an amount to the meter (cause increase), or take an amount off (malfunction, over_limit, "
    "recovery_of_seed)",
    roles=SUPERVISORS,
    group="meter",
)(events.Adjust)
order(
    label="Back out the award",
    sentence="put the amount of a booked award back on the meter",
    roles=SUPERVISORS,
    group="meter",
    usual=("Wrong seats confirmed", "Wrong hand confirmed", "Confirmed twice"),
)(events.BackOut)
order(
    label="Change the settings",
    sentence="change settings of the progressive between two rounds",
    roles=EXECUTIVES,
    group="meter",
    takes={
        "reason": FIELDS["reason"],
        **{name: field_of(name, _SETTING_TYPES[name], required=False) for name in CHANGEABLE},
    },
)(events.ChangeSettings)
order(
    label="Retire the progressive",
    sentence="retire the progressive permanently, and take the money off its meter",
    roles=EXECUTIVES,
    group="meter",
    usual=("The game is taken off the floor", "Another progressive takes its place"),
)(events.Retire)
order(
    label="Begin again with a table",
    sentence="end the open game of a linked table whose record was lost or restored, and serve its next request",
    roles=SUPERVISORS,
    group="meter",
    usual=("The record was lost", "The record was restored from a backup"),
)(events.ForgetTable)
order(
    label="Enter the coins counted",
    sentence="enter the total of a gaming day's progressive wagers, as it was counted",
    roles=SUPERVISORS,
    group="meter",
)(events.CountCoins)

CATALOGUE: Final[Mapping[str, Definition]] = DEFINED
"""Order -> its definition. The order of the definitions is the order on consoles and in help."""


def orders_of(roles: Collection[Role], state: TableState | None = None) -> frozenset[str]:
    """The kinds of orders that a person with these roles may give, at a table in this state or at any table."""
    return frozenset(
        kind
        for kind, each in CATALOGUE.items()
        if not each.roles.isdisjoint(roles)
        or (Role.DEALER in roles and state is not None and each.dealers is not None and each.dealers(state))
    )


def event_of(kind: str, values: Mapping[str, Any], who: str) -> Any:
    """The order of this kind with these fields and a person's name, as the table takes it."""
    event = CATALOGUE[kind].event
    own = {each.name for each in fields(event)}
    return event(**values, **({"who": who} if "who" in own else {}))
