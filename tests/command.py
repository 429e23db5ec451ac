"""The command `punto` in this process: to start another takes many times as long as most of what is asked of it."""

import subprocess
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

from punto.commands.cli import main


def punto(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What a command ends with and says."""
    said, complained = StringIO(), StringIO()
    with redirect_stdout(said), redirect_stderr(complained):
        try:
            status: object = main(arguments)
        except SystemExit as ended:  # the parser's
            status = ended.code
    assert isinstance(status, int)
    return subprocess.CompletedProcess(["punto", *arguments], status, said.getvalue(), complained.getvalue())
