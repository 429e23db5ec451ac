"""The table and its progressive: what the cards tell the game, and the game the meter."""

from dataclasses import replace
from typing import Any

import pytest

from punto.baccarat.progressive.effects import CoinsCounted, WinPagePrinted
from punto.baccarat.progressive.events import ChangeSettings, PrintWinPage
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.progressive.state import AwardState
from punto.baccarat.progressive.state import Phase as BooksPhase
from punto.baccarat.table.effects import AwardChanged, MeterMoved
from punto.baccarat.table.events import ServiceStarted
from punto.baccarat.table.state import Phase, TablesProgressive
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.settlement import Outcome, Settlement
from tests.baccarat.table.croupier import LONG, Croupier, cards, game, happenings, settings

QUARTER = "2H KC 3H JC 4H KD"  # Player 2-3-4 of hearts, 9 over 0: 25% of the meter
FORTY = "2H KC 2D JC 5H KD"  # another 9 over 0: 40 for 1
UNSUITED = "2H KC 3D JC 4H KD"  # 1000 for 1
LOSES = LONG  # 9 over 4, which is no award
THE_SAME = "KS 5S 4H over 2S 3S 9D"  # another card, and no award either


def metered(*commands: str, game_name: str = "progressive-2", **meter: Any) -> Croupier:
    """At betting, with the meter in service and base wagers of seats 2 and 5 on Player and 3 on Banker."""
    croupier = Croupier.at_betting(game_name=game_name, meter=meter).do("meter")
    croupier.do("wager 2 player 500", "wager 5 player 500", "wager 3 banker 500")
    return croupier.do(*commands)


def played(cards: str, *commands: str, **meter: Any) -> Croupier:
    return metered("start game 2 3 5", f"draw {cards}", *commands, **meter)


def progressive(croupier: Croupier) -> TablesProgressive:
    found = croupier.state.progressive
    assert found is not None
    return found


def step(croupier: Croupier) -> str:
    return progressive(croupier).procedure.step.value


def won(croupier: Croupier) -> tuple[str, tuple[int, ...]] | None:
    found = progressive(croupier).procedure.hand.won
    return None if found is None else (found.rule, found.seats)


def refused(croupier: Croupier, *commands: str) -> str:
    """The code of the refusal that these end in, which has changed nothing."""
    *before, last = commands
    return croupier.do(*before).refused(last).code


def of_the_meter(croupier: Croupier) -> list[Settlement]:
    return [each for each in croupier.rounds[-1].settlements if each.wager == "progressive"]


# --- a game


def test_start_counts_the_wagers_into_the_meter():
    croupier = metered("start game 2 5")

    assert step(croupier) == "playing"
    assert progressive(croupier).books.shown == 1_000_040
    assert [type(effect) for effect in croupier.new] == [MeterMoved, MeterMoved]


def test_what_the_sensors_latched_counts_and_not_what_was_recognised_before():
    assert progressive(metered("spot 2", "start game 3")).procedure.hand.wagers == (3,)
    assert progressive(metered("spot 2", "start game")).procedure.hand.wagers == (2,)


def test_a_game_is_started_before_the_first_card():
    by_order = Croupier.at_betting(game_name="progressive-2", meter={}, betting_closes="order").do("meter")
    assert step(by_order.do("no more bets", "start game 2")) == "playing"

    assert refused(metered("draw 2H"), "start game 2") == "hand_has_begun"


def test_a_game_is_for_the_coming_round():
    croupier = metered()
    croupier.do("draw KS KD 7S 7D", "start game 2")
    assert progressive(croupier).procedure.hand.round == 2
    croupier.do("draw KS KD 7S 7D", "game over")

    with pytest.raises(
        RefusedError, match="the order starts the game of round 1, but the table is at round 3"
    ):
        croupier.handle(StartGame(1, "ann"))


def test_without_a_meter_in_service_no_game_is_started():
    croupier = Croupier.at_betting(game_name="progressive-2", meter={})

    assert refused(croupier, "start game 2") == "not_open"


def test_a_table_without_a_progressive_says_so():
    assert refused(Croupier.at_betting(), "spot 2") == "no_progressive"
    assert refused(Croupier.at_betting(), "meter") == "no_progressive"
    assert refused(Croupier.at_betting(), "start game 2") == "no_progressive"


