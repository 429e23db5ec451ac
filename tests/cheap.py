"""Argon2id at next to no cost, because a hash at its real cost takes a sixth of a second of a processor.

Tests in one process use it by the fixture `cheap_passwords`, and all programs that tests fork use it (tests/started.py). What is
true only at the real cost is tested in one process with `costly_passwords`.
"""

from typing import Any, Final

from argon2 import PasswordHasher

COST: Final[dict[str, Any]] = {"time_cost": 1, "memory_cost": 8, "parallelism": 1}
HASHER: Final = PasswordHasher(**COST)
