"""The consoles in each of their languages."""

import re

import pytest
from playwright.async_api import expect

from punto.baccarat.table.events import LidMoved
from punto.baccarat.table.order_kinds import CallSupervisor
from punto.controller.engine import HouseRules
from punto.runtime.gaming_days import Calendar
from tests.consoles.pages.parts import (
    PASSWORD,
    PLAYER_NATURAL,
    at_work,
    console_of,
    consoles,
    headline,
    house,
    open_part,
)
from tests.share import soaked

pytestmark = pytest.mark.asyncio(loop_scope="session")

FIXED = {"Baccarat", "mei", "Esc"}
"""The names of the table, of the dealer and of a key."""
OVERFLOWING = """
[document.documentElement, ...document.querySelectorAll("button, .pay, .seat *, #now *, .facts *, .person *, dialog *")]
  .filter(each => each.checkVisibility() && !each.matches(".unseen") && each.scrollWidth > each.clientWidth + 1
    && getComputedStyle(each).display !== "inline")
  .map(each => each.outerHTML)
"""


async def at_the_dealers_page(page, address):
    """Sign on as a dealer at the sign-on page of this address, whatever its language."""
    await page.goto(address)
    await page.locator("#name").fill("mei")
    await page.locator("#password").fill(PASSWORD)
    await page.locator("#go").click()
    await page.wait_for_selector("body.live")


async def latin(page, where="body"):
    """The words in Latin letters that this part of the page shows."""
    shown = await page.locator(where).inner_text()
    return {word for word in re.findall(r"[A-Za-z]{2,}", shown) if not re.fullmatch(r"F\d", word)} - FIXED


async def expect_chinese(page, where="body"):
    """Nothing is English here, nor wider than its place."""
    assert await latin(page, where) == set()
    assert await page.evaluate(OVERFLOWING) == []


async def test_a_dealers_day_in_chinese_has_no_english_word_and_fits_the_screen(browser, tmp_path):
    own = house(betting_closes="order")
    async with consoles(tmp_path, own, lang="zh-Hans") as here, console_of(browser, 1280, 720) as page:
        await page.goto(here.address)
        await expect(page.locator("#go")).to_have_text("登录")
        await expect_chinese(page)
        await at_the_dealers_page(page, here.address)
        await expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
        await headline(page, "赌台已关闭")
        await expect_chinese(page)

        await here.load()
        await here.wager(
            (1, "player", 2500), (3, "banker", 10_000), (4, "player", 5000), (4, "dragon_bonus_player", 5500)
        )
        await expect(page.locator('[data-standing="4"] .wagers li')).to_have_text(["闲 $50", "闲龙宝 $55"])
        await headline(page, "请下注")
        await expect(page.locator("#detail")).to_have_text("全部下注后停止下注")
        await expect_chinese(page)
        await page.keyboard.press("F2")
        await expect(page.locator("#main-order")).to_contain_text("再按一次\N{FULLWIDTH COLON}停止下注")
        await page.wait_for_timeout(400)
        await page.keyboard.press("F2")
        await headline(page, "第一张牌给闲家")
        await expect(page.locator("#phase")).to_have_text("停止下注")

        await here.draw(PLAYER_NATURAL)
        await expect(page.locator("#result")).to_have_text("闲赢\N{FULLWIDTH COMMA}9 比 5 · 例牌")
        await expect(page.locator('#due-list [data-seat="1"] .sum')).to_have_text("$25")
        await expect(page.locator("#outcome .pay").first).to_have_text("闲 1 赔 1")
        await expect_chinese(page)

        await page.keyboard.press("F9")
        await expect(page.get_by_role("dialog")).to_contain_text("第 1 局")
        await expect_chinese(page, "dialog")
        await page.keyboard.press("Escape")
        await page.keyboard.press("F8")
        await expect(page.locator("[data-order=call_supervisor]")).to_contain_text("已呼叫")
        await expect_chinese(page)
        await page.keyboard.press("F8")
        await expect(page.get_by_role("dialog")).to_contain_text("原因可随后补上")
        await page.get_by_role("button", name="牌张不明").click()
        await expect_chinese(page, "dialog")
        await page.get_by_role("dialog").get_by_role("button", name="送出原因").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        assert [each.text for each in here.table.state.alarms] == ["牌张不明"]


