"""How the pages are photographed: still, and at the same time of the same day, so that a picture is the same whenever it is taken."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from playwright.async_api import Browser, Page

from tests.displays.parts import CALM

ZONE: Final = "Asia/Macau"
AT: Final = datetime(2026, 11, 28, 21, 5, tzinfo=ZoneInfo(ZONE)).astimezone(UTC).isoformat()
"""The moment of all pictures, as the clock of the house shows it."""
STEP: Final = timedelta(microseconds=1)
"""By so little the clock of the house goes on whenever it is read: what is shown to the second stays the same."""
SCREENS: Final = {"1080p": (1920, 1080), "4k": (3840, 2160)}
Keep = Callable[[str, bytes], Awaitable[None]]
"""What is done with a picture: its name, and the PNG as large as its screen."""
Picture = Callable[[Page, str], Awaitable[None]]
"""Takes the picture of a page as it is now, by its name."""


def picture_for(keep: Keep) -> Picture:
    """Takes pictures on the way through the work of a page."""

    async def picture(page: Page, name: str) -> None:
        await keep(name, await still(page))

    return picture


@asynccontextmanager
async def quiet(browser: Browser, width: int, height: int) -> AsyncIterator[Page]:
    """An empty page whose time stands still, without animations."""
    context = await browser.new_context(
        viewport={"width": width, "height": height}, timezone_id=ZONE, locale="en-GB", **CALM
    )
    page = await context.new_page()
    await page.clock.install(
        time=datetime.fromisoformat(AT) - timedelta(hours=1)
    )  # a clock goes on until it is stopped
    await page.clock.pause_at(AT)
    try:
        yield page
    finally:
        await context.close()


async def still(page: Page) -> bytes:
    """The picture of a page that has its fonts and pictures and no longer changes: two in a row are the same."""
    await page.evaluate(
        "Promise.all([document.fonts.ready, ...[...document.images].map((each) => each.decode())]).then(() => {})"
    )
    before, shot = b"", await page.screenshot()
    while shot != before:
        before, shot = shot, await page.screenshot()
    return shot


async def fonts_of_the_machine(page: Page) -> dict[str, str]:
    """The fonts that the page does not ship, each with a text that is drawn with it: on another machine it looks otherwise."""
    devtools = await page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        await devtools.send(f"{domain}.enable")
    root = (await devtools.send("DOM.getDocument", {"depth": -1}))["root"]
    found: dict[str, str] = {}
    nodes = [root]
    while nodes:
        node = nodes.pop()
        children = node.get("children", [])
        nodes += children
        text = "".join(each["nodeValue"] for each in children if each["nodeName"] == "#text").strip()
        if text and node["nodeName"] not in {"STYLE", "SCRIPT", "TITLE"}:
            answer = await devtools.send("CSS.getPlatformFontsForNode", {"nodeId": node["nodeId"]})
            found |= {font["familyName"]: text for font in answer["fonts"] if not font["isCustomFont"]}
    await devtools.detach()
    return found
