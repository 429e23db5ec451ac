"""The sign of a progressive in a real browser, from a real broker."""

import asyncio
import re
from collections import Counter
from datetime import timedelta
from time import time

import aiomqtt
import pytest
from playwright.async_api import Page, Request, expect

from tests.axe import faults_of
from tests.displays.meters import Meter
from tests.displays.page.watching import dealt, live_seconds, note_when_live, send_until
from tests.displays.parts import display, publisher
from tests.displays.played import PlayedTable
from tests.share import soaked

pytestmark = pytest.mark.asyncio(loop_scope="session")

SIGN = "tables/table-1/progressive"
TOPIC = "progressive/dragon"
HEAVIEST = 300_000  # bytes, without fonts
# What the digits show, and what is published, in minor units, at each frame.
SAMPLE = """
() => {
  window.samples = [];
  const read = () => +[...document.querySelectorAll(".digit")].map(each => each.textContent).join("");
  const note = () => {
    const published = +document.querySelector(".odometer").getAttribute("aria-label").replace(/\\D/g, "");
    samples.push([read(), published]);
    requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
}
"""
TAKE_SAMPLES = "() => samples.splice(0)"
# When an award was first shown, and when the sign last became not live, by the page's own hand: what it takes to ask the
# browser is no part of it.
NOTE_AWARD = """
window.moved = [];
document.addEventListener("animationstart", ({ target }) =>
  moved.push(...target.getAnimations().map(each => each.effect.getComputedTiming().duration)));
new MutationObserver(() => { window.celebrated ??= document.querySelector(".sign.won") && Date.now(); })
  .observe(document.querySelector(".sign"), { attributeFilter: ["class"] })
"""
LAID_OUT = "each => each.offsetHeight"  # its height without the transform of the band that unrolls
# What there is on the sign, once it has been laid out anew, outside of the screen, or cut off by its own box or panel.
OUT_OF_PLACE = """
async () => {
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  return [...document.querySelectorAll(".sign :is(h1, h2, p, dt, dd, dl, section, .digit):not(.not-live *)")].filter(each => {
    const { left, top, right, bottom, width } = each.getBoundingClientRect();
    const panel = each.closest("section, header, footer, dl > div, .sign").getBoundingClientRect();
    return width > 0 && (left < 0 || top < 0 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5
      || right > panel.right + 1 || bottom > panel.bottom + 1
      || (!each.closest(".odometer") && each.scrollWidth > each.clientWidth + 1 && each.tagName !== "SECTION"));
  }).map(each => `${each.className || each.tagName} ${each.textContent}`);
}
"""


async def counted(page: Page, amount: str) -> list[list[float]]:
    """What was shown, and what published, at each frame until the digits showed an amount at rest."""
    await expect(page.locator(".odometer")).to_have_attribute("aria-label", amount)
    digits = re.sub(r"\D", "", amount)
    await page.wait_for_function(
        "digits => { const [shown] = samples.at(-1) ?? []; return shown === +digits; }", arg=digits
    )
    found: list[list[float]] = await page.evaluate(TAKE_SAMPLES)
    return found


@pytest.mark.soak
async def test_the_meter_counts_up_to_what_is_published_and_a_smaller_one_is_there_at_once(page, broker):
    meter = Meter(98_099_90)
    await page.emulate_media(reduced_motion="no-preference")
    async with display(broker) as address, publisher(broker) as out:
        await out.send(TOPIC, meter.message())
        await page.goto(address + SIGN)
        await expect(page.locator(".odometer")).to_have_attribute("aria-label", "$98,099.90")
        await page.evaluate(SAMPLE)
        assert {shown for shown, _ in await counted(page, "$98,099.90")} == {98_099_90}, "no way to the first"

        for amount in (98_101_30, 98_102_70):  # the second while it counts up to the first
            meter.meter = amount
            await out.send(TOPIC, meter.message())
            await page.wait_for_timeout(300)
        seen = await counted(page, "$98,102.70")
        shown = [each for each, _ in seen]
        assert all(each <= published for each, published in seen), "it shows no more than there is"
        assert shown == sorted(shown), "it never turns back"
        assert len(set(shown)) > 3, "it counts"
        assert shown[-1] == 98_102_70

        meter.meter = 73_577_03
        await out.send(TOPIC, meter.message())
        seen = await counted(page, "$73,577.03")
        assert {each for each, published in seen if published == 73_577_03} == {73_577_03}, (
            "it does not count down"
        )
        await expect(page.locator(".less")).to_have_text("↓ $24,525.67")

        meter.meter = 100_000_00
        await out.send(TOPIC, meter.message())
        seen = await counted(page, "$100,000.00")
        assert all(each <= published for each, published in seen), "nor with a digit more"
        await expect(page.locator(".digit")).to_have_count(8)

        await page.emulate_media(reduced_motion="reduce")
        meter.meter = 100_500_00
        await out.send(TOPIC, meter.message())
        seen = await counted(page, "$100,500.00")
        assert {each for each, _ in seen} <= {100_000_00, 100_500_00}, (
            "nothing moves where that is not wanted"
        )


