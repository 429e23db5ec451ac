"""The blocks of a document that its reader carries out, and the shell script of a reader who does what each block says.

A comment before a block, which no reader sees, says how a test carries out the block:

- without a comment: with the page's other blocks, one after the other, in an empty folder;
- `<!-- test: machine -->`: as root on a machine on which docs/how-to/install-by-hand.md was followed (`tests/deploy/installed_machine.py`);
- `<!-- test: by tests/FILE.py -->`: the tests of this file run its commands, because they need more than the page has;
- `<!-- test: not run: REASON -->`: no test can run it.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from typing import Final, NamedTuple

from tests.controller.table_on_a_machine import HERE

SHELL: Final = frozenset({"sh", "console"})
_BLOCK: Final = re.compile(
    r'^(?: *<!-- test: (?P<mark>[^\n]*) -->\n)?(?P<indent> *)```(?P<language>\w*)(?: title="(?P<title>[^"\n]*)")?\n'
    r"(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A block: what it is written in, the file that it is the text of, its text, and how a test carries it out."""

    language: str
    title: str
    text: str
    mark: str

    @property
    def is_run_here(self) -> bool:
        """Whether it is carried out in an empty folder."""
        return self.language in SHELL and not self.mark

    @property
    def commands(self) -> list[str]:
        """The lines that a reader types."""
        lines = self.text.splitlines()
        return [
            line.removeprefix("$ ") for line in lines if self.language != "console" or line.startswith("$ ")
        ]


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page, in their order."""
    found = (each.groupdict(default="") for each in _BLOCK.finditer(page))
    return [Block(each["language"], each["title"], dedent(each["text"]), each["mark"]) for each in found]


def script(blocks: Iterable[Block], folder: Path) -> str:
    """The shell script of a reader who does what each block says; what a `console` block prints goes to a file."""
    lines = ["set -euo pipefail"]
    for number, block in enumerate(blocks):
        if block.language == "toml":
            lines.append(f"cat >> {block.title} <<'THE END'\n{block.text}THE END")
        elif block.language == "console":
            command, _, shown = block.text.removeprefix("$ ").partition("\n")
            (folder / f"shown-{number}").write_text(shown, encoding="utf-8")
            lines.append(f"{command} > {folder}/printed-{number} 2>&1")
        else:
            assert block.language == "sh", f"no reader knows what to do with a block of {block.language}"
            lines.append(block.text)
    return "\n".join(lines)


def carried_out(blocks: Iterable[Block], folder: Path) -> None:
    """Carry out the blocks in a folder, and compare what is printed with what the page shows."""
    path = f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/bin"
    said = folder / "said"
    with said.open("wb") as out:
        shell = subprocess.Popen(
            ["/bin/bash", "-c", script(blocks, folder)],
            cwd=folder, env={**os.environ, "PATH": path, "PYTHONPATH": str(HERE)},
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
        try:
            status = shell.wait(timeout=300)
        finally:
            with suppress(ProcessLookupError):  # a reader who came to the end has stopped all of it
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()

    assert status == 0, said.read_text(encoding="utf-8")
    for shown in folder.glob("shown-*"):
        printed = shown.with_name(shown.name.replace("shown", "printed"))
        assert printed.read_text(encoding="utf-8") == shown.read_text(encoding="utf-8")
