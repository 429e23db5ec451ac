"""The watch over the floor: what is not by chance is one alarm in the words of the pay table, and chance is none."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from punto.baccarat.coup import Coup, Side
from punto.baccarat.table.after_settlement import as_dealt
from punto.baccarat.table.state import RoundRecord
from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.definition import Game, Rule, Wager
from punto.baccarat.wagers.pay import Rounding
from punto.baccarat.wagers.settlement import PlacedWager, settle
from punto.configs.expectations import WIN, Expectation, shipped
from punto.configs.game_files import load_game, shipped_games
from punto.controller.config.limits import in_chips
from punto.house import service
from punto.house import watch as watch_module
from punto.house.choices import choose, dispute
from punto.house.live import Floor
from punto.house.reports import floor_report, shift_report
from punto.house.sheet import floor_sheet
from punto.house.store import GapError, RefusedError, Store
from punto.house.taken import Disputed, Taken
from punto.house.watch import Watch
from punto.messages.metering import told
from punto.messages.meters import CountReading, MeterReadings, TableMeters
from tests.baccarat.table.croupier import cards
from tests.controller.table_in_this_process import eventually
from tests.house.conftest import CALENDAR
from tests.house.tables import with_five_wagers

DAY = datetime(2026, 11, 24, 6, 0, tzinfo=UTC)
"""A gaming day begins."""
A_DAY = timedelta(days=1)
GAME, MANY = with_five_wagers(1800)
HANDS = MANY[:300]
TIES = [each for each in HANDS if each.winner == "tie"]
TOO_MANY_TIES = [*HANDS[:100], *TIES[:20] * 2]
TIE_ALARM = ("Results", "The hands tie")


@pytest.fixture
def store(tmp_path):
    opened = Store(f"sqlite:///{tmp_path}/store.db", CALENDAR)
    yield opened
    opened.close()


@pytest.fixture
def take(store) -> Callable[..., None]:
    """Takes in further rounds of a table, from a moment on and ten seconds apart."""
    number: dict[tuple[str, str], int] = {}

    def take_in(
        records: Iterable[RoundRecord],
        began: datetime,
        table: str = "table-1",
        game: Game = GAME,
        *,
        simulation: bool = False,
        record: str = "aa",
    ) -> None:
        rounds: list[Taken] = []
        record = "rehearsal" if simulation else record
        for each in records:
            number[table, record] = number.get((table, record), 0) + 1
            ts = began + timedelta(seconds=10 * len(rounds))
            told = replace(each, round=number[table, record])
            rounds.append(Taken(table, record, simulation, "USD", ts, game.name, game.rules_digest, told))
        store.take(rounds)

    return take_in


def look(store: Store, now: datetime = DAY + timedelta(hours=20), told=None):
    return Watch(store).look(now, told or {})


def things(found) -> list[tuple[str, str | None]]:
    return [(each.wager, each.rule) for each in found.get("table-1", ())]


def test_a_table_that_plays_by_chance_has_no_deviation(store, take):
    take(HANDS, DAY)

    assert look(store) == {}


def test_too_many_ties_are_one_alarm_in_the_words_of_the_pay_table(store, take):
    take(HANDS, DAY - A_DAY)
    take(TOO_MANY_TIES, DAY)

    first, *others = look(store)["table-1"]

    assert ((first.wager, first.rule), first.since) == (TIE_ALARM, date(2026, 11, 24))
    assert (first.found, first.counted, first.expected) == (48, 140, pytest.approx(140 * 0.0951559680236402))
    assert first.evidence > 1e6
    assert not [each for each in others if "Tie" in each.wager or "tie" in (each.rule or "")]
    assert len({(each.wager, each.rule) for each in others}) == len(others)


def test_the_first_jackpot_of_a_table_is_no_deviation(store, take):
    game = load_game("progressive-1")
    jackpot = Coup(cards("2D KC 3D QC 4D JC"))
    hand = replace(
        HANDS[0], player=jackpot.player, banker=jackpot.banker, winner=jackpot.winner, settlements=()
    )
    assert ("progressive", "two_three_four_diamonds") in game.deciding_rules(jackpot)

    take([*(replace(each, settlements=()) for each in HANDS[:10]), hand], DAY, game=game)

    assert look(store) == {}


def test_ties_that_were_taken_back_are_no_deviation(store, take):
    take(TOO_MANY_TIES, DAY)
    assert things(look(store))[0] == TIE_ALARM

    voided = [
        replace(HANDS[0], status="correction", winner=None, settlements=(), corrects=number)
        for number in range(101, 141)
    ]
    take(voided, DAY + timedelta(hours=2))

    assert look(store) == {}


def test_a_fault_is_found_at_a_table_that_was_in_order_for_weeks(store, take):
    for day in range(30, 2, -1):
        take(MANY[50 * day : 50 * day + 50], DAY - day * A_DAY)
    take([*HANDS[:80], *TIES[:20]], DAY - A_DAY)
    take([*HANDS[:80], *TIES[:20]], DAY)

    first, *_ = look(store)["table-1"]

    assert (first.rule, first.since, first.counted) == ("The hands tie", date(2026, 11, 23), 200)


def test_days_that_are_taken_in_late_are_seen_within_the_hour(store, take):
    watch, now = Watch(store), DAY + timedelta(hours=1)
    assert watch.look(now, {}) == {}
    take(TOO_MANY_TIES, DAY - A_DAY)

    assert watch.look(now + timedelta(minutes=59), {}) == {}
    assert things(watch.look(now + timedelta(hours=1), {}))[0] == TIE_ALARM


def test_more_tables_need_more_evidence(store, take):
    take([*HANDS[:100], *TIES[:24]], DAY)
    assert things(look(store)) == [TIE_ALARM]

    for number in range(2, 60):
        take(HANDS[:5], DAY, table=f"table-{number}")

    assert look(store) == {}


def test_wagers_that_win_too_often_are_a_deviation_of_the_win(store, take):
    """They follow the hands, which come as they should."""
    wager = [PlacedWager(1, "player", 500_00)]
    right = [
        replace(each, settlements=settle(GAME, Coup(as_dealt(each.player, each.banker)), wager))
        if each.winner == "player"
        else replace(each, settlements=())
        for each in MANY[:600]
    ]
    take(right, DAY)

    (found,) = look(store)["table-1"]

    players = sum(each.winner == "player" for each in MANY[:600])
    assert (found.wager, found.rule) == ("Player", None)
    assert (found.found, found.counted) == (-500_00 * players, 500_00 * players)


def in_the_chips_of(game: Game, stake: int) -> list[RoundRecord]:
    """Hands that a seat wagers on Banker, with this amount."""
    wager = [PlacedWager(1, "banker", stake)]
    return [
        replace(each, settlements=settle(game, Coup(as_dealt(each.player, each.banker)), wager))
        for each in MANY
    ]


@pytest.mark.parametrize("commission", ["up", "down"])
def test_a_commission_in_whole_chips_is_no_deviation(store, take, commission):
    """By the game's rounding, a chip on Banker wins nothing, or a whole chip without commission."""
    chips = in_chips(GAME, 1000)
    game = replace(chips, rounding=replace(chips.rounding, commission=commission))
    won = {each.settlements[0].net for each in in_the_chips_of(game, 1000) if each.winner == "banker"}
    assert won == {0 if commission == "up" else 1000}
    store.learn(game)
    take(in_the_chips_of(game, 1000), DAY, game=game)

    assert look(store) == {}
    (banker,) = floor_report(store, DAY.date(), DAY.date()).tables[0].meters.wagers
    assert abs(banker.errors or 9) < 3


