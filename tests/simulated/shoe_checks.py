"""What must hold of the shoe's records, and of play while cards of the shoe are not known."""

from collections import Counter
from typing import Final, TypeAlias

from punto.baccarat.cards import Card
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.table import events
from punto.baccarat.table.events import Event, ServiceStarted, SetWager, ShoeHello, ShoeLost, ShoeRecord
from punto.baccarat.table.order_kinds import AcceptShoe, KeyCard
from punto.baccarat.table.state import Phase, TableState
from tests.simulated.plan import Wrong
from tests.simulated.shoe import Memory

_OfACard: TypeAlias = events.CardDrawn | events.CardUnread | events.CardOverdrawn
_BY_PEOPLE: Final = frozenset(
    {"key_card", "correct_card", "correct_round", "void_coup", "void_round", "accept_shoe", "records_lost"}
)
"""After these inputs, the cards that have left the shoe are others than the records say."""


class ShoeChecks:
    """Follows the shoe by the inputs of the record, and compares the table with it."""

    def __init__(self, memory: Memory | None) -> None:
        self.log: int | None = None
        self.taken = 0
        """The shoe's last record on the record; `log` is that of its memory."""
        self._memory = memory
        self._online = False
        self._late = 0
        """The records before this one were made before the shoe was connected."""
        self._keyed = 0
        """How many cards were keyed while the shoe was away, and are in no record of it yet."""
        self._heard = False
        """Whether the shoe has been heard since the last of these cards: also by a record, if its hello failed."""
        self._copies: Counter[Card] | None = None
        """The cards that have left the shoe by its records; None if people have changed them."""

    def follow(
        self, event: Event, before: TableState, state: TableState, *, accepted: bool, failed: bool = False
    ) -> None:
        """Follow an input; `failed` if the program could not handle it.

        Raises:
            Wrong: the table has other records of the shoe than it was sent, or plays on although it must not.
        """
        if failed:
            self._fail(event, before)
            self._compare(state)
            return
        if accepted:
            self._of_people(event, before)
        self._hear(event, before, state)
        if before.shoe.number != state.shoe.number:
            self._copies = Counter()
        elif event.kind in _BY_PEOPLE:
            self._copies = None
        if isinstance(event, events.RecordsLost):
            self._give_up(event, state)
        if isinstance(event, ShoeRecord):
            self._of_a_record(event, before, state)
        if isinstance(event, ShoeRecord | ShoeHello | AcceptShoe | events.RecordsLost):
            self._of_keyed_cards(state)
        self._compare(state)

    def _fail(self, event: Event, before: TableState) -> None:
        """The program could not handle an input. A report of the shoe is taken, so that the shoe does not send it for ever."""
        if isinstance(event, events.RecordsLost):
            self.taken, self._copies = max(self.taken, event.last), None
        elif isinstance(event, ShoeRecord) and before.link.offered is None and event.record == self.taken + 1:
            self.taken, self._copies = event.record, None
            self._keyed = max(0, self._keyed - isinstance(event, _OfACard))
        elif isinstance(event, ShoeHello | ShoeLost | ServiceStarted):
            self._online = False

    def _compare(self, state: TableState) -> None:
        if (state.link.log, state.link.taken) != (self.log, 0 if self.log is None else self.taken):
            raise Wrong(
                f"the table has the shoe's records up to {state.link.taken}, but it was sent them up to {self.taken}"
            )

    def _of_people(self, event: Event, before: TableState) -> None:
        """An input that was accepted: people play only on what the table has seen."""
        if isinstance(event, SetWager | StartGame) and self._unseen(before):
            raise Wrong(f"{event.kind} was accepted, although cards can lie unseen on the table")
        if isinstance(event, KeyCard) and before.keyed_for_shoe and before.waiting.card is None:
            self._keyed, self._heard = self._keyed + 1, False

    def _of_keyed_cards(self, state: TableState) -> None:
        """When the shoe has sent all records of the time that it was away, each keyed card is one of them, or play stops."""
        if self._keyed and self._heard and state.link.offered is None and self.taken + 1 >= self._late:
            self._keyed = 0
            if not state.waiting.stops:
                raise Wrong("a card was keyed that the shoe has no record of, but the table plays on")

    def _unseen(self, before: TableState) -> bool:
        """Whether cards can have left the shoe that the table has not taken."""
        away = not self._online or before.link.offered is not None or self.taken + 1 < self._late
        return before.settings.cards == "shoe" and (away or bool(before.waiting.backlog))

    def _hear(self, event: Event, before: TableState, state: TableState) -> None:
        """Which shoe the table has after a hello, or after a supervisor has accepted a shoe, and whether it is connected."""
        heard = None
        if isinstance(event, ShoeLost | ServiceStarted):
            self._online = False
        elif isinstance(event, ShoeHello) and not self._online:
            self._online, self._late, self._heard = True, event.next_record, True
        if isinstance(event, ShoeHello):
            heard = event
            if event.log != self.log and self.log is not None and _in_play(before):
                heard = None
                if state.link.offered != event or not state.waiting.for_person:
                    raise Wrong("the shoe has lost its memory of the cards in play, but the table plays on")
        elif isinstance(event, AcceptShoe):
            heard = before.link.offered if state.link.offered is None else None
        if heard is not None and heard.log != self.log:
            self.log, self.taken, self._keyed = heard.log, heard.first_kept - 1, 0

    def _of_a_record(self, event: ShoeRecord, before: TableState, state: TableState) -> None:
        if before.link.offered is None and self.log is not None and event.record == self.taken + 1:
            self.taken, self._heard = event.record, True
            if self._memory is not None and event != self._memory.made.get((self.log, event.record)):
                raise Wrong(f"record {event.record} is not what the shoe made: {event}")
            if isinstance(event, _OfACard):
                self._count(event, state, dealt=state.round.coup != before.round.coup)
        elif (state.round.coup, state.shoe.drawn) != (before.round.coup, before.shoe.drawn):
            raise Wrong(f"record {event.record} was dealt, but the table must ignore it")
        if before.waiting.stops and state.round.coup != before.round.coup:
            raise Wrong(f"record {event.record} was dealt, although play is stopped")

    def _count(self, event: _OfACard, state: TableState, *, dealt: bool) -> None:
        """A card has left the shoe: it was keyed before, or is one of the copies of this card, perhaps one too many.

        A card of no hand, such as one that was burned, stops no play, but there is an alarm. A card that waits for the one before it
        to be keyed is judged then.
        """
        self._keyed = max(0, self._keyed - 1)
        if not isinstance(event, events.CardDrawn) or event.confidence < state.settings.minimum_confidence:
            self._copies = None
        elif self._copies is not None:
            self._copies[event.card] += 1
            told = state.waiting.for_person or (
                not dealt and "surplus_copy" in {alarm.code for alarm in state.alarms}
            )
            if self._copies[event.card] > state.settings.game.decks and not told:
                raise Wrong(
                    f"the shoe gave {self._copies[event.card]} copies of {event.card}, but the table plays on"
                )

    def _give_up(self, lost: events.RecordsLost, state: TableState) -> None:
        """Records that never came: play stops."""
        if self.log is None or lost.last <= self.taken:
            return
        for number in range(self.taken + 1, lost.last + 1):
            if self._memory is not None and (self.log, number) not in self._memory.lost:
                raise Wrong(f"the table gave up record {number}, which the shoe has not lost")
        self.taken, self._heard = lost.last, True
        if not state.waiting.stops:
            raise Wrong("the shoe has lost records, but the table plays on")


def _in_play(state: TableState) -> bool:
    """Whether cards of the shoe are, or can be, on the table."""
    hand = state.phase in {Phase.BETTING, Phase.DEALING, Phase.REVEAL, Phase.SETTLED}
    return hand or bool(state.shoe.drawn or state.shoe.unknown or state.waiting.card or state.waiting.backlog)
