"""What is fuzzed, and what each of these may raise by its documents."""

import asyncio
import json
import random
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from pydantic import ValidationError

from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.state import TableState
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.configs.faults import first_fault
from punto.configs.game_files import game_of
from punto.configs.problems import ConfigError
from punto.configs.toml_file import TomlFile
from punto.controller.components import own_version
from punto.controller.config.tables import load_configs
from punto.controller.journal import evidence_verifier, schema
from punto.controller.journal.entries import EVENTS, Head
from punto.controller.journal.evidence import gather
from punto.controller.journal.recovery import history, recover, replay
from punto.controller.journal.schema import RecordError
from punto.controller.meter_link.carried import input_of
from punto.controller.mqtt_requests import id_of
from punto.controller.orders.requests import UnreadableError, read_fields, read_order
from punto.controller.signing.heads import SignedHead
from punto.displays.options import read_options
from punto.drivers.base import KeypadLamps
from punto.drivers.card_reader import frames as card_reader
from punto.drivers.card_reader.input_device import SwipeReader
from punto.drivers.card_reader.link import CardReaderLink
from punto.drivers.card_reader.number import card_number
from punto.drivers.coin_spot import frames as coin_spot
from punto.drivers.coin_spot.frames import Spot
from punto.drivers.coin_spot.link import CoinSpotLink
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.frame import Frame
from punto.drivers.framing import encode, on_the_wire
from punto.drivers.input_device import EVENT, PressReader, key_names
from punto.drivers.ishoe.link import IShoeLink
from punto.drivers.keypad import frames as keypad
from punto.drivers.keypad.frames import POSITIONS
from punto.drivers.keypad.link import KeypadLink
from punto.drivers.link import Link
from punto.drivers.seal import HostSeal
from punto.house.config import load_game_manager
from punto.messages.linked import MeterAnswer, MeterRequest
from punto.messages.models import Message
from punto.messages.topics import CHANNELS
from punto.runtime.broker_link import Received
from punto.witness.config import load_witness
from tests.controller.table_in_this_process import HERE, rows, table
from tests.controller.test_progressive_record import AWARD, settings, to_the_win
from tests.drivers.devices import SHOE
from tests.fuzz.fuzzer import Target
from tests.fuzz.http_bytes import HTTP

KEY: Final = bytes(range(32))
TOKEN: Final = 1
LONGEST: Final = 2000


def _says(*texts: str) -> None:
    """State that these are lines which a person can read."""
    assert texts
    for text in texts:
        assert 0 < len(text) < LONGEST, text
        assert text.isprintable(), text


# --- serial lines: the first byte says what the others are; 0 bytes as they are, 1 bodies of frames, each after its length


def _line(link: Callable[[Any], Any], talk: Callable[[Any, float], object], *frames: Frame) -> Target:
    def run(data: bytes) -> None:
        mode, rest = data[:1], data[1:]
        seal = [HostSeal(KEY)] if mode >= b"\2" else []
        here: Link[Any] = link(*seal)
        now = 1.0
        here.connect(now, TOKEN)
        for piece in (
            _bodies(rest) if mode == b"\1" else [rest[at : at + 50] for at in range(0, len(rest), 50)]
        ):
            now += 0.03
            here.receive(piece, now)  # type: ignore[attr-defined]
            here.silence(now)
            talk(here, now)
        assert here.babbles(now) in {True, False}

    def seeds() -> list[bytes]:
        bodies = [_body(each) for each in frames]
        framed = b"".join(bytes((len(each),)) + each for each in bodies)
        return [b"\1" + framed, b"\0" + b"".join(map(encode, frames)), b"\2" + b"".join(map(encode, frames))]

    return Target(run, seeds, longest=2048)


def _body(frame: Frame) -> bytes:
    return bytes((frame.TYPE,)) + frame.sequence.to_bytes(4) + frame.payload()


def _bodies(data: bytes) -> list[bytes]:
    found = []
    while data:
        length, data = data[0], data[1:]
        found.append(on_the_wire(b"\1" + data[:length]))
        data = data[length:]
    return found


# --- files


