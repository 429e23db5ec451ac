"""What is printed of an award, on a sheet or on a slip: what, where, how much, to whom, and who signs for it."""

from dataclasses import dataclass
from datetime import tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from controller.gaming_days import by_the_clock
from controller.progressive.money import written
from game_manager.reports import Award, Print

_UNITS: Final = (
    *(
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    ),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_GROUPS: Final = ("", " thousand", " million", " billion", " trillion")

COPY: Final = "COPY"
SIGNATURES: Final = ("Paid by", "Verified by", "Received by")
STATES: Final = {
    "locked": "CONFIRMED, NOT YET TAKEN OFF THE METER",
    "booked": "",
    "backed_out": "BACKED OUT: DO NOT PAY",
}
"""What a page says above all else, where the award is not simply to be paid."""


@dataclass(frozen=True, slots=True)
class WinPage:
    """The page of an award. `facts` are names and values, `shares` seats and amounts in the order of paying.

    `copy` is what it says first where it is not the original, "" where it is.
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
    """The page of an award as it is printed, at a table of this name; times by the clock of the house's zone."""
    original = award.original
    facts = (
        ("Progressive", award.progressive),
        ("Award", f"{award.number}"),
        ("Tier", plain(award.tier)),
        ("Table", table if table == award.table else f"{table} ({award.table})"),
        ("Round", f"{award.round}"),
        ("Meter", written(award.meter)),
        ("Confirmed by", award.who if award.card is None else f"{award.who}, {award.card} card"),
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
        amount=f"{currency} {written(award.amount)}".strip(),
        in_words=in_words(award.amount),
        facts=facts,
        shares=tuple((f"Seat {share.seat}", written(share.amount)) for share in award.shares),
        number=f"Record {award.input}",
    )


def plain(name: str) -> str:
    """A name of programs as people read it."""
    return name.replace("_", " ").capitalize()


def clock(ts: str, zone: tzinfo) -> str:
    """A time of the record by the clock of a zone, to the second, with how far that is from UTC."""
    return by_the_clock(ts, zone).isoformat(" ", "seconds")


def in_words(minor_units: int) -> str:
    """An amount as on a cheque: 250010 is "Two thousand five hundred and 10/100"."""
    units, hundredths = divmod(minor_units, 100)
    groups = []
    for name in _GROUPS:
        units, group = divmod(units, 1000)
        if group:
            groups.append(_below_a_thousand(group) + name)
    words = " ".join(reversed(groups)) or _UNITS[0]
    return f"{words[0].upper()}{words[1:]} and {hundredths:02}/100"


def _below_a_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    if rest < len(_UNITS):
        small = _UNITS[rest] if rest else ""
    else:
        small = f"{_TENS[tens]}{f'-{_UNITS[ones]}' if ones else ''}"
    return " ".join(part for part in (f"{_UNITS[hundreds]} hundred" if hundreds else "", small) if part)
