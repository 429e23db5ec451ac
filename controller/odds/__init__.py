"""The exact odds of every wager of a game, from the definitions that settle it."""

import os

# The products of the odds are small. Shared among threads they gain nothing, and where other processes are busy the
# threads wait for each other: a shoe's edges then take thirty times as long. Numpy asks when it is first loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
