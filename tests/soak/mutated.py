"""`tests.started` with a mistake of tests/simulated/mutations.py, which PUNTO_MUTATION names: a soak must find it."""

import os
import sys

from tests import started
from tests.simulated.mutations import MUTATIONS

if __name__ == "__main__":
    with MUTATIONS[os.environ["PUNTO_MUTATION"]]():
        started.main(int(sys.argv[1]))
