"""Coming in and going out, as people do it at a console."""

import asyncio
from contextlib import asynccontextmanager
from urllib.parse import quote

import pytest
from playwright.async_api import expect

from punto.baccarat.table.state import Phase
from punto.controller.accounts.roles import Role
from tests.consoles.pages.parts import (
    PASSWORD,
    PLAYER_NATURAL,
    consoles,
    house,
    open_part,
    sign_on,
    signed_on,
)
from tests.share import soaked

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.soak
async def test_a_dealer_who_signs_on_unlocks_the_table_and_has_the_dealers_page(page, here):
    assert here.phase() is Phase.LOCKED

    await signed_on(page, here, "mei")

    assert page.url == f"{here.address}/dealer"
    await expect(page.locator("#you")).to_have_text("mei, dealer")
    assert (here.phase(), here.table.state.operator) == (Phase.CLOSED, "mei")


@pytest.mark.parametrize("name", ["omar", *soaked("tove", "ike")])
@pytest.mark.soak
async def test_everybody_else_has_the_supervisors_page(page, here, name):
    await signed_on(page, here, name)

    assert page.url == f"{here.address}/supervisor"


@pytest.mark.parametrize("simulation", [True, False])
async def test_the_page_names_the_table_and_says_whether_it_is_a_simulation(browser, tmp_path, simulation):
    async with consoles(tmp_path, house(simulation=simulation)) as own:
        page = await browser.new_page()
        await page.goto(own.address)

        name = "Baccarat 1 · SIMULATION" if simulation else "Baccarat 1"
        await expect(page.locator("#table-name")).to_have_text(name)
        await page.close()


async def test_a_wrong_password_is_refused_with_its_reason_and_asked_for_again(page, here):
    await sign_on(page, here, "mei", "not the password")

    await expect(page.get_by_role("alert")).to_contain_text("The name or the password is wrong")
    await expect(page.get_by_label("Password")).to_be_focused()
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press("Enter")
    await page.wait_for_selector("body.live")


@pytest.mark.soak
async def test_an_account_that_is_locked_out_is_told_so_and_supervisors_have_an_alarm(page, here, browser):
    for _ in range(5):
        await sign_on(page, here, "mei", "not the password")
        await expect(page.get_by_role("alert")).not_to_be_empty()
    await sign_on(page, here, "mei")

    await expect(page.get_by_role("alert")).to_contain_text("Locked out after too many wrong passwords")
    other = await browser.new_page()
    await signed_on(other, here, "omar")
    await expect(other.locator("#trouble-list")).to_contain_text("account is locked out")
    await other.close()


async def signs_on_here(page, name):
    """Sign on at the page that is there, and wait until one has come to another."""
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Password").fill(PASSWORD)
    await expect(page.locator("#go")).to_be_enabled()
    await page.keyboard.press("Enter")
    await page.wait_for_selector("body.live")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/supervisor#hands/1", "omar"),
        *soaked(
            ("/dealer", "mei"),
            ("/dealer", "omar"),
            ("/supervisor", "tove"),
            ("/game-manager", "omar"),
            ("/game-manager#reconcile", "ike"),
        ),
    ],
)
async def test_a_page_without_a_session_goes_to_the_sign_on_page_and_who_signs_on_to_that_page(
    page, here, path, name
):
    await page.goto(here.address + path)

    await page.wait_for_url(f"{here.address}/?to=*")
    await expect(page.get_by_label("Name")).to_be_focused()
    await signs_on_here(page, name)
    assert page.url == here.address + path


@pytest.mark.parametrize(
    "to",
    [
        "//example.com/supervisor",
        *soaked(
            "/supervisor/../elsewhere",
            "javascript:alert(1)",
            "https://example.com/",
            "/\\example.com",
            "/supervisor@example.com",
            "/dealer\n",
            "/api/session",
            "",
        ),
    ],
)
async def test_after_signing_on_nobody_is_sent_elsewhere_than_to_the_consoles_own_pages(page, here, to):
    await page.goto(f"{here.address}/?to={quote(to, safe='')}")
    await signs_on_here(page, "omar")

    assert page.url == f"{here.address}/supervisor"


@pytest.mark.parametrize(
    ("name", "comes_to"), [("vera", "/game-manager"), *soaked(("mei", "/dealer"), ("tove", "/supervisor"))]
)
@pytest.mark.soak
async def test_who_may_not_have_the_page_that_was_asked_for_has_their_own(page, here, name, comes_to):
    if name == "vera":
        accounts = here.account()
        accounts.add(name, (Role.EXECUTIVE,), PASSWORD, "2026-01-01T00:00:00.000000+00:00")
        accounts.close()
    await page.goto(f"{here.address}/game-manager")
    await page.wait_for_url(f"{here.address}/?to=*")
    await signs_on_here(page, name)

    await page.wait_for_url(f"{here.address}{comes_to}")


@pytest.mark.soak
async def test_whoever_is_signed_on_already_need_not_sign_on_again(page, here):
    await signed_on(page, here, "mei")

    await page.goto(here.address)

    await page.wait_for_url(f"{here.address}/dealer")


async def gives_an_order(page, here):
    """Call a supervisor at this page, which the table has on its record."""
    before = here.table.journal.last_seq
    answer = await page.evaluate(
        "import('/static/service.js').then(({ ask }) => ask('POST', '/api/orders', {order: 'call_supervisor', reason: 'x'}))"
    )
    assert (answer["status"], here.table.journal.last_seq > before) == (200, True)


@pytest.mark.soak
async def test_a_page_that_is_loaded_again_stays_signed_on_and_gives_orders(page, here):
    await signed_on(page, here, "mei")

    await page.reload()
    await page.wait_for_selector("body.live")
    await gives_an_order(page, here)


