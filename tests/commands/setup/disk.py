"""The disk of a PC on which `punto setup` is tried."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def disk_with_mosquitto() -> Iterator[Path]:
    """The disk of a PC that has Mosquitto. The user of a table can enter its folders, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        (root / "etc/mosquitto/conf.d").mkdir(parents=True)
        (root / "etc/group").write_text("mosquitto:x:109:\n")
        yield root
