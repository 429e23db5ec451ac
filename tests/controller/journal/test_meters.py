"""The meters of the record: its SQL views, the shift report's and the table's own agree, whatever was corrected."""

import asyncio
from dataclasses import replace

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.evidence import of_count, of_win
from punto.baccarat.table.meters import Handle, Hits, Meters, every, of_game
from punto.baccarat.table.order_kinds import (
    CloseTable,
    CorrectRound,
    VoidRound,
)
from punto.baccarat.table.state import TableState
from punto.configs.expectations import WIN, Expectation, shipped
from punto.configs.game_files import load_game
from punto.controller.config.limits import in_chips
from punto.controller.journal.entries import ROUNDS
from punto.controller.journal.recovery import replay
from punto.messages.metering import metered, meters_of, told
from tests.baccarat.table.croupier import BANKER_NATURAL, PLAYER_NATURAL, TIE, cards
from tests.controller.table_in_this_process import STAKE, Table, edited, rows, settings, table

NINE_OVER_ZERO = "9S KD KH JS"  # a natural


async def deal(here: Table, *hands: str) -> None:
    """These hands at a table whose cards are keyed."""
    await here.do("sign on", "change shoe", "open", *(f"key {hand}" for hand in hands))


@pytest.fixture
async def corrected(tmp_path):
    """A record of 30 hands with wagers, one of which was settled again and one taken back; and the table's own meters."""
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(10, seats=[1, 4])
        last = here.state.history.last
        assert last is not None
        other = next(
            Card(rank + suit)
            for rank in "A23456789TJQK"
            for suit in "SHDC"
            if (card := Card(rank + suit)).points == last.player[0].points and card != last.player[0]
        )
        hands = (other, *last.player[1:]), last.banker
        await here.order(CorrectRound("ana", last.round, *hands, "misread", "eve"))
        await here.play(10, seats=[1, 4])
        assert here.state.history.last is not None
        await here.order(VoidRound("ana", here.state.history.last.round, "misdeal", "eve"))
        await here.play(10, seats=[2])
        return record, here.state


def of_the_table(state: TableState) -> dict[tuple[str, str], int]:
    """How often each rule decided a hand by the table's own meters, without those that never did."""
    meters = of_game(state.history.meters, state.settings.game)
    return {(each.wager or "", each.rule): each.hits for each in meters.hits}


def test_the_views_have_what_the_table_has(corrected):
    record, state = corrected
    meters = of_game(state.history.meters, state.settings.game)
    hits = of_the_table(state)

    ((game, hands, player, banker, tie, natural),) = rows(
        record, "SELECT game, hands, player, banker, tie, natural FROM meters_hands"
    )
    assert (game, hands) == (meters.game, meters.hands) == (state.settings.game.name, 29)
    found = {"player": player, "banker": banker, "tie": tie, "natural": natural}
    assert {name: hits.get(("", name), 0) for name in found} == found
    assert {
        each.wager: (each.wagers, each.staked, each.returned, each.staked - each.returned)
        for each in meters.handle
    } == {
        wager: tuple(rest)
        for wager, *rest in rows(record, "SELECT wager, wagers, dropped, returned, held FROM meters_wagers")
    }
    assert {
        (wager, rule): seen
        for wager, rule, seen in rows(record, "SELECT wager, rule, hits FROM meters_rules WHERE hits > 0")
    } == hits
    assert rows(record, "SELECT DISTINCT hands FROM meters_rules") == [(29,)]


def test_the_views_have_every_rule_though_nobody_has_made_a_wager_and_it_has_never_decided(tmp_path):
    async def play() -> TableState:
        async with table(tmp_path / "table.db", settings("progressive-1", cards="keyed")) as here:
            await deal(here, TIE)
            return here.state

    state = asyncio.run(play())
    found = {
        (wager or None, rule): hits
        for wager, rule, hits in rows(tmp_path / "table.db", "SELECT wager, rule, hits FROM meters_rules")
    }

    assert found.keys() == set(every(state.settings.game))
    assert (found[None, "tie"], found["tie", "tie"], found["progressive", "nine_over_zero"]) == (1, 1, 0)


def test_the_views_count_a_hand_by_the_cards_that_it_was_settled_by_last(tmp_path):
    async def play() -> TableState:
        async with table(tmp_path / "table.db", settings("dragon-bonus-1", cards="keyed")) as here:
            await deal(here, PLAYER_NATURAL)
            hands = cards("KS 5H"), cards("9S KD")
            await here.order(CorrectRound("mei", 1, *hands, "misread"))
            return here.state

    state = asyncio.run(play())
    found = rows(tmp_path / "table.db", "SELECT wager, rule, hits FROM meters_rules WHERE hits > 0")

    assert {(wager, rule): hits for wager, rule, hits in found} == of_the_table(state)
    assert ("", "banker", 1) in found