async def test_another_tab_has_the_session_from_one_that_is_open(page, here):
    await signed_on(page, here, "omar")
    another = await page.context.new_page()

    await another.goto(f"{here.address}/supervisor")
    await another.wait_for_selector("body.live")
    await page.close()
    await another.reload()
    await another.wait_for_selector("body.live")
    await gives_an_order(another, here)


@pytest.mark.soak
async def test_a_tab_that_no_open_page_tells_the_token_has_its_user_sign_on(page, here):
    await signed_on(page, here, "omar")
    another = await page.context.new_page()
    await page.close()

    await another.goto(f"{here.address}/supervisor")
    await another.wait_for_url(f"{here.address}/?to=*")
    await signs_on_here(another, "omar")
    await gives_an_order(another, here)


@pytest.mark.soak
async def test_a_tab_with_the_token_of_an_earlier_session_has_that_of_the_one_that_is_open(page, here):
    await signed_on(page, here, "omar")
    another = await page.context.new_page()
    await another.goto(f"{here.address}/supervisor")
    await another.wait_for_selector("body.live")

    await another.evaluate("sessionStorage.setItem('csrf', 'of an earlier session')")
    await another.reload()
    await another.wait_for_selector("body.live")
    await gives_an_order(another, here)


async def test_a_page_whose_token_is_of_an_earlier_session_gives_no_order_and_has_its_user_sign_on(
    page, here
):
    await signed_on(page, here, "omar")
    before = here.table.journal.last_seq
    await page.evaluate("sessionStorage.clear()")

    await page.evaluate(
        "void import('/static/service.js').then(({ ask }) => "
        "ask('POST', '/api/orders', {order: 'call_supervisor', reason: 'x'}, { token: 'of an earlier session' }))"
    )

    await page.wait_for_url(f"{here.address}/?to=*#ended")
    await expect(page.get_by_label("Name")).to_be_focused()
    assert here.table.journal.last_seq == before


@pytest.mark.soak
async def test_a_page_of_another_port_learns_no_token(page, here):
    await signed_on(page, here, "omar")
    other = await page.context.new_page()
    async with other_port() as address:
        await other.goto(address)
        told = await other.evaluate(
            """async () => {
              const pages = new BroadcastChannel("punto session");
              const told = [...Object.values(sessionStorage)];
              pages.onmessage = ({ data }) => told.push(data);
              pages.postMessage("token wanted");
              await new Promise((go) => setTimeout(go, 1000));
              return told;
            }"""
        )

    assert told == []


@asynccontextmanager
async def other_port():
    """A page of nobody's, on this host."""

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()


async def test_a_session_that_ends_takes_the_page_back_to_the_sign_on_page(page, here):
    await signed_on(page, here, "mei")

    accounts = here.account()
    accounts.set_disabled("mei", disabled=True)
    accounts.close()

    await page.wait_for_url(f"{here.address}/#ended")
    await expect(page.locator("#why")).to_contain_text("Your session has ended")


@pytest.mark.soak
async def test_who_was_signed_off_at_the_supervisors_pages_comes_back_to_where_they_were(page, here):
    await page.clock.install()
    await signed_on(page, here, "omar")
    await open_part(page, "shift")

    await page.clock.fast_forward("15:05")

    await page.wait_for_url(f"{here.address}/?to=*#ended")
    await signs_on_here(page, "omar")
    assert page.url == f"{here.address}/supervisor#shift"


async def test_signing_off_ends_the_session_and_not_the_game(page, here):
    await signed_on(page, here, "mei")
    await here.load()

    await page.get_by_role("button", name="Sign off").click()

    await page.wait_for_url(f"{here.address}/#signed-off")
    assert here.phase() is Phase.BETTING
    await page.goto(f"{here.address}/dealer")
    await page.wait_for_url(f"{here.address}/?to=%2Fdealer")


@pytest.mark.soak
async def test_a_dealer_has_no_supervisors_page(page, here):
    await signed_on(page, here, "mei")

    await page.goto(f"{here.address}/supervisor")

    await page.wait_for_url(f"{here.address}/dealer")


@pytest.mark.soak
async def test_whoever_is_gone_is_signed_off_by_the_page_itself(page, here):
    await page.clock.install()
    await signed_on(page, here, "mei")

    await page.clock.fast_forward("15:05")

    await page.wait_for_url(f"{here.address}/#ended")
    await page.goto(f"{here.address}/dealer")
    await page.wait_for_url(f"{here.address}/?to=%2Fdealer")


@pytest.mark.parametrize(("name", "stays"), [("mei", True), ("omar", False)])
@pytest.mark.soak
async def test_dealing_is_the_dealers_work_and_watching_the_report_of_it_is_none(page, here, name, stays):
    await page.clock.install()
    await signed_on(page, here, name)
    await here.load()
    await (page.keyboard.press("F8") if stays else open_part(page, "shift"))
    await page.keyboard.press("Escape")
    await page.clock.fast_forward("14:30")
    await expect(page.locator("#idle")).to_be_visible()

    await here.draw(PLAYER_NATURAL)
    await expect(page.locator("#hand-number")).to_have_text("1")
    await page.clock.run_for(3000)

    assert await page.locator("#idle").is_hidden() is stays


async def test_who_is_inactive_is_warned_and_stays_by_touching_the_screen(page, here):
    await page.clock.install()
    await signed_on(page, here, "mei")
    await expect(page.locator("#idle")).to_be_hidden()

    await page.clock.fast_forward("14:30")

    await expect(page.locator("#idle")).to_contain_text("You will be signed off in")
    await page.mouse.click(5, 5)
    await expect(page.locator("#idle")).to_be_hidden()
