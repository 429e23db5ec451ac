"""How much of what chance deals, or what is walked through case by case, a test plays: all of it with `make soak` alone."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

import pytest

T = TypeVar("T")

ALL: Final = "PUNTO_PLAY_ALL" in os.environ


def share(of: int, *, one_in: int = 10) -> int:
    """One in ten of so many examples, or all of them with `make soak`."""
    return of if ALL else of // one_in


def part(of: Sequence[T], *, one_in: int) -> Sequence[T]:
    """The first of each so many, or all of them with `make soak`."""
    return of if ALL else of[::one_in]


def soaked(*cases: Any) -> list[Any]:
    """Cases of `parametrize` for `make soak` alone, beside others of their kind that `make test` plays too."""
    return [
        pytest.param(*case if isinstance(case, tuple) else (case,), marks=pytest.mark.soak) for case in cases
    ]


def sampled(cases: Iterable[Any], *, one_in: int) -> list[Any]:
    """Cases of `parametrize` of one kind: the first of each so many; all of them with `make soak`."""
    found = []
    for number, case in enumerate(cases):
        known = (
            case if hasattr(case, "marks") else pytest.param(*(case if isinstance(case, tuple) else (case,)))
        )
        marks = [*known.marks, *([pytest.mark.soak] if number % one_in else [])]
        found.append(pytest.param(*known.values, marks=marks, id=known.id))
    return found
