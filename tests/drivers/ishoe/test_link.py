"""The host's end alone: each rule of docs/reference/ishoe-link.md, part 7."""

from dataclasses import replace
from typing import Any

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.events import (
    CardDrawn,
    CardOverdrawn,
    CardUnread,
    CutCardSeen,
    LidMoved,
    LinkNoise,
    RecordsLost,
    ReverseMovement,
    ShoeFault,
    ShoeHello,
)
from punto.baccarat.table.shoe_orders import Lamps, ShoeOrders
from punto.drivers.frame import HIGHEST
from punto.drivers.framing import Decoder, encode
from punto.drivers.ishoe import frames
from punto.drivers.ishoe.link import MOST_TOLD, TOLD_SECONDS, IShoeLink
from tests.drivers.devices import raw
from tests.drivers.ishoe.model import LOG, READER, SERIAL

ORDERS = ShoeOrders(accept=SERIAL, log=LOG, taken=0, locked=False, lamps=Lamps(next="player"))
HELLO = frames.Hello(SERIAL, LOG, 1, 1, 8, (READER,))
INTRODUCED = ShoeHello(SERIAL, LOG, 1, 1, 8, (READER,))
BEAT = frames.Heartbeat(LOG, 1, 1, 1, 4, locked=False, sending=True, lamps=Lamps(next="player"), decks=8)


class Host:
    """A link with its clock: says frames to it, and reads what it answers."""

    def __init__(self, orders: ShoeOrders = ORDERS) -> None:
        self.now = 100.0
        self.orders = orders
        self.link = IShoeLink()
        self.link.want(orders)
        self.link.connect(self.now, 1)
        self._decoder = Decoder(frames.TYPES)

    def hears(self, *heard: frames.AnyFrame | bytes, after: float = 0.01):
        self.now += after
        data = b"".join(part if isinstance(part, bytes) else encode(part) for part in heard)
        return self.link.receive(data, self.now)

    def waits(self, seconds: float):
        self.now += seconds
        return self.link.silence(self.now)

    def wants(self, **changes: Any) -> None:
        self.orders = replace(self.orders, **changes)
        self.link.handled()
        self.link.want(self.orders)

    def takes(self, record: int) -> None:
        """The table has committed and handled everything up to this record."""
        self.wants(taken=record)

    def says(self) -> list[frames.AnyFrame]:
        return self._decoder.feed(self.link.data_to_send(self.now))

    def says_kinds(self) -> list[str]:
        return [type(frame).__name__ for frame in self.says()]


@pytest.fixture
def host() -> Host:
    """A host whose shoe is accepted and has nothing to tell."""
    host = Host()
    host.says()
    host.hears(HELLO)
    host.wants()
    host.says()
    host.hears(BEAT, after=0.3)
    return host


def acknowledged(command: int, record: int) -> frames.Acknowledge:
    """An acknowledgement with the orders of `ORDERS` in it."""
    return frames.Acknowledge(command, LOG, record, locked=False, lamps=Lamps(next="player"))


def card(number: int) -> frames.CardRecord:
    return frames.CardRecord(number, Card.NINE_S, 98)


def drawn(number: int) -> CardDrawn:
    return CardDrawn(number, Card.NINE_S, 98)


# --- getting to know each other


def test_it_asks_for_a_hello_every_quarter_second_until_it_comes():
    host = Host()
    asked = []
    for _ in range(6):
        asked.append(host.says())
        host.now += 0.125

    assert asked == [[frames.AskHello(1)], [], [frames.AskHello(2)], [], [frames.AskHello(3)], []]


def test_a_hello_is_told_and_answered_with_the_state_and_the_record_wanted():
    host = Host()
    host.says()

    assert host.hears(HELLO) == [INTRODUCED]
    assert host.link.here == HELLO
    host.wants()
    assert host.says() == [
        frames.Unlock(2),
        frames.SetLamps(3, Lamps(next="player")),
        frames.Resend(4, LOG, 1),
    ]
    assert host.says() == []


def test_the_same_hello_again_is_not_new_but_everything_is_sent_again(host):
    assert host.hears(replace(HELLO, first_kept=1, next_record=1)) == []
    assert host.says_kinds() == ["Unlock", "SetLamps", "Resend"]


