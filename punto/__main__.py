"""`python -m punto` runs `punto`."""

import sys

from punto.commands.cli import main

sys.exit(main())
