"""`punto schema`: the JSON Schemas, the AsyncAPI document and the broker's access list."""

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from punto.commands.access_lists import access_list
from punto.commands.lab_report.report import LabReport
from punto.messages.schema import DIALECT, asyncapi, json_schemas
from punto.runtime.made_files import FOR_ALL, write_file

HELP: Final = (
    "Write one JSON Schema for each MQTT payload and for the report of `punto lab-report` into DIR/schema, and the AsyncAPI document "
    "with every topic to DIR/asyncapi.json."
)


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
    found = {args.out / name: text for name, text in documents().items()}
    if args.acl is not None:
        found[args.acl] = access_list()
    try:
        for path, text in found.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, text.encode(), FOR_ALL)
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
