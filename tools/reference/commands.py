"""docs/reference/commands.md, from the parsers of the commands."""

import argparse
from collections.abc import Iterator
from importlib import import_module
from typing import Final

from punto.commands.cli import SUBCOMMANDS, parser_of

_PAGE: Final = """\
# Commands

This page lists the subcommands of `punto`, and the arguments of each subcommand. `punto SUBCOMMAND --help` prints the same text. Every subcommand also takes `-h` and `--help`. `punto --version` prints the version.

| Exit status | Meaning |
|---|---|
| 0 | the command succeeded |
| 1 | the input is wrong, or the output cannot be written |
| 2 | the command cannot begin, because its arguments or its configuration are wrong |
| 130 | the command was interrupted with Ctrl-C |
| 141 | the program that read the output has ended |"""
_HEAD: Final = "| Argument | What it is |\n| --- | --- |"


def commands_page() -> str:
    """Each subcommand: its description, and its arguments with their help."""
    parts = [_PAGE]
    for name, subcommand in SUBCOMMANDS.items():
        parts += _command(parser_of(name, import_module(subcommand.module)), "##")
    return "\n\n".join(parts) + "\n"


def _command(parser: argparse.ArgumentParser, level: str) -> Iterator[str]:
    """One command's heading, description and table of arguments, and then its own subcommands."""
    yield f"{level} `{parser.prog}`"
    sentence = " ".join(_text(parser.description or "", parser.prog).split())
    yield sentence[0].upper() + sentence[1:] + "." * (not sentence.endswith("."))
    rows: list[str] = []
    inner: list[argparse.ArgumentParser] = []
    for action in parser._actions:  # argparse has no public list of arguments
        if isinstance(action.choices, dict):  # the parsers of its subcommands
            inner += action.choices.values()
        elif action.help is not argparse.SUPPRESS and action.dest != "help":
            rows.append(f"| {_written(action)} | {_help(action, parser.prog)} |")
    if rows:
        yield "\n".join([_HEAD, *rows])
    for each in inner:
        yield from _command(each, level + "#")


def _written(action: argparse.Action) -> str:
    """The argument as it is typed, such as `--seed SEED`."""
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    if not action.option_strings:
        return f"`{value}`"
    written = ", ".join(action.option_strings)
    if action.nargs == 0:
        return f"`{written}`"
    return f"`{written}{f'[={value}]' if action.nargs == '?' else f' {value}'}`".replace("|", "\\|")


def _help(action: argparse.Action, prog: str) -> str:
    words = _text((action.help or "") % {**vars(action), "prog": prog}, prog)
    return words + (" (required)" if action.required and action.option_strings else "")


def _text(words: str, prog: str) -> str:
    return words.removeprefix(f"`{prog}`: ").replace("|", "\\|").replace("<", "&lt;")
