"""Compares the books of a gaming day with the rest of the record, and with the counted coins.

The ledger says which money moved. The wagers that each START counted, the awards that were locked, booked and
backed out, and the settings determine what the ledger must say; each difference is reported. This finds a
change to one table of the record without the others; `punto replay`, which derives everything from the inputs
again, finds a change to all.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta

from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.money import amount, share
from punto.baccarat.progressive.settings import Settings
from punto.messages.amounts import exact, minor
from punto.messages.books import (
    Accounts,
    Check,
    CoinCount,
    Coins,
    Difference,
    Reconciled,
    Reconciliation,
)
from punto.reports.awards import from_tray
from punto.reports.periods import period
from punto.reports.record import EVERYTHING, Posting, Record, Span, settings_at
from punto.runtime.gaming_days import Calendar


def reconcile(record: Record, day: date, calendar: Calendar, now: datetime) -> Reconciliation:
    """Compare a gaming day's books."""
    span, about = period(record, calendar.begins(day), calendar.begins(day + timedelta(days=1)), now)
    found = tuple(_reconciled(record, name, span, day) for name in record.progressives(span.until))
    agrees = all(each.agrees for each in found)
    return Reconciliation(day=day, **about, agrees=agrees, progressives=found)


def _reconciled(record: Record, name: str, span: Span, day: date) -> Reconciled:
    accounts = record.balances(name, Span(0, span.until))
    timeline = record.settings(name)
    postings = list(record.postings(name, span))
    expected = _Expected(record, name, span, timeline)
    return Reconciled(
        progressive=name,
        balanced=accounts.given == accounts.held + accounts.paid,
        from_tray=sum(each.amount for each in from_tray(record, name, span)),
        checks=tuple(expected.checks(postings)),
        differences=tuple(expected.differences(postings)),
        coins=_coins(record, name, span, day, timeline),
        counts=counts_in(record, name, span),
    )


class _Expected:
    """The required ledger entries of a span, by (input, cause)."""

    def __init__(self, record: Record, name: str, span: Span, timeline: list[tuple[int, Settings]]) -> None:
        self._currency = record.currency
        self._numbers = record.number_before(name, span.since)
        self._must: dict[tuple[int, str], Accounts] = {}
        for round_ in record.rounds(name, span):
            settings = settings_at(timeline, round_.input)
            to_meter = share(round_.staked, settings.contribution_rate)
            to_reserve = share(round_.staked, settings.reserve_rate)
            if to_meter + to_reserve:
                self._must[round_.input, Cause.CONTRIBUTION] = Accounts(
                    contributions=to_meter + to_reserve, primary=to_meter, reserve=to_reserve
                )
        for each in record.log(("award_locked", "award_booked", "award_backed_out"), name, span):
            award, paid = each.entry.award, amount(each.entry.award.amount)
            if award.payer == "tray":
                continue  # the tray's payments are not in the meter's accounts
            match each.entry.kind:
                case "award_booked":
                    self._must[each.input, Cause.AWARD] = Accounts(primary=-paid, paid=paid)
                case "award_backed_out":
                    self._must[each.input, Cause.BACK_OUT] = Accounts(primary=paid, paid=-paid)
                case _ if award.begins:
                    self._seed(each.input, settings_at(timeline, each.input))
        opened = record.opened_at(name)
        if opened is not None and span.since <= opened < span.until:
            self._seed(opened, timeline[0][1])

    def _seed(self, input_: int, settings: Settings) -> None:
        if settings.seed:
            seed = amount(settings.seed)
            self._must[input_, Cause.SEED] = Accounts(seed_money=seed, primary=seed)

    def checks(self, postings: list[Posting]) -> Iterator[Check]:
        """The sums, computed both ways."""
        must = {cause: Accounts() for cause in Cause}
        has = dict(must)
        for (_, cause), moved in self._must.items():
            must[Cause(cause)] += moved
        for posting in postings:
            has[Cause(posting.cause)] += posting.moved
        contribution, award, back_out = Cause.CONTRIBUTION, Cause.AWARD, Cause.BACK_OUT
        yield Check(
            what="contributions",
            ledger=has[contribution].contributions,
            expected=must[contribution].contributions,
        )
        yield Check(what="reserve", ledger=has[contribution].reserve, expected=must[contribution].reserve)
        yield Check(what="awards", ledger=has[award].paid, expected=must[award].paid)
        yield Check(what="back_outs", ledger=-has[back_out].paid, expected=-must[back_out].paid)
        yield Check(what="seed", ledger=has[Cause.SEED].seed_money, expected=must[Cause.SEED].seed_money)

    def differences(self, postings: list[Posting]) -> Iterator[Difference]:
        """Each row that does not follow from the rest of the record."""
        left = dict(self._must)
        checked = {Cause.CONTRIBUTION, Cause.AWARD, Cause.BACK_OUT, Cause.SEED}
        number = self._numbers
        for posting in postings:
            number += 1
            if posting.number != number:
                yield Difference(
                    input=posting.input,
                    text=f"posting {posting.number} was found where posting {number} belongs",
                )
                number = posting.number
            moved = posting.moved
            if moved.given != moved.held + moved.paid:
                yield Difference(input=posting.input, text=f"posting {number} does not sum to zero")
            must = left.pop((posting.input, posting.cause), None)
            differs = must is None or (must != moved and _told(must) != _told(moved))
            if posting.cause in checked and differs:
                yield Difference(
                    input=posting.input,
                    text=f"the ledger has a {posting.cause} of {self._sum(moved)}, but the rest of the record gives "
                    f"{'none' if must is None else self._sum(must)}",
                )
        for (input_, cause), must in left.items():
            yield Difference(
                input=input_,
                text=f"the ledger has no {cause} here, but the rest of the record gives {self._sum(must)}",
            )

    def _sum(self, moved: Accounts) -> str:
        return exact(abs(moved.given or moved.paid or moved.primary), self._currency)


