"""The orders that are possible now, found by trying them on the table machine, which is pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache, cached_property, partial
from itertools import product
from typing import Any, Final, NamedTuple

from punto.baccarat.cards import RANKS, SUITS, Card
from punto.baccarat.progressive.aquarius import Key, TurnKey
from punto.baccarat.progressive.events import ChangeSettings, CountCoins
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.nexus import SignAward
from punto.baccarat.progressive.people import by_one_person
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.definition import Definition
from punto.baccarat.table.effects import Effect
from punto.baccarat.table.order_kinds import (
    CollectCommission,
    CorrectCard,
    CorrectRound,
    WaiveCommission,
)
from punto.baccarat.table.state import CommissionOwed, TableState
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError

ANYBODY: Final = "anybody"
"""Name of the person who gives an order that is only tried."""
SOMEBODY_ELSE: Final = "somebody else"
"""Name of the second person who approves such an order."""

_WHATEVER_IT_SAYS: Final = frozenset({"not_now", "award_open"})
"""Refusals that concern the table's current activity: other field values would not help."""


class Verdict(NamedTuple):
    """The table's answer to events: the state after them and their effects, or the refusal of the first that is refused."""

    state: TableState
    effects: Sequence[Effect] = ()
    refusal: RefusedError | None = None


def verdict(state: TableState, *events: Any) -> Verdict:
    """What the table would answer to these events now, one after the other, as if a second person had approved them."""
    table = Table(state)
    try:
        effects = [effect for event in events for effect in table.handle(_approved(event))]
    except RefusedError as error:
        return Verdict(state, refusal=error)
    return Verdict(table.state, effects)


def _approved(event: Any) -> Any:
    return replace(event, approved_by=SOMEBODY_ELSE) if by_one_person(event) else event


def refusal(state: TableState, event: Any) -> RefusedError | None:
    """The reason why the table would refuse this event now; None if it would not."""
    return verdict(state, event).refusal


class Trials:
    """What the table would answer in one state. Each answer is found once, however many people look at the table."""

    def __init__(self, state: TableState) -> None:
        self.state = state
        self.verdict: Callable[..., Verdict] = cache(partial(verdict, state))

    @cached_property
    def refusals(self) -> dict[str, RefusedError | None]:
        """Each order of the catalogue, with the reason why it cannot be given now; None if a permitted person can give it.

        If an order's fields allow several values, one possible combination is enough; if all are refused, the
        first refusal counts.
        """
        return {kind: _refusal(self.state, definition) for kind, definition in CATALOGUE.items()}


def _refusal(state: TableState, definition: Definition) -> RefusedError | None:
    first = None
    tries = _TRIES.get(definition.event) or _combinations(definition.kind)
    for event in tries(state):
        refused = refusal(state, event)
        if refused is None or refused.code in _WHATEVER_IT_SAYS:
            return refused
        first = first or refused
    return first or RefusedError("not_now", f"{definition.label}: this order is not possible now")


@cache
def _combinations(kind: str) -> Callable[[TableState], Iterator[Any]]:
    """An order of this kind for each combination of possible values of its required fields at a table."""
    definition = CATALOGUE[kind]
    event = definition.event
    own = {each.name for each in fields(event)}
    needed = [name for name, each in definition.fields.items() if each.required and name in own]
    people = {"who": ANYBODY} if "who" in own else {}
    if unknown := [name for name in needed if name not in _VALUES]:
        raise TypeError(f"{event.__name__}: add a possible value of {', '.join(unknown)} to _VALUES")

    def combinations(state: TableState) -> Iterator[Any]:
        for values in product(*(_VALUES[name](state) for name in needed)):
            yield event(**dict(zip(needed, values, strict=True)), **people)

    return combinations


def _unspent(state: TableState) -> list[Card]:
    """A card that the shoe may still hold."""
    cards = (Card(rank + suit) for rank in RANKS for suit in SUITS)
    return [card for card in cards if state.shoe.drawn.count(card) < state.settings.game.decks][:1]


def _rounds(state: TableState) -> list[int]:
    return [state.round.number if state.history.last is None else state.history.last.round]


def _awards(state: TableState) -> list[int]:
    return [0] if state.progressive is None else [each.id for each in state.progressive.books.awards] or [0]


