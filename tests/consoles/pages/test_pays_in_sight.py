"""Whoever is paid, and whoever gives money back, is in sight on the dealer's page: at every size, without scrolling."""

import json
from copy import deepcopy
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from punto.baccarat.table.possible import Trials
from punto.consoles.view import view_of
from punto.controller.accounts.roles import Role
from punto.controller.orders.doors import Peer
from tests.baccarat.table.croupier import Croupier
from tests.consoles.pages.parts import FED, at_work, console_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOW = datetime(2026, 3, 14, 21, 5, 9, tzinfo=UTC)
SEVEN_TO_SIX = "KS KH 7D 6C"
SUITED = "2H KC 3H JC 4H KD"  # Player wins by 9 over 0: a quarter of the meter
WAGERS = (
    ("player", "Player", "Player", 250_000),
    ("dragon_bonus_player", "Dragon Bonus Player", "DB Player", 100_000),
    ("tie", "Tie", "Tie", 100_000),
    ("player_pair", "Player Pair", "P Pair", 2500),
    ("dragon_bonus_banker", "Dragon Bonus Banker", "DB Banker", 5000),
)
OUTCOMES = ("win", "win", "lose", "win", "lose")
SCREENS = ((1280, 800), (1024, 768), (1920, 1080), (768, 1024))
BANNER = "The message broker is offline: displays do not follow the table. Play continues, and every hand is recorded."

# Feeds each view, and finds the seats of which something cannot be seen: it is out of the window, cut off, or covered.
UNSEEN = """
json => JSON.parse(json).flatMap(({ name, view, seats, lost }) => {
  feed(view);
  const within = (part, of) =>
    part.left > of.left - 1 && part.right < of.right + 1 && part.top > of.top - 1 && part.bottom < of.bottom + 1;
  const seen = line => {
    if (line === null) return false;
    const own = line.getBoundingClientRect();
    if (own.height < 1 || !within(own, { left: 0, top: 0, right: innerWidth, bottom: innerHeight })) return false;
    for (let box = line.parentElement; box !== document.body; box = box.parentElement)
      if (getComputedStyle(box).overflow !== "visible" && !within(own, box.getBoundingClientRect())) return false;
    return [...line.querySelectorAll("h3, li, p")].filter(part => part.textContent).every(part => {
      const box = part.getBoundingClientRect();
      const met = y => line.contains(document.elementFromPoint(box.left + 1, y));
      return within(box, own) && met(box.top + 2) && met(box.bottom - 2);
    });
  };
  const unseen = seats.filter(seat => !seen(document.querySelector(`article[data-seat="${seat}"]`)));
  const taken = seat => document.querySelector(`#take [data-seat="${seat}"]`);
  const untaken = lost === "" ? [] : seats.filter(seat => !(seen(taken(seat)) && taken(seat).textContent.startsWith(`${seat} ${lost}`)));
  return unseen.length + untaken.length === 0 ? [] : [`${name}: seats ${unseen}, to take ${untaken}`];
})
"""


def dealt(cards: str, *then: str, **changes: Any) -> dict[str, Any]:
    """The view of a hand of these cards, in which seat 2 has wagers."""
    own = {"game_name": "progressive-2", "meter": {}, "seats": 9, "next_coup": "order"} | changes
    croupier = Croupier.at_betting("wager 2 player 500", **own)
    if own["meter"] is not None:
        croupier.do("meter", "spot 2", "start game")
    croupier.do(f"draw {cards}", *then)
    view = view_of(Trials(croupier.state), 1, NOW, Peer("mei", (Role.DEALER,)), 71.0)
    found: dict[str, Any] = json.loads(view.model_dump_json())
    return found


