"""The pauses between attempts: from nothing up to a limit that doubles and has an end."""

import random
from typing import Any

import pytest

from punto.runtime.backoff import Backoff


@pytest.mark.parametrize("again", range(2))
def test_the_limit_doubles_with_each_failure_up_to_the_longest_and_begins_again_after_a_success(
    monkeypatch, again
):
    monkeypatch.setattr(random, "uniform", lambda least, most: (least, most))
    backoff = Backoff(0.5, 3)
    for _ in range(again):
        backoff.pause()
    backoff.reset()

    pauses: list[Any] = [backoff.pause() for _ in range(5)]
    assert pauses == [(0, 0.5), (0, 1), (0, 2), (0, 3), (0, 3)]
    assert backoff.failures == 5


def test_what_failed_a_thousand_times_pauses_no_longer_than_the_longest():
    backoff = Backoff(0.1, 1)

    assert all(0 <= backoff.pause() <= 1 for _ in range(5000))


def test_what_failed_together_does_not_come_back_together():
    backoffs = [Backoff(1, 10) for _ in range(100)]
    pauses = sorted(each.pause() for each in backoffs)

    assert pauses[10] < 0.25
    assert pauses[-10] > 0.75
