"""The state of a table as a value: everything that an event can change, and nothing else."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Literal

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.coup import Coup, Side, Winner
from punto.baccarat.progressive import aquarius, game_events, nexus
from punto.baccarat.progressive.effects import Effect as BooksEntry
from punto.baccarat.progressive.events import Won
from punto.baccarat.progressive.state import State as Books
from punto.baccarat.progressive.value import Value
from punto.baccarat.roads.rounds import RoadRound
from punto.baccarat.table import events
from punto.baccarat.table.meters import Meters, of_game
from punto.baccarat.table.settings import Settings
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.settlement import PlacedWager, Settlement


class Phase(StrEnum):
    """The phase of a table in its day."""

    LOCKED = "locked"
    CLOSED = "closed"
    SHOE_CHANGE = "shoe_change"
    BETTING = "betting"
    DEALING = "dealing"
    REVEAL = "reveal"
    SETTLED = "settled"


CONFIGURABLE: Final = frozenset({Phase.LOCKED, Phase.CLOSED})
"""Phases in which no shoe is in use, so that the score display may be configured (approval letter, 5)."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """The last record of a replaced shoe: `taken` is the last record taken, of its log `log`."""

    serial: str
    log: int
    taken: int


@dataclass(frozen=True, slots=True)
class KeyedAway:
    """A card keyed while the shoe was offline, so that its record may still come: `position` as dealt, from 1."""

    round: int
    position: int
    card: Card


@dataclass(frozen=True, slots=True, kw_only=True)
class ShoeLink:
    """The known state of the shoe at the other end of the line.

    `taken` is the number of the last record that the table has taken, from the log `log` of the shoe
    `serial`; a start passes it to the driver, which asks the shoe for the following ones. `decks` is the last number of decks
    that the shoe reported, 0 if it has reported none. `offered` is a shoe that waits for a supervisor to accept it; `earlier`
    holds the last records of shoes used before. Records before `late_before` were made before the shoe was last connected
    again. `keyed_away` are the cards keyed while the shoe was offline whose records may still come, in the order of the deal.
    """

    online: bool = False
    reason: str = "not seen yet"
    serial: str | None = None
    log: int | None = None
    taken: int = 0
    components: tuple[events.Component, ...] = ()
    decks: int = 0
    lid_open: bool = False
    offered: events.ShoeHello | None = None
    earlier: tuple[Bookmark, ...] = ()
    late_before: int = 0
    keyed_away: tuple[KeyedAway, ...] = ()

    @property
    def expected(self) -> int:
        """The number of the shoe's next record."""
        return self.taken + 1


