import pytest_asyncio
from playwright.async_api import async_playwright

from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser():
    assert CHROMIUM, "these tests need Chromium"
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser):
    """An empty page; whatever the page's script or its policy objects to fails the test."""
    opened = await browser.new_page(viewport={"width": 1920, "height": 1080})
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda line: faults.append(line.text) if "Content Security" in line.text else None)
    yield opened
    await opened.close()
    assert faults == []
