"""`punto demo --attended`, `--deal` and `--tables`: somebody else deals, certain hands, and several tables."""

import asyncio
import json
import re
import signal
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from punto.baccarat.coup import Coup
from punto.commands.demo.configuration import port_for, write_config
from punto.commands.demo.options import TableOptions, tables_like
from punto.commands.demo.table import hands_named
from punto.configs.game_files import load_game, shipped_games
from punto.controller.config.file import ServiceConfig
from punto.controller.journal.audit import audit
from punto.controller.journal.recovery import replay
from punto.runtime.broker_login import BrokerConfig
from punto.simulators.shoe.scenario import scenario_names
from tests.command import punto
from tests.commands.demo.demos import UNHURRIED, consoles_of, demo, opened, played, rounds_of
from tests.consoles.consoles import Browser
from tests.consoles.pages.parts import console_of
from tests.controller.table_in_this_process import rows
from tests.deadline import DEADLINE
from tests.ports import free_ports

HOUSE = {"demo-executive", "demo-second"}
"""They put the meter into service, and press nothing else."""


def people(record: Path) -> set[str]:
    """Whose input is on the record, and as what."""
    events = [json.loads(payload) for (payload,) in rows(record, "SELECT payload FROM inputs")]
    return {str(event["who"]) for event in events if event.get("who")} - HOUSE


async def until(browser: Browser, *phases: str) -> None:
    while (await browser.view())["state"]["phase"] not in phases:  # noqa: ASYNC110 - it is another process
        await asyncio.sleep(0.02)


async def twice(page: Page, button: str) -> None:
    """Press an order that cannot be undone, and again when it says so."""
    await page.locator(button).click()
    await expect(page.locator(button)).to_have_class(re.compile("armed"))
    await asyncio.sleep(0.4)  # the halves of a double tap count once
    await page.locator(button).click()


# --- somebody else deals


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.soak
async def test_a_dealer_practises_the_award_of_the_whole_meter_at_the_pages(browser, tmp_path):
    arguments = (*UNHURRIED, "--attended", "--game", "progressive", "--deal", "jackpot", "--dir", tmp_path)
    with demo(*arguments) as process:
        said = await asyncio.to_thread(opened, process)
        ((port, password),) = consoles_of(said)
        async with console_of(browser) as page:
            await page.goto(f"http://127.0.0.1:{port}")
            await page.get_by_label("Name").fill("trainee")
            await page.get_by_label("Password").fill(password)
            await page.keyboard.press("Enter")
            await expect(page.locator("#notice")).to_contain_text("Practice: you are dealer and supervisor")
            await page.get_by_role("button", name="Change the shoe").click()
            await page.get_by_role("dialog").get_by_role("button", name="Change the shoe").click()
            await page.get_by_role("link", name="Dealer").click()
            await expect(page.locator("#headline")).to_have_text("Place your wagers")
            await expect(page.locator(".hand-button.lit")).not_to_have_count(0)
            await twice(page, "#game-order")
            await twice(page, "#main-order")
            await expect(page.locator("#headline")).to_contain_text("100% of the meter")
            for winner in await page.locator(".hand-button.won").all():
                await winner.click()
            await expect(page.locator("#headline")).to_contain_text("presses J-POT")
            await page.get_by_role("button", name="J-POT").click()
            await page.get_by_role("dialog").get_by_role("button", name="J-POT").click()
            await expect(page.locator("#headline")).to_contain_text("Pay seat")
            await twice(page, "#game-order")
            await expect(page.locator("#main-order")).to_contain_text("Open betting")
        process.send_signal(signal.SIGINT)
        _, noise = await asyncio.to_thread(process.communicate)
    record = tmp_path / "table.db"

    assert (process.returncode, noise) == (0, "")
    assert people(record) == {"trainee"}
    assert rows(record, "SELECT DISTINCT tier FROM postings WHERE cause = 'award'") == [
        ("two_three_four_diamonds",)
    ]
    assert audit(record).difference is None


@pytest.mark.soak
async def test_nothing_is_dealt_before_somebody_comes_and_then_the_hand_that_was_asked_for(tmp_path):
    with demo("--attended", "--deal", "9S 4H TD 3C", "--dir", tmp_path) as process:
        ((port, password),) = consoles_of(opened(process))
        browser = Browser(port)
        await browser.sign_on("trainee", password)
        assert (await browser.view())["state"]["phase"] == "closed"
        assert (await browser.order("change_shoe")).status == 200
        for hand in (1, 2):
            await until(browser, "betting", "settled")
            if hand == 2:
                assert (await browser.order("open_betting")).status == 200
            assert (await browser.order("close_betting")).status == 200
            await until(browser, "settled")
            last = (await browser.view())["last"]["round"]
            assert (last["player"], last["banker"]) == (["9S", "TD"], ["4H", "3C"])
            assert process.stdout is not None
            assert rounds_of(await asyncio.to_thread(process.stdout.readline))
        process.send_signal(signal.SIGINT)
        said, noise = process.communicate(timeout=DEADLINE)

    assert (process.returncode, noise) == (0, "")
    assert not rounds_of(said)
    assert people(tmp_path / "table.db") == {"trainee"}
    assert replay(tmp_path / "table.db").difference is None