@pytest.mark.parametrize("known_first", [True, False])
def test_what_is_not_kept_by_rounding_is_a_deviation_in_whole_chips_too(store, take, known_first):
    """A table that takes two chips of commission where its game takes one."""
    game = in_chips(GAME, 1000)
    right = in_the_chips_of(game, 2000)
    other = [
        replace(
            each,
            settlements=tuple(
                replace(own, returned=own.returned - 1000, net=own.net - 1000, remainder="999999999/1")
                if own.outcome == "win"
                else own
                for own in each.settlements
            ),
        )
        for each in right
    ]
    if known_first:
        store.learn(game)
    take(right, DAY, game=game)
    take(other, DAY, table="table-2", game=game)
    store.learn(game)

    assert things(look(store)) == []
    assert [(each.wager, each.rule) for each in look(store)["table-2"]] == [("Banker", None)]


def test_the_rounding_of_a_hand_that_was_corrected_is_that_of_its_last_settlement(store, take):
    game = in_chips(GAME, 1000)
    store.learn(game)
    banker, player = (next(each for each in MANY if each.winner == side) for side in ("banker", "player"))
    wager = [PlacedWager(1, "banker", 11_000)]
    won, lost = (
        replace(each, settlements=settle(game, Coup(as_dealt(each.player, each.banker)), wager))
        for each in (banker, player)
    )
    (as_won,), (as_lost,) = won.settlements, lost.settlements
    more = as_won.returned - as_lost.returned
    entry = replace(
        won,
        status="correction",
        corrects=1,
        settlements=(replace(as_won, stake=0, returned=more, net=more),),
    )
    take([lost, entry], DAY, game=game)

    (read,) = floor_report(store, DAY.date(), DAY.date()).tables[0].meters.wagers
    edge = shipped(game)["banker", WIN].mean
    assert read.win == -10_000
    assert read.expected == pytest.approx(11_000 * edge + 450)

    take([replace(won, status="correction", winner=None, settlements=(), corrects=1)], DAY, game=game)
    (read,) = floor_report(store, DAY.date(), DAY.date()).tables[0].meters.wagers
    assert read.expected == pytest.approx(0)


