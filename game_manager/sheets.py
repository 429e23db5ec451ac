"""Every report as a sheet of rows, and a sheet as CSV (RFC 4180), for further calculations.

Amounts are exact decimals of the currency's unit, times are by the house's clock with their UTC offset. A
person's text may begin like a formula, which a spreadsheet would execute, so it gets an apostrophe before it.
"""

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from typing import Final

from punto.controller.gaming_days import by_the_clock
from punto.game_manager.amounts import cents, exact
from punto.game_manager.awards import Award
from punto.game_manager.reconciliation import Reconciliation
from punto.game_manager.record import ACCOUNTS, Accounts, Posting
from punto.game_manager.reports import Change, Day, Meter, Week

Cell = str | int | None
Rows = Iterator[Sequence[Cell]]
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_lines(rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """The lines of a CSV file, each with its end."""
    for row in rows:
        line = io.StringIO()
        csv.writer(line).writerow(["" if cell is None else cell for cell in row])
        yield line.getvalue()


def said(text: str | None) -> str | None:
    """A person's text, changed so that a spreadsheet does not take it for a formula."""
    if text is None:
        return None
    # As a spreadsheet may read it: full-width signs as signs, and invisible characters removed.
    plain = "".join(each for each in unicodedata.normalize("NFKC", text) if each.isprintable())
    return f"'{text}" if plain.lstrip().startswith(_FORMULA) or text.startswith(_FORMULA) else text


def meters_sheet(meters: Iterable[Meter], zone: tzinfo) -> Rows:
    """One row per progressive, and one for the payments of each tier."""
    yield (
        "progressive",
        "retired",
        "since",
        "until",
        *ACCOUNTS,
        "promised",
        "awards",
        "from_tray",
        "balanced",
        "tier",
    )
    for each in meters:
        lasted = (_ts(each.since, zone), _ts(each.until, zone))
        about = (each.progressive, _yes(each.retired), *lasted)
        yield (
            *about,
            *_accounts(each.accounts),
            cents(each.promised),
            each.awards,
            cents(each.from_tray),
            _yes(each.balanced),
            None,
        )
        for tier, paid in each.paid_by_tier.items():
            yield (*about, *(None,) * (len(ACCOUNTS) - 1), exact(paid), *(None,) * 4, said(tier))


def awards_sheet(awards: Iterable[Award], zone: tzinfo) -> Rows:
    """One row per share of an award, in the order of paying."""
    yield (
        *(
            "input",
            "progressive",
            "award",
            "tier",
            "table",
            "round",
            "meter",
            "amount",
            "seat",
            "share",
            "who",
            "card",
        ),
        *("state", "locked", "booked", "backed_out", "backed_out_by", "approved_by", "reason"),
        *("original_printed", "original_by", "copies", "payer", "by", "confirmed_by", "player", "banker"),
    )
    for each in awards:
        back, original = each.backed_out, each.original
        for share in each.shares:
            yield (
                *(each.input, each.progressive, each.number, said(each.tier), said(each.table), each.round),
                *(cents(each.meter), cents(each.amount), share.seat, cents(share.amount), said(each.who)),
                *(each.card, each.state, _ts(each.locked, zone), _ts(each.booked, zone)),
                *(
                    (None,) * 4
                    if back is None
                    else (_ts(back.ts, zone), *map(said, (back.who, back.approved_by, back.reason)))
                ),
                *((None, None) if original is None else (_ts(original.ts, zone), said(original.who))),
                sum(not printed.original for printed in each.prints),
                *(each.payer, each.by, said(each.confirmed_by), " ".join(each.player), " ".join(each.banker)),
            )


def day_sheet(day: Day, zone: tzinfo) -> Rows:
    """The day's start, each change and its end: the rows between add up to the difference of the first and the last."""
    yield (
        *(
            "progressive",
            "day",
            "line",
            "ts",
            "rounds",
            "wagers",
            "staked",
            *ACCOUNTS,
            "tier",
            "table",
            "round",
        ),
        *("award", "who", "reason", "approved_by", "from_tray"),
    )
    for each in day.progressives:
        about = (each.progressive, day.day.isoformat())
        nobody = (None,) * 8
        nothing = (None,) * (3 + len(ACCOUNTS))
        yield (*about, "start", _ts(day.begins, zone), None, None, None, *_accounts(each.start), *nobody)
        for change in each.changes:
            counted = change.ts is None  # all contributions of the day
            wagers = (each.rounds, each.wagers, cents(each.staked)) if counted else (None,) * 3
            yield (
                *about,
                change.cause,
                _ts(change.ts, zone),
                *wagers,
                *_accounts(change.moved),
                *_about(change),
                None,
            )
        for paid in each.from_tray:
            line = "tray_back_out" if paid.amount < 0 else "tray_award"
            where = (said(paid.tier), said(paid.table), paid.round, paid.award)
            why = map(said, (paid.who, paid.reason, paid.approved_by))
            yield (*about, line, _ts(paid.ts, zone), *nothing, *where, *why, cents(paid.amount))
        for told in each.nobody_won:
            line = "game_reopened" if told.again else "nobody_won"
            about_it = (said(told.tier), said(told.table), told.round, None)
            why = map(said, (told.who, told.reason, told.approved_by))
            yield (*about, line, _ts(told.ts, zone), *nothing, *about_it, *why, None)
        for other in each.settings:
            words = "; ".join(
                f"{name}: {before} to {after}" for name, (before, after) in other.changed.items()
            )
            whole = (None,) * (3 + len(ACCOUNTS) + 4)
            yield (
                *about,
                "settings",
                _ts(other.ts, zone),
                *whole,
                said(other.who),
                said(f"{other.reason} ({words})"),
                None,
                None,
            )
        yield (*about, "end", _ts(day.ends, zone), None, None, None, *_accounts(each.end), *nobody)


def week_sheet(week: Week) -> Rows:
    """The held money at the week's start, each cause's part, the held money at its end, and the deposit."""
    yield ("progressive", "week", "line", "meter", "reserve", "held")
    for each in week.progressives:
        about = (each.progressive, week.first.isoformat())
        yield (*about, "start", None, None, exact(each.start))
        for part in each.components:
            both = (part.to_meter, part.to_reserve)
            yield (*about, part.cause, *map(exact, both), exact(sum(both)))
        yield (*about, "end", None, None, exact(each.end))
        yield (*about, "carried_in", None, None, exact(each.carried_in))
        yield (*about, "carried_out", None, None, exact(each.carried_out))
        yield (*about, "deposit", None, None, cents(each.deposit))


def reconciliation_sheet(found: Reconciliation) -> Rows:
    """One row per comparison, then each difference."""
    yield ("progressive", "day", "what", "ledger", "expected", "difference", "input", "text")
    for each in found.progressives:
        about = (each.progressive, found.day.isoformat())
        for check in each.checks:
            difference = exact(check.ledger - check.expected)
            yield (*about, check.what, exact(check.ledger), exact(check.expected), difference, None, None)
        coins = each.coins
        both = (_cents(coins.counted), _cents(coins.taken), _cents(coins.difference))
        yield (*about, "coins", *both, None, said(coins.todo))
        for other in each.differences:
            yield (*about, "posting", None, None, None, other.input, said(other.text))
        yield (*about, "from_tray", None, cents(each.from_tray), None, None, None)


def postings_sheet(postings: Iterable[Posting], zone: tzinfo) -> Rows:
    """The ledger: one row per posting, with the amount that each account received."""
    yield (
        *(
            "input",
            "place",
            "ts",
            "progressive",
            "number",
            "cause",
            *ACCOUNTS,
            "tier",
            "table",
            "round",
            "award",
        ),
        *("who", "reason", "approved_by"),
    )
    for each in postings:
        got = (
            *(each.seed_money, each.contributions, each.adjustments),
            *(each.primary_meter, each.reserve, each.overflow, each.paid),
        )
        ts = _ts(each.ts, zone)
        place: tuple[Cell, ...] = (each.input, each.place, ts, each.progressive, each.number, each.cause)
        yield (
            *place,
            *map(exact, got),
            *(said(each.tier), said(each.table), each.round, each.award),
            *map(said, (each.who, each.reason, each.approved_by)),
        )


def _accounts(accounts: Accounts) -> tuple[str, ...]:
    return tuple(exact(getattr(accounts, name)) for name in ACCOUNTS)


def _about(change: Change) -> tuple[Cell, ...]:
    where = (said(change.tier), said(change.table), change.round, change.award)
    return (*where, *map(said, (change.who, change.reason, change.approved_by)))


def _cents(minor_units: int | None) -> str | None:
    return None if minor_units is None else cents(minor_units)


def _ts(ts: str | None, zone: tzinfo) -> str | None:
    return None if ts is None else by_the_clock(ts, zone).isoformat(timespec="microseconds")


def _yes(so: bool) -> str:
    return "yes" if so else "no"