@dataclass(frozen=True, slots=True)
class AwaitedCard:
    """A card that left the shoe and is not known for certain: the hand waits until it is keyed.

    `read` is the shoe's reading of it.
    """

    code: Literal["unread", "low_confidence", "surplus_copy"]
    text: str
    read: Card | None = None
    confidence: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The reason why no more cards leave the shoe until a supervisor resumes play.

    `overdrawn` holds an overdrawn card, to be handled by the house's policy. `of_the_shoe` says if the shoe
    has a fault.
    """

    code: str
    text: str
    of_the_shoe: bool = True
    overdrawn: events.CardOverdrawn | events.CardDrawn | events.CardUnread | None = None


@dataclass(frozen=True, slots=True)
class Alarm:
    """An unacknowledged alarm: the number of its last public event, and how often it was raised."""

    number: int
    code: str
    text: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Correction:
    """A card corrected before settlement."""

    position: int
    side: Side
    before: Card
    after: Card
    who: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """A round as it ended: the coup with its wagers and settlements. `winner` is None for a void coup.

    `round` counts over the table's life, `coup` within the shoe. Totals are of the dealt cards.

    A `correction` is a separate entry, because entries on the record never change: it has the cards that the
    round `corrects` really had, and the differences as settlements, without a stake. So sums over all entries
    are right. `hidden` cards were never shown to the public: of a hand voided before the reveal.
    """

    round: int
    shoe: int
    coup: int
    status: Literal["played", "void", "dummy", "correction"]
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    player_total: int
    banker_total: int
    winner: Winner | None
    natural: bool
    player_pair: bool
    banker_pair: bool
    settlements: tuple[Settlement, ...] = ()
    corrections: tuple[Correction, ...] = ()
    who: str | None = None
    reason: str | None = None
    approved_by: str | None = None
    corrects: int | None = None
    hidden: bool = False

    def corrected_by(self, entry: "RoundRecord") -> "RoundRecord":
        """This round as it was settled last, by an entry with the differences of a correction."""
        more = {(each.seat, each.wager): each for each in entry.settlements}
        return replace(
            entry,
            round=self.round,
            status=self.status,
            settlements=tuple(
                replace(
                    each,
                    outcome=found.outcome,
                    returned=each.returned + found.returned,
                    net=each.net + found.net,
                    rule=found.rule,
                )
                if (found := more.get((each.seat, each.wager))) is not None
                else each
                for each in self.settlements
            ),
        )


@dataclass(frozen=True, slots=True)
class CommissionOwed:
    """The commission that a seat owes, in minor units, at a table where it is collected at the end of the shoe."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class CommissionEntry:
    """An entry in a seat's account of commission, in minor units: `amount` was added, or taken off if it is negative.

    After it, the seat owes `owed`. `round` and `wager` are of the settlement that earned it, or of the correction that changed
    this settlement, or because of which a waived commission is owed again; None if the commission was collected or waived.
    """

    seat: int
    cause: Literal["earned", "corrected", "collected", "waived"]
    amount: int
    owed: int
    round: int | None = None
    wager: str | None = None


@dataclass(frozen=True, slots=True)
class CommissionOfWager:
    """What a seat still owes of the commission of a wager, and what was waived of it; the rest was collected. In minor units."""

    seat: int
    wager: str
    owed: int = 0
    waived: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to the authority of the meter: its number, the event that needs it, and the orders for the meter."""

    number: int
    event: events.GameOrder | events.Sensed | game_events.HandDecided | game_events.AwardTakenBack
    orders: tuple[game_events.Order, ...]


@dataclass(frozen=True, slots=True)
class AuthorityLink:
    """A linked table's side: whether the authority answers, and why not; the last request's number.

    `asked` is the request that is not answered yet, and `later` the reports that wait for its answer. `refused` is the
    refusal of the last answered request, None if it was carried out.
    """

    online: bool = False
    reason: str = "not reached yet"
    number: int = 0
    asked: Asked | None = None
    later: tuple[events.Sensed | game_events.AwardTakenBack, ...] = ()
    refused: events.Refused | None = None


@dataclass(frozen=True, slots=True)
class ServedTable:
    """The authority's side: a linked table's record, the number of its last request, and the answer."""

    table: str
    record: str
    number: int
    entries: tuple[BooksEntry, ...]
    refused: events.Refused | None


@dataclass(frozen=True, slots=True)
class TablesProgressive:
    """A table's progressive: the meter's books, and the progress of its game at the table.

    `decided` is the round whose cards decided the last game, None if no round has yet. `played_on` is that
    game's award, if a supervisor has resumed play before it is complete. `link` is None if the table keeps the
    meter itself; the books are then its own, and else what the authority last told. `served` are the tables
    that the authority has answered. `rival` is a service that keeps a meter of this progressive too. `late` is the round whose hand had begun before its game was confirmed.
    `alone` is the money, in minor units, that orders without a second person have moved since the last gaming day
    began, at `alone_since`; `set_back_from` is the day in which the clock was set back to it, if it was.
    """

    books: Books
    procedure: aquarius.State | nexus.State
    decided: int | None = None
    played_on: Won | None = None
    link: AuthorityLink | None = None
    served: tuple[ServedTable, ...] = ()
    late: int | None = None
    rival: str | None = None
    alone: int = 0
    alone_since: str = ""
    set_back_from: str = ""

    @property
    def game(self) -> int | None:
        """The round of the game that is started, or that the authority is asked to start; None between games."""
        asked = None if self.link is None else self.link.asked
        if asked is not None and isinstance(asked.event, game_events.StartGame):
            return asked.event.round
        return None if self.procedure.step.value == "betting" else self.procedure.hand.round

    @property
    def played_without(self) -> bool:
        """Whether a supervisor has resumed play before the last game's open award is complete."""
        return self.open_award is not None and self.open_award == self.played_on

    @property
    def open_award(self) -> Won | None:
        """The award of the meter that the last game's hand won or can have won, until it is complete.

        It is complete when it is confirmed, taken off the meter, and the key is back: then the game can be
        ended (sheet 000, 7e to 7g; Nexus Command, 7e and 7f).
        """
        hand = self.procedure.hand
        match self.procedure.step.value:
            case "settling" if hand.open:
                return hand.won
            case "confirmed" | "logged":
                return hand.awarded or hand.won
            case "adjusted" if getattr(self.procedure, "key", None) == "jph":
                return hand.awarded
            case _:
                return None