@pytest.mark.parametrize(
    "news",
    [{"decks": 6}, {"components": ()}, {"serial": "IS-2"}, {"log": 7}],
    ids=lambda news: next(iter(news)),
)
def test_a_hello_that_says_something_else_is_news(host, news):
    (told,) = host.hears(replace(HELLO, **news))

    assert told == replace(INTRODUCED, **news)


@pytest.mark.parametrize(
    "orders",
    [replace(ORDERS, accept="IS-OTHER"), replace(ORDERS, accept=None), replace(ORDERS, log=LOG + 1)],
    ids=["another serial number", "none accepted", "another log"],
)
def test_a_shoe_that_is_not_accepted_is_kept_locked_and_dark_and_its_records_wait(orders):
    host = Host(orders)
    host.says()
    host.hears(HELLO)
    host.wants()

    assert host.says() == [frames.Lock(2), frames.SetLamps(3, Lamps())]
    assert host.hears(card(1), replace(BEAT, first_kept=1, next_to_send=2, next_record=2)) == []
    assert host.link.counters.held_back == 1
    assert host.says() == []
    host.wants(accept=SERIAL, log=LOG)
    assert host.says_kinds() == ["Unlock", "SetLamps", "Resend"]
    assert host.hears(card(1)) == [drawn(1)]


def test_an_order_without_a_log_takes_whichever_the_shoe_has():
    host = Host(ShoeOrders(accept=SERIAL))
    host.says()
    host.hears(HELLO)
    host.wants()

    assert host.says_kinds() == ["Lock", "SetLamps", "Resend"]
    assert host.hears(card(1)) == [drawn(1)]


def test_records_before_a_hello_are_thrown_away():
    host = Host()
    host.says()

    assert host.hears(card(1), BEAT) == []
    assert host.says() == []
    assert host.link.counters.held_back == 1


def test_nothing_is_taken_from_a_shoe_before_the_table_has_answered_its_hello():
    host = Host()
    host.says()

    assert host.hears(HELLO, card(1), replace(BEAT, first_kept=5, next_to_send=5, next_record=5)) == [
        INTRODUCED
    ]


# --- records


@pytest.mark.parametrize(
    ("record", "event"),
    [
        (card(1), drawn(1)),
        (frames.UnreadRecord(1), CardUnread(1)),
        (frames.CutCardRecord(1), CutCardSeen(1)),
        (frames.LidRecord(1, open=True), LidMoved(1, open=True)),
        (frames.LidRecord(1, open=False), LidMoved(1, open=False)),
        (frames.ReverseRecord(1), ReverseMovement(1)),
        (frames.OverdrawnRecord(1, Card.QH, 91), CardOverdrawn(1, Card.QH, 91)),
        (frames.OverdrawnRecord(1, None, 0), CardOverdrawn(1, None, 0)),
        (frames.FaultRecord(1, 17, "dirty"), ShoeFault(1, 17, "dirty")),
    ],
)
def test_each_record_is_the_event_it_tells(host, record, event):
    assert host.hears(record) == [event]


def test_nothing_is_acknowledged_before_it_is_committed(host):
    host.hears(card(1), card(2))

    assert host.says() == []
    host.takes(2)
    assert host.says() == [acknowledged(5, 2)]
    assert host.says() == []


def test_what_a_record_led_to_goes_out_in_its_acknowledgement_and_not_beside_it(host):
    host.hears(card(1))
    host.wants(locked=True, lamps=Lamps(banker=True))
    host.takes(1)

    assert host.says() == [frames.Acknowledge(5, LOG, 1, locked=True, lamps=Lamps(banker=True))]
    assert host.says() == []


def test_an_acknowledgement_sent_again_has_the_orders_of_now(host):
    host.hears(card(1))
    host.takes(1)
    host.says()
    host.wants(locked=True, lamps=Lamps(tie=True))
    host.says()
    host.hears(card(1))

    assert host.says() == [frames.Acknowledge(8, LOG, 1, locked=True, lamps=Lamps(tie=True))]


def test_orders_that_got_lost_with_an_acknowledgement_come_with_it_again(host):
    host.hears(card(1))
    host.takes(1)
    host.says()
    host.hears(replace(BEAT, next_to_send=2, next_record=2, locked=True, lamps=Lamps()), after=0.3)

    assert host.says() == [acknowledged(6, 1)]


