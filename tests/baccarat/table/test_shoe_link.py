"""The shoe comes, goes, is another, forgets, and complains."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from punto.baccarat.table.effects import ShoeLinkChanged
from punto.baccarat.table.events import Component, ShoeHello
from punto.baccarat.table.order_kinds import ChangeGame
from punto.baccarat.table.shoe_orders import shoe_orders
from punto.baccarat.table.state import Bookmark, Phase
from punto.baccarat.table.turn import RefusedError
from punto.messages.building import shoe_message
from tests.baccarat.table.croupier import PLAYER_NATURAL, Croupier, cards, game

# --- there and away


def test_a_cable_pulled_in_mid_hand_is_shown_and_the_hand_goes_on():
    croupier = Croupier.at_betting("wager 1 player 500", "draw KS 2S", "lose shoe")
    assert croupier.said == [ShoeLinkChanged(online=False, reason="no sign of life")]
    assert (croupier.hand, croupier.state.link.online) == ("KS 2S", False)

    croupier.do("hello kept=2")  # it sends again what it does not know to have arrived
    assert croupier.said == [ShoeLinkChanged(online=True, reason="shoe A connected")]
    croupier.do("draw 2S", "draw 9H", "draw 3S")

    assert croupier.rounds[0].player == cards("KS 9H")
    assert croupier.rounds[0].settlements[0].net == 500


def test_a_service_that_starts_knows_nothing_of_the_link():
    link = Croupier.at_betting("start").state.link

    assert (link.online, link.reason, link.serial) == (False, "the service has just started", "A")


def test_a_record_that_comes_again_is_dropped_and_one_that_skips_is_an_alarm():
    croupier = Croupier.at_betting("draw KS")
    before = croupier.state
    croupier.record = 1
    croupier.do("draw QS")
    assert (croupier.state, croupier.new) == (before, [])

    croupier.record = 5
    croupier.do("draw QS")
    assert croupier.alarms == [("record_gap", False)]
    assert (croupier.hand, croupier.state.link.expected) == ("KS", 2)


@pytest.mark.parametrize(("decks", "alarms"), [(8, []), (6, [("decks_differ", True)]), (0, [])])
def test_a_shoe_with_other_decks_than_the_game_stops_play(decks, alarms):
    assert Croupier().do(f"hello decks={decks}").alarms == alarms


def test_betting_does_not_open_with_other_decks_until_a_supervisor_decides_for_this_shoe():
    croupier = Croupier().do("hello decks=6", "sign on", "change shoe")
    assert croupier.refused("open").code == "needs_supervisor"

    croupier.do("resume", "open", "lose shoe", "hello decks=6")
    assert (croupier.phase, croupier.stops) == (Phase.BETTING, [])

    croupier.do("change shoe")
    assert croupier.stops == ["decks_differ"]


def test_play_continues_when_the_right_decks_are_loaded_instead_of_others():
    croupier = Croupier().do("hello decks=6", "sign on", "change shoe", "hello decks=0")
    assert (croupier.stops, croupier.state.cards_left) == (["decks_differ"], None)

    croupier.do("hello decks=8", "open")
    assert (croupier.phase, croupier.stops, croupier.state.cards_left) == (Phase.BETTING, [], 416)


def test_another_game_is_compared_with_the_decks_in_the_shoe():
    croupier = Croupier().do("hello", "sign on")
    croupier.handle(ChangeGame("bob", game(decks=6), "eve"))
    assert croupier.stops == ["decks_differ"]

    croupier.handle(ChangeGame("bob", game(decks=8), "eve"))
    assert croupier.stops == []


def test_the_cards_left_of_a_shoe_with_other_decks_are_not_known():
    croupier = Croupier().do("hello decks=6", "sign on", "change shoe", "resume", "open", "draw KS")
    assert croupier.state.cards_left is None

    croupier.do("hello decks=8")  # whatever it reports later
    assert croupier.state.cards_left is None


def test_a_keyed_table_does_not_heed_the_decks_of_a_shoe():
    assert (
        Croupier(cards="keyed").do("hello decks=6", "sign on", "change shoe", "open").phase is Phase.BETTING
    )


def test_what_the_shoe_says_of_its_components_is_kept_and_public():
    """Sheet 000 wants named versions, and the approval letter (sheet 001) a signature of each component."""
    reader = Component("card-reader", "4.0.014", "ab" * 32)
    croupier = Croupier()
    croupier.handle(ShoeHello("A", 1, 1, 1, 8, (reader,)))
    now = datetime(2026, 3, 1, tzinfo=UTC)

    assert croupier.state.link.components == (reader,)
    assert [each.model_dump() for each in shoe_message(croupier.state, 1, now, now).components] == [
        {"name": "card-reader", "version": "4.0.014", "digest": "ab" * 32}
    ]


def test_noise_on_the_line_is_an_alarm_and_never_a_card():
    croupier = Croupier.at_betting("draw KS", "noise")

    assert (croupier.alarms, croupier.hand) == ([("link_noise", False)], "KS")


# --- a shoe that makes cards up


@pytest.mark.parametrize(
    ("before", "card"),
    [
        (("close table",), "draw KS"),  # each is let go
        (("close table",), "unread"),
        (("lid open",), "draw KS"),  # each waits for a supervisor
        (("lid open",), "cut card"),
        (("unread",), "unread"),
    ],
)
def test_no_more_cards_are_taken_of_a_shoe_than_two_shoes_hold(before, card):
    croupier = Croupier.at_betting(*before, decks=1).do(*[card] * 2 * 51)
    assert "too_many_cards" not in croupier.stops
    assert shoe_orders(croupier.state).accept == "A"

    croupier.do(*[card] * 10)

    assert croupier.stops.count("too_many_cards") == 1
    assert shoe_orders(croupier.state).accept is None


def test_a_shoe_that_gave_too_many_cards_plays_again_after_a_shoe_change():
    croupier = Croupier.at_betting("lid open", *["draw KS"] * 2 * 53, decks=1).do("resume")
    assert croupier.stops == ["too_many_cards"]
    with pytest.raises(RefusedError, match="there is no stop that this order can end"):
        croupier.do("resume")

    croupier.do("change shoe")

    assert (croupier.stops, shoe_orders(croupier.state).accept) == ([], "A")


# --- another shoe


@pytest.mark.parametrize(
    ("house", "commands", "hello", "objection"),
    [
        ({"shoe_serial": "A"}, [], "hello B", "the connected shoe is B, but the configuration names A"),
        ({}, ["hello", "sign on", "change shoe", "open"], "hello B", "the connected shoe is B, but the cards in play are from the shoe A"),
        ({"burn": "fixed"}, ["hello", "sign on", "change shoe", "unread"], "hello B", "the connected shoe is B, but the cards in play are from the shoe A"),
        (
            {"burn": "first_card"},
            ["hello", "sign on", "change shoe", "unread"],
            "hello B",
            "the connected shoe is B, but the cards in play are from the shoe A",
        ),
        ({}, ["hello", "sign on", "change shoe", "draw KS"], "hello log=2", "the shoe A has lost its memory of the cards in play"),
        ({}, ["hello", "sign on", "change shoe", "draw KS"], "hello kept=1 next=1", "the shoe A has lost its memory of the cards in play"),
        *(
            (
                {"burn": "none"},
                ["hello", "sign on", "change shoe", f"draw {PLAYER_NATURAL}", "change shoe", *other],
                "hello A kept=1 next=4",
                "the shoe A goes back to records before the last one that the table took",
            )
            for other in ([], ["hello B"])
        ),
    ],
)  # fmt: skip
def test_another_shoe_or_another_memory_is_refused_until_a_supervisor_accepts_it(
    house, commands, hello, objection
):
    croupier = Croupier(**house).do(*commands, hello)
    serial = "B" if " B" in hello else "A"
    assert croupier.state.waiting.stops[-1].text == f"{objection}: a supervisor must accept the shoe {serial}"
    assert croupier.alarms == [("shoe_not_accepted", True)]
    assert croupier.state.link.reason == objection
    assert shoe_orders(croupier.state).locked

    croupier.do(*([] if commands else ["sign on"]), f"accept {serial}")

    assert croupier.stops == []
    assert croupier.said[-1] == ShoeLinkChanged(online=True, reason=f"shoe {serial} accepted")
    assert (croupier.state.link.serial, croupier.state.link.reason) == (serial, "connected")


@pytest.mark.parametrize("commands", [[], ["hello"], ["hello", "sign on", "change shoe"]])
@pytest.mark.parametrize("serial", [None, "B"])
def test_between_shoes_of_cards_any_shoe_may_come_and_one_that_is_new_is_an_alarm(commands, serial):
    croupier = Croupier(burn="first_card").do(*commands)
    croupier.table.state = croupier.state.replace(
        settings=replace(croupier.state.settings, shoe_serial=serial)
    )
    croupier.do("hello B")

    assert (croupier.stops, croupier.state.link.serial) == ([], "B")
    assert croupier.alarms == ([("other_shoe", False)] if commands and serial is None else [])


def test_a_shoe_that_was_used_before_is_not_an_alarm():
    croupier = Croupier(burn="first_card").do("hello", "sign on", "hello B", "hello A", "hello B")

    assert [(alarm.code, alarm.times) for alarm in croupier.state.alarms] == [("other_shoe", 1)]


def test_at_a_table_with_keyed_cards_another_shoe_is_not_an_alarm():
    croupier = Croupier(cards="keyed").do("hello", "hello B")

    assert croupier.state.alarms == ()


def test_what_a_refused_shoe_says_is_not_taken():
    croupier = Croupier.at_betting("draw KS", "hello B", "draw 2S")

    assert croupier.alarms == [("shoe_not_accepted", False)]
    assert (croupier.hand, croupier.state.waiting.backlog) == ("KS", ())


def test_the_right_shoe_ends_the_refusal_and_play_goes_on_in_order():
    croupier = Croupier.at_betting("draw KS", "lid open", "draw 2S", "hello B", "resume")
    assert croupier.hand == "KS"

    croupier.do("hello", "draw 9H")

    assert croupier.stops == []
    assert croupier.hand == "KS 2S 9H"


def test_of_two_shoes_that_are_refused_the_last_is_named_and_the_same_only_once():
    croupier = Croupier.at_betting("hello B", "hello C")
    assert [stop.text[-5:] for stop in croupier.state.waiting.stops] == ["hoe C"]

    croupier.do("hello C")
    assert croupier.alarms == []


@pytest.mark.parametrize(
    ("commands", "accept", "code", "message"),
    [
        ([], "accept A", "no_shoe_offered", "no shoe waits to be accepted"),
        (["hello B"], "accept C", "other_shoe", "the shoe that waits is B, not C"),
        (["hello B"], "resume", "not_stopped", "there is no stop that this order can end"),
        ([], "resume", "not_stopped", "there is no stop that this order can end"),
    ],
)
def test_only_the_shoe_that_waits_can_be_accepted(commands, accept, code, message):
    croupier = Croupier.at_betting(*commands)

    refused = croupier.refused(accept)

    assert (refused.code, str(refused)) == (code, message)


def test_a_shoe_can_be_accepted_while_it_is_away():
    croupier = Croupier.at_betting("hello B", "lose shoe", "accept B")

    assert croupier.said == [ShoeLinkChanged(online=False, reason="shoe B accepted")]
    assert croupier.state.link.reason == "no sign of life"


def test_an_accepted_shoe_is_heard_from_the_first_record_that_it_keeps():
    croupier = Croupier.at_betting("draw KS 2S", "hello B kept=40 next=41", "accept B", "draw 9H 3S")

    assert croupier.rounds[0].player == cards("KS 9H")
    assert shoe_orders(croupier.state).accept == "B"
    assert shoe_orders(croupier.state).taken == 41


def test_a_shoe_that_takes_turns_with_another_goes_on_where_it_was_heard():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", "change shoe", "hello B kept=100 next=100")
    croupier.do("open", f"draw {PLAYER_NATURAL}", "change shoe")

    croupier.do("hello A kept=3 next=6")  # its last records were taken, and it does not know

    link = croupier.state.link
    assert (link.serial, link.expected) == ("A", 5)
    assert link.earlier == (Bookmark("A", 1, 4), Bookmark("B", 1, 103))


def test_a_bookmark_in_a_memory_that_is_gone_means_nothing():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", "change shoe", "hello B kept=1 next=1")
    croupier.do("hello A log=2 kept=1 next=1")

    assert (croupier.state.link.serial, croupier.state.link.expected) == ("A", 1)


def test_old_records_of_the_same_memory_are_taken_only_when_a_supervisor_has_accepted_them():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}", "change shoe", "hello B kept=1 next=1")
    croupier.do("hello A kept=1 next=3", "draw KS")
    assert (croupier.state.link.serial, croupier.state.waiting.backlog) == ("B", ())

    croupier.do("accept A")

    assert (croupier.state.link.serial, croupier.state.link.expected) == ("A", 1)


# --- records that are lost


def test_lost_records_stop_play_and_a_supervisor_says_where_to_go_on():
    croupier = Croupier.at_betting("draw KS", "records lost 2")
    assert croupier.alarms == [("records_lost", True)]
    assert "records 2 to 3 of the shoe never arrived" in croupier.state.waiting.stops[0].text

    croupier.do("void", "resume", f"draw {PLAYER_NATURAL}")

    assert [each.status for each in croupier.rounds] == ["void", "played"]
    assert croupier.state.link.expected == 8


def test_cards_after_lost_records_wait_until_play_is_resumed():
    croupier = Croupier.at_betting("draw KS", "records lost 2", "draw 9H")
    assert (croupier.hand, croupier.state.link.taken) == ("KS", 4)

    croupier.do("resume")
    assert croupier.hand == "KS 9H"


def test_a_loss_that_grows_stops_once_for_each_end_and_one_that_is_known_not_again():
    croupier = Croupier.at_betting("draw KS", "records lost 2")
    croupier.record = 2
    croupier.do("records lost 2")
    assert (croupier.new, len(croupier.stops)) == ([], 1)

    croupier.record = 2
    croupier.do("records lost 4", "resume")
    assert croupier.state.link.expected == 6

    croupier.record = 3
    croupier.do("records lost 2")
    assert (croupier.new, croupier.stops) == ([], [])


def test_where_to_go_on_in_one_memory_means_nothing_in_the_next():
    croupier = Croupier.at_betting(
        "draw KS", "records lost 500", "hello B kept=1 next=1", "accept B", "resume"
    )

    croupier.do("draw 2S")
    assert (croupier.hand, croupier.state.link.expected) == ("KS 2S", 2)


# --- what the shoe complains of

TROUBLE = [("lid open", "lid_open"), ("push back", "reverse_movement"), ("fault", "shoe_fault")]
IN_PLAY: list[tuple[dict[str, str], list[str]]] = [
    ({}, []),
    ({}, ["draw KS"]),
    ({"game_name": "midi-baccarat"}, [f"draw {PLAYER_NATURAL}"]),
    ({"next_coup": "order"}, [f"draw {PLAYER_NATURAL}"]),
]


@pytest.mark.parametrize(("house", "commands"), IN_PLAY)
@pytest.mark.parametrize(("command", "code"), TROUBLE)
def test_trouble_in_play_stops_it_until_a_supervisor_resumes(house, commands, command, code):
    croupier = Croupier.at_betting(*commands, command, **house)
    assert croupier.alarms == [(code, True)]
    assert shoe_orders(croupier.state).locked

    croupier.do("resume")
    assert croupier.stops == []
    assert croupier.kinds == ["play_resumed"]


@pytest.mark.parametrize(("command", "code"), TROUBLE)
@pytest.mark.parametrize("commands", [[], ["sign on"], ["hello", "sign on", "change shoe"]])
def test_trouble_outside_play_stops_nothing(commands, command, code):
    croupier = Croupier(burn="first_card").do(*commands, command)

    assert croupier.stops == []
    assert croupier.alarms == ([] if code == "lid_open" else [(code, False)])


def test_the_shoes_own_words_are_in_its_alarm():
    assert Croupier.at_betting("fault").state.waiting.stops[0].text == (
        "the shoe reports error 17: reader window dirty in play: a supervisor must check the shoe and resume play"
    )


@pytest.mark.parametrize("command", ["key 2S", "open", "no more bets", "reveal"])
def test_while_play_is_stopped_it_does_not_go_on_by_other_orders(command):
    house = {"reveal": {"game_name": "midi-baccarat"}, "open": {"next_coup": "order"}}.get(command, {})
    before = {"key 2S": ["unread"], "no more bets": []}.get(command, [f"draw {PLAYER_NATURAL}"])
    croupier = Croupier.at_betting(*before, "lid open", **house)

    with pytest.raises(RefusedError, match="play is stopped: the shoe's lid was opened in play") as refused:
        croupier.do(command)

    assert refused.value.code == "needs_supervisor"


def test_cards_that_left_while_play_was_stopped_are_dealt_when_it_is_resumed():
    croupier = Croupier.at_betting("draw KS", "lid open", "push back", "draw 2S 9H")
    assert (croupier.hand, croupier.stops) == ("KS", ["lid_open", "reverse_movement"])

    croupier.do("resume", "draw 3S")

    assert croupier.rounds[0].player == cards("KS 9H")


def test_a_card_outside_play_is_counted_and_an_alarm():
    croupier = Croupier().do("hello", "draw KS")

    assert croupier.alarms == [("card_outside_play", False)]
    assert croupier.held == [("KS", "outside_play")]
