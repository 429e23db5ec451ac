"""The program's version, in its own module so that rooms can import it."""

import re
from datetime import datetime, time, timedelta, timezone
from pathlib import Path

__version__ = "0.1.0"
FIRST_ON_EARTH = timezone(timedelta(hours=14))
"""The zone in which each day begins first."""


def released() -> datetime:
    """When the day of the newest release in CHANGELOG.md, which ships with the program, began anywhere on Earth."""
    changelog = Path(__file__).with_name("CHANGELOG.md").read_text(encoding="utf-8")
    days = re.findall(r"^## \[.+?\] - (\d{4}-\d\d-\d\d)$", changelog, re.MULTILINE)
    return datetime.combine(datetime.fromisoformat(max(days)), time(), FIRST_ON_EARTH)
