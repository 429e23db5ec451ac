"""A device's key as words and as a QR code."""

import re
from io import StringIO
from pathlib import Path

import pytest

from punto.commands.key_words import digits_of, in_blocks, modules_of, words_of
from tests.command import punto

KEY = "7f" * 32
OF_THE_STANDARD = (
    "legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth useful legal winner thank year "
    "wave sausage worth title"
)
"""The words of this key among the test vectors of BIP-39."""


def test_the_words_of_a_key_are_those_of_the_standard() -> None:
    assert " ".join(words_of(KEY)) == OF_THE_STANDARD
    assert digits_of(OF_THE_STANDARD.upper()) == KEY


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (OF_THE_STANDARD.replace("thank", "thanks", 1), "word 3, 'thanks'"),
        (OF_THE_STANDARD.removesuffix(" title"), "24 words, not 23"),
        (OF_THE_STANDARD.replace("legal winner", "winner legal", 1), "do not belong together"),
    ],
)  # fmt: skip
def test_a_wrong_word_is_noticed(words: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        digits_of(words)


def test_a_key_can_be_made_from_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "shoe.key"

    monkeypatch.setattr("sys.stdin", StringIO(OF_THE_STANDARD))
    assert punto("device-key", "--words", str(path)).returncode == 0
    assert path.read_text() == f"{KEY}\n"
    monkeypatch.setattr("sys.stdin", StringIO("legal winner"))
    wrong = punto("device-key", "--words", str(tmp_path / "other"))
    assert (wrong.returncode, wrong.stderr) == (1, "punto device-key: a key has 24 words, not 2\n")


def test_a_terminal_shows_every_module_of_the_code() -> None:
    modules = modules_of(KEY)
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in in_blocks(modules).splitlines()]
    seen = [
        [cell in upper for cell in line]
        for line in lines
        for upper in ("\u2580\u2588", "\u2584\u2588")
    ]  # fmt: skip

    assert seen[: len(modules)] == [list(row) for row in modules]
    assert not any(cell for row in seen[len(modules) :] for cell in row)
