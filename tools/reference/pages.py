"""Writes what the documents have of the program.

python -m tools.reference.pages         # what is committed; `make schema` does it
python -m tools.reference.pages site    # what only the site has; `make docs` does it
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from punto.commands.access_lists import access_list
from punto.commands.games_page import page as games_page
from punto.commands.schema import documents
from punto.configs.expectations import FILE, as_json
from punto.configs.game_files import load_game, shipped_games
from punto.odds.expectations import expectations, in_floats, with_options
from tests.consoles.consoles import consoles
from tests.controller.table_in_this_process import HERE
from tools.reference.commands import commands_page
from tools.reference.configuration import configuration_tables
from tools.reference.licences import licences_page
from tools.reference.metrics import metrics_tables
from tools.reference.roles import roles_tables
from tools.reference.topics import topics_table

REFERENCE: Final = HERE / "docs" / "reference"
BEGIN: Final = "<!-- Written by `make schema`: a change made here is lost. -->"
END: Final = "<!-- End of what `make schema` writes. -->"


def with_tables(page: Path, tables: Callable[[], str]) -> str:
    """The text of a page with these tables between its two marks.

    Raises:
        ValueError: the page does not have each mark once.
    """
    text = page.read_text(encoding="utf-8")
    before, _ = text.split(BEGIN)
    _, after = text.split(END)
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{after}"


async def openapi() -> str:
    """The OpenAPI document as the consoles of a table serve it. PORT stands for their port, which names the session's cookie."""
    with tempfile.TemporaryDirectory(prefix="punto-") as folder:
        async with consoles(Path(folder)) as here:
            here.account("mei", "dealer")
            answer = await (await here.signed_on("mei")).get("/api/openapi.json")
            return json.dumps(answer.json, indent=2).replace(f"session_{here.port}", "session_PORT") + "\n"


def shipped_expectations() -> str:
    """The exact expectations of each game that ships, with each option of the house."""
    games = [each for name in shipped_games() for each in with_options(load_game(name))]
    return as_json((each, in_floats(expectations(each))) for each in games)


def _markdown(*tables: list[list[str]]) -> str:
    return "\n\n".join(
        "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], ["---"] * len(rows[0]), *rows[1:]))
        for rows in tables
    )


_TABLES: Final[dict[str, Callable[[], str]]] = {
    "configuration.md": configuration_tables,
    "metrics.md": metrics_tables,
    "roles.md": lambda: _markdown(*roles_tables()),
    "topics.md": lambda: _markdown(topics_table()),
}
COMMITTED: Final[dict[Path, Callable[[], str]]] = {
    REFERENCE / "asyncapi.json": lambda: documents()["asyncapi.json"],
    REFERENCE / "openapi.json": lambda: asyncio.run(openapi()),
    **{REFERENCE / name: partial(with_tables, REFERENCE / name, tables) for name, tables in _TABLES.items()},
    HERE / "configs" / "mosquitto.acl": access_list,
    HERE / "configs" / FILE: shipped_expectations,
}
"""The files that the repository has and the program writes, each with its text."""
SITE: Final[dict[Path, Callable[[], str]]] = {
    REFERENCE / "commands.md": commands_page,
    REFERENCE / "games.md": games_page,
    REFERENCE / "licences.md": licences_page,
}
"""The pages that only the site has. `punto --help` and `punto games` have the first two for a reader of the repository."""


if __name__ == "__main__":
    for file, text in (SITE if sys.argv[1:] == ["site"] else COMMITTED).items():
        file.write_text(text(), encoding="utf-8")