def test_an_order_sent_in_an_acknowledgement_is_not_repeated_at_once(host):
    host.hears(card(1))
    host.wants(lamps=Lamps(next="banker"))
    host.takes(1)
    host.says()
    host.hears(replace(BEAT, first_kept=2, next_to_send=2, next_record=2), after=0.1)

    assert host.says() == []
    host.hears(replace(BEAT, first_kept=2, next_to_send=2, next_record=2), after=0.2)
    assert host.says() == [frames.SetLamps(6, Lamps(next="banker"))]


def test_a_duplicate_is_dropped_and_what_is_committed_is_acknowledged_again(host):
    host.hears(card(1))

    assert host.hears(card(1)) == []
    assert host.says() == []
    host.takes(1)
    host.says()
    assert host.hears(card(1)) == []
    assert host.says() == [acknowledged(6, 1)]
    assert host.link.counters.duplicates == 2


def test_after_a_gap_nothing_is_taken_until_it_is_filled(host):
    assert host.hears(card(1), card(3), card(4)) == [drawn(1)]
    assert host.says() == [frames.Resend(5, LOG, 2)]
    assert host.hears(card(2), card(3), card(4)) == [drawn(2), drawn(3), drawn(4)]
    assert host.says() == []
    assert (host.link.counters.gaps, host.link.counters.resends) == (2, 2)


def test_a_gap_is_not_asked_for_again_at_once_but_after_a_while_or_when_another_opens(host):
    host.hears(card(2))
    host.says()
    host.hears(card(3))

    assert host.says() == []
    host.hears(card(4), after=0.2)
    assert host.says() == [frames.Resend(6, LOG, 1)]
    host.hears(card(1), card(3))
    assert host.says() == [frames.Resend(7, LOG, 2)]


def test_two_resends_in_a_row_are_one(host):
    host.hears(card(2), card(3), card(5))

    assert host.says() == [frames.Resend(5, LOG, 1)]


# --- what a heartbeat tells


def test_a_heartbeat_that_agrees_is_answered_by_nothing(host):
    assert host.hears(BEAT, after=0.3) == []
    assert host.says() == []


@pytest.mark.parametrize(
    ("differs", "said"),
    [
        ({"next_to_send": 2, "next_record": 2}, frames.Resend(5, LOG, 1)),
        ({"sending": False}, frames.Resend(5, LOG, 1)),
        ({"locked": True}, frames.Unlock(5)),
        ({"lamps": Lamps(next="banker")}, frames.SetLamps(5, Lamps(next="player"))),
        ({"log": 7}, frames.AskHello(5)),
        ({"decks": 0}, frames.AskHello(5)),
        ({"last_command": 0}, frames.AskHello(5)),
        ({"last_command": 0, "locked": True, "sending": False, "lamps": Lamps()}, frames.AskHello(5)),
    ],
)
def test_what_a_heartbeat_shows_amiss_is_sent_again_but_not_too_often(host, differs, said):
    beat = replace(BEAT, **differs)
    host.hears(beat, after=0.3)

    assert host.says() == [said]
    host.hears(beat, after=0.1)
    assert host.says() == []
    host.hears(beat, after=0.2)
    assert host.says() == [replace(said, command=6)]


def test_a_restart_that_was_introduced_is_not_asked_for_again(host):
    host.hears(HELLO)
    host.says()
    host.hears(replace(BEAT, last_command=0))

    assert host.says() == []


def test_a_record_made_but_held_by_the_window_is_not_asked_for(host):
    host.hears(replace(BEAT, next_record=2), after=0.3)

    assert host.says() == []


def test_a_heartbeat_shows_that_an_acknowledgement_was_lost(host):
    host.hears(card(1))
    host.takes(1)
    host.says()
    kept = replace(BEAT, next_to_send=2, next_record=2)
    host.hears(kept, after=0.1)

    assert host.says() == []
    host.hears(kept, after=0.2)
    assert host.says() == [acknowledged(6, 1)]
    host.hears(replace(kept, first_kept=2), after=0.3)
    assert host.says() == []


