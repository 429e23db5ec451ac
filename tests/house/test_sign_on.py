"""Signing on at the pages of a house: who may read what, and what the store says of it."""

import asyncio
from urllib.parse import urlsplit

import pytest
from sqlalchemy import func, select

from punto.baccarat.table.events import SessionEnded
from punto.configs.problems import ConfigError
from punto.consoles.entrance import FloorAccesses
from punto.house import schema
from punto.house.config import load_game_manager
from punto.house.store import Store
from punto.runtime.gaming_days import Calendar
from tests.consoles.consoles import PASSWORD, Browser
from tests.controller.table_in_this_process import eventually
from tests.deadline import DEADLINE
from tests.house.behind_sign_on import house
from tests.house.pages.house import Floor, served

READERS = ["Ada", "Tom", "Sue", "Eve"]
ADDRESSES = [
    "/api/floor",
    "/api/floor/events",
    "/api/alarms",
    "/api/reports/2026-01-01/2026-01-02",
    "/api/shift",
    "/api/shift.csv",
    "/api/people/2026-01-01/2026-01-02",
    "/api/shoes/2026-01-01/2026-01-02",
    "/api/alarms/choices",
    "/api/reader",
    "/api/progressives",
    "/api/progressives/2026-01-01/day.csv",
    "/api/nothing",
]


@pytest.fixture(autouse=True)
def _cheap(cheap_passwords):
    """What a password costs is not what these tests are about."""


async def test_without_a_session_nothing_is_read_but_the_sign_on_page(tmp_path):
    async with house(tmp_path) as here:
        for path in ADDRESSES[:-1]:
            answer = await here.browser().get(path)
            assert (path, answer.status, answer.json["code"]) == (path, 401, "signed_off")
        assert (await here.browser().get("/api/nothing")).status == 404
        for path, to in (
            ("/", "/"),
            ("/alarms", "/alarms"),
            ("/people?since=2026-01-01", "/people%3Fsince%3D2026-01-01"),
        ):
            page = await here.browser().get(path)
            assert (page.status, page.headers["location"]) == (303, f"/sign-on/?to={to}")
        assert (await here.browser().get("/api/alarms/events")).status == 401
        assert (await here.browser().get("/sign-on/")).status == 200
        forged = here.browser()
        forged.cookie = "x" * 43
        assert (await forged.get("/api/floor")).status == 401
        written = await forged.ask("POST", "/api/alarms/1/1/0/acknowledgement", {"note": "n"})
        assert written.status == 401


