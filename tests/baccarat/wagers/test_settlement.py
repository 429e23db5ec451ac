from dataclasses import replace

import pytest

from punto.baccarat.wagers.definition import Game, Limits, Rule
from punto.baccarat.wagers.pay import Rounding
from punto.baccarat.wagers.settlement import (
    Outcome,
    PlacedWager,
    Settlement,
    WagerRefusedError,
    check_one_side,
    check_wagers,
    commission_of,
    give_back,
    settle,
)
from punto.configs.game_files import load_game
from tests.baccarat.wagers.coups import OVER_ZERO, coup

MINI = load_game("mini-baccarat")
DRAGON = load_game("dragon-bonus-1")
CANBERRA = load_game("canberra")
DAI = load_game("dai-bacc")
PROGRESSIVE = load_game("progressive-1")
BANKER_WINS = "2D JS QC KS 8C 8C"
BANKER_WINS_WITH_SIX = "TH 6S 2D KC JH"


def having(*wagers: tuple[str, int]) -> list[PlacedWager]:
    return [PlacedWager(3, name, amount) for name, amount in wagers]


LIMITED = replace(
    MINI,
    wagers=tuple(replace(wager, limits=Limits(minimum=500, maximum=5000, step=250)) for wager in MINI.wagers),
)


def shared(game: Game, name: str, share: str) -> Game:
    """The game with a wager that is limited by its seat's base wager."""
    own = replace(game.wager(name), limits=replace(game.wager(name).limits, maximum_of_base=share))
    return replace(game, wagers=tuple(own if each.name == name else each for each in game.wagers))


@pytest.mark.parametrize(
    ("game", "wagers", "code", "message"),
    [
        (
            shared(DRAGON, "dragon_bonus_player", "50%"),
            having(("player", 1001), ("banker", 5000), ("dragon_bonus_player", 501)),
            "above_share",
            "501 minor units on dragon_bonus_player is above 50% of the seat's largest wager on player, which is 500 minor units",
        ),
        (
            shared(MINI, "tie", "100%"),
            having(("tie", 1)),
            "above_share",
            "1 minor units on tie is above 100% of the seat's largest wager on player or banker, which is 0 minor units",
        ),
        (MINI, having(("dragon", 5)), "unknown_wager", "Mini Baccarat has no wager 'dragon'; it has player, banker, tie"),
        (MINI, having(("tie", 5), ("tie", 5)), "doubled_wager", "seat 3 has tie twice: give one amount"),
        (LIMITED, having(("tie", 499)), "below_minimum", "499 minor units on tie is below its minimum of 500 minor units"),
        (MINI, having(("tie", 0)), "below_minimum", "0 minor units on tie is below its minimum of 1 minor units"),
        (LIMITED, having(("tie", 5001)), "above_maximum", "5001 minor units on tie is above its maximum of 5000 minor units"),
        (LIMITED, having(("tie", 600)), "off_step", "600 minor units on tie is not a multiple of its step of 250 minor units"),
        (
            DRAGON,
            having(("dragon_bonus_player", 500)),
            "needs_base",
            "dragon_bonus_player also needs a wager of the same seat on player",
        ),
        (
            DRAGON,
            having(("banker", 500), ("tie", 500), ("dragon_bonus_player", 500)),
            "needs_base",
            "dragon_bonus_player also needs a wager of the same seat on player",
        ),
        (
            DAI,
            having(("player", 5), ("banker", 5), ("kill", 5), ("ox_6", 5), ("tiger_7", 5)),
            "too_many_wagers",
            "5 wagers are more than the 4 that a player may have on one coup",
        ),
    ],
)  # fmt: skip
def test_wagers_that_may_not_stand_are_refused_with_the_reason(game, wagers, code, message):
    with pytest.raises(WagerRefusedError) as error:
        check_wagers(game, wagers)

    assert (error.value.code, str(error.value)) == (code, message)


@pytest.mark.parametrize(
    ("game", "wagers", "currency", "message"),
    [
        (LIMITED, having(("tie", 499)), "USD", "4.99 USD on tie is below its minimum of 5.00 USD"),
        (LIMITED, having(("tie", 5001)), "JPY", "5,001 JPY on tie is above its maximum of 5,000 JPY"),
        (LIMITED, having(("tie", 600)), "KWD", "0.600 KWD on tie is not a multiple of its step of 0.250 KWD"),
        (
            shared(DRAGON, "dragon_bonus_player", "50%"),
            having(("dragon_bonus_player", 501), ("player", 1001)),
            "USD",
            "5.01 USD on dragon_bonus_player is above 50% of the seat's largest wager on player, which is 5.00 USD",
        ),
    ],
)
def test_a_refusal_has_amounts_as_money_of_the_tables_currency(game, wagers, currency, message):
    with pytest.raises(WagerRefusedError) as error:
        check_wagers(game, wagers, currency)

    assert str(error.value) == message


