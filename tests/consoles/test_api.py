"""The HTTP API is as its own OpenAPI document says, of a real service, whatever is sent to it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.table.catalogue import CATALOGUE
from tests.consoles.consoles import Browser, Service, consoles
from tests.controller.table_on_a_machine import replayed

EXAMPLES = 2
# Limits that a game's sheet does not allow, and games that are not there, are well-formed and yet no order.
UNDERSTOOD = '["2xx", 403, 409, 422, 429]'


def schemathesis(
    folder: Path, browser: Browser, document_: str, *, examples: int
) -> subprocess.CompletedProcess[str]:
    """Run it against the service whose supervisor this browser is, all but the sign-off, the endless stream and the doctor."""
    config = folder / "schemathesis.toml"
    config.write_text(
        f'headers = {{ Origin = "{browser.origin}", X-CSRF-Token = "{browser.csrf}" }}\n'
        f'[auth.openapi.APIKeyCookie]\napi_key = "{browser.cookie}"\n'
        "[checks.negative_data_rejection]\nexpected-statuses = [400, 401, 403, 404, 405, 413, 415, 422, 429]\n"
        '[[operations]]\ninclude-path-regex = "/api/(orders|preview|card-password)"\n'
        f"checks.positive_data_acceptance.expected-statuses = {UNDERSTOOD}\n",
        encoding="utf-8",
    )
    document_file = folder / "openapi.json"
    document_file.write_text(document_, encoding="utf-8")
    command: list[str | Path] = [
        Path(sys.executable).with_name("schemathesis"),
        "--config-file",
        config,
        "run",
        "--no-color",
    ]
    command += [document_file, "--url", browser.origin, "--seed", "8", "--max-examples", str(examples)]
    command += ["--exclude-path", "/api/table/events", "--exclude-method", "DELETE"]
    # The doctor is a process of its own, which takes seconds each time and has nothing to be given.
    command += ["--exclude-path-regex", "^/api/diagnostics"]
    # The cases that it derives from each field of the document take most of its time: they are for `make soak`.
    command += [] if examples > EXAMPLES else ["--phases", "fuzzing"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


async def survives(folder: Path, examples: int) -> None:
    # A name that was tried once is locked out, which costs no Argon2; most of what is sent is tried more than once.
    with Service(
        folder, accounts="refusals_per_minute = 1000\nlock_out_after = 1\nlock_out_minutes = 60"
    ) as service:
        service.account("Mei", "supervisor")
        browser = Browser(service.http)
        await browser.sign_on("Mei")
        document_ = await browser.get("/api/openapi.json")
        done = schemathesis(folder, browser, document_.text, examples=examples)
        still_there = await browser.get("/api/session")

        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
        assert "returned only 401/403" not in done.stdout
        assert still_there.status == 200
        assert service.stop() == 0
        assert not [line for line in service.said() if "Traceback" in line]
    assert replayed(service.record)[0] == 0


async def test_whatever_is_sent_the_answer_is_as_the_document_says(tmp_path):
    await survives(tmp_path, EXAMPLES)


@pytest.mark.soak
async def test_however_much_is_sent_the_answer_is_as_the_document_says(tmp_path):
    await survives(tmp_path, 1000)


async def document(folder: Path) -> dict[str, Any]:
    async with consoles(folder) as here:
        here.account("Mei", "dealer")
        found: dict[str, Any] = (await (await here.signed_on("Mei")).get("/api/openapi.json")).json
        return found


async def test_the_document_is_for_who_is_signed_on(here):
    answer = await here.browser().get("/api/openapi.json")

    assert (answer.status, answer.json["code"]) == (401, "signed_off")


async def test_the_document_has_every_order_with_its_fields(tmp_path):
    found = await document(tmp_path)
    schemas = found["components"]["schemas"]
    kinds = [each["$ref"].rpartition("/")[2] for each in schemas["Order"]["oneOf"]]
    orders = {kind: schemas[kind] for kind in kinds}
    for path in ("/api/orders", "/api/preview"):
        body = found["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        assert body["schema"] == {"$ref": "#/components/schemas/Order"}

    assert list(orders) == [kind for kind, each in CATALOGUE.items() if not each.seen]
    assert {name for name, each in orders.items() if "approval" in each["properties"]} == {
        kind for kind, each in CATALOGUE.items() if each.approvable
    }
    for kind, order in orders.items():
        own = CATALOGUE[kind].fields
        assert order["description"] == CATALOGUE[kind].sentence
        assert order["properties"].keys() - {"order", "approval", "by"} == own.keys()
        assert {name: order["properties"][name]["description"] for name in own} == {
            name: field.help for name, field in own.items()
        }
    assert set(orders["correct_card"]["required"]) == {"order", "position", "card", "reason"}
    assert set(orders["key_card"]["required"]) == {"order", "card"}
    assert orders["key_card"]["properties"].keys() == {"order", "card", "position", "by"}
    assert orders["key_card"]["properties"]["card"]["$ref"] == "#/components/schemas/Card"
    assert len(schemas["Card"]["enum"]) == 52
    assert not [name for name, each in orders.items() if {"who", "approved_by"} & each["properties"].keys()]


async def test_the_orders_on_offer_are_those_of_the_catalogue_as_pages_show_them(here):
    here.account("Ann", "dealer")
    here.account("Ada", "auditor")
    nobody = await here.browser().get("/api/orders")
    offered = [(await (await here.signed_on(name)).get("/api/orders")).json for name in ("Ann", "Ada")]

    assert nobody.status == 401
    assert (
        offered[0]
        == offered[1]
        == [
            {
                "order": kind,
                "label": each.label,
                "sentence": each.sentence,
                "group": each.group,
                "signed": each.signed,
                "twice": each.twice,
                "of_this_hand": each.of_this_hand,
                "usual": list(each.usual),
                "fields": list(each.fields),
            }
            for kind, each in CATALOGUE.items()
        ]
    )
    found = {each["order"]: each for each in offered[0]}
    assert found["game_over"] == {
        "order": "game_over",
        "label": "GAME OVER",
        "sentence": "end the progressive's game (Aquarius)",
        "group": "game",
        "signed": False,
        "twice": True,
        "of_this_hand": False,
        "usual": [],
        "fields": [],
    }
    assert (found["jpot"]["group"], found["jpot"]["signed"]) == ("award", True)
    assert found["void_round"]["of_this_hand"]
    assert found["correct_card"]["fields"] == ["position", "card", "reason"]
    assert found["sign_award"]["fields"] == []


async def test_the_document_says_what_needs_a_session_and_what_its_token_too(tmp_path):
    paths = (await document(tmp_path))["paths"]
    needed = {
        (method, path): operation.get("security")
        for path, operations in paths.items()
        for method, operation in operations.items()
    }
    with_token = {
        (method, path)
        for method, path in needed
        if "X-CSRF-Token" in {each["name"] for each in paths[path][method].get("parameters", ())}
    }

    assert needed.pop(("post", "/api/session")) is None
    assert list(needed.values()) == [[{"APIKeyCookie": []}]] * len(needed)
    assert with_token == {
        ("get", "/api/session"),
        ("delete", "/api/session"),
        ("post", "/api/orders"),
        ("post", "/api/preview"),
        ("post", "/api/card-password"),
        ("post", "/api/approvals/{number}"),
        ("delete", "/api/approvals/{number}"),
        ("post", "/api/approvals/{number}/key-options"),
        ("post", "/api/approvals/{number}/key"),
        ("post", "/api/session/key-options"),
        ("post", "/api/session/key"),
    }


async def test_whatever_the_document_refers_to_is_in_it(tmp_path):
    found = await document(tmp_path)
    referred = set(re.findall(r'"\$ref": "#/components/schemas/(\w+)"', json.dumps(found)))

    assert "Refusal" in referred
    assert referred <= found["components"]["schemas"].keys()


async def test_the_document_names_the_cookie_of_this_very_table(here):
    here.account("Mei", "dealer")
    browser = await here.signed_on("Mei")
    found = (await browser.get("/api/openapi.json")).json["components"]["securitySchemes"]

    assert found["APIKeyCookie"] == {
        "type": "apiKey",
        "in": "cookie",
        "name": f"punto_session_{here.port}",
    }


async def test_there_is_no_page_that_fetches_scripts_from_elsewhere(here):
    for path in ("/docs", "/redoc", "/openapi.json", "/api/docs"):
        assert (await here.browser().get(path)).status == 404
