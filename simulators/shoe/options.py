"""The options of a virtual shoe. Pure."""

from dataclasses import dataclass, field
from pathlib import Path

from punto.baccarat.cards import Card
from punto.drivers.frame import SERIAL_BYTES
from punto.drivers.ishoe.frames import STORE, WINDOW
from punto.simulators.shoe.faults import Faults, OptionError
from punto.simulators.shoe.scenario import Step
from punto.simulators.shoe.shuffle import shuffled, stacked, with_surplus_copy

__all__ = ["OptionError", "ShoeOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShoeOptions:
    """One virtual shoe.

    - `store`: the file that is its memory; `link`: the symlink to its end of the line, None for none.
    - `seed`, `decks`: its shuffled contents; `shoes`: exact cards of the first shoes, before shuffled ones.
    - `coups`: whole coups, each in the order of the deal; every `every`-th coup of a shuffled shoe is the
      next of them.
    - `cut`: the number of cards behind the cut card, 0 for no cut card.
    - `pace`: seconds between two cards, 0 for as fast as acknowledged; `between`: seconds after a result
      before the next coup's first card.
    - `window`: a card is drawn while fewer records than this are unacknowledged. 1 obeys the host to the
      card; more is for tables whose coups open by themselves. Behind the cut card it is always 1.
    - `serial`: its serial number; `room`: the number of records that fill it; `key`: for version 2 of the link.
    - `faults` and `steps`: random faults, and faults at certain cards or times.

    Raises:
        OptionError: a value that cannot be used.
    """

    store: Path
    link: Path | None = None
    seed: str = "1"
    decks: int = 8
    shoes: tuple[tuple[Card, ...], ...] = ()
    coups: tuple[tuple[Card, ...], ...] = ()
    every: int = 5
    cut: int = 14
    pace: float = 0
    between: float = 0
    window: int = 1
    serial: str = "VS-000001"
    room: int = STORE
    key: bytes | None = None
    faults: Faults = field(default_factory=Faults)
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        for name, value, low, high in (
            ("decks", self.decks, 1, 8),
            ("window", self.window, 1, WINDOW),
            ("room", self.room, 1, 1_000_000),
            ("every", self.every, 1, 100),
            ("pace", self.pace, 0, 3600),
            ("between", self.between, 0, 3600),
        ):
            if not low <= value <= high:
                raise OptionError(f"{name} is {value}: write {low} to {high}")
        readable = self.serial.isascii() and self.serial.isprintable() and " " not in self.serial
        if not readable or not 1 <= len(self.serial) <= SERIAL_BYTES:
            raise OptionError(
                f"serial {self.serial!r}: write 1 to {SERIAL_BYTES} ASCII characters without spaces"
            )
        for number, cards in enumerate(self.shoes, start=1):
            self._check_size(f"shoe {number}", len(cards))
        self._check_size(f"a shoe of {self.decks} decks", 52 * self.decks)
        if self.faults.ninth_copy > 52 * self.decks:
            raise OptionError(
                f"fault ninth_copy={self.faults.ninth_copy}: write 1 to {52 * self.decks}, the number of a card"
            )

    def _check_size(self, which: str, size: int) -> None:
        if not 0 <= self.cut < size:
            raise OptionError(
                f"cut is {self.cut}, but {which} has {size} cards: write 0 (no cut card) to {size - 1}"
            )

    def cards(self, shoe_number: int) -> tuple[Card, ...]:
        """The cards of a shoe in the order in which they leave it; `shoe_number` counts from 1."""
        if shoe_number <= len(self.shoes):
            cards = list(self.shoes[shoe_number - 1])
        else:
            cards = shuffled(self.seed, shoe_number, self.decks)
            if self.coups:
                cards = stacked(cards, self.coups, self.every)
        earliest = self._surplus_from(shoe_number)
        return tuple((earliest and with_surplus_copy(cards, earliest, self.decks)) or cards)

    def _surplus_from(self, shoe_number: int) -> int:
        for step in self.steps:
            if step.do == "ninth_copy" and step.shoe == shoe_number and step.at is not None:
                return step.at
        return self.faults.ninth_copy
