"""Reads the examples of a link's page in docs/reference, and writes a frame in the words of these pages."""

import re
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.base import KeypadLamps
from punto.drivers.coin_spot.frames import KEEP
from punto.drivers.frame import Frame

HEXADECIMAL = {"token", "session", "log"}
NAMED = {("round", 0): "open", ("round", KEEP): "keep", ("card", None): "??"}
DOCS = Path(__file__).parents[2] / "docs" / "reference"


class Example(NamedTuple):
    """A frame of a page in words, its bytes before COBS, and its bytes on the wire."""

    words: str
    decoded: bytes
    wire: bytes


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(name: str, kind: str) -> list[list[str]]:
    """The lines of each fenced block of that kind."""
    return [
        text.splitlines()
        for text in re.findall(rf"^```{kind}\n(.*?)^```", page(name), re.MULTILINE | re.DOTALL)
    ]


def examples(name: str) -> list[Example]:
    return [
        Example(words, bytes_after("decoded", decoded), bytes_after("wire", wire))
        for words, decoded, wire in blocks(name, "frame")
    ]


def bytes_after(word: str, line: str) -> bytes:
    """Bytes as the pages write them: hexadecimal, with `07*254` for 254 times the same."""
    spelled = re.sub(r"(\w\w)\*(\d+)", lambda many: many[1] * int(many[2]), line.removeprefix(word))
    return bytes.fromhex(spelled)


def name_of(kind: type[Frame]) -> str:
    """CUT_CARD for CutCardRecord, LAMPS for SetLamps."""
    bare = kind.__name__.removesuffix("Record").removeprefix("Set")
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", bare).upper()


def in_words(frame: Frame) -> str:
    """The name of a frame, and its fields in the order of the bytes' meaning."""
    words = (word for field in fields(frame) for word in _words(field.name, getattr(frame, field.name)))
    return " ".join((name_of(type(frame)), *words))


def _words(name: str, value: Any) -> list[str]:
    if isinstance(value, Lamps):
        lit = _listed(each for each in ("player", "banker", "tie") if getattr(value, each))
        return [f"lamps={lit}", f"next={value.next}"]
    if name == "components":
        return [f"component={part.name}/{part.version}/{part.digest}" for part in value]
    return [f"{name}={_word(name, value)}"]


def _word(name: str, value: Any) -> str:
    match value:
        case KeypadLamps():
            word = _listed(each.name for each in fields(value) if getattr(value, each.name))
        case frozenset():
            word = _listed(map(str, sorted(value)))
        case tuple():
            word = _listed(f"{spot.answers}/{spot.came}/{spot.went}" for spot in value)
        case bool():
            word = "yes" if value else "no"
        case bytes():
            word = f'"{value.decode()}"'
        case int() if name in HEXADECIMAL:
            word = f"{value:x}"
        case _:
            word = NAMED.get((name, value), str(value))
    return f'"{word}"' if name == "text" else word


def _listed(words: Iterable[str]) -> str:
    return ",".join(words) or "none"
