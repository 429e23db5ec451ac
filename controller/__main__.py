"""`python -m controller` is `punto`."""

import sys

from controller.cli import main

sys.exit(main())
