"""The command `punto`: what it lists, what it loads, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from punto.commands.cli import SUBCOMMANDS, main
from punto.version import __version__
from tests import command
from tests.deadline import DEADLINE
from tests.share import soaked

PUNTO = [sys.executable, "-m", "punto.commands.cli"]
# Whoever tests may have asked Python not to buffer; the command must do without.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
REPOSITORY = Path(__file__).parents[2]


def punto(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PUNTO, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a run of `punto` has loaded at its end."""
    program = (
        "import sys; from punto.commands.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=True,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        stdin=subprocess.DEVNULL,
    )
    return {line.partition(".")[0] for line in ran.stderr.splitlines()} | set(ran.stderr.splitlines())


def test_help_lists_every_subcommand_in_a_line_of_its_own():
    ran = punto("--help")

    assert ran.returncode == 0
    for name, subcommand in SUBCOMMANDS.items():
        assert f"  {name:<16}{subcommand.help}\n" in ran.stdout


def test_help_loads_no_subcommand():
    loaded = loaded_by("--help")

    assert loaded.isdisjoint({subcommand.module for subcommand in SUBCOMMANDS.values()})
    assert loaded.isdisjoint(
        {"pydantic", "asyncio", "aiomqtt", "starlette", "amqtt", "punto.simulators", "punto.displays"}
    )


@pytest.mark.parametrize(
    "arguments", [["score", "--game", "mini-baccarat"], ["roads"], ["check-config", "--help"]]
)
def test_a_filter_loads_nothing_of_the_service(arguments):
    loaded = loaded_by(*arguments)

    assert loaded.isdisjoint({"asyncio", "aiomqtt", "paho", "serial", "sqlite3", "structlog", "starlette"})
    assert loaded.isdisjoint({"amqtt", "punto.simulators", "punto.displays", "punto.messages"})
    # what a keypad's keys may mean is part of a configuration, and nothing else of a device is
    assert loaded.isdisjoint(
        {
            "punto.drivers.framing",
            "punto.drivers.serial_port",
            "punto.drivers.ishoe",
            "punto.drivers.keypad.link",
        }
    )


def test_the_service_loads_no_display_and_no_simulator():
    loaded = loaded_by("run", "--help")

    assert loaded.isdisjoint({"starlette", "uvicorn", "amqtt", "punto.simulators", "punto.displays"})


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_a_subcommand_explains_itself(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])

    usage, about, *_ = capsys.readouterr().out.split("\n\n")
    assert ended.value.code == 0
    assert usage.startswith(f"usage: punto {name} [-h]")
    assert not about.startswith("options:")


def test_version():
    assert punto("--version").stdout == f"punto {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the subcommand is missing; punto --help lists them"),
        (["scor"], "there is no subcommand scor (did you mean score?)"),
        (["xyzzy"], "there is no subcommand xyzzy; punto --help lists them\n"),
        (["--verbose"], "unrecognized arguments: --verbose"),
        (["score"], "the following arguments are required: --game"),
        (["score", "--gam", "mini-baccarat"], "the following arguments are required: --game"),
        (["roads", "file"], "unrecognized arguments: file"),
        (["score", "--game", "mini-bacarat"], "did you mean mini-baccarat?"),
        (["score", "--game", "no/such.toml"], "there is no game file no/such.toml"),
        (["score", "--game", "/"], "/: cannot be read: Is a directory"),
        (["score", "--game", "a" * 5000], f"there is no game '{'a' * 60}…'"),
        (["demo", "--seed", "9" * 5000], f"'{'9' * 60}…' is not a whole number: write one such as 8"),
        (["display", "--port", "1e-4"], "argument --port: '1e-4' is not a whole number: write one such as 8"),
        (["operator", "--socket", "x", "start-game", ""], "argument round: '' is not a whole number"),
        (["shoe", "--pace", "fast"], "argument --pace: 'fast' is not a number: write one such as 0.5"),
        (["shoe", "--link", ""], "argument --link: the path is empty: write one, or . for this folder"),
        (["games", "--out", ""], "argument --out: the path is empty"),
        (["replay", "x" * 5000], f"there is no record at {'x' * 200}…"),
        (["progressive", "audit", "x" * 300], f"there is no record at {'x' * 200}…"),
        (["progressive", "report", "--record", "x" * 300], f"there is no record at {'x' * 200}…"),
        (
            ["display", "--table", "t", "--host", "x" * 64],
            f"cannot listen on {'x' * 60}… port 8080: this is not a valid host name; choose another",
        ),
    ],
)
def test_a_call_that_cannot_begin_ends_with_2_and_says_why(arguments, said):
    ran = command.punto(*arguments)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert said in ran.stderr


def test_a_command_that_a_package_leaves_out_is_reported(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys; sys.modules['punto.controller'] = None", encoding="utf-8"
    )
    ran = punto("replay", "table.db", PYTHONPATH=os.pathsep.join([str(tmp_path), str(REPOSITORY)]))

    assert ran.returncode == 2
    assert ran.stderr == "punto replay is not in this package: the package punto or punto-house has it\n"


