"""How fast a client may ask, and what becomes of what it asks beyond that."""

import re

from punto.baccarat.table.events import Flooded
from punto.runtime.pace import (
    AT_ONCE,
    DEAR,
    FEW_AT_ONCE,
    MOST_CLIENTS,
    PER_SECOND,
    PROGRAM,
    SUMMED_SECONDS,
    Pace,
)
from tests.consoles.consoles import Clock
from tests.controller.table_in_this_process import HERE


def test_a_client_may_ask_so_often_at_once_and_again_after_a_pause():
    clock = Clock()
    pace = Pace(per_second=2, at_once=5, clock=clock)

    assert [pace.allows("seat 1") for _ in range(7)] == [True] * 5 + [False] * 2
    assert pace.allows("seat 2")
    clock.now += 1
    assert [pace.allows("seat 1") for _ in range(3)] == [True, True, False]
    clock.now += 1000
    assert [pace.allows("seat 1") for _ in range(6)] == [True] * 5 + [False]


def test_what_costs_more_counts_as_so_many_requests():
    clock = Clock()
    pace = Pace(per_second=DEAR, at_once=2 * DEAR, clock=clock)
    asked = []
    for _ in range(4):
        asked.append(pace.allows("seat 1"))
        if asked[-1]:
            pace.charge("seat 1")

    assert asked == [True, True, False, False]
    clock.now += 1
    assert pace.allows("seat 1")


def test_refusals_are_summed_up_ten_seconds_after_the_first():
    clock = Clock()
    pace = Pace(per_second=0, at_once=1, clock=clock)
    for _ in range(4):
        pace.allows("seat 1")
    clock.now += SUMMED_SECONDS - 1
    assert [*pace.summed_up()] == []

    clock.now += 1

    assert [*pace.summed_up()] == [Flooded("seat 1", 3, SUMMED_SECONDS)]
    assert [*pace.summed_up()] == []
    assert pace.refused("seat 1") == 0


def test_whatever_clients_are_made_up_little_is_kept_and_they_share_what_is_left():
    pace = Pace(per_second=0, at_once=1, clock=Clock())
    assert all(pace.allows(f"client {number}") for number in range(MOST_CLIENTS + 1))

    assert not pace.allows("one more")
    assert len(pace._clients) == MOST_CLIENTS + 1


def test_a_program_at_the_socket_may_ask_more_often():
    clock = Clock()
    pace = Pace(per_second=1, at_once=4, clock=clock)
    for client, times in (("account mei", 1), ("user root", PROGRAM)):
        assert [pace.allows(client, times) for _ in range(5)] == [True] * 4 + [False]
    clock.now += 1
    assert [pace.allows("account mei"), pace.allows("account mei")] == [True, False]
    assert [pace.allows("user root", PROGRAM) for _ in range(5)] == [True] * 4 + [False]


def test_the_pages_have_the_programs_numbers():
    for page in ("topics", "api"):
        text = (HERE / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")
        text = text.partition("## The socket")[0]
        said = re.findall(
            r"(\d+) requests(?: for snapshots and rounds)? at once, and (\d+)[^.]* a second", text
        )

        assert set(said) == {(str(AT_ONCE), f"{PER_SECOND:.0f}")}


def test_the_page_of_the_api_has_the_pace_of_the_socket():
    text = (HERE / "docs" / "reference" / "api.md").read_text(encoding="utf-8").partition("## The socket")[2]
    said = re.search(r"user of the machine may give (\d+) orders at once, and (\d+) orders a second", text)

    assert said is not None
    assert said.groups() == (str(AT_ONCE), f"{PER_SECOND * PROGRAM:.0f}")


def test_the_page_of_the_api_has_the_pace_of_an_accounts_orders():
    text = (HERE / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    said = re.search(r"An account may give (\d+) orders at once, and (\d+) orders a second", text)

    assert said is not None
    assert said.groups() == (str(FEW_AT_ONCE), f"{PER_SECOND:.0f}")