def test_the_hands_of_a_rehearsal_are_not_those_of_the_table(store, take):
    take(TOO_MANY_TIES, DAY - A_DAY, simulation=True)
    assert things(look(store))[0] == TIE_ALARM  # while the table is a simulation

    take(HANDS, DAY)
    assert look(store) == {}
    take(TOO_MANY_TIES, DAY + timedelta(hours=2))
    (first, *_) = look(store)["table-1"]
    assert (first.counted, first.since) == (440, DAY.date())


def test_the_hands_of_a_record_that_a_person_rejected_are_not_those_of_the_table(store, take):
    take(HANDS, DAY - A_DAY)
    take(TOO_MANY_TIES, DAY, record="of a stranger")
    assert things(look(store))[0] == TIE_ALARM

    dispute(store, [Disputed("table-1", each, False) for each in ("aa", "of a stranger")])
    assert things(look(store))[0] == TIE_ALARM  # until it is known which record is the table's
    choose(store, "table-1", "aa", {"of a stranger"}, "eve", DAY + timedelta(hours=3))

    for later in (timedelta(hours=20), timedelta(days=1, hours=20)):
        assert look(store, DAY + later) == {}


def test_a_choice_of_a_record_counts_at_the_next_look(store, take):
    take(HANDS, DAY - A_DAY)
    take(TOO_MANY_TIES, DAY, record="of a stranger")
    watch, now = Watch(store), DAY + timedelta(days=1, hours=20)
    assert things(watch.look(now, {}))[0] == TIE_ALARM

    for at, (right, wrong) in enumerate((("aa", "of a stranger"), ("of a stranger", "aa")), 1):
        dispute(store, [Disputed("table-1", each, False) for each in (right, wrong)])
        choose(store, "table-1", right, {wrong}, "eve", now)
        found = watch.look(now + timedelta(minutes=at), {})
        assert things(found)[:1] == ([] if right == "aa" else [TIE_ALARM])


