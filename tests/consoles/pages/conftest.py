import pytest_asyncio

from tests.consoles.pages.parts import console_of, consoles


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser):
    async with console_of(browser) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def here(tmp_path):
    async with consoles(tmp_path) as running:
        yield running