def _told(moved: Accounts) -> Accounts:
    """Include the overflow in the meter: the meter decides how much of an amount went past a display limit."""
    return moved + Accounts(primary=moved.overflow, overflow=-moved.overflow)


def _coins(record: Record, name: str, span: Span, day: date, timeline: list[tuple[int, Settings]]) -> Coins:
    _, _, taken = record.wagers(name, span)
    dropped = None if timeline[-1][1].wager_stays else taken
    counts = [each for each in counts_in(record, name, EVERYTHING) if each.day == day]
    return coins(dropped, counts[-1] if counts else None, record.currency)


def counts_in(record: Record, name: str, span: Span) -> tuple[CoinCount, ...]:
    """The counts of coins that were entered in a span, in order."""
    return tuple(
        CoinCount(
            day=date.fromisoformat(each.entry.day), amount=each.entry.amount, who=each.entry.who, ts=each.ts
        )
        for each in record.log(("coins_counted",), name, span)
    )


def coins(taken: int | None, last: CoinCount | None, currency: str) -> Coins:
    """The coins that were taken, beside the last count of them, and what to do. None were dropped if `taken` is None."""
    if taken is None:
        todo = "The wagers stay on the sensors until they are settled: no coins are dropped, so there is no count."
        return Coins(taken=None, todo=todo)
    if last is None:
        todo = "Count the wagers that were taken on this day, and enter their total."
        return Coins(taken=taken, todo=todo)
    difference = last.amount - taken
    return Coins(
        taken=taken,
        counted=last.amount,
        who=last.who,
        ts=last.ts,
        difference=difference,
        todo=_todo(difference, currency),
    )


def _todo(difference: int, currency: str) -> str:
    if not difference:
        return "There is nothing to do: the count equals the amount taken on the record."
    missing = difference < 0
    cause = (
        "a wager on a sensor was counted into the meter but not taken, or coins were lost on the way"
        if missing
        else "coins were taken that no sensor recognised, so that those players had no progressive wager"
    )
    return (
        f"Count again. If {minor(abs(difference), currency)} {'is still missing' if missing else 'is still too much'}, then {cause}: "
        "find that round on the recordings of surveillance. Do not change the meter for this difference. If a malfunction is "
        "found and documented, correct it by a separate manual adjustment."
    )
