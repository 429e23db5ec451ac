"""The operators' socket: who may, who it was, and an answer to whatever is said there."""

import asyncio
import grp
import json
import os
import pwd
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing, suppress
from http.client import HTTPConnection
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.table.catalogue import CATALOGUE
from punto.commands import operator
from punto.commands.cli import main
from punto.commands.operator import ask
from punto.configs.problems import ConfigError
from punto.controller import local_socket
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.roles import Role
from punto.controller.config.sections import AccountsConfig
from punto.controller.orders.desk import Desk
from punto.controller.orders.socket_door import SocketDoor
from punto.controller.supervisor import gate_of
from tests.controller.table_in_this_process import HERE, Table, rows, settings, table
from tests.controller.table_on_a_machine import HASH, STAFF, wait_until
from tests.controller.table_on_a_machine import Table as Service
from tests.deadline import DEADLINE
from tests.ports import free_port

ME = pwd.getpwuid(os.getuid()).pw_name
PASSWORD = STAFF["password"]
MEI = {"name": "Mei", "password": PASSWORD}
BOB = {"name": "Bob", "password": PASSWORD}
EVE = {"name": "Eve", "password": PASSWORD}
PEOPLE = {"Mei": Role.SUPERVISOR, "Bob": Role.EXECUTIVE, "Eve": Role.DEALER}


@asynccontextmanager
async def door(
    own: Table, path: Path, mode: int = 0o600, people: Mapping[str, Role] | None = None, **policy: Any
) -> AsyncIterator[Path]:
    """The door to a table in this process, whose accounts are these people's; without people it has no accounts."""
    gate = None
    if people is not None:
        accounts = path.parent / "operators.db"
        with closing(Accounts.open(accounts)) as made:
            for name, role in people.items():
                made.add(name, [role], PASSWORD, "2026-03-14T21:05:09.000000+00:00", hash_=HASH)
        config = AccountsConfig.model_validate({"path": accounts, **policy})
        gate = gate_of(config, None, own.engine)
    desk = Desk(own.engine, path.parent, accounts=gate)
    serving = asyncio.create_task(local_socket.serve(local_socket.open_at(path, mode), SocketDoor(desk)))
    try:
        yield path
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
        if gate is not None:
            gate.close()


async def say(path: Path, *lines: bytes, hang_up: bool = True) -> list[dict[str, Any]]:
    """Write these bytes, hang up the writing end, and read every answer."""
    reader, writer = await asyncio.open_unix_connection(path)
    with suppress(ConnectionError):
        writer.writelines(lines)
        await writer.drain()
        if hang_up:
            writer.write_eof()
    answers = [json.loads(line) for line in (await reader.read()).splitlines()]
    writer.close()
    return answers


async def order(path: Path, **request: Any) -> dict[str, Any]:
    return await asyncio.to_thread(ask, path, request)


# --- who may


@pytest.mark.parametrize("mode", [0o600, 0o660, 0o666])
def test_the_socket_has_the_permissions_it_is_to_have(tmp_path, mode):
    path = tmp_path / "operator.sock"
    with local_socket.open_at(path, mode):
        assert path.stat().st_mode & 0o777 == mode


def test_at_no_moment_has_it_more(tmp_path, monkeypatch):
    path = tmp_path / "operator.sock"
    seen: list[int] = []
    chmod = Path.chmod

    def noting(self: Path, mode: int) -> None:
        seen.append(self.stat().st_mode & 0o777)
        with socket.socket(socket.AF_UNIX) as early, pytest.raises(ConnectionRefusedError):
            early.connect(str(path))
        chmod(self, mode)

    monkeypatch.setattr(Path, "chmod", noting)
    before = os.umask(0)
    try:
        local_socket.open_at(path, 0o660).close()
    finally:
        os.umask(before)

    assert seen == [0o600]


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files to any group")
def test_the_socket_belongs_to_the_configured_group(tmp_path):
    with Service(tmp_path, None) as service:
        service.stop()
        written = service.config.read_text(encoding="utf-8")
        service.config.write_text(
            written.replace("[operator]\n", '[operator]\nmode = "0620"\ngroup = "daemon"\n'), encoding="utf-8"
        )
        service.start()
        found = service.door.stat()

        assert (found.st_mode & 0o777, grp.getgrgid(found.st_gid).gr_name) == (0o620, "daemon")
        assert service.stop() == 0
        assert not service.door.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another group")
