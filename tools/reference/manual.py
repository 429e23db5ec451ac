"""The manual pages and the completion of `punto` in a shell, from the parsers of the commands: for the Debian packages."""

import argparse
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Final

from punto.commands.cli import SUBCOMMANDS, parser_of

VERSIONS: Final = {
    "upgrade": "change to the version of the installed package, if it proves every record",
    "rollback": "take back the version before, if it proves every record",
    "versions": "list the versions on this PC",
}
"""What the script `versions` of a package adds to the subcommands."""
_BASH: Final = """\
# bash completion for punto
_punto() {
    local cur=${COMP_WORDS[COMP_CWORD]} words=
    if [ "$COMP_CWORD" = 1 ]; then
        words="--help --version @NAMES@"
    else
        case ${COMP_WORDS[1]} in
@CASES@
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _punto punto
"""
_ZSH: Final = """\
#compdef punto
local -a names
if (( CURRENT == 2 )); then
    names=(
@NAMES@
    )
    _describe 'subcommand' names
    return
fi
case $words[2] in
@CASES@
esac
(( $#names )) && compadd -- $names
_files
"""


def manual_pages(names: Iterable[str], version: str) -> dict[str, str]:
    """The manual pages of these subcommands and of `punto`, by the names of their files."""
    about = {**{name: SUBCOMMANDS[name].help for name in names}, **VERSIONS}
    pages = {f"punto-{name}.1": _page(parser, about[name], version) for name, parser in _parsers(names)}
    listed = "\n".join(f".TP\n.B {_roff(name)}\n{_roff(text)}" for name, text in about.items())
    pages["punto.1"] = "\n".join(
        [
            _head("punto", version),
            ".SH NAME\npunto \\- table\\-game controller for baccarat",
            ".SH SYNOPSIS\n.B punto\n.I SUBCOMMAND\n\\&...",
            ".SH DESCRIPTION\nEach subcommand but the last three has a page: the subcommand score has \\fBpunto\\-score\\fR(1).",
            f".SH SUBCOMMANDS\n{listed}",
            (
                ".SH EXIT STATUS\n0: done. 1: the input is invalid, or the output cannot be written. "
                "2: the command could not begin, because its arguments or its configuration are invalid."
            ),
            "",
        ]
    )
    return pages


def script_page(name: str, script: str, version: str) -> str:
    """The manual page of a shell script, from the comment at its head: what it does, its usage, and more."""
    (head,) = re.findall(r"\A#!.*\n((?:#.*\n)+)", script)
    about, usage, *more = re.sub(r"^# ?", "", head, flags=re.MULTILINE).split("\n\n")
    about = about.strip().removesuffix(".")
    parts = [
        _head(name, version),
        f".SH NAME\n{_roff(name)} \\- {_roff(about[0].lower() + about[1:])}",
        f".SH SYNOPSIS\n.B {_roff(usage.strip())}",
        ".SH DESCRIPTION",
        "\n.PP\n".join(_roff(each.strip()) for each in more),
    ]
    return "\n".join([*parts, ".SH SEE ALSO\n\\fBpunto\\-manifest\\fR(1)", ""])


def completions(names: Iterable[str]) -> dict[str, str]:
    """The completion of these subcommands and their options, by the name of the shell."""
    names = list(names)
    words = {name: sorted(_words(parser)) for name, parser in _parsers(names)}
    about = {**{name: SUBCOMMANDS[name].help for name in names}, **VERSIONS}
    bash = "\n".join(f'        {name}) words="{" ".join(each)}" ;;' for name, each in words.items())
    zsh = "\n".join(f"{name}) names=({' '.join(each)}) ;;" for name, each in words.items())
    described = "\n".join(
        f"        '{name}:{text.replace(chr(39), chr(8217))}'" for name, text in about.items()
    )
    return {
        "bash": _BASH.replace("@NAMES@", " ".join(about)).replace("@CASES@", bash),
        "zsh": _ZSH.replace("@NAMES@", described).replace("@CASES@", zsh),
    }


def _parsers(names: Iterable[str]) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for name in names:
        yield name, parser_of(name, import_module(SUBCOMMANDS[name].module))


def _inner(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of a subcommand's own subcommands."""
    for action in parser._actions:  # argparse has no public list of arguments
        if isinstance(action.choices, dict):
            yield from action.choices.values()


def _words(parser: argparse.ArgumentParser) -> set[str]:
    """The options of a parser and of those within it, and the words that choose between these."""
    words = {each for each in parser._option_string_actions if each.startswith("--")}
    for each in _inner(parser):
        words |= {each.prog.rpartition(" ")[2], *_words(each)}
    return words


def _page(parser: argparse.ArgumentParser, about: str, version: str) -> str:
    name = parser.prog.replace(" ", "-")
    parts = [
        _head(name, version),
        f".SH NAME\n{_roff(name)} \\- {_roff(about)}",
        f".SH SYNOPSIS\n.nf\n{_roff(parser.format_usage().removeprefix('usage: ').rstrip())}\n.fi",
        f".SH DESCRIPTION\n{_roff((parser.description or '').removeprefix(f'`{parser.prog}`: '))}",
        ".SH OPTIONS",
        *_options(parser),
    ]
    for each in _inner(parser):
        parts += [f".SH {_roff(each.prog.upper())}", _roff(each.description or ""), *_options(each)]
    return "\n".join([*parts, ".SH SEE ALSO\n\\fBpunto\\fR(1)", ""])


def _head(name: str, version: str) -> str:
    return f'.TH {_roff(name.upper())} 1 "" "punto {version}" "Punto"'


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if action.help is argparse.SUPPRESS or isinstance(action.choices, dict):
            continue
        value = action.metavar or action.dest.upper()
        written = ", ".join(action.option_strings) or str(value)
        if action.option_strings and action.nargs != 0:
            written += f" {value}"
        yield f".TP\n.B {_roff(written)}\n{_roff((action.help or '') % {**vars(action), 'prog': parser.prog})}"


def _roff(text: str) -> str:
    """A text as roff takes it: no line of it is a request."""
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in safe.splitlines())