@pytest.mark.parametrize("card", ["unread", "unsure 2H"])
def test_a_game_is_not_started_when_a_card_has_left_the_shoe_that_nobody_knows_yet(card):
    assert refused(metered(card), "start game 2") == "hand_has_begun"


@pytest.mark.parametrize("command", ["start game 8", "start game 0", "spot 8"])
def test_a_wager_before_a_seat_that_does_not_exist_is_refused(command):
    assert refused(metered(), command) == "no_such_seat"


def test_a_wager_that_no_sensor_sees_is_in_one_game_and_must_be_laid_again_for_the_next():
    croupier = metered(
        "spot 2", "start game", f"draw {LOSES}", "game over", "wager 2 player 500", "start game"
    )

    assert progressive(croupier).procedure.hand.wagers == ()
    assert progressive(croupier).books.shown == 1_000_020


def test_an_order_of_the_other_system_is_refused():
    assert refused(played(QUARTER, "hand 2 5"), "confirm") == "other_procedure"
    assert refused(played(QUARTER, "hand 2 5", procedure="nexus"), "j-pot") == "other_procedure"


def test_a_wager_on_the_meter_is_made_on_the_sensor():
    assert refused(metered(), "wager 2 progressive 100") == "on_the_sensor"


def test_without_a_progressive_such_a_wager_is_made_as_any_other():
    croupier = Croupier.at_betting(game_name="progressive-2").do(
        "wager 2 player 500", "wager 2 progressive 100"
    )

    assert len(croupier.state.round.wagers) == 2


# --- who won


def test_the_cards_say_who_won_what_of_the_meter():
    croupier = played(QUARTER)

    assert (step(croupier), won(croupier)) == ("settling", ("two_three_four_suited", (2, 5)))
    assert [(each.seat, each.outcome, each.returned) for each in of_the_meter(croupier)] == [
        (2, Outcome.AWARD, 0),
        (3, Outcome.LOSE, 0),
        (5, Outcome.AWARD, 0),
    ]


def test_a_seat_that_wagers_on_both_hands_wins_by_the_one_that_won():
    croupier = metered("wager 3 player 500", "start game 3", f"draw {QUARTER}", one_side_only=False)

    assert won(croupier) == ("two_three_four_suited", (3,))


def test_a_fixed_award_from_the_tray_goes_the_way_of_the_meters_and_is_announced_to_nobody():
    croupier = played(FORTY)
    meter = progressive(croupier).books.shown

    assert won(croupier) == ("nine_over_zero", (2, 5))
    assert [(each.seat, each.outcome, each.returned) for each in of_the_meter(croupier)] == [
        *((2, Outcome.AWARD, 0), (3, Outcome.LOSE, 0), (5, Outcome.AWARD, 0))
    ]
    assert refused(croupier, "game over") == "award_unconfirmed"
    assert step(croupier.do("hand 2 5", "turn jph", "j-pot", "turn run", "game over")) == "betting"
    (award,) = progressive(croupier).books.awards
    assert (award.payer, award.amount, progressive(croupier).books.shown) == ("tray", 8000, meter)
    assert (award.side, award.player, award.banker) == ("player", cards("2H 2D 5H"), cards("KC JC KD"))
    assert [each for each in happenings(croupier.effects) if isinstance(each, AwardChanged)] == []


def test_where_the_house_lets_the_dealer_confirm_it_an_award_from_the_tray_needs_no_key():
    croupier = played(FORTY, "hand 2 5", "j-pot", "game over", supervisor_from=8001)

    assert [award.by for award in progressive(croupier).books.awards] == ["dealer"]


def test_a_game_that_can_have_been_won_ends_with_nobody_as_its_winner_only_by_the_key():
    croupier = played(QUARTER, base_wagers="unseen")
    assert refused(croupier, "game over") == "award_unconfirmed"
    croupier.do("turn jph", "nobody", "turn run", "game over")
    assert step(croupier.do("reopen")) == "settling"

    croupier.do("hand 5", "turn jph", "j-pot", "turn run", "game over")
    assert [award.seats for award in progressive(croupier).books.awards] == [(5,)]