def _linked_tables(state: TableState) -> list[str]:
    return (
        [""]
        if state.progressive is None
        else [each.table for each in state.progressive.books.settings.tables]
    )


_VALUES: Final[dict[str, Callable[[TableState], list[Any]]]] = {
    "amount": lambda _: [1],
    "award": _awards,
    "card": _unspent,
    "cause": lambda _: [Cause.INCREASE],
    "game": lambda state: [state.settings.game],
    "level": lambda _: ["executive"],
    "number": lambda state: [each.number for each in state.alarms] or [0],
    "reason": lambda _: ["?"],
    "round": _rounds,
    "seat": lambda state: list(range(1, state.settings.seats + 1)),
    "serial": lambda state: (
        [
            *([] if state.link.offered is None else [state.link.offered.serial]),
            *(each.offered for each in state.devices.known if each.offered is not None),
        ]
        or [""]
    ),
    "table": _linked_tables,
    "to": lambda _: list(Key),
}
"""Field of orders -> its possible values."""


def _starts(state: TableState) -> Iterator[StartGame]:
    """START GAME with the seats that the sensors would latch; None if the sensors are offline."""
    heard = state.devices.sensors is None or state.devices.sensors.online
    latched = None if state.progressive is None or not heard else state.progressive.procedure.hand.sensors
    yield StartGame(state.round.number, ANYBODY, latched)


def _turns(state: TableState) -> Iterator[TurnKey]:
    """The key, turned to each other position."""
    procedure = None if state.progressive is None else state.progressive.procedure
    stands = procedure.key if procedure is not None and procedure.kind == "aquarius" else Key.RUN
    yield TurnKey(Key.RUN if stands is Key.JPH else Key.JPH, ANYBODY)


def _counts(state: TableState) -> Iterator[CountCoins]:
    """A count for the table's own progressive, or for a previous one."""
    for progressive in (None, *state.retired_progressives):
        yield CountCoins("2026-01-01", 1, ANYBODY, progressive)


def _owed(state: TableState) -> Sequence[CommissionOwed]:
    """What each seat owes that owes commission; of a table where no seat does, nothing at the first."""
    return state.commissions or [CommissionOwed(1, 0)]


def _other_cards(card: Card) -> list[Card]:
    """Every other card; cards of the same rank come first, because they do not change the deal."""
    ranks = sorted(RANKS, key=lambda rank: rank != card[0])
    return [Card(rank + suit) for rank in ranks for suit in SUITS if rank + suit != card]


def _card_corrections(state: TableState) -> Iterator[CorrectCard]:
    cards = () if state.round.coup is None else state.round.coup.cards
    for position, before in enumerate(cards, start=1):
        for card in _other_cards(before):
            yield CorrectCard(ANYBODY, position, card, "?")
    if not cards:
        yield CorrectCard(ANYBODY, 1, Card("AS"), "?")


def _round_corrections(state: TableState) -> Iterator[CorrectRound]:
    last = state.history.last
    if last is None or not last.player:
        yield CorrectRound(ANYBODY, _rounds(state)[0], (), (), "?")
        return
    for card in _other_cards(last.player[0]):
        yield CorrectRound(ANYBODY, last.round, (card, *last.player[1:]), last.banker, "?")


def _settings_changes(state: TableState) -> Iterator[ChangeSettings]:
    if state.progressive is None:
        return
    before = state.progressive.books.settings
    other = replace(before, seat_one="left" if before.seat_one == "right" else "right")
    yield ChangeSettings(other, "?", ANYBODY)


_TRIES: Final[dict[type, Callable[[TableState], Iterator[Any]]]] = {
    ChangeSettings: _settings_changes,
    SignAward: lambda _: iter([SignAward(ANYBODY, "executive")]),
    CollectCommission: lambda state: (
        CollectCommission(ANYBODY, each.seat, each.amount) for each in _owed(state)
    ),
    CorrectCard: _card_corrections,
    CorrectRound: _round_corrections,
    CountCoins: _counts,
    StartGame: _starts,
    TurnKey: _turns,
    WaiveCommission: lambda state: (
        WaiveCommission(ANYBODY, each.seat, each.amount, "?") for each in _owed(state)
    ),
}
"""Orders that need more than a combination of values."""
