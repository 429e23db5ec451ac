"""What a person types wrong: each answer says what to write, in this program's words."""

import re
import sys
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest

from tests import command

# Words of Python, argparse, json, SQLite and pydantic that mean nothing to who typed the command.
FOREIGN = re.compile(
    r"Traceback|Errno|invalid choice|Expecting |Input should|Extra inputs|valid (integer|string|dictionary)"
    r"|unable to open database|while attempting to bind|EOF while"
)

ORDER = ["operator", "--socket", "no.sock"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with a file that is no configuration, record or drawing."""
    (tmp_path / "words").write_text("just a few words\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)


CASES = [
    ([*ORDER, "change-game", "dragon-bonus-1", "--limit", "player.min=100"], "'player.min=100': there is no limit 'min' (did you mean minimum?); there are minimum, maximum, step"),
    ([*ORDER, "change-game", "dragon-bonus-1", "--limit", "player=100"], "'player=100' is not a limit: write it like player.minimum=2500"),
    ([*ORDER, "change-game", "dragon-bonus-1", "--limit", "player.minimum=2.5e0"], "is not a limit: write it like"),
    ([*ORDER, "nonsense"], "argument ORDER: 'nonsense' is not one of status, resume-play, sign-on, "),
    ([*ORDER, "open-beting"], "(did you mean open-betting?)"),
    ([*ORDER, "open-meter", "--approved-by", "Mei"], "unrecognized arguments: --approved-by Mei (write --approved-by before the first word that is not an option)"),
    (["odds", "--game", "mini-baccarat", "--remove", "9S"], "unrecognized arguments: --remove 9S (did you mean --removed?)"),
    ([*ORDER, "status"], "no service answers at no.sock (No such file or directory): is it running?"),
    (["operator", "--socket", "words", "status"], "no service answers at words (Connection refused)"),
    ([*ORDER, "key-card"], "the following arguments are required: card"),
    ([*ORDER, "correct-card", "first", "9S", "misread"], "argument position: 'first' is not a whole number: write one such as 8"),
    ([*ORDER, "--wait", "soon", "status"], "'soon' is not a number of seconds: write --wait=30"),
    (["operators", "--accounts", "none.db", "list"], "there is no accounts' file at none.db: make an account with `punto operators add`"),
    (["operators", "--accounts", "none.db", "add", "Bo", "--role", "boss"], "argument --role: 'boss' is not one of dealer, supervisor, "),
    (["operators", "--accounts", "none.db", "disabel", "Bo"], "(did you mean disable?)"),
    (["run", "--config", "words"], "words:1: this is not TOML: write a key, =, and its value"),
    (["run", "--config", "words", "--log-level", "loud"], "argument --log-level: 'loud' is not one of debug, info, warning, error"),
    (["shoe", "--store", "folder"], "cannot open the store folder: it is a folder: write the path of a file"),
    (["shoe", "--decks", "nine"], "argument --decks: 'nine' is not a whole number: write one such as 8"),
    (["shoe", "--pace", "fast"], "argument --pace: 'fast' is not a number: write one such as 0.5"),
    (["coin-spot", "--link", "x", "--fault", "drop=often"], "drop=often is not a number: write it such as drop=0.1"),
    (["display", "--table", "t", "--host", "198.51.100.1", "--port", "9"], "cannot listen on 198.51.100.1 port 9: Cannot assign requested address; choose another with --host and --port"),
    (["display", "--table", "t", "--lang", "tlh"], "there is no catalogue for 'tlh': choose one of en, pt, zh-Hans, zh-Hant"),
    (["check-config", "words"], "words:1: this is not TOML"),
    (["check-config", "/dev/null"], "/dev/null: cannot be read: it is a device: name a file"),
    (["score", "--game", "folder"], "folder: cannot be read: Is a directory"),
    (["games", "word"], "there is no game 'word'; the shipped games are: "),
    (["games", "./words"], "words:1: this is not TOML"),
    (["odds", "--game", "mini-baccarat", "--removed", "9Z"], "'9Z' is not a card: write rank A23456789TJQK, then suit SHDC"),
    (["odds", "--game", "mini-baccarat", "--countable", "--seed", "x"], "argument --seed: 'x' is not a whole number"),
    (["simulate", "--game", "mini-baccarat", "--burn-ace", "5"], "argument --burn-ace: '5' is not one of 1, 11"),
    (["simulate", "--game", "mini-baccarat", "--rounds", "many"], "must be a whole number from 1 to "),
    (["edge-report", "none", "--game", "mini-baccarat", "--json"], "none: cannot be read: No such file or directory"),
    (["edge-report", "words", "--game", "mini-baccarat", "--json"], "words:1: the line is not JSON: a value is missing at character 1"),
    (["roads", "--tail", "curl"], "argument --tail: 'curl' is not one of turn, fall"),
    (["progressive", "report", "--record", "words"], "cannot read words"),
    (["replay", "words", "--head", "5"], "5 is not an input's number and hash: write them as 2817:9f86…"),
    (["demo", "--procedure", "paper"], "argument --procedure: 'paper' is not one of aquarius, nexus"),
    (["schema", "--out", "words"], "words/schema cannot be written: Not a directory"),
    (["nope"], "there is no subcommand nope; punto --help lists them"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "said"), CASES, ids=[" ".join(each[0])[:60] for each in CASES])
def test_an_answer_says_what_to_write(arguments, said):
    ran = command.punto(*arguments)

    assert ran.returncode in {1, 2}
    assert said in ran.stderr
    assert not FOREIGN.search(ran.stderr)
    assert not Path("none.db").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "a value is missing at character 1"),
        ('{"cards"', "a colon is missing at character 9"),
        ('{"cards":[}', "a value is missing at character 11"),
        ('{"cards":["9S" "KD"]}', "a comma or a closing bracket is missing at character 16"),
        ("{cards:[]}", "a key in double quotes is missing at character 2"),
        ('{"id":"a}', "the closing quote of a text is missing at character 7"),
        (
            r'{"id":"\q"}',
            "a backslash does not begin an escape: write two backslashes for one at character 8",
        ),
        ('{"id":"a\tb"}', "a control character must be written as an escape such as \\\\n at character 9"),
        ("{} {}", "there is more after the value at character 4"),
    ],
)
def test_a_line_that_is_not_json_is_reported_in_words(line, said, monkeypatch):
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(f"{line or '?'}\n".encode())))
    out = StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    ran = command.punto("score", "--game", "mini-baccarat")

    assert ran.returncode == 1
    assert f'"error":"the line is not JSON: {said}"' in ran.stdout