@pytest.mark.parametrize(
    ("currency", "shown", "wager"),
    [("JPY", "¥9,810,146", "¥100"), ("KWD", "KWD\xa09,810.146", "KWD\xa00.100")],
)
async def test_a_meter_is_shown_in_the_decimals_of_its_currency(page, broker, currency, shown, wager):
    async with display(broker) as address, publisher(broker) as out:
        await out.send(TOPIC, Meter(9_810_146, currency=currency).message())
        await page.goto(address + SIGN)
        await expect(page.locator(".odometer")).to_have_attribute("aria-label", shown)
        await expect(page.locator(".digit")).to_have_count(7)
        await expect(page.locator("body")).to_contain_text(wager)


@pytest.mark.punctual
async def test_an_award_is_shown_within_a_second_for_ten_and_then_as_the_last_one(page, broker):
    tables = ("table-1", "vip-2")
    meter = Meter(tables=tables)
    await page.emulate_media(reduced_motion="no-preference")
    celebration, last = page.locator(".band"), page.locator(".last")
    async with (
        display(broker, page={"tables": tables}) as address,
        publisher(broker) as out,
        dealt(out, PlayedTable(), meter),
    ):
        await out.send("state", PlayedTable(name="VIP 2").state(), "vip-2")
        await page.goto(address + SIGN)
        await expect(page.locator(".sign")).to_have_class("sign shown live")
        await expect(page.locator(".terms")).to_have_text("$1 a hand")
        await expect(page.locator("header .table-name")).to_have_text("Linked jackpot · 2 tables")
        await expect(celebration).to_be_hidden()
        await expect(last).to_be_hidden()
        await expect(page.locator(".tiers div")).to_have_text(
            [
                "2-3-4 over 0, all diamonds$98,101.46",
                "2-3-4 over 0, one suit, not diamonds$24,525.36",
                "2-3-4 over 0, mixed suits1000 for 1",
                "Other 9 over 0, not natural40 for 1",
                "8 over 0, not natural20 for 1",
                "Winning natural2 for 1",
            ]
        )
        await page.evaluate(NOTE_AWARD)

        meter.win(24_525_36, table="vip-2", seats=(2, 5))
        sent = time()
        await out.send(TOPIC, meter.message())
        await expect(celebration).to_be_visible()
        assert await page.evaluate("celebrated") / 1000 - sent < 1, "an award is there within a second"
        await expect(celebration.locator("h2, p")).to_have_text(
            [
                "Award won",
                "$24,525.36",
                "Seat 2 $12,262.68Seat 5 $12,262.68",
                "VIP 2 · shared by seats 2 and 5 · 2-3-4 over 0, one suit, not diamonds",
            ]
        )
        smaller = await celebration.locator("h2").evaluate(LAID_OUT)
        await page.wait_for_function("() => moved.length > 0")  # it moves
        assert min(await page.evaluate("moved")) >= 500, (
            "above three flashes a second lies danger (WCAG 2.3.1)"
        )

        meter.ahead += timedelta(seconds=11)  # and as long as this machine has needed
        await out.send(TOPIC, meter.message())
        await expect(celebration).to_be_hidden()
        await expect(last).to_contain_text("VIP 2 · shared by seats 2 and 5")
        await expect(last.locator(".won-when")).to_have_text(re.compile(r"^(today|yesterday) \d\d:\d\d$"))
        meter.ahead += timedelta(days=3)
        await expect(last.locator(".won-when")).to_have_text(re.compile(r"^\w{3} \d{1,2}, \d{4} \d\d:\d\d$"))

        meter.win(98_101_46, rule=0)
        await out.send(TOPIC, meter.message())
        await expect(celebration.locator("h2")).to_have_text("Jackpot")
        await expect(celebration.locator(".won-at")).to_have_text("Dragon Room 8 · Seat 3")
        larger = await celebration.locator("h2").evaluate(LAID_OUT)
        assert larger > 1.3 * smaller, "all of the meter is larger than a part of it"
        await page.emulate_media(reduced_motion="reduce")
        assert await page.evaluate("document.getAnimations().length") == 0, (
            "nothing moves where that is not wanted"
        )


