"""Makes README's moving picture: one hand, from its first card to its mark on the road. python -m tools.screenshots.film

The board is the real one, whose time goes on by a frame whenever one was taken. So the film is smooth and always the same, however
slow the machine is.
"""

import asyncio
import io
import tempfile
from collections.abc import AsyncIterator
from itertools import groupby
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.async_api import async_playwright, expect

from punto.messages.models import Result
from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS
from tools.screenshots.displays import SHOTS, Pit, before_hand, on_screen
from tools.screenshots.pictures import IMAGES

FILE: Final = IMAGES / "a-hand.webp"
WIDTH, HEIGHT = 960, 540
FRAME_MILLISECONDS = 80
QUALITY = 70
CARD_SECONDS, MOMENT_SECONDS, ROAD_SECONDS = 0.9, 2.6, 2.4
"""How long each card is looked at, how long the moment of the result lasts (moment.js), and how long its mark on the road."""
PUBLISH_FRAMES = 10
"""So often the table publishes: a message holds for two and a half seconds."""
STEP = """
(now) => {
  window.began ??= new Map();
  for (const each of document.getAnimations()) {
    if (!began.has(each)) began.set(each, now);
    each.pause();
    each.currentTime = now - began.get(each);
  }
}
"""
"""Style sheets' animations have a clock of their own, which is set as the page's."""


def _is_told(result: Result) -> bool:
    """A hand with third cards and a side wager that wins."""
    return result.winner == "player" and bool(result.hits) and len(result.player + result.banker) == 6


async def frames(pit: Pit) -> AsyncIterator[bytes]:
    """A screenshot for each frame of the film."""
    table, cards = before_hand(1, _is_told)
    pit.tables["table-1"] = table
    await pit.show()
    await pit.page.clock.run_for(3000)  # the moment of the hand before is over
    await pit.page.emulate_media(reduced_motion="no-preference")
    at = 0
    for dealt in range(cards + 1):
        seconds = CARD_SECONDS if dealt < cards else MOMENT_SECONDS + ROAD_SECONDS
        for frame in range(round(seconds * 1000 / FRAME_MILLISECONDS)):
            if frame % PUBLISH_FRAMES == 0:
                await pit.show()
            await pit.page.evaluate(STEP, at)
            yield await pit.page.screenshot()
            await expect(pit.page.locator(".board")).to_have_class("board shown live")
            await pit.page.clock.run_for(FRAME_MILLISECONDS)
            at += FRAME_MILLISECONDS
        table.draw()


def film(shots: list[bytes]) -> bytes:
    """The frames as an animated WebP that repeats; frames that are the same are one that lasts longer."""
    found = [(shot, len(list(same)) * FRAME_MILLISECONDS) for shot, same in groupby(shots)]
    images = [
        Image.open(io.BytesIO(shot)).convert("RGB").resize((WIDTH, HEIGHT), Image.Resampling.BOX)
        for shot, _ in found
    ]
    out = io.BytesIO()
    images[0].save(
        out,
        "WEBP",
        save_all=True,
        append_images=images[1:],
        duration=[milliseconds for _, milliseconds in found],
        loop=0,
        quality=QUALITY,
        method=4,
    )
    return out.getvalue()


async def make() -> None:
    """Play the hand, and write the file."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        with tempfile.TemporaryDirectory() as folder:
            async with on_screen(browser, Path(folder), SHOTS["board-landscape-lacquer-en"]) as pit:
                shots = [frame async for frame in frames(pit)]
        await browser.close()
    FILE.write_bytes(film(shots))


if __name__ == "__main__":
    asyncio.run(make())
