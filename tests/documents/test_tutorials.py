"""docs/tutorials: each is followed to its end in a shell, and prints what it shows."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.controller.table_on_a_machine import HERE
from tests.ports import free_port
from tests.share import soaked

TUTORIALS = sorted((HERE / "docs" / "tutorials").glob("first-*.md"))
BLOCK = re.compile(r'^```(\w+)(?: title="([^"\n]*)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


def script(tutorial: str, folder: Path) -> str:
    """The shell script of a reader who does what each block says; what a `console` block prints goes to a file."""
    lines = ["set -euo pipefail"]
    for number, (language, title, text) in enumerate(BLOCK.findall(tutorial)):
        if language == "toml":
            lines.append(f"cat >> {title} <<'THE END'\n{text}THE END")
        elif language == "console":
            command, _, shown = text.removeprefix("$ ").partition("\n")
            (folder / f"shown-{number}").write_text(shown, encoding="utf-8")
            lines.append(f"{command} > {folder}/printed-{number} 2>&1")
        else:
            assert language == "sh", f"no reader knows what to do with a block of {language}"
            lines.append(text)
    return "\n".join(lines)


@pytest.mark.parametrize("page", [TUTORIALS[-1], *soaked(*TUTORIALS[:-1])], ids=lambda page: page.stem)
def test_a_reader_can_follow_it(page, tmp_path):
    tutorial = page.read_text(encoding="utf-8")
    for port in ("1884", "8081"):  # another reader may be at it
        tutorial = tutorial.replace(port, str(free_port()))
    path = f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/bin"
    said = tmp_path / "said"
    with said.open("wb") as out:
        shell = subprocess.Popen(
            ["/bin/bash", "-c", script(tutorial, tmp_path)],
            cwd=tmp_path, env={**os.environ, "PATH": path, "PYTHONPATH": str(HERE)},
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
        try:
            status = shell.wait(timeout=300)
        finally:
            with suppress(ProcessLookupError):  # a reader who came to the end has stopped all of it
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()

    assert status == 0, said.read_text(encoding="utf-8")
    for shown in tmp_path.glob("shown-*"):
        printed = shown.with_name(shown.name.replace("shown", "printed"))
        assert printed.read_text(encoding="utf-8") == shown.read_text(encoding="utf-8")


def test_each_tutorial_is_followed():
    assert {page.name for page in (HERE / "docs" / "tutorials").glob("*.md")} == {
        "README.md", *(page.name for page in TUTORIALS)
    }  # fmt: skip
