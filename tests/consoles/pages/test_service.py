"""The pages and the real programs: `punto run` with a shoe that deals, hung, gone on, killed and started again."""

import asyncio
import signal
import subprocess
import sys
from time import time

import pytest
from playwright.async_api import expect

from punto.runtime.pace import AT_ONCE, Pace, pages_of
from tests.consoles.pages.parts import NOTE_CHANGES, PASSWORD, at_work, console_of
from tests.controller.table_on_a_machine import HERE, Shoe, Table, wait_until
from tests.ports import free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.punctual
@pytest.mark.soak
async def test_not_live_within_three_seconds_of_a_hang_or_a_kill_and_live_again_after_it(browser, tmp_path):
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    accounts = tmp_path / "operators.db"
    table = Table(tmp_path, None, sections=f"[console]\nport = {port}\n")
    subprocess.run(  # noqa: ASYNC221 - nothing else runs yet
        [
            sys.executable,
            "-m",
            "punto",
            "operators",
            "--accounts",
            accounts,
            "add",
            "mei",
            "--role",
            "dealer",
        ],
        input=f"{PASSWORD}\n",
        text=True,
        check=True,
        cwd=HERE,
    )
    with table, Shoe(table.port, "--seed", "7") as shoe:
        assert shoe.running
        async with console_of(browser) as page:
            for ending in (signal.SIGSTOP, signal.SIGKILL):
                await page.goto(address)
                await page.get_by_label("Name").fill("mei")
                await page.get_by_label("Password").fill(PASSWORD)
                await expect(page.locator("#go")).to_be_enabled()
                await page.keyboard.press("Enter")
                await page.wait_for_selector("body.live")
                assert page.url == f"{address}/dealer"
                if ending is signal.SIGSTOP:
                    await asyncio.to_thread(table.begin_shoe)
                    await expect(page.locator("#hand-strip button").nth(1)).to_be_visible()

                await page.evaluate(NOTE_CHANGES)
                began = time()
                table.process.send_signal(ending)
                await page.wait_for_selector("body:not(.live)")
                assert await page.evaluate("changed") - began < 3

                if ending is signal.SIGSTOP:
                    table.process.send_signal(signal.SIGCONT)
                    await page.wait_for_selector("body.live")
                    await page.get_by_role("button", name="Sign off").click()
                    await page.wait_for_url(f"{address}/#signed-off")
                else:
                    await asyncio.to_thread(wait_until, lambda: not table.running, "the kill is done")
                    await asyncio.to_thread(table.start)
                    # Sessions are not kept over a start: whoever was signed on signs on again.
                    await page.wait_for_url(f"{address}/#ended")


@pytest.mark.soak
async def test_pages_in_normal_use_never_ask_too_often(page, here):
    """As often as eight tabs that are loaded at once, with no time to refill the bucket."""
    pace = here.table.engine.pace = Pace(per_second=0, clock=lambda: 0.0)
    await at_work(page, here, "omar")
    for path in ("supervisor", "dealer", "game-manager", "supervisor") * 2:
        await page.goto(f"{here.address}/{path}")
        await page.wait_for_load_state("networkidle" if path == "game-manager" else "load")
        if path != "game-manager":
            await page.wait_for_selector("body.live")

    assert 0 < pace._clients[pages_of("omar")].bucket._tokens < AT_ONCE
    assert pace.refused(pages_of("omar")) == 0