@pytest.mark.parametrize(
    ("kept", "answer"),
    [
        (3, [frames.Resend(2, LOG, 4), acknowledged(3, 3)]),
        (4, [frames.Unlock(2), frames.SetLamps(3, Lamps(next="player")), frames.Resend(4, LOG, 4)]),
    ],
)
def test_what_the_journal_held_before_this_connection_is_acknowledged_if_the_shoe_still_keeps_it(
    kept, answer
):
    host = Host(replace(ORDERS, taken=3))
    host.says()
    host.hears(replace(HELLO, first_kept=kept, next_record=4))
    host.wants()

    assert host.says() == answer
    host.hears(replace(BEAT, first_kept=2, next_to_send=4, next_record=4), after=0.3)
    assert host.says() == [acknowledged(len(answer) + 2, 3)]


# --- what is lost for good


def test_lost_records_are_reported_once_and_those_after_them_are_asked_for(host):
    gone = replace(BEAT, first_kept=4, next_to_send=6, next_record=6)

    assert host.hears(gone, after=0.3) == [RecordsLost(1, 3)]
    assert host.says() == [frames.Resend(5, LOG, 4)]
    host.takes(3)
    assert host.hears(gone, card(4), card(5), after=0.3) == [drawn(4), drawn(5)]


def test_records_that_come_with_the_news_of_a_loss_are_taken(host):
    gone = replace(BEAT, first_kept=4, next_to_send=6, next_record=6)

    assert host.hears(gone, card(4), after=0.3) == [RecordsLost(1, 3), drawn(4)]
    host.takes(4)
    assert host.says() == [frames.Resend(5, LOG, 5), acknowledged(6, 4)]


def test_a_shoe_that_lost_its_memory_is_asked_who_it_is_and_its_records_wait(host):
    host.hears(card(1))
    host.takes(1)
    host.says()

    assert host.hears(replace(BEAT, log=9, sending=False), card(1), card(2), after=0.3) == []
    assert host.says_kinds() == ["AskHello"]
    assert host.hears(replace(HELLO, log=9)) == [replace(INTRODUCED, log=9)]
    host.wants()
    assert host.says_kinds() == ["Lock", "SetLamps"]
    host.wants(log=9, taken=0)
    assert host.says_kinds() == ["Unlock", "SetLamps", "Resend"]
    assert host.hears(card(1)) == [drawn(1)]


def test_an_acknowledgement_never_reaches_into_another_log(host):
    assert host.hears(card(1), replace(HELLO, log=9, next_record=2)) == [
        drawn(1),
        replace(INTRODUCED, log=9, next_record=2),
    ]
    host.wants(log=9, taken=0)

    assert host.says_kinds() == ["Unlock", "SetLamps", "Resend"]
    assert host.says() == []


def test_nothing_is_acknowledged_to_a_shoe_that_is_gone(host):
    host.hears(card(1))
    host.waits(0.9)
    host.takes(1)
    host.now += 1

    assert host.says_kinds() == ["AskHello"]


def test_a_memory_that_went_back_is_held_until_the_table_decides(host):
    host.hears(card(1), card(2), card(3))
    host.takes(3)
    host.says()

    assert host.hears(replace(BEAT, next_to_send=2, next_record=2), after=0.3) == []
    assert host.says_kinds() == ["AskHello"]
    went_back = replace(HELLO, next_record=2)
    assert host.hears(went_back) == [replace(INTRODUCED, next_record=2)]
    host.wants()
    assert host.says_kinds() == ["Lock", "SetLamps"]
    later = replace(BEAT, next_to_send=5, next_record=5, locked=True, lamps=Lamps())
    assert host.hears(later, card(4), after=0.3) == []
    assert host.says() == []
    host.wants(taken=1)
    assert host.says() == [frames.Resend(9, LOG, 2), acknowledged(10, 1)]
    assert host.hears(card(2)) == [drawn(2)]


def test_a_record_that_comes_with_the_news_of_a_lost_memory_does_not_count_as_a_decision(host):
    host.hears(card(1), card(2), replace(HELLO, next_record=2))
    host.takes(2)

    assert host.says_kinds() == ["Lock", "SetLamps"]


# --- orders


def test_an_order_is_sent_when_it_changes_and_only_then(host):
    host.wants(locked=True)

    assert host.says() == [frames.Lock(5)]
    host.wants(locked=True)
    assert host.says() == []
    host.wants(lamps=Lamps(next="burn"))
    assert host.says() == [frames.SetLamps(6, Lamps(next="burn"))]


