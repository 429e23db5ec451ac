"""Whether requirements.lock is what pyproject.toml asks for, and names no address; `--write` makes it so."""

import subprocess
import sys
import tempfile
from pathlib import Path

LOCK = Path("requirements.lock")
FLAGS = [
    "--quiet",
    "--universal",
    "--python-version",
    "3.11",
    "--generate-hashes",
    "--no-annotate",
    "--no-header",
]
FLAGS += ["--no-emit-index-url", "--no-emit-find-links", "--all-extras", "--group", "dev"]


def main() -> int:
    """Resolve again with the lock's own versions preferred: a lock that is current comes out unchanged."""
    locked = LOCK.read_text(encoding="utf-8")
    if "://" in locked:
        print("requirements.lock names an address: make it again with `make lock`")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        resolved = Path(folder) / LOCK.name
        resolved.write_text(locked, encoding="utf-8")
        uv = str(Path(sys.executable).with_name("uv"))
        subprocess.run([uv, "pip", "compile", *FLAGS, "pyproject.toml", "-o", str(resolved)], check=True)
        if "--write" in sys.argv:
            LOCK.write_text(resolved.read_text(encoding="utf-8"), encoding="utf-8")
        elif resolved.read_text(encoding="utf-8") != locked:
            print("requirements.lock is not what pyproject.toml asks for: run `make lock` and commit it")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