@dataclass(frozen=True, slots=True)
class GamingDay:
    """The gaming day: when it began, its first round, and the table's meters `before` it."""

    began: str
    first: int
    before: tuple[Meters, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensors:
    """The progressive's wager sensors: whether they are connected, why not, and their current faults."""

    online: bool = False
    reason: str = "not seen yet"
    faults: tuple[events.SensorFault, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownDevice:
    """A device besides the shoe: the serial number of the `accepted` one, and of the one that waits to be."""

    device: events.DeviceName
    accepted: str | None = None
    offered: str | None = None


@dataclass(frozen=True, kw_only=True)
class Shoe(Value):
    """The cards that a table plays from: from the order to change the shoe until the next one.

    Each card that left the shoe is counted once: it is in `drawn`, `unknown` or `carried`, or it waits in
    `Waiting`. So a copy that no honest shoe has left is found, whichever way the card went.

    - `number`: 0 before the first shoe; `coups`: how many have begun in it, and `rounds`: those for the roads.
    - `drawn`: the cards that are known, in order; `unknown`: the number of the others.
    - `carried`: cards drawn too soon that begin the next coup.
    - `burn_left`: cards still to burn, None while the burn's first card is awaited.
    - `last_coup`: the number of its last coup, None until the cut card.
    - `other_decks`: the number of decks that a supervisor decided to play with although the game has another, or else 0.
    """

    number: int = 0
    coups: int = 0
    rounds: tuple[RoadRound, ...] = ()
    drawn: tuple[Card, ...] = ()
    unknown: int = 0
    carried: tuple[Card, ...] = ()
    burn_left: int | None = None
    last_coup: int | None = None
    other_decks: int = 0


@dataclass(frozen=True, kw_only=True)
class Round(Value):
    """The current round or, between rounds, the next one.

    A round that ends is replaced by a new one with the next number, so nothing of a hand can stay behind.

    - `number`: counts over the table's life; corrections after settlement take a number too.
    - `wagers`: those placed, which stand before the first card.
    - `coup`: the cards on the table, None until the hand begins; `dummy`: it carries no wagers.
    - `shown`: how many of its cards have been revealed, where they lie face down at first.
    - `corrections`: the cards corrected in it.
    """

    number: int = 1
    wagers: tuple[PlacedWager, ...] = ()
    coup: Coup | None = None
    dummy: bool = False
    shown: int = 0
    corrections: tuple[Correction, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Waiting(Value):
    """What a person must see to before another card counts, and what left the shoe meanwhile.

    No card is lost and none is guessed: while a card is awaited or a stop stands, cards and the cut card go to the
    `backlog`, and the table handles them in order afterwards.
    """

    card: AwaitedCard | None = None
    stops: tuple[Stop, ...] = ()
    backlog: tuple[events.CardDrawn | events.CardUnread | events.CardOverdrawn | events.CutCardSeen, ...] = ()

    @property
    def for_person(self) -> bool:
        """Whether a person must act before another card counts."""
        return bool(self.stops) or self.card is not None

    @property
    def cards(self) -> int:
        """The number of cards that have left the shoe and wait."""
        overdrawn = sum(stop.overdrawn is not None for stop in self.stops)
        behind = sum(not isinstance(each, events.CutCardSeen) for each in self.backlog)
        return (self.card is not None) + overdrawn + behind


@dataclass(frozen=True, kw_only=True)
class Devices(Value):
    """The devices besides the shoe.

    What is connected is reported again after each start of the service, so a start forgets it; which devices
    were accepted outlives the start.

    - `known`: the accepted devices, and those that wait for a supervisor.
    - `sensors`: the state of the progressive's wager sensors, None if there are none.
    - `configuration_keypad`: the path of the score display's configuration keypad, None while it is not
      plugged in.
    """

    known: tuple[KnownDevice, ...] = ()
    sensors: Sensors | None = None
    configuration_keypad: str | None = None

    def of_name(self, device: Any) -> KnownDevice:
        """What is known of a device."""
        return next((each for each in self.known if each.device == device), KnownDevice(device))


@dataclass(frozen=True, kw_only=True)
class History(Value):
    """What the table keeps of the rounds that have ended.

    They are settled, so only a correction changes what is counted of them. Another game forgets the last round, so
    that no round is corrected by the rules of a game that it was not played by.

    - `last`: the last round, as corrected since; `correction`: the entry that last corrected or voided a
      settled round.
    - `marked`: what the last round, or else its last correction, added to the seats' accounts of commission; `commissions`: what
      is owed and waived of the last round's commission, because a waived commission is owed again if a correction takes the
      win back.
    - `meters`: those of the table's life, by game; `day`: the gaming day, None before the first; `later`: the day that had begun
      when the clock was set back over its beginning.
    """

    last: RoundRecord | None = None
    correction: RoundRecord | None = None
    marked: tuple[CommissionEntry, ...] = ()
    commissions: tuple[CommissionOfWager, ...] = ()
    meters: tuple[Meters, ...] = ()
    day: GamingDay | None = None
    later: GamingDay | None = None

    def todays(self, game: Game) -> Meters:
        """The meters of a game on the present gaming day."""
        before = () if self.day is None else self.day.before
        return of_game(self.meters, game).plus(of_game(before, game), sign=-1)


@dataclass(frozen=True, kw_only=True)
class TableState(Value):
    """A table: a group of fields has what is set and cleared together, and says which rule holds of it.

    - `settings`: those in use, which a supervisor may have changed; `configured`: those of the last start of
      the service.
    - `operator`: the person signed on at the table.
    - `retired_progressives`: the progressives whose books are closed.
    - `commissions`: the seats that owe commission, in order.
    - `alarms`: the unacknowledged alarms, one of each code.
    - `happenings`: the number of public events so far, to number them.
    """

    settings: Settings
    configured: Settings | None = None
    phase: Phase = Phase.LOCKED
    operator: str | None = None
    shoe: Shoe = field(default_factory=Shoe)
    link: ShoeLink = field(default_factory=ShoeLink)
    round: Round = field(default_factory=Round)
    waiting: Waiting = field(default_factory=Waiting)
    devices: Devices = field(default_factory=Devices)
    progressive: TablesProgressive | None = None
    retired_progressives: tuple[str, ...] = ()
    history: History = field(default_factory=History)
    commissions: tuple[CommissionOwed, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    happenings: int = 0

    @property
    def cards_unseen(self) -> bool:
        """Whether cards may have left the shoe that the table has not taken, although the shoe reads its cards."""
        link = self.link
        away = not link.online or link.offered is not None or link.expected < link.late_before
        return self.settings.cards == "shoe" and (away or bool(self.waiting.backlog))

    @property
    def decks_differ(self) -> bool:
        """Whether the shoe that reads the cards reports another number of decks than the game has."""
        return self.settings.cards == "shoe" and self.link.decks not in {0, self.settings.game.decks}

    @property
    def cards_left(self) -> int | None:
        """The number of cards in the shoe; None if it is not known how many decks they were."""
        if self.decks_differ or self.shoe.other_decks:
            return None
        return max(0, self.settings.game.decks * len(STANDARD_DECK) - self.cards_out)

    @property
    def cards_out(self) -> int:
        """The number of cards that have left the shoe since its change, whichever way they went."""
        return len(self.shoe.drawn) + self.shoe.unknown + len(self.shoe.carried) + self.waiting.cards

    @property
    def overfull(self) -> bool:
        """Whether more cards, the cut card included, have left the shoe since its change than an honest shoe can give.

        Two shoes' cards: those of the old shoe, and all of the new one if they were drawn before the change was ordered.
        Only a device that makes cards up gives more, and each is an input on the record. No rate can bound them, because a
        shoe sends the cards of an hour at once when its cable is back.
        """
        cut_cards = sum(isinstance(each, events.CutCardSeen) for each in self.waiting.backlog)
        return self.cards_out + cut_cards > 2 * len(STANDARD_DECK) * self.settings.game.decks

    @property
    def face_down(self) -> bool:
        """Whether cards lie on the table that have not been revealed."""
        return self.round.coup is not None and self.hides(len(self.round.coup.cards))

    def hides(self, position: int) -> bool:
        """Whether the card at this position of the coup, from 1, has not been revealed."""
        return self.settings.game.hides_cards and position > self.round.shown

    @property
    def revealing_seat(self) -> int | None:
        """The seat that turns the cards: of the largest wager on Player or Banker, of equal ones the lowest (sheet 004).

        None if the dealer turns them.
        """
        if (self.settings.reveal or self.settings.game.reveal) != "player":
            return None
        wagers = {each.name: each for each in self.settings.game.wagers}
        placed = [(each.amount, -each.seat) for each in self.round.wagers if wagers[each.wager].of_a_hand]
        return -max(placed)[1] if placed else None

    @property
    def award_waits(self) -> bool:
        """Whether the next hand waits for the award of the last game.

        It is computed from the game itself, so it ends with the game. A hand that is already being dealt is
        dealt to its end.
        """
        progressive = self.progressive
        if progressive is None or self.phase in {Phase.DEALING, Phase.REVEAL}:
            return False
        return progressive.open_award is not None and not progressive.played_without

    @property
    def keypad_in_play(self) -> bool:
        """Whether the configuration keypad is plugged in while a shoe is in use."""
        return self.devices.configuration_keypad is not None and self.phase not in CONFIGURABLE

    @property
    def dummy_next(self) -> bool:
        """Whether the next coup has no wagers, because its first cards are known and the house plays those so."""
        return bool(self.shoe.carried) and self.settings.overdraw == "dummy"

    @property
    def next_position(self) -> int | None:
        """The number of the next card in its coup as dealt, from 1, or 0 for the shoe's first card, turned for the burn.

        None if the next card that leaves the shoe goes to neither hand.
        """
        match self.phase:
            case Phase.SHOE_CHANGE if self.shoe.burn_left is None:
                return 0
            case Phase.BETTING | Phase.DEALING:
                return len((self.round.coup or Coup(self.shoe.carried)).cards) + 1
            case _:
                return None

    @property
    def keyed_for_shoe(self) -> bool:
        """Whether the hand on the table is finished by hand, because the shoe that reads its cards does not answer."""
        return self.settings.cards == "shoe" and self.phase is Phase.DEALING and not self.link.online

    @property
    def shoe_over(self) -> bool:
        """Whether the shoe's last coup has been dealt."""
        last = self.shoe.last_coup
        return last is not None and self.shoe.coups >= last and self.round.coup is None

    @property
    def on_last_coup(self) -> bool:
        """Whether the current coup, or else the next one, is the shoe's last."""
        last = self.shoe.last_coup
        return last is not None and self.shoe.coups + (self.round.coup is None) >= last
