"""The meters of the record: its SQL views, the shift report's and the table's own agree, whatever was corrected."""

from collections import Counter
from contextlib import closing
from sqlite3 import connect

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.meters import Drop, Meters, of_game
from punto.baccarat.table.order_kinds import CorrectRound, VoidRound
from punto.configs.expectations import HOLD, Expectation, shipped
from punto.configs.game_files import load_game
from punto.controller.journal import schema
from punto.controller.journal.entries import ROUNDS
from punto.controller.messages.metering import metered, meters_of
from tests.journal.records import make_earlier, recovered
from tests.service.table_in_this_process import STAKE, rows, table


@pytest.fixture
async def corrected(tmp_path):
    """A record of 30 hands with wagers, one of which was settled again and one taken back; and the table's own meters."""
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(10, seats=[1, 4])
        last = here.state.last
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
        assert here.state.last is not None
        await here.order(VoidRound("ana", here.state.last.round, "misdeal", "eve"))
        await here.play(10, seats=[2])
        return record, here.state


def test_the_views_have_what_the_table_has(corrected):
    record, state = corrected
    meters = of_game(state.meters, state.settings.game)
    hits = {(each.wager, each.rule): each.hits for each in meters.hits if each.hits}

    ((game, hands, player, banker, tie, natural),) = rows(
        record, "SELECT game, hands, player, banker, tie, natural FROM meters_hands"
    )
    assert (game, hands) == (meters.game, meters.hands) == (state.settings.game.name, 29)
    found = {"player": player, "banker": banker, "tie": tie, "natural": natural}
    assert {name: hits.get((None, name), 0) for name in found} == found
    assert {each.wager: (each.wagers, each.staked, each.returned) for each in meters.drop} == {
        wager: tuple(rest)
        for wager, *rest in rows(record, "SELECT wager, wagers, dropped, returned FROM meters_wagers")
    }
    settled = Counter(
        (each.wager, each.rule)
        for (text,) in rows(record, "SELECT record FROM rounds WHERE round IN (SELECT round FROM hands)")
        for each in {each.wager: each for each in ROUNDS.validate_json(text).settlements}.values()
    )
    assert {
        (wager, rule): seen
        for wager, rule, seen in rows(record, "SELECT wager, rule, hits FROM meters_rules")
    } == settled


def test_what_is_counted_from_the_rounds_is_what_the_table_counted(corrected):
    record, state = corrected
    game = state.settings.game
    records = [
        ROUNDS.validate_json(each) for (each,) in rows(record, "SELECT record FROM rounds ORDER BY round")
    ]

    counted, own = meters_of(game, records), of_game(state.meters, game)

    assert metered(counted, game, {}) == metered(own, game, {})


def test_each_count_stands_beside_its_exact_expectation_and_the_standard_errors(corrected):
    _, state = corrected
    game = state.settings.game
    meters = of_game(state.meters, game)

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
    meters = of_game(state.meters, game)
    of_hands = "SELECT sum(stake) FROM settlements JOIN hands USING (round) GROUP BY round"
    stakes = [staked for (staked,) in rows(record, of_hands)]
    assert set(stakes) == {STAKE, 2 * STAKE}
    edge, variance = shipped(game)["player", HOLD]

    (player,) = metered(meters, game, shipped(game)).wagers

    assert edge == pytest.approx(0.012351, abs=1e-6)  # the edge of Player in eight decks
    assert player.expected == pytest.approx(sum(stakes) * edge, abs=0.01)
    spread = (sum(stake**2 for stake in stakes) * variance) ** 0.5
    assert player.errors == pytest.approx((player.hold - sum(stakes) * edge) / spread, abs=0.01)


def test_what_a_meter_pays_has_no_expected_hold():
    game = load_game("progressive-2")
    drop = (Drop("progressive", 1, 100, 0, 100**2),)
    meters = Meters(game=game.name, rules=game.rules_digest, hands=1, drop=drop)

    (progressive,) = metered(meters, game, shipped(game)).wagers

    assert (progressive.hold, progressive.expected, progressive.errors) == (100, None, None)


def test_what_cannot_vary_has_no_standard_errors(corrected):
    _, state = corrected
    game = state.settings.game

    certain = metered(of_game(state.meters, game), game, {(None, "tie"): Expectation(1.0, 0.0)}).counts[2]

    assert (certain.expected, certain.errors) == (29, None)


def test_a_record_of_an_earlier_format_gets_the_views_and_keeps_its_snapshots(record):
    snapshots = rows(record, "SELECT seq FROM snapshots")
    make_earlier(record, 3)

    assert recovered(record).differences == []

    assert rows(record, "SELECT hands FROM meters_hands") == [(200,)]
    assert rows(record, "SELECT seq FROM snapshots") == snapshots
    with closing(connect(record)) as shell:
        assert schema.schema_difference(shell) is None
