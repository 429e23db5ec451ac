"""The list of commands in docs/reference/commands.md, written from their parsers."""

import argparse
from collections.abc import Iterator
from importlib import import_module
from typing import Final

from punto.commands.cli import SUBCOMMANDS, parser_of

_HEAD: Final = "| Argument | What it is |\n| --- | --- |"


def commands_page() -> str:
    """Each subcommand: what it does, and its arguments with their help."""
    parts: list[str] = []
    for name, subcommand in SUBCOMMANDS.items():
        parts += _command(parser_of(name, import_module(subcommand.module)), "##")
    return "\n\n".join(parts)


def _command(parser: argparse.ArgumentParser, level: str, about: str | None = None) -> Iterator[str]:
    """One command's heading, words and table, and then those of its own subcommands."""
    yield f"{level} `{parser.prog}`"
    if words := parser.description or about:
        sentence = " ".join(_text(words, parser.prog).split())
        yield sentence[0].upper() + sentence[1:] + "." * (not sentence.endswith("."))
    rows: list[str] = []
    inner: list[tuple[argparse.ArgumentParser, str | None]] = []
    for action in parser._actions:  # noqa: SLF001 -- argparse has no public list of arguments
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            helps = {choice.dest: choice.help for choice in action._choices_actions}  # noqa: SLF001
            inner += [(each, helps.get(name)) for name, each in action.choices.items()]
        elif action.help is not argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):  # noqa: SLF001
            rows.append(f"| {_written(action)} | {_help(action, parser.prog)} |")
    if rows:
        yield "\n".join([_HEAD, *rows])
    for each, help_ in inner:
        yield from _command(each, level + "#", help_)


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
