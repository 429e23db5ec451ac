"""Reads the examples of docs/reference/ishoe-link.md, and writes a frame the way the page does."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.ishoe import frames

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "ishoe-link.md").read_text()
NAMES: dict[type[frames.AnyFrame], str] = {
    frames.Hello: "HELLO",
    frames.Heartbeat: "HEARTBEAT",
    frames.CardRecord: "CARD",
    frames.UnreadRecord: "UNREAD",
    frames.CutCardRecord: "CUT_CARD",
    frames.LidRecord: "LID",
    frames.ReverseRecord: "REVERSE",
    frames.OverdrawnRecord: "OVERDRAWN",
    frames.FaultRecord: "FAULT",
    frames.AskHello: "ASK_HELLO",
    frames.Acknowledge: "ACKNOWLEDGE",
    frames.Resend: "RESEND",
    frames.Lock: "LOCK",
    frames.Unlock: "UNLOCK",
    frames.SetLamps: "LAMPS",
}


def blocks(kind: str) -> list[list[str]]:
    """The lines of each fenced block of that kind."""
    return [
        text.splitlines() for text in re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    ]


def bytes_of(words: str) -> bytes:
    """Bytes as the page writes them: hexadecimal, with `07*254` for 254 times the same."""
    spelled = re.sub(r"(\w\w)\*(\d+)", lambda many: many[1] * int(many[2]), words)
    return bytes.fromhex(spelled)


def in_words(frame: frames.AnyFrame) -> str:
    """A frame as the page writes it: its name and its fields in the order of the bytes' meaning."""
    words = (word for field in fields(frame) for word in _words(field.name, getattr(frame, field.name)))
    return " ".join((NAMES[type(frame)], *words))


def _words(name: str, value: object) -> Iterator[str]:
    if isinstance(value, Lamps):
        lit = [lamp for lamp in ("player", "banker", "tie") if getattr(value, lamp)]
        yield f"lamps={','.join(lit) or 'none'}"
        yield f"next={value.next}"
    elif isinstance(value, tuple):
        yield from (f"component={part.name}/{part.version}/{part.digest}" for part in value)
    elif isinstance(value, bool):
        yield f"{name}={'yes' if value else 'no'}"
    elif isinstance(value, int):
        yield f"{name}={value:08x}" if name == "log" else f"{name}={value}"
    elif value is None:
        yield f"{name}=??"
    else:
        yield f'{name}="{value}"' if " " in str(value) else f"{name}={value}"
