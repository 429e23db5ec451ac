"""The printed page of an award, on a sheet or on a slip: the award, its amount, its shares, and the signatures."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from punto.baccarat.coup import Side, total
from punto.baccarat.currency import decimals_of, written
from punto.baccarat.progressive.aquarius import KEY_SWITCH
from punto.reports.awards import Award, Print
from punto.runtime.gaming_days import by_the_clock

_UNITS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_GROUPS: Final = ("", " thousand", " million", " billion", " trillion")

COPY: Final = "COPY"
SIGNATURES: Final = ("Paid by", "Verified by", "Received by")
STATES: Final = {
    "locked": "CONFIRMED, NOT YET BOOKED",
    "booked": "",
    "backed_out": "BACKED OUT: DO NOT PAY",
}
"""The heading above the page, if the award must not simply be paid."""


@dataclass(frozen=True, slots=True)
class WinPage:
    """The page of an award. `facts` are names and values, `shares` seats and amounts in the order of paying.

    `copy` is its first line if it is not the original, or "" if it is.
    """

    title: str
    copy: str
    warning: str
    amount: str
    in_words: str
    facts: tuple[tuple[str, str], ...]
    shares: tuple[tuple[str, str], ...]
    number: str


def win_page(award: Award, printed: Print, table: str, currency: str, zone: ZoneInfo) -> WinPage:
    """The page of an award for printing, at a table of this name; times by the clock of the house's zone."""
    original = award.original
    of_meter = award.payer == "meter"
    facts = (
        ("Progressive", award.progressive),
        ("Award", f"{award.number}"),
        ("Tier", award.title),
        ("Table", table if table == award.table else f"{table} ({award.table})"),
        ("Round", f"{award.round}"),
        ("Paid from", f"the meter, at {written(award.meter, currency)}" if of_meter else "the tray"),
        *_hands(award),
        *_confirmed(award),
        ("Confirmed", clock(award.locked, zone)),
        ("Booked", "not yet" if award.booked is None else clock(award.booked, zone)),
        ("Printed by", printed.who),
        ("Printed", clock(printed.ts, zone)),
        *(
            ()
            if printed.original or original is None
            else (("Original by", original.who), ("Original printed", clock(original.ts, zone)))
        ),
        ("Time zone", zone.key),
    )
    return WinPage(
        title="Progressive award",
        copy="" if printed.original else COPY,
        warning=STATES[award.state],
        amount=f"{currency} {written(award.amount, currency)}",
        in_words=in_words(award.amount, currency),
        facts=facts,
        shares=tuple((f"Seat {share.seat}", written(share.amount, currency)) for share in award.shares),
        number=f"Record {award.input}",
    )


def _hands(award: Award) -> Iterator[tuple[str, str]]:
    """The hands as dealt, and the winner."""
    for side, cards in ((Side.PLAYER, award.player), (Side.BANKER, award.banker)):
        wins = ", wins" if side is award.side else ""
        yield side.value.capitalize(), f"{' '.join(cards)} = {total(cards)}{wins}"


def _confirmed(award: Award) -> Iterator[tuple[str, str]]:
    """The people who confirmed the award, by what means, and who backed it out.

    A key does not identify a person. Sheet 000, 7e: "the supervisor shall insert the key"; so the supervisor
    who prints the original signs.
    """
    if award.confirmed_by is not None:
        yield "Confirmed by", award.confirmed_by
    who = award.who
    if award.by == "key" and who == KEY_SWITCH:
        who = "nobody yet" if award.original is None else award.original.who
    how = {"key": " (key switch)", "card": f", {award.level} card", "signature": f", {award.level} signature"}
    name = "Confirmed by" if award.confirmed_by is None else "Completed by"
    yield name, f"{who}{how.get(award.by, ' (dealer)')}"
    back = award.backed_out
    if back is not None:
        approved = "" if back.approved_by is None else f", approved by {back.approved_by}"
        yield "Backed out by", f"{back.who}{approved}"


def clock(ts: str, zone: tzinfo) -> str:
    """A time of the record by the clock of a zone, to the second, with its UTC offset."""
    return by_the_clock(ts, zone).isoformat(" ", "seconds")


def in_words(minor_units: int, currency: str) -> str:
    """An amount as on a cheque: 250010 in USD is "Two thousand five hundred and 10/100"."""
    decimals = decimals_of(currency)
    units, parts = divmod(minor_units, 10**decimals)
    groups = []
    for name in _GROUPS:
        units, group = divmod(units, 1000)
        if group:
            groups.append(_below_a_thousand(group) + name)
    words = " ".join(reversed(groups)) or _UNITS[0]
    fraction = f" and {parts:0{decimals}}/{10**decimals}" if decimals else ""
    return f"{words[0].upper()}{words[1:]}{fraction}"


def _below_a_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    if rest < len(_UNITS):
        small = _UNITS[rest] if rest else ""
    else:
        small = f"{_TENS[tens]}{f'-{_UNITS[ones]}' if ones else ''}"
    return " ".join(part for part in (f"{_UNITS[hundreds]} hundred" if hundreds else "", small) if part)
