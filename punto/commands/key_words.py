"""A device's key as 24 words to type and as a QR code to scan. Their libraries are loaded here alone, when a key is shown or read."""

from collections.abc import Sequence
from typing import Final

WORDS: Final = 24
_BLOCKS: Final = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}
"""Two modules above each other."""


def words_of(digits: str) -> Sequence[str]:
    """The words of a key of 64 hexadecimal digits, by BIP-39: the last one checks the others."""
    from mnemonic import Mnemonic  # noqa: PLC0415 - only who shows a key waits for it

    return Mnemonic("english").to_mnemonic(bytes.fromhex(digits)).split()


def digits_of(words: str) -> str:
    """The key of these words as hexadecimal digits.

    Raises:
        ValueError: a word is wrong, or the words do not belong together.
    """
    from mnemonic import Mnemonic  # noqa: PLC0415 - only who types a key waits for it

    language, typed = Mnemonic("english"), words.lower().split()
    for number, word in enumerate(typed, start=1):
        if word not in language.wordlist:
            raise ValueError(
                f"word {number}, {word[:20]!r}, is not one of the list: compare it with the words that are shown"
            )
    if len(typed) != WORDS:
        raise ValueError(f"a key has {WORDS} words, not {len(typed)}")
    if not language.check(" ".join(typed)):
        raise ValueError(
            "the words do not belong together: compare their order with the words that are shown"
        )
    return language.to_entropy(typed).hex()


def modules_of(digits: str) -> Sequence[Sequence[bool]]:
    """The QR code of the digits with its margin: rows of modules, of which true ones are dark."""
    import segno  # noqa: PLC0415 - only who shows a key waits for it

    return [
        [bool(module) for module in row] for row in segno.make_qr(digits, error="m").matrix_iter(border=4)
    ]


def in_blocks(modules: Sequence[Sequence[bool]]) -> str:
    """A QR code for a terminal: two rows in a line, in black on white whatever the colours of the terminal are."""
    rows = [*modules, *([[False] * len(modules[0])] * (len(modules) % 2))]
    lines = (
        "".join(_BLOCKS[pair] for pair in zip(upper, lower, strict=True))
        for upper, lower in zip(rows[::2], rows[1::2], strict=True)
    )
    return "".join(f"\x1b[30;107m{line}\x1b[0m\n" for line in lines)
