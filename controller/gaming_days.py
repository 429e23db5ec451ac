"""Gaming days and weeks: when they begin by the clock of the house, whatever daylight saving does to that clock."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Self
from zoneinfo import ZoneInfo

from punto.configs.problems import cut

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_A_DAY: Final = timedelta(days=1)
FIRST_DAY: Final = date(2000, 1, 1)
LAST_DAY: Final = date(2999, 12, 31)
"""The days that can be asked for: well inside those that a calendar can reckon with."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """A gaming day begins at `starts` by the clock of `zone`, and a gaming week with the first such day named `week_starts`."""

    starts: time
    zone: ZoneInfo
    week_starts: str = "monday"

    @classmethod
    def of(cls, day_starts: str = "06:00", zone: str = "UTC", week_starts: str = "monday") -> Self:
        """The calendar by its settings, such as "06:00", "Asia/Macau" and "monday".

        Raises:
            ValueError: one of them is none.
        """
        return cls(read_start(day_starts), read_zone(zone), read_weekday(week_starts))

    def begins(self, day: date) -> datetime:
        """When a gaming day begins, in UTC.

        Where the clock is put forward past `starts`, it begins that much later by the clock; where it shows `starts` twice,
        at the first time.
        """
        return datetime.combine(day, self.starts, self.zone).astimezone(UTC)

    def day_of(self, moment: datetime) -> date:
        """The gaming day that a moment belongs to."""
        day = moment.astimezone(self.zone).date()
        return day if self.begins(day) <= moment else day - _A_DAY

    def week_of(self, day: date) -> date:
        """The first day of the gaming week that a day is in."""
        return day - timedelta(days=(day.weekday() - WEEKDAYS.index(self.week_starts)) % 7)


def by_the_clock(ts: str, zone: tzinfo) -> datetime:
    """A time of the record, which is in UTC, by the clock of a zone."""
    return datetime.fromisoformat(ts).astimezone(zone)


def read_start(text: str) -> time:
    """A time for gaming days to begin at, such as "06:00".

    Raises:
        ValueError: it is none.
    """
    if not re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", text):
        raise ValueError(
            f"{cut(text)!r} is no time for a day to start at: write 00:00 to 23:59, such as 06:00"
        )
    return time.fromisoformat(text)


def read_zone(text: str) -> ZoneInfo:
    """A time zone such as "Asia/Macau".

    Raises:
        ValueError: this machine knows none of this name.
    """
    try:
        return ZoneInfo(text)
    except (ValueError, OSError, KeyError):
        raise ValueError(
            f"{cut(text)!r} is no time zone of this machine: write one such as Asia/Macau or UTC"
        ) from None


def read_day(text: str) -> date:
    """A day such as 2026-11-21.

    Raises:
        ValueError: it is none.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or len(text) != len("2026-11-21"):
        raise ValueError(f"{cut(text)!r} is no day: write it as 2026-11-21")
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValueError(f"{text} is too far from today: write a day from {FIRST_DAY} to {LAST_DAY}")
    return day


def read_weekday(text: str) -> str:
    """A day that weeks can start with, such as "monday".

    Raises:
        ValueError: it is none.
    """
    if text not in WEEKDAYS:
        raise ValueError(
            f"{cut(text)!r} is no day that a week can start with: write one of {', '.join(WEEKDAYS)}"
        )
    return text
