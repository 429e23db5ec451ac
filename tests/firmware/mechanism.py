"""The mechanism and the dealer of the firmware's POSIX build: its cards, its lid and its gate, which outlive a kill of the program.

What is true of the cards is known here alone. A card has left when the program has reported that its record is stored; until
then the gate holds it, as a real gate does that opens only when the card behind it was read and stored.
"""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Condition, Thread
from types import TracebackType
from typing import Final, Self

from tests.deadline import DEADLINE

BURN: Final = 3


class Mechanism:
    """A shoe at the end of `link`. `shoes` are the cards of each shoe, again and again; the cut card lies `cut` cards from the end.

    `options` are the program's, and `out` is the number of cards that have left the present shoe.
    """

    def __init__(
        self, program: Path, link: Path, shoes: Sequence[Sequence[str]], *options: str, cut: int = 14
    ) -> None:
        self.link = link
        self.store = link.with_name("shoe.flash")
        self.errors = link.with_name("shoe.errors")
        self._command: tuple[str | Path, ...] = (program, "--link", link, "--store", self.store, *options)
        self._shoes = [list(shoe) for shoe in shoes]
        self._cut = cut
        self.loaded = 0
        self.out = 0
        self.starts = 0
        self.stored = 0
        self.holds: set[int] = set()
        """The dealer draws no card while so many are out."""
        self._cards: list[str] = []
        self._cut_is_due = False
        self._lid_open = False
        self._gate = self._load = False
        self._pending: tuple[int, Callable[[], None]] | None = None
        self._changed = Condition()
        self._process: subprocess.Popen[str] | None = None
        self._thread = Thread()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.kill()
        if error is not None:
            error.add_note(f"{self.loaded} shoes, {self.out} cards out; {self.errors.read_text()[-2000:]}")

    # --- the power

    def start(self, *options: str) -> None:
        """Switch the shoe on, and wait for its line."""
        with self.errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [*self._command, *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                bufsize=1,
            )
        self.starts += 1
        self._gate = self._load = False
        self._pending = None
        self._told = False
        self._thread = Thread(target=self._run, args=(self._process,), daemon=True)
        self._thread.start()

    def kill(self) -> None:
        """End it without a warning, and its link with it, as udev does with a device that goes."""
        assert self._process is not None
        self._process.kill()
        self.wait_for_death()

    def wait_for_death(self) -> None:
        """Wait until the program has ended, by a kill or because its power was cut."""
        assert self._process is not None
        self._process.wait(DEADLINE)
        self._thread.join(DEADLINE)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue
        if self.starts and os.path.lexists(self.link):
            self.link.unlink()

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def until(self, so: Callable[[], object]) -> None:
        """Wait until something is true of the mechanism, or the program has ended."""
        with self._changed:
            assert self._changed.wait_for(lambda: so() or not self.running, DEADLINE)

    def release(self, out: int) -> None:
        """Let the dealer go on who stopped when so many cards were out."""
        with self._changed:
            self.holds.discard(out)
            self._act()

    # --- what the program reports

    def _run(self, process: subprocess.Popen[str]) -> None:
        with self._changed:
            self._say(f"lid {'open' if self._lid_open else 'closed'}")
        assert process.stdout is not None
        for line in process.stdout:
            with self._changed:
                self._hear(line.split())
                self._changed.notify_all()
        process.wait()
        with self._changed:
            self._changed.notify_all()

    def _hear(self, words: list[str]) -> None:
        match words:
            case ["line", _]:
                return
            case ["stored", position]:
                self._told = True
                self.stored = int(position)
                if self._pending is not None and self._pending[0] == self.stored:
                    self._pending[1]()
                self._pending = None
                self._gate = False  # it closes behind a card
            case ["orders", gate, load, _]:
                self._gate, self._load = gate == "gate=1", load == "load=1"
            case _:
                raise AssertionError(words)
        if self._told:
            self._act()

    def _say(self, line: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
        except (BrokenPipeError, ValueError):  # its power is gone
            return

    # --- what the mechanism and the dealer do

    def _act(self) -> None:
        if self._pending is not None:
            return
        if self._cut_is_due:
            self._happens("cut", self._cut_card_came)
        elif self._load and not self._lid_open:
            if self.out or not self._cards:
                self._cards, self.out = self._shoes[self.loaded % len(self._shoes)], 0
                self.loaded += 1
            self._move_lid(is_open=True)
        elif self._lid_open and not self._load:
            self._say(f"decks {self._decks}")
            self._move_lid(is_open=False)
        elif self._gate and self._cards and not self._lid_open and self.out not in self.holds:
            self._happens(f"card {self._cards[0]} 99", self._card_left)

    def _happens(self, what: str, then: Callable[[], None]) -> None:
        self._pending = (self.stored + 1, then)
        self._say(f"decks {self._decks}")
        self._say(f"{self.stored + 1} {what}")

    def _card_left(self) -> None:
        self._cards = self._cards[1:]
        self.out += 1
        self._cut_is_due = len(self._cards) == self._cut

    def _cut_card_came(self) -> None:
        self._cut_is_due = False

    def _move_lid(self, *, is_open: bool) -> None:
        self._lid_open = is_open
        self._say(f"lid {'open' if is_open else 'closed'}")

    @property
    def _decks(self) -> int:
        """The decks that were loaded, if the shoe that holds them is whole decks and is not empty."""
        whole, odd = divmod(len(self._cards) + self.out, 52)
        return whole if self._cards and not odd else 0
