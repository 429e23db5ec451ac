"""A card and its owner's password: who swiped is asked as at sign-on, and a card that was taken away is worth nothing."""

import pytest

from punto.controller.accounts.accounts import Account
from punto.controller.accounts.refusals import NotLetInError
from tests.consoles.consoles import PASSWORD, Here, consoles
from tests.controller.table_in_this_process import eventually

WRONG = "incorrect horse"
CARD, ANOTHER = "6000170042=2912", "6000170043=2912"
WHAT = "confirm_award"


def swiped(here: Here, name: str = "Mei", number: str = CARD) -> Account:
    """Somebody with an account, whose card was swiped."""
    here.account(name, "supervisor")
    here.accounts.enroll(name, number)
    owner = here.accounts.owner_of(number)
    assert owner is not None
    return owner


async def gives(here: Here, owner: Account, password: str) -> str:
    """What comes of giving a password for a swipe: the account's name, or why not."""
    try:
        account = await here.console._gate.second_factor(owner, password, "127.0.0.1", WHAT)
    except NotLetInError as refusal:
        return refusal.code
    return account.name


def refusals(here: Here) -> list[tuple[str, str, str]]:
    return [(event["who"], event["what"], event["code"]) for event in here.events("access_refused")]


async def test_the_owner_of_a_card_is_let_in_by_the_password(here):
    owner = swiped(here)

    assert await gives(here, owner, PASSWORD) == "Mei"
    assert refusals(here) == []
    assert here.events("session_begun") == []  # it is no sign-on


async def test_a_wrong_password_is_refused_and_on_the_record(here):
    owner = swiped(here)

    assert await gives(here, owner, WRONG) == "refused"
    assert refusals(here) == [("Mei", WHAT, "wrong_password")]
    assert await gives(here, owner, PASSWORD) == "Mei"


async def test_wrong_passwords_for_a_card_and_for_approvals_lock_out_together(tmp_path):
    async with consoles(tmp_path, lock_out_after=3) as here:
        owner = swiped(here)
        await gives(here, owner, WRONG)
        with pytest.raises(NotLetInError):
            await here.console._gate.check("Mei", WRONG, "127.0.0.1", "approve void_coup")

        assert await gives(here, owner, WRONG) == "locked_out"
        assert await gives(here, owner, PASSWORD) == "locked_out"
        assert [alarm.code for alarm in here.table.state.alarms] == ["locked_out"]


async def test_sign_ons_lock_out_nobody_who_gives_the_password_for_a_card(tmp_path):
    async with consoles(tmp_path, lock_out_after=3) as here:
        owner = swiped(here)
        answers = [await here.browser().sign_on("Mei", WRONG) for _ in range(5)]

        assert answers[-1].json["code"] == "locked_out"
        assert await gives(here, owner, PASSWORD) == "Mei"


async def test_whoever_guesses_for_many_cards_must_wait(tmp_path):
    async with consoles(tmp_path, refusals_per_minute=2) as here:
        mei, ann = swiped(here), swiped(here, "Ann", ANOTHER)
        for owner in (mei, ann):
            assert await gives(here, owner, WRONG) == "refused"

        assert await gives(here, mei, PASSWORD) == "too_many"
        here.clock.now += 61
        assert await gives(here, mei, PASSWORD) == "Mei"


@pytest.mark.parametrize(
    ("change", "code", "on_the_record"),
    [
        (lambda here: here.accounts.remove_card("Mei"), "refused", "changed"),
        (lambda here: here.accounts.enroll("Mei", ANOTHER), "refused", "changed"),
        (lambda here: here.accounts.set_password("Mei", PASSWORD), "refused", "changed"),
        (lambda here: here.accounts.set_disabled("Mei", disabled=True), "refused", "disabled"),
    ],
)
async def test_a_swipe_is_worth_nothing_once_its_account_is_changed(change, code, on_the_record, here):
    owner = swiped(here)
    change(here)

    assert await gives(here, owner, PASSWORD) == code
    assert refusals(here) == [("Mei", WHAT, on_the_record)]


async def test_a_change_of_a_card_ends_its_owners_session(here):
    swiped(here)
    browser = await here.signed_on("Mei")
    here.accounts.remove_card("Mei")

    assert (await browser.get("/api/session")).status == 401
    await eventually(lambda: here.events("session_ended"), "the end of the session is on the record")
    (ended,) = here.events("session_ended")
    assert ended["why"] == "the account was changed"