def test_the_views_have_the_same_expectations_and_errors_as_the_tables_meters(corrected):
    record, state = corrected
    game = state.settings.game
    readings = metered(of_game(state.history.meters, game), game, shipped(game))

    found = rows(record, "SELECT wager, rule, round(expected, 2), round(errors, 2) FROM meters_rules")
    assert {(wager or None, rule): figures for wager, rule, *figures in found} == {
        (each.wager, each.rule): [round(each.expected or 0, 2), each.errors] for each in readings.counts
    }
    ((expected, errors),) = rows(record, "SELECT expected, errors FROM meters_wagers")
    (player,) = readings.wagers
    assert (round(expected, 2), round(errors, 2)) == (round(player.expected or 0, 2), player.errors)


@pytest.mark.parametrize("commission", ["each_win", "shoe_end"])
def test_the_expected_win_has_what_the_tables_chips_round(tmp_path, commission):
    """Banker pays 5% in whole chips of 10.00: of a stake of one chip, the whole win."""
    record, own = tmp_path / "table.db", settings(cards="keyed", commission=commission)
    own = replace(own, game=in_chips(own.game, 1000))

    async def play() -> TableState:
        async with table(record, own) as here:
            await here.do("sign on", "change shoe", "open")
            for hand in [BANKER_NATURAL] * 4 + [PLAYER_NATURAL] * 4:
                await here.do("wager 1 banker 1000", "wager 2 banker 2000", f"key {hand}")
            await here.order(CorrectRound("mei", 8, *(cards("KS 5H"), cards("9S KD")), "misread"))
            await here.order(VoidRound("mei", 8, "misdeal"))
            return here.state

    state = asyncio.run(play())
    game = state.settings.game
    edge = shipped(game)["banker", WIN].mean
    (banker,) = metered(of_game(state.history.meters, game), game, shipped(game)).wagers

    assert banker.expected == pytest.approx(7 * 3000 * edge + 4 * (950 + 900))
    assert banker.errors is not None
    assert abs(banker.errors) < 2
    ((expected, errors),) = rows(record, "SELECT expected, errors FROM meters_wagers")
    assert (expected, errors) == (pytest.approx(banker.expected), pytest.approx(banker.errors, abs=0.006))
    assert replay(record).difference is None


def test_the_hours_of_a_shift_sum_up_to_its_meters(corrected):
    record, _ = corrected
    with edited(record) as shell:
        shell.execute("UPDATE rounds SET ts = '2026-11-21T14:59:59.9' WHERE round <= 10")
        shell.execute("UPDATE rounds SET ts = '2026-11-21T15:00:00.1' WHERE round > 10")

    shift = "FROM meters_rules_by_hour WHERE hour BETWEEN '2026-11-21T14' AND '{}' AND wager = '' AND rule = 'tie'"
    wagers = "SELECT sum(wagers) FROM meters_wagers_by_hour WHERE hour = '2026-11-21T14'"
    one = rows(record, f"SELECT sum(hands), sum(hits), sum(expected) {shift.format('2026-11-21T14')}")
    both = rows(record, f"SELECT sum(hands), sum(hits), sum(expected) {shift.format('2026-11-21T15')}")

    ties = rows(record, "SELECT count(*) FROM hands WHERE winner = 'tie' AND round <= 10")[0][0]
    made = rows(record, "SELECT count(*) FROM settlements JOIN hands USING (round) WHERE round <= 10")
    assert one == [(10, ties, pytest.approx(10 * 0.09516, abs=0.001))]
    assert both == rows(
        record, "SELECT hands, hits, expected FROM meters_rules WHERE wager = '' AND rule = 'tie'"
    )
    assert rows(record, wagers) == made


def test_a_hand_is_counted_by_the_rules_that_it_was_played_with(tmp_path):
    """A house lets a natural 9 over 0 win the progressive, and plays by the sheet again."""
    before = settings("progressive-1", cards="keyed")
    natural = tuple(
        each.with_rule("natural_nine", True) if each.progressive else each for each in before.game.wagers
    )
    after = replace(before, game=replace(before.game, wagers=natural))

    async def play() -> None:
        for own, hands in ((before, 1), (after, 2), (before, 4)):
            async with table(tmp_path / "table.db", own) as here:
                await deal(here, *[NINE_OVER_ZERO] * hands)
                await here.order(CloseTable("mei"))

    asyncio.run(play())
    found = rows(
        tmp_path / "table.db",
        "SELECT rules, hands, hits FROM meters_rules WHERE wager = 'progressive' AND rule = 'nine_over_zero'",
    )

    assert {rules: (hands, hits) for rules, hands, hits in found} == {
        before.game.rules_digest: (5, 0),
        after.game.rules_digest: (2, 2),
    }
    assert rows(tmp_path / "table.db", "SELECT round, rules FROM games") == [
        (1, before.game.rules_digest),
        (2, after.game.rules_digest),
        (4, before.game.rules_digest),
    ]
    assert replay(tmp_path / "table.db").difference is None


