"""The meanings of a dealer's keys: sequences of key names, each an order, from a default map and settings over it.

Pure, with the time passed in. A key's name is Linux's name without `KEY_`: `F1`, `ENTER`, `A`, `KP5`. A meaning is one of
`MEANINGS`. A card is keyed as the keys of its rank and then those of its suit: the map gives each rank and suit once, and
the 52 cards follow from that.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from punto.baccarat.cards import RANKS, SUITS, Card
from punto.baccarat.table.catalogue import CATALOGUE
from punto.drivers.base import KeyAnswer

ORDERS: Final = tuple(kind for kind, each in CATALOGUE.items() if each.key)
"""The orders that a key can give, besides `key_card` and `hand_button`. All are a dealer's.

A supervisor's order needs more than a press; for J-POT the supervisor's key must be turned.
"""
MOST_SEATS: Final = 99
CLEAR: Final = "clear"
NOTHING: Final = "nothing"
MEANINGS: Final = (
    *ORDERS,
    *(f"rank {rank}" for rank in RANKS),
    *(f"suit {suit}" for suit in SUITS),
    *(f"hand {seat}" for seat in range(1, MOST_SEATS + 1)),
    CLEAR,
    NOTHING,
)

DEFAULT: Final[Mapping[str, str]] = {
    "F1": "open_betting",
    "F2": "close_betting",
    "ENTER": "reveal",
    "KPENTER": "reveal",
    "F11": "hold_play",
    "F12": "call_supervisor",
    "ESC": CLEAR,
    **{rank: f"rank {rank}" for rank in RANKS},
    "0": "rank T",
    **{f"KP{rank}": f"rank {rank}" for rank in RANKS if rank.isdigit()},
    "KP0": "rank T",
    **{suit: f"suit {suit}" for suit in SUITS},
    "F5": "start_game",
    **{f"F6 {seat}": f"hand {seat}" for seat in range(1, 10)},
    **{f"F6 KP{seat}": f"hand {seat}" for seat in range(1, 10)},
    "F7": "jpot",
    "F8": "game_over",
}

LONGEST_KEY: Final = 24
_NAME: Final = re.compile(f"[A-Z0-9_]{{1,{LONGEST_KEY}}}")

Keys = tuple[str, ...]


def is_key_name(text: str) -> bool:
    """Whether a key can have this name."""
    return _NAME.fullmatch(text) is not None


class KeyMapError(ValueError):
    """A key map is invalid; `keys` is the wrong entry, as it was written."""

    def __init__(self, keys: str, message: str) -> None:
        super().__init__(message)
        self.keys = keys


@dataclass(frozen=True, slots=True)
class KeyedOrder:
    """An order from keys, with the `card` of a `key_card` or the `seat` of a `hand_button`."""

    kind: str
    card: Card | None = None
    seat: int | None = None


class KeyMap:
    """The sequences of keys that have a meaning.

    Args:
        written: keys with single spaces between them -> one of `MEANINGS`, over the `DEFAULT`; `nothing` removes a
            default.

    Raises:
        KeyMapError: the name of a key or a meaning is invalid, or a sequence begins with another sequence.
    """

    def __init__(self, written: Mapping[str, str] | None = None) -> None:
        for keys, meaning in (written or {}).items():
            _check(keys, meaning)
        entries = {
            tuple(keys.split(" ")): meaning
            for keys, meaning in {**DEFAULT, **(written or {})}.items()
            if meaning != NOTHING
        }
        self.clear: Final = {keys[0] for keys, meaning in entries.items() if meaning == CLEAR}
        sequences = _orders(entries)
        self.orders: Final = dict(sequences)
        self.beginnings: Final = {keys[:n] for keys in self.orders for n in range(1, len(keys))}
        taken: set[Keys] = set()
        for sequence, _ in sequences:
            if sequence in taken or sequence in self.beginnings or self.clear.intersection(sequence):
                raise KeyMapError(
                    _written(sequence, written or {}),
                    f"{' '.join(sequence)} has two meanings, or a longer sequence begins with these keys: give one of the "
                    f'two meanings other keys, or write "{NOTHING}"',
                )
            taken.add(sequence)


def _check(keys: str, meaning: str) -> None:
    if meaning not in MEANINGS:
        raise KeyMapError(
            keys,
            f"{meaning!r} cannot be a key's meaning: write {', '.join(ORDERS)}, rank A (or 2 to 9, T, J, Q, K), "
            f"suit S (or H, D, C), hand 1 (up to {MOST_SEATS}), {CLEAR} or {NOTHING}",
        )
    names = keys.split(" ")
    wrong = [name for name in names if not is_key_name(name)]
    if wrong:
        raise KeyMapError(
            keys, f"{wrong[0]!r} is not a key's name: write capitals, digits and _, such as F1, ENTER or KP5"
        )
    if meaning == CLEAR and len(names) > 1:
        raise KeyMapError(keys, f"{CLEAR} must be one key, because it must work inside any sequence")


def _orders(entries: Mapping[Keys, str]) -> list[tuple[Keys, KeyedOrder]]:
    orders = [(keys, KeyedOrder(meaning)) for keys, meaning in entries.items() if meaning in ORDERS]
    orders += [
        (keys, KeyedOrder("hand_button", seat=int(meaning.removeprefix("hand "))))
        for keys, meaning in entries.items()
        if meaning.startswith("hand ")
    ]
    ranks, suits = (
        [(keys, meaning[-1]) for keys, meaning in entries.items() if meaning.startswith(word)]
        for word in ("rank ", "suit ")
    )
    cards = [
        (rank_keys + suit_keys, KeyedOrder("key_card", Card(rank + suit)))
        for rank_keys, rank in ranks
        for suit_keys, suit in suits
    ]
    return orders + cards


def _written(keys: Keys, written: Mapping[str, str]) -> str:
    """The entry of the settings to blame for a fault: the one that has most of these keys."""
    return max(
        written, key=lambda entry: sum(key in keys for key in entry.split(" ")), default=" ".join(keys)
    )


class Keying:
    """The part of a sequence that a dealer has pressed so far; it expires `seconds` after the last key."""

    def __init__(self, keys: KeyMap, seconds: float) -> None:
        self._map = keys
        self._seconds = seconds
        self._pressed: Keys = ()
        self._until = 0.0

    def forget(self) -> None:
        """Begin a new sequence with the next key."""
        self._pressed = ()

    def press(self, key: str, now: float) -> KeyedOrder | KeyAnswer:
        """Add a key; return the order that it completes, or else the answer for the dealer.

        `now` is in seconds of any clock that does not go back.
        """
        before = self._pressed if now <= self._until else ()
        pressed = (*before, key)
        self.forget()
        if key in self._map.clear:
            return KeyAnswer("done", "cleared" if before else "nothing to clear")
        order = self._map.orders.get(pressed)
        if order is not None:
            return order
        if pressed in self._map.beginnings:
            self._pressed, self._until = pressed, now + self._seconds
            return KeyAnswer("more", f"{' '.join(pressed)} ...", max(1, round(self._seconds)))
        return KeyAnswer("refused", self._why_refused(pressed))

    def _why_refused(self, pressed: Keys) -> str:
        if len(pressed) > 1:
            return f"{' '.join(pressed)} has no meaning: begin again"
        key = pressed[0]
        sequences = [order for keys, order in self._map.orders.items() if key in keys]
        if any(order.card is not None for order in sequences):
            return f"{key} comes after another key: for a card press the rank first, then the suit"
        if sequences:
            return f"{key} comes after another key: press that key first"
        return f"{key} has no meaning on this keypad"
