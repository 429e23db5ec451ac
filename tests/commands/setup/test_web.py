"""`punto setup --web`: the page in a real browser, on a disk that is mounted at a folder."""

import asyncio
import hashlib
import json
import os
import re
import shutil
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import get_args

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from punto.commands.key_words import modules_of, words_of
from punto.commands.setup import setting_up, web
from punto.commands.setup.answers import Answers, PagesAnswer, read_answers
from punto.commands.setup.found import SHOE, Finder, Port
from punto.commands.setup.page import rows_of
from punto.commands.setup.questions import CATALOGS, KINDS, QUESTIONS, UNPROVEN
from punto.commands.setup.rehearsal import User
from punto.commands.setup.web import Visit
from punto.controller.config.file import load_config
from punto.displays.words import languages
from tests.axe import faults_of
from tests.command import punto
from tests.commands.setup.disk import disk_with_mosquitto
from tests.deadline import DEADLINE, pauses

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(os.geteuid() != 0, reason="gives files to the user of a service"),
    pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="needs systemd-sysusers"),
]
PASSWORD = "a long password"  # noqa: S105 - of an account that this test makes
SMALL = """
[...document.querySelectorAll("button, select, input, a")].filter(each => each.checkVisibility())
  .map(each => [each.id || each.textContent, each.getBoundingClientRect()])
  .filter(([, box]) => box.width < 44 || box.height < 44).map(([name, box]) => `${name} ${box.width} x ${box.height}`)
"""


@pytest.fixture
def disk() -> Iterator[Path]:
    with disk_with_mosquitto() as root:
        yield root


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> list[Port]:
    """The devices of the PC, which a test can change."""
    there = [Port(Path("/dev/serial/by-id/usb-shoe"), "FTDI UART A1B2", SHOE)]
    monkeypatch.setattr(Finder, "look", lambda _: [*there])
    monkeypatch.setattr(web, "LOOK_SECONDS", 0.05)
    # The Python of these tests can be in a folder that only root may enter.
    monkeypatch.setattr(setting_up, "User", lambda *_: User(os.geteuid(), os.getegid()))
    return there


class Setup:
    """The command while it runs: its visit, its address, and what it has printed."""

    def __init__(self, visit: Visit, capsys: pytest.CaptureFixture[str]) -> None:
        self.visit = visit
        self._capsys = capsys
        self.printed = ""

    def said(self) -> str:
        self.printed += self._capsys.readouterr().out
        return self.printed

    @property
    def address(self) -> str:
        found = re.search(r"https?://\S+", self.said())
        assert found, self.printed
        return found[0]


@asynccontextmanager
async def running(
    disk: Path, capsys: pytest.CaptureFixture[str], known: Answers | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Setup]:
    """`punto setup --web` without its rehearsal."""
    visit = Visit(known or Answers(), disk, rehearsal=False)
    service = asyncio.create_task(web._serve(visit, host, 0))
    setup = Setup(visit, capsys)
    for pause in pauses():
        if "http" in setup.said() or service.done():
            break
        await asyncio.sleep(pause)
    try:
        yield setup
    finally:
        service.cancel()
        with suppress(asyncio.CancelledError):
            await service


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    opened = await browser.new_page(viewport={"width": 1280, "height": 800}, locale="en-GB")
    yield opened
    await opened.close()


