"""Roles: each order and each reading for every role, by the table and over HTTP."""

import re
from pathlib import Path
from typing import get_args

import pytest

from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.settings import ApprovedOrder
from punto.controller.accounts.roles import READS, Role, may_read, orders_of
from tests.baccarat.table.croupier import settings as table_settings
from tests.consoles.consoles import PASSWORD, consoles
from tests.controller.test_operators import request_for

# As docs/reference/roles.md publishes it: a change of it is one of that page.
_ROWS = re.findall(
    r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|((?: ✓? ?\|){5})",
    Path("docs/reference/roles.md").read_text(),
    re.MULTILINE,
)
MAY: dict[str, set[str]] = {
    kind: {role for role, mark in zip(Role, marks.split("|"), strict=False) if mark.strip()}
    for kind, marks in _ROWS
}
READINGS = {
    "table": "/api/table",
    "rounds": "/api/rounds",
    "inputs": "/api/rounds/1",
    "shift": "/api/shift",
    "games": "/api/games",
    "diagnostics": "/api/diagnostics",
}


def test_every_order_is_somebodys():
    assert {kind: each.roles for kind, each in CATALOGUE.items()} == MAY
    assert {kind: {role for role in Role if kind in orders_of([role])} for kind in CATALOGUE} == MAY


def test_what_a_house_may_want_approved_is_what_can_be_approved():
    of_the_meter = {
        "open_meter",
        "adjust",
        "back_out",
        "change_settings",
        "retire",
    }  # where its settings ask for it, by the amount
    always = {"reopen_game", "forget_table"}
    by_whoever_agrees = {"nobody_won"}  # whose name is in the books then, and nobody asks for it
    assert set(get_args(ApprovedOrder)) | of_the_meter | always | by_whoever_agrees == {
        kind for kind, each in CATALOGUE.items() if each.approvable
    }


def test_several_roles_may_do_what_either_may():
    assert orders_of([Role.DEALER, Role.TECHNICIAN]) == orders_of([Role.DEALER]) | orders_of(
        [Role.TECHNICIAN]
    )
    assert may_read([Role.DEALER, Role.AUDITOR], "shift")
    assert orders_of([]) == frozenset()
    assert not may_read([], "table")


@pytest.mark.parametrize("role", list(Role))
async def test_nobody_orders_or_reads_what_is_not_of_their_role_and_who_tries_is_on_the_record(
    role, tmp_path, monkeypatch
):
    house = table_settings(game_name="progressive-2", meter={"procedure": "nexus"})
    async with consoles(tmp_path, house, refusals_per_minute=1000) as here:
        monkeypatch.setattr(
            here.table.engine.pace, "_few_at_once", len(CATALOGUE)
        )  # at any speed of the machine
        here.account("Mei", role)
        browser = await here.signed_on("Mei")
        for kind in CATALOGUE:
            before = here.table.state
            answer = await browser.order(**request_for(kind))
            if CATALOGUE[kind].seen:  # of whatever role: nobody can say what a device saw
                assert (answer.status, answer.json["code"]) == (422, "bad_request"), kind
                continue
            if role in MAY[kind]:
                waits = (answer.status, answer.json["code"]) == (202, "awaits_approval")
                assert answer.status in {200, 409} or waits, (kind, answer.text)
                assert not waits or kind == "open_meter", (
                    kind
                )  # it has a seed, and the settings ask for a second person
                continue
            assert (answer.status, answer.json["code"]) == (403, "not_of_role"), kind
            assert here.table.state is before
            shown = await browser.preview(**request_for(kind))
            signs = CATALOGUE[kind].signed and role in MAY["sign_on"]  # another may sign it at their page
            assert shown.status == (200 if signs else 403), kind
            assert here.events("access_refused")[-1] == {
                "who": "Mei",
                "what": kind,
                "code": "not_of_role",
                "where": "127.0.0.1",
                "kind": "access_refused",
            }
        for what, path in READINGS.items():
            answer = await browser.get(path)
            allowed = what in READS[role]
            assert answer.status == (
                (404 if what in {"inputs", "diagnostics"} else 200) if allowed else 403
            ), what


async def test_who_is_refused_by_role_again_and_again_must_wait_and_does_not_fill_the_record(tmp_path):
    async with consoles(tmp_path, refusals_per_minute=4) as here:
        here.account("Ann", "dealer")
        browser = await here.signed_on("Ann")
        answers = [await browser.order("change_shoe"), await browser.preview("change_shoe")]
        answers += [await browser.get(path) for path in ["/api/shift"] * 5]

        assert [answer.status for answer in answers] == [403] * 4 + [429] * 3
        assert answers[-1].json["code"] == "too_many"
        assert int(answers[-1].headers["retry-after"]) == 60
        assert [each["code"] for each in here.events("access_refused")] == ["not_of_role"] * 4 + ["too_many"]
        assert (await browser.order("call_supervisor", reason="a dispute")).status == 200
        here.account("Mei", "supervisor")
        assert (await here.browser().sign_on("Mei")).status == 200  # from the same address
        here.clock.now += 61
        assert (await browser.get("/api/shift")).status == 403


async def test_an_approval_by_one_who_may_not_counts_as_a_refusal_too(tmp_path):
    async with consoles(tmp_path, refusals_per_minute=3) as here:
        here.account("Mei", "supervisor")
        here.account("Ann", "dealer")
        browser = await here.signed_on("Mei")
        approval = {"name": "Ann", "password": PASSWORD}
        answers = [
            await browser.order("void_round", round=1, reason="r", approval=approval) for _ in range(5)
        ]

        assert [answer.status for answer in answers] == [403] * 3 + [429] * 2
        assert len(here.events("access_refused")) == 4


async def test_without_a_session_nothing_is_answered(here):
    browser = here.browser()
    before = here.inputs()
    for path in (*READINGS.values(), "/api/session", "/api/table/events"):
        assert (await browser.get(path)).status == 401
    for kind in CATALOGUE:
        assert (await browser.order(**request_for(kind))).status == 401
        assert (await browser.preview(**request_for(kind))).status == 401

    assert here.inputs() == before