@pytest.mark.parametrize(("group", "its"), [(None, os.getegid()), ("daemon", grp.getgrnam("daemon").gr_gid)])
def test_in_a_folder_that_gives_its_group_the_socket_has_the_configured_one(group, its, tmp_path):
    os.chown(tmp_path, -1, grp.getgrnam("daemon").gr_gid)
    tmp_path.chmod(0o2750)
    with closing(local_socket.open_at(tmp_path / "door", 0o660, group)):
        found = (tmp_path / "door").stat()

    assert (found.st_mode & 0o777, found.st_gid) == (0o660, its)


def _file(path: Path) -> None:
    path.write_text("the minutes of a meeting")


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "name", "group", "sentence"),
    [
        (_file, "operator.sock", None, "exists and is not a socket: give another path, or remove this file"),
        (_folder, "operator.sock", None, "exists and is not a socket: give another path, or remove this file"),
        (lambda _: None, "x" * 120, None, "cannot be made: AF_UNIX path too long"),
        (lambda path: _file(path.parent), "folder/operator.sock", None, "folder of the operators' socket does not exist: make it, or correct the path"),
        (lambda _: None, "mistyped/operator.sock", None, "mistyped of the operators' socket does not exist"),
        (lambda _: None, "operator.sock", "no-such-group", "there is no group 'no-such-group' on this machine"),
    ],
)  # fmt: skip
def test_a_socket_that_cannot_be_made_is_reported_and_nothing_is_lost(tmp_path, make, name, group, sentence):
    path = tmp_path / name
    make(path)
    before = path.is_file() and path.read_text()
    with pytest.raises(ConfigError, match=sentence):
        local_socket.open_at(path, 0o600, group)

    assert (path.is_file() and path.read_text()) == before


def test_a_service_without_a_door_ends_and_says_why(tmp_path):
    service = Service(tmp_path, None)
    service.door.mkdir()
    service.begin_to_start()

    assert service.process.wait(DEADLINE) == 2
    assert service.said()[-1].endswith("exists and is not a socket: give another path, or remove this file")
    assert not any("Traceback" in line for line in service.said())


def test_the_socket_of_a_dead_service_is_replaced(tmp_path):
    with Service(tmp_path, None) as service:
        service.kill()
        assert service.door.exists()
        service.start()
        assert service.status()["phase"] == "locked"


async def test_the_socket_of_a_live_service_is_not_stolen(tmp_path):
    async with table(tmp_path / "table.db") as own, door(own, tmp_path / "door") as path:
        with pytest.raises(ConfigError, match="another service listens at"):
            local_socket.open_at(path, 0o600)

        assert (await order(path, order="status"))["accepted"]


# --- who it was