async def hold_up(page: Page) -> None:
    """The page has no fault, every target is large enough, and nothing is cut off at its side."""
    assert await faults_of(page) == []
    assert await page.evaluate(SMALL) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_a_table_is_set_up_on_the_page_from_the_questions_to_the_end(
    page: Page, disk: Path, ports: list[Port], capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(disk, capsys) as setup:
        await page.goto(setup.address)
        await page.get_by_label("Name of the table").fill("Salon 8")
        await page.get_by_label("Game").select_option("progressive-2")
        await expect(page.get_by_label("First supervisor, executive")).to_have_value("supervisor, executive")
        await page.get_by_label("First supervisor, executive").fill("Mei, Eve")
        await expect(page.get_by_label("What /dev/serial/by-id/usb-shoe is")).to_have_value("shoe")
        await hold_up(page)
        await page.get_by_role("button", name="Set up the table").click()

        await expect(page.get_by_role("heading", name="Key of the shoe")).to_be_visible()
        key = (disk / "etc/punto/table-1.shoe.key").read_text().strip()
        assert (await page.locator("#prompt .secret").inner_text()).replace(" ", "") == key
        assert await page.locator(".words li").all_inner_texts() == [*words_of(key)]
        assert await dark_modules(page) == [list(row) for row in modules_of(key)]
        await hold_up(page)
        await page.get_by_role("button", name="The device has it").click()

        await page.get_by_label("Password of Mei").fill(PASSWORD)
        assert key not in await page.content()
        await hold_up(page)
        await page.get_by_label("Password of Mei").press("Enter")
        await page.get_by_label("Password of Eve").press("Enter")
        await expect(page.get_by_role("heading", name="Password of Eve")).to_be_visible()
        random = await page.locator("#prompt .secret").inner_text()
        await page.get_by_role("button", name="It is written down").click()

        await expect(page.get_by_role("heading", name="The table is set up")).to_be_visible()
        await expect(page.locator("#rows")).to_contain_text("http://127.0.0.1:8090/supervisor")
        await hold_up(page)
        content, said = await page.content(), setup.said()
        for secret in (PASSWORD, random, key, words_of(key)[0] + " " + words_of(key)[1]):
            assert secret not in content
            assert secret not in said
        await page.get_by_role("button", name="Finish").click()
        await expect(page.get_by_role("alert")).to_contain_text("The command has ended")
        assert await page.evaluate("sessionStorage.length") == 0
        await setup.visit.ended.wait()

    answers = read_answers(disk / "etc/punto/table-1.answers")
    assert (answers.name, answers.game, [*answers.people]) == ("Salon 8", "progressive-2", ["Mei", "Eve"])
    assert load_config(disk / "etc/punto/table-1.toml").table.name == "Salon 8"
    file = disk / "var/lib/punto/table-1/operators.db"
    assert "Mei\tsupervisor" in punto("operators", "--accounts", str(file), "list").stdout


async def dark_modules(page: Page) -> list[list[bool]]:
    """The modules of the QR code, by the colour in the middle of each on the screen."""
    found: list[list[bool]] = await page.evaluate("""
      async () => {
        const drawn = document.querySelector("#prompt svg");
        const size = drawn.viewBox.baseVal.width, scale = 8;
        const text = new XMLSerializer().serializeToString(drawn).replace("<svg", `<svg width="${size * scale}" height="${size * scale}"`);
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = size * scale;
        const paper = canvas.getContext("2d");
        for (const path of drawn.querySelectorAll("rect, path")) {
          paper.setTransform(scale, 0, 0, scale, 0, 0);
          paper.fillStyle = path.getAttribute("fill");
          paper.fill(path.tagName === "rect" ? rectangle(size) : new Path2D(path.getAttribute("d")));
        }
        function rectangle(side) { const all = new Path2D(); all.rect(0, 0, side, side); return all; }
        const { data } = paper.getImageData(0, 0, size * scale, size * scale);
        const dark = (x, y) => data[4 * ((y * scale + scale / 2) * size * scale + x * scale + scale / 2)] < 128;
        return Array.from({ length: size }, (_, y) => Array.from({ length: size }, (_, x) => dark(x, y)));
      }
    """)
    return found


async def test_the_addresses_are_printed_with_the_name_of_the_table(
    page: Page, disk: Path, ports: list[Port], capsys: pytest.CaptureFixture[str]
) -> None:
    ports.clear()
    async with running(disk, capsys, Answers(name="Salon 8")) as setup:
        await page.goto(setup.address)
        await page.get_by_role("button", name="Set up the table").click()
        await page.get_by_label("Password of supervisor").fill(PASSWORD)
        await page.get_by_label("Password of supervisor").press("Enter")
        await expect(page.get_by_role("heading", name="The table is set up")).to_be_visible()
        await page.emulate_media(media="print")

        seen = (await page.locator("body").inner_text()).split("\n")
        assert seen[0] == "Salon 8"
        assert seen[-1].endswith("sudo punto setup --table table-1")


async def test_the_page_at_an_address_of_the_network_has_a_certificate(
    browser: Browser, disk: Path, ports: list[Port], capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(disk, capsys, host="127.0.0.2") as setup:
        assert setup.address.startswith("https://127.0.0.2:")
        host, port = setup.address.removeprefix("https://").partition("/")[0].split(":")
        certificate = await asyncio.to_thread(ssl.get_server_certificate, (host, int(port)))
        digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).digest()
        assert digest.hex(":").upper() in setup.said()

        page = await browser.new_page(ignore_https_errors=True)
        await page.goto(setup.address)
        await expect(page.get_by_label("Currency")).to_be_visible()
        await page.close()


async def test_without_a_visitor_the_command_ends(
    disk: Path, ports: list[Port], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "IDLE_SECONDS", 0.01)
    visit = Visit(Answers(), disk, rehearsal=False)
    async with asyncio.timeout(DEADLINE):
        await web._serve(visit, "127.0.0.1", 0)

    assert visit.progress.stage == "questions"


async def test_each_language_has_the_same_words() -> None:
    words = {each.stem: json.loads(each.read_text(encoding="utf-8")) for each in CATALOGS.glob("*.json")}
    pages = "".join(each.read_text(encoding="utf-8") for each in web.PAGES.iterdir())
    asked = {
        *re.findall(r'(?:\bt|orElse)\("([^"]+)"', pages),
        *re.findall(r'data-word="([^"]+)"', pages),
        *(f"question.{each.key}" for each in QUESTIONS),
        *(f"language.{each}" for each in languages()),
        *(f"kind.{kind}{proof}" for kind in KINDS for proof in ("", f" {UNPROVEN}")),
        *(f"device.{each}" for each in ("shoe", "keypad", "coin spot", "card reader")),
        *(f"row.{each}" for each in rows_of(Answers(console=PagesAnswer(host="10.0.7.5")).with_ports(()))),
        *("kind.", "console.127.0.0.1", "role.supervisor", "role.executive"),
    }

    assert set(words) == set(get_args(web.Language))
    for language, own in words.items():
        assert own.keys() == asked, language
        for key, text in own.items():
            assert re.findall(r"{\w+}", text) == re.findall(r"{\w+}", words["en"][key]), (language, key)


async def test_an_answer_is_changed_later_on_the_page(
    page: Page, disk: Path, ports: list[Port], capsys: pytest.CaptureFixture[str]
) -> None:
    former = disk / "former.answers"
    former.write_text('name = "Salon 8"\n[people]\nMei = ["supervisor"]\n')
    passwords = disk / "passwords"
    passwords.write_text(f"{PASSWORD}\n")
    assert punto("setup", "--answers", str(former), "--passwords", str(passwords), "--root", str(disk), "--no-rehearsal").returncode == 0  # fmt: skip
    accounts = (disk / "var/lib/punto/table-1/operators.db").read_bytes()
    ports.clear()

    async with running(disk, capsys, read_answers(disk / "etc/punto/table-1.answers")) as setup:
        await page.goto(setup.address)
        await expect(page.get_by_label("Name of the table")).to_have_value("Salon 8")
        await page.get_by_label("Limits of Player and Banker").fill("100-2")
        await page.keyboard.press("Enter")
        await expect(page.locator("#fault")).to_contain_text("Correct the answers")
        await expect(page.get_by_label("Limits of Player and Banker")).to_be_focused()
        await expect(page.locator("#question-limits-fault")).to_contain_text("is more than maximum")
        await hold_up(page)
        await page.get_by_label("Limits of Player and Banker").fill("100-20000")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="The table is set up")).to_be_visible()

    answers = read_answers(disk / "etc/punto/table-1.answers")
    assert (answers.name, answers.minimum, answers.maximum) == ("Salon 8", 10_000, 2_000_000)
    assert (disk / "var/lib/punto/table-1/operators.db").read_bytes() == accounts


