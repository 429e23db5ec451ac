"""Run a virtual shoe: `python -m punto.simulators.shoe --link /run/user/1000/shoe`."""

import argparse
import sys

from punto.simulators.shoe.command import add_arguments, main

_parser = argparse.ArgumentParser(prog="punto shoe", description=__doc__, allow_abbrev=False)
add_arguments(_parser)
sys.exit(main(_parser.parse_args()))