async def test_the_record_has_the_operating_systems_user(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as own, door(own, tmp_path / "door") as path:
        assert (await order(path, order="sign_on"))["accepted"]
    source, payload = rows(record, "SELECT source, payload FROM inputs ORDER BY seq DESC LIMIT 1")[0]

    assert source == f"operator {ME}"
    assert json.loads(payload) == {"who": ME, "kind": "sign_on"}


async def test_the_record_has_the_account_that_signed_and_the_user_at_whose_terminal_it_did(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as own, door(own, tmp_path / "door", people=PEOPLE) as path:
        assert (await order(path, order="sign_on", by=MEI))["accepted"]
    source, payload = rows(record, "SELECT source, payload FROM inputs ORDER BY seq DESC LIMIT 1")[0]

    assert source == f"operator {ME}"
    assert json.loads(payload) == {"who": "Mei", "kind": "sign_on"}
    assert PASSWORD.encode() not in record.read_bytes()


# --- who may order what

FIELDS: dict[str, Any] = {
    "amount": 100, "award": 1, "banker": ["2S", "3S"], "card": "9S", "cause": "increase", "day": "2026-11-21",
    "game": "mini-baccarat", "level": "executive", "number": 1, "player": ["KS", "9H"], "position": 1, "reason": "seen",
    "round": 1, "seat": 1, "serial": "IS-1", "table": "t1", "to": "jph",
}  # fmt: skip
ORDERED = [kind for kind, each in CATALOGUE.items() if not each.seen]


def request_for(kind: str) -> dict[str, Any]:
    """Such an order, with a value for each field that it needs."""
    needed = [name for name, each in CATALOGUE[kind].fields.items() if each.required]
    return {"order": kind, **{name: FIELDS[name] for name in needed}}


async def test_an_order_waits_at_the_socket_for_a_second_person_at_their_own_session(tmp_path):
    own_settings = settings(approval=("change_game",))
    game = {"order": "change_game", "game": "mini-baccarat", "by": MEI}
    async with (
        table(tmp_path / "table.db", own_settings) as own,
        door(own, tmp_path / "door", people=PEOPLE) as path,
    ):
        await order(path, order="sign_on", by=MEI)
        before = own.journal.last_seq
        signed = await order(path, **game, approval=BOB)
        waits = await order(path, **game)

        assert (signed["accepted"], signed["code"], signed["waiting"]) == (False, "not_approved", None)
        assert "in their own session: give the order without `approval`" in signed["reason"]
        assert (waits["accepted"], waits["code"]) == (False, "awaits_approval")
        assert waits["waiting"] is not None
        assert own.journal.last_seq == before
        assert own.state.settings.game.name == "dragon-bonus-1"


async def test_without_accounts_the_socket_takes_a_dealers_orders_alone(tmp_path):
    async with table(tmp_path / "table.db") as own, door(own, tmp_path / "door") as path:
        answers = {kind: await order(path, **request_for(kind)) for kind in ORDERED}
        signed = await order(path, order="sign_off", by=MEI)

    refused = {kind: each["reason"] for kind, each in answers.items() if each["code"] == "not_of_role"}
    assert set(refused) == {kind for kind in ORDERED if Role.DEALER not in CATALOGUE[kind].roles}
    (reason,) = set(refused.values())
    assert reason == (
        "this order needs an account, and the table has no accounts: make them with `punto operators`, and name their file in "
        "[accounts]"
    )
    assert answers["sign_on"]["accepted"]
    assert (signed["code"], signed["reason"]) == (
        "not_signed",
        "signature: this table has no accounts, so nobody can sign an order",
    )


async def test_somebody_who_guesses_at_the_socket_is_locked_out(tmp_path):
    async with (
        table(tmp_path / "table.db") as own,
        door(own, tmp_path / "door", people=PEOPLE, lock_out_after=3) as path,
    ):
        guesses = [await order(path, order="sign_on", by={**MEI, "password": "a guess"}) for _ in range(3)]
        right = await order(path, order="sign_on", by=MEI)

        assert [each["code"] for each in guesses] == ["not_signed", "not_signed", "locked_out"]
        assert (right["accepted"], right["code"]) == (False, "locked_out")
        assert "locked_out" in [each.code for each in own.state.alarms]


async def test_the_refusals_of_one_user_of_the_socket_hold_up_no_other_user(tmp_path, monkeypatch):
    async with (
        table(tmp_path / "table.db") as own,
        door(own, tmp_path / "door", people=PEOPLE, lock_out_after=3) as path,
    ):
        with monkeypatch.context() as another:
            another.setattr(local_socket, "user_of", lambda _: 65534)
            for _ in range(12):
                await order(path, order="sign_on", by={**MEI, "password": "a guess"})
        right = await order(path, order="sign_on", by=MEI)

        assert (right["accepted"], right.get("reason")) == (True, None)


async def test_accounts_that_cannot_be_read_are_reported_and_end_nothing(tmp_path):
    async with table(tmp_path / "table.db") as own, door(own, tmp_path / "door", people=PEOPLE) as path:
        with closing(sqlite3.connect(tmp_path / "operators.db")) as database:
            database.execute("DROP TABLE accounts")
        answer = await order(path, order="sign_on", by=MEI)

        assert (answer["accepted"], answer["code"]) == (False, "no_accounts")
        assert answer["reason"].startswith(f"the accounts {tmp_path / 'operators.db'} cannot be read")
        assert (await order(path, order="status"))["accepted"]


def test_without_its_section_there_is_no_socket(tmp_path, capsys):
    port = free_port()
    service = Service(tmp_path, None, sections=f"[console]\nport = {port}\n")
    written = service.config.read_text(encoding="utf-8")
    service.config.write_text(
        written.replace(f'[operator]\nsocket = "{service.door}"\n', ""), encoding="utf-8"
    )
    service.begin_to_start()
    try:
        wait_until(lambda: _answers(port), "the consoles answer")

        assert [each for each in tmp_path.iterdir() if each.is_socket()] == []
        assert punto(capsys, "--config", service.config, "status") == (
            2,
            "",
            f"punto operator: {service.config} has no [operator], so this table has no socket\n",
        )
        assert service.stop() == 0
    finally:
        service.kill()


def _answers(port: int) -> bool:
    consoles = HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        consoles.request("GET", "/")
        return consoles.getresponse().status < 500
    except OSError:
        return False
    finally:
        consoles.close()


AS_NOBODY = """
import os, socket, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
with socket.socket(socket.AF_UNIX) as door:
    door.connect(sys.argv[1])
    door.sendall(b'{"order": "sign_on"}\\n')
    print(door.recv(1000).decode())
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
@pytest.mark.parametrize(("mode", "may"), [(0o666, True), (0o660, False)])
async def test_another_user_is_named_or_kept_out(tmp_path, mode, may):
    record = tmp_path / "table.db"
    path = Path(f"/tmp/punto-{os.getpid()}-{mode}.sock")  # noqa: S108 - where others can get at it
    async with table(record) as own, door(own, path, mode):
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", AS_NOBODY, str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
    sources = [source for (source,) in rows(record, "SELECT source FROM inputs")]

    assert ("operator nobody" in sources) is may
    assert ("PermissionError" in done.stderr) is not may


# --- what is said there

BY = json.dumps(MEI).encode()
CHANGE_GAME = b'{"order": "change_game", "by": ' + BY + b", "
BAD: list[tuple[bytes, str]] = [
    (b"", "the message is not JSON"),
    (b"sign_on", "the message is not JSON"),
    (b"\xff\xfe", "the message is not JSON"),
    (b"[" * 10_000, "the message is not JSON"),
    (b"9" * 5000, "the message is not JSON"),
    (b"[]", "the message must be an object"),
    (b"null", "the message must be an object"),
    (b"{}", "order: is missing"),
    (b'{"order": 7}', "order: must be text in quotes"),
    (b'{"order": "sign_onn"}', "there is no order 'sign_onn' (did you mean sign_on?)"),
    (b'{"order": "set_wager"}', "there is no order 'set_wager'"),
    (b'{"order": "card_drawn"}', "there is no order 'card_drawn'"),
    (b'{"order": "\\ud800"}', "the message is not JSON"),
    (b'{"order": "sign_on", "\\ud800": 1}', "the message is not JSON"),
    (b'{"order": "void_coup", "reason": "\\ud800"}', "the message is not JSON"),
    (b'{"order": "sign_on", "who": "eve"}', "sign_on has no 'who': it takes no fields"),
    (b'{"order": "sign_on", "kind": "sign_off"}', "sign_on has no 'kind': it takes no fields"),
    (b'{"order": "void_coup"}', "void_coup needs reason"),
    (
        b'{"order": "void_coup", "reazon": "x"}',
        "void_coup has no 'reazon' (did you mean reason?): it takes reason",
    ),
    (b'{"order": "void_coup", "reason": 7}', "void_coup: reason: must be text in quotes"),
    (
        b'{"order": "key_card", "card": "ZZ"}',
        "key_card: card: 'ZZ' is not a card: write rank A23456789TJQK, then suit SHDC, such as 9S or TD",
    ),
    (b'{"order": "key_card", "card": 9}', "key_card: card: '9' is not a card: write rank"),
    (
        b'{"order": "correct_round", "round": 1, "player": ["KS", "10H"], "banker": [], "reason": "x"}',
        "correct_round: player.1: '10H' is not a card: write rank A23456789TJQK, then suit SHDC, such as 9S or TD",
    ),
    (b'{"order": "correct_card", "position": "1", "card": "9S", "reason": "x"}', "correct_card: position: "),
    (b'{"order": "correct_card", "position": 1e999, "card": "9S", "reason": "x"}', "correct_card: "),
    (b'{"order": "correct_card", "position": NaN, "card": "9S", "reason": "x"}', "correct_card: "),
    (b'{"order": "sign_on", "by": "Mei"}', "by: must be an object"),
    (b'{"order": "sign_on", "by": {"name": "Mei"}}', "by.password: is missing"),
    (b'{"order": "status", "by": ' + BY + b"}", "status has no 'by': it takes no fields"),
    (b'{"order": "status", "deep": true}', "status has no 'deep': it takes no fields"),
    (b'{"order": "void_coup", "reason": "x", "approved_by": "eve"}', "void_coup has no 'approved_by'"),
    (
        CHANGE_GAME + b'"game": "../table.toml"}',
        "change_game: game: there is no game '../table.toml'",
    ),
    (CHANGE_GAME + b'"game": ["mini-baccarat"]}', "change_game: game: must be text in quotes"),
    (
        CHANGE_GAME + b'"game": "mini-bacarat"}',
        "change_game: game: there is no game 'mini-bacarat' (did you mean mini-baccarat?)",
    ),
    (
        CHANGE_GAME + b'"game": "mini-baccarat", "limits": {"plaier": {}}}',
        "change_game: limits.plaier: Mini Baccarat has no wager 'plaier'; it has player, banker, tie (did you mean",
    ),
    (
        CHANGE_GAME + b'"game": "mini-baccarat", "limits": {"player": {"minimum": "5"}}}',
        "change_game: limits.player.minimum: must be a whole number",
    ),
    (
        CHANGE_GAME + b'"game": "dragon-bonus-1", "limits": {"dragon_bonus_player": {"minimum": 1}}}',
        "change_game: limits.dragon_bonus_player.minimum: 0.01 USD is below the game file's minimum of 5.00 USD",
    ),
]


async def test_what_is_not_an_order_is_answered_and_leaves_no_trace(tmp_path):
    async with table(tmp_path / "table.db") as own, door(own, tmp_path / "door", people=PEOPLE) as path:
        before = own.journal.last_seq
        answers = await say(path, *(request + b"\n" for request, _ in BAD))

        assert [(answer["accepted"], answer["code"]) for answer in answers] == [(False, "bad_request")] * len(
            BAD
        )
        for answer, (_, sentence) in zip(answers, BAD, strict=True):
            assert answer["reason"].startswith(sentence)
        assert own.journal.last_seq == before


async def test_half_an_order_is_not_given(tmp_path):
    async with table(tmp_path / "table.db") as own, door(own, tmp_path / "door") as path:
        (answer,) = await say(path, b'{"order": "sign_on"}')

        assert (answer["accepted"], answer["reason"]) == (False, "the request does not end with a newline")
        assert own.state.phase == "locked"


async def test_a_request_that_is_too_long_is_answered_and_the_next_visitor_is_served(tmp_path):
    async with table(tmp_path / "table.db") as own, door(own, tmp_path / "door") as path:
        (answer,) = await say(path, b"x" * 50_000 + b"\n", hang_up=False)

        assert answer["reason"] == "the request is longer than 16384 bytes"
        assert (await order(path, order="sign_on"))["accepted"]


async def test_who_hangs_up_at_once_disturbs_nobody(tmp_path):
    async with table(tmp_path / "table.db") as own, door(own, tmp_path / "door") as path:
        for said in (b"", b"{", b'{"order": "status"}\n' * 50):
            for _ in range(20):
                with socket.socket(socket.AF_UNIX) as visitor:
                    visitor.connect(str(path))
                    visitor.sendall(said)
                await asyncio.sleep(0)

        assert (await order(path, order="status"))["accepted"]


async def test_many_are_served_at_once_and_each_gets_its_own_answer(tmp_path):
    async with table(tmp_path / "table.db") as own, door(own, tmp_path / "door") as path:
        await own.hello()
        idle = [await asyncio.open_unix_connection(path) for _ in range(50)]
        lines = [b'{"order": "sign_on"}\n', b'{"order": "sign_off"}\n', b'{"order": "status"}\n'] * 5
        answers = await asyncio.gather(*(say(path, *lines) for _ in range(50)))

        assert all(len(each) == len(lines) for each in answers)
        assert all("state" in each[2] and each[2]["state"] is not None for each in answers)
        for _, writer in idle:
            writer.close()


@pytest.mark.punctual
async def test_a_visitor_who_stays_does_not_hold_up_the_end(tmp_path):
    async with table(tmp_path / "table.db") as own:
        async with asyncio.timeout(5), door(own, tmp_path / "door") as path:
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(b'{"order": "status"}\n')
            await reader.readline()

        assert await reader.read() == b""
        writer.close()


@pytest.mark.parametrize("turns", range(8))
async def test_whoever_comes_in_as_it_ends_is_hung_up_on(tmp_path, turns):
    async with table(tmp_path / "table.db") as own:
        with socket.socket(socket.AF_UNIX) as visitor:
            async with door(own, tmp_path / "door") as path:
                await asyncio.sleep(0.01)
                visitor.connect(str(path))
                for _ in range(turns):  # accepted, a visit, the visit begun: the end may come at each
                    await asyncio.sleep(0)
            visitor.settimeout(2)
            with suppress(ConnectionResetError):
                assert await asyncio.to_thread(visitor.recv, 1) == b""


# --- punto operator


@pytest.fixture
def typed(monkeypatch):
    """Give lines to the command's standard input, which is not a terminal."""
    return lambda *lines: monkeypatch.setattr(
        sys, "stdin", TextIOWrapper(BytesIO("".join(f"{line}\n" for line in lines).encode()))
    )


def punto(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    status = main(["operator", *map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_command_says_what_became_of_an_order(tmp_path, capsys, typed):
    me = ("--as", STAFF["name"])

    def signed(*arguments: str | Path) -> tuple[int, str, str]:
        typed(PASSWORD)
        return punto(capsys, *arguments)

    with Service(tmp_path, None) as service:
        assert signed("--socket", service.door, *me, "sign-on") == (0, "done\n", "")
        assert signed("--config", service.config, *me, "change-shoe") == (0, "done\n", "")
        typed()  # of the table as it is, nobody's password is asked
        status, out, _ = punto(capsys, "--socket", service.door, "status")

        assert (status, json.loads(out)["phase"]) == (0, "shoe_change")

        assert punto(capsys, "--socket", service.door, *me, "status")[0] == 0

        status, out, err = signed("--socket", service.door, *me, "reveal")

        assert (status, out) == (1, "")
        assert err == "refused: not now: the shoe is being changed\n"
        assert signed("--socket", service.door, *me, "key-card", "1S") == (
            1,
            "",
            "refused: key_card: card: '1S' is not a card: write rank A23456789TJQK, then suit SHDC, such as 9S or TD\n",
        )
        assert punto(capsys, "--socket", service.door, "sign-off") == (
            1,
            "",
            (
                "refused: sign the order: give the name and password of an account in `by`\n"
                "Name the account that gives this order: punto operator --as NAME …\n"
            ),
        )


def test_the_command_signs_with_the_passwords_that_it_is_given(monkeypatch, capsys, typed):
    asked: list[dict[str, Any]] = []

    def answered(_: Path, request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        return {"accepted": True}

    monkeypatch.setattr(operator, "ask", answered)
    typed("Mei's", "Bob's")
    assert (
        punto(capsys, "--socket", "x", "--as", "Mei", "--approved-by", "Bob", "void-coup", "misdeal")[0] == 0
    )

    assert asked == [
        {
            "order": "void_coup",
            "reason": "misdeal",
            "by": {"name": "Mei", "password": "Mei's"},
            "approval": {"name": "Bob", "password": "Bob's"},
        }
    ]


def test_the_command_waits_for_a_service_that_starts(tmp_path, capsys):
    service = Service(tmp_path, None)
    service.begin_to_start()
    try:
        assert punto(capsys, "--wait", "--socket", service.door, "status")[::2] == (0, "")
    finally:
        service.kill()


@pytest.mark.punctual
def test_the_command_waits_no_longer_than_it_is_to(tmp_path, capsys):
    before = time.monotonic()
    status, _, err = punto(capsys, "--wait", "0.3", "--socket", tmp_path / "none", "status")

    assert (status, err.partition(" (")[0]) == (
        2,
        f"punto operator: no service answers at {tmp_path / 'none'}",
    )
    assert 0.3 <= time.monotonic() - before < 5


@pytest.mark.parametrize("wait", ["soon", "-1", "nan", "inf"])
def test_a_wait_that_is_not_a_number_of_seconds_is_reported(capsys, wait):
    with pytest.raises(SystemExit):
        punto(capsys, f"--wait={wait}", "--socket", "x", "status")

    assert (
        f"argument --wait: {wait!r} is not a number of seconds: write --wait=30, or --wait and then another option"
        in capsys.readouterr().err
    )


def test_the_command_says_which_card_is_keyed(monkeypatch, capsys):
    asked: list[dict[str, Any]] = []

    def answered(_: Path, request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        return {"accepted": True}

    monkeypatch.setattr(operator, "ask", answered)
    for options in ([], ["--position", "0"], ["--position", "3"]):
        assert punto(capsys, "--socket", "x", "key-card", "9S", *options)[0] == 0

    order = {"order": "key_card", "card": "9S"}
    assert asked == [order, {**order, "position": 0}, {**order, "position": 3}]


def test_the_command_says_that_nobody_answers(tmp_path, capsys):
    dead = tmp_path / "dead"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(dead))
    for path, reason in (
        (tmp_path / "none", "No such file"),
        (dead, "refused"),
        (tmp_path / ("x" * 120), "too long"),
    ):
        status, out, err = punto(capsys, "--socket", path, "status")

        assert (status, out) == (2, "")
        assert err.startswith(f"punto operator: no service answers at {path} (")
        assert reason in err


async def test_the_command_is_not_upset_by_another_program(tmp_path):
    async def nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"220 mail.example.org ESMTP\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_unix_server(nonsense, tmp_path / "mail"):
        command = [sys.executable, "-m", "punto", "operator", "--socket", tmp_path / "mail", "status"]
        done = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, check=False, cwd=HERE
        )

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("punto operator: no service answers at ")


@pytest.mark.parametrize("arguments", [[], ["status"], ["--socket", "x"], ["--socket", "x", "drop-table"]])
def test_an_unknown_command_is_refused_with_its_usage(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        punto(capsys, *arguments)

    assert ended.value.code == 2
    assert "usage: punto operator" in capsys.readouterr().err