async def test_the_address_opens_the_page_once(
    browser: Browser, page: Page, disk: Path, ports: list[Port], capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(disk, capsys) as setup:
        await page.goto(setup.address)
        await expect(page.get_by_label("Currency")).to_be_visible()
        assert "#" not in page.url
        await page.reload()
        await expect(page.get_by_label("Currency")).to_be_visible()

        other = await browser.new_page()
        await other.goto(setup.address)
        await expect(other.get_by_role("alert")).to_contain_text("This address does not open the setup")
        refused = await other.request.post(
            f"{page.url}api/questions", data={"texts": {}}, headers={"Origin": page.url[:-1]}
        )
        assert refused.status == 401
        await other.close()


async def test_a_device_appears_when_it_is_connected(
    page: Page, disk: Path, ports: list[Port], capsys: pytest.CaptureFixture[str]
) -> None:
    ports.clear()
    async with running(disk, capsys) as setup:
        await page.goto(setup.address)
        await expect(page.get_by_text("No device is connected")).to_be_visible()
        await page.get_by_label("Name of the table").fill("Salon 8")
        ports.append(Port(Path("/dev/serial/by-id/usb-late"), "FTDI", SHOE))
        choice = page.get_by_label("What /dev/serial/by-id/usb-late is")
        await expect(choice).to_have_value("shoe")
        await expect(page.get_by_label("Name of the table")).to_have_value("Salon 8")

        await page.get_by_label("Path of a device").fill("/dev/ttyS0")
        await page.get_by_role("button", name="Add").click()
        await expect(page.locator("#question-devices-fault")).to_contain_text("a table has one shoe")
        await choice.select_option("")
        await expect(page.get_by_label("What /dev/ttyS0 is")).to_have_value("shoe")
        await expect(page.locator("#question-devices-fault")).to_be_empty()


async def test_what_fails_is_shown_above_the_questions(
    page: Page, disk: Path, ports: list[Port], capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(disk / "etc/mosquitto")
    (disk / "etc/mosquitto").write_text("not a folder")
    (disk / "etc/punto-broker").write_text("not a folder")
    async with running(disk, capsys) as setup:
        await page.goto(setup.address)
        await page.get_by_label("Name of the table").fill("Salon 8")
        await page.get_by_role("button", name="Set up the table").click()
        await expect(page.locator("#failed")).to_contain_text("punto-broker")
        await expect(page.get_by_label("Name of the table")).to_have_value("Salon 8")


async def test_a_defect_of_the_setup_ends_the_command(
    disk: Path, ports: list[Port], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(web, "set_up", fail)
    visit = Visit(Answers(), disk, rehearsal=False)
    service = asyncio.create_task(web._serve(visit, "127.0.0.1", 0))
    await visit.begin(Answers())

    with pytest.raises(RuntimeError, match="a defect"):
        await asyncio.wait_for(service, DEADLINE)


@pytest.mark.parametrize("language", ["zh-Hant", "zh-Hans"])
async def test_the_page_is_in_the_language_of_the_browser(
    browser: Browser, disk: Path, ports: list[Port], capsys: pytest.CaptureFixture[str], language: str
) -> None:
    async with running(disk, capsys) as setup:
        page = await browser.new_page(locale={"zh-Hant": "zh-HK", "zh-Hans": "zh-CN"}[language])
        await page.goto(setup.address)
        await expect(page.locator("html")).to_have_attribute("lang", language)
        await expect(page.locator("#go")).to_have_text(
            {"zh-Hant": "開始設定", "zh-Hans": "开始设定"}[language]
        )
        await page.get_by_role("combobox").first.select_option("en")
        await expect(page.locator("#go")).to_have_text("Set up the table")
        await page.close()