@pytest.mark.soak
async def test_who_attends_to_a_table_without_a_shoe_keys_its_cards(tmp_path):
    with demo("--attended", "--game", "dai-bacc", "--dir", tmp_path) as process:
        ((port, password),) = consoles_of(opened(process))
        browser = Browser(port)
        session = await browser.sign_on("trainee", password)
        assert session.json["notice"].endswith("Key each card that you deal.")
        await browser.order("change_shoe")
        assert (await browser.order("key_card", card="AS")).status == 200  # it burns one, which nobody keys
        await browser.order("open_betting")
        await browser.order("close_betting")
        for card in ("9S", "4H", "TD", "3C"):
            assert (await browser.order("key_card", card=card)).status == 200
        assert (await browser.order("reveal")).status == 200
        assert process.stdout is not None
        said = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=DEADLINE)

    assert "Player 9S TD = 9, Banker 4H 3C = 7" in said


# --- certain hands


def test_each_hand_that_is_asked_for_takes_its_turn():
    ran = played("--rounds", "5", "--deal", "9S 4H TD 3C", "--deal", "2H JC 3H KS 4D TH")
    hands = [
        re.findall(r"Player ([^=]+) = \d, Banker ([^=]+) = \d", line)[0] for line in rounds_of(ran.stdout)
    ]

    assert hands == [("9S TD", "4H 3C"), ("2H 3H 4D", "JC KS TH")] * 2 + [("9S TD", "4H 3C")]


@pytest.mark.parametrize("name", [name for name in shipped_games() if name in scenario_names()])
def test_a_jackpot_wins_the_whole_meter_of_each_shipped_progressive(name):
    game = load_game(name)
    (wager,) = (each for each in game.wagers if each.progressive is not None)
    (jackpot,) = hands_named("jackpot", game)
    rule = wager.deciding_rule(Coup(jackpot))

    assert rule is not None
    assert rule.pays == "100% of the meter"
    assert jackpot in hands_named("awards", game)
    assert len(hands_named("awards", game)) > 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--deal", "jackpott"], "write jackpot, awards, or a whole hand in the order of dealing, such as '9S 4H TD 3C'"),
        (["--deal", "9S 4H TD"], "write jackpot, awards, or a whole hand in the order of dealing"),
        (["--deal", "9S 4H TD 3C 2D"], "write jackpot, awards, or a whole hand in the order of dealing"),
        (["--deal", "jackpot"], "--deal jackpot: Mini Baccarat, Dragon Bonus 1 has no such hand: write the cards of the hand, or add --game progressive"),
        (["--deal", "9S 4H TD 3C", "--game", "dai-bacc"], "are keyed: key the hand"),
        *((["--tables", tables], f"must be a whole number from 1 to 8, not '{tables}'") for tables in ("0", "9", "two")),
    ],
)  # fmt: skip
def test_what_cannot_be_dealt_is_reported(arguments, told):
    ran = punto("demo", *arguments)

    assert ran.returncode == 2
    assert told in ran.stderr


# --- several tables


def fetched(address: str) -> str:
    with urllib.request.urlopen(address, timeout=DEADLINE) as answer:  # noqa: S310 - the demo's own
        text: str = answer.read().decode()
    return text


async def test_two_tables_have_one_display_and_consoles_each(tmp_path):
    with demo("--tables", "2", "--attended", "--dir", tmp_path) as process:
        said = opened(process)
        wall = re.findall(r"all tables +(\S+)/wall\n", said)[0]
        assert [each["id"] for each in json.loads(fetched(f"{wall}/tables"))] == ["demo-1", "demo-2"]
        names = set()
        for port, password in consoles_of(said):
            browser = Browser(port)
            await browser.sign_on("trainee", password)
            names.add((await browser.view())["state"]["name"])
        process.send_signal(signal.SIGINT)
        _, noise = process.communicate(timeout=DEADLINE)

    assert (process.returncode, noise) == (0, "")
    assert names == {"Punto Demo 1 · SIMULATION", "Punto Demo 2 · SIMULATION"}


def test_the_tables_have_consoles_one_port_after_the_other(tmp_path):
    ports = free_ports(3)
    one = a_table(tmp_path, ports)
    found = [
        write_config(each, tmp_path / "operators.db") for each in tables_like(one, ["mini-baccarat"] * 3)
    ]

    assert [console_port(each) for each in found] == [ports, ports + 1, ports + 2]
    assert [each.folder for each in found] == [tmp_path / f"demo-{number}" for number in (1, 2, 3)]
    last = tables_like(replace(one, console=65535), ["mini-baccarat"] * 2)[-1]
    assert 0 < console_port(write_config(last, tmp_path / "operators.db")) <= 65535


def test_no_two_parts_of_a_demo_get_the_same_free_port():
    assert len({port_for(0) for _ in range(500)}) == 500


def a_table(folder: Path, console: int) -> TableOptions:
    return TableOptions(
        table="demo",
        folder=folder,
        console=console,
        broker=BrokerConfig(),
        game="mini-baccarat",
        seed=1,
        pace=0,
        between=0,
    )


def console_port(config: ServiceConfig) -> int:
    assert config.console is not None
    return config.console.port


def test_each_table_has_a_meter_of_its_own(tmp_path):
    one = replace(a_table(tmp_path, 0), game="progressive-2")
    found = [write_config(each, tmp_path / "o.db") for each in tables_like(one, [one.game] * 2)]

    assert [config.progressive and config.progressive.id for config in found] == ["dragon-1", "dragon-2"]
