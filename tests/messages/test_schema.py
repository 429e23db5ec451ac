"""The schemas describe the messages that the program sends and takes."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from pydantic import BaseModel

from punto.baccarat.table.effects import Announced, CardHeld, Effect, Happening, RoundEnded
from punto.baccarat.table.state import Phase, TableState
from punto.commands.access_lists import access_list
from punto.commands.cli import main
from punto.commands.schema import documents
from punto.configs.expectations import shipped
from punto.displays.board import PAYLOADS
from punto.messages import models, topics
from punto.messages.building import (
    event_message,
    progressive_message,
    round_message,
    scoreboard_message,
    shoe_message,
    state_message,
    timestamp,
)
from punto.messages.metering import meters_message
from punto.messages.models import Message, Payload
from punto.messages.restricted import RestrictedCard
from punto.messages.schema import MESSAGES
from punto.messages.topics import CHANNELS
from punto.runtime.table_ids import HOUSE
from tests.baccarat.table.croupier import Croupier
from tools.message_examples import FILE, play

DISPLAYS = Path(__file__).parents[2] / "docs" / "how-to" / "displays.md"
DOCUMENTS = documents()

NOW = datetime(2026, 3, 14, 21, 5, 9, 123456, UTC)
FORMATS = FormatChecker(formats=[])


@FORMATS.checks("date-time", raises=ValueError)
def is_a_moment(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


def documented(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(DOCUMENTS[f"schema/{name}.json"])
    return schema


@cache
def validator(name: str, *, closed: bool = False) -> Draft202012Validator:
    """The schema; closed, it refuses a key of which it says nothing."""
    schema = documented(name)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(_closed(schema) if closed else schema, format_checker=FORMATS)


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: value if key == "examples" else _closed(value) for key, value in schema.items()}
    return {"additionalProperties": False, **found} if "properties" in found else found


def file_of(model: type[Payload]) -> str:
    titled = "".join(f"-{each.lower()}" if each.isupper() else each for each in model.__name__)
    return titled.removeprefix("-")


def on_the_wire(message: Payload) -> dict[str, Any]:
    sent = message.wire() if isinstance(message, Message) else message.model_dump_json().encode()
    read: dict[str, Any] = json.loads(sent)
    return read


def example(model: type[Payload]) -> dict[str, Any]:
    """One that was really sent."""
    first: dict[str, Any] = documented(file_of(model))["examples"][0]
    return first


# With these and what leads to them, everything happens of which the public is told, and every card is held.
PLAYED: tuple[tuple[dict[str, Any], list[str]], ...] = (
    (
        {"game_name": "midi-baccarat", "betting_closes": "order", "burn": "first_card"},
        [
            *("hello", "heard keypad KP-1", "sign on", "change shoe", "draw 2S KD KH"),
            *("wager 3 player 500", "no more bets", "draw KS 2S 9H 3S", "reveal"),
            *("correct round KS 8H over 2S 3S", "no more bets", "draw KS", "void"),
            *("no more bets", "draw KS", "unread", "key 3H", "unsure 9H", "key 9H", "draw 2D", "reveal"),
            *(
                "void round",
                "cut card",
                "noise",
                "acknowledge link_noise",
                "lid open",
                "lid closed",
                "resume",
            ),
            *("wager 3 player 500", "close table", "game mini-baccarat", "lose shoe"),
        ],
    ),
    (
        {"game_name": "progressive-2", "meter": {"procedure": "aquarius", "base_wagers": "unseen"}},
        [
            *("hello", "sign on", "change shoe", "open", "meter", "spot 2", "start game 2 3"),
            *("draw 2H KC 3H JC 4D", "correct 5 4H", "draw KD"),
            *("hand 2", "turn jph", "j-pot", "turn run", "game over"),
        ],
    ),
)


def test_what_a_table_tells_is_as_its_schema_says():
    kinds = set()
    for changes, commands in PLAYED:
        croupier = Croupier(**changes)
        for command in commands:
            croupier.do(command)
            kinds |= {type(each) for each in croupier.said}
            for message in told(croupier.state, croupier.new):
                validator(file_of(type(message)), closed=True).validate(on_the_wire(message))

    assert kinds == set(get_args(Happening))


def told(state: TableState, effects: list[Effect]) -> Iterator[Payload]:
    """What the service publishes of a table and of what just happened at it."""
    yield state_message(state, 1, NOW)
    yield scoreboard_message(state, NOW)
    yield meters_message(state, shipped(state.settings.game), 1, NOW)
    yield shoe_message(state, 1, NOW, NOW)
    progressive = progressive_message(state, 1, None, NOW)
    if progressive is not None:
        yield progressive
    for effect in effects:
        if isinstance(effect, Announced):
            yield event_message(state.settings, effect, timestamp(NOW))
        elif isinstance(effect, RoundEnded):
            yield round_message(state.settings, effect.record, timestamp(NOW), "game", "rules", "record")
        elif isinstance(effect, CardHeld):
            yield RestrictedCard(id="table-1/card/1", seq=1, ts=timestamp(NOW), card=effect)


@pytest.mark.parametrize("model", MESSAGES, ids=file_of)
def test_a_schema_refuses_a_message_with_a_key_missing_or_of_another_type(model):
    schema = validator(file_of(model))
    message = example(model)
    required = documented(file_of(model))["required"]

    if issubclass(model, Message):
        assert set(required) == set(message)
    for key in required:
        assert not schema.is_valid({name: value for name, value in message.items() if name != key})
    assert not schema.is_valid({**message, "id": 5})


@pytest.mark.parametrize("model", MESSAGES, ids=file_of)
def test_a_message_may_have_more_in_a_later_version_and_a_request_may_not(model):
    message = {**example(model), "surprise": 1}

    if issubclass(model, Message):
        validator(file_of(model)).validate(message)
        assert on_the_wire(model.model_validate_json(json.dumps(message))) == example(model)
    else:
        assert not validator(file_of(model)).is_valid(message)
        with pytest.raises(ValueError, match="surprise"):
            model.model_validate_json(json.dumps(message))


def test_nothing_that_is_sent_is_closed_to_new_keys():
    for model in MESSAGES:
        if issubclass(model, Message):
            assert '"additionalProperties": false' not in json.dumps(documented(file_of(model)))


@pytest.mark.parametrize(
    "ts",
    ["2026-03-14T21:05:09.123456", "2026-03-14T21:05:09.123456+01:00", "2026-13-14T21:05:09.123456+00:00"],
)
def test_a_schema_refuses_a_time_that_is_not_utc_or_not_a_time(ts):
    with pytest.raises(ValidationError):
        validator("availability").validate({**example(models.Availability), "ts": ts})


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        pytest.param(model, each, id=file_of(model))
        for model in MESSAGES
        for each in documented(file_of(model))["examples"]
    ],
)
def test_an_example_is_one(model, sent):
    validator(file_of(model), closed=True).validate(sent)

    assert issubclass(model, BaseModel)
    read = model.model_validate_json(json.dumps(sent))
    assert isinstance(read, Payload)
    if issubclass(model, Message):  # nothing is left out, and nothing is there that is no longer sent
        assert on_the_wire(read) == sent


def test_every_message_of_the_document_has_an_example():
    messages = json.loads(DOCUMENTS["asyncapi.json"])["components"]["messages"]

    assert messages.keys() == {model.__name__ for model in MESSAGES}
    for model in MESSAGES:
        examples = [each["payload"] for each in messages[model.__name__]["examples"]]
        assert examples
        assert examples == documented(file_of(model))["examples"]


def test_every_phase_and_overlay_is_explained():
    found = documented("state")["properties"]

    for phase in Phase:
        assert f"{phase}: " in found["phase"]["description"]
    for overlay in get_args(models.Overlay):
        assert f"{overlay}: " in found["overlays"]["description"]


def test_the_examples_are_what_a_table_says_that_is_played(tmp_path):
    played = play(tmp_path)
    committed = json.loads(FILE.read_text(encoding="utf-8"))

    assert {name: len(each) for name, each in played.items()} == {
        name: len(each) for name, each in committed.items()
    }
    for name in ("Round", "RoundsResponse", "Scoreboard", "RestrictedCard", "WagerRequest", "RoundsRequest"):
        assert timeless(played[name]) == timeless(committed[name]), "run: make examples"
    for name in played:
        assert [each.keys() for each in played[name]] == [each.keys() for each in committed[name]]


def timeless(payloads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is the same each time that the same shoe is dealt."""
    return [
        {key: each[key] for key in each.keys() - {"id", "seq", "ts", "record", "ended"}} for each in payloads
    ]