def test_the_amounts_of_a_rehearsal_are_a_report_of_their_own(store, take):
    take(HANDS[:10], DAY, simulation=True)
    take(HANDS[:20], DAY)
    shift = shift_report(store, 24, DAY + timedelta(hours=20))

    for report in (floor_report(store, DAY.date(), DAY.date()), shift):
        assert [(each.table, each.simulation, each.rounds) for each in report.tables] == [
            ("table-1", False, {"played": 20}),
            ("table-1", True, {"played": 10}),
        ]
        assert [
            (each.simulation, each.wager.wagers) for each in report.wagers if each.wager.wager == "player"
        ] == [
            (simulated, sum(own.wager == "player" for each in HANDS[:hands] for own in each.settlements))
            for simulated, hands in ((False, 20), (True, 10))
        ]
        columns, *lines = floor_sheet(report, {})
        simulation = columns.index("simulation")
        assert {len(line) for line in lines} == {len(columns)}
        assert [line[simulation] for line in lines if line[3] == "rounds"] == ["no", "yes"]


def test_a_game_whose_rules_change_in_the_day_raises_no_alarm_and_hides_none(store, take):
    """The hands before and after are each judged by the rules that they were played with."""
    other = replace(GAME, rounding=Rounding(unit=500))
    store.learn(other)
    take(HANDS, DAY)
    take([replace(each, settlements=()) for each in MANY[300:600]], DAY + timedelta(hours=2), game=other)
    assert look(store) == {}

    take([*TOO_MANY_TIES, *TIES * 2], DAY + timedelta(hours=4))
    take([replace(each, settlements=()) for each in MANY[600:900]], DAY + timedelta(hours=6), game=other)
    assert things(look(store))[0] == TIE_ALARM


def test_the_chances_that_a_table_told_of_an_earlier_game_of_the_day_are_kept():
    floor = Floor()
    count = CountReading(wager="own", rule="seven", hits=0, expected=0.5, errors=None, evidence=None)
    reading = MeterReadings(hands=1, counts=(count,), wagers=())
    for number in range(1000):
        meters = TableMeters(
            id=f"table-1/meters/{number}",
            seq=number,
            ts="2026-11-24T06:00:00.000000+00:00",
            simulation=False,
            game="own",
            rules=f"rules {number}",
            lifetime=reading,
            gaming_day=reading,
            day_began="2026-11-24T06:00:00.000000+00:00",
        )
        floor.take("table-1", meters, retained=False)
        assert ("table-1", f"rules {max(0, number - 1)}") in floor.told()

    assert len(floor.told()) < 20


def test_rounds_that_come_twice_or_out_of_order_are_counted_once(store, take):
    told = [
        Taken("table-1", "aa", False, "USD", DAY, GAME.name, GAME.rules_digest, each)
        for each in TOO_MANY_TIES
    ]
    numbered = [each._replace(round=replace(each.round, round=at)) for at, each in enumerate(told, 1)]
    store.take(numbered[:100])
    store.take(numbered[:100])
    with pytest.raises(GapError):
        store.take(numbered[110:])
    assert look(store) == {}
    store.take(numbered[90:])

    (first, *_) = look(store)["table-1"]
    assert (first.found, first.counted) == (48, 140)


def test_a_wager_of_the_house_is_watched_by_the_chances_that_its_table_tells(store, take):
    rules = (
        Rule(name="seven", pays="5 to 1", when=Condition(player_total=(7,))),
        Rule(name="lose", pays="lose"),
    )
    own = Wager(name="own", title="Lucky Seven", rules=rules, side=Side.PLAYER)
    game = replace(GAME, name="own-game", wagers=(*GAME.wagers, own))
    store.learn(game)
    take(HANDS, DAY, game=game)
    key = "table-1", game.rules_digest

    assert look(store) == {}
    told = {key: {("own", "seven"): Expectation(0.01, 0.0099)}}
    assert things(look(store, told=told)) == [("Lucky Seven", "Player has a total of 7")]
    assert look(store, told={("table-2", game.rules_digest): told[key]}) == {}


