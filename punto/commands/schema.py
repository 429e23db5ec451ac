"""`punto schema`: the JSON Schemas, the AsyncAPI document, the broker's access list, and the tables of docs/reference."""

import argparse
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final

from punto.commands.configuration_page import configuration_page
from punto.commands.lab_report.report import LabReport
from punto.commands.topics_page import access_list, topics_tables
from punto.consoles.roles_page import roles_tables
from punto.messages.schema import DIALECT, asyncapi, json_schemas

HELP: Final = (
    "Write one JSON Schema for each MQTT payload and for the report of `punto lab-report` into DIR/schema, and the AsyncAPI document "
    "with every topic to DIR/asyncapi.json. If DIR has the pages commands.md, configuration.md, roles.md and topics.md, write the generated tables of these pages too."
)
PAGES: Final[dict[str, Callable[[], str]]] = {
    # It is imported late because it needs every extra.
    "commands.md": lambda: import_module("punto.commands.commands_page").commands_page(),
    "configuration.md": configuration_page,
    "roles.md": lambda: "\n\n".join(map(_markdown, roles_tables())),
    "topics.md": lambda: "\n\n".join(map(_markdown, topics_tables())),
}
BEGIN: Final = "<!-- Written by `make schema`: a change made here is lost. -->"
END: Final = "<!-- End of what `make schema` writes. -->"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    parser.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="DIR",
        help="the folder for the files; it is made if it does not exist",
    )
    parser.add_argument(
        "--acl", type=Path, metavar="FILE", help="write Mosquitto's access list to this file too"
    )


def main(args: argparse.Namespace) -> int:
    """Write the files; 1 on an error."""
    try:
        found = {args.out / name: text for name, text in documents().items()}
        if args.acl is not None:
            found[args.acl] = access_list()
        for name in PAGES:
            if (page := args.out / name).is_file():
                found[page] = with_tables(name, page.read_text(encoding="utf-8"))
        for path, text in found.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except ValueError as error:
        sys.stderr.write(f"punto schema: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"punto schema: {error.filename} cannot be written: {error.strerror}\n")
        return 1
    return 0


def documents() -> dict[str, str]:
    """The text of each file by its path below DIR."""
    found = {f"schema/{name}": schema for name, schema in json_schemas().items()}
    found["asyncapi.json"] = asyncapi()
    found["schema/lab-report.json"] = {
        "$schema": DIALECT,
        **LabReport.model_json_schema(mode="serialization"),
    }
    return {name: json.dumps(document, indent=2) + "\n" for name, document in found.items()}


def with_tables(name: str, page: str) -> str:
    """The page of this name with its tables between the two marks.

    Raises:
        ValueError: the page does not have both marks, in order.
    """
    before, begun, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not begun or not ended:
        raise ValueError(
            f"{name} does not have the lines {BEGIN!r} and {END!r}: write them where the tables go"
        )
    return f"{before}{BEGIN}\n\n{PAGES[name]()}\n\n{END}{after}"


def _markdown(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], ["---"] * len(rows[0]), *rows[1:]))
