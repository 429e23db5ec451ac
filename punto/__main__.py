"""`python -m punto` is `punto`."""

import sys

from punto.commands.cli import main

sys.exit(main())
