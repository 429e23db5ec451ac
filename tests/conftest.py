import pytest_asyncio

from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser():
    """One Chromium for all pages: to start it takes longer than most of what is asked of it."""
    from playwright.async_api import async_playwright, expect

    assert CHROMIUM, "these tests need Chromium: tests/install-system-packages installs it"
    expect.set_options(timeout=60_000)  # on a machine that has other things to do
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield running
        await running.close()
