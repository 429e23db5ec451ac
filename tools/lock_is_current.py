"""Whether the lock files are what pyproject.toml asks for, and name no address; `--write` makes them so."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

LOCKS = {
    Path("locks/requirements.lock"): ["pyproject.toml", "--all-extras", "--group", "dev"],
    Path("locks/table.lock"): [
        "pyproject.toml",
        "--extra",
        "console",
        "--extra",
        "display",
        "--extra",
        "evdev",
        "--extra",
        "print",
        "--extra",
        "setup",
        "--group",
        "build",
    ],
    Path("locks/demo.lock"): ["pyproject.toml", "--extra", "demo", "--group", "build"],
    Path("locks/docs.lock"): ["--group", "docs"],
    Path("locks/tpm.lock"): ["--group", "tpm"],
    Path("locks/tpm-build.lock"): ["--group", "tpm-build"],
}
"""What each file locks: a developer's machine, a table's PC, the demo, the documents' site, a key in a TPM and what compiles its package."""
FLAGS = [
    "--quiet",
    "--universal",
    "--python-version",
    "3.11",
    "--generate-hashes",
    "--no-annotate",
    "--no-header",
]
FLAGS += ["--no-emit-index-url", "--no-emit-find-links"]


NPM_LOCK = Path("package-lock.json")
"""What the pages' scripts are checked with. `npm ci` holds it against package.json."""


def main() -> int:
    """Check each."""
    return max(*(is_current(lock, wanted) for lock, wanted in LOCKS.items()), is_portable(NPM_LOCK))


def is_portable(lock: Path) -> int:
    """Each package of npm's has its hash, and none the address that it came from."""
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    faulty = [name for name, it in packages.items() if name and ("resolved" in it or "integrity" not in it)]
    if faulty:
        print(f"{lock} has an address, or no hash, of {', '.join(faulty)}: make it again with `make lock`")
    return int(bool(faulty))


def is_current(lock: Path, wanted: list[str]) -> int:
    """Resolve again with the lock's own versions preferred: a lock that is current comes out unchanged."""
    locked = lock.read_text(encoding="utf-8") if lock.exists() else ""
    if "://" in locked:
        print(f"{lock} names an address: make it again with `make lock`")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        resolved = Path(folder) / lock.name
        # what has no version of its own yet takes that of the other lock
        resolved.write_text(locked or next(iter(LOCKS)).read_text(encoding="utf-8"), encoding="utf-8")
        uv = str(Path(sys.executable).with_name("uv"))
        subprocess.run([uv, "pip", "compile", *FLAGS, *wanted, "-o", str(resolved)], check=True)
        if "--write" in sys.argv:
            lock.write_text(resolved.read_text(encoding="utf-8"), encoding="utf-8")
        elif resolved.read_text(encoding="utf-8") != locked:
            print(f"{lock} is not what pyproject.toml asks for: run `make lock` and commit it")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