# How far a part reaches down into the tiers, and out of the plaque, in pixels.
BEYOND = """
name => {
  const [part, tiers, plaque] = [name, ".tiers", ".meter"].map(each => document.querySelector(each).getBoundingClientRect());
  return [part.bottom - tiers.top, plaque.top - part.top, part.bottom - plaque.bottom].map(Math.round);
}
"""


@pytest.mark.parametrize(
    ("width", "height"), [(1920, 1080), (1080, 1920), *soaked((1024, 768), (768, 1024), (3840, 2160))]
)
async def test_the_tiers_stay_in_sight_beside_an_award_and_while_players_wait(page, broker, width, height):
    meter = Meter(104_327_87)
    shares = page.locator(".band .shares span")
    await page.set_viewport_size({"width": width, "height": height})
    async with display(broker) as address, publisher(broker) as out:
        async with dealt(out, PlayedTable(), meter):
            await page.goto(address + SIGN)
            await expect(page.locator(".sign.live")).to_have_count(1)
            for rule, amount, kind in ((1, 26_081_97, ":not(.whole)"), (0, 104_327_87, ".whole")):
                meter.win(amount, rule=rule, seats=(5, 2))
                await expect(page.locator(f".sign.won{kind}")).to_have_count(1)
                assert (await page.evaluate(BEYOND, ".band"))[0] <= 0
            await expect(shares).to_have_text(["Seat 2 $52,163.94", "Seat 5 $52,163.93"])
            meter.win(30_00, rule=3, seats=(7,))
            await expect(shares).to_have_count(0)

        await expect(page.locator(".sign.live")).to_have_count(0)
        await expect(page.locator(".odometer")).to_be_hidden()
        await expect(page.locator(".band")).to_be_hidden()
        _, above, below = await page.evaluate(BEYOND, ".not-live div")
        assert above < 0
        assert below < 0


async def test_a_sign_names_its_table_unless_others_share_the_meter_and_shows_no_id(page, broker):
    whose, place = page.locator("header .table-name"), page.locator(".last .won-at")
    async with display(broker) as address, publisher(broker) as out:
        alone, shared = Meter(), Meter(tables=("table-1", "vip-2"))
        shared.win(24_525_36, table="vip-2", seats=(2, 5))
        await page.goto(address + SIGN)
        await expect(page.locator(".sign")).to_be_visible()
        await expect(whose).to_have_text("")
        await expect(page.locator(".code")).to_have_attribute("data-table", "table-1")  # for staff
        async with dealt(out, PlayedTable(), alone):
            await expect(whose).to_have_text("Dragon Room 8")
            await expect(page.locator(".code[data-table]")).to_have_count(0)
        await out.send(TOPIC, shared.message())
        await expect(whose).to_have_text("Linked jackpot · 2 tables")
        await expect(place).to_have_text(
            "shared by seats 2 and 5"
        )  # a table of another display, whose name this one does not know