def test_a_base_wager_of_any_kind_is_named_where_any_will_do():
    bonus = replace(DRAGON.wager("dragon_bonus_player"), requires_base="any")
    game = replace(DRAGON, wagers=(*MINI.wagers, bonus))

    check_wagers(game, having(("dragon_bonus_player", 500), ("tie", 1)))
    with pytest.raises(WagerRefusedError, match="on player or banker or tie"):
        check_wagers(game, having(("dragon_bonus_player", 500)))


@pytest.mark.parametrize(
    ("game", "wagers"),
    [
        (MINI, having()),
        (MINI, having(("tie", 1))),
        (MINI, having(("player", 10**12))),
        (LIMITED, having(("tie", 500), ("player", 5000), ("banker", 750))),
        (DRAGON, having(("dragon_bonus_player", 500), ("player", 1))),
        (DRAGON, having(("player", 1), ("dragon_bonus_player", 10000))),
        (CANBERRA, having(("dragon_bonus_player", 1), ("dragon_bonus_banker", 1))),
        (DAI, having(("kill", 5), ("ox_6", 5), ("tiger_7", 5), ("banker", 5))),
        (
            shared(DRAGON, "dragon_bonus_player", "50%"),
            having(("dragon_bonus_player", 500), ("player", 1001)),
        ),
        (shared(MINI, "tie", "10%"), having(("tie", 100), ("player", 500), ("banker", 1000))),
    ],
)
def test_wagers_within_the_limits_stand(game, wagers):
    check_wagers(game, wagers)


@pytest.mark.parametrize(
    ("unit", "commission", "stake", "returned", "remainder"),
    [
        # 5% of 1.07 is 5.35 cents
        (1, "up", 107, 208, "13/20"),
        (1, "down", 107, 209, "-7/20"),
        (1, "nearest", 107, 209, "-7/20"),
        # 5% of 1.10 is 5.5 cents: a quarter or nothing
        (25, "up", 110, 195, "39/2"),
        (25, "down", 110, 220, "-11/2"),
        (25, "nearest", 110, 220, "-11/2"),
        (25, "nearest", 250, 475, "25/2"),
        (25, "up", 100_00, 195_00, "0"),
        (1, "up", 1, 1, "19/20"),
        (25, "up", 10, 10, "19/2"),
    ],
)
@pytest.mark.parametrize("mode", ["up", "down"])
def test_a_commission_that_is_not_whole_is_rounded_and_not_the_win_and_never_exceeds_it(
    unit, mode, commission, stake, returned, remainder
):
    game = replace(MINI, rounding=Rounding(unit=unit, mode=mode, commission=commission))

    (settled,) = settle(game, coup(BANKER_WINS), having(("banker", stake)))

    assert settled == Settlement(
        3, "banker", Outcome.WIN, stake, returned, returned - stake, "banker_wins", remainder
    )
    assert settled.net + commission_of(game, settled) == stake


@pytest.mark.parametrize(
    ("stake", "mode", "net", "commission"), [(101, "up", 48, 3), (101, "down", 47, 3), (1, "up", 0, 0)]
)
def test_a_win_that_is_not_whole_is_rounded_beside_its_commission(stake, mode, net, commission):
    pays = tuple(
        replace(each, pays="1 to 2 less 5%") if each.wins else each for each in MINI.wager("banker").rules
    )
    banker = replace(MINI.wager("banker"), rules=pays)
    game = replace(MINI, wagers=(MINI.wager("player"), banker), rounding=Rounding(mode=mode))

    (settled,) = settle(game, coup(BANKER_WINS), having(("banker", stake)))

    assert (settled.net, commission_of(game, settled)) == (net, commission)


def test_only_a_win_less_a_commission_has_one():
    won = settle(MINI, coup(BANKER_WINS), having(("player", 100), ("banker", 100), ("tie", 100)))
    returned = give_back(having(("banker", 100)))

    assert [commission_of(MINI, each) for each in (*won, *returned)] == [0, 5, 0, 0]


def test_half_on_six_of_an_odd_stake_keeps_the_half_cent_on_the_record():
    (settled,) = settle(CANBERRA, coup(BANKER_WINS_WITH_SIX), having(("banker", 5)))

    assert (settled.returned, settled.net, settled.remainder) == (7, 2, "1/2")


def test_rounding_never_touches_a_stake_that_goes_back():
    game = replace(MINI, rounding=Rounding(unit=25, mode="down"))

    (settled,) = settle(game, coup("9S 9H TH KC"), having(("player", 107)))

    assert (settled.outcome, settled.returned, settled.net, settled.remainder) == (Outcome.PUSH, 107, 0, "0")


@pytest.mark.parametrize(
    ("pays", "returned", "net", "remainder"),
    [("30 to 1", 31 * 7, 30 * 7, "0"), ("30 for 1", 30 * 7, 29 * 7, "0"), ("3 for 2", 10, 3, "1/2")],
)
def test_to_one_gives_the_stake_back_besides_and_for_one_does_not(pays, returned, net, remainder):
    tie = MINI.wager("tie")
    rule = Rule(name="tie", pays=pays, when=tie.rules[0].when)
    game = replace(MINI, wagers=(MINI.wagers[0], replace(tie, rules=(rule,))))

    (settled,) = settle(game, coup("9S 9H TH KC"), having(("tie", 7)))

    assert (settled.returned, settled.net, settled.remainder) == (returned, net, remainder)