def test_every_message_has_a_channel():
    described = {
        model
        for model in vars(models).values()
        if isinstance(model, type) and issubclass(model, Message) and model is not Message
    }

    assert described <= set(MESSAGES)


def test_every_topic_of_the_program_has_a_channel():
    names = {channel.name for channel in CHANNELS}
    constants = {value for name, value in vars(topics).items() if name.isupper() and isinstance(value, str)}

    assert constants <= names | {HOUSE}
    assert {channel.answered_on for channel in CHANNELS} - {None} <= names
    assert topics.wager_result(5) == "wagers/5/result"
    assert topics.device("shoe") == "devices/shoe"
    assert topics.progressive("dragon") == "progressive/dragon"


def test_the_command_writes_the_access_list_too(tmp_path):
    assert main(["schema", "--out", str(tmp_path), "--acl", str(tmp_path / "acl" / "punto")]) == 0
    assert (tmp_path / "acl" / "punto").read_text(encoding="utf-8") == access_list()


def test_what_is_restricted_is_for_surveillance_alone_but_edges_for_the_house_and_heads_for_the_witness():
    restricted = [channel for channel in CHANNELS if channel.name.startswith("restricted/")]

    assert len(restricted) == 3
    assert not any(channel.users for channel in restricted)
    lines = access_list().partition("# The table's service.")[2].splitlines()
    assert [line for line in lines if "/restricted" in line] == [
        "topic deny punto/+/restricted/card",
        "topic deny punto/+/restricted/head",
        "topic read punto/+/restricted/head",
    ]
    assert (
        "\n".join(lines)
        .partition("user witness\n")[2]
        .startswith("topic read punto/+/restricted/head\ntopic read punto/+/state\ntopic write ")
    )


def test_a_display_subscribes_to_what_its_user_may_read_and_its_page_says_which():
    may = {channel.filter for channel in CHANNELS if "display" in channel.users}
    said = (
        DISPLAYS.read_text(encoding="utf-8")
        .partition("The display reads four topics of each table: ")[2]
        .partition(", over one")[0]
    )

    assert PAYLOADS.keys() <= may
    assert sorted(re.findall("`([^`]+)`", said)) == sorted(PAYLOADS)
    assert {model.__name__ for model in PAYLOADS.values()} == {
        "State",
        "Scoreboard",
        "Availability",
        "Progressive",
    }


def test_only_what_the_service_sends_is_retained_and_only_state():
    retained = {channel.name for channel in CHANNELS if channel.retained}

    assert retained == {
        *("availability", "devices/{device}", "info", "health", "state", "scoreboard", "meters"),
        *("progressive/{progressive}", "restricted/edge", "restricted/head"),
        *("meter/request", "meter/answer/{linked}"),
    }
    assert all(channel.direction == "send" for channel in CHANNELS if channel.retained)
