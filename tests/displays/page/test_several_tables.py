"""Two tables side by side and a wall of them: the same boards, each live or not by itself."""

import pytest
from playwright.async_api import expect

from punto.baccarat.table.order_kinds import ChangeShoe
from tests.displays.page.reading import READ_ROADS, expected
from tests.displays.page.watching import send_until
from tests.displays.parts import display, publisher
from tests.displays.played import PlayedTable
from tests.share import sampled

pytestmark = pytest.mark.asyncio(loop_scope="session")

READ_ALL = f"() => {{ {READ_ROADS} return [...document.querySelectorAll('.board')].map(readRoads); }}"


@pytest.mark.parametrize(("path", "count"), sampled([("split", 2), ("wall", 9)], one_in=2))
async def test_each_board_shows_its_own_table(page, broker, path, count):
    tables = {f"table-{number}": PlayedTable(name=f"Jade {number}", seed=number) for number in range(count)}
    for hands, table in enumerate(tables.values(), 10):
        table.play(hands)
    async with display(broker, page={"tables": list(tables)}) as address, publisher(broker) as out:
        await page.goto(address + path)
        await expect(page.locator(".board")).to_have_count(count)
        await expect(page.locator(".code").last).to_have_text("Not live · 11")
        for table_id, table in tables.items():
            await out.send("scoreboard", table.scoreboard(), table_id)
            await out.send("state", table.state(), table_id)

        await expect(page.locator(".board.live")).to_have_count(count)
        await expect(page.locator(".table-name")).to_have_text([f"Jade {number}" for number in range(count)])
        for read, table in zip(await page.evaluate(READ_ALL), tables.values(), strict=True):
            assert read["big_road"]["cells"] == expected(
                table.scoreboard(), "big_road", read["big_road"]["columns"]
            )


async def test_a_table_that_falls_silent_leaves_the_others_live(page, broker):
    tables = {f"table-{number}": PlayedTable(name=f"Jade {number}") for number in (1, 2)}
    async with display(broker, page={"tables": list(tables)}) as address, publisher(broker) as out:
        await page.goto(f"{address}split")
        await expect(page.locator(".code").last).to_have_text("Not live · 11")
        for table_id, table in tables.items():
            await out.send("state", table.state(), table_id)
        await expect(page.locator(".board.live")).to_have_count(2)

        for _ in range(8):
            await page.wait_for_timeout(500)
            await out.send("state", tables["table-2"].state(), "table-2")

        await expect(page.locator(".board").first).to_have_class("board shown")
        await expect(page.locator(".board").last).to_have_class("board shown live")


async def test_between_shoes_the_houses_pictures_are_shown_in_turn(page, broker, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name, colour in (("1.svg", "red"), ("2.svg", "blue")):
        (folder / name).write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 9"><rect width="16" height="9" fill="{colour}"/></svg>',
            encoding="utf-8",
        )
    house = tmp_path / "house.toml"
    house.write_text('pictures = "pictures"\npicture_seconds = 3\n', encoding="utf-8")
    table = PlayedTable()
    table.play(1)
    pictures = page.locator(".pictures")
    async with display(broker, page={"house": house}) as address, publisher(broker) as out:
        await page.goto(address)
        await send_until(page.locator(".board.live"), out, "state", table.state)
        await expect(pictures).to_be_hidden()

        table.handle(ChangeShoe("mei"))
        await out.send("state", table.state())
        await expect(pictures).to_be_visible()
        await expect(pictures.locator(".soon")).to_have_text("Next shoe soon")
        await expect(pictures.locator(".whose")).to_have_text("Dragon Room 8")
        await expect(pictures.locator(".range")).to_have_text("$25 \u2013 $5,000")
        for number in (0, 1, 0):
            await expect(pictures.locator(f'img[src="/theme/pictures/{number}"]')).to_have_count(1)
        assert await pictures.locator("img").evaluate("each => each.naturalWidth") > 0

        table = PlayedTable()
        table.play(1)
        await out.send("state", table.state().model_copy(update={"seq": 10**6}))
        await expect(pictures).to_be_hidden()
        await expect(pictures.locator("img")).to_have_count(0)


async def test_the_houses_colours_name_and_logo_are_on_the_board(page, broker, tmp_path):
    (tmp_path / "crane.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"><rect width="20" height="10"/></svg>',
        encoding="utf-8",
    )
    house = tmp_path / "house.toml"
    house.write_text(
        'logo = "crane.svg"\n[names]\nen = "The Golden Crane"\n[colours]\ngold = "#101820"\n',
        encoding="utf-8",
    )
    async with display(broker, page={"house": house}) as address:
        await page.goto(address)
        logo = page.get_by_role("img", name="The Golden Crane")

        await expect(logo).to_be_visible()
        await expect(page.locator(".progressive")).to_have_css("border-color", "rgb(16, 24, 32)")
        assert await logo.evaluate("logo => getComputedStyle(logo).backgroundImage") == (
            f'url("{address}theme/logo")'
        )
