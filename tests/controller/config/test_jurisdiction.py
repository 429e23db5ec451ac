"""A table is held to the dated limits of its jurisdiction, when its configuration is read and when its game changes."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from punto.configs.problems import ConfigError
from punto.controller.config.file import load_config
from tests.command import punto
from tests.consoles.consoles import consoles
from tests.controller.table_in_this_process import rows
from tests.controller.table_on_a_machine import Table as Service
from tests.controller.table_on_a_machine import inputs, wait_until

TABLE = """\
version = 1
[table]
id = "table-1"
name = "Baccarat 1"
game = "mini-baccarat"
cards = "keyed"
currency = "{currency}"
[jurisdiction]
law = "{law}"
[record]
path = "table-1.db"
"""
LIMITS = "".join(f"[limits.{name}]\nmaximum = 30000\n" for name in ("player", "banker", "tie"))
TODAY = datetime.now(UTC).date()
LAW = """\
title = "Here"
currency = "USD"
[[rules]]
limit = "maximum_wager"
value = 20000
since = "{since}"
until = "{until}"
source = "Here 1"
[[rules]]
limit = "maximum_wagers"
value = 2
since = "{since}"
source = "Here 2"
"""


@pytest.fixture
def table(tmp_path):
    def written(limits=LIMITS, law="washington", currency="USD"):
        path = tmp_path / "table.toml"
        path.write_text(TABLE.format(law=law, currency=currency) + limits, encoding="utf-8")
        return path

    return written


def day(days: int) -> str:
    return (TODAY + timedelta(days)).isoformat()


def own(tmp_path, since: str, until: str) -> str:
    (tmp_path / "here.toml").write_text(LAW.format(since=since, until=until), encoding="utf-8")
    return "here.toml"


def said(path) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        load_config(path)
    return [f"{each.line}: {each.key}: {each.message}" for each in refused.value.problems]


def test_a_table_within_the_law_is_read_and_its_law_is_reported(table):
    ran = punto("check-config", str(table()))

    assert ran.returncode == 0
    assert "law       maximum wager 30000 (WAC 230-15-140)" in ran.stdout
    assert "law       maximum wagers 6 (WAC 230-15-040)" in ran.stdout
    assert "maximum wagers 3" not in ran.stdout  # until 2009


def test_a_maximum_above_the_laws_is_refused_with_its_source(table):
    assert said(table(LIMITS.replace("30000", "30001", 1))) == [
        "12: limits.player: player has a maximum of 30001, but WAC 230-15-140 allows only 30000: write a maximum of at most 30000"
    ]


def test_a_wager_without_a_maximum_is_refused(table):
    assert said(table("")) == [
        f"1: limits.{name}: {name} has no maximum, but WAC 230-15-140 allows only 30000: write a maximum of at most 30000"
        for name in ("player", "banker", "tie")
    ]


@pytest.mark.parametrize(("since", "until", "holds"), [(0, 1, True), (-9, 0, False), (1, 9, False)])
def test_a_rule_holds_from_its_first_day_until_the_day_when_it_ends(table, tmp_path, since, until, holds):
    path = table(law=own(tmp_path, day(since), day(until)))

    amounts = [line for line in (said(path) if since <= 0 else []) if "Here 1" in line]

    assert bool(amounts) is holds
    if since > 0:
        assert load_config(path).law.rules


@pytest.mark.parametrize(("zone", "holds"), [("Pacific/Kiritimati", True), ("Etc/GMT+12", False)])
def test_a_rules_day_is_that_of_the_houses_zone(table, tmp_path, zone, holds):
    """The two zones are 26 hours apart, so at every moment the days differ."""
    (tmp_path / "here.toml").write_text(
        LAW.format(since=datetime.now(ZoneInfo("Pacific/Kiritimati")).date(), until=day(9)), encoding="utf-8"
    )
    path = table(law="here.toml", limits=f'{LIMITS}[calendar]\nzone = "{zone}"\n')

    if holds:
        assert any("Here 1 allows only 20000" in line for line in said(path))
    else:
        assert load_config(path).law.in_force == []


def test_a_table_without_a_jurisdiction_is_told_that_no_law_is_checked(table):
    path = table("[limits.player]\nmaximum = 100000000\n")
    path.write_text(path.read_text(encoding="utf-8").replace('[jurisdiction]\nlaw = "washington"\n', ""))
    ran = punto("check-config", str(path))

    assert ran.returncode == 0
    assert (
        'law       not checked: name a jurisdiction, such as law = "washington" in [jurisdiction]'
        in ran.stdout
    )


def test_a_game_with_more_wagers_than_the_law_lets_a_player_have_is_refused(table, tmp_path):
    assert said(table(law=own(tmp_path, day(-9), day(-1)))) == [
        "5: table.game: Mini Baccarat lets a player have 3 wagers on a coup, but Here 2 allows only 2: use a game file with maximum_wagers"
    ]


@pytest.mark.usefixtures("cheap_passwords")
async def test_a_change_of_game_is_held_to_the_law_of_the_day(table, tmp_path):
    async with consoles(tmp_path) as here:
        here.account("Sup", "supervisor")
        here.desk.law = load_config(table()).law
        browser = await here.signed_on("Sup")

        refused = await browser.order("change_game", game="mini-baccarat")

        assert refused.json["code"] == "bad_request"
        assert "tie has no maximum, but WAC 230-15-140 allows only 300.00 USD" in refused.text


HELD = """\
[jurisdiction]
law = "here.toml"
[rules.dragon_bonus_player]
requires_base = "none"
"""
HOUSE = {name: {"maximum": 20000} for name in ("player", "banker", "tie")}


@pytest.fixture
def service(tmp_path):
    """A running table whose law allows 300.00 today. Each base wager has a maximum of 200.00."""
    allow(tmp_path, 30000)
    limits = "".join(f"[limits.{name}]\nmaximum = 20000\n" for name in HOUSE)
    with Service(tmp_path, None, sections=HELD + limits) as running:
        running.order("sign_on")
        yield running


def allow(folder, most: int) -> None:
    law = LAW.replace("20000", str(most)).replace("value = 2\n", "value = 6\n")
    (folder / "here.toml").write_text(law.format(since=day(-1), until=day(9)), encoding="utf-8")


def change_limits(service, most: int) -> dict[str, Any]:
    limits = {name: {"maximum": most} for name in HOUSE}
    answer: dict[str, Any] = service.ask(order="change_game", game="dragon-bonus-1", limits=limits)
    return answer


def maxima(service) -> set[int]:
    return {each["maximum"] for each in service.status()["limits"] if each["wager"] in HOUSE}


def test_a_running_service_holds_a_change_of_game_to_its_law_and_its_houses_rules(service):
    refused = change_limits(service, 30001)
    assert "Here 1 allows only 300.00 USD" in refused["reason"]

    assert change_limits(service, 30000)["accepted"]
    (changed,) = inputs(service.record, "change_game")
    wagers = {each["name"]: each for each in changed["game"]["wagers"]}
    assert wagers["dragon_bonus_player"]["requires_base"] == "none"
    assert wagers["dragon_bonus_banker"]["requires_base"] == "same_side"


@pytest.mark.soak
def test_limits_that_a_supervisor_chose_stay_over_a_start_until_the_law_forbids_them(service, tmp_path):
    assert change_limits(service, 30000)["accepted"]
    service.stop()
    service.start()
    assert maxima(service) == {30000}

    service.stop()
    allow(tmp_path, 20000)
    service.start()

    assert maxima(service) == {20000}
    alarms = rows(service.record, "SELECT text FROM incidents WHERE code = 'outside_the_law'")
    assert [
        "player has a maximum of 300.00 USD, but Here 1 allows only 200.00 USD" in text for (text,) in alarms
    ] == [True]
    assert any("outside_the_law" in line and '"warning"' in line for line in service.said())


@pytest.mark.soak
def test_in_mid_shoe_a_start_with_limits_that_the_law_forbids_is_refused(service, tmp_path):
    assert change_limits(service, 30000)["accepted"]
    service.order("change_shoe")
    service.stop()
    allow(tmp_path, 20000)
    service.begin_to_start()
    wait_until(lambda: not service.running, "it refuses to start")

    assert "start without [jurisdiction], close the table, and then start with [jurisdiction]" in "".join(
        service.said()
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"law": "washingtom"}, "9: jurisdiction.law: there is no jurisdiction 'washingtom'; the shipped jurisdictions are: washington; to use your own jurisdiction file, write the path of the file"),
        ({"law": "none.toml"}, "9: jurisdiction.law: there is no jurisdiction file "),
        ({"currency": "EUR"}, "9: jurisdiction.law: the limits of Washington State are in USD, but the table plays in EUR"),
    ],
)  # fmt: skip
def test_a_law_that_cannot_be_used_is_reported(table, changed, message):
    (found,) = said(table(**changed))

    assert found.startswith(message)


def test_a_rule_that_never_holds_is_refused(table, tmp_path):
    (found,) = said(table(law=own(tmp_path, day(1), day(1))))

    assert "until" in found
    assert "must be a later day than since" in found
