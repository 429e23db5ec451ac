"""`punto setup`: set up the PC of a table."""

import argparse
import getpass
import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from punto.commands.key_words import in_blocks, modules_of, words_of
from punto.commands.setup.answers import Answers, read_answers
from punto.commands.setup.found import Finder, addresses, zone
from punto.commands.setup.machine import SetupError, placed
from punto.commands.setup.plan import answers_file
from punto.commands.setup.questions import Found, asked
from punto.commands.setup.setting_up import set_up
from punto.configs.problems import ConfigError
from punto.configs.text_file import TextError, read_text
from punto.runtime.terminal import draw

HELP: Final = (
    "Set up the PC of a table, by eight questions in a terminal or by a file of answers: its user and folders, the configurations of the table "
    "and its display, keys, a certificate for the consoles, the udev rules of its devices, the broker's users, the first accounts, and the units. The command checks the configuration, deals one hand from a "
    "virtual shoe into a record that is put aside in /var/lib/punto/TABLE/rehearsals, tests the devices and the broker, and starts the units. It "
    "keeps the answers in /etc/punto/TABLE.answers. To change an answer, run the command again, or change it in this file and give the file. If "
    "you have changed a file that the command wrote, it leaves the file alone until an answer changes the file too; then it keeps your file beside "
    "the new one. It never replaces a key, a password or an account. Run it as root."
)
_NO_TERMINAL: Final = (
    "the questions need a terminal: run the command in one, or write --web or --answers FILE"
)
_WORDS_A_LINE: Final = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="the answers, a TOML file (default: the command asks eight questions, with the former answers as defaults)",
    )
    parser.add_argument(
        "--table",
        default="table-1",
        metavar="NAME",
        help="the table that the questions are about, such as table-2 for the second one of this PC (default: table-1)",
    )
    parser.add_argument(
        "--root",
        type=Path,
        metavar="DIR",
        help="set up the disk that is mounted at this folder, and start nothing (default: this PC)",
    )
    parser.add_argument(
        "--passwords",
        type=Path,
        metavar="FILE",
        help="the passwords of new accounts, a line for each in the order of the answers (default: the command asks for them; with --answers they are random, and are printed once)",
    )
    parser.add_argument(
        "--web",
        nargs="?",
        const="127.0.0.1",
        metavar="ADDRESS",
        help="ask the questions on a page, and print the address that opens it once. The page is on this PC alone, or at this address of this PC with a certificate whose fingerprint is printed",
    )
    parser.add_argument(
        "--port", type=int, default=8070, metavar="PORT", help="the port of the page (default: 8070)"
    )
    parser.add_argument("--no-rehearsal", action="store_true", help="deal no hand")


def main(args: argparse.Namespace) -> int:
    """Set up the PC; 1 if something must be mended first."""
    try:
        _require_root()
        lines = [] if args.passwords is None else read_text(args.passwords).splitlines()
        if args.web is not None:
            return _on_a_page(args)
        terminal = Console(iter(lines), asks=args.answers is None)
        answers = read_answers(args.answers) if args.answers else _asked(terminal, args.table, args.root)
        set_up(answers, args.root, terminal, rehearsal=not args.no_rehearsal)
    except (ConfigError, SetupError, TextError) as error:
        print(f"punto setup: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"punto setup: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except EOFError:
        print(f"punto setup: {_NO_TERMINAL}", file=sys.stderr)
        return 1
    return 0


def _on_a_page(args: argparse.Namespace) -> int:
    from punto.commands.setup.web import serve  # noqa: PLC0415 - a terminal needs no web server

    known = known_answers(args.table, args.root)
    return 0 if serve(known, args.root, args.web, args.port, rehearsal=not args.no_rehearsal) else 1


class Console:
    """The terminal. Passwords are the given ones, and then those that a person types if the command `asks`."""

    def __init__(self, passwords: Iterator[str], *, asks: bool) -> None:
        self._passwords = passwords
        self._asks = asks

    def show(self, text: str) -> None:
        """Show a line."""
        print(text, flush=True)

    def ask(self, question: str) -> str:
        """Show a question, and return what is typed."""
        return input(question)

    def password(self, name: str) -> str | None:
        """The password of a new account, None if a random one is wanted."""
        given = next(self._passwords, None)
        if given is None and self._asks:
            given = getpass.getpass(f"Password of {name} (Enter: a random one): ") or None
        return given

    def random_password(self, name: str, password: str) -> None:
        """Show the random password of a new account."""
        self.show(
            f"password    {password} is the password of {name}: write it down, because it is not stored"
        )

    def key(self, device: str, digits: str) -> None:
        """Show a device's key as digits, words and a QR code, until it is in the device."""
        if not self._asks:
            return
        self.show(
            f"Put this key into the {device} with the tool of its maker: its digits, its words, or its QR code."
        )
        self.show(
            textwrap.fill(
                " ".join(textwrap.wrap(digits, 4)), 40, initial_indent="    ", subsequent_indent="    "
            )
        )
        words = [f"{number:2} {word:<8}" for number, word in enumerate(words_of(digits), start=1)]
        for at in range(0, len(words), _WORDS_A_LINE):
            self.show(f"    {' '.join(words[at : at + _WORDS_A_LINE])}".rstrip())
        try:
            picture = in_blocks(modules_of(digits))
            picture.encode(sys.stdout.encoding)
            draw(sys.stdout, picture)
        except UnicodeEncodeError:
            pass  # a terminal without such characters
        self.ask("Press Enter when it has the key: ")

    def test_again(self) -> bool:
        """Whether to test again, after something was wrong."""
        if not self._asks:
            return False
        return not self.ask("Mend this and press Enter to test again, or type s to go on: ").strip()


def _asked(terminal: Console, table: str, root: Path | None) -> Answers:
    if not sys.stdin.isatty():
        raise SetupError(_NO_TERMINAL)
    known = known_answers(table, root)
    terminal.show("Looking for devices ...")
    finder = Finder()
    return asked(terminal, known, lambda: Found(finder.look_again(), [*addresses()]))


def known_answers(table: str, root: Path | None) -> Answers:
    """The former answers of a table, or the defaults."""
    file = placed(answers_file(table), root)
    if file.exists():
        return read_answers(file)
    number = table.rpartition("-")[2]
    name = f"Baccarat {number}" if number.isdecimal() else "Baccarat"
    try:
        return Answers(table=table, name=name, zone=zone())
    except ValidationError as error:
        raise SetupError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def _require_root() -> None:
    if os.geteuid() != 0:
        raise SetupError("only root can set up a PC: write sudo before the command")
