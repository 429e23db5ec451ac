import pytest_asyncio
from playwright.async_api import async_playwright

from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS
from tests.operators.pages.parts import console_of, consoles


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser():
    assert CHROMIUM, "these tests need Chromium"
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser):
    async with console_of(browser) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def here(tmp_path):
    async with consoles(tmp_path) as running:
        yield running
