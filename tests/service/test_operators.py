"""The operators' socket: who may, who it was, and an answer to whatever is said there."""

import asyncio
import grp
import json
import os
import pwd
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, get_args

import pytest

from controller.baccarat.cards import Card
from controller.cli import main
from controller.commands import operator
from controller.commands.operator import ask
from controller.operators import socket_door
from controller.operators.desk import KINDS, Desk
from controller.problems import ConfigError
from controller.table.events import CardDrawn, CardOverdrawn, Order, ShoeHello
from tests.service.table_in_this_process import HERE, Table, rows, settings, table
from tests.service.table_on_a_machine import Table as Service

ME = pwd.getpwuid(os.getuid()).pw_name


@asynccontextmanager
async def door(own: Table, path: Path, mode: int = 0o600) -> AsyncIterator[Path]:
    """The door to a table in this process."""
    serving = asyncio.create_task(
        socket_door.serve(socket_door.open_at(path, mode), Desk(own.engine, path.parent))
    )
    try:
        yield path
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


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
    path = tmp_path / "deep" / "operator.sock"
    with socket_door.open_at(path, mode):
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
        socket_door.open_at(path, 0o660).close()
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


def _file(path: Path) -> None:
    path.write_text("the minutes of a meeting")


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "name", "group", "sentence"),
    [
        (_file, "operator.sock", None, "is there and is no socket: give another path, or take it away"),
        (_folder, "operator.sock", None, "is there and is no socket: give another path, or take it away"),
        (lambda _: None, "x" * 120, None, "cannot be made: AF_UNIX path too long"),
        (lambda path: _file(path.parent), "folder/operator.sock", None, "cannot be made: File exists"),
        (
            lambda _: None,
            "operator.sock",
            "no-such-group",
            "there is no group 'no-such-group' on this machine",
        ),
    ],
)
def test_a_socket_that_cannot_be_made_is_said_and_nothing_is_lost(tmp_path, make, name, group, sentence):
    path = tmp_path / name
    make(path)
    before = path.is_file() and path.read_text()
    with pytest.raises(ConfigError, match=sentence):
        socket_door.open_at(path, 0o600, group)

    assert (path.is_file() and path.read_text()) == before


def test_a_service_without_a_door_ends_and_says_why(tmp_path):
    service = Service(tmp_path, None)
    service.door.mkdir()
    service.begin_to_start()

    assert service.process.wait(30) == 2
    assert service.said()[-1].endswith("is there and is no socket: give another path, or take it away")
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
            socket_door.open_at(path, 0o600)

        assert (await order(path, order="status"))["accepted"]


# --- who it was


