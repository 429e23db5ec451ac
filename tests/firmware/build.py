"""The programs of `firmware/`, built with the machine's compilers; tests that need one are skipped where it is missing."""

import fcntl
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

import pytest

HERE: Final = Path(__file__).parents[2]
FIRMWARE: Final = HERE / "firmware"
BUILD: Final = HERE / "build" / "firmware"


@cache
def built(target: str, compiler: str = "cc") -> Path:
    """A file that `firmware/Makefile` builds."""
    if shutil.which(compiler) is None or shutil.which("make") is None:
        pytest.skip(f"it needs {compiler}: ./tools/install-system-packages firmware installs it")
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several workers may need it at once
        command: list[str | Path] = ["make", "-s", "-C", FIRMWARE, f"BUILD={BUILD}", BUILD / target]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return BUILD / target