@pytest.mark.parametrize("how", ["swipe executive", "sign executive"])
def test_an_award_has_the_card_that_a_reader_saw_and_none_for_a_signature(how):
    croupier = played(QUARTER, "hand 2 5", "confirm", how, procedure="nexus", executive_from=100)

    (award,) = progressive(croupier).books.awards
    assert (award.by, award.card) == (
        ("card", "executive") if how == "swipe executive" else ("signature", None)
    )


def test_where_the_meter_pays_fixed_awards_they_are_awards_too():
    croupier = played(UNSUITED, fixed_awards="meter")

    assert won(croupier) == ("two_three_four_unsuited", (2, 5))
    assert [(each.outcome, each.returned) for each in of_the_meter(croupier) if each.seat == 2] == [
        (Outcome.AWARD, 0)
    ]
    croupier.do("hand 2 5", "turn jph", "j-pot", "turn run", "game over")
    assert progressive(croupier).books.shown == 1_000_060 - 200_000


def test_a_stake_that_stays_on_the_sensor_goes_back_with_the_award():
    croupier = metered(
        "start game 2", f"draw {UNSUITED}", game_name="progressive-1-five-dollar", fixed_awards="meter"
    )

    (settled,) = of_the_meter(croupier)
    assert (settled.outcome, settled.stake, settled.returned, settled.net) == (Outcome.AWARD, 500, 500, 0)


def test_where_the_base_wagers_are_unseen_every_seat_of_the_game_can_have_won():
    croupier = played(QUARTER, base_wagers="unseen")

    assert won(croupier) == ("two_three_four_suited", (2, 3, 5))
    assert of_the_meter(croupier) == []
    croupier.do("hand 5", "turn jph", "j-pot", "turn run", "game over")
    assert progressive(croupier).books.awards[0].seats == (5,)


def test_where_the_base_wagers_are_unseen_a_hand_that_wins_nothing_wins_nobody_anything():
    assert won(played(LOSES, base_wagers="unseen")) is None
    assert won(played("KS KD 7S 7D", base_wagers="unseen")) is None


def test_a_game_that_was_not_started_is_not_decided():
    croupier = metered(f"draw {QUARTER}")

    assert (step(croupier), won(croupier), of_the_meter(croupier)) == ("betting", None, [])


def test_a_void_hand_leaves_the_game_started_for_the_next():
    croupier = metered("start game 2", "draw 2H", "void")
    assert step(croupier) == "playing"

    croupier.do("wager 2 player 500", f"draw {QUARTER}")
    assert won(croupier) == ("two_three_four_suited", (2,))
    assert progressive(croupier).books.shown == 1_000_020


def test_a_dummy_hand_leaves_the_game_started_for_the_next():
    croupier = Croupier.at_betting(game_name="progressive-2", meter={}, overdraw="dummy").do("meter")
    croupier.do("overdraw KS", "start game 2", "resume", "draw 2S 9H 3S")

    assert croupier.rounds[-1].status == "dummy"
    assert step(croupier) == "playing"


# --- an award


def test_an_award_is_known_when_it_is_locked_booked_and_backed_out():
    croupier = played(QUARTER, "hand 2 5", "turn jph", "j-pot")
    assert [each for each in croupier.said if isinstance(each, AwardChanged)] == [
        AwardChanged(1, "two_three_four_suited", 250_015, 1, (2, 5), AwardState.LOCKED)
    ]

    assert [each.state for each in croupier.do("turn run").said if isinstance(each, AwardChanged)] == [
        AwardState.BOOKED
    ]
    croupier.do("back out 1")
    assert [each.state for each in croupier.said if isinstance(each, AwardChanged)] == [AwardState.BACKED_OUT]
    assert progressive(croupier).books.shown == 1_000_060


def test_with_nexus_the_swipe_locks_and_books_at_once():
    croupier = played(QUARTER, "hand 2 5", "confirm", "swipe supervisor", procedure="nexus")

    assert [each.state for each in croupier.said if isinstance(each, AwardChanged)] == [
        AwardState.LOCKED,
        AwardState.BOOKED,
    ]
    assert step(croupier.do("end game")) == "betting"


