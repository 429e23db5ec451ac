"""What the Debian packages have besides the program: completion, manual pages, and compiled files for the right machine."""

import subprocess
from pathlib import Path

import pytest

from punto.commands.cli import SUBCOMMANDS
from tools.packages import refuse_other_machines
from tools.reference.manual import completions, manual_pages
from tools.release import ReleaseError

TYPED = [
    ("punto rol", {"rollback"}),
    ("punto device", {"device-key"}),
    ("punto operators a", {"add"}),
    ("punto replay --hel", {"--help"}),
    ("punto nothing a", set()),
]  # fmt: skip


@pytest.mark.parametrize(("line", "offered"), TYPED)
def test_bash_completes_a_subcommand_and_its_options(line: str, offered: set[str], tmp_path: Path) -> None:
    script = tmp_path / "punto"
    script.write_text(completions(SUBCOMMANDS)["bash"], encoding="utf-8")
    words = line.split()
    done = subprocess.run(
        ["bash", "-euc", '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _punto; printf "%s\\n" "${COMPREPLY[@]}"', "bash", script, *words],
        check=True, capture_output=True, text=True,
    )  # fmt: skip

    assert set(done.stdout.split()) == offered


def test_each_subcommand_has_a_manual_page_that_the_first_page_names() -> None:
    pages = manual_pages(SUBCOMMANDS, "1.2.3")

    assert set(pages) == {"punto.1", *(f"punto-{name}.1" for name in SUBCOMMANDS)}
    for name in SUBCOMMANDS:
        assert ".B " + name.replace("-", "\\-") + "\n" in pages["punto.1"]


def test_a_compiled_file_for_another_machine_is_refused(tmp_path: Path) -> None:
    (tmp_path / "part.so").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xb7\x00" + bytes(44))
    (tmp_path / "module.py").write_text("1", encoding="utf-8")

    refuse_other_machines(tmp_path, "arm64")
    with pytest.raises(ReleaseError, match=r"part\.so is not for amd64"):
        refuse_other_machines(tmp_path, "amd64")
