"""Every command on terminals of any encoding, with names and paths of any origin: it ends as on another, and says the rest escaped."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from punto.configs.problems import ConfigError
from punto.configs.toml_file import TomlFile, typed
from punto.displays.options import DisplayOptions
from punto.house.store import Store
from punto.runtime.terminal import VisibleText
from tests.deadline import DEADLINE
from tests.reports.house import CALENDAR, at_the_house, house
from tests.share import sampled

SHIPPED = Path(__file__).parents[2] / "configs"
NAME = "貴賓廳 é"
OF_NO_ENCODING = b"folder \xff\xe9"
ERASES = b"\x1b[2J"
FOREIGN = "en_US.ISO-8859-1"
UTF_8 = {"PYTHONUTF8": "1"}
ENCODINGS = {
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "C as Python takes it": {"LC_ALL": "C"},
    "ASCII output": {"PYTHONIOENCODING": "ascii"},
    FOREIGN: {"LC_ALL": FOREIGN},
    "Latin-1 output": {"PYTHONIOENCODING": "iso-8859-1", "PYTHONUTF8": "0"},
    "UTF-8": UTF_8,
}
EACH = sampled([(each,) for each in ENCODINGS], one_in=3)


@pytest.fixture(scope="module")
def locales(tmp_path_factory) -> dict[str, str]:
    """A locale that the machine need not have; without `localedef`, that of the machine, if it has it."""
    if shutil.which("localedef") is None or not Path("/usr/share/i18n/locales/en_US").exists():
        return {}
    folder = tmp_path_factory.mktemp("locales")
    subprocess.run(["localedef", "-i", "en_US", "-f", "ISO-8859-1", folder / FOREIGN], check=True)
    return {"LOCPATH": str(folder)}


def punto(
    *arguments: "str | bytes | Path", environment: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    cleared = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHONIO"))}
    return subprocess.run(
        [sys.executable, "-m", "punto", *arguments],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=DEADLINE,
        env=cleared | environment,
    )


def as_seen(output: bytes) -> str:
    r"""The output with each character that the encoding lacks as `\x`, `\u` or `\U`, as in ASCII."""
    for encoding in ("utf-8", "iso-8859-1"):
        try:
            return output.decode(encoding).encode("ascii", "backslashreplace").decode()
        except UnicodeDecodeError:
            continue
    raise AssertionError(output)


@pytest_asyncio.fixture
async def written(tmp_path: Path) -> Path:
    """A folder with a configuration, a game, a record and a house's store that have a name of many letters."""
    configuration = (SHIPPED / "table.toml").read_text(encoding="utf-8")
    named = re.sub("^name = .*", f'name = "{NAME}"', configuration, flags=re.MULTILINE)
    (tmp_path / "table.toml").write_text(named, encoding="utf-8")
    game = (SHIPPED / "games" / "mini-baccarat.toml").read_text(encoding="utf-8")
    titled = game.replace('title = "', f'title = "{NAME} ').replace("mini-baccarat", "named", 1)
    (tmp_path / "game.toml").write_text(titled, encoding="utf-8")
    async with at_the_house(tmp_path, "2026-11-20 19:00", replace(house(), name=NAME)) as here:
        await here.open()
        await here.game([1])
    (tmp_path / "record.db").symlink_to(here.record)
    Store(f"sqlite:///{tmp_path}/store.db", CALENDAR).close()
    manager = f'version = 1\n[store]\npath = "{tmp_path}/store.db"\n'
    (tmp_path / "house.toml").write_text(manager, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("encoding", EACH)
async def test_a_name_of_a_file_is_written_in_any_encoding(encoding, locales, written):
    for arguments in (
        ("check-config", written / "table.toml"),
        ("games", written / "game.toml"),
        ("odds", "--game", written / "game.toml"),
        ("progressive", "report", "--record", written / "record.db"),
        ("progressive", "report", "--record", written / "record.db", "--json"),
        ("replay", written / "record.db"),
    ):
        expected = punto(*arguments, environment=UTF_8)
        ran = punto(*arguments, environment=ENCODINGS[encoding] | locales)

        assert (expected.returncode, expected.stderr) == (0, b"")
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert as_seen(ran.stdout) == as_seen(expected.stdout)
        assert "--json" not in arguments or NAME in str(json.loads(ran.stdout))


@pytest.mark.parametrize("encoding", EACH)
async def test_a_path_of_any_bytes_is_used_and_named(encoding, locales, written):
    """A name of the operating system is bytes, which need not be text."""
    folder = bytes(written) + b"/" + OF_NO_ENCODING + NAME.encode() + ERASES
    Path(os.fsdecode(folder)).mkdir()
    missing = folder + b"/none"
    good = (folder + b"/table.db", folder + b"/table.toml", folder + b"/game.toml")
    for file in good:
        shutil.copy(written / os.fsdecode(Path(os.fsdecode(file)).name), file)
    environment = ENCODINGS[encoding] | locales
    for status, arguments in (
        (0, ("check-config", good[1])),
        (1, ("check-config", missing)),
        (0, ("games", good[2])),
        (2, ("score", "--game", missing)),
        (2, ("odds", "--game", missing)),
        (0, ("replay", good[0])),
        (2, ("replay", missing)),
        (0, ("backup", good[0], "--to", folder)),
        (0, ("progressive", "report", "--record", good[0])),
        (1, ("house", "export", "--month", "2026-10", "--out", missing, "--config", written / "house.toml")),
        (1, ("lab-report", "--json", missing + b"/report", "--date", "2026-11-25")),
        (2, ("operator", "--socket", missing, "status")),
        (1, ("operators", "--accounts", missing, "list")),
        (2, (OF_NO_ENCODING + ERASES,)),
    ):
        ran = punto(*arguments, environment=environment)

        assert (ran.returncode, b"Traceback" in ran.stderr) == (status, False), ran
        assert b"\x1b" not in ran.stdout + ran.stderr
        assert status == 0 or b"\\x1b[2J" in ran.stderr or arguments[0] == "operators"


@pytest.mark.parametrize("encoding", sampled([(each,) for each in ENCODINGS], one_in=len(ENCODINGS)))
async def test_a_demo_is_told_in_any_encoding(encoding, locales, written):
    demo = (*("demo", "--rounds", "1", "--pace", "0.01", "--between", "0.1"), *("--port", "0"))
    arguments = (*demo, "--console-port", "0", "--no-browser", "--game", written / "game.toml")
    ran = punto(*arguments, environment=ENCODINGS[encoding] | locales)

    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.endswith(b"The demo has ended.\n")


@pytest.mark.parametrize("encoding", EACH)
async def test_a_pipe_that_is_closed_ends_a_command_quietly(encoding, locales, written):
    line = '"$@" | head -c 1; echo "${PIPESTATUS[0]}"'
    command = ("bash", "-c", line, "bash", sys.executable, "-m", "punto", "games", written / "game.toml")
    environment = os.environ | ENCODINGS[encoding] | locales
    ran = subprocess.run(  # noqa: ASYNC221 - nothing else runs
        command, capture_output=True, check=True, timeout=DEADLINE, env=environment
    )

    assert ran.stderr == b""
    assert int(ran.stdout[1:]) in {0, 128 + signal.SIGPIPE}  # if all of it was in the pipe before


# --- control characters


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("貴賓廳 é\n\t", "貴賓廳 é\n\t"),
        ("a\x1b[2Jb\r", "a\\x1b[2Jb\\r"),
        ("é\x9b2J\x00", "é\\x9b2J\\x00"),
        ("\u202emoc.live", "\\u202emoc.live"),
        ("line\u2028line\ufeff", "line\\u2028line\\ufeff"),
        ("a,b\r\nc\r\n", "a,b\r\nc\r\n"),  # as CSV ends its lines
    ],
)
def test_a_terminal_gets_nothing_that_people_do_not_see(text, seen, tmp_path):
    with (tmp_path / "out").open("w", encoding="utf-8") as file:
        stream = VisibleText.over(file)
        assert stream.write(text) == len(text)
        stream.flush()

    assert (tmp_path / "out").read_bytes().decode() == seen


