"""The virtual shoe: the shoe's end of docs/reference/ishoe-link.md on a pseudo-terminal, and the person who draws the cards."""

from punto.simulators.shoe.options import OptionError, ShoeOptions
from punto.simulators.shoe.scenario import ScenarioError, read_scenario
from punto.simulators.shoe.shuffle import shuffled
from punto.simulators.shoe.store import StoreError
from punto.simulators.shoe.terminal import TerminalError
from punto.simulators.shoe.virtual_shoe import VirtualShoe

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
