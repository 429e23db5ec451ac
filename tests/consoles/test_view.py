"""What a console shows: the prompt at every step of a hand, who may do what now, pays, and no card before its reveal."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.events import CardOverdrawn, LinkNoise, SetWager
from punto.baccarat.table.order_kinds import CallSupervisor, HoldPlay, OpenBetting, SignOn
from punto.baccarat.table.possible import Trials
from punto.baccarat.table.state import CommissionOwed
from punto.consoles.view import Moments, View, prompt_of, view_of
from punto.controller.accounts.roles import Role
from punto.controller.orders.doors import Equipment, Peer
from punto.drivers.base import LinkHealth
from tests.baccarat.table.croupier import BANKER_NATURAL, LONG, PLAYER_NATURAL, Croupier
from tests.consoles.consoles import Browser, Here, consoles
from tests.controller.table_in_this_process import eventually, rows, settings, table
from tests.deadline import DEADLINE
from tests.share import sampled

KEYED = {"cards": "keyed"}
A_METER = {"game_name": "progressive-2", "next_coup": "order"}
LAMMERS = {"commission": "shoe_end"}
OWING = ["open", "cut card", "wager 2 banker 1000", f"draw {BANKER_NATURAL}"]
MIDI = {"game_name": "midi-baccarat"}
NOW = datetime(2026, 3, 14, 21, 5, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("commands", "house", "code", "side", "count", "text"),
    [
        ([], {}, "locked", None, None, "The table is locked: sign on to open it"),
        (["sign on"], {}, "closed", None, None, "The table is closed"),
        (OWING, LAMMERS, "shoe_over", None, None, "This was the last coup of the shoe: collect the commission, then change the shoe"),
        ([*OWING, "close table"], LAMMERS, "closed", None, None, "The table is closed: collect the commission"),
        (["sign on", "change shoe"], {}, "shoe_offline", None, None, "Check the power and the cable of the shoe, or call a technician"),
        (["hello", "sign on", "change shoe"], {}, "load_shoe", None, None, "Load the shoe, then open betting"),
        (["hello", "sign on", "change shoe"], {"burn": "first_card"}, "turn_first_card", None, None, "Turn the first card of the shoe"),
        (["hello", "sign on", "change shoe", "lid open"], {"burn": "first_card"}, "load_shoe", None, None, "Load the shoe and close the lid"),
        (["hello", "sign on", "change shoe", "draw 3S"], {"burn": "first_card"}, "burn", None, 3, "Burn 3 cards"),
        (["hello", "sign on", "change shoe", "draw AS"], {"burn": "first_card"}, "burn", None, 1, "Burn 1 card"),
        (["sign on", "change shoe"], {**KEYED, "burn": "first_card"}, "turn_first_card", None, None, "Turn the first card of the shoe and key it"),
        (["sign on", "change shoe"], {**KEYED, "burn": "fixed"}, "burn", None, 3, "Burn 3 cards, then open betting"),
        (["open"], {}, "place_wagers", "player", None, "Place your wagers; the first card closes betting"),
        (["open"], {"betting_closes": "order"}, "place_wagers", "player", None, "Place your wagers; close betting when all are placed"),
        (["open", "no more bets"], {"betting_closes": "order"}, "draw", "player", None, "Draw a card for Player"),
        (["open", "draw KS"], {}, "draw", "banker", None, "Draw a card for Banker"),
        (["open", "draw KS 2S"], {}, "draw", "player", None, "Draw a card for Player"),
        (["open", "draw KS 2S 5S 3S"], {}, "draw", "player", None, "Draw a card for Player"),
        (["open", "draw KS 2S 5S 3S 4D"], {}, "draw", "banker", None, "Draw a card for Banker"),
        (
            ["open", "draw KS", "lose shoe"],
            {},
            "shoe_offline",
            "banker",
            None,
            "Key the cards that end this hand, or wait for the shoe",
        ),
        (["open", "draw KS", "unread"], {}, "key_card", "banker", None, None),
        (["open", "draw KS", "lid open"], {}, "stopped", None, None, None),
        (["open", "key KS"], KEYED, "key_card", "banker", None, "Deal a card for Banker and key it"),
        (["open", f"draw {PLAYER_NATURAL}"], {"next_coup": "order"}, "pay", None, None, None),
        (["open", f"draw {PLAYER_NATURAL}"], {}, "pay", None, None, "Pay the winning wagers, then take wagers"),
        (["open", f"draw {PLAYER_NATURAL}", "void round"], {}, "pay_difference", None, None, "Pay and take back the differences, then take wagers"),
        (["open", "draw KS", "void"], {}, "return_wagers", None, None, "Return all wagers, then take wagers"),
        (["open", f"draw {PLAYER_NATURAL}", "void round", "wager 2 player 500"], {}, "place_wagers", "player", None, None),
        (["open", f"draw {PLAYER_NATURAL}", "open"], {"next_coup": "order"}, "place_wagers", "player", None, None),
        (["open", f"draw {PLAYER_NATURAL}", "void round", "draw KS"], {}, "draw", "banker", None, None),
        (["open", "draw KS", "void"], {"next_coup": "order"}, "return_wagers", None, None, "Return all wagers, then open betting"),
        (
            ["open", f"draw {PLAYER_NATURAL}", "void round"],
            {"next_coup": "order"},
            "pay_difference",
            None,
            None,
            "Pay and take back the differences, then open betting",
        ),
        (
            ["open", f"draw {PLAYER_NATURAL}", "void round", "open", f"draw {PLAYER_NATURAL}"],
            {"next_coup": "order"},
            "pay",
            None,
            None,
            "Pay the winning wagers, then open betting",
        ),
        (["open", "draw KS 2S 5S 3S"], MIDI, "reveal", None, None, "Turn the cards; then reveal the hands"),
        (["open", "wager 3 banker 500", "draw KS 2S 5S 3S"], MIDI, "reveal", None, None, "Seat 3 turns the cards; then reveal the hands"),
        (
            ["open", "cut card", f"draw {PLAYER_NATURAL}"],
            {"coups_after_cut_card": 0},
            "shoe_over",
            None,
            None,
            "This was the last coup of the shoe: change the shoe",
        ),
    ],
)  # fmt: skip
def test_the_prompt_says_what_to_do_now(commands, house, code, side, count, text):
    croupier = Croupier(**house)
    if commands and commands[0] == "open":
        croupier.do("hello", "sign on", "change shoe")
    prompt = prompt_of(croupier.do(*commands).state)

    assert (prompt.code, prompt.side, prompt.count) == (code, side, count)
    assert text is None or prompt.text == text


@pytest.mark.parametrize(
    ("commands", "house", "position"),
    [
        ([], {"burn": "first_card"}, 0),
        (["draw 2S"], {"burn": "first_card"}, None),
        (["open"], {}, 1),
        (["open", "draw KS", "unread"], {}, 2),
        (["open", "key KS 2S 5S 3S"], KEYED, 5),
        (["open", "overdraw KS", "resume"], {"overdraw": "next_coup"}, 2),
        (["open", f"draw {LONG}"], MIDI, None),
        (["open", f"draw {PLAYER_NATURAL}"], {"next_coup": "order"}, None),
    ],
)
def test_the_prompt_says_which_card_is_next(commands, house, position):
    croupier = Croupier(**house).do("hello", "sign on", "change shoe", *commands)

    assert prompt_of(croupier.state).position == position


def shown(croupier: Croupier, *roles: Role) -> View:
    return view_of(Trials(croupier.state), 7, NOW, Peer("Mei", roles or (Role.SUPERVISOR,)), 61.5)


@pytest.mark.parametrize(
    ("commands", "role", "orders"),
    [
        ([], Role.DEALER, "sign_on"),
        (["sign on"], Role.DEALER, "sign_on"),
        (["sign on"], Role.SUPERVISOR, "sign_on sign_off change_shoe change_game"),
        (["open"], Role.DEALER, "sign_on close_betting"),
        (["open"], Role.SUPERVISOR, "sign_on change_shoe close_betting close_table"),
        (["open", "draw KS"], Role.SUPERVISOR, "sign_on void_coup correct_card"),
        (["open", "draw KS", "unread"], Role.DEALER, "sign_on key_card"),
        (["open", "draw KS", "lid open"], Role.TECHNICIAN, "resume_play"),
        (["open", f"draw {PLAYER_NATURAL}"], Role.SUPERVISOR, "sign_on change_shoe close_betting close_table correct_round void_round"),
        (["open", f"draw {PLAYER_NATURAL}", "void round"], Role.SUPERVISOR, "sign_on change_shoe close_betting close_table"),
        (["open", "noise"], Role.TECHNICIAN, "acknowledge_alarm"),
        (["open", "noise"], Role.AUDITOR, ""),
        (["open", "draw KS", "hello B"], Role.TECHNICIAN, "accept_shoe"),
    ],
)  # fmt: skip
def test_the_orders_are_those_that_have_something_to_be_about_now(commands, role, orders):
    croupier = Croupier()
    if commands and commands[0] == "open":
        croupier.do("hello", "sign on", "change shoe")
    view = shown(croupier.do(*commands), role)
    asked = {
        kind for kind, each in CATALOGUE.items() if each.group == "help"
    }  # by whoever deals, at any time
    may_ask = commands and role in {Role.DEALER, Role.SUPERVISOR}

    assert set(view.orders) == set(orders.split()) | (asked if may_ask else set())


@pytest.mark.parametrize(
    ("house", "commands", "awaited"),
    [
        ({"burn": "first_card"}, [], True),
        ({"burn": "first_card"}, ["key 5S"], False),
        ({"burn": "none"}, [], False),
        ({}, ["open"], True),
        ({}, ["open", "key KS"], True),
        ({"betting_closes": "order"}, ["open"], False),
        ({"betting_closes": "order"}, ["open", "no more bets"], True),
    ],
)
def test_where_the_dealer_keys_every_card_one_can_be_keyed_when_the_table_would_take_it(
    house, commands, awaited
):
    croupier = Croupier(**KEYED, **house).do("hello", "sign on", "change shoe", *commands)

    assert ("key_card" in shown(croupier, Role.DEALER).orders) is awaited


def test_the_seats_have_what_stands_and_afterwards_what_they_are_owed():
    croupier = Croupier.at_betting("wager 3 player 500", "wager 1 tie 100", "wager 3 tie 200")
    view = shown(croupier)

    assert [(seat.seat, [(each.title, each.amount) for each in seat.wagers]) for seat in view.seats] == [
        (1, [("Tie", 100)]),
        (3, [("Player", 500), ("Tie", 200)]),
    ]
    view = shown(croupier.do(f"draw {PLAYER_NATURAL}"))
    assert view.seats == ()
    assert view.last is not None
    assert [(seat.seat, seat.staked, seat.returned, seat.net, seat.pay) for seat in view.last.seats] == [
        (1, 100, 0, -100, 0),
        (3, 700, 1000, 300, 500),
    ]
    assert (view.last.correction, view.last.differences) == (None, ())


FORTY = "2H KC 2D JC 5H KD"  # 9 over 0
SUITED = "2H KC 3H JC 4H KD"  # and with 2-3-4 of hearts
SIX_OVER_FIVE = "2H KC 4D 3C 2D"


@pytest.mark.parametrize(
    ("game", "cards", "due"),
    [
        # an award, of the tray or of the meter, is paid by its shares, and a wager that was taken is not taken again
        ("progressive-2", FORTY, [("player", "win", 500, True)]),
        ("progressive-1-five-dollar", FORTY, [("player", "win", 500, True)]),
        ("progressive-2", SUITED, [("player", "win", 500, True)]),
        ("progressive-2", SIX_OVER_FIVE, [("player", "win", 500, True)]),
        (
            "progressive-1-five-dollar",
            SIX_OVER_FIVE,
            [("player", "win", 500, True), ("progressive", "lose", 0, True)],
        ),
    ],
)
def test_what_is_due_is_beside_a_stake_that_lies_on_the_table_and_with_one_that_was_taken(game, cards, due):
    played = ("meter", "wager 2 player 500", "spot 2", "start game", f"draw {cards}")
    last = shown(Croupier.at_betting(*played, game_name=game, meter={})).last
    assert last is not None

    (seat,) = last.seats
    assert [(each.wager, each.outcome, each.pay, each.stake_stays) for each in seat.due] == due
    assert seat.pay == sum(pay for _, _, pay, _ in due)


def test_a_stake_that_a_correction_gives_back_with_an_award_is_due():
    """The wager lost, so the dealer has taken its $5; the award of the meter does not have it."""
    played = ("meter", "wager 2 player 500", "spot 2", "start game", "draw KC 2H JC 3H 5D 4H")
    croupier = Croupier.at_betting(*played, game_name="progressive-1-five-dollar", meter={})

    last = shown(croupier.do("correct round 2H 3H 4H over KC JC KD")).last

    assert last is not None
    (seat,) = last.differences
    assert [(each.wager, each.outcome, each.pay) for each in seat.due] == [
        ("player", "win", 1000),
        ("progressive", "award", 500),
    ]


def test_a_correction_after_settlement_is_shown_by_its_differences_until_the_next_hand():
    croupier = Croupier.at_betting("wager 3 player 500", "wager 1 tie 100", f"draw {PLAYER_NATURAL}")
    last = shown(croupier.do("void round")).last
    assert last is not None
    assert last.correction is not None

    assert (last.correction.corrects, last.correction.status) == (1, "correction")
    assert [(seat.seat, seat.net, seat.pay) for seat in last.differences] == [(1, 100, 100), (3, -500, -500)]
    last = shown(croupier.do(f"draw {PLAYER_NATURAL}")).last
    assert last is not None
    assert (last.correction, last.differences) == (None, ())


@pytest.mark.parametrize(
    ("commands", "state", "warning"),
    [
        ([], "offline", "The shoe is offline: no card can be dealt. Check its power and its cable."),
        (["hello"], "online", None),
        (["hello", "sign on", "change shoe", "open", "draw KS", "hello B"], "not_accepted", None),
    ],
)
def test_the_shoe_is_among_the_devices(commands, state, warning):
    (device,) = shown(Croupier().do(*commands)).devices

    assert (device.device, device.state, device.warning) == ("shoe", state, warning)


def test_a_table_whose_cards_are_keyed_has_no_shoe_among_its_devices():
    assert shown(Croupier(**KEYED)).devices == ()


def test_a_device_is_shown_with_where_it_is_and_what_is_to_be_done_without_it():
    links = {
        "shoe": LinkHealth("/dev/ttyS0", True, "", NOW, "IS-1", {}),
        "keypad": LinkHealth("/dev/ttyS1", False, "no answer", NOW, None, {}),
        "record": LinkHealth("/var/lib/punto.db", True, "7 inputs", NOW, None, {}),
    }
    state = Croupier().do("hello").state
    view = view_of(Trials(state), 7, NOW, Peer("Mei", (Role.DEALER,)), None, Equipment(links=lambda: links))

    assert [(each.title, each.state, each.reason, each.port) for each in view.devices] == [
        ("Shoe", "online", "connected", "/dev/ttyS0"),
        ("Keypad", "offline", "no answer", "/dev/ttyS1"),
        ("Record", "online", "7 inputs", "/var/lib/punto.db"),
    ]
    assert [each.warning for each in view.devices] == [
        None,
        "The keypad is offline: give the keypad's orders at a console.",
        None,
    ]


async def test_an_alarm_and_a_stop_say_when_they_came_and_who_called_over_a_restart_too(tmp_path):
    async with table(tmp_path / "record.db") as here:
        await here.order(SignOn("mei"))
        await here.order(CallSupervisor("mei", "A dispute"))
        await here.shoe(LinkNoise(40, 10))
        await here.order(HoldPlay("ann", "A dispute"))
        before = here.engine.publication.raised, here.engine.publication.stopped
    async with table(tmp_path / "record.db") as here:
        engine = here.engine
        assert (engine.publication.raised, engine.publication.stopped) == before
        moments = Moments(NOW, *before)
        view = view_of(Trials(engine.state), 7, NOW, Peer("Mei", (Role.DEALER,)), None, moments=moments)
        recorded = rows(tmp_path / "record.db", "SELECT ts FROM inputs ORDER BY seq")

    assert [(each.code, each.who) for each in view.alarms] == [
        ("supervisor_called", "mei"),
        ("link_noise", None),
    ]
    assert [(each.ts,) for each in view.alarms] == recorded[2:4]
    assert [(each.code, each.who, (each.ts,)) for each in view.stops] == [("held", "ann", recorded[4])]


@pytest.mark.parametrize(
    ("commands", "pays"),
    [
        (["start game"], "40 for 1"),
        (["spot 2", "start game"], "40 for 1"),
        (["spot 2"], None),
        ([], None),
        (["start game", f"draw {FORTY}", "game over"], None),  # the game of the hand before
    ],
)
def test_the_wager_of_a_progressive_pays_only_by_a_hand_that_decided_a_game(commands, pays):
    played = Croupier.at_betting("meter", *commands, f"draw {FORTY}", game_name="progressive-2", meter={})
    last = shown(played).last
    assert last is not None

    found = {each.wager: each.pays for each in last.pays}
    assert found.get("progressive") == pays
    assert len(found) == len(played.settings.game.wagers) - (pays is None)


def test_what_every_wager_of_the_game_pays_is_shown_whether_or_not_it_was_made():
    view = shown(Croupier.at_betting(f"draw {PLAYER_NATURAL}", game_name="dragon-bonus-1"))
    assert view.last is not None

    assert [(pay.wager, pay.rule, pay.pays, str(pay.outcome)) for pay in view.last.pays] == [
        ("player", "player_wins", "1 to 1", "win"),
        ("banker", "lose", "lose", "lose"),
        ("tie", "lose", "lose", "lose"),
        ("dragon_bonus_player", "natural_winner", "1 to 1", "win"),
        ("dragon_bonus_banker", "lose", "lose", "lose"),
    ]


def test_a_view_has_the_short_titles_of_the_wagers_of_the_game():
    short = shown(Croupier.at_betting(game_name="dragon-bonus-1")).short_titles

    assert (short["player"], short["dragon_bonus_banker"]) == ("Player", "DB Banker")


def test_what_a_dealer_pays_and_marks_is_together_what_the_settlement_says():
    table = Croupier.at_betting("wager 2 banker 1010", f"draw {BANKER_NATURAL}", commission="shoe_end")
    view = shown(table)
    assert view.last is not None
    (seat,) = view.last.seats

    assert view.commissions == (CommissionOwed(2, 51),)
    assert [(each.pay, each.marked) for each in seat.due] == [(1010, 51)]
    assert (seat.pay, seat.net) == (1010, 959)


@pytest.mark.parametrize(
    ("so_far", "pay", "marked"), [([], -1010, -51), (["collect 2 51"], -959, 0), (["waive 2 51"], -1010, 0)]
)
def test_a_dealer_takes_back_what_the_player_has_and_only_marks_that_are_there(so_far, pay, marked):
    table = Croupier.at_betting("wager 2 banker 1010", f"draw {BANKER_NATURAL}", commission="shoe_end")

    after = shown(table.do(*so_far, "void round"))

    assert after.last is not None
    assert [(each.pay, each.due[0].marked) for each in after.last.differences] == [(pay, marked)]


def test_nothing_is_paid_on_a_void_coup():
    view = shown(Croupier.at_betting("wager 1 player 500", "draw KS 2S", "void"))
    assert view.last is not None

    assert (view.last.round.status, view.last.pays, view.last.seats[0].returned) == ("void", (), 500)


# --- over HTTP


async def stream(here: Here, browser: Browser, heard: list[dict[str, Any]]) -> None:
    """Listen to the stream until it ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
    try:
        head = f"GET /api/table/events HTTP/1.1\r\nHost: 127.0.0.1:{here.port}\r\nConnection: close\r\n"
        head += f"Cookie: {browser.headers('GET')['Cookie']}\r\n\r\n"
        writer.write(head.encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        while line := await reader.readline():
            if line.startswith(b"data: "):
                heard.append(json.loads(line.removeprefix(b"data: ")))
    finally:
        writer.close()


@pytest.mark.punctual
async def test_a_change_is_on_the_stream_at_once_and_the_table_every_second(here, mei):
    heard: list[dict[str, Any]] = []
    listening = asyncio.create_task(stream(here, mei, heard))
    await eventually(lambda: len(heard) >= 3, "a view every second")
    began = asyncio.get_running_loop().time()
    await mei.order("change_shoe")
    await eventually(lambda: heard[-1]["state"]["phase"] == "shoe_change", "the change")

    assert asyncio.get_running_loop().time() - began < 0.9
    assert heard[-1]["you"] == "Mei"
    await mei.sign_off()
    await asyncio.wait_for(listening, DEADLINE)


async def test_the_stream_does_not_count_as_activity_and_ends_with_its_session(tmp_path):
    async with consoles(tmp_path, idle_minutes=15) as here:
        here.account("Mei", "supervisor")
        browser = await here.signed_on("Mei")
        heard: list[dict[str, Any]] = []
        listening = asyncio.create_task(stream(here, browser, heard))
        await eventually(lambda: heard, "the stream is open")
        here.clock.now += 8 * 60
        seen = len(heard)
        await eventually(lambda: len(heard) >= seen + 2, "views go on")
        here.clock.now += 8 * 60
        await asyncio.wait_for(listening, DEADLINE)

        await eventually(
            lambda: (
                here.events("session_ended") == [{"who": "Mei", "why": "inactive", "kind": "session_ended"}]
            ),
            "its end is on the record",
        )


SECRET = ("KS", "2D", "5H", "3C", "4S", "9D", "7C")  # a coup of six, and a card too many


@pytest.mark.parametrize("role", sampled(list(Role), one_in=3))
async def test_cards_that_are_not_revealed_are_in_no_answer_to_no_role(role, tmp_path):
    async with consoles(tmp_path, settings("midi-baccarat", overdraw="next_coup")) as here:
        here.account("Mei", role)
        here.account("Ann", "supervisor")
        supervisor, browser = await here.signed_on("Ann"), await here.signed_on("Mei")
        heard: list[dict[str, Any]] = []
        listening = asyncio.create_task(stream(here, browser, heard))
        await here.table.begin_shoe()
        await here.table.order(OpenBetting("mei"))
        await here.table.order(SetWager("w", 1, "player", 500, 1))

        async def seen() -> set[str]:
            paths = ["/api/table", "/api/rounds", "/api/shift", *(f"/api/rounds/{n}" for n in (1, 2, 3))]
            found = [(await browser.get(path)).text for path in paths]
            for kind, fields in (
                ("reveal", {}),
                ("void_coup", {"reason": "r"}),
                ("correct_card", {"position": 1, "card": "KS", "reason": "r"}),
                ("correct_card", {"position": 1, "card": "KD", "reason": "r"}),
                ("resume_play", {"reason": "r"}),
            ):
                found.append((await browser.preview(kind, **fields)).text)
            return {card for card in SECRET if card in "".join([*found, json.dumps(heard)])}

        async def draw(codes: tuple[str, ...]) -> None:
            for code in codes:
                await here.table.do(f"draw {code}")
                assert await seen() == set(), code

        await draw(SECRET[:3])
        assert (await supervisor.order("void_coup", reason="misdeal")).status == 200
        assert await seen() == set()
        await draw(SECRET[:4])
        await here.table.shoe(CardOverdrawn(here.table.state.link.expected, Card(SECRET[6]), 99))
        assert await seen() == set()
        assert (await supervisor.order("resume_play", reason="seen to")).status == 200
        for shown in (4, 5, 6):
            assert (await supervisor.order("reveal")).status == 200
            assert await seen() == set(SECRET[:shown])  # the seventh is the first of the next coup
            if shown < len(SECRET[:6]):
                await here.table.do(f"draw {SECRET[shown]}")
                assert await seen() == set(SECRET[:shown])
        listening.cancel()


@pytest.mark.parametrize(("seat_one", "order"), [("right", [2, 5, 6]), ("left", [6, 5, 2])])
def test_seats_are_in_the_order_of_paying_from_the_dealers_right(seat_one, order):
    at = Croupier.at_betting("meter", meter={"seat_one": seat_one}, **A_METER)
    at.do("wager 5 player 500", "wager 2 player 500", "wager 6 banker 500", f"draw {PLAYER_NATURAL}")
    last = shown(at).last

    assert last is not None
    assert [each.seat for each in last.seats] == order


def test_what_nobody_wagered_on_is_known_and_wagers_have_short_names():
    at = Croupier.at_betting("meter", "wager 2 player 500", meter={}, **A_METER)
    assert shown(at).seats[0].wagers[0].short == "Player"
    at.do("spot 2", "start game", f"draw {PLAYER_NATURAL}")
    last = shown(at).last

    assert last is not None
    assert {each.short for each in last.pays if each.wagered} == {"Player", "Progressive"}
    assert [(each.short, each.stake) for each in last.seats[0].due] == [("Player", 500)]


def test_where_wagers_are_not_recorded_nobody_knows_what_nobody_wagered_on():
    at = Croupier.at_betting(f"draw {PLAYER_NATURAL}", meter={}, **A_METER)
    last = shown(at).last

    assert last is not None
    assert {each.wagered for each in last.pays} == {True}
