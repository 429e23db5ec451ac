"""Makes the pictures of the displays in docs/images from tables that are played: `make screenshots`."""

import argparse
import asyncio
import io
import tempfile
from datetime import timedelta
from pathlib import Path

from PIL import Image
from playwright.async_api import Browser, async_playwright, expect

from tests.displays.meters import Meter
from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS, Broker, Publisher, display, publisher
from tests.displays.played import PlayedTable
from tools.screenshots.pictures import IMAGES, LAYOUTS, SCREENS, THEMES, picture_file

SIGN = "tables/table-4/progressive"


def tables() -> dict[str, PlayedTable]:
    """A pit of six tables, each at its own hand."""
    games = ("canberra", "side-wagers", "ez-baccarat", "progressive-2", "lucky-6", "mini-baccarat")
    names = ("Dragon Room 8", "Dragon Room 9", "Jade 1", "Jade 2", "Phoenix 21", "Phoenix 22")
    hands = (57, 43, 31, 66, 18, 50)
    seeds = (342, 11, 27, 5, 90, 61)
    played = {}
    for number, (game, name, dealt, seed) in enumerate(zip(games, names, hands, seeds, strict=True), 1):
        played[f"table-{number}"] = table = PlayedTable(name=name, game_name=game, seed=seed)
        table.play(dealt)
    return played


def save(picture: bytes, file: Path) -> None:
    """Keep a picture with 256 colours, which is all that a board has, at a third of the size."""
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        file, optimize=True
    )


def meters() -> dict[str, Meter]:
    """A progressive in each of its moments, by the name of its picture."""
    shown = {
        name: Meter(104_327_86, tables=("table-4", "table-5", "table-6")) for name in ("", "won", "whole")
    }
    shown[""].win(24_890_15, table="table-5", seats=(2, 5), ago=timedelta(hours=2), state="booked")
    shown["won"].win(26_081_96, table="table-5", seats=(2, 5))
    shown["whole"].win(104_327_86, rule=0, table="table-4")
    return shown


async def publish(out: Publisher, played: dict[str, PlayedTable], meter: Meter | None) -> None:
    if meter is not None:
        await out.send("progressive/dragon", meter.message(), "table-4")
    for table_id, table in played.items():
        await out.send("scoreboard", table.scoreboard(), table_id)
        await out.send("state", table.state(), table_id)


async def publish_on(out: Publisher, played: dict[str, PlayedTable], meter: Meter | None) -> None:
    """As the tables' services do, until cancelled."""
    while True:
        await publish(out, played, meter)
        await asyncio.sleep(0.7)


async def shoot(
    browser: Browser,
    out: Publisher,
    address: str,
    file: Path,
    size: tuple[int, int],
    played: dict[str, PlayedTable],
    meter: Meter | None = None,
) -> None:
    context = await browser.new_context(
        viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce"
    )
    page = await context.new_page()
    await page.goto(address)
    await page.wait_for_selector("article")
    publishing = asyncio.create_task(publish_on(out, played, meter))
    await expect(page.locator("article:not(.live)")).to_have_count(0, timeout=30_000)
    if meter is not None:
        await page.wait_for_timeout(1500)  # names of other tables are asked for
    save(await page.screenshot(), file)
    publishing.cancel()
    await context.close()


async def make(folder: Path, images: Path, chosen: str) -> None:
    played = tables()
    broker = Broker(folder)
    await broker.start()
    try:
        async with (
            async_playwright() as playwright,
            display(broker, page={"tables": list(played)}) as address,
            publisher(broker) as out,
        ):
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)

            async def picture(
                name: str, path: str, size: tuple[int, int], meter: Meter | None = None, page: str = "i-score"
            ) -> None:
                if chosen in f"{page}-{name}":
                    file = images / picture_file(f"{page}-{name}").name
                    await shoot(browser, out, address + path, file, size, played, meter)

            for layout, path in LAYOUTS.items():
                for screen, (width, height) in SCREENS.items():
                    size = (height, width) if layout == "portrait" else (width, height)
                    for theme in THEMES:
                        ask = "&" if "?" in path else "?"
                        await picture(f"{layout}-{theme}-{screen}", f"{path}{ask}theme={theme}", size)
            await picture("landscape-zh-Hant", f"{LAYOUTS['landscape']}&lang=zh-Hant", SCREENS["1080p"])
            for name, path, size, moment in (
                *((f"{theme}-1080p", f"theme={theme}", (1920, 1080), "") for theme in THEMES),
                ("lacquer-4k", "", (3840, 2160), ""),
                ("portrait", "", (1080, 1920), ""),
                ("zh-Hant", "lang=zh-Hant", (1920, 1080), ""),
                ("won", "", (1920, 1080), "won"),
                ("whole", "", (1920, 1080), "whole"),
                ("whole-portrait", "lang=zh-Hans&theme=jade", (1080, 1920), "whole"),
            ):
                await picture(name, f"{SIGN}?{path}", size, meters()[moment], "progressive")
            await picture("strip", "tables/table-4/i-score", SCREENS["1080p"], meters()[""])
            played["table-1"].deal(3)
            await picture("dealing", LAYOUTS["landscape"], SCREENS["1080p"])
            if chosen in "not-live":
                page = await browser.new_page(viewport={"width": 1920, "height": 1080})
                await page.goto(address + LAYOUTS["landscape"])
                await page.wait_for_selector(".board")
                await publish(out, played, None)
                await page.wait_for_selector(".board.live")
                await page.wait_for_selector(".board:not(.live)")
                save(await page.screenshot(), images / picture_file("i-score-not-live").name)
            await browser.close()
    finally:
        broker.kill()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="PART", help="only pictures with this in their names")
    parser.add_argument("--out", type=Path, default=IMAGES, metavar="FOLDER", help="where they go")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(make(Path(scratch), arguments.out, arguments.only))
