"""A file of the simulated rounds, CSV or Parquet, written block by block.

The file gets its name when it is complete. Until then its name is `NAME.part`, and it is deleted if the run
ends early.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute
from pyarrow.csv import CSVWriter
from pyarrow.parquet import ParquetWriter

from punto.odds.composition import CARDS_OF_A_COUP
from punto.odds.simulation.outcomes import NUMBERS, Outcomes
from punto.odds.simulation.simulator import Block
from punto.runtime.csv_cells import as_text
from punto.runtime.made_files import FOR_ALL, new_file

Format = Literal["csv", "parquet"]

_OF_EVERY_FILE: Final = {
    "shoe": pa.int64(),
    "round": pa.int32(),
    "cards": pa.string(),
    "player_total": pa.uint8(),
    "banker_total": pa.uint8(),
    "winner": pa.dictionary(pa.uint16(), pa.string()),
}
_RULE: Final = pa.dictionary(pa.uint16(), pa.string())
_WRITERS: Final[dict[Format, Any]] = {"csv": CSVWriter, "parquet": ParquetWriter}


class RoundsFile:
    """A file of rounds; `write` takes the blocks in their order.

    Its columns are the shoe and the round in it, both from 1; the cards in the order they left the shoe, such
    as "9S KD 3H 4C"; the totals; the winner; and for each position, by its name, the rule that decided.

    Raises:
        OSError: the file already exists, or cannot be written.
        ValueError: a position has the name of another column.
    """

    def __init__(self, path: Path, form: Format, outcomes: Outcomes) -> None:
        names = [position.name for position in outcomes.positions]
        for name in _OF_EVERY_FILE:
            if name in names:
                raise ValueError(
                    f"a wager called {name!r} cannot have a column: every file already has a column of that name"
                )
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._refuse_to_overwrite()
        written = as_text if form == "csv" else str
        self._schema = pa.schema([*_OF_EVERY_FILE.items(), *((written(name), _RULE) for name in names)])
        self._kinds = outcomes.kinds
        self._rules = [
            [written(rules[place]) for place in places]
            for rules, places in zip(outcomes.rules, outcomes.deciding.T, strict=True)
        ]
        self._new = new_file(path, FOR_ALL, replace=False, unfinished=self._part.name)
        try:
            file = self._new.__enter__()
        except FileExistsError:
            raise FileExistsError(
                f"{self._part} already exists, from another run that is writing it or was killed: delete it "
                "first, or name another file"
            ) from None
        self._writer = _WRITERS[form](file, self._schema)

    def write(self, block: Block) -> None:
        """Append a block's rounds; the block must have kept them."""
        kept, at = block.kept, slice(block.rounds)
        kind, coups = kept.kind[at], self._kinds
        self._writer.write_batch(
            pa.record_batch(
                [
                    pa.array(kept.shoe[at].astype(np.int64) + block.first_shoe + 1),
                    pa.array(kept.number[at] + 1),
                    _joined(kept.cards[at], np.array([coup.coup_cards for coup in coups])[kind]),
                    pa.array(np.array([coup.player_total for coup in coups], np.uint8)[kind]),
                    pa.array(np.array([coup.banker_total for coup in coups], np.uint8)[kind]),
                    _words(kind, [coup.winner.value for coup in coups]),
                    *(_words(kept.outcome[at], rules) for rules in self._rules),
                ],
                schema=self._schema,
            )
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with ExitStack() as at_end:
            at_end.push(self._new)
            self._writer.close()
            if error is not None:
                raise error
            self._refuse_to_overwrite()

    def _refuse_to_overwrite(self) -> None:
        if self._path.exists():
            raise FileExistsError(f"{self._path} already exists: name another file, or delete it first")


def _words(numbers: NDArray[np.uint16] | NDArray[np.uint32], words: Sequence[str]) -> Any:
    """The word of each number; words may be equal."""
    different = list(dict.fromkeys(words))
    place = np.array([different.index(word) for word in words], np.uint16)
    return pa.DictionaryArray.from_arrays(pa.array(place[numbers]), pa.array(different))


def _joined(cards: NDArray[np.uint8], sizes: NDArray[np.int64]) -> Any:
    """The names of each round's cards."""
    names = [""] * 256
    for card, number in NUMBERS.items():
        names[number] = card.value
    columns = [
        pa.DictionaryArray.from_arrays(
            pa.array(cards[:, place], mask=sizes <= place), pa.array(names)
        ).dictionary_decode()
        for place in range(CARDS_OF_A_COUP)
    ]
    return compute.binary_join_element_wise(*columns, " ", null_handling="skip")