def test_the_meter_is_kept_whatever_the_table_does():
    croupier = Croupier(game_name="progressive-2", meter={}).do("meter", "add 500", "count 100")

    assert croupier.phase.value == "locked"
    assert progressive(croupier).books.shown == 1_000_500


# --- corrections


def test_a_correction_gives_the_award_that_the_cards_were_worth():
    croupier = played(LOSES, "game over", "correct round 2H 3H 4H over KC JC KD")

    assert (step(croupier), won(croupier)) == ("settling", ("two_three_four_suited", (2, 5)))
    croupier.do("hand 2 5", "turn jph", "j-pot", "turn run", "game over")
    assert progressive(croupier).books.awards[0].round == 1


def test_a_correction_takes_the_win_away_before_it_is_confirmed():
    croupier = played(QUARTER, "hand 2", f"correct round {THE_SAME}")

    assert (won(croupier), progressive(croupier).procedure.hand.selected) == (None, ())


def test_a_round_is_not_corrected_while_its_award_is_logged_and_not_adjusted():
    croupier = played(QUARTER, "hand 2 5", "turn jph", "j-pot")

    assert refused(croupier, "correct round 2H 2D 5H over KC JC KD") == "award_open"
    assert refused(croupier, "void round") == "award_open"


def test_a_round_that_is_taken_back_wins_nothing():
    assert won(played(QUARTER, "void round")) is None


@pytest.mark.parametrize("over", [[], ["game over"]])
@pytest.mark.parametrize("correction", ["void round", "correct round 2H 2D 5H over KC JC KD"])
def test_an_award_whose_hand_is_taken_away_is_an_alarm(over, correction):
    croupier = played(QUARTER, "hand 2 5", "turn jph", "j-pot", "turn run", *over, correction)

    assert croupier.alarms == [("award_astray", False)]


def test_where_the_base_wagers_are_unseen_another_hand_with_the_same_tier_is_another_award():
    croupier = Croupier.at_betting(
        game_name="progressive-2", meter={"base_wagers": "unseen", "fixed_awards": "meter"}
    ).do("meter", "start game 2 3", "draw KS 2S 9H 3S", "hand 2", "turn jph", "j-pot", "turn run")
    croupier.do("correct round 2S 3S over KS 9H")

    assert croupier.alarms == [("award_astray", False)]
    croupier.do("back out 1", "hand 3", "turn jph", "j-pot", "turn run", "game over")
    assert progressive(croupier).books.awards[-1].seats == (3,)


def test_after_a_back_out_the_right_award_can_be_confirmed():
    croupier = played(QUARTER, "hand 2 5", "turn jph", "j-pot", "turn run", "game over", "back out 1")
    assert step(croupier) == "settling"

    croupier.do("hand 2 5", "turn jph", "j-pot", "turn run", "game over")
    assert [award.state for award in progressive(croupier).books.awards] == [
        AwardState.BACKED_OUT,
        AwardState.BOOKED,
    ]


def test_a_back_out_of_an_earlier_game_leaves_the_one_at_the_table_alone():
    croupier = played(QUARTER, "hand 2 5", "turn jph", "j-pot", "turn run", "game over", "start game 2")
    croupier.do("back out 1")
    assert step(croupier) == "playing"

    croupier = played(QUARTER, "hand 2 5", "turn jph", "j-pot", "turn run", "game over", f"draw {LOSES}")
    croupier.do("back out 1")
    assert step(croupier) == "betting"


def test_a_round_of_a_meter_that_was_retired_since_is_corrected_and_left_to_the_game_manager():
    croupier = played(LOSES, "game over", "retire", "correct round 2H 3H 4H over KC JC KD")

    assert croupier.alarms == [("progressive_not_corrected", False)]
    assert croupier.rounds[-1].status == "correction"


def test_a_correction_pays_by_the_settings_that_the_round_was_played_by():
    croupier = played(FORTY, "hand 2 5", "turn jph", "j-pot", "turn run", "game over")
    changed = replace(progressive(croupier).books.settings, fixed_awards="meter")
    croupier.handle(ChangeSettings(changed, "a trial", "eve", "bob"))
    croupier.do("correct round 2H 2D 5S over KC JC KD")

    assert of_the_meter(croupier) == []


