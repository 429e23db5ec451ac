"""A game of the progressive over HTTP, by the people who play it: every step and every refusal of both procedures."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.progressive.aquarius import Key, TurnKey
from punto.baccarat.progressive.events import OpenMeter
from punto.baccarat.progressive.nexus import Confirm, SwipeCard
from punto.baccarat.progressive.state import State as Books
from punto.baccarat.table.events import SetWager
from punto.baccarat.table.order_kinds import OpenBetting
from punto.controller.accounts.accounts import Accounts
from punto.controller.devices.card_door import SOURCE, CardDoor
from punto.controller.journal.recovery import replay
from punto.controller.orders.doors import NO_EQUIPMENT, Equipment
from punto.drivers.base import CardAnswer
from punto.drivers.card_reader.serial_line import SerialCardReader
from punto.messages.building import progressive_message, timestamp
from punto.runtime import clock
from tests.baccarat.progressive.floor import accounted
from tests.baccarat.table.croupier import settings as table_settings
from tests.consoles.consoles import PASSWORD, Answer, Browser, Here, consoles
from tests.consoles.software_key import SoftwareKey

SUITED = "2H KC 3H JC 4H KD"  # 9 over 0 with 2-3-4 of hearts: 25% of the meter
NOTHING_WON = "KS 2S 3H 3S 2D"
FORTY = "2H KC 2D JC 5H KD"  # 9 over 0: 40 for 1, from the tray
FIRST_METER = 1_000_000
KEY_SWITCH = Equipment(gives=lambda: frozenset({"turn_key"}))
CARD_READER = Equipment(gives=lambda: frozenset({"swipe_card"}))
BY_DEVICE = {"aquarius": KEY_SWITCH, "nexus": CARD_READER}
DEALT = {SUITED, NOTHING_WON, FORTY}
WAGERS = ((2, "player"), (5, "player"), (6, "banker"))


class Game:
    """A table with Ann the dealer, supervisors Omar and Eve, and Ida the executive."""

    def __init__(self, here: Here) -> None:
        self.here = here
        self.people: dict[str, Browser] = {}

    async def do(self, who: str, order: str, **fields: Any) -> Answer:
        """An order; by a supervisor it is signed at the dealer's page, or is their card at the reader, or the key switch's key."""
        if order == "swipe_card":
            return await self.at_a_device(
                SwipeCard(who, "executive" if who == "Ida" else "supervisor"), SOURCE
            )
        if order == "turn_key" and "turn_key" in self.here.desk.equipment.gives():
            return await self.at_a_device(TurnKey(Key(fields["to"]), who), "key switch")
        if who != "Ann":
            fields["by"] = {"name": who, "password": PASSWORD}
        if order == "start_game":
            fields["round"] = self.here.table.state.round.number
        return await self.people["Ann"].order(order, **fields)

    async def at_a_device(self, event: SwipeCard | TurnKey, source: str) -> Answer:
        """Somebody's card is swiped, or the key is turned, answered as an order would be."""
        (handled,) = await self.here.table.engine.submit([event], source)
        refusal = handled.refusal
        told = {} if refusal is None else {"code": refusal.code, "reason": str(refusal)}
        return Answer(200 if refusal is None else 409, {}, json.dumps({"seq": handled.seq, **told}))

    async def play(self, *steps: str) -> None:
        """Steps such as "Ann hand_button 2", each of which is carried out."""
        for step in steps:
            answer = await self.step(step)
            assert answer.status == 200, f"{step}: {answer.text}"

    async def step(self, step: str) -> Answer:
        who, order, *rest = step.split()
        fields: dict[str, Any] = {}
        if rest:
            fields = {"to": rest[0]} if order == "turn_key" else {"seat": int(rest[0])}
        return await self.do(who, order, **fields)

    async def begin(self, *steps: str) -> None:
        """Steps, among them cards that are dealt."""
        for step in steps:
            await (self.deal(step) if step in DEALT else self.play(step))

    async def deal(self, codes: str) -> None:
        await self.here.table.do(f"draw {codes}")

    @property
    def books(self) -> Books:
        progressive = self.here.table.state.progressive
        assert progressive is not None
        return progressive.books

    async def shown(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self.people["Ann"].view())["progressive"]
        return found