def _toml(read: Callable[[Path, TomlFile], object], *seeds: str, longest: int = 16384) -> Target:
    def run(data: bytes) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "file.toml"
            path.write_bytes(data)
            try:
                read(path, TomlFile.parse(str(path), data))
            except ConfigError as error:
                _says(*map(str, error.problems))

    return Target(run, lambda: [(HERE / "configs" / each).read_bytes() for each in seeds], longest)


# --- messages: the name of the model, a new line, and the payload


@cache
def _models() -> dict[str, type[Any]]:
    channels = {model.__name__: model for channel in CHANNELS for model in channel.messages}
    return {**channels, "SignedHead": SignedHead}


def _message(data: bytes) -> None:
    name, _, payload = data.partition(b"\n")
    model = _models().get(name.decode(errors="replace"))
    if model is None:
        return
    try:
        read = model.model_validate_json(payload)
    except ValidationError as error:
        _says(first_fault(error))
        id_of(payload)
        return
    read.model_dump_json()
    if isinstance(read, Message):
        assert model.model_validate_json(read.wire()) == read
    if isinstance(read, MeterRequest):
        input_of(read.asked, Received("t", payload, retained=False))
    if isinstance(read, MeterAnswer):
        input_of(read.heard, Received("t", payload, retained=False))
    if isinstance(read, SignedHead):
        read.holds()


def _messages() -> list[bytes]:
    document = json.loads((HERE / "docs" / "reference" / "asyncapi.json").read_text())
    return [
        f"{name}\n{json.dumps(example['payload'])}".encode()
        for name, message in document["components"]["messages"].items()
        for example in message.get("examples", [])[:1]
        if name in _models() and len(json.dumps(example)) < 6000
    ]


def _order(data: bytes) -> None:
    try:
        order = read_order(data)
        if order.order in CATALOGUE:
            read_fields(order.order, order.model_extra or {})
    except UnreadableError as error:
        _says(str(error))


def _orders() -> list[bytes]:
    return [
        json.dumps(
            {"order": kind, **{name: "x" if each.longest else 1 for name, each in order.fields.items()}}
        ).encode()
        for kind, order in CATALOGUE.items()
    ]


def _input_line(data: bytes) -> None:
    try:
        event = EVENTS.validate_json(data, strict=True)
    except ValidationError:
        return
    assert EVENTS.validate_json(EVENTS.dump_json(event), strict=True) == event
    for state in _states():
        with suppress(RefusedError):
            Table(state).handle(event)


def _inputs() -> list[bytes]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.db"
        path.write_bytes(_record())
        return [
            payload.encode() for (payload,) in rows(path, "SELECT payload FROM inputs") if len(payload) < 3000
        ]