def test_what_is_counted_from_the_rounds_is_what_the_table_counted(corrected):
    record, state = corrected
    game = state.settings.game
    records = [
        ROUNDS.validate_json(each) for (each,) in rows(record, "SELECT record FROM rounds ORDER BY round")
    ]

    counted, own = meters_of(game, records), of_game(state.history.meters, game)

    assert metered(counted, game, {}) == metered(own, game, {})


def test_each_count_stands_beside_its_exact_expectation_and_the_standard_errors(corrected):
    _, state = corrected
    game = state.settings.game
    meters = of_game(state.history.meters, game)

    counts = {
        (each.wager, each.rule): each
        for each in metered(meters, game, {(None, "tie"): Expectation(0.1, 0.09)}).counts
    }

    tie = counts[None, "tie"]
    assert tie.expected == pytest.approx(2.9)
    assert tie.errors == pytest.approx((tie.hits - 2.9) / (29 * 0.1 * 0.9) ** 0.5, abs=0.01)
    assert (counts[None, "player"].expected, counts[None, "player"].errors) == (None, None)


def test_hold_stands_beside_its_edge_times_the_drop_and_the_standard_errors(corrected):
    record, state = corrected
    game = state.settings.game
    meters = of_game(state.history.meters, game)
    of_hands = "SELECT sum(stake) FROM settlements JOIN hands USING (round) GROUP BY round"
    stakes = [staked for (staked,) in rows(record, of_hands)]
    assert set(stakes) == {STAKE, 2 * STAKE}
    edge, variance = shipped(game)["player", WIN]

    (player,) = metered(meters, game, shipped(game)).wagers

    assert edge == pytest.approx(0.012351, abs=1e-6)  # the edge of Player in eight decks
    assert player.expected == pytest.approx(sum(stakes) * edge, abs=0.01)
    spread = (sum(stake**2 for stake in stakes) * variance) ** 0.5
    assert player.errors == pytest.approx((player.win - sum(stakes) * edge) / spread, abs=0.01)


def test_what_a_meter_pays_has_no_expected_hold():
    game = load_game("progressive-2")
    drop = (Handle("progressive", 1, 100, 0, 100**2),)
    meters = Meters(game=game.name, rules=game.rules_digest, hands=1, handle=drop)

    (progressive,) = metered(meters, game, shipped(game)).wagers

    assert (progressive.win, progressive.expected, progressive.errors) == (100, None, None)


def test_what_cannot_vary_has_no_standard_errors(corrected):
    _, state = corrected
    game = state.settings.game

    certain = metered(
        of_game(state.history.meters, game), game, {(None, "tie"): Expectation(1.0, 0.0)}
    ).counts[2]

    assert (certain.expected, certain.errors) == (29, None)


def test_a_reading_has_the_evidence_against_its_expectation():
    game = load_game("dragon-bonus-1")
    hits = (Hits(None, "tie", 40), Hits("tie", "tie", 40))
    handle = (Handle("player", 400, 400 * STAKE, 550 * STAKE, 400 * STAKE**2),)
    meters = Meters(game=game.name, rules=game.rules_digest, hands=140, hits=hits, handle=handle)
    known = shipped(game)

    read = metered(meters, game, known)

    counts = {(each.wager, each.rule): each.evidence for each in read.counts}
    tie = of_count(40, 140, known[None, "tie"].mean)
    assert counts[None, "tie"] == counts["tie", "tie"] == pytest.approx(tie, rel=0.005)
    assert tie > 1000
    edge, variance = known["player", WIN]
    off = -150 * STAKE - 400 * STAKE * edge
    assert read.wagers[0].evidence == pytest.approx(
        of_win(off, 400 * STAKE**2, variance, 1 + edge), rel=0.005
    )
    assert {each.evidence for each in metered(meters, game, {}).counts} == {None}


def test_the_chances_that_a_table_tells_are_those_of_its_expectations(corrected):
    _, state = corrected
    game = state.settings.game
    known = shipped(game)
    readings = metered(of_game(state.history.meters, game), game, known)

    chances = told(readings)

    assert chances.keys() == set(every(game))
    for key, chance in chances.items():
        assert chance.mean == pytest.approx(known[key].mean, rel=1e-8)
        assert chance.variance == pytest.approx(known[key].variance, rel=1e-7)
    assert told(metered(Meters(game="", rules=""), game, known)) == {}