def test_a_missing_extra_is_named(tmp_path):
    (tmp_path / "starlette.py").write_text(
        "raise ModuleNotFoundError('gone', name='starlette')", encoding="utf-8"
    )
    path = os.pathsep.join([str(tmp_path), str(REPOSITORY)])
    ran = punto("display", "--table", "table-1", PYTHONPATH=path)

    assert ran.returncode == 2
    assert ran.stderr == "punto display needs starlette, which is not installed: install punto[display]\n"


def test_it_ends_quietly_when_nobody_reads_on():
    line = '{"cards":["9S","KD","3H","4C","8D"]}\n'
    with subprocess.Popen(
        [*PUNTO, "score", "--game", "mini-baccarat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=BUFFERED,
    ) as ran:
        assert ran.stdin is not None
        assert ran.stdout is not None
        assert ran.stderr is not None
        ran.stdin.write(line)
        ran.stdin.flush()
        ran.stdout.readline()
        ran.stdout.close()
        ran.stdin.write(line)
        ran.stdin.close()

        assert ran.wait(DEADLINE) == 128 + signal.SIGPIPE
        assert ran.stderr.read() == ""


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["--help"], BUFFERED),
        (["score", "--help"], BUFFERED),
        (["games"], BUFFERED),
        (["games"], {**BUFFERED, "PYTHONUNBUFFERED": "1"}),
        *soaked(
            (["odds", "--game", "mini-baccarat"], BUFFERED),
            (["odds", "--game", "dragon-bonus-1", "--json"], BUFFERED),
            (["demo", "--rounds", "1", "--port", "0", "--console-port", "0"], BUFFERED),
        ),
    ],
)
def test_an_output_that_cannot_be_written_is_reported_in_a_line(arguments, environment):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        ran = subprocess.run(
            [*PUNTO, *arguments],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=DEADLINE,
            env=environment,
        )

    assert ran.returncode == 1
    assert ran.stderr == "punto: the standard output cannot be written: No space left on device\n"


def test_a_closed_output_is_reported_in_a_line():
    ran = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *PUNTO, "games"],
        check=False,
        stderr=subprocess.PIPE,
        text=True,
        timeout=DEADLINE,
    )

    assert ran.returncode == 2
    assert ran.stderr == "punto: the standard output is closed: redirect it to a file or to /dev/null\n"


@pytest.mark.soak
def test_the_demo_ends_quietly_when_nobody_reads_on():
    with subprocess.Popen(
        [*PUNTO, "demo", "--pace", "0.01", "--between", "0.1", "--port", "0", "--console-port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=BUFFERED,
    ) as ran:
        assert ran.stdout is not None
        assert ran.stderr is not None
        ran.stdout.readline()
        ran.stdout.close()

        assert ran.wait(DEADLINE) == 128 + signal.SIGPIPE
        assert ran.stderr.read() == ""


def test_it_ends_quietly_when_interrupted():
    with subprocess.Popen(
        [*PUNTO, "score", "--game", "mini-baccarat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=BUFFERED,
    ) as ran:
        assert ran.stdin is not None
        assert ran.stdout is not None
        assert ran.stderr is not None
        ran.stdin.write("{}\n")
        ran.stdin.flush()
        ran.stdout.readline()
        time.sleep(0.05)  # it answers, and then waits for the next line
        ran.send_signal(signal.SIGINT)

        assert ran.wait(DEADLINE) == 128 + signal.SIGINT
        assert ran.stderr.read() == ""


def test_an_interrupt_while_a_subcommand_loads_is_no_other_error(tmp_path):
    (tmp_path / "named.py").write_text(
        """
import signal

class Attribute:
    def __set_name__(self, owner, name):  # whatever is raised here is a RuntimeError to the class
        signal.raise_signal(signal.SIGINT)

class Owner:
    attribute = Attribute()
""",
        encoding="utf-8",
    )
    program = (
        "import sys; from punto.commands.cli import SUBCOMMANDS, Subcommand, main\n"
        "SUBCOMMANDS['named'] = Subcommand('named', ''); sys.exit(main())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, "named"],
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(REPOSITORY)])},
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (128 + signal.SIGINT, "", "")


def test_what_is_written_by_schema_goes_where_it_is_told(tmp_path):
    assert punto("schema", "--out", str(tmp_path / "new")).returncode == 0
    assert (tmp_path / "new" / "asyncapi.json").exists()
    assert (tmp_path / "new" / "schema" / "state.json").exists()


def test_schemas_that_cannot_be_written(tmp_path):
    (tmp_path / "schema").write_text("in the way", encoding="utf-8")
    ran = punto("schema", "--out", str(tmp_path))

    assert ran.returncode == 1
    assert "cannot be written" in ran.stderr
    assert "Traceback" not in ran.stderr
