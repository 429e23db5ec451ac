"""What a person's pages ask too often is refused, and takes nothing from anybody else."""

import time

import pytest

from punto.consoles import answers as consoles_answers
from punto.runtime.pace import AT_ONCE, DEAR, Pace
from tests.consoles.consoles import consoles

PREVIEW = {"order": "change_shoe"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/table", None),
        ("GET", "/api/rounds", None),
        ("GET", "/api/progressive", None),
        ("POST", "/api/preview", PREVIEW),
    ],
)
async def test_what_pages_ask_too_often_is_refused_with_what_to_do(method, path, body, here):
    here.account("Mei", "supervisor")
    here.account("Omar", "supervisor")
    mei, omar = await here.signed_on("Mei"), await here.signed_on("Omar")
    here.table.engine.pace = Pace(per_second=0, clock=lambda: 0.0)
    before = here.inputs()
    answers = [await mei.ask(method, path, body) for _ in range(AT_ONCE + 10)]

    assert [each.status for each in answers] == [200] * AT_ONCE + [429] * 10
    assert (answers[-1].json["code"], answers[-1].headers["retry-after"]) == ("too_fast", "5")
    assert "try again in 5 s" in answers[-1].json["reason"]
    assert (await omar.ask(method, path, body)).status == 200
    assert here.inputs() == before


async def test_sign_ons_without_end_are_refused_before_the_record(here):
    here.account("Mei", "dealer")
    here.account("Omar", "supervisor")
    here.table.engine.pace = Pace(per_second=0, clock=lambda: 0.0)
    answers = [await here.browser().sign_on("Mei") for _ in range(20)]

    begun = AT_ONCE // DEAR
    assert [each.status for each in answers] == [200] * begun + [429] * (20 - begun)
    assert answers[-1].json["code"] == "too_fast"
    assert len(here.events("session_begun")) == begun
    assert (await here.browser().sign_on("Omar")).status == 200


async def test_a_connection_that_floods_waits_for_each_refusal(tmp_path, monkeypatch):
    monkeypatch.setattr(consoles_answers, "FLOOD_WAITS_SECONDS", 0.3)
    async with consoles(tmp_path) as here:
        here.account("Mei", "supervisor")
        mei = await here.signed_on("Mei")
        here.table.engine.pace = Pace(per_second=0, at_once=0, clock=lambda: 0.0)
        began = time.monotonic()
        answers = [await mei.ask("POST", "/api/preview", PREVIEW) for _ in range(3)]

        assert [each.status for each in answers] == [429] * 3
        assert time.monotonic() - began >= 3 * 0.3
