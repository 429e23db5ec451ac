"""`punto schema`: the JSON Schemas and the AsyncAPI document as files, and the table of roles in docs/operators.md."""

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from punto.consoles.roles_page import FILE, with_roles
from punto.controller.messages.schema import asyncapi, json_schemas

HELP: Final = (
    "Write one JSON Schema for each MQTT payload into DIR/schema, and the AsyncAPI document that describes every "
    "topic to DIR/asyncapi.json. If there is a DIR/operators.md, write into it which role may give which order."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="made if it is not there")


def main(args: argparse.Namespace) -> int:
    """Write the files; 1 if they cannot be."""
    try:
        for name, text in documents().items():
            path = args.out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        page = args.out / FILE
        if page.is_file():
            page.write_text(with_roles(page.read_text(encoding="utf-8")), encoding="utf-8")
    except ValueError as error:
        sys.stderr.write(f"punto schema: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"punto schema: {error.filename} cannot be written: {error.strerror}\n")
        return 1
    return 0


def documents() -> dict[str, str]:
    """Path below DIR -> text of each file."""
    found = {f"schema/{name}": schema for name, schema in json_schemas().items()}
    found["asyncapi.json"] = asyncapi()
    return {name: json.dumps(document, indent=2) + "\n" for name, document in found.items()}
