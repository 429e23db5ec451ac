"""Gaming days and weeks: when they begin by the house's clock, including days when daylight saving changes it."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Self
from zoneinfo import ZoneInfo

from punto.configs.problems import cut

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct", "Nov", "Dec")
_A_DAY: Final = timedelta(days=1)
FIRST_DAY: Final = date(2000, 1, 1)
LAST_DAY: Final = date(2999, 12, 31)
"""The days that a report can be for: well inside the range of `date`."""


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
            ValueError: a setting is invalid.
        """
        return cls(read_start(day_starts), read_zone(zone), read_weekday(week_starts))

    def begins(self, day: date) -> datetime:
        """When a gaming day begins, in UTC.

        If the clock is put forward past `starts`, the day begins that much later by the clock. If the clock shows
        `starts` twice, the day begins at the first time.
        """
        return datetime.combine(day, self.starts, self.zone).astimezone(UTC)

    def day_of(self, moment: datetime) -> date:
        """The gaming day of a moment."""
        day = moment.astimezone(self.zone).date()
        while self.begins(day) > moment:  # twice if the clock is put forward past `starts` and midnight
            day -= _A_DAY
        return day

    def week_of(self, day: date) -> date:
        """The first day of a day's gaming week."""
        return day - timedelta(days=(day.weekday() - WEEKDAYS.index(self.week_starts)) % 7)


class DayChange:
    """Notices when the gaming day is another one than that of `now`: the next, or an earlier one if the clock is set back."""

    def __init__(self, calendar: Calendar, now: datetime) -> None:
        self.calendar = calendar
        self._look(now)

    def change(self, now: datetime) -> datetime | None:
        """When the gaming day of `now` began, if it is another one than at the last call; otherwise None."""
        if self._began <= now < self._ends:
            return None
        self._look(now)
        return self._began

    def _look(self, now: datetime) -> None:
        day = self.calendar.day_of(now)
        self._began, self._ends = self.calendar.begins(day), self.calendar.begins(day + _A_DAY)


def written_day(day: date) -> str:
    """A day as the pages in English write it: "24 Nov 2026"."""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def by_the_clock(ts: str, zone: tzinfo) -> datetime:
    """A time of the record (UTC), in the time of a zone."""
    return datetime.fromisoformat(ts).astimezone(zone)


def read_start(text: str) -> time:
    """The time at which gaming days begin, such as "06:00".

    Raises:
        ValueError: the text is not a time.
    """
    if not re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", text):
        raise ValueError(f"{cut(text)!r} is not a time of day: write 00:00 to 23:59, such as 06:00")
    return time.fromisoformat(text)


def read_zone(text: str) -> ZoneInfo:
    """A time zone such as "Asia/Macau".

    Raises:
        ValueError: this machine does not know the zone.
    """
    try:
        return ZoneInfo(text)
    except (ValueError, OSError, KeyError):
        raise ValueError(
            f"{cut(text)!r} is not a time zone of this machine: write one such as Asia/Macau or UTC"
        ) from None


def read_day(text: str) -> date:
    """A day such as 2026-11-21.

    Raises:
        ValueError: the text is not a day, or the day is outside `FIRST_DAY` to `LAST_DAY`.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or len(text) != len("2026-11-21"):
        raise ValueError(f"{cut(text)!r} is not a day: write the day in the form 2026-11-21")
    return in_reach(day)


def in_reach(day: date) -> date:
    """The day; raises ValueError if it is outside `FIRST_DAY` to `LAST_DAY`."""
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValueError(f"{day} is too far from today: write a day from {FIRST_DAY} to {LAST_DAY}")
    return day


def read_weekday(text: str) -> str:
    """The first day of a week, such as "monday".

    Raises:
        ValueError: the text is not a weekday.
    """
    if text not in WEEKDAYS:
        raise ValueError(f"{cut(text)!r} is not a weekday: write one of {', '.join(WEEKDAYS)}")
    return text
