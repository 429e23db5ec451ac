"""The wheel holds all that the commands need, the game files too."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, as an installation lays it out."""
    built = tmp_path_factory.mktemp("built")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        timeout=100,
    )
    (wheel,) = built.glob("*.whl")
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(unpacked: Path, *arguments: str, source: str = "") -> subprocess.CompletedProcess[str]:
    """A fresh interpreter, elsewhere, that finds the wheel's content first."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=unpacked.parent,
        env={**os.environ, "PYTHONPATH": str(unpacked), "PYTHONDONTWRITEBYTECODE": "1"},
        input=source,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_it_lists_the_games_from_the_wheel(unpacked):
    program = "import configs, controller.games as games; print(configs.__file__, *games.shipped_games())"
    ran = run(unpacked, "-c", program)

    where, *names = ran.stdout.split()
    assert Path(where).parent == unpacked / "configs"
    assert names == sorted(path.stem for path in (REPOSITORY / "configs" / "games").glob("*.toml"))


def test_it_scores_a_line_from_the_wheel(unpacked):
    ran = run(
        unpacked,
        *("-m", "controller.cli", "score", "--game", "dai-bacc"),
        source='{"id":"r1","cards":["9S","KD","3H","4C","8D"]}\n',
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith('{"id":"r1","player":["9S","3H","8D"]')


def test_it_holds_the_printed_figures_and_checks_them(unpacked):
    program = (
        "from controller.odds.published import check; "
        "report = check.check(); "
        "print(check.__file__, report.as_marked, len(report.figures))"
    )
    ran = run(unpacked, "-c", program)

    where, as_marked, count = ran.stdout.split()
    assert Path(where).parent == unpacked / "controller" / "odds" / "published"
    assert (as_marked, ran.stderr) == ("True", "")
    assert int(count) > 50


def test_it_holds_no_tests_and_no_working_files(unpacked):
    top = {path.name for path in unpacked.iterdir() if not path.name.endswith(".dist-info")}

    assert top == {"configs", "controller", "displays", "drivers", "game_manager", "simulators"}
    assert not list(unpacked.rglob("*.pyc"))