def test_a_prompt_to_burn_stays_while_the_shoe_introduces_itself_anew(host):
    """As it does when it is loaded: going dark in between would order another shoe change."""
    host.wants(lamps=Lamps(next="burn"))
    host.says()
    host.hears(replace(HELLO, decks=6))

    assert host.says() == []
    host.wants()
    assert host.says() == [
        frames.Unlock(6),
        frames.SetLamps(7, Lamps(next="burn")),
        frames.Resend(8, LOG, 1),
    ]


# --- noise

BROKEN = b"\0broken\0"


def test_a_few_broken_frames_raise_no_alarm_and_many_do(host):
    assert host.hears(BROKEN * 10) == []
    assert host.hears(BROKEN * 3, card(1), after=1) == [drawn(1), LinkNoise(13, 10)]
    assert host.hears(BROKEN * 20, after=1) == []
    assert host.hears(BROKEN, after=9.2) == [LinkNoise(21, 10)]


def test_broken_frames_that_come_slowly_raise_no_alarm(host):
    told = [host.hears(BROKEN, after=1.1) for _ in range(50)]

    assert told == [[]] * 50


def test_a_storm_of_noise_keeps_little(host):
    told = [event for _ in range(5000) for event in host.hears(BROKEN, after=0.005)]

    assert [type(event) for event in told] == [LinkNoise] * 3
    assert 1900 < told[-1].frames <= 2001
    assert len(host.link._noise) <= 102


def test_a_shoe_that_says_in_seconds_what_a_shoe_says_in_days_babbles(host):
    for number in range(1, MOST_TOLD):  # its hello is one too
        host.hears(frames.FaultRecord(number, 1, "jam"))
    assert not host.link.babbles(host.now)

    host.hears(frames.FaultRecord(MOST_TOLD, 1, "jam"))
    assert host.link.babbles(host.now)

    host.hears(frames.FaultRecord(MOST_TOLD + 1, 1, "jam"), after=TOLD_SECONDS)
    assert not host.link.babbles(host.now)  # it was quiet since

    host.hears(*(frames.FaultRecord(MOST_TOLD + number, 1, "jam") for number in range(2, MOST_TOLD + 3)))
    assert host.link.babbles(host.now)
    host.link.connect(host.now, 2)
    assert not host.link.babbles(host.now)


def test_cards_however_fast_are_not_babble(host):
    host.hears(*(frames.CardRecord(number, Card.NINE_S, 99) for number in range(1, 10 * MOST_TOLD)))

    assert host.link.counters.records > MOST_TOLD
    assert not host.link.babbles(host.now)


def test_cut_cards_without_cards_between_them_babble(host):
    host.hears(*(frames.CutCardRecord(number) for number in range(1, MOST_TOLD + 1)))

    assert host.link.babbles(host.now)


def test_a_shoe_that_is_played_in_a_moment_may_reach_its_cut_card(host):
    for number in range(1, 20 * MOST_TOLD, 10):
        host.hears(*(card(number + each) for each in range(9)), frames.CutCardRecord(number + 9), after=0)

    assert not host.link.babbles(host.now)


def test_a_shoe_that_loses_records_with_every_heartbeat_babbles(host):
    for number in range(2, MOST_TOLD + 2):
        host.hears(replace(BEAT, first_kept=number, next_record=number, next_to_send=number))

    assert host.link.babbles(host.now)


def test_a_record_after_which_no_number_is_left_is_a_broken_frame():
    host = Host(replace(ORDERS, taken=HIGHEST - 2))
    host.hears(replace(HELLO, first_kept=HIGHEST - 1, next_record=HIGHEST - 1))
    host.wants()
    host.says()
    last = frames.CardRecord(HIGHEST - 1, Card.KS, 99)
    beyond = raw(0x10, HIGHEST, b"KS\x63")

    assert host.hears(last, beyond) == [CardDrawn(HIGHEST - 1, Card.KS, 99)]
    assert (
        host.hears(
            replace(BEAT, first_kept=1, next_to_send=HIGHEST, next_record=HIGHEST, sending=False), after=1
        )
        == []
    )
    assert [each.record for each in host.says() if isinstance(each, frames.Resend)] == [HIGHEST]