async def test_the_record_has_the_operating_systems_user(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as own, door(own, tmp_path / "door") as path:
        assert (await order(path, order="sign_on"))["accepted"]
    source, payload = rows(record, "SELECT source, payload FROM inputs ORDER BY seq DESC LIMIT 1")[0]

    assert source == f"operator {ME}"
    assert json.loads(payload) == {"who": ME, "kind": "sign_on"}


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

BAD: list[tuple[bytes, str]] = [
    (b"", "the request is not JSON"),
    (b"sign_on", "the request is not JSON"),
    (b"\xff\xfe", "the request is not JSON"),
    (b"[" * 10_000, "the request is not JSON"),
    (b"9" * 5000, "the request is not JSON"),
    (b"[]", 'a request is a JSON object with an "order"'),
    (b"null", 'a request is a JSON object with an "order"'),
    (b"{}", 'a request is a JSON object with an "order"'),
    (b'{"order": 7}', 'a request is a JSON object with an "order"'),
    (b'{"order": "sign_onn"}', "there is no order 'sign_onn' (did you mean sign_on?)"),
    (b'{"order": "set_wager"}', "there is no order 'set_wager'"),
    (b'{"order": "card_drawn"}', "there is no order 'card_drawn'"),
    (b'{"order": "\\ud800"}', "there is no order "),
    (b'{"order": "sign_on", "\\ud800": 1}', "sign_on has no "),
    (b'{"order": "void_coup", "reason": "\\ud800"}', "void_coup: "),
    (b'{"order": "sign_on", "who": "eve"}', "sign_on has no 'who': it takes nothing"),
    (b'{"order": "sign_on", "kind": "sign_off"}', "sign_on has no 'kind': it takes nothing"),
    (b'{"order": "void_coup"}', "void_coup needs reason"),
    (
        b'{"order": "void_coup", "reazon": "x"}',
        "void_coup has no 'reazon' (did you mean reason?): it takes reason",
    ),
    (b'{"order": "void_coup", "reason": 7}', "void_coup: reason: Input should be a valid string"),
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
    (b'{"order": "status", "deep": true}', "status has no 'deep': it takes nothing"),
    (b'{"order": "void_coup", "reason": "x", "approved_by": "eve"}', "void_coup has no 'approved_by'"),
    (
        b'{"order": "change_game", "game": "../table.toml"}',
        "change_game: game: there is no game '../table.toml'",
    ),
    (b'{"order": "change_game", "game": ["mini-baccarat"]}', "change_game: game: there is no game "),
    (
        b'{"order": "change_game", "game": "mini-bacarat"}',
        "change_game: game: there is no game 'mini-bacarat' (did you mean mini-baccarat?)",
    ),
    (
        b'{"order": "change_game", "game": "mini-baccarat", "limits": {"plaier": {}}}',
        "change_game: limits.plaier: Mini Baccarat has no wager 'plaier'; it has player, banker, tie (did you mean",
    ),
    (
        b'{"order": "change_game", "game": "mini-baccarat", "limits": {"player": {"minimum": "5"}}}',
        "change_game: limits: player.minimum: Input should be a valid integer",
    ),
    (
        b'{"order": "change_game", "game": "dragon-bonus-1", "limits": {"dragon_bonus_player": {"minimum": 1}}}',
        "change_game: limits.dragon_bonus_player.minimum: 1 is below the game file's minimum of 500",
    ),
]


async def test_what_is_no_order_is_answered_and_leaves_no_trace(tmp_path):
    async with table(tmp_path / "table.db") as own, door(own, tmp_path / "door") as path:
        before = own.journal.last_seq
        answers = await say(path, *(request + b"\n" for request, _ in BAD))

        assert [(answer["accepted"], answer["code"]) for answer in answers] == [(False, "bad_request")] * len(
            BAD
        )
        for answer, (_, sentence) in zip(answers, BAD, strict=True):
            assert answer["reason"].startswith(sentence)
        assert own.journal.last_seq == before


async def test_half_an_order_is_none(tmp_path):
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


# --- every order of the table


async def test_every_order_of_the_table_can_be_given(tmp_path):
    given: list[str] = []
    midi = settings("midi-baccarat", betting_closes="order")
    async with table(tmp_path / "table.db", midi) as own, door(own, tmp_path / "door") as path:

        async def give(name: str, **fields: Any) -> None:
            answer = await order(path, order=name, **fields)
            assert answer["accepted"], answer
            given.append(name)

        async def draw(code: str, confidence: int = 99) -> None:
            await own.shoe(CardDrawn(own.state.link.expected, Card(code), confidence))

        await own.hello()
        await give("sign_on")
        await give("change_shoe")
        await give("open_betting")
        await give("close_betting")
        await draw("2S")
        await draw("3S", 40)
        await give("key_card", card="3S")
        await give("correct_card", position=1, card="4S", reason="misread")
        await give("void_coup", reason="misdeal")
        await give("close_betting")
        for code in ("KS", "KD", "9H", "8D"):
            await draw(code)
        await own.shoe(CardOverdrawn(own.state.link.expected, Card("5C"), 99))
        await give("resume_play", reason="seen to")
        await give("reveal")
        last = own.state.last
        assert last is not None
        hands = {"player": list(last.player), "banker": list(last.banker)}
        await give("correct_round", round=last.round, **{**hands, "player": ["KS", "9D"]}, reason="misread")
        await give("void_round", round=last.round, reason="misdeal")
        await own.shoe(ShoeHello("IS-2", 5, 1, 1, 8))
        await give("accept_shoe", serial="IS-2")
        await give("call_supervisor", reason="a dispute at seat 3")
        await give("acknowledge_alarm", number=own.state.alarms[0].number)
        await give("close_table")
        await give("change_game", game="mini-baccarat", limits={"player": {"minimum": 500}})
        await give("sign_off")
        assert own.state.settings.game.wager("player").limits.minimum == 500

    assert set(given) == {name for name, kind in KINDS.items() if kind in get_args(Order)}


# --- punto operator


def punto(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    status = main(["operator", *map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_command_says_what_became_of_an_order(tmp_path, capsys):
    with Service(tmp_path, None) as service:
        assert punto(capsys, "--socket", service.door, "sign-on") == (0, "done\n", "")
        assert punto(capsys, "--config", service.config, "change-shoe") == (0, "done\n", "")
        status, out, _ = punto(capsys, "--socket", service.door, "status")

        assert (status, json.loads(out)["phase"]) == (0, "shoe_change")

        status, out, err = punto(capsys, "--socket", service.door, "void-coup", "misdeal")

        assert (status, out) == (1, "")
        assert err.startswith(
            "refused: cannot void the coup while the table is in shoe_change; possible now: "
        )
        assert punto(capsys, "--socket", service.door, "key-card", "1S")[::2] == (
            1,
            "refused: key_card: card: " + punto(capsys, "--socket", service.door, "key-card", "1S")[2][25:],
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
        command = [sys.executable, "-m", "controller", "operator", "--socket", tmp_path / "mail", "status"]
        done = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, check=False, cwd=HERE
        )

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("punto operator: no service answers at ")


@pytest.mark.parametrize("arguments", [[], ["status"], ["--socket", "x"], ["--socket", "x", "drop-table"]])
def test_a_command_that_is_none_is_refused_with_its_usage(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        punto(capsys, *arguments)

    assert ended.value.code == 2
    assert "usage: punto operator" in capsys.readouterr().err
