"""Writes configs/expectations.json: the exact expectations of each game that ships, with each option of the house.

python -m tools.shipped_expectations    # `make games` does it
"""

from punto.configs.expectations import FILE, as_json
from punto.configs.game_files import load_game, shipped_games
from punto.odds.expectations import expectations, in_floats, with_options
from tests.controller.table_in_this_process import HERE


def text() -> str:
    """The file as it should be."""
    games = [each for name in shipped_games() for each in with_options(load_game(name))]
    return as_json((each, in_floats(expectations(each))) for each in games)


if __name__ == "__main__":
    (HERE / "configs" / FILE).write_text(text(), encoding="utf-8")