@asynccontextmanager
async def game(
    folder: Path, procedure: str, equipment: Equipment = NO_EQUIPMENT, **meter: Any
) -> AsyncIterator[Game]:
    """A game with wagers of seats 2, 5 and 6, before START."""
    own = table_settings(game_name="progressive-2", meter={"procedure": procedure, **meter})
    async with consoles(folder, own, equipment) as here:
        roles = {"Ann": "dealer", "Omar": "supervisor", "Eve": "supervisor", "Ida": "executive"}
        found = Game(here)
        for name, role in roles.items():
            here.account(name, role)
        for name in ("Ida", "Ann"):
            found.people[name] = await here.signed_on(name)
        await here.table.begin_shoe()
        await here.table.order(OpenBetting("Ann"))
        await here.table.order(OpenMeter("Ida", "Ivo"))
        for seat, wager in WAGERS:
            await here.table.order(SetWager(f"w{seat}", seat, wager, 500, here.table.state.round.number))
        await found.play("Ann wager_placed 2", "Ann wager_placed 5", "Ann wager_placed 6")
        yield found
    assert replay(folder / "table.db").difference is None


@pytest.mark.parametrize(
    ("procedure", "award", "end"),
    [
        (
            "aquarius",
            [
                ("Ann hand_button 2", "settling", "hand_buttons"),
                ("Ann hand_button 5", "settling", "key_to_jph"),
                ("Omar turn_key jph", "settling", "jpot"),
                ("Omar jpot", "logged", "key_to_run"),
                ("Omar turn_key run", "adjusted", "pay"),
            ],
            "Ann game_over",
        ),
        (
            "nexus",
            [
                ("Ann hand_button 2", "settling", "hand_buttons"),
                ("Ann hand_button 5", "settling", "confirm"),
                ("Omar confirm", "confirmed", "swipe_card"),
                ("Omar swipe_card", "adjusted", "pay"),
            ],
            "Ann end_game",
        ),
    ],
)
async def test_a_game_goes_from_start_to_its_award_and_to_its_end(procedure, award, end, tmp_path):
    async with game(tmp_path, procedure, BY_DEVICE[procedure]) as at:
        await at.play("Ann start_game")
        meter = FIRST_METER + 3 * 20
        assert at.books.shown == meter
        await at.deal(SUITED)
        for step, reached, code in award:
            logged = reached in {"logged", "adjusted"}
            await at.play(step)
            shown = await at.shown()
            assert (shown["step"], shown["todo"]["code"]) == (reached, code), step
            assert (shown["award"]["number"] is not None) == logged
            assert shown["award"]["amount"] == meter // 4
            assert at.books.shown == (meter - meter // 4 if reached == "adjusted" else meter)
        await at.play(end)
        shown = await at.shown()

        assert (shown["step"], shown["award"], shown["todo"]["code"]) == ("betting", None, "start_game")
        assert not any(seat["lit"] for seat in shown["seats"])
        (logged_award,) = at.books.awards
        assert (logged_award.who, logged_award.seats) == ("Omar", (2, 5))
        published = progressive_message(at.here.table.state, 1, timestamp(clock.now()), clock.now())
        assert published is not None
        assert published.award is not None
        for shares in (logged_award.shares, published.award.shares):
            assert [(each.seat, each.amount) for each in shares] == [(2, 125_008), (5, 125_007)]


@pytest.mark.parametrize("order", ["jpot", "nobody_won"])
async def test_at_a_table_without_a_key_switch_a_key_at_jph_waits_there_for_its_turn_to_run(order, tmp_path):
    seen = "recorded" if order == "jpot" else "unseen"
    async with game(tmp_path, "aquarius", base_wagers=seen) as at:
        hands = ["Ann hand_button 2", "Ann hand_button 5"] if order == "jpot" else []
        await at.begin(*AQUARIUS_WON, *hands, "Omar turn_key jph")
        before = at.books.shown
        reason = {} if order == "jpot" else {"reason": "a wager was on the tie alone"}
        assert (await at.do("Omar", order, **reason)).status == 200

        shown = await at.shown()
        assert (shown["step"], shown["key"], shown["todo"]["code"]) == ("logged", "jph", "key_to_run")
        assert (at.books.shown, (await at.step("Ann game_over")).json["code"]) == (before, "key_in_jph")
        await at.play("Omar turn_key run", "Ann game_over")


AQUARIUS_WON = ["Ann start_game", SUITED]
AQUARIUS_SELECTED = [*AQUARIUS_WON, "Ann hand_button 2", "Ann hand_button 5"]
NEXUS_CONFIRMED = [*AQUARIUS_SELECTED, "Omar confirm"]


async def test_an_order_that_is_signed_at_the_dealers_page_waits_there_for_a_second_person(tmp_path):
    async with game(tmp_path, "aquarius", base_wagers="unseen") as at:
        await at.begin(*AQUARIUS_WON)
        await at.do("Omar", "nobody_won", reason="a wager was on the tie alone")
        await at.play("Ann game_over")
        ann, key = at.people["Ann"], SoftwareKey()
        assert (await key.register(await at.here.signed_on("Eve"))).status == 204

        asked = await at.do("Omar", "reopen_game", reason="seat 5 had a wager")
        (waits,) = (await ann.view())["waiting"]
        approved = await key.approve(ann, asked.json["waiting"], "Eve")
        (told,) = (await ann.view())["waiting"]

        assert (asked.status, approved.status) == (202, 200), approved.text
        assert (waits["giver"], waits["own"], waits["may"]) == ("Omar", True, False)
        assert (told["number"], told["outcome"]) == (waits["number"], "approved by Eve")
        (event,) = at.here.events("reopen_game")
        assert (event["who"], event["approved_by"]) == ("Omar", "Eve")


@pytest.mark.parametrize(
    ("procedure", "order", "end"), [("aquarius", "jpot", "game_over"), ("nexus", "confirm", "end_game")]
)
async def test_an_award_that_the_dealer_may_confirm_is_the_dealers_and_turns_no_key(
    procedure, order, end, tmp_path
):
    async with game(tmp_path, procedure, supervisor_from=10_000) as at:
        await at.begin("Ann start_game", FORTY, "Ann hand_button 2", "Ann hand_button 5", f"Ann {order}")
        (award,) = at.books.awards

        assert (award.who, award.by, award.seats) == ("Ann", "dealer", (2, 5))
        assert at.here.events("turn_key", "sign_award") == []
        await at.play(f"Ann {end}")


@pytest.mark.parametrize(("cards", "needed"), [(SUITED, True), (NOTHING_WON, False)])
async def test_a_preview_says_that_two_people_take_an_award_of_the_meter_away(cards, needed, tmp_path):
    async with game(tmp_path, "nexus") as at:
        await at.begin("Ann start_game", cards)
        before = at.here.inputs()
        shown = await at.people["Ida"].preview("void_round", round=1, reason="misdeal")
        why = "the order changes the round's award, so a second person must approve it"

        assert (shown.json["accepted"], shown.json["second"]) == (True, why if needed else None)
        assert at.here.inputs() == before


@pytest.mark.parametrize(
    ("procedure", "before", "step"),
    [
        ("aquarius", [*AQUARIUS_SELECTED, "Omar turn_key jph"], "jpot"),
        ("nexus", AQUARIUS_SELECTED, "confirm"),
        ("nexus", NEXUS_CONFIRMED, "swipe_card"),
    ],
)
async def test_of_two_supervisors_at_the_same_moment_one_confirms_and_the_other_is_told_who(
    procedure, before, step, tmp_path
):
    async with game(tmp_path, procedure, BY_DEVICE[procedure]) as at:
        await at.begin(*before)
        answers = await asyncio.gather(at.step(f"Omar {step}"), at.step(f"Eve {step}"))

        (first,) = [who for who, answer in zip(("Omar", "Eve"), answers, strict=True) if answer.status == 200]
        (refused,) = [answer for answer in answers if answer.status == 409]
        assert refused.json["code"] == "already_confirmed"
        if step != "swipe_card":  # a card reader has no room for names
            assert refused.json["reason"].endswith(f"({first} was first)")
        if step == "confirm":
            await at.play(f"{first} swipe_card")
        assert [each.who for each in at.books.awards] == [first]


async def test_who_confirmed_first_is_named_wherever_they_confirmed(tmp_path):
    async with game(tmp_path, "nexus", BY_DEVICE["nexus"]) as at:
        await at.begin(*AQUARIUS_SELECTED)
        await at.here.table.order(Confirm("Omar"))  # at a keypad, or before the service was started again
        answer = await at.step("Eve confirm")

        assert answer.json["reason"].endswith("(Omar was first)")


async def test_a_swipe_and_an_adjustment_of_the_meter_are_one_after_the_other_and_both_right(tmp_path):
    async with game(tmp_path, "nexus", CARD_READER, approval_above=10**6) as at:
        await at.begin(*NEXUS_CONFIRMED)
        before = at.books.shown
        adjusting = at.people["Ida"].order(
            "adjust", cause="increase", amount=40_000, reason="the anniversary"
        )
        answers = await asyncio.gather(at.step("Omar swipe_card"), adjusting)
        assert [answer.status for answer in answers] == [200, 200]
        swiped, adjusted = (answer.json["seq"] for answer in answers)
        (award,) = at.books.awards

        meter = before if swiped < adjusted else before + 40_000
        assert (award.meter, award.amount) == (meter, meter // 4)
        assert at.books.shown == before + 40_000 - award.amount
        ledger = at.books.ledger
        assert ledger.given == accounted(ledger)


async def test_an_executives_card_waits_for_its_owners_password_where_the_house_asks_for_both(tmp_path):
    doors: list[CardDoor] = []

    async def take(password: str, where: str, check: Any) -> CardAnswer:
        return await doors[0].confirm(password, where, check)

    equipment = Equipment(
        gives=lambda: frozenset({"swipe_card"}),
        password_of=lambda: doors[0].password_of() if doors else None,
        give_password=take,
    )
    async with game(tmp_path, "nexus", equipment, executive_from=1) as at:
        at.here.accounts.enroll("Ida", "6031990100000017")
        accounts = Accounts.open(tmp_path / "operators.db")
        reader = SerialCardReader(str(tmp_path / "no reader"), 9600)
        table = at.here.table
        doors.append(CardDoor(table.engine, table.outbox, reader, accounts, second_factor=True))
        await at.begin(*NEXUS_CONFIRMED)

        async def give(password: str) -> Answer:
            return await at.people["Ann"].ask("POST", "/api/card-password", {"password": password})

        nobody = await give(PASSWORD)
        assert (nobody.status, nobody.json["code"]) == (409, "refused")
        assert (await at.shown())["password_of"] is None
        assert (await doors[0].swipe("6031990100000017")).result == "second_factor"
        assert [(await at.shown())["password_of"]] == ["Ida"]
        wrong = await give("incorrect horse")
        assert (wrong.status, wrong.json["code"]) == (403, "not_signed")
        assert at.here.events("access_refused")[-1]["code"] == "wrong_password"
        right = await give(PASSWORD)
        accounts.close()

        assert (right.status, right.json["accepted"]) == (200, True)
        shown = await at.shown()
        assert (shown["password_of"], shown["step"]) == (None, "adjusted")
        assert [(each.who, each.card) for each in at.books.awards] == [("Ida", "executive")]


async def test_a_table_without_a_card_reader_takes_no_cards_password(tmp_path):
    async with game(tmp_path, "nexus") as at:
        for body, status, sentence in (
            ({"password": PASSWORD}, 409, "this table has no card reader"),
            (
                {"name": "Ida", "password": PASSWORD},
                422,
                "name: there is no such field",
            ),
        ):
            answer = await at.people["Ann"].ask("POST", "/api/card-password", body)
            assert answer.status == status
            assert answer.json["reason"].startswith(sentence)
            assert PASSWORD not in answer.text


@pytest.mark.parametrize("procedure", ["aquarius", "nexus"])
async def test_what_the_table_would_answer_is_found_once_for_all_who_look_at_it(
    tmp_path, procedure, evaluations
):
    async with game(tmp_path, procedure) as g:
        await g.begin("Ann start_game", SUITED, "Ann hand_button 2")
        await g.shown()
        evaluations.clear()
        assert await g.people["Ida"].view() != await g.people["Ann"].view()
        assert evaluations == []


@pytest.mark.parametrize(
    ("procedure", "award"),
    [("aquarius", ["turn_key", "jpot", "turn_key"]), ("nexus", ["confirm", "sign_award"])],
)
async def test_the_table_decides_once_on_each_order(tmp_path, procedure, award, evaluations):
    async with game(tmp_path, procedure) as g:
        evaluations.clear()
        await g.play("Ann start_game")
        assert evaluations == ["start_game"]
        await g.begin(SUITED, "Ann hand_button 2", "Ann hand_button 5")
        evaluations.clear()
        await g.play(f"Ida {'jpot' if procedure == 'aquarius' else 'confirm'}")
        assert evaluations == award
