"""`punto` on a disk that takes its time, so that a kill finds a commit half done: `python -m tests.controller.on_a_slow_disk`.

On a quick disk the moments between writing, committing and acknowledging are too short to be met by chance.
"""

import sqlite3
import sys
import time
from typing import Any

from punto.commands.cli import main

SECONDS = 0.02
_connect = sqlite3.connect


class SlowConnection(sqlite3.Connection):
    """Takes some time before a commit and some after it, before it says so."""

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        if sql != "COMMIT":
            return super().execute(sql, *parameters)
        time.sleep(SECONDS)
        done = super().execute(sql, *parameters)
        time.sleep(SECONDS)
        return done


def connect(*args: Any, **options: Any) -> sqlite3.Connection:
    return _connect(*args, **options, factory=SlowConnection)


sqlite3.connect = connect  # type: ignore[assignment]  # it passes on whatever it is given
sys.exit(main())