@pytest.mark.parametrize(
    ("language", "words"), [("zh-Hant", "賭枱已關閉"), *soaked(("tlh", "The table is closed"))]
)
@pytest.mark.soak
async def test_the_address_names_a_language_and_the_tab_keeps_it(page, here, language, words):
    await at_the_dealers_page(page, f"{here.address}/?lang={language}")

    await headline(page, words)
    await page.reload()
    await headline(page, words)


@pytest.mark.soak
async def test_a_page_that_is_not_live_says_so_in_its_language(page, here):
    await at_the_dealers_page(page, f"{here.address}/?lang=zh-Hans")

    await here.close()

    await expect(page.locator("#not-live")).to_have_text(
        "非实时画面 不得派牌\N{FULLWIDTH COMMA}并大声呼叫主管。 无法连接赌台服务"
    )


@pytest.mark.soak
async def test_the_supervisors_page_is_in_the_language_too(page, here):
    await here.load()
    await page.goto(f"{here.address}/?lang=zh-Hans")
    await page.locator("#name").fill("omar")
    await page.locator("#password").fill(PASSWORD)
    await page.locator("#go").click()
    await page.wait_for_selector("body.live")

    await headline(page, "请下注")
    for part in ("#orders", "#trouble", "#parts", "#paid"):
        assert await latin(page, part) == set()
    await open_part(page, "shift")
    await expect(page.locator("#shift-report caption").first).to_have_text("设备及系统")
    assert await latin(page, "#shift-hours") == set()


@pytest.mark.parametrize("path", ["", "/dealer", "/supervisor"])
async def test_no_english_word_is_painted_while_a_chinese_page_is_on_its_way(browser, tmp_path, path):
    async with consoles(tmp_path, lang="zh-Hans") as here, console_of(browser) as page:
        for held in ("**/*.js", "**/catalog/*"):
            await page.unroute_all()
            await page.route(held, lambda route: route.abort())
            await page.goto(here.address + path, wait_until="commit")

            await expect(page.locator("main").first).to_be_attached()
            await expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
            assert await latin(page) == set()
            assert await page.locator("[data-word]:empty").count() == 0


async def test_a_chinese_supervisor_reads_the_stop_and_the_reason_of_a_call_in_chinese(browser, tmp_path):
    async with consoles(tmp_path, lang="zh-Hant") as here, console_of(browser) as page:
        await here.load()
        await here.table.order(CallSupervisor("mei", "A dispute at the table"))
        await here.table.shoe(LidMoved(here.table.state.link.expected, open=True))
        await at_work(page, here, "omar")

        for words in ("牌局進行時牌靴蓋已打開", "請檢查牌靴", "然後恢復牌局"):
            await expect(page.locator(".stop p")).to_contain_text(words)
        await expect(page.locator(".alarm p")).to_have_text("賭枱有爭議")
        await expect(page.locator(".alarm small")).to_have_text(re.compile(r"^自 \d\d:\d\d\W由 mei 呼叫$"))


async def test_times_are_those_of_the_houses_clock_wherever_the_screen_is(browser, tmp_path):
    async with (
        consoles(tmp_path, rules=HouseRules(Calendar.of(zone="Asia/Macau"))) as here,
        console_of(browser) as page,
    ):
        await at_the_dealers_page(page, here.address)
        told = """([from, name]) => import(from).then((module) => module[name]("2026-01-31T18:30:00.000000+00:00"))"""

        assert await page.evaluate(told, ["/shared/words.js", "clock"]) == "02:30:00"
        assert await page.evaluate(told, ["/static/words.js", "dayAndClock"]) == "1 Feb 2026, 02:30:00"
