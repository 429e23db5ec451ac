"""The accounts of a house: from the Game Manager over a real broker to a table, which does not need it afterwards."""

import pytest

from punto.controller.accounts.house import HouseKey
from punto.messages.topics import house_accounts
from tests.consoles.consoles import Browser, Service
from tests.controller.table_in_this_process import eventually, rows
from tests.controller.table_on_a_machine import Broker
from tests.house.behind_sign_on import house

KEY = 'house_key = "house.key"'


@pytest.fixture(autouse=True)
def _cheap(cheap_passwords):
    """What a password costs is not what this is about."""


async def signed_on(table: Service, name: str) -> Browser | None:
    browser = Browser(table.http)
    return browser if (await browser.sign_on(name)).status == 200 else None


async def test_people_of_the_house_sign_on_at_a_table_with_and_without_the_game_manager(tmp_path):
    (at_the_table := tmp_path / "table").mkdir()
    public = HouseKey.open(tmp_path / "house.key").public
    with Broker(tmp_path) as broker:
        mqtt = f"[mqtt]\nport = {broker.port}"
        with Service(at_the_table, mqtt, accounts=f'house = "{public}"\nrefusals_per_minute = 1000') as table:
            async with house(tmp_path, accounts=KEY, broker=broker.port) as here:
                await eventually(lambda: "took over" in "".join(table.said()), "the table has the accounts")
                sue = await signed_on(table, "Sue")
                assert sue is not None
                here.accounts.set_disabled("Sue", disabled=True)
                await eventually(lambda: "".join(table.said()).count("took over") == 2, "and the change")
                assert (await sue.get("/api/table")).status == 401
            assert await signed_on(table, "Sue") is None
            assert await signed_on(table, "Eve") is not None
            table.kill()
            table.start()  # and the Game Manager is still away
            assert await signed_on(table, "Eve") is not None
            assert await signed_on(table, "Sue") is None
            broker.publish(house_accounts("punto"), {"version": 99})
            asked = "SELECT payload FROM inputs WHERE payload LIKE '%house_accounts%'"
            await eventually(lambda: rows(table.record, asked), "the refusal is on the record")
            assert '"forged"' in rows(table.record, asked)[0][0]