def test_a_seat_can_win_without_a_base_wager_where_the_pay_table_lets_it():
    loose = replace(game("progressive-2").wager("progressive"), requires_base="none", requires_base_win=False)
    own = replace(
        game("progressive-2"),
        wagers=tuple(loose if each.name == "progressive" else each for each in game("progressive-2").wagers),
    )
    base = settings(game_name="progressive-2", meter={})
    assert base.progressive is not None
    croupier = Croupier(game_name="progressive-2")
    croupier.settings = replace(base, game=own, progressive=replace(base.progressive, wager=loose))
    croupier.table = Table.new(croupier.settings)
    croupier.do("hello", "sign on", "change shoe", "open", "meter", "start game 4", f"draw {QUARTER}")

    assert won(croupier) == ("two_three_four_suited", (4,))


def test_a_round_of_no_game_is_corrected_as_any_other():
    croupier = played(LOSES, "game over", f"draw {LOSES}", "correct round 2H 3H 4H over KC JC KD")

    assert (step(croupier), won(croupier)) == ("betting", None)


def test_after_the_next_start_a_correction_leaves_the_award_to_the_game_manager():
    croupier = played(LOSES, "game over", "start game 2", "correct round 2H 3H 4H over KC JC KD")

    assert (step(croupier), won(croupier)) == ("playing", None)
    assert croupier.alarms == [("progressive_not_corrected", False)]


def test_after_a_correction_took_its_number_a_started_game_is_the_next_rounds():
    croupier = played(LOSES, "game over", "wager 2 player 500", "start game 2", f"correct round {THE_SAME}")
    croupier.do("wager 2 player 500", f"draw {QUARTER}")
    assert won(croupier) == ("two_three_four_suited", (2,))

    croupier.do("hand 2", "turn jph", "j-pot", "turn run", "game over", "wager 2 player 500", "start game 2")
    assert progressive(croupier).procedure.hand.round == croupier.state.round.number


# --- what the configuration says


def test_what_lies_on_the_sensors_was_laid_for_the_procedure_before():
    croupier = metered(
        "sensors there", "spot 2 5", "start game 2", f"draw {LOSES}", "game over", "spot 5", "close table"
    )
    start(croupier, procedure="nexus")

    hand = progressive(croupier).procedure.hand
    assert (progressive(croupier).procedure.kind, hand.sensors, hand.spent) == ("nexus", (), (2, 5))


def start(croupier: Croupier, **meter: Any) -> None:
    croupier.handle(ServiceStarted("0.1.0", settings(game_name="progressive-2", meter=meter)))


def test_other_settings_are_a_change_that_is_in_the_books():
    croupier = Croupier(game_name="progressive-2", meter={}).do("meter")
    start(croupier, reserve="1%")

    assert progressive(croupier).books.settings.reserve == "1%"
    assert progressive(croupier).books.phase is BooksPhase.OPEN


def test_settings_that_were_changed_at_the_game_manager_stay_while_the_configuration_does():
    croupier = Croupier(game_name="progressive-2", meter={"reserve": "1%"}).do("meter")
    changed = replace(progressive(croupier).books.settings, reserve="2%")
    croupier.table.state = croupier.state.replace(
        progressive=replace(
            progressive(croupier), books=replace(progressive(croupier).books, settings=changed)
        )
    )
    croupier.do("start")

    assert progressive(croupier).books.settings.reserve == "2%"


def test_before_the_meter_is_in_service_other_settings_are_simply_its_own():
    croupier = Croupier(game_name="progressive-2", meter={})
    start(croupier, seed=5)

    assert progressive(croupier).books.settings.seed == 5


def test_the_configuration_cannot_change_the_meter_while_a_round_is_open():
    croupier = metered("start game 2", "close table")
    with pytest.raises(RefusedError) as refusal:
        start(croupier, reserve="1%")

    assert refusal.value.code == "round_open"


def test_a_meter_that_holds_money_is_not_left_behind():
    croupier = Croupier(game_name="progressive-2", meter={}).do("meter")
    with pytest.raises(RefusedError) as refusal:
        croupier.handle(ServiceStarted("0.1.0", settings(game_name="progressive-2")))

    assert refusal.value.code == "in_service"


