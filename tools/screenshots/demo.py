"""Makes the picture of the progressive's demo in docs/images: python -m tools.screenshots.demo.

Four pages of one table at the moment of a jackpot: the sign, the dealer's page, the i-Score and the Game Manager.
"""

import asyncio
import base64
import re
import signal

from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from tests.commands.demo.demos import demo
from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS
from tools.screenshots.pictures import IMAGES

SIZE = ViewportSize(width=1920, height=1080)
JACKPOT = "all diamonds; logged"
SHOWN_SECONDS = 0.5  # by then the pages show it, and the supervisor has not turned the key back


async def signed_on(browser: Browser, address: str, name: str, password: str, page: str) -> Page:
    """A page of somebody's at the consoles."""
    there = await browser.new_page(viewport=SIZE)
    await there.goto(address)
    await there.get_by_label("Name").fill(name)
    await there.get_by_label("Password").fill(password)
    await there.keyboard.press("Enter")
    await there.wait_for_url(re.compile(r"/(dealer|supervisor)$"))
    await there.goto(f"{address}{page}")
    return there


async def take() -> None:
    """Play until the whole meter is won, and take the pages as they are then."""
    with demo("--game", "progressive-2", "--between", "5", "--pace", "0.3") as process:
        assert process.stdout is not None
        said = ""
        while "Ctrl-C" not in said:
            said += await asyncio.to_thread(process.stdout.readline)
        display = re.findall(r"i-Score display +(\S+)", said)[0]
        consoles, password = re.findall(r"consoles +(\S+) as .* password (\S+)", said)[0]
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
            sign, score = await browser.new_page(viewport=SIZE), await browser.new_page(viewport=SIZE)
            await sign.goto(f"{display}progressive")
            await score.goto(display)
            dealer = await signed_on(browser, consoles, "dealer", password, "dealer")
            manager = await signed_on(browser, consoles, "executive", password, "game-manager")
            while JACKPOT not in said:
                said += await asyncio.to_thread(process.stdout.readline)
            await asyncio.sleep(SHOWN_SECONDS)
            pages = (sign, dealer, score, manager)
            shots = await asyncio.gather(*(page.screenshot() for page in pages))
            pictures = "".join(
                f'<img src="data:image/png;base64,{base64.b64encode(shot).decode()}">' for shot in shots
            )
            together = await browser.new_page(viewport=SIZE)
            await together.set_content(
                "<style>body{margin:0;display:grid;grid-template-columns:1fr 1fr;gap:12px;background:#808080}"
                f"img{{width:100%;display:block}}</style>{pictures}"
            )
            await together.screenshot(path=IMAGES / "demo-progressive.png")
            await browser.close()
        process.send_signal(signal.SIGINT)
        await asyncio.to_thread(process.wait)


if __name__ == "__main__":
    asyncio.run(take())
