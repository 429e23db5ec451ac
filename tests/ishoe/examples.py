"""Frames for the tests: one of each kind, and hypothesis strategies for all of them."""

import zlib
from struct import pack

from cobs import cobs  # type: ignore[import-untyped]
from hypothesis import strategies as st

from punto.baccarat.cards import Card
from punto.baccarat.table.events import Component
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.frame import HIGHEST
from punto.drivers.ishoe import frames

SERIAL = "IS-004711"
LOG = 0x5EED_0001
READER = Component("reader", "2.4.1", "ab" * 32)

EXAMPLES: tuple[frames.AnyFrame, ...] = (
    frames.Hello(SERIAL, LOG, 1, 417, 8, (READER, Component("lamps", "1", "00" * 32))),
    frames.Hello("S", 1, 1, 1, 0),
    frames.Heartbeat(LOG, 5, 7, 9, 12, locked=False, lid_open=True, sending=True, lamps=Lamps(next="player")),
    frames.Heartbeat(
        LOG, 1, 1, 1, 0, full=True, lamps=Lamps(player=True, banker=True, tie=True, next="burn"), decks=8
    ),
    frames.CardRecord(1, Card.NINE_S, 98),
    frames.CardRecord(HIGHEST - 1, Card.TD, 0),
    frames.UnreadRecord(2),
    frames.CutCardRecord(3),
    frames.LidRecord(4, open=True),
    frames.LidRecord(5, open=False),
    frames.ReverseRecord(6),
    frames.OverdrawnRecord(7, Card.QH, 91),
    frames.OverdrawnRecord(8, None, 0),
    frames.FaultRecord(9, 17, "reader window dirty"),
    frames.FaultRecord(10, 0xFFFF, ""),
    frames.AskHello(1),
    frames.Acknowledge(2, LOG, 7),
    frames.Acknowledge(3, LOG, 8, locked=False, lamps=Lamps(tie=True, next="player")),
    frames.Resend(3, LOG, 5),
    frames.Lock(4),
    frames.Unlock(5),
    frames.SetLamps(6, Lamps(banker=True)),
    frames.SetLamps(256, Lamps(next="banker")),
)


def raw(kind: int, sequence: int, payload: bytes, version: int = 1) -> bytes:
    """The wire bytes of a frame with a right checksum, whatever is in it."""
    body = pack(">BBI", version, kind, sequence) + payload
    stuffed: bytes = cobs.encode(body + pack(">I", zlib.crc32(body)))
    return b"\0" + stuffed + b"\0"


def _short(longest: int, shortest: int = 1) -> st.SearchStrategy[str]:
    return st.text(min_size=shortest, max_size=longest).filter(
        lambda text: shortest <= len(text.encode(errors="surrogatepass")) <= longest and text.isprintable()
    )


_NUMBER = st.integers(1, HIGHEST)
_RECORD = st.integers(1, HIGHEST - 1)
_LOG = _NUMBER
_DECKS = st.integers(0, 255)
_CARD = st.sampled_from(Card)
_CONFIDENCE = st.integers(0, 100)
_LAMPS = st.builds(
    Lamps, st.booleans(), st.booleans(), st.booleans(), st.sampled_from(("none", "player", "banker", "burn"))
)
_DIGEST = st.binary(min_size=32, max_size=32).map(bytes.hex)
_COMPONENTS = st.lists(st.builds(Component, _short(32), _short(32), _DIGEST), max_size=8).map(tuple)
_SERIAL = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=32)
_ORDERED = st.lists(_NUMBER, min_size=3, max_size=3).map(sorted)

HELLOS = st.builds(
    lambda serial, log, numbers, decks, parts: frames.Hello(
        serial, log, numbers[0], numbers[1], decks, parts
    ),
    *(_SERIAL, _LOG, _ORDERED, _DECKS, _COMPONENTS),
)
HEARTBEATS = st.builds(
    lambda log, numbers, rest: frames.Heartbeat(log, numbers[0], numbers[1], numbers[2], *rest),
    *(_LOG, _ORDERED, st.tuples(st.integers(0, HIGHEST), *[st.booleans()] * 4, _LAMPS, _DECKS)),
)
RECORDS: st.SearchStrategy[frames.Record] = st.one_of(
    st.builds(frames.CardRecord, _RECORD, _CARD, _CONFIDENCE),
    st.builds(frames.UnreadRecord, _RECORD),
    st.builds(frames.CutCardRecord, _RECORD),
    st.builds(frames.LidRecord, _RECORD, st.booleans()),
    st.builds(frames.ReverseRecord, _RECORD),
    st.builds(frames.OverdrawnRecord, _RECORD, _CARD, _CONFIDENCE),
    st.builds(frames.OverdrawnRecord, _RECORD, st.none(), st.just(0)),
    st.builds(frames.FaultRecord, _RECORD, st.integers(0, 0xFFFF), _short(200, 0)),
)
COMMANDS: st.SearchStrategy[frames.Command] = st.one_of(
    st.builds(frames.AskHello, _NUMBER),
    st.builds(frames.Acknowledge, _NUMBER, _LOG, _NUMBER, st.booleans(), _LAMPS),
    st.builds(frames.Resend, _NUMBER, _LOG, _NUMBER),
    st.builds(frames.Lock, _NUMBER),
    st.builds(frames.Unlock, _NUMBER),
    st.builds(frames.SetLamps, _NUMBER, _LAMPS),
)
FRAMES = st.one_of(HELLOS, HEARTBEATS, RECORDS, COMMANDS)
