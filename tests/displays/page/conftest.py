import pytest_asyncio

from tests.displays.parts import CALM


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser):
    """An empty page; whatever the page's script or its policy objects to fails the test."""
    opened = await browser.new_page(viewport={"width": 1920, "height": 1080}, **CALM)
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda line: faults.append(line.text) if "Content Security" in line.text else None)
    yield opened
    await opened.close()
    assert faults == []
