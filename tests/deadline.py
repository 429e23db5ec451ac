"""How long a test waits for an event: far longer than the event takes, even on a machine that has much else to do.

A shorter limit is for a test that is about this limit, and such a test is marked `punctual`.
"""

from typing import Final

DEADLINE: Final = 240.0
"""In seconds. Pytest ends a test that takes longer than its `timeout` in pyproject.toml, which is more than twice as long."""
