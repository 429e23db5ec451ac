"""`punto` whose standard error systemd has connected to a journal: `python -m tests.runtime.with_a_journal SOCKET run …`."""

import os
import sys

from punto.commands.cli import main
from punto.runtime import journald

journald.SOCKET = sys.argv.pop(1)  # type: ignore[misc]  # it is another one only here
file = os.fstat(sys.stderr.fileno())
os.environ["JOURNAL_STREAM"] = f"{file.st_dev}:{file.st_ino}"
sys.exit(main())
