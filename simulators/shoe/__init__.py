"""The virtual shoe: the shoe's end of docs/ishoe-link.md on a pseudo-terminal, with somebody who draws the cards."""

from simulators.shoe.options import OptionError, ShoeOptions
from simulators.shoe.order import shuffled
from simulators.shoe.scenario import ScenarioError, read_scenario
from simulators.shoe.store import StoreError
from simulators.shoe.terminal import TerminalError
from simulators.shoe.virtual_shoe import VirtualShoe

__all__ = [
    "OptionError",
    "ScenarioError",
    "ShoeOptions",
    "StoreError",
    "TerminalError",
    "VirtualShoe",
    "read_scenario",
    "shuffled",
]
