"""People's cards: whose each is, which numbers can be used, and what is kept of them."""

import asyncio
import sqlite3
from contextlib import closing
from hashlib import sha256

import pytest

from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import Role
from tests.consoles.consoles import NOW, PASSWORD

CARD, ANOTHER = "6000170042=2912", "6000170043=2912"


def test_a_card_belongs_to_the_account_that_it_was_given_to(accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.add("Ann", [Role.EXECUTIVE], PASSWORD, NOW)
    assert accounts.owner_of(CARD) is None
    accounts.enroll("mei", CARD)
    accounts.enroll("Ann", ANOTHER)

    assert accounts.owner_of(CARD) == accounts.find("Mei")
    assert accounts.owner_of(ANOTHER) == accounts.find("Ann")
    assert accounts.owner_of("6000170044=2912") is None
    assert accounts.owner_of("6000170042") is None
    assert [each.has_card for each in accounts.all()] == [True, True]


@pytest.mark.parametrize("number", ["6" * 9, "6" * 9 + "=2912", ";" + "6" * 6 + "?"])
def test_a_persons_card_has_at_least_ten_digits(accounts, number):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)

    with pytest.raises(AccountsError, match="a person's card needs at least 10 digits"):
        accounts.enroll("Mei", number)

    accounts.enroll("Mei", "6" * 10)
    assert accounts.find("Mei").has_card


def test_a_card_is_typed_with_its_sentinels_or_without(accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", f";{CARD}?")

    assert accounts.owner_of(CARD) == accounts.find("Mei")


def test_a_card_of_one_account_cannot_be_given_to_another(accounts):
    for name in ("Mei", "Ann"):
        accounts.add(name, [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)
    with pytest.raises(
        AccountsError, match="this card belongs to the account 'Mei': remove it from that account first"
    ):
        accounts.enroll("Ann", CARD)
    accounts.enroll("Mei", CARD)  # which is its own
    accounts.set_disabled("Mei", disabled=True)
    with pytest.raises(AccountsError, match="this card belongs to the account 'Mei'"):
        accounts.enroll("Ann", CARD)

    accounts.remove_card("Mei")
    accounts.enroll("Ann", CARD)
    assert accounts.owner_of(CARD) == accounts.find("Ann")


def test_the_file_itself_refuses_a_card_on_two_accounts(accounts, tmp_path):
    for name in ("Mei", "Ann"):
        accounts.add(name, [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)
    with (
        closing(sqlite3.connect(tmp_path / "operators.db")) as database,
        pytest.raises(sqlite3.IntegrityError),
    ):
        database.execute("UPDATE accounts SET card = (SELECT card FROM accounts WHERE name = 'Mei')")


def test_another_card_takes_the_place_of_the_one_before(accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)
    accounts.enroll("Mei", ANOTHER)

    assert accounts.owner_of(CARD) is None
    assert accounts.owner_of(ANOTHER) == accounts.find("Mei")


def test_a_lost_card_is_nobodys(accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)
    accounts.remove_card("mei")

    assert accounts.owner_of(CARD) is None
    assert not accounts.find("Mei").has_card
    with pytest.raises(AccountsError, match="'Mei' has no card"):
        accounts.remove_card("Mei")


def test_the_card_of_a_disabled_account_is_nobodys_until_it_is_enabled_again(accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)
    accounts.set_disabled("Mei", disabled=True)
    assert accounts.owner_of(CARD) is None
    accounts.set_disabled("Mei", disabled=False)

    assert accounts.owner_of(CARD) == accounts.find("Mei")


@pytest.mark.parametrize("number", ["", "60001", "MEI'S CARD", "1" * 38])
def test_an_invalid_card_number_is_refused_and_not_repeated(number, accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    with pytest.raises(AccountsError, match="this is not a card's number") as error:
        accounts.enroll("Mei", number)

    assert not number or number not in str(error.value)
    assert not accounts.find("Mei").has_card


def test_a_card_is_kept_as_a_keyed_hash_alone(accounts, tmp_path):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)

    assert not any(CARD.encode() in path.read_bytes() for path in tmp_path.iterdir())
    with closing(sqlite3.connect(tmp_path / "operators.db")) as database:
        ((hash_,),) = database.execute("SELECT card FROM accounts")
        ((secret,),) = database.execute("SELECT secret FROM card_secret")
    assert (len(hash_), len(secret)) == (32, 32)
    assert hash_ not in {sha256(CARD.encode()).digest(), sha256(secret + CARD.encode()).digest()}


def test_a_card_has_another_hash_in_every_file(tmp_path):
    hashes = set()
    for name in ("one.db", "two.db"):
        with closing(Accounts.open(tmp_path / name)) as accounts:
            accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
            accounts.enroll("Mei", CARD)
        with closing(sqlite3.connect(tmp_path / name)) as database:
            hashes |= set(database.execute("SELECT card FROM accounts"))

    assert len(hashes) == 2


def test_the_hash_of_a_card_is_the_one_that_files_have(tmp_path, costly_passwords):
    """By another secret, another cost or another way no card would be anybody's any more."""
    path = tmp_path / "operators.db"
    Accounts.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE card_secret SET secret = ?", (bytes(range(32)),))
    with closing(Accounts.open(path)) as accounts:
        accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
        accounts.enroll("Mei", CARD)
    with closing(sqlite3.connect(path)) as database:
        ((hash_,),) = database.execute("SELECT card FROM accounts")

    assert hash_.hex() == "c04ba5cb83063204d4d44db5859334151785af884c8a1149c7d1531db62a6504"


async def test_whose_card_it_is_can_be_asked_in_any_thread(accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)

    assert await asyncio.to_thread(accounts.owner_of, CARD) == accounts.find("Mei")
