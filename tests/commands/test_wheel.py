"""The wheel holds all that the commands need, the game files too."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.deadline import DEADLINE
from tests.share import sampled
from tools import release

REPOSITORY = Path(__file__).parents[2]
COMMIT_TIME = 1_000_000_000


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the source archive, with a date that no clock has."""
    return release.build(REPOSITORY, tmp_path_factory.mktemp("built"), COMMIT_TIME)


@pytest.fixture(scope="module")
def wheel(built: tuple[Path, Path]) -> Path:
    return built[0]


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, as an installation lays it out."""
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
        timeout=DEADLINE,
    )


@pytest.mark.parametrize(
    "folder",
    sampled(["consoles/pages", "web/shared", "displays/static", "punto/reports/pages"], one_in=4),
)
def test_it_has_every_file_of_the_pages(unpacked, folder):
    def files(root: Path) -> set[Path]:
        return {path.relative_to(root) for path in (root / folder).rglob("*") if path.is_file()}

    assert files(unpacked / "punto") == files(REPOSITORY / "punto") != set()


def test_it_lists_the_games_from_the_wheel(unpacked):
    program = "from punto import configs; from punto.configs.game_files import shipped_games; print(configs.__file__, *shipped_games())"
    ran = run(unpacked, "-c", program)

    where, *names = ran.stdout.split()
    assert Path(where).parent == unpacked / "punto" / "configs"
    assert names == sorted(path.stem for path in (REPOSITORY / "configs" / "games").glob("*.toml"))


def test_it_scores_a_line_from_the_wheel(unpacked):
    ran = run(
        unpacked,
        *("-m", "punto.commands.cli", "score", "--game", "dai-bacc"),
        source='{"id":"r1","cards":["9S","KD","3H","4C","8D"]}\n',
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith('{"id":"r1","player":["9S","3H","8D"]')


@pytest.mark.soak
def test_it_holds_the_printed_figures_and_checks_them(unpacked):
    program = (
        "from punto.odds.published import check; "
        "report = check.check(); "
        "print(check.__file__, report.as_marked, len(report.figures))"
    )
    ran = run(unpacked, "-c", program)

    where, as_marked, count = ran.stdout.split()
    assert Path(where).parent == unpacked / "punto" / "odds" / "published"
    assert (as_marked, ran.stderr) == ("True", "")
    assert int(count) > 50


def test_it_holds_no_tests_and_no_working_files(unpacked):
    top = {path.name for path in unpacked.iterdir() if not path.name.endswith(".dist-info")}

    assert top == {"punto"}
    assert not list(unpacked.rglob("*.pyc"))


@pytest.mark.soak
def test_what_the_source_archive_builds_elsewhere_is_the_same_bit_by_bit(built, tmp_path):
    _, sdist = built
    release.unpack(sdist, tmp_path / "elsewhere")
    (source,) = (tmp_path / "elsewhere").iterdir()

    release.compare(built, release.build_again(source, tmp_path / "again", COMMIT_TIME))


def test_a_package_with_folders_of_the_same_names_comes_and_goes_beside_it(wheel, tmp_path):
    """Two packages that install `drivers` and `configs` overwrite each other, and who removes one removes both."""
    rival = tmp_path / "rival-1.0-py3-none-any.whl"
    files = {f"{name}/__init__.py": "" for name in ("drivers", "configs", "controller")}
    about = "rival-1.0.dist-info"
    files[f"{about}/METADATA"] = "Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n"
    files[f"{about}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(rival, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    machine = tmp_path / "machine"
    venv.create(machine, symlinks=True)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(machine)}))
    (own / "dependencies.pth").write_text(
        f"{sysconfig.get_path('purelib')}\n"
    )  # its own .pth files do not count
    uv = [sys.executable, "-m", "uv", "pip"]
    python = ["--python", str(machine / "bin" / "python")]

    for command in (
        [*uv, "install", *python, "--offline", "--no-deps", "--no-index", str(wheel), str(rival)],
        [*uv, "uninstall", *python, "rival"],
    ):
        subprocess.run(command, check=True, capture_output=True, timeout=DEADLINE)
    ran = subprocess.run(
        [str(machine / "bin" / "punto"), *release.SHORT_DEMO],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.endswith("The demo has ended.\n")
    assert {path.name for path in own.iterdir()}.isdisjoint({"drivers", "configs", "controller"})
    assert (own / "punto" / "drivers" / "base.py").is_file()