@cache
def _states() -> list[TableState]:
    """A table at some moments."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.db"
        path.write_bytes(_record())
        return [step.state for step in history(path)][::4]


# --- records and bundles


@cache
def _record() -> bytes:
    with TemporaryDirectory() as folder:
        record = Path(folder) / "t.db"

        async def play() -> None:
            async with table(record, settings(), version=own_version()) as here:
                await to_the_win(here)
                await here.do(*AWARD)

        asyncio.run(play())
        return record.read_bytes()


def _changed_record(data: bytes) -> None:
    """The whole record, changed as the input says: three bytes of the place, one of the length, and as many bytes."""
    content = bytearray(_record())
    while len(data) > 3:
        at, length = int.from_bytes(data[:3]) % len(content), data[3] % 32
        content[at : at + length] = data[4 : 4 + length].ljust(length, b"\0")
        data = data[4 + length :]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.db"
        path.write_bytes(content)
        try:
            replay(path, version=own_version())
        except RecordError as error:
            _says(str(error))
        try:
            with closing(schema.open_for_writing(path)) as connection:
                recover(connection)
        except RecordError as error:
            _says(str(error))


def _changes() -> list[bytes]:
    content, dice = _record(), random.Random(3)
    pages = range(0, len(content), 4096)
    return [
        *(page.to_bytes(3) + b"\x08" + content[page : page + 8] for page in pages),
        *(dice.randrange(len(content)).to_bytes(3) + b"\1" + dice.randbytes(1) for _ in range(60)),
    ]


@cache
def _bundle() -> bytes:
    with TemporaryDirectory() as folder:
        record = Path(folder) / "t.db"
        record.write_bytes(_record())
        return evidence_verifier.packed(gather(record, 1, [], own_version()))


def _evidence(data: bytes) -> None:
    told, faults = evidence_verifier.checked(data, without_heads=True)
    assert told or faults
    # As if a person had packed other files.
    files = evidence_verifier.unpacked(_bundle())
    name, _, content = data.partition(b"\n")
    changed = name.decode(errors="replace")
    if changed in files:
        evidence_verifier.checked(evidence_verifier.packed({**files, changed: content}), without_heads=True)


def _bundles() -> list[bytes]:
    files = evidence_verifier.unpacked(_bundle())
    small = {name: content[:300] for name, content in files.items()}
    return [
        evidence_verifier.packed(small),
        *(name.encode() + b"\n" + content for name, content in files.items() if len(content) < 8000),
    ]


def _text(data: bytes) -> None:
    text = data.decode(errors="replace")
    for read in (Head.of, card_number):
        try:
            read(text)
        except ValueError as error:
            _says(str(error))


def _keys(data: bytes) -> None:
    names = key_names()
    whole = data[: len(data) - len(data) % EVENT.size]
    list(SwipeReader(names).feed(whole))
    list(PressReader(names).feed(whole))


def _swiped() -> list[bytes]:
    codes = {name: code for code, name in key_names().items()}
    typed = [codes[name] for name in ("SEMICOLON", *"1234567890", "ENTER")]
    events = [
        (at, 0, kind, code, value)
        for at, code in enumerate(typed)
        for kind, value in ((1, 1), (0, 0), (1, 0))
    ]
    return [b"".join(EVENT.pack(*each) for each in events)]


def _coin_spot(*seal: Any) -> CoinSpotLink:
    return CoinSpotLink(Seats({1: 1, 2: 3}), 0.5, *seal)


TARGETS: Final = {
    "shoe": _line(IShoeLink, lambda link, now: link.data_to_send(now), *SHOE.examples),
    "keypad": _line(
        KeypadLink,
        lambda link, now: link.data_to_send(now, KeypadLamps(ready=True)),
        keypad.Here(TOKEN, 7, "KP-1"),
        keypad.Switch(1, 7, POSITIONS[0]),
        keypad.Press(2, 7, 30, "F1"),
        keypad.Press(2, 7, 60, "JPOT"),
    ),
    "coin_spot": _line(
        _coin_spot,
        lambda link, now: (link.tick(now), link.data_to_send(now)),
        coin_spot.Here(TOKEN, 7, 0, "VC-1"),
        coin_spot.Report(1, TOKEN, 7, 0, 0, 0, frozenset(), (Spot(1, 1, 0), Spot(0, 0, 0))),
        coin_spot.Report(2, TOKEN, 7, 0, 1, 1, frozenset({1}), (Spot(0, 1, 2), Spot(1, 2, 0))),
    ),
    "card_reader": _line(
        CardReaderLink,
        lambda link, now: link.data_to_send(now, awaited=True),
        card_reader.Here(TOKEN, 7, "CR-1"),
        card_reader.Swipe(1, 7, TOKEN, b";1234567890?"),
    ),
    "input_device": Target(_keys, _swiped, longest=2400),
    "game": _toml(
        lambda _, file: game_of(file),
        "games/five-treasures.toml",
        "games/progressive-2.toml",
        "games/midi-baccarat.toml",
    ),
    "table": _toml(lambda path, _: load_configs(path), "table.toml", "progressive-table.toml", "studio.toml"),
    "services": _toml(
        lambda path, _: (load_game_manager if b"[store]" in path.read_bytes() else load_witness)(path),
        *("game-manager.toml", "witness.toml"),
    ),
    "display": _toml(lambda path, _: read_options(path, {}), "display.toml"),
    "message": Target(_message, _messages),
    "order": Target(_order, _orders, longest=4096),
    "input": Target(_input_line, _inputs, longest=4096),
    "text": Target(_text, lambda: [b"2817:" + b"9f" * 32, b";1234567890?"], longest=200),
    "record": Target(_changed_record, _changes, longest=400),
    "bundle": Target(_evidence, _bundles),
    "http": HTTP,
}
