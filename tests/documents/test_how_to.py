"""docs/how-to: each block of a shell is carried out by a test, or says why none can."""

import asyncio
import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from punto.commands.cli import SUBCOMMANDS
from tests.controller.table_in_this_process import table
from tests.controller.table_on_a_machine import HERE
from tests.deploy.installed_machine import SUPERVISOR, TOOLS, Machine, namespaces_allowed
from tests.documents.blocks import SHELL, Block, blocks_of, carried_out

HOW_TO = HERE / "docs" / "how-to"
PAGES = {page.name: blocks_of(page.read_text(encoding="utf-8")) for page in sorted(HOW_TO.glob("*.md"))}
CARRIED_OUT_WHOLE = dict.fromkeys(["install.md", "install-by-hand.md"], "tests/deploy/test_installation.py")
"""The pages that another test reads and carries out block by block."""
NOT_RUN = 8
"""So many blocks no test can run. Run one more, and lower it."""


async def _play(folder: Path) -> None:
    async with table(folder / "table-1.db") as here:
        await here.begin_shoe()
        await here.play(3)


def _record(folder: Path, blocks: list[Block]) -> list[Block]:
    """A record of some rounds, whose head stands in the place of the one on the page."""
    from punto.interface import replay

    asyncio.run(_play(folder))
    head = str(replay(folder / "table-1.db").head)
    return [each._replace(text=each.text.replace("2817:9f86d081884c7d65…", head)) for each in blocks]


PREPARED: dict[str, Callable[[Path, list[Block]], list[Block]]] = {"back-up-and-replay.md": _record}
"""What a page's reader has before the blocks that are run in an empty folder."""


def shell_blocks(name: str) -> list[Block]:
    return [each for each in PAGES[name] if each.language in SHELL]


@pytest.mark.parametrize("name", sorted(PAGES.keys() - CARRIED_OUT_WHOLE))
def test_each_block_says_how_it_is_run(name):
    for block in PAGES[name]:
        assert block.language != "bash", f"write sh: {block.text}"
        how, _, rest = block.mark.partition(" ")
        if block.language not in SHELL:
            assert block.mark == "", f"nobody runs a block of {block.language}: {block.text}"
        elif how == "by":
            source = (HERE / rest).read_text(encoding="utf-8")
            for command in re.findall(r"(?:^|[ ;/|])punto ([a-z-]+)", "\n".join(block.commands)):
                assert command in SUBCOMMANDS
                assert re.search(rf"\b{command}\b|\b{command.replace('-', '_')}\b", source), (
                    f"{rest} has no {command}"
                )
        elif how == "not":
            assert re.fullmatch(r"run: \w.{20,}", rest), f"say why: {block.text}"
        elif how == "":
            assert name in PREPARED, f"say what its reader has: {block.text}"
        else:
            assert block.mark == "machine", f"nobody knows what to do: {block.mark}"


def test_few_blocks_cannot_be_run():
    found = [
        f"{name}: {each.mark}"
        for name in PAGES
        for each in shell_blocks(name)
        if each.mark.startswith("not run")
    ]
    assert len(found) == NOT_RUN, "\n".join(found)


@pytest.mark.parametrize("name", PREPARED)
def test_a_reader_can_follow_it(name, tmp_path):
    if shutil.which("sqlite3") is None:
        pytest.skip("needs sqlite3, as the reader does")
    carried_out(PREPARED[name](tmp_path, [each for each in PAGES[name] if each.is_run_here]), tmp_path)


def test_no_file_that_carries_out_a_whole_page_is_missing():
    for name, path in CARRIED_OUT_WHOLE.items():
        assert name in PAGES
        assert (HERE / path).exists()


# --- as root, on an installed machine

