"""Awards of Nexus Command completed by cards, at a real engine with its record: each step, and each refusal."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from punto.baccarat.progressive.game_events import HandButton
from punto.baccarat.progressive.nexus import Confirm, EndGame
from punto.controller.accounts.accounts import Account
from punto.controller.accounts.at_a_table import TableAccesses
from punto.controller.accounts.gate import Gate
from punto.controller.accounts.refusals import NotLetInError
from punto.controller.accounts.roles import Role
from punto.controller.config.file import ServiceConfig, load_config
from punto.controller.config.sections import AccountsConfig
from punto.controller.equipment import card_door
from punto.drivers.base import Devices
from tests.controller.progressive_devices import BOB, PASSWORD, SUITED, AtATable, at_a_table, enroll, settings

pytestmark = pytest.mark.usefixtures("cheap_passwords")

EVE, ANN, LOST = "6000170002=2912", "6000170003", "6000179999"


def waiting(here: AtATable) -> str | None:
    """Whose password is asked for."""
    return None if here.cards.pending is None else here.cards.pending.owner.name


async def to_a_win(here: AtATable, *cards: str) -> None:
    """Seats 2 and 5 won a quarter of the meter, their hands are selected, and these cards have been given out."""
    roles = {BOB: ("Bob", Role.SUPERVISOR), EVE: ("Eve", Role.EXECUTIVE), ANN: ("Ann", Role.DEALER)}
    for card in cards:
        name, role = roles[card]
        await asyncio.to_thread(enroll, here.devices.folder, name, role, card)
    await here.open()
    await here.wager(2, 5)
    await here.started()
    await here.deal(SUITED)
    await here.give(HandButton(2, "ann"), HandButton(5, "ann"))


async def test_a_supervisors_card_completes_an_award_and_adjusts_the_meter_at_once(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus")) as here:
        await to_a_win(here, BOB)
        early = await here.swipe(BOB)
        assert (early.result, early.text.split(":")[0]) == (
            "refused",
            "no award waits for a card",
        )
        assert not here.devices.reader.ready
        await here.give(Confirm("bob"))
        await here.until(lambda: here.devices.reader.ready, "the reader shows that a swipe is awaited")

        done = await here.swipe(BOB)

        assert (done.result, here.step, here.meter) == ("accepted", "adjusted", 750_030)
        twice = await here.swipe(BOB)
        assert (twice.result, here.meter) == ("refused", 750_030)
        assert twice.text == "no award waits for a card"
        await here.give(EndGame("ann"))

    swipes = [(event["who"], event["level"]) for event in here.record("swipe_card")]
    assert swipes == [("Bob", "supervisor")]
    assert here.sources("swipe_card") == {"card reader"}


async def test_a_card_that_is_nobodys_or_a_dealers_is_refused_on_the_record_without_its_number(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus")) as here:
        await to_a_win(here, ANN)
        await here.give(Confirm("bob"))

        for card in (LOST, ANN):
            assert (await here.swipe(card)).result == "refused"
        assert (await here.swipe("garbled")).result == "refused"
        assert here.step == "confirmed"

    refusals = [(event["who"], event["code"]) for event in here.record("access_refused")]
    assert refusals == [(None, "unknown_card"), ("Ann", "not_of_role")]
    written = (tmp_path / "table.db").read_bytes() + (tmp_path / "operators.db").read_bytes()
    assert not [card for card in (BOB, EVE, ANN, LOST) if card[:10].encode() in written]


async def test_an_award_above_the_threshold_needs_an_executives_card(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus", executive_from=100_000)) as here:
        await to_a_win(here, BOB, EVE)
        await here.give(Confirm("bob"))

        refused_ = await here.swipe(BOB)

        assert (
            refused_.text
            == "an award of 2,500.10 needs an executive: swipe an Executive card, or have an executive sign"
        )
        assert (await here.swipe(EVE)).result == "accepted"
        assert here.step == "adjusted"


async def test_an_executive_award_asks_for_the_password_where_the_house_wants_it(tmp_path):
    own = settings(procedure="nexus", executive_from=100_000)
    async with at_a_table(tmp_path, own, second_factor=True) as here:
        await to_a_win(here, EVE)
        await here.give(Confirm("bob"))
        gate = Gate(
            here.accounts,
            TableAccesses(here.table.engine),
            AccountsConfig(path=tmp_path, lock_out_after=3),
            15,
        )

        async def password(written: str) -> str:
            try:
                return (await here.cards.confirm(written, "127.0.0.1", gate.second_factor)).result
            except NotLetInError as refusal:
                return refusal.code

        assert await password(PASSWORD) == "refused"  # nobody has swiped
        asked = await here.swipe(EVE)
        assert (asked.result, here.step) == ("second_factor", "confirmed")
        assert waiting(here) == "Eve"
        assert await password("wrong password") == "refused"
        here.now = 29.9
        assert waiting(here) == "Eve"
        here.now = 30.0
        assert waiting(here) is None
        assert await password(PASSWORD) == "refused"
        await here.swipe(EVE)
        assert (await here.swipe(LOST)).result == "refused"
        assert waiting(here) is None  # another card took its place
        await here.swipe(EVE)
        await here.give(HandButton(5, "ann"))
        assert waiting(here) is None  # the confirmation was taken back
        await here.give(HandButton(5, "ann"), Confirm("bob"))

        async def at_last(owner: Account, *_: str) -> Account:
            here.now += 30
            return owner

        await here.swipe(EVE)
        assert (await here.cards.confirm(PASSWORD, "127.0.0.1", at_last)).result == "refused"
        assert here.step == "confirmed"  # it took longer than a swipe waits
        await here.swipe(EVE)

        assert await password(PASSWORD) == "accepted"

        assert (here.step, here.meter) == ("adjusted", 750_030)
        assert waiting(here) is None
    assert [(event["who"], event["code"]) for event in here.record("access_refused")] == [
        ("Eve", "wrong_password"),
        (None, "unknown_card"),
    ]


async def test_a_password_completes_the_award_that_its_card_was_swiped_for_and_no_other(tmp_path):
    async with at_a_table(
        tmp_path, settings(procedure="nexus", executive_from=1, base_wagers="unseen"), second_factor=True
    ) as here:
        await to_a_win(here, EVE)
        await here.give(Confirm("bob"))
        assert (await here.swipe(EVE)).result == "second_factor"
        await here.give(HandButton(2, "ann"), Confirm("bob"))  # the same step, for seat 5 alone

        async def right(owner: Account, *_: object) -> Account:
            return owner

        answer = await here.cards.confirm(PASSWORD, "127.0.0.1", right)

        assert (answer.result, here.step) == ("refused", "confirmed")
        assert here.record("swipe_card") == []
        await here.give(HandButton(2, "ann"), Confirm("bob"))
        assert (await here.cards.confirm(PASSWORD, "127.0.0.1", right)).result == "refused"


async def test_wrong_passwords_after_a_swipe_lock_out_as_at_sign_on(tmp_path):
    own = settings(procedure="nexus", executive_from=100_000)
    async with at_a_table(tmp_path, own, second_factor=True) as here:
        await to_a_win(here, EVE)
        await here.give(Confirm("bob"))
        gate = Gate(
            here.accounts,
            TableAccesses(here.table.engine),
            AccountsConfig(path=tmp_path, lock_out_after=2),
            15,
        )
        await here.swipe(EVE)
        codes = []
        for written in ("wrong password", "wrong password", PASSWORD):
            with pytest.raises(NotLetInError) as refused_:
                await here.cards.confirm(written, "127.0.0.1", gate.second_factor)
            codes.append(refused_.value.code)

        assert codes == ["refused", "locked_out", "locked_out"]
        assert here.step == "confirmed"


def configured(folder: Path, written: str = "") -> ServiceConfig:
    """The configuration of a Nexus table, with this in its [progressive]."""
    (folder / "table.toml").write_text(
        'version = 1\n[table]\nid = "table-1"\nname = "Baccarat 1"\ngame = "progressive-2"\ncards = "keyed"\n'
        '[record]\npath = "table.db"\n[accounts]\npath = "operators.db"\n[card_reader]\nport = "reader"\nkey_file = "reader.key"\n'
        f'[progressive]\nid = "dragon"\nreserve = "1%"\nprocedure = "nexus"\n{written}\n'
    )
    return load_config(folder / "table.toml")


@pytest.mark.parametrize(
    ("written", "swiped", "result"),
    [
        ("", EVE, "second_factor"),
        ("", BOB, "accepted"),
        ("second_factor = true", EVE, "second_factor"),
        ("second_factor = false", EVE, "accepted"),
    ],
)
async def test_an_executives_card_needs_the_password_for_any_award_unless_the_house_waives_it(
    tmp_path, written, swiped, result
):
    async with at_a_table(tmp_path, settings(procedure="nexus")) as here:
        await to_a_win(here, BOB, EVE)
        await here.give(Confirm("bob"))
        gate = Gate(here.accounts, TableAccesses(here.table.engine), AccountsConfig(path=tmp_path), 15)
        devices = Devices(card_reader=here.reader)
        door = card_door(configured(tmp_path, written), here.table.engine, here.table.outbox, devices, gate)
        assert door is not None
        await here.until(lambda: here.reader.health().connected, "the reader is heard")

        assert (await door.swipe(swiped)).result == result


async def test_accounts_that_cannot_be_read_complete_no_award_and_end_nothing(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus")) as here:
        await to_a_win(here, BOB)
        await here.give(Confirm("bob"))
        with closing(sqlite3.connect(tmp_path / "operators.db")) as database:
            database.execute("DROP TABLE accounts")

        answer = await here.swipe(BOB)

        assert (answer.result, answer.text) == ("refused", "the accounts cannot be read: call a technician")
        assert here.step == "confirmed"
