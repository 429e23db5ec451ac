"""What the doctor finds, at the consoles of a service that runs: beside it, as its own user, and as a file without secrets."""

import asyncio
import json
from contextlib import closing
from typing import Any

import pytest

from punto.commands import diagnosis
from punto.commands.diagnosis import NO_ANSWER, Diagnosis
from punto.commands.doctor import table_findings
from punto.commands.operator import ask as order
from punto.consoles.diagnostics import LEFT_OUT, Examination
from punto.controller.accounts.accounts import Accounts
from punto.doctor import checks
from punto.doctor.findings import Finding
from punto.doctor.patient import locking
from tests.consoles.consoles import PASSWORD, Browser, Service, consoles
from tests.controller.table_on_a_machine import Broker, wait_until
from tests.deadline import DEADLINE

SECRETS = {
    "broker_password": "tr0ub4dor-and-3",
    "device_key": "5eaf00d5" * 8,
    "password": PASSWORD,
    "card": "60112233445566",
    "name": "Mei-Lin",
    "other_name": "Óscar",
    "misplaced": "hunter2hunter2",
}
EXTRA = """\
[keypad]
port = "{folder}/keypad"
key_file = "keypad.key"
[mqtt]
port = {broker}
username = "table-1"
password_file = "mqtt-password"
"""


@pytest.fixture
def service(tmp_path):
    (tmp_path / "keypad.key").write_text(f"{SECRETS['device_key']}\n")
    (tmp_path / "mqtt-password").write_text(f"{SECRETS['broker_password']}\n")
    for each in ("keypad.key", "mqtt-password"):
        (tmp_path / each).chmod(0o600)
    (tmp_path / "broker").mkdir()
    with Broker(tmp_path / "broker") as broker:
        own = EXTRA.format(folder=tmp_path, broker=broker.port)
        notice = f'notice = "Ask {SECRETS["name"]} for {SECRETS["other_name"]}"\n'
        here = Service(tmp_path, console=notice + own)
        here.account(SECRETS["name"], "supervisor")
        here.account(SECRETS["other_name"], "technician")
        with here:
            status = {"order": "status"}
            wait_until(
                lambda: order(here.door, status)["links"]["broker"]["connected"], "the broker is there"
            )
            yield here


async def ask(service: Service, path: str, name: str = SECRETS["name"]) -> Any:
    browser = Browser(service.http)
    await browser.sign_on(name)
    return await browser.get(path)


def test_the_doctor_examines_the_table_beside_the_service_that_runs(service, monkeypatch):
    # A busy machine fails no test.
    monkeypatch.setattr(checks, "CHECKS", tuple(each._replace(seconds=DEADLINE) for each in checks.CHECKS))
    running = locking(service.record.with_name("table.db.lock"))
    assert running is not None
    links = order(service.door, {"order": "status"})["links"]

    found = [each.line() for each in table_findings(service.config, "table-1", running, links)]

    # The service has a lock that its sandbox hides from the doctor, and the broker ends the first of two connections of a user.
    for check, how in (
        ("ok          addresses     consoles at port", "the service listens there"),
        ("ok          broker", "the service is connected"),
        ("wrong       ports", "the port does not exist"),
        ("ok          record", "the chain of the last"),
    ):
        assert [each for each in found if each.startswith(check) and how in each] != [], found
    assert [line for line in service.said() if "broker away" in line] == []


async def test_the_diagnostics_have_no_password_key_card_or_name(service):
    with closing(Accounts.open(service.accounts)) as accounts:
        hashes = [accounts.hash_of(each) for each in accounts.all()]
    text = service.config.read_text(encoding="utf-8")
    in_place = text.replace("[mqtt]\n", f'[mqtt]\npassword = "{SECRETS["misplaced"]}"\n')
    service.config.write_text(in_place, encoding="utf-8")

    answer = await ask(service, "/api/diagnostics.json")

    assert answer.status == 200, answer.text
    assert 'filename="table-1-diagnostics-' in answer.headers["content-disposition"]
    assert [
        what for what, secret in SECRETS.items() if secret in json.dumps(answer.json, ensure_ascii=False)
    ] == []
    assert not any(each in answer.text for each in hashes)
    found = answer.json
    assert found["configuration"]["console"]["notice"] == f"Ask {LEFT_OUT} for {LEFT_OUT}"
    assert {each["check"] for each in found["findings"]} == {"configuration"}
    assert found["links"]["broker"]["connected"] is True
    assert found["configuration"]["mqtt"]["username"] == "table-1"


# --- the process


@pytest.fixture
def file(tmp_path):
    Service(tmp_path)
    return tmp_path / "table.toml"


async def test_two_people_who_ask_at_once_get_one_answer(file, monkeypatch):
    began = []
    real = asyncio.create_subprocess_exec

    async def counted(*command: str, **options: Any) -> Any:
        began.append(command)
        return await real(*command, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", counted)
    examine = Diagnosis(file, "table-1")
    first, second = await asyncio.gather(examine(dict), examine(dict))

    assert first == second
    assert "record" in {each.check for each in first}
    assert len(began) == 1
    await examine(dict)
    assert len(began) == 2


@pytest.mark.parametrize(
    ("program", "seconds", "how"),
    [
        ("raise SystemExit(3)", DEADLINE, "it ended with the status 3"),
        ("import time; time.sleep(3600)", 0.2, "it took longer than 0.2 s"),
    ],
)
async def test_a_doctor_that_gives_no_answer_is_reported(file, monkeypatch, program, seconds, how):
    monkeypatch.setattr(diagnosis, "PROGRAM", program)
    monkeypatch.setattr(diagnosis, "SECONDS", seconds)

    (found,) = await Diagnosis(file, "table-1")(dict)

    assert (found.check, found.level) == (NO_ANSWER, "not checked")
    assert how in found.how


async def test_orders_are_carried_out_while_the_doctor_works(tmp_path, monkeypatch):
    begun, over = asyncio.Event(), asyncio.Event()

    class Slow:
        async def examination(self, _: Any) -> Any:
            begun.set()
            await over.wait()
            return Examination(
                ts="2026-03-14T21:05:09.000000+00:00", findings=(Finding("clock", "ok", "a", "b"),)
            )

    async with consoles(tmp_path) as here:
        monkeypatch.setattr(here.console._parts, "doctor", Slow())
        here.account("Mei", "supervisor")
        browser = await here.signed_on("Mei")
        asking = asyncio.create_task(browser.get("/api/diagnostics"))
        await asyncio.wait_for(begun.wait(), DEADLINE)
        assert (await browser.order("sign_on")).status == 200
        assert not asking.done()
        over.set()

        assert (await asking).json["findings"][0]["check"] == "clock"