def test_a_retired_meter_stays_so_until_another_is_configured():
    croupier = Croupier(game_name="progressive-2", meter={}).do("meter", "retire")
    start(croupier, reserve="1%")
    assert progressive(croupier).books.phase is BooksPhase.RETIRED

    croupier.handle(ServiceStarted("0.1.0", settings(game_name="progressive-2")))
    assert croupier.state.progressive is None


def test_a_retired_meter_never_comes_back():
    croupier = Croupier(game_name="progressive-2", meter={}).do("meter", "retire")
    croupier.handle(ServiceStarted("0.1.0", settings(game_name="progressive-2")))
    with pytest.raises(RefusedError, match="give the next progressive another id"):
        start(croupier)


@pytest.mark.parametrize("own", [None, {}])
def test_what_a_retired_meter_took_is_counted_whatever_the_table_has_by_then(own):
    croupier = Croupier(game_name="progressive-2", meter={}).do("meter", "retire", "count 100 dragon")
    assert croupier.new == [MeterMoved(CoinsCounted("2026-11-21", 100, "eve"))]

    following = settings(game_name="progressive-2", meter=own)
    if following.progressive is not None:
        following = replace(
            following, progressive=replace(following.progressive, progressive="dragon-2", procedure="nexus")
        )
    croupier.handle(ServiceStarted("0.1.0", following))
    before = croupier.state

    croupier.do("count 100 dragon")
    assert croupier.new == [MeterMoved(CoinsCounted("2026-11-21", 100, "eve"), "dragon")]
    assert croupier.state == before
    assert refused(croupier, "count -1 dragon") == "no_amount"
    assert refused(croupier, "count 100 tiger") == "unknown_progressive"


def test_nothing_is_counted_of_a_meter_that_never_was_in_service():
    croupier = Croupier(game_name="progressive-2", meter={})
    assert refused(croupier, "count 100 dragon") == "not_open"

    croupier = Croupier(game_name="progressive-2")
    assert refused(croupier, "count 100 dragon") == "unknown_progressive"


def test_a_win_page_that_is_printed_is_noted_and_changes_nothing():
    croupier = played(QUARTER, "hand 2 5", "turn jph", "j-pot", "turn run")
    before = croupier.state

    croupier.handle(PrintWinPage("dragon", 1, "eve", original=True))
    assert croupier.new[-1] == MeterMoved(WinPagePrinted(1, "eve", original=True), "dragon")
    assert croupier.state == before


def test_a_table_is_given_a_progressive_by_its_configuration():
    croupier = Croupier(game_name="progressive-2")
    start(croupier)

    assert progressive(croupier).books.phase is BooksPhase.NEW


def test_a_game_without_the_meters_pay_table_is_not_played():
    croupier = Croupier(game_name="progressive-2", meter={}).do("hello", "sign on")

    assert refused(croupier, "game canberra") == "game_not_allowed"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"table": "table-2"}, "is not linked to table-2"),
        ({"game": replace(game("progressive-2"), name="other")}, "a meter is for one game only"),
        ({"game": game("progressive-3")}, "a meter is for one game only"),
    ],
)
def test_settings_of_a_progressive_of_another_table_or_game_cannot_be(changes, says):
    with pytest.raises(ValueError, match=says):
        replace(settings(game_name="progressive-2", meter={}), **changes)


def test_start_closes_betting_where_the_house_wants_it():
    assert metered("start game 2").phase is Phase.BETTING

    croupier = metered("start game 2", start_closes_betting=True)

    assert (step(croupier), croupier.phase) == ("playing", Phase.DEALING)
    assert croupier.do(f"draw {LOSES}").rounds[-1].winner is not None


def test_a_start_that_comes_after_the_close_of_betting_closes_it_no_second_time():
    croupier = metered("no more bets", "start game 2", start_closes_betting=True)

    assert (step(croupier), croupier.phase, croupier.state.shoe.coups) == ("playing", Phase.DEALING, 1)


def test_a_start_that_cannot_close_betting_is_not_carried_out():
    croupier = metered("lid open", start_closes_betting=True)

    assert croupier.refused("start game 2").code == "needs_supervisor"
    assert step(croupier) == "betting"
