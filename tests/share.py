"""How much of what chance deals, or what is walked through case by case, a test plays: all of it with `make soak` alone."""

import os
from typing import Final

ALL: Final = "PUNTO_PLAY_ALL" in os.environ


def share(of: int, *, one_in: int = 10) -> int:
    """One in ten of so many examples, or all of them with `make soak`."""
    return of if ALL else of // one_in