def test_a_table_whose_figures_cannot_be_judged_does_not_hide_another(store, take, monkeypatch):
    take(TOO_MANY_TIES, DAY)
    take(HANDS[:5], DAY, table="table-2", game=load_game("progressive-1"))
    figures = watch_module._figures

    def fail(key, since, meters, game, told):
        if game is not GAME:
            raise OverflowError
        return figures(key, since, meters, game, told)

    monkeypatch.setattr(watch_module, "_figures", fail)
    watch = Watch(store)
    found = watch.look(DAY + timedelta(hours=20), {})

    assert things(found)[0] == TIE_ALARM
    assert [*watch.unwatched] == ["table-2"]


async def test_a_look_that_fails_does_not_end_the_watch(store, monkeypatch):
    looks: list[int] = []

    def look(*_: object) -> dict[str, tuple[()]]:
        looks.append(1)
        if len(looks) == 1:
            raise KeyError("zz")
        return {"table-1": ()}

    monkeypatch.setattr(Watch, "look", look)
    monkeypatch.setattr(service, "_WATCH_SECONDS", 0.0)
    stored = service._Stored(store, CALENDAR)
    watching = asyncio.create_task(stored.watch(Floor()))
    await eventually(lambda: watching.done() or stored._deviations, "it looks again")

    assert not watching.done()
    watching.cancel()
    await asyncio.wait([watching])


async def test_the_watch_knows_the_games_that_another_game_manager_has_learned(store, take):
    unknown = replace(GAME, name="unknown")
    take([replace(each, settlements=()) for each in HANDS[:5]], datetime.now(UTC), game=unknown)
    stored = service._Stored(store, CALENDAR)
    other = Store(str(store.engine.url), CALENDAR)
    other.learn(unknown)
    other.close()
    watching = asyncio.create_task(stored.watch(Floor()))
    await eventually(lambda: stored.watched, "it has looked")
    watching.cancel()
    await asyncio.wait([watching])

    assert stored._unwatched == {}
    assert store.game(unknown.name, unknown.rules_digest) == unknown


def test_the_win_of_a_wager_is_not_taken_from_a_tables_meters():
    """They have no variance of a win, and a rule has a name."""
    count = CountReading(wager="own", rule="", hits=0, expected=0.5, errors=None, evidence=None)
    rule = count.model_copy(update={"rule": "seven"})

    assert [*told(MeterReadings(hands=1, counts=(count, rule), wagers=()))] == [("own", "seven")]


def test_a_round_with_a_wager_that_its_game_does_not_have_is_refused(store, take):
    hand = next(each for each in HANDS if each.settlements)
    other = replace(hand, settlements=(replace(hand.settlements[0], wager="zz"),))

    with pytest.raises(RefusedError, match="round 1 has a wager 'zz', which its game does not have"):
        take([other], DAY)


def test_the_figures_of_one_table_need_no_more_evidence_of_another(store, take):
    take([*HANDS[:100], *TIES[:24]], DAY)
    assert things(look(store)) == [TIE_ALARM]

    for name in shipped_games():
        take([replace(HANDS[0], settlements=())], DAY, table="table-2", game=load_game(name))

    assert things(look(store)) == [TIE_ALARM]


def test_a_game_that_the_house_does_not_know_is_a_fault_of_its_table_until_it_is_known(store, take):
    watch, unknown = Watch(store), replace(GAME, name="unknown")
    take([replace(each, settlements=()) for each in TOO_MANY_TIES], DAY, game=unknown)
    take(HANDS[:5], DAY, table="table-2")

    assert watch.look(DAY + timedelta(hours=20), {}) == {}
    assert [*watch.unwatched] == ["table-1"]
    assert "it plays the game unknown, which the house does not know" in watch.unwatched["table-1"]

    store.learn(unknown)
    assert things(watch.look(DAY + timedelta(hours=20), {}))[0] == TIE_ALARM
    assert watch.unwatched == {}
