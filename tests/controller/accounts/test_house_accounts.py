"""The accounts of a house: signed at its Game Manager, and taken over by a table."""

import re
import sqlite3
import zlib
from base64 import b64encode
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from punto.commands.cli import main
from punto.controller.accounts import accounts as accounts_module
from punto.controller.accounts.accounts import Account, Accounts
from punto.controller.accounts.at_a_table import TableAccesses
from punto.controller.accounts.house import ROOM, CopyError, HouseCopy, HouseKey, read_copy
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import Role
from punto.controller.accounts.security_keys import SecurityKey
from punto.controller.accounts.takeover import Takeover
from punto.messages.bounds import LONGEST_PAYLOAD
from punto.runtime.broker_link import Received
from tests.consoles.consoles import NOW, PASSWORD, Clock

CARD = "1234567890=1"
OTHER_CARD = "9876543210"
KEY = SecurityKey("c", "p", NOW)
PUBLIC = b64encode(bytes(32)).decode()


@pytest.fixture
def house(tmp_path: Path):
    """The accounts at the Game Manager, and the key."""
    with closing(Accounts.open(tmp_path / "house.db")) as accounts:
        accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
        accounts.add("Bo", [Role.DEALER, Role.TECHNICIAN], PASSWORD, NOW)
        accounts.enroll("Mei", CARD)
        accounts.add_key("Mei", KEY, 7, "Mei at 10.0.0.7")
        yield accounts, HouseKey.open(tmp_path / "house.key")


@pytest.fixture
def table(tmp_path: Path):
    with closing(Accounts.open(tmp_path / "table.db")) as accounts:
        yield accounts


def adopt(house, table: Accounts) -> bool:
    accounts, key = house
    payload = key.signed(accounts.copy())
    return table.adopt(read_copy(payload, key.public))


def as_at(accounts: Accounts) -> list[Account]:
    return [replace(each, last_sign_on=None) for each in accounts.all()]


def test_a_table_has_the_accounts_of_the_house_after_each_change(house, table):
    accounts, _ = house

    def exchange(first: str, second: str) -> None:
        accounts.remove_card(first)
        accounts.enroll(second, CARD)
        accounts.enroll(first, OTHER_CARD)

    def another_key() -> None:
        (mei,) = [each for each in table.all() if each.name == "Mei"]
        assert table.counts_up(mei, 9)
        accounts.remove_key("Mei")
        accounts.add_key("Mei", KEY._replace(credential="d"), 1, "Mei")

    changes: list[Any] = [
        lambda: None,
        lambda: accounts.set_disabled("Bo", disabled=True),
        lambda: accounts.set_disabled("Bo", disabled=False),
        lambda: accounts.set_roles("Bo", [Role.AUDITOR]),
        lambda: accounts.set_password("Mei", "four other words here"),
        lambda: accounts.add("Eve", [Role.EXECUTIVE], PASSWORD, NOW),
        lambda: exchange("Mei", "Bo"),
        lambda: exchange("Bo", "Mei"),
        another_key,
    ]
    for change in changes:
        change()
        assert adopt(house, table)
        assert as_at(table) == as_at(accounts)
        assert not adopt(house, table)
        assert table.not_as_logged() == []
        assert [table.hash_of(each) for each in table.all()] == [
            accounts.hash_of(each) for each in accounts.all()
        ]
    assert (owner := table.owner_of(CARD)) is not None
    assert owner.name == "Mei"
    assert table.log()[-1].who == "the house"
    (mei,) = [each for each in table.all() if each.name == "Mei"]
    assert table.counts_up(mei, 2)  # of the new key, whose count is below the old one's


def changed(payload: bytes, old: bytes, new: bytes) -> bytes:
    """The message with a change in its copy."""
    body = zlib.decompress(payload[64:])
    assert old in body
    return payload[:64] + zlib.compress(body.replace(old, new, 1))


def test_what_a_signature_covers_and_who_signed(house, tmp_path):
    accounts, key = house
    payload = key.signed(accounts.copy())
    other = HouseKey.open(tmp_path / "other.key")
    forged = [
        b"",
        payload[:63],
        payload[:-1],
        payload + b" ",
        changed(payload, b'"disabled":0', b'"disabled":1'),
        changed(payload, b"dealer", b"EALERd"),
        payload[:64] + zlib.decompress(payload[64:]),
        payload[:64] + zlib.compress(bytes(2**25)),
        other.signed(accounts.copy()),
        bytes(64) + payload[64:],
    ]
    for each in forged:
        with pytest.raises(CopyError, match="did not sign") as refused:
            read_copy(each, key.public)
        assert refused.value.code == "forged"
    assert read_copy(payload, key.public) == accounts.copy()