@pytest.mark.soak
async def test_each_table_of_a_meter_shows_the_same(page, broker):
    meter = Meter(tables=("table-1", "vip-2"))
    meter.win(40_00, rule=3)
    celebration = page.locator(".band")
    seen = set()
    async with display(broker, page={"tables": ["table-1", "vip-2"]}) as address, publisher(broker) as out:
        for table in ("table-1", "vip-2"):
            await page.goto(f"{address}tables/{table}/progressive")
            await page.wait_for_selector(".sign")
            await out.send(TOPIC, meter.message(), table)
            await expect(page.locator(".sign.live.won")).to_have_count(1)
            seen.add(
                (
                    await page.locator(".odometer").get_attribute("aria-label"),
                    await page.locator(".tiers").text_content(),
                    await celebration.text_content(),
                )
            )
        assert len(seen) == 1

        meter.ahead += timedelta(seconds=11)
        await out.send(TOPIC, meter.message(), "vip-2")
        await expect(celebration).to_be_hidden()


@pytest.mark.punctual
async def test_not_live_within_three_seconds_of_the_last_meter_whatever_the_table_does(page, broker):
    meter = Meter()
    not_live, code = page.locator(".sign .not-live"), page.locator(".code")
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(address + SIGN)
        await expect(code).to_have_text("Not live · 11")
        async with dealt(out, PlayedTable()):
            await expect(code).to_have_text("Not live · 17")

            await note_when_live(page, ".sign")
            await out.send(TOPIC, meter.message())
            await expect(not_live).to_be_hidden()
            await expect(not_live).to_be_visible()
            assert 2 < await live_seconds(page) < 3
            await expect(code).to_have_text("Not live · 16")

            meter.changes["phase"] = "retired"
            await out.send(TOPIC, meter.message())
            await expect(not_live).to_be_hidden()
            await expect(page.locator(".phase")).to_have_text("This progressive has ended")
            await expect(page.locator(".odometer")).to_be_hidden()

            await out.send(TOPIC, b"")
            await expect(code).to_have_text("Not live · 17")
            await expect(not_live).to_be_visible()


@pytest.mark.parametrize(
    ("language", "tier", "pays", "won", "silent"),
    [
        ("zh-Hant", "9 勝 0 · 2-3-4 全階磚", "連本 1000 倍", "中獎", "非即時 · 16"),
        ("zh-Hans", "9 胜 0 · 2-3-4 全方块", "连本 1000 倍", "中奖", "非即时 · 16"),
    ],
)
async def test_the_sign_speaks_the_language_that_its_address_names(
    page, broker, language, tier, pays, won, silent
):
    meter = Meter()
    meter.win(24_525_36)
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(f"{address}progressive?lang={language}")
        await send_until(page.locator(".sign.live"), out, TOPIC, meter.message)

        await expect(page.locator(".tiers div").first).to_have_text(f"{tier}$98,101.46")
        await expect(page.locator(".tiers div").nth(2).locator("dd")).to_have_text(pays)
        await expect(page.locator(".band h2")).to_have_text(won)
        await expect(page.locator(".code")).to_have_text(silent)


@pytest.mark.soak
async def test_nothing_that_the_page_does_reaches_the_controller_and_nothing_in_a_message_is_markup(
    page, broker
):
    markup = "<img src=x onerror=\"document.title='broken in'\"><b>Dragon</b> & Co"
    meter = Meter(title=markup)
    meter.win(24_525_36)
    assert meter.award is not None
    meter.award = meter.award.model_copy(update={"rule": "own", "title": markup, "table": markup})
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))  # noqa: PLW0108  Playwright marks what it calls
    heard: Counter[str] = Counter()

    async def listen(client: aiomqtt.Client) -> None:
        async for message in client.messages:
            heard[str(message.topic)] += 1

    async with (
        aiomqtt.Client("127.0.0.1", broker.port) as spy,
        display(broker) as address,
        publisher(broker) as out,
    ):
        await spy.subscribe("#", qos=1)
        listening = asyncio.create_task(listen(spy))
        await page.goto(address + SIGN)
        await out.send(TOPIC, meter.message())
        await expect(page.locator(".band")).to_be_visible()
        for selector in (".title", ".band .won-hand"):
            await expect(page.locator(selector)).to_have_text(markup)
        await expect(page.locator(".band .won-at")).to_have_text(f"{markup} · Seat 3")
        await expect(page).to_have_title(markup)
        assert await page.locator(".sign :is(img, a, button, input, form, [tabindex])").count() == 0

        for key in ("Enter", "Space", "Tab", "Escape", "F2", "a"):
            await page.keyboard.press(key)
        for x, y in ((100, 60), (960, 300), (960, 800), (1700, 1000)):
            await page.mouse.click(x, y)
        await page.wait_for_timeout(300)
        listening.cancel()

        assert heard == {f"punto/table-1/{TOPIC}": 1}, "nobody has published but the table"
        paths = {request.url.removeprefix(address).partition("?")[0] for request in asked}
        assert {request.method for request in asked} == {"GET"}
        assert {path for path in paths if not path.startswith(("static/", "shared/"))} == {
            *(SIGN, "theme.css", "settings.json", "catalog/en.json", "events", "tables"),
        }, "it reads its own files and the stream"
        weight = 0
        for request in asked:
            if "/events" not in request.url and request.resource_type != "font":
                answer = await request.response()
                assert answer is not None
                weight += len(await answer.body())
        assert 10_000 < weight < HEAVIEST


