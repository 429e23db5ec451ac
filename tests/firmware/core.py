"""The firmware's shoe in this process, with flash, line and reader in memory (bench.c), and at one end of a line in a test."""

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from punto.baccarat.cards import Card
from punto.baccarat.table.shoe_orders import ShoeOrders
from tests.drivers.ends import ShoeEnds
from tests.drivers.ishoe.model import SERIAL
from tests.firmware.build import built

CARD, UNREAD, CUT_CARD, PUSHED_BACK, FAULT = range(5)
ROOM: Final = 1024
NEVER: Final = -1
_TAKES: Final = 65536


@cache
def library() -> Any:
    """The firmware and bench.c."""
    loaded = ctypes.CDLL(str(built("bench.so")))
    for name, result, arguments in (
        ("new", ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint16, ctypes.c_uint64)),
        ("free", None, (ctypes.c_void_p,)),
        ("power_on", ctypes.c_bool, (ctypes.c_void_p, ctypes.c_long, ctypes.c_uint32)),
        ("turn", ctypes.c_bool, (ctypes.c_void_p, ctypes.c_uint32)),
        ("host_says", ctypes.c_size_t, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)),
        ("take", ctypes.c_size_t, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)),
        (
            "event",
            None,
            (
                *(ctypes.c_void_p, ctypes.c_int, ctypes.c_char, ctypes.c_char),
                *(ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32),
            ),
        ),
        ("draw_next", None, (ctypes.c_void_p, ctypes.c_char_p)),
        ("weaken", None, (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)),
        ("forget_event", None, (ctypes.c_void_p,)),
        ("set", None, (ctypes.c_void_p, ctypes.c_bool, ctypes.c_uint8, ctypes.c_size_t)),
        ("flash", ctypes.c_void_p, (ctypes.c_void_p,)),
        ("look", None, (ctypes.c_void_p, ctypes.c_uint32 * len(Seen.__dataclass_fields__))),
    ):
        function = getattr(loaded, f"bench_{name}")
        function.restype, function.argtypes = result, arguments
    return loaded


@dataclass(frozen=True)
class Seen:
    """What bench.c shows of the shoe, in its order."""

    log: int
    first_kept: int
    next_record: int
    next_to_send: int
    position: int
    locked: int
    sending: int
    halted: int
    gate_open: int
    load: int
    lamps: int
    pending: int
    unread: int
    stored: int
    written: int
    erased: int
    reprogrammed: int
    oversize: int
    bad_framing: int
    bad_crc: int
    other_version: int
    not_sealed: int
    repeated: int
    unknown_type: int
    malformed: int


class Core:
    """A shoe that is switched on; `now` is in milliseconds."""

    FLASH_BYTES: Final = 74 * 1024

    def __init__(
        self, key: bytes | None = None, room: int = ROOM, seed: int = 1, serial: str = SERIAL
    ) -> None:
        self._library = library()
        self._serial = serial.encode()
        self._bench = self._library.bench_new(self._serial, key, room, seed)
        self._flash = (ctypes.c_uint8 * self.FLASH_BYTES).from_address(self._library.bench_flash(self._bench))
        self._inside = (False, 0, _TAKES)
        self.now = 0
        self.power_on()

    def __del__(self) -> None:
        self._library.bench_free(self._bench)

    # --- the power

    def power_on(self, budget: int = NEVER) -> bool:
        """Switch the shoe off and on; the power is cut after `budget` bytes were written to the flash."""
        return bool(self._library.bench_power_on(self._bench, budget, self.now))

    @property
    def flash(self) -> bytes:
        return bytes(self._flash)

    @flash.setter
    def flash(self, content: bytes) -> None:
        ctypes.memmove(self._flash, content, self.FLASH_BYTES)

    def draw_next(self, nonce: bytes) -> None:
        """Determine the nonce that the shoe draws next."""
        self._library.bench_draw_next(self._bench, nonce)

    def weaken(self, address: int, every: int = FLASH_BYTES) -> None:
        """Let a place of the flash look blank and keep nothing, and each place that follows after so many bytes; 0 for none."""
        self._library.bench_weaken(self._bench, address, every)

    # --- the host

    def hear(self, data: bytes) -> None:
        assert self._library.bench_host_says(self._bench, data, len(data)) == len(data)

    def turn(self, milliseconds: int = 0) -> list[bytes]:
        """The frames that the shoe sends in one turn, after so much time."""
        self.now += milliseconds
        self._library.bench_turn(self._bench, self.now)
        return self.take()

    def take(self) -> list[bytes]:
        taken = ctypes.create_string_buffer(_TAKES)
        length = self._library.bench_take(self._bench, taken, len(taken))
        return [b"\0" + run + b"\0" for run in taken.raw[:length].split(b"\0") if run]

    # --- the mechanism

    def happens(
        self, kind: int, card: str = "??", confidence: int = 0, fault: int = 0, position: int = 0
    ) -> None:
        """An event that the next turn takes."""
        rank, suit = (sign.encode() for sign in card)
        self._library.bench_event(self._bench, kind, rank, suit, confidence, fault, position)

    def forget_event(self) -> None:
        self._library.bench_forget_event(self._bench)

    def set(self, *, lid: bool | None = None, decks: int | None = None, takes: int | None = None) -> None:
        """How the lid is, how many decks are inside, and how many bytes the line takes in a write."""
        given = (lid, decks, takes)
        self._inside = tuple(  # type: ignore[assignment]
            old if new is None else new for old, new in zip(self._inside, given, strict=True)
        )
        self._library.bench_set(self._bench, *self._inside)

    @property
    def seen(self) -> Seen:
        numbers = (ctypes.c_uint32 * len(Seen.__dataclass_fields__))()
        self._library.bench_look(self._bench, numbers)
        return Seen(*numbers)


class FirmwareEnds(ShoeEnds):
    """The project's own host and the firmware's shoe, which has the key itself."""

    def __init__(self, key: bytes | None = None) -> None:
        self.core = Core(key)
        self._made: list[bytes] = []
        super().__init__(key)

    def orders(self) -> ShoeOrders:
        return ShoeOrders(SERIAL, self.core.seen.log, self.taken, self.locked)

    def switch_on(self) -> None:
        self._made.clear()
        self._tell_time()
        self.core.power_on()

    def device_hears(self, data: bytes) -> None:
        self.core.hear(data)
        self._turn()

    def device_frames(self) -> list[bytes]:
        self._turn()
        made, self._made = self._made, []
        return made

    def draws(self, *cards: Card) -> None:
        for card in cards:
            self.core.happens(CARD, card.value, 98)
            self._turn()

    def _turn(self) -> None:
        self._tell_time()
        self._made += self.core.turn()

    def _tell_time(self) -> None:
        self.core.now = round(self.now * 1000)