def test_a_copy_that_this_program_cannot_read_is_refused(house):
    accounts, key = house
    copy = accounts.copy()
    strange = copy.accounts[0].model_copy(update={"roles": "supervisor boss"})
    for each in (copy.model_copy(update={"accounts": (strange,)}), copy.model_copy(update={"version": 0})):
        with pytest.raises(CopyError) as refused:
            read_copy(key.signed(each), key.public)
        assert refused.value.code == "unreadable"


def test_an_older_copy_and_another_one_of_the_same_version_are_refused(house, table):
    accounts, key = house
    old = key.signed(accounts.copy())
    accounts.set_disabled("Mei", disabled=True)
    adopt(house, table)
    fork = accounts.copy().model_copy(update={"accounts": accounts.copy().accounts[:1]})
    for payload in (old, key.signed(fork)):
        with pytest.raises(CopyError, match="already") as refused:
            table.adopt(read_copy(payload, key.public))
        assert refused.value.code == "stale"
    assert as_at(table) == as_at(accounts)


def test_accounts_of_a_house_are_not_changed_at_a_table(house, table):
    adopt(house, table)
    before = as_at(table)
    changes: list[Any] = [
        lambda: table.add("New", [Role.EXECUTIVE], PASSWORD, NOW),
        lambda: table.set_disabled("Mei", disabled=True),
        lambda: table.set_password("Mei", "four other words here"),
        lambda: table.set_roles("Bo", [Role.EXECUTIVE]),
        lambda: table.enroll("Bo", OTHER_CARD),
        lambda: table.remove_card("Mei"),
        lambda: table.add_key("Bo", KEY, 1, "Bo"),
        lambda: table.remove_key("Mei"),
        lambda: table.restore("Mei", "four other words here"),
    ]
    for change in changes:
        with pytest.raises(AccountsError, match="the house's Game Manager keeps the accounts"):
            change()
    assert as_at(table) == before


def test_a_file_with_accounts_of_its_own_is_not_taken_over(house, table):
    table.add("Mei", [Role.DEALER], PASSWORD, NOW)
    with pytest.raises(AccountsError, match="path of a new file"):
        adopt(house, table)


def test_the_next_copy_repairs_what_was_changed_at_the_table(house, table, tmp_path):
    accounts, _ = house
    adopt(house, table)
    with closing(sqlite3.connect(tmp_path / "table.db")) as thief:
        thief.execute("UPDATE accounts SET roles = 'executive' WHERE name = 'Bo'")
        thief.execute("UPDATE accounts SET number = 9, folded = 'x' WHERE name = 'Mei'")
        thief.commit()
    assert [each.altered for each in table.all()] == [True, True]
    adopt(house, table)
    assert as_at(table) == as_at(accounts)


def test_an_altered_account_of_the_house_is_not_copied(house, table, tmp_path):
    adopt(house, table)
    with closing(sqlite3.connect(tmp_path / "house.db")) as thief:
        thief.execute("UPDATE accounts SET roles = 'executive' WHERE name = 'Bo'")
        thief.commit()
    accounts, _ = house
    accounts.add("Eve", [Role.EXECUTIVE], PASSWORD, NOW)
    adopt(house, table)
    assert {each.name: each.roles for each in table.all()}["Bo"] == (Role.DEALER, Role.TECHNICIAN)


def test_the_key_is_made_once_for_its_owner_alone(tmp_path):
    path = tmp_path / "house.key"
    first = HouseKey.open(path).public
    assert HouseKey.open(path).public == first
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("no key")
    with pytest.raises(AccountsError, match="not a key"):
        HouseKey.open(path)
    with pytest.raises(AccountsError, match="cannot be read or made"):
        HouseKey.open(tmp_path / "none" / "house.key")


def test_an_account_too_many_for_a_message_is_refused_and_a_dismissal_is_not(house, table, monkeypatch):
    accounts, key = house

    def longest(size: int) -> None:
        monkeypatch.setattr(accounts_module, "LONGEST_PAYLOAD", size + ROOM)

    longest(accounts.copy().size() - 1)
    before = as_at(accounts)
    adding: list[Any] = [
        lambda: accounts.add("Eve", [Role.DEALER], PASSWORD, NOW),
        lambda: accounts.enroll("Bo", OTHER_CARD),
        lambda: accounts.add_key("Bo", KEY._replace(credential="another key"), 1, "Bo"),
    ]
    for add in adding:
        with pytest.raises(AccountsError, match="there are too many accounts"):
            add()
    assert as_at(accounts) == before
    accounts.set_disabled("Mei", disabled=True)
    accounts.set_password("Bo", "four other words here")
    accounts.remove_card("Mei")
    assert adopt(house, table)
    longest(len(key.signed(accounts.copy())) + 300)
    accounts.add("Eve", [Role.DEALER], PASSWORD, NOW)