async def test_the_whole_sign_fits_any_screen_in_the_houses_colours_and_axe_finds_no_fault(
    page, broker, tmp_path
):
    house = tmp_path / "house.toml"
    house.write_text('[names]\nen = "The Golden Crane"\n[colours]\ntext = "#fffdf4"\n', encoding="utf-8")
    table = PlayedTable(name="The Emperor's Private Gaming Salon, Upper Level")
    meter = Meter(1_234_567_89, title="The Golden Crane's Own Dragon Bonus Progressive")
    usual = {"won": False, "whole": False}
    async with (
        display(broker, page={"house": house}) as address,
        publisher(broker) as out,
        dealt(out, table, meter),
    ):
        for theme in ("lacquer", "jade"):
            await page.goto(f"{address}{SIGN}?theme={theme}")
            await expect(page.locator(".sign")).to_have_class(re.compile(r"\blive\b"))
            await expect(page.locator(".logo")).to_have_text("The Golden Crane")
            for case in (usual, {"won": True, "whole": False}, {"won": True, "whole": True}):
                ago = timedelta(seconds=0 if case["won"] else 7200)
                meter.win(1_234_567_89, rule=0 if case["whole"] else 1, seats=(1, 2, 3, 5, 6, 7), ago=ago)
                for name, so in case.items():
                    await expect(page.locator(f".sign.{name}")).to_have_count(int(so))
                await expect(page.locator(".won-amount").first).to_have_text("$1,234,567.89")
                if theme == "jade" or case["whole"] == case["won"]:
                    assert await faults_of(page) == [], (theme, case)
                if theme == "lacquer":
                    for width, height in (
                        *((1280, 720), (1024, 768), (3840, 2160), (2560, 1080), (768, 1024), (2160, 3840)),
                        (1920, 1080),
                    ):
                        await page.set_viewport_size({"width": width, "height": height})
                        assert await page.evaluate(OUT_OF_PLACE) == [], (width, height, case)
        await expect(page.locator("body")).to_have_css("color", "rgb(255, 253, 244)")


@pytest.mark.soak
async def test_a_sign_at_rest_is_dimmed_until_the_meter_moves(page, broker):
    meter = Meter()
    await page.clock.install()
    async with display(broker) as address, publisher(broker) as out:
        await page.goto(address + SIGN)
        await page.wait_for_selector(".sign")
        await out.send(TOPIC, meter.message())
        await expect(page.locator(".odometer")).to_have_attribute("aria-label", "$98,101.46")
        await page.clock.fast_forward(600_000)
        await expect(page.locator("main")).to_have_class("idle")
        await expect(page.locator(".sign")).to_have_class("sign shown")
        while (
            await page.locator(".sign").get_attribute("class") != "sign shown live"
        ):  # for as long as one message lasts
            await out.send(TOPIC, meter.message())
            await asyncio.sleep(0.1)
        await expect(page.locator("main")).to_have_class("idle")

        meter.meter += 20
        await out.send(TOPIC, meter.message())
        await expect(page.locator("main")).not_to_have_class("idle")