def pays(seat: int, *, differ: bool) -> dict[str, Any]:
    """What is due to a seat with five wagers: it is paid; or else differences, of which every second seat gives back."""
    sign = -1 if differ and seat % 2 else 1
    due: list[dict[str, Any]] = [
        {
            "wager": name,
            "title": title,
            "short": short,
            "stake": 0 if differ else amount,
            "outcome": "win" if differ else outcome,
            "pay": sign * amount if differ or outcome == "win" else 0,
            "marked": 0,
            "stake_stays": not differ,
        }
        for (name, title, short, amount), outcome in zip(WAGERS, OUTCOMES, strict=True)
    ]
    total = sum(each["pay"] for each in due)
    return {"seat": seat, "staked": 0, "returned": 0, "net": total, "pay": total, "due": due, "wagers": []}


def case(seats: int, *, award: bool, corrected: bool, banner: bool) -> dict[str, Any]:
    """A view in which this many seats are paid, or give back."""
    view = deepcopy(SETTLED[award])
    last = view["last"]
    last["seats"] = [pays(seat, differ=False) for seat in range(1, seats + 1)]
    if corrected:
        entry = {
            "status": "correction",
            "corrects": 1,
            "who": "omar",
            "approved_by": "ana",
            "reason": "Misread",
        }
        last["correction"] = last["round"] | entry
        last["differences"] = [pays(seat, differ=True) for seat in range(1, seats + 1)]
        if not award:
            view["prompt"] |= {
                "code": "pay_difference",
                "text": "Pay and take back the differences, then open betting",
            }
    if banner:
        view["devices"][0]["warning"] = BANNER
    name = f"{seats} seats{', award' * award}{', corrected' * corrected}{', banner' * banner}"
    lost = "" if corrected else "Tie $1,000, DB Banker $50"
    return {"name": name, "view": view, "seats": [*range(1, seats + 1)], "lost": lost}


SETTLED = {False: dealt(SEVEN_TO_SIX), True: dealt(SUITED, "hand 2")}
CASES = [
    case(seats, award=award, corrected=corrected, banner=banner)
    for seats in range(1, 10)
    for award, corrected, banner in product((False, True), repeat=3)
]
AS_JSON = json.dumps(CASES)


async def test_every_seat_that_is_paid_or_gives_back_and_every_chip_to_take_is_whole_in_sight(browser, here):
    async with console_of(browser) as page:
        await page.add_init_script(FED)
        await at_work(page, here, "mei")
        unseen = {}
        for width, height in SCREENS:
            await page.set_viewport_size({"width": width, "height": height})
            unseen[f"{width}x{height}"] = await page.evaluate(UNSEEN, AS_JSON)

        assert unseen == {f"{width}x{height}": [] for width, height in SCREENS}


# What moves on the page while it shows one view after the other, as the browser itself counts it.
MOVED = """
async views => {
  const frames = async () => { for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame); };
  feed(views[0]);
  await frames();
  const seen = [];
  const observer = new PerformanceObserver(list => seen.push(...list.getEntries()));
  observer.observe({ type: "layout-shift" });
  for (const view of views.slice(1)) {
    feed(view);
    await frames();
  }
  await new Promise(done => setTimeout(done));
  seen.push(...observer.takeRecords());
  return seen.flatMap(({ value, sources }) => [value, ...sources.map(({ node }) => node?.id || node?.className || node?.nodeName)]);
}
"""


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1024, 768), (1920, 1080)])
async def test_nothing_moves_when_a_hand_is_settled(browser, here, width, height):
    plain = {"game_name": "dragon-bonus-1", "meter": None}
    before = SUITED.rpartition(" ")[0]
    async with console_of(browser, width, height) as page:
        await page.add_init_script(FED)
        await at_work(page, here, "mei")
        moved = await page.evaluate(MOVED, [dealt(before), dealt(SUITED), dealt(SUITED, "hand 2")])
        plainly = await page.evaluate(MOVED, [dealt(before, **plain), dealt(SUITED, **plain)])

        assert (moved, plainly) == ([], [])


