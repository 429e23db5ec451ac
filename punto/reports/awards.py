"""The awards of a progressive, and the payments from the tray, as the record has them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from punto.baccarat.cards import Card
from punto.baccarat.coup import Side
from punto.baccarat.progressive.events import ConfirmedBy
from punto.baccarat.progressive.settings import Payer
from punto.baccarat.progressive.state import AwardState
from punto.messages.amounts import Minor
from punto.messages.books import FromTray, NobodyWon
from punto.messages.models import Part, Timestamp
from punto.reports.record import END, Logged, Record, Span

AWARDS_A_PAGE: Final = 25


class Share(Part):
    """A seat's part of an award."""

    seat: int
    amount: Minor


class AwardsBackOut(Part):
    """How an award was backed out."""

    ts: Timestamp
    who: str
    approved_by: str | None
    reason: str


class Print(Part):
    """A printed win page; an award has at most one original. `input` is None if the print is not on the record."""

    ts: Timestamp
    who: str
    original: bool
    input: int | None


class Award(Part):
    """An award, `shares` in the order of paying. `input` is the number of its lock on the record.

    - `tier`: the name of its rule; `title`: its hand in words.
    - `payer`: the meter or the tray. `meter`: the amount on the meter at the lock.
    - `who` confirmed it, `by` a key, card or signature, or as the dealer alone; `level` is that of card or
      signature, `card` that of a card. `confirmed_by` pressed CONFIRM before.
    - `side`: the hand that won, None in a tie; `player` and `banker`: the cards.
    - `prints`: its win pages in the order of printing. The person who printed the original signed for the
      award.
    """

    progressive: str
    number: int
    tier: str
    title: str
    table: str
    round: int
    meter: Minor
    amount: Minor
    shares: tuple[Share, ...]
    whole_meter: bool
    payer: Payer
    who: str
    by: ConfirmedBy
    card: str | None
    level: str | None
    confirmed_by: str | None
    side: Side | None
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    state: AwardState
    locked: Timestamp
    booked: Timestamp | None
    backed_out: AwardsBackOut | None
    prints: tuple[Print, ...]
    input: int

    @property
    def original(self) -> Print | None:
        """The original win page, None before it is printed."""
        return next((each for each in self.prints if each.original), None)


_AS_FIXED: Final = (
    *("table", "round", "meter", "amount", "whole_meter", "payer", "who", "by", "card", "level"),
    *("confirmed_by", "side", "player", "banker"),
)
"""The fields that an award of a report has from the award as it was locked."""


class Awards(Part):
    """Awards, the newest first, and the NOBODY WON entries of their time; `more` says if there are older awards."""

    awards: tuple[Award, ...]
    nobody_won: tuple[NobodyWon, ...]
    more: bool


def awards(record: Record, before: int | None = None, limit: int = AWARDS_A_PAGE) -> Awards:
    """At most `limit` awards that were locked before this input, or the last ones."""
    until = END if before is None else before
    found = record.awards_locked(until, limit + 1)
    more = len(found) > limit
    since = found[limit - 1].input if more else 0
    return Awards(
        awards=_awards(record, found[:limit]),
        nobody_won=tuple(reversed(nobody_won(record, None, Span(since, until)))),
        more=more,
    )


def nobody_won(record: Record, progressive: str | None, span: Span) -> tuple[NobodyWon, ...]:
    """The NOBODY WON entries in a span, of one progressive or of all, in order."""
    return tuple(
        NobodyWon(
            ts=each.ts,
            progressive=each.progressive,
            again=each.entry.kind == "game_reopened",
            lost=each.entry.kind == "table_forgotten",
            tier=getattr(each.entry, "rule", None),
            **{
                name: getattr(each.entry, name)
                for name in NobodyWon.model_fields
                if name not in {"ts", "progressive", "again", "lost", "tier", "input"}
                and hasattr(each.entry, name)
            },
            input=each.input,
        )
        for each in record.log(("nobody_won", "game_reopened", "table_forgotten"), progressive, span)
    )


def from_tray(record: Record, progressive: str, span: Span) -> tuple[FromTray, ...]:
    """The payments from the tray in a span, in order."""
    return tuple(
        FromTray(
            ts=each.ts,
            award=award.id,
            tier=award.rule,
            table=award.table,
            round=award.round,
            amount=-award.amount if back else award.amount,
            who=each.entry.who if back else award.who,
            reason=each.entry.reason if back else None,
            approved_by=each.entry.approved_by if back else None,
            input=each.input,
        )
        for each in record.log(("award_booked", "award_backed_out"), progressive, span)
        for award, back in [(each.entry.award, each.entry.kind == "award_backed_out")]
        if award.payer == "tray"
    )


def award(record: Record, input_: int) -> Award | None:
    """The award that was locked with this input, None if there is none."""
    found = [each for each in record.awards_locked(input_ + 1, 1) if each.input == input_]
    return next(iter(_awards(record, found)), None)


def _awards(record: Record, locked: Sequence[Logged]) -> tuple[Award, ...]:
    later: dict[tuple[str, int, str], Logged] = {}
    prints: dict[tuple[str, int], list[Print]] = defaultdict(list)
    for name in {each.progressive for each in locked}:
        since = Span(min(each.input for each in locked if each.progressive == name))
        for each in record.log(("award_booked", "award_backed_out"), name, since):
            later[name, each.entry.award.id, each.entry.kind] = each
        for each in record.log(("win_page_printed",), name, since):
            printed = Print(ts=each.ts, who=each.entry.who, original=each.entry.original, input=each.input)
            prints[name, each.entry.award].append(printed)
    tiers = {name: record.tiers(name) for name in {each.progressive for each in locked}}
    return tuple(_award(each, tiers[each.progressive], later, prints) for each in locked)


def _award(
    locked: Logged,
    tiers: Mapping[str, str],
    later: dict[tuple[str, int, str], Logged],
    prints: dict[tuple[str, int], list[Print]],
) -> Award:
    fixed, name = locked.entry.award, locked.progressive
    booked = later.get((name, fixed.id, "award_booked"))
    put_back = later.get((name, fixed.id, "award_backed_out"))
    state = AwardState.BACKED_OUT if put_back else AwardState.BOOKED if booked else AwardState.LOCKED
    backed_out = None
    if put_back is not None:
        by = put_back.entry
        backed_out = AwardsBackOut(ts=put_back.ts, who=by.who, approved_by=by.approved_by, reason=by.reason)
    return Award(
        progressive=name,
        number=fixed.id,
        tier=fixed.rule,
        title=tiers[fixed.rule],
        shares=tuple(Share(seat=share.seat, amount=share.amount) for share in fixed.shares),
        state=state,
        locked=locked.ts,
        booked=booked and booked.ts,
        backed_out=backed_out,
        prints=tuple(prints[name, fixed.id]),
        input=locked.input,
        **{each: getattr(fixed, each) for each in _AS_FIXED},
    )