FOLDERS = "install -d -o punto-table-1 -g punto-table-1 -m 0700 /var/lib/punto/table-1\n"
ON_A_MACHINE = {
    "accounts.md": f"{FOLDERS}rm -f /var/lib/punto/table-1/operators.db*",  # Mei has an account from the installation
    "add-a-device.md": "",
    "back-up-and-replay.md": FOLDERS,
    "find-out-what-is-wrong.md": "",
    "follow-the-floor.md": "",
    "link-tables.md": (
        "sed 's/TABLE/meter-1/g' systemd/sysusers-table.conf | systemd-sysusers -\n"
        "sed 's/TABLE/meter-1/g' systemd/tmpfiles-table.conf | systemd-tmpfiles --create -\n"
        "install -m 0640 -g punto-meter-1 /dev/stdin /etc/punto/meter-1.toml\n"
    ),
    "many-tables.md": "cp configs/studio.toml /etc/punto/",
    "prove-the-record.md": "",
    "replace-secrets.md": (
        "sed -i 's/^# username/username/; s/^# password_file/password_file/' /etc/punto/table-1.toml /etc/punto-display/table-1.toml\n"
        "sed -i '/^\\[console/,$ s/^# \\(certificate\\|key\\) =/\\1 =/' /etc/punto/table-1.toml\n"
        "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout /etc/punto/table-1.key -out /etc/punto/table-1.pem\n"
        "chgrp punto-table-1 /etc/punto/table-1.key && chmod 0640 /etc/punto/table-1.key\n"
    ),
    "run-a-table.md": f"{FOLDERS}touch /var/lib/punto/table-1/table-1.db /var/lib/punto/table-1/table-1.db-wal",
}
"""What a page's reader has done before its blocks."""
TYPED = {" add ": f"{SUPERVISOR['password']}\n", " card ": "60112233445566\n"}
"""What a reader types when a command asks."""
as_root = [
    pytest.mark.soak,
    pytest.mark.skipif(os.getuid() != 0, reason="only root can be several users"),
    pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)}"),
    pytest.mark.skipif(
        os.getuid() == 0 and not namespaces_allowed(), reason="this container may not make namespaces"
    ),
]


def as_one(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that needs the machine."""
    for mark in as_root:
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> Iterator[Machine]:
    with Machine(tmp_path_factory.mktemp("machine")) as installed:
        installed.follow("Add a table to this PC")
        installed.must(
            "sed", "-i", "s/usb-ishoe/usb-ishoe-2/", "/etc/punto/table-2.toml"
        )  # as its reader does in the editor
        yield installed


def test_each_page_with_blocks_for_a_machine_is_followed_there():
    assert {name for name in PAGES for each in shell_blocks(name) if each.mark == "machine"} == set(
        ON_A_MACHINE
    )


@pytest.mark.parametrize("name", [pytest.param(name, marks=as_root) for name in ON_A_MACHINE])
def test_root_can_follow_it_on_an_installed_machine(name, machine):
    first = next((each.text for each in PAGES[name] if each.language == "toml"), "")
    machine.must("sh", "-ec", ON_A_MACHINE[name], typed=first)
    for block in shell_blocks(name):
        if block.mark == "machine":
            for command in block.commands if block.language == "console" else [block.text]:
                typed = next((answer for asks, answer in TYPED.items() if asks in command), "")
                machine.must("bash", "-ec", command.replace("/backup", "/var/lib/backup"), typed=typed)


@as_one
def test_live_play_begins_with_a_record_of_its_own_and_is_no_simulation(machine):
    machine.must("sh", "-ec", ON_A_MACHINE["run-a-table.md"])
    rehearsal, live = (each.text for each in PAGES["run-a-table.md"] if each.mark == "machine")
    machine.must("bash", "-ec", rehearsal)
    config = machine.path("/etc/punto/table-1.toml")
    assert tomllib.loads(config.read_text(encoding="utf-8"))["table"]["simulation"] is True

    machine.must("bash", "-ec", live)
    assert "simulation" not in tomllib.loads(config.read_text(encoding="utf-8"))["table"]
    assert "table-1.db" not in machine.must("ls", "/var/lib/punto/table-1").split()
    assert {"table-1.db", "table-1.db-wal"} <= set(
        machine.must("ls", "/var/lib/punto/table-1/rehearsal").split()
    )


@as_one
def test_a_table_with_another_password_than_the_broker_gets_the_right_one(machine):
    machine.must("sh", "-c", "echo wrong > /etc/punto/table-1.mqtt-password")
    (mends,) = (each.text for each in PAGES["find-out-what-is-wrong.md"] if each.mark == "machine")
    machine.must("bash", "-ec", mends)

    assert machine.must("cat", "/etc/punto/table-1.mqtt-password") == machine.must(
        "cat", "/etc/punto-broker/passwords/table-1"
    )


@as_one
def test_two_tables_of_a_pc_share_no_name_no_port_and_no_display(machine):
    configs = ["/etc/punto/table-1.toml", "/etc/punto/table-2.toml"]
    tables = [tomllib.loads(machine.path(each).read_text(encoding="utf-8")) for each in configs]
    displays = [
        tomllib.loads(machine.path(f"/etc/punto-display/table-{each}.toml").read_text(encoding="utf-8"))[
            "display"
        ]
        for each in (1, 2)
    ]

    assert [each["table"]["name"] for each in tables] == ["Baccarat 1", "Baccarat 2"]
    assert [each["console"]["port"] for each in tables] == [8090, 8091]
    assert [(each["tables"], each["port"]) for each in displays] == [(["table-1"], 8080), (["table-2"], 8081)]
    assert "console" not in machine.run("punto", "check-config", *configs).stderr