# Where the page builds nodes or writes texts when it shows the second view after the first.
BUILT = """
views => {
  feed(views[0]);
  const observer = new MutationObserver(() => undefined);
  observer.observe(document.body, { childList: true, characterData: true, subtree: true });
  feed(views[1]);
  return observer.takeRecords().map(({ target }) => target.closest("[id]").id);
}
"""


async def test_a_view_with_nothing_new_builds_nothing(browser, here):
    settled = case(9, award=True, corrected=False, banner=True)["view"]
    async with console_of(browser) as page:
        await page.add_init_script(FED)
        await at_work(page, here, "mei")

        assert await page.evaluate(BUILT, [settled, settled]) == []


# What stands out of the window at its side, or of the line that it is in.
CUT_OFF = """
[...document.querySelectorAll("#keying button, #due-list li, #due-list p, #award")].filter(each => each.checkVisibility())
  .filter(each => {
    const own = each.getBoundingClientRect();
    const around = (each.closest("article") ?? document.querySelector("#now")).getBoundingClientRect();
    const beside = each.matches("li") && own.right > each.closest("article").querySelector("p").getBoundingClientRect().left + 1;
    const out = each.matches("li, p, #award") && (own.bottom > around.bottom + 1 || own.top < around.top - 1);
    return own.right > innerWidth || beside || out;
  }).map(each => each.textContent)
"""


async def test_a_phone_cuts_off_no_key_and_no_pay(browser, here):
    async with console_of(browser, 390, 844, touch=True) as page:
        await page.add_init_script(FED)
        await at_work(page, here, "mei")
        for view in (
            dealt("KS 2S 5H", "unread"),
            case(4, award=True, corrected=False, banner=False)["view"],
            case(9, award=True, corrected=True, banner=True)["view"],
        ):
            await page.evaluate("view => feed(view)", view)

            assert await page.evaluate(CUT_OFF) == []
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


# What a finger would miss, which seats cannot be seen, and which titles are cut.
NARROW = """
least => [...document.querySelectorAll("main button")].filter(each => each.checkVisibility())
  .map(each => [each.textContent, each.getBoundingClientRect()])
  .filter(([, box]) => box.width < least || box.height < 48).map(([name, box]) => `${name} ${box.width} x ${box.height}`)
"""
CUT_SEATS = """
[...document.querySelectorAll("#seat-list .seat")].filter(each =>
  each.getBoundingClientRect().bottom > each.closest("section").getBoundingClientRect().bottom).map(each => each.textContent)
"""
CUT_TITLES = """
[...document.querySelectorAll("#table-name, #game, #progressive-title, #meter-facts")]
  .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent)
"""


@pytest.mark.parametrize(
    ("width", "height", "least"),
    [(1280, 800, 48), (1024, 768, 44), (1920, 1080, 48), (768, 1024, 48), (390, 844, 48)],
)
async def test_nine_seats_have_buttons_for_a_finger_and_whole_titles(browser, here, width, height, least):
    await here.load()
    await here.table.play(5, seats=[1])
    croupier = Croupier.at_betting(
        *(f"wager {seat} player {1000 * seat}" for seat in range(1, 10)),
        *("meter", "spot 2"),
        game_name="progressive-2",
        meter={},
        seats=9,
        next_coup="order",
    )
    view = json.loads(
        view_of(Trials(croupier.state), 1, NOW, Peer("mei", (Role.DEALER,)), 71.0).model_dump_json()
    )
    view["state"] |= {"game": "Commission-free Baccarat with two side wagers", "game_titles": {}}
    async with console_of(browser, width, height, touch=width == 390) as page:
        await page.add_init_script(FED)
        await at_work(page, here, "mei")
        await page.evaluate("view => feed(view)", view)

        assert await page.locator(".hand-button").count() == 9
        assert await page.evaluate(NARROW, least) == []
        assert await page.evaluate(CUT_SEATS) == []
        assert await page.evaluate(CUT_TITLES) == []
