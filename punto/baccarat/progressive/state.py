"""The state of a progressive as a value: everything that an event can change, and nothing else."""

from dataclasses import dataclass, field
from enum import StrEnum

from punto.baccarat.cards import Card
from punto.baccarat.coup import Side
from punto.baccarat.progressive.events import CardLevel, ConfirmedBy, SeatWager
from punto.baccarat.progressive.ledger import Ledger
from punto.baccarat.progressive.money import amount, whole
from punto.baccarat.progressive.settings import Payer, Settings
from punto.baccarat.progressive.shares import Share
from punto.baccarat.progressive.value import Value


class Phase(StrEnum):
    """The phase in the life of a progressive."""

    NEW = "new"
    OPEN = "open"
    RETIRED = "retired"


class AwardState(StrEnum):
    """The state of an award: fixed in amount, taken off the meter, or put back."""

    LOCKED = "locked"
    BOOKED = "booked"
    BACKED_OUT = "backed_out"


@dataclass(frozen=True, slots=True)
class TableRound:
    """A table's last round, with its progressive wagers.

    `first_award` is the number of the next award when the round began. A table whose record was lost or restored numbers its rounds
    again, so an award with a lower number is of an earlier round, even if that round has the same number.
    `lost` if its table's record was lost or restored (`ForgetTable`): any round of the table may be next, and this one still be
    confirmed, because the table may come back in the middle of it.
    """

    table: str
    round: int
    wagers: tuple[SeatWager, ...]
    over: bool = False
    lost: bool = False
    first_award: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Award:
    """An award, fixed when it was locked; amounts in minor units.

    `meter` is the meter's amount for it at that time (the overflow covers a fixed award's excess), `seats`
    the winners, `shares` the shares in the order of paying. `whole_meter` if it takes the whole meter, and `begins` if the next
    one begins with it: not if it began with an earlier award of the same hand, which was backed out. `next_award` is the number of
    the next award when this one was backed out, or else 0. `payer` says if the tray or the meter pays. `who` confirmed it, by means of `by`;
    `card` is the level of the swiped card, and `level` also that of a signature, if there was one.
    `confirmed_by` pressed CONFIRM, with Nexus. `side` won with the cards of `player` and `banker`.
    """

    id: int
    rule: str
    table: str
    round: int
    meter: int
    amount: int
    seats: tuple[int, ...]
    shares: tuple[Share, ...]
    whole_meter: bool
    who: str
    begins: bool = False
    next_award: int = 0
    card: CardLevel | None = None
    state: AwardState = AwardState.LOCKED
    payer: Payer = "meter"
    by: ConfirmedBy = "key"
    level: CardLevel | None = None
    confirmed_by: str | None = None
    side: Side | None = None
    player: tuple[Card, ...] = ()
    banker: tuple[Card, ...] = ()


@dataclass(frozen=True, kw_only=True)
class State(Value):
    """A progressive.

    - `rounds`: each linked table's last round, if it had one.
    - `awards`: those that are locked, those of the tables' last rounds, and the most recent earlier ones, in
      order.
    - `next_award`: the number of the next award.
    """

    settings: Settings
    phase: Phase = Phase.NEW
    ledger: Ledger = field(default_factory=Ledger)
    rounds: tuple[TableRound, ...] = ()
    awards: tuple[Award, ...] = ()
    next_award: int = 1

    @property
    def locked(self) -> tuple[Award, ...]:
        """Awards that are fixed and not yet booked, in the order of their locks."""
        return tuple(award for award in self.awards if award.state is AwardState.LOCKED)

    @property
    def available(self) -> int:
        """The money available for the next award, in millionths of a minor unit: the meter less all locked awards.

        Money is promised once. Otherwise two tables that hit 100% together would each be promised the same
        meter.
        """
        promised = sum(award.amount for award in self.locked if award.payer == "meter")
        return self.ledger.primary - amount(promised)

    @property
    def room(self) -> int | None:
        """The amount that the meter can still take below the display limit, None for no limit."""
        limit = self.settings.limit
        return None if limit is None else max(0, limit - self.available)

    @property
    def shown(self) -> int:
        """The amount that displays show, in minor units.

        From the lock of a 100% award to its booking, the primary account holds two meters, the won one and
        the next one: displays show the won one. A percentage award stays on display until it is booked.
        """
        won = next((award for award in self.locked if award.whole_meter), None)
        if won is not None:
            return won.meter
        limit = self.settings.display_limit
        shown = whole(self.ledger.primary)
        return shown if limit is None else min(shown, limit)

    def round_at(self, table: str) -> TableRound | None:
        """The last round of a table, None before its first."""
        return next((each for each in self.rounds if each.table == table), None)

    def awards_of(self, table: str, round_: int) -> tuple[Award, ...]:
        """The awards of a table's last round, in order; none if it is not the last one."""
        last = self.round_at(table)
        if last is None or last.round != round_:
            return ()
        return tuple(
            each
            for each in self.awards
            if (each.table, each.round) == (table, round_) and each.id >= last.first_award
        )

    def extract(self, table: str) -> "Extract":
        """What a linked table knows of the progressive, beside the settings, which are its own."""
        last = next((each for each in reversed(self.awards) if each.payer == "meter"), None)
        own = self.round_at(table)
        of_own = () if own is None else self.awards_of(table, own.round)
        return Extract(
            self.phase,
            self.ledger,
            () if own is None else (own,),
            tuple(
                each
                for each in self.awards
                if each is last or each.state is AwardState.LOCKED or each in of_own
            ),
            self.next_award,
        )

    def with_extract(self, extract: "Extract") -> "State":
        """The progressive as a linked table knows it: these settings, and what the authority last told."""
        return State(
            settings=self.settings,
            phase=extract.phase,
            ledger=extract.ledger,
            rounds=extract.rounds,
            awards=extract.awards,
            next_award=extract.next_award,
        )


@dataclass(frozen=True, slots=True)
class Extract:
    """A progressive as one linked table sees it: of `rounds` its own last, of `awards` the locked, its last round's and the last one."""

    phase: Phase
    ledger: Ledger
    rounds: tuple[TableRound, ...]
    awards: tuple[Award, ...]
    next_award: int
