"""The firmware on a board: it needs no library, and a small microcontroller has room for it."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.firmware.build import BUILD, FIRMWARE, built

FLASH, RAM = 16 * 1024, 4 * 1024
CORE = [each for folder in ("link", "shoe", "board") for each in sorted((FIRMWARE / folder).glob("*.[ch]"))]
OF_EVERY_COMPILER = {"memcpy", "memset"}
"""The functions that a compiler may call in any program."""


def test_the_core_is_short_and_includes_only_what_every_compiler_has():
    lines = [line for path in CORE for line in path.read_text(encoding="utf-8").splitlines()]
    included = {found[1] for line in lines if (found := re.match(r"#include <(.*)>", line))}

    assert len(lines) < 2000
    assert included == {"stdbool.h", "stddef.h", "stdint.h"}


def run(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=FIRMWARE).stdout


@pytest.fixture(scope="module")
def image() -> Path:
    return built("m0plus/shoe.elf", "arm-none-eabi-gcc")


def deepest_stack(folder: Path) -> int:
    """The bytes of the deepest stack by the calls that the compiler has found, without what the board's functions need."""
    own: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    for path in folder.glob("*.ci"):
        text = path.read_text(encoding="utf-8")
        for name, label in re.findall(r'node: \{ title: "([^"]+)" label: "([^"]+)"', text):
            if used := re.search(r"(\d+) bytes \(static\)", label):
                own[name] = int(used[1])
        for caller, called in re.findall(r'sourcename: "([^"]+)" targetname: "([^"]+)"', text):
            calls.setdefault(caller, set()).add(called)

    def depth(name: str) -> int:
        return own.get(name, 0) + max(map(depth, calls.get(name, ())), default=0)

    assert own["shoe_turn"] > 0
    return depth("main")


@pytest.mark.soak
def test_a_cortex_m0_plus_has_room_for_it(image):
    text, data, bss = map(int, run("arm-none-eabi-size", image).splitlines()[1].split()[:3])
    stack = deepest_stack(image.parent)
    print(f"flash {text + data} bytes, RAM {data + bss} bytes, deepest stack {stack} bytes")

    assert 0 < text + data < FLASH
    assert 0 < data + bss + stack < RAM


@pytest.mark.soak
def test_it_calls_nothing_but_the_board(image):
    missing = {line.split()[-1] for line in run("arm-none-eabi-nm", "--undefined-only", image).splitlines()}

    assert {each for each in missing if not each.startswith("board_")} <= OF_EVERY_COMPILER


@pytest.mark.soak
def test_the_fuzzer_finds_nothing():
    built("fuzz", "clang")
    done = subprocess.run(
        ["make", "-s", "fuzz", f"BUILD={BUILD}", "MINUTES=3"],
        cwd=FIRMWARE,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.soak
def test_the_size_that_the_guide_shows_is_printed(image):
    assert "bss" in run("make", "-s", "size", f"BUILD={BUILD}")
    assert image.exists()


def test_the_program_that_the_guide_starts_prints_its_line_and_removes_its_link_when_its_input_ends(tmp_path):
    program = built("shoe")
    done = subprocess.run(
        [program, "--store", tmp_path / "shoe.flash", "--link", tmp_path / "shoe"],
        input="lid closed\n",
        capture_output=True,
        text=True,
        check=True,
    )

    assert re.fullmatch(r"line /dev/\S+\nstored 0\n", done.stdout)
    assert not (tmp_path / "shoe").is_symlink()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--link", "x"], "usage: "),
        (["--store", "store", "--serial", "two words"], "cannot begin"),
        (["--store", "store", "--key-file", "missing"], "missing: No such file"),
        (["--store", "/nowhere/store"], "cannot open the store"),
        (["--store", "store", "--port", "/dev/null"], "not a terminal"),
        (["--store", "store", "--speed", "9"], "--speed: there is no such option"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_reported(tmp_path, options, message):
    done = subprocess.run(
        [built("shoe"), *options],
        cwd=tmp_path,
        input="lid closed\n",
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert message in done.stderr
