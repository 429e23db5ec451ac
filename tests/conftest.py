import gc
import os
import shutil
import ssl
import subprocess
import tempfile
from pathlib import Path

import pytest
import pytest_asyncio
import structlog
from _pytest.junitxml import xml_key
from hypothesis import HealthCheck, settings

from punto.commands.lab_report.results import PROGRAM
from punto.consoles import answers
from punto.controller.accounts import passwords
from punto.controller.components import own_version
from tests import cheap, workers
from tests.deadline import DEADLINE
from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS
from tests.started import obey_interrupts

# A worker is begun with the TMPDIR that is set below, and must know the one from before.
DISK = os.environ.setdefault("PUNTO_TESTS_DISK", tempfile.gettempdir())
MEMORY = Path("/dev/shm")  # noqa: S108 - what is in it is each test's own
COSTLY = passwords._HASHER, passwords._CARD_COST

# Hundreds of tests begin a record of their own and wait for a disk at each commit, though what they state is as true in
# memory: a file there outlives a program that is killed. What must find commits half done is marked `disk`.
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 1 << 30:  # a container may have little of it
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# How long an example takes depends on what else the machine does, so it fails no test; `punctual` tests measure time.
settings.register_profile(
    "busy machine", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy machine")


obey_interrupts()

# Python looks for garbage after each 700 new objects, which took a fifth of all imports and a tenth of most tests.
gc.set_threshold(50_000, 20, 50)


def pytest_addoption(parser, pluginmanager):
    """Tests in several processes are a plugin of their own."""
    pluginmanager.register(workers)


@pytest.hookimpl(trylast=True)  # after pytest's own plugin has begun the file of results
def pytest_configure(config):
    """A file of results names the program that was tested, so that no result passes for one of another program."""
    if (results := config.stash.get(xml_key, None)) is not None:
        results.add_global_property(PROGRAM, own_version())


def pytest_collection_modifyitems(items):
    """A page that lost its browser waits for ever, so a test of pages ends sooner than others."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(300))


def pytest_collection_finish():
    """What has been loaded stays, with the little garbage in it: no collection has to look through it."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _log():
    """No line of a log between what a test prints, whatever ran before: a test of the log captures it."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    yield
    structlog.reset_defaults()


@pytest.fixture
def log_lines():
    """The lines that the program has logged so far in this test."""
    with structlog.testing.capture_logs() as lines:
        yield lines


@pytest.fixture
def cheap_passwords(monkeypatch):
    """Argon2id as always, but at next to no cost, in this process: another could not read the hashes of cards."""
    monkeypatch.setattr(passwords, "_HASHER", cheap.HASHER)
    monkeypatch.setattr(passwords, "_CARD_COST", cheap.COST)


@pytest.fixture
def costly_passwords(monkeypatch, cheap_passwords):
    """Passwords that cost what they cost at a table, for what is true only then."""
    hasher, card_cost = COSTLY
    monkeypatch.setattr(passwords, "_HASHER", hasher)
    monkeypatch.setattr(passwords, "_CARD_COST", card_cost)


@pytest.fixture
def quick_refusals(monkeypatch):
    """A request that came too soon waits little for its refusal; tests/consoles/test_flood.py is about that wait."""
    monkeypatch.setattr(answers, "FLOOD_WAITS_SECONDS", 0.05)


@pytest.fixture
def tmp_path(request, tmp_path):
    """A folder of the test's own, in memory where there is room, or on the disk for a test marked `disk`."""
    if request.node.get_closest_marker("disk") is None:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="punto-", dir=DISK) as folder:
        yield Path(folder)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser():
    """One Chromium for all pages: to start it takes longer than most of what is asked of it."""
    from playwright.async_api import async_playwright, expect

    assert CHROMIUM, "these tests need Chromium: tools/install-system-packages installs it"
    expect.set_options(timeout=DEADLINE * 1000)
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        for opening in ("new_context", "new_page"):
            setattr(running, opening, _patient(getattr(running, opening)))
        yield running
        await running.close()


def _patient(opening):
    """`opening` with the deadline of all tests in place of the 30 seconds of Playwright."""

    async def opened(**options):
        fresh = await opening(**options)
        fresh.set_default_timeout(DEADLINE * 1000)
        return fresh

    return opened


@pytest.fixture
def certificate(tmp_path: Path) -> ssl.SSLContext:
    """A certificate for localhost and its key in `tmp_path`, and who trusts it."""
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-keyout", "key.pem", "-out", "certificate.pem", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=DEADLINE)
    return ssl.create_default_context(cafile=tmp_path / "certificate.pem")