def test_wagers_are_settled_each_by_itself_and_in_the_order_given():
    wagers = [PlacedWager(2, "tie", 5), PlacedWager(1, "player", 7), PlacedWager(2, "banker", 100)]

    settled = settle(MINI, coup(BANKER_WINS), wagers)

    assert [(each.seat, each.wager, each.returned) for each in settled] == [
        (2, "tie", 0),
        (1, "player", 0),
        (2, "banker", 195),
    ]


def test_a_misdeal_gives_every_stake_back_whole():
    assert give_back([PlacedWager(2, "tie", 5), PlacedWager(1, "player", 7)]) == (
        Settlement(2, "tie", Outcome.VOID, 5, 5, 0, "void"),
        Settlement(1, "player", Outcome.VOID, 7, 7, 0, "void"),
    )


# --- a wager that wins only with the hand that its seat's base wager is on

DIAMONDS = {side: coup(OVER_ZERO[side, "diamonds"][0]) for side in ("player", "banker")}
UNSUITED = {side: coup(OVER_ZERO[side, "unsuited"][0]) for side in ("player", "banker")}


def beside(seat: int, *bases: str) -> list[PlacedWager]:
    return [PlacedWager(seat, each, 10_00) for each in (*bases, "progressive")]


@pytest.mark.parametrize(
    ("bases", "won_by_player", "won_by_banker"),
    [
        (("player",), "win", "lose"),
        (("banker",), "lose", "win"),
        (("player", "banker"), "win", "win"),
        (("player", "tie"), "win", "lose"),
        (("tie",), "lose", "lose"),
        ((), "lose", "lose"),
    ],
)
def test_a_progressive_wager_wins_beside_a_base_wager_that_wins(bases, won_by_player, won_by_banker):
    outcomes = [settle(PROGRESSIVE, UNSUITED[side], beside(3, *bases))[-1] for side in ("player", "banker")]

    assert [each.outcome for each in outcomes] == [won_by_player, won_by_banker]
    for each in outcomes:
        won = each.outcome == Outcome.WIN
        assert (each.rule, each.returned) == (("two_three_four_unsuited", 10_000_00) if won else ("lose", 0))


def test_each_seats_progressive_wager_goes_by_its_own_base_wagers():
    wagers = [*beside(1, "banker"), *beside(2, "player"), *beside(4, "tie"), *beside(7, "banker", "player")]

    settled = settle(PROGRESSIVE, DIAMONDS["player"], wagers)

    assert [(each.seat, each.outcome) for each in settled if each.wager == "progressive"] == [
        (1, "lose"),
        (2, "award"),
        (4, "lose"),
        (7, "award"),
    ]


def test_the_order_of_a_seats_wagers_does_not_matter():
    wagers = beside(2, "player")[::-1]

    assert settle(PROGRESSIVE, DIAMONDS["player"], wagers)[0].outcome == Outcome.AWARD


@pytest.mark.parametrize(
    ("kind", "rule"), [("diamonds", "two_three_four_diamonds"), ("suited", "two_three_four_suited")]
)
def test_a_share_of_the_meter_is_an_award_and_the_settlement_returns_nothing(kind, rule):
    settled = settle(PROGRESSIVE, coup(OVER_ZERO["banker", kind][0]), beside(3, "banker"))[-1]

    assert settled == Settlement(3, "progressive", Outcome.AWARD, 10_00, 0, -10_00, rule)


def test_a_wager_that_no_rule_decides_loses():
    """A record from before every rule had to be written has none that loses."""
    wager = replace(MINI.wager("player"), rules=MINI.wager("player").rules[:1])
    game = replace(MINI, wagers=(wager,))

    assert settle(game, coup(BANKER_WINS), having(("player", 5))) == (
        Settlement(3, "player", Outcome.LOSE, 5, 0, -5, "lose"),
    )


def test_a_loss_that_is_written_is_by_the_rules_own_name():
    barred = Rule(name="barred", pays="lose", when=MINI.wager("banker").rules[0].when)
    game = replace(MINI, wagers=(replace(MINI.wager("banker"), rules=(barred,)),))

    (settled,) = settle(game, coup(BANKER_WINS), having(("banker", 5)))

    assert (settled.outcome, settled.rule) == (Outcome.LOSE, "barred")


@pytest.mark.parametrize("beside", [(), ("player",), ("banker",), ("tie",), ("player", "tie")])
def test_a_wager_that_is_made_beside_one_side_only_is_made_so(beside):
    check_one_side(DRAGON, DRAGON.wager("player"), having(*((name, 500) for name in beside)))


def test_beside_both_sides_it_is_refused():
    with pytest.raises(WagerRefusedError) as error:
        check_one_side(DRAGON, DRAGON.wager("tie"), having(("player", 500), ("banker", 500)))

    assert (error.value.code, str(error.value)) == (
        "both_sides",
        "tie needs a wager on Player or on Banker, not on both",
    )