def test_the_copy_of_a_thousand_accounts_with_cards_fits_in_a_message(house):
    accounts, key = house
    one = accounts.copy().accounts[0]
    dice = Random(1)
    many = tuple(
        one.model_copy(
            update={
                "name": f"Dealer number {n}",
                "folded": f"dealer number {n}",
                "hash": f"$argon2id$v=19$m=65536,t=3,p=4${b64encode(dice.randbytes(16))!r}${b64encode(dice.randbytes(32))!r}",
                "card": dice.randbytes(32),
                "security_key": None,
                "number": n,
            }
        )
        for n in range(1, 1001)
    )
    copy = accounts.copy().model_copy(update={"accounts": many})
    payload = key.signed(copy)
    assert len(payload) == copy.size() < LONGEST_PAYLOAD - ROOM < len(copy.body())
    assert read_copy(payload, key.public) == copy


@pytest.mark.parametrize("file", ["configs/mosquitto.conf", "deploy/house/node.conf"])
def test_the_brokers_take_the_longest_message(file):
    conf = (Path(__file__).parents[3] / file).read_text()
    assert re.findall(r"^message_size_limit (\d+)$", conf, re.MULTILINE) == [str(LONGEST_PAYLOAD)]


async def test_a_disabled_account_is_gone_from_the_table_and_a_forged_copy_raises_one_alarm(
    house, here, tmp_path, log_lines
):
    accounts, key = house
    clock = Clock()
    takeover = Takeover(tmp_path / "operators.db", key.public, TableAccesses(here.table.engine), clock)

    async def send(copy: HouseCopy, by: HouseKey = key) -> None:
        await takeover.take(Received("punto/house/accounts", by.signed(copy), True))

    await send(accounts.copy())
    browser = await here.signed_on("Mei")
    refused = await browser.ask("POST", "/api/session/key-options", {"password": PASSWORD})
    assert (refused.status, refused.json["code"]) == (409, "house_accounts")
    old = accounts.copy()
    accounts.set_disabled("Mei", disabled=True)
    await send(accounts.copy())
    assert (await browser.get("/api/table")).status == 401
    assert (await here.browser().sign_on("Mei")).status == 401
    for _ in range(3):
        await send(old, HouseKey.open(tmp_path / "other.key"))
        await send(old)
    assert here.events("access_refused")[1:] == [
        {
            "who": None,
            "what": "house_accounts",
            "code": "forged",
            "where": "the broker",
            "kind": "access_refused",
        }
    ]
    assert [alarm.code for alarm in here.table.state.alarms] == ["house_accounts"]
    clock.now += 60
    await send(old)
    assert here.events("access_refused")[-1]["code"] == "stale"
    assert [line["code"] for line in log_lines if "refused" in line["event"]] == ["forged", "stale"]
    assert (await here.browser().sign_on("Mei")).status == 401


@pytest.mark.parametrize(
    ("accounts", "mqtt", "fault"),
    [
        (f'house = "{PUBLIC}"', "[mqtt]", "the house's Game Manager keeps the accounts"),
        (f'house = "{PUBLIC}"', "", "accounts.house: is for accounts that come over MQTT"),
        (f'house = "{PUBLIC[4:]}"', "[mqtt]", "is not the public key of a house"),
        ('house = "no base64"', "[mqtt]", "is not the public key of a house"),
    ],
)
def test_the_configuration_of_a_table_names_the_house(tmp_path, capsys, accounts, mqtt, fault):
    config = tmp_path / "table.toml"
    config.write_text(
        'version = 1\n[table]\nid = "t"\nname = "T"\ngame = "midi-baccarat"\ncards = "keyed"\n[record]\npath = "t.db"\n'
        f'[accounts]\npath = "o.db"\n{accounts}\n{mqtt}\n'
    )

    assert main(["operators", "--config", str(config), "add", "Mei", "--role", "dealer"]) != 0
    assert fault in capsys.readouterr().err
    assert not (tmp_path / "o.db").exists()