async def test_pages_that_ask_nobody_to_sign_on_have_the_same_headers_and_bounds(tmp_path):
    async with served(tmp_path, Floor().view) as address:
        browser = Browser(urlsplit(address).port or 0)
        page = await browser.get("/")
        long = await browser.ask("POST", "/api/alarms/1/1/0/acknowledgement", {"note": "x" * 20_000})
        short = await browser.ask("POST", "/api/alarms/1/1/0/acknowledgement", {"note": "x"})

    assert page.headers["cross-origin-opener-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert (long.status, short.status) == (413, 403)


@pytest.mark.parametrize("path", ["/static", "/shared", "/alarms/"])
async def test_a_missing_or_extra_slash_leads_to_no_host_that_the_request_names(tmp_path, path):
    async with served(tmp_path, Floor().view) as address:
        browser = Browser(urlsplit(address).port or 0)
        answer = await browser.ask("GET", path, headers={"Host": "evil.example"})

    assert answer.status == 307
    assert answer.headers["location"] == (path.removesuffix("/") if path.endswith("/") else f"{path}/")


async def test_the_roles_that_may_read_the_floor_sign_on_and_it_is_in_the_store(tmp_path):
    async with house(tmp_path) as here:
        for name in READERS:
            browser = await here.signed_on(name)
            for path in ADDRESSES[:1] + ADDRESSES[2:-1]:
                if "progressives" not in path:  # books have readers of their own
                    assert (await browser.get(path)).status == 200
            page = await browser.get("/")
            assert page.status == 200
            assert page.headers["cache-control"] == "no-cache"
            assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert here.accesses() == [("session_begun", name, "signed on", "127.0.0.1") for name in READERS]


async def test_a_dealer_and_a_wrong_password_are_refused_and_it_is_in_the_store(tmp_path):
    async with house(tmp_path) as here:
        dealer = await here.browser().sign_on("Dan")
        wrong = await here.browser().sign_on("Sue", "not the password")
        nobody = await here.browser().sign_on("my password", PASSWORD)
        wrong_of_dealer = await here.browser().sign_on("Dan", "not the password")

        assert (dealer.status, dealer.json["code"]) == (403, "not_of_role")
        assert "set-cookie" not in dealer.headers
        assert {each.status for each in (wrong, nobody, wrong_of_dealer)} == {401}
        assert wrong.json == nobody.json == wrong_of_dealer.json
        assert here.accesses() == [
            ("access_refused", "Dan", "refused sign_on: not_of_role", "127.0.0.1"),
            ("access_refused", "Sue", "refused sign_on: wrong_password", "127.0.0.1"),
            ("access_refused", None, "refused sign_on: unknown_name", "127.0.0.1"),
            ("access_refused", "Dan", "refused sign_on: wrong_password", "127.0.0.1"),
        ]


async def test_what_is_being_recorded_is_not_recorded_again(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/store.db", Calendar.of())
    accesses = FloorAccesses(store)
    recording = asyncio.create_task(accesses.record(SessionEnded("Sue", "signed off")))
    await asyncio.sleep(0)  # the store records it
    await accesses.settle()
    await recording

    with store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(schema.ACCESSES)).scalar_one() == 1
    store.close()


async def test_wrong_passwords_lock_an_account_out(tmp_path):
    async with house(tmp_path, accounts="lock_out_after = 2") as here:
        for _ in range(2):
            await here.browser().sign_on("Sue", "not the password")
        locked = await here.browser().sign_on("Sue")

        assert (locked.status, locked.json["code"]) == (429, "locked_out")


async def test_nobody_signs_on_while_the_store_is_away_and_then_everybody_can(tmp_path):
    async with house(tmp_path) as here:
        eve = await here.signed_on("Eve")
        here.do("ALTER TABLE accesses RENAME TO away")
        right = await here.browser().sign_on("Sue")
        wrong = await here.browser().sign_on("Sue", "not the password")
        assert (right.status, right.json["code"]) == (503, "store_away")
        assert "set-cookie" not in right.headers
        assert "nobody can sign on without a record" in right.json["reason"]
        assert wrong.json == right.json  # which tells nobody whether the password is right
        assert (await eve.get("/api/floor")).status == 200
        assert (await eve.sign_off()).status == 503
        assert (await eve.get("/api/floor")).status == 401
        here.do("ALTER TABLE away RENAME TO accesses")
        await eventually(
            lambda: ("session_ended", "Eve", "session ended: signed off", None) in here.accesses(),
            "the end of the session is in the store",
        )
        assert (await here.browser().sign_on("Sue")).status == 200
        assert len(here.accesses()) == 3


async def test_only_those_who_may_read_a_meters_books_at_a_table_read_those_of_the_house(tmp_path):
    async with house(tmp_path) as here:
        for name in READERS:
            browser = await here.signed_on(name)
            for path in ("/api/progressives", "/api/progressives/2026-01-01/week.csv"):
                answer = await browser.get(path)
                assert (name, answer.status) == (name, 403 if name == "Tom" else 200)
        assert ("access_refused", "Tom") in {each[:2] for each in here.accesses()}


async def test_a_disabled_account_ends_its_session_and_its_stream(tmp_path):
    async with house(tmp_path) as here:
        browser = await here.signed_on("Ada")
        stream = asyncio.create_task(browser.get("/api/floor/events"))
        await asyncio.sleep(0.3)
        assert not stream.done()
        here.accounts.set_disabled("Ada", disabled=True)
        ended = await asyncio.wait_for(stream, DEADLINE)

        assert ended.text.startswith("event: floor")
        assert (await browser.get("/api/floor")).status == 401
        assert here.accesses()[-1] == ("session_ended", "Ada", "session ended: the account was changed", None)


async def test_a_page_that_nobody_touches_signs_off(tmp_path):
    async with house(tmp_path, "idle_minutes = 10") as here:
        reads, shows = await here.signed_on("Ada"), await here.signed_on("Tom")
        for _ in range(3):
            here.clock.now += 300
            await reads.get("/api/alarms")
            for path in ("/api/floor", "/api/reader", "/api/progressives"):
                await shows.get(path)

        assert (await reads.get("/api/floor")).status == 200
        assert (await shows.get("/api/floor")).status == 401


async def test_a_request_of_another_site_or_without_the_token_changes_nothing(tmp_path):
    async with house(tmp_path) as here:
        browser = await here.signed_on("Sue")
        note = {"note": "n"}
        path = "/api/alarms/1/1/0/acknowledgement"
        other = await browser.ask(
            "POST", path, note, {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
        )
        bare = await browser.ask("POST", path, note, {"X-CSRF-Token": None})
        rebound = await browser.ask("GET", "/api/floor", headers={"Host": "evil.example"})

        assert [(each.status, each.json["code"]) for each in (other, bare, rebound)] == [
            (403, "cross_site"),
            (403, "csrf"),
            (403, "other_host"),
        ]


async def test_behind_tls_the_cookies_go_over_tls_alone(tmp_path, certificate):
    files = 'host = "0.0.0.0"\ncertificate = "certificate.pem"\nkey = "key.pem"'
    async with house(tmp_path, files, trusted=certificate) as here:
        browser = await here.signed_on("Ada")

        assert set(browser.cookies) == {f"__Host-punto_{what}_{here.port}" for what in ("session", "browser")}
        answer = await browser.get("/api/floor")
        assert (answer.status, answer.headers["strict-transport-security"]) == (200, "max-age=31536000")


@pytest.mark.parametrize(
    ("pages", "accounts", "fault"),
    [
        ('host = "0.0.0.0"', "", "write certificate and key"),
        ('host = "0.0.0.0"', '[accounts]\npath = "o.db"', "write certificate and key"),
        ('host = "0.0.0.0"\ncertificate = "c"\nkey = "k"', "", "ask nobody to sign on"),
        ('host = "0.0.0.0"\ncertificate = "c"\nkey = "k"', '[accounts]\npath = "o.db"', None),
        ("", '[accounts]\npath = "o.db"\napproval = "page"', "approval"),
        ("", '[accounts]\npath = "o.db"', None),
        ("", "", None),
    ],
)
def test_other_machines_reach_only_pages_with_accounts_and_tls(tmp_path, pages, accounts, fault):
    config = tmp_path / "game-manager.toml"
    config.write_text(f'version = 1\n[store]\npath = "s.db"\n[pages]\n{pages}\n{accounts}\n')
    if fault is None:
        load_game_manager(config)
    else:
        with pytest.raises(ConfigError, match=fault):
            load_game_manager(config)