def test_the_log_of_a_person_has_colours_and_no_sequences_of_a_name(tmp_path):
    program = (
        "import sys; from punto.runtime import log; from punto.runtime.terminal import VisibleText; import structlog\n"
        "sys.stderr.isatty = lambda: True\n"
        "write = log.set_up(human=True); sys.stderr = VisibleText.over(sys.stderr)\n"
        "structlog.get_logger().warning('alarm', text='a\\x1b[2J\\nb')\n"
        "write()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True, timeout=DEADLINE
    )
    (line,) = ran.stderr.splitlines()

    assert "\x1b[2J" not in line
    assert "a\\x1b[2J\\nb" in line.replace("\\\\", "\\")
    assert "\x1b[" in line  # the program's own


def test_an_address_of_the_demo_is_bold_in_a_terminal_and_a_name_is_not():
    program = (
        "import sys; from punto.commands.demo.telling import _print; from punto.runtime.terminal import VisibleText\n"
        "sys.stdout = VisibleText.over(sys.stdout)\n"
        "_print('http://127.0.0.1/ a\\x1b[2Jb')"
    )
    ours, theirs = pty.openpty()
    try:
        subprocess.run([sys.executable, "-c", program], stdout=theirs, check=True, timeout=DEADLINE)
        assert os.read(ours, 1000) == b"\x1b[1mhttp://127.0.0.1/\x1b[0m a\\x1b[2Jb\r\n"
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_problem_is_one_line_whatever_its_keys_are():
    with pytest.raises(ConfigError) as refused:
        typed(TomlFile.parse("a.toml", b'"a\\nb: all is well\\u001b[2J" = 1\n'), DisplayOptions)

    assert len(str(refused.value).splitlines()) == len(refused.value.problems)
    assert "\x1b" not in str(refused.value)
