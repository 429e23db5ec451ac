"""The page in each of its languages."""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import expect

from tests.displays.meters import Meter
from tests.displays.page.watching import dealt, expect_live
from tests.displays.parts import display, publisher
from tests.displays.played import PlayedTable, availability
from tests.share import sampled

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize(
    ("language", "banker", "phase", "letter"),
    sampled(
        [
            ("en", "Banker", "Place your bets", "B"),
            ("pt", "Banca", "Façam as vossas apostas", "B"),
            ("zh-Hant", "莊", "請下注", "莊"),
            ("zh-Hans", "庄", "请下注", "庄"),
        ],
        one_in=3,
    ),
)
async def test_a_board_speaks_the_language_that_its_address_names(
    page, broker, language, banker, phase, letter
):
    table = PlayedTable(seed=342)
    table.play(57)
    async with display(broker) as address, publisher(broker) as out, dealt(out, table):
        await page.goto(f"{address}tables/table-1/i-score?lang={language}")
        await expect_live(page)

        await expect(page.locator("html")).to_have_attribute("lang", language)
        await expect(page.locator(".phase")).to_have_text(phase)
        await expect(page.locator(".hand.banker h2")).to_have_text(banker)
        await expect(page.locator(".bead-plate .banker .letter").first).to_have_text(letter)
        loaded = await page.evaluate(
            "document.fonts.ready.then(all => [...all].filter(({status}) => status === 'loaded').map(({family}) => family))"
        )
        own = {"en": set(), "pt": set(), "zh-Hant": {"Punto Serif TC"}, "zh-Hans": {"Punto Serif SC"}}[
            language
        ]
        assert {family.strip('"') for family in loaded} == {
            "Punto Label",
            "Punto Heading",
            "Punto Figures",
        } | own


@pytest.mark.parametrize(
    ("language", "stopped", "seen"),
    [
        ("en", "Not live · 12", r"^Last live .+ \d\d:\d\d$"),
        ("zh-Hant", "非即時 · 12", r"^最後更新.+ \d\d:\d\d$"),
    ],
)
async def test_a_table_that_is_not_live_is_shown_with_when_it_was_last_seen(
    page, broker, language, stopped, seen
):
    """The service may run since: a broker that refuses it keeps what it has published before."""
    table = PlayedTable()
    async with publisher(broker) as out:
        await out.send("state", table.state())
        await out.send("availability", availability("offline", "the service was stopped", "stopped"))
        async with display(broker, page={"lang": language}) as address:
            await page.goto(address)

            await expect(page.locator(".code")).to_have_text(stopped)
            await expect(page.locator(".seen")).to_have_text(re.compile(seen))


async def test_a_board_that_is_not_live_says_so_in_its_language(page, broker):
    async with display(broker, page={"lang": "zh-Hant"}) as address:
        await page.goto(address)

        await expect(page.locator(".board .not-live strong")).to_have_text("請稍候")
        await expect(page.locator(".code")).to_have_text("非即時 · 11")


async def test_titles_are_the_game_files_in_the_language_or_else_the_catalogues_or_else_the_tables(
    page, broker
):
    table = PlayedTable()
    titles = {"tie": {"zh-Hant": "和局", "pt": "Empate"}, "player_pair": {"pt": "Par do Jogador"}}
    state = table.state().model_copy(update={"wager_titles": titles})
    first, *others = state.limits
    limits = (first.model_copy(update={"wager": "of_the_house", "title": "House 8"}), *others)
    async with display(broker, page={"lang": "zh-Hant"}) as address, publisher(broker) as out:
        await page.goto(address)
        await out.send("state", state.model_copy(update={"limits": limits}))
        names = page.locator(".limits .side dt")

        await expect(page.locator(".game")).to_have_text("迷你百家樂\N{FULLWIDTH COMMA}堪培拉")
        await expect(names.nth(0)).to_have_text("House 8")
        await expect(names.nth(1)).to_have_text("和局")
        await expect(page.locator('[data-wager="player_pair"] dt')).to_have_text("閒對")


async def test_a_table_has_the_name_that_the_house_gives_it_in_the_language(page, broker, tmp_path):
    house = tmp_path / "house.toml"
    house.write_text('[tables]\ntable-1 = { zh-Hant = "龍寶 8" }\n', encoding="utf-8")
    meter = Meter()
    meter.win(24_525_36, ago=timedelta(hours=1))
    async with (
        display(broker, page={"house": house}) as address,
        publisher(broker) as out,
        dealt(out, PlayedTable(), meter),
    ):
        for language, name in (("zh-Hant", "龍寶 8"), ("en", "Dragon Room 8")):
            await page.goto(f"{address}?lang={language}")
            await expect(page.locator(".board h1")).to_have_text(name)
            await expect(page.locator(".caption .whose")).to_have_text(name)
            await page.goto(f"{address}progressive?lang={language}")
            await expect(page.locator("header .table-name")).to_have_text(name)
            await expect(page.locator(".last .won-at")).to_contain_text(name)


async def test_a_sign_has_the_title_of_its_progressive_in_its_language(page, broker):
    message = Meter().message()
    async with display(broker, page={"lang": "zh-Hant"}) as address, publisher(broker) as out:
        await page.goto(f"{address}tables/table-1/progressive")
        await out.send("progressive/dragon", message)
        await expect(page.locator(".title")).to_have_text("龍寶累積彩金")

        own = {"titles": {"zh-Hant": "金鶴彩金"}, "seq": message.seq + 1}
        await out.send("progressive/dragon", message.model_copy(update=own))
        await expect(page.locator(".title")).to_have_text("金鶴彩金")


@pytest.mark.parametrize("page_of", ["i-score", "progressive"])
async def test_no_english_word_is_painted_before_the_script_of_a_chinese_page_runs(page, broker, page_of):
    async with display(broker, page={"lang": "zh-Hant", "theme": "night"}) as address:
        await page.route("**/*.js", lambda route: route.abort())
        await page.goto(f"{address}tables/table-1/{page_of}", wait_until="commit")

        await expect(page.locator(".not-live strong")).to_have_text("請稍候")
        await expect(page.locator("html")).to_have_attribute("lang", "zh-Hant")
        await expect(page.locator("html")).to_have_attribute("data-theme", "night")
        assert re.findall("[A-Za-z]+", await page.locator("body").inner_text()) == []


async def test_times_are_those_of_the_houses_clock_wherever_the_screen_is(page, broker):
    table, meter = PlayedTable(), Meter()
    meter.win(1_000_00, ago=timedelta(minutes=5))
    state, message = table.state().model_copy(update={"zone": "Asia/Macau"}), meter.message()
    assert message.award is not None
    won = datetime.fromisoformat(message.award.won).astimezone(ZoneInfo("Asia/Macau"))
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(f"{address}tables/table-1/progressive")
        await out.send("state", state)
        await out.send("progressive/dragon", message)
        await expect(page.locator(".won-when")).to_have_text(re.compile(f"{won:%H:%M}$"))

        await page.goto(f"{address}tables/table-1/i-score")
        await expect(page.locator(".seen")).to_have_text(re.compile(r"\d\d:\d\d$"))
        health = await (await page.request.get(f"{address}healthz")).json()
        seen = datetime.fromisoformat(health["table-1"]["seen"]).astimezone(ZoneInfo("Asia/Macau"))
        await expect(page.locator(".seen")).to_have_text(f"Last live today {seen:%H:%M}")
