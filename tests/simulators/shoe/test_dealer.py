"""Whoever draws the cards, with the host's orders given straight to the device and the time given by hand."""

from itertools import count
from typing import Any

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.framing import Decoder, encode
from punto.drivers.ishoe import frames
from punto.simulators.shoe.dealer import Dealer
from punto.simulators.shoe.device import ShoeDevice
from punto.simulators.shoe.faults import Faults
from punto.simulators.shoe.options import ShoeOptions
from punto.simulators.shoe.scenario import Step
from punto.simulators.shoe.store import Store

BURN, PLAYER, NONE = Lamps(next="burn"), Lamps(next="player"), Lamps()
RESULT = Lamps(banker=True, next="player")
SHORT = tuple(Card(code) for code in ("AS", "2S", "3S", "4S", "5S", "6S", "7S", "8S", "9S", "TS", "JS", "QS"))
NAMES = {
    frames.CardRecord: "card",
    frames.UnreadRecord: "unread",
    frames.CutCardRecord: "cut card",
    frames.OverdrawnRecord: "overdrawn",
    frames.ReverseRecord: "reverse",
    frames.FaultRecord: "fault",
}


class Play:
    """A dealer, the time, and a host that says what it is told to."""

    def __init__(self, path, **options):
        settings: dict[str, Any] = {"shoes": (SHORT,), "decks": 1, "cut": 0} | options
        self.options = ShoeOptions(store=path, **settings)
        self.now = 100.0
        self.numbers = count(1)
        self.said: list[str] = []
        self.heard = 0  # the last record
        self.switch_on()

    def switch_on(self):
        self.store = Store(self.options.store)
        self.open = True
        self.device = ShoeDevice(self.store, "VS-1")
        self.dealer = Dealer(self.device, self.options, self.said.append)
        self.decoder = Decoder(frames.TYPES)
        self.device.take_frames()
        self.tell(frames.Resend, self.store.log, self.store.first_kept)

    def close(self):
        if self.open:
            self.store.close()
        self.open = False

    def kill(self):
        self.close()
        self.switch_on()

    def tell(self, command, *values):
        self.device.receive(encode(command(next(self.numbers), *values)))

    def order(self, lamps, *, locked=False):
        self.tell(frames.SetLamps, lamps)
        self.tell(frames.Lock if locked else frames.Unlock)

    def turn(self, seconds=0.0):
        """Let some time pass, let the dealer do what can be done, and say what came of it, in words."""
        self.now += seconds
        self.dealer.turn(self.now)
        self.tell(frames.Resend, self.store.log, self.store.first_kept)  # a hello may have closed the flow
        heard = self.decoder.feed(b"".join(self.device.take_frames()))
        told = [frame for frame in heard if isinstance(frame, frames.Record) and frame.record > self.heard]
        self.heard = max([self.heard, *(record.record for record in told)])
        return [self._word(record) for record in told]

    def acknowledge(self):
        if self.store.next_record > 1:
            orders = self.device.locked, self.device.lamps
            self.tell(frames.Acknowledge, self.store.log, self.store.next_record - 1, *orders)

    def step(self, seconds=0.0):
        """Acknowledge everything, then take a turn."""
        self.acknowledge()
        return self.turn(seconds)

    @staticmethod
    def _word(record):
        if isinstance(record, frames.LidRecord):
            return "lid opens" if record.open else "lid closes"
        if isinstance(record, frames.CardRecord):
            return record.card.value
        return NAMES[type(record)]


@pytest.fixture
def begin(tmp_path):
    plays = []

    def begin(**options):
        plays.append(Play(tmp_path / "store", **options))
        return plays[-1]

    yield begin
    for play in plays:
        play.close()


def at_play(play):
    """Load, burn nothing, and call for the first card."""
    play.order(BURN, locked=True)
    play.turn()
    play.acknowledge()
    play.order(PLAYER)
    return play


def test_new_cards_are_loaded_when_the_host_calls_for_a_burn_and_the_first_is_turned(begin):
    play = begin()
    idle = play.turn()
    play.order(BURN)

    assert idle == []
    assert play.turn() == ["lid opens", "lid closes"]
    assert play.step() == ["AS"]
    assert play.step() == ["2S"]


def test_each_card_waits_for_the_acknowledgement_of_the_one_before(begin):
    play = at_play(begin())

    assert play.turn() == ["AS"]
    assert play.turn(60) == []
    assert play.step() == ["2S"]


def test_the_lock_is_obeyed(begin):
    play = at_play(begin())
    play.order(PLAYER, locked=True)

    assert play.step(60) == []
    play.order(PLAYER)
    assert play.step() == ["AS"]


def test_no_card_is_drawn_while_none_is_prompted(begin):
    play = at_play(begin())
    play.order(NONE)

    assert play.step(60) == []


def in_the_burn(play):
    play.order(BURN)
    play.turn()
    play.step()
    return play


@pytest.mark.parametrize("window", [1, 8])
@pytest.mark.parametrize("lost", ["power", "process"])
def test_a_burn_prompt_that_comes_again_after_a_loss_is_not_a_new_shoe(begin, window, lost):
    play = in_the_burn(begin(window=window, shoes=(SHORT * 3,)))
    if lost == "power":
        play.device.power_on()
        play.device.take_frames()
    else:
        play.kill()
    play.turn()
    play.order(BURN)
    out = play.device.inside.out

    assert play.step()[0] == play.options.cards(1)[out]
    assert play.device.inside.shoe_number == 1


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("between", [NONE, PLAYER, RESULT])
def test_a_burn_prompt_after_another_is_a_new_shoe(begin, between, killed):
    play = in_the_burn(begin())
    play.acknowledge()
    play.order(between, locked=True)
    if killed:
        play.kill()
    play.order(BURN)

    assert play.step() == ["lid opens", "lid closes"]
    assert play.device.inside.shoe_number == 2


def test_prompts_that_follow_each_other_at_once_are_all_seen(begin):
    play = in_the_burn(begin())
    play.acknowledge()
    play.order(PLAYER, locked=True)
    play.order(BURN, locked=True)

    assert play.turn() == ["lid opens", "lid closes"]


def test_a_prompt_that_may_be_older_than_the_burn_does_not_end_it(begin):
    play = in_the_burn(begin())
    play.order(NONE, locked=True)  # before the records of loading are acknowledged
    play.order(BURN)
    play.step()

    assert play.device.inside.shoe_number == 1


def test_a_card_drawn_for_a_hand_ends_the_burn_though_others_are_on_their_way(begin):
    play = begin(window=4, shoes=(SHORT * 3,))
    play.order(BURN)
    play.turn()
    play.step()
    play.tell(frames.Acknowledge, play.store.log, play.store.first_kept, False, PLAYER)
    play.turn()
    play.order(BURN)

    assert play.step()[:2] == ["lid opens", "lid closes"]


@pytest.mark.parametrize("window", [1, 8])
def test_no_card_of_the_old_shoe_is_drawn_for_the_burn(begin, window):
    play = at_play(begin(window=window))
    play.turn()
    play.order(BURN)

    assert play.turn() == []
    assert play.step()[:2] == ["lid opens", "lid closes"]


def test_loading_needs_no_unlock(begin):
    play = begin()
    play.order(BURN, locked=True)

    assert play.turn() == ["lid opens", "lid closes"]
    assert play.step() == []


def test_an_empty_shoe_waits_for_the_next_shoe_change(begin):
    play = begin()
    play.order(BURN)
    came = [word for _ in range(16) for word in play.step()]
    play.order(NONE)
    play.step()
    play.order(BURN)

    assert came == ["lid opens", "lid closes", *SHORT]
    assert play.step() == ["lid opens", "lid closes"]


def test_shoes_come_from_the_scenario_first_and_then_from_the_seed(begin):
    play = begin(seed="7", decks=2)
    play.order(BURN)
    play.turn()
    first = play.device.inside.cards
    play.acknowledge()
    play.order(PLAYER)
    play.order(BURN)
    play.step()

    assert first == SHORT
    assert play.device.inside.cards == play.options.cards(2)
    assert play.said == [
        "shoe 1 loaded: 12 cards (exact cards), cut card 0 from the end",
        "shoe 2 loaded: 104 cards (seed 7), cut card 0 from the end",
    ]


def test_a_shoe_that_is_loaded_goes_on_with_its_own_cards_whatever_the_options_say_later(begin):
    play = at_play(begin())
    play.step()
    play.acknowledge()
    play.close()
    later = begin(shoes=(), seed="other")
    later.order(PLAYER)

    assert later.step() == ["2S"]


# --- the cut card


def test_the_cut_card_comes_before_the_cards_behind_it(begin):
    play = at_play(begin(cut=3))
    came = [word for _ in range(13) for word in play.step()]

    assert came == [*SHORT[:9], "cut card", *SHORT[9:]]


def test_the_cut_card_comes_with_the_card_before_it_and_is_acknowledged_before_the_next(begin):
    play = at_play(begin(cut=11))

    assert play.step() == ["AS", "cut card"]
    assert play.turn(60) == []
    assert play.step() == ["2S"]


def test_behind_the_cut_card_nothing_is_drawn_ahead(begin):
    play = at_play(begin(cut=6, window=5))

    assert play.turn() == ["AS", "2S", "3S", "4S", "5S"]
    assert play.step() == ["6S", "cut card"]
    assert play.turn(60) == []
    assert play.step() == ["7S"]
    assert play.turn(60) == []


def test_a_restart_remembers_that_the_cut_card_came(begin):
    play = at_play(begin(cut=11, window=8))
    play.step()
    play.acknowledge()
    play.kill()
    play.order(PLAYER)

    assert play.step() == ["2S"]  # and no more, whatever the window


# --- the pace


def test_a_window_is_filled_and_not_overfilled(begin):
    play = at_play(begin(window=3))
    first = play.turn()
    none = play.turn(60)
    play.tell(frames.Acknowledge, play.store.log, play.store.first_kept, False, PLAYER)

    assert (first, none) == (["AS", "2S", "3S"], [])
    assert play.turn() == ["4S"]


def test_a_full_shoe_lets_nothing_out(begin):
    play = at_play(begin(window=64))
    play.device._room = 4

    assert play.turn() == list(SHORT[:4])


def test_a_pace_keeps_the_cards_apart(begin):
    play = at_play(begin(pace=1.5))
    first = play.step()
    early = play.step(1.4)
    wake_at = play.dealer.wake_at
    due = play.step(0.2)

    assert (first, early, due) == (["AS"], [], ["2S"])
    assert wake_at == pytest.approx(101.5)


def test_there_is_a_pause_after_a_result_and_while_loading(begin):
    play = begin(between=5)
    play.order(BURN, locked=True)

    assert play.turn() == ["lid opens"]
    assert play.step(4.9) == []
    assert play.step(0.2) == ["lid closes"]
    play.order(PLAYER)
    assert play.step() == ["AS"]
    play.order(RESULT)
    assert play.step(0.1) == []
    assert play.step(4.8) == []
    assert play.step(0.2) == ["2S"]
    assert play.step() == ["3S"]  # the same result is still shown: one pause for each


# --- what goes wrong with the cards


@pytest.mark.parametrize(
    ("step", "came"),
    [
        (Step("unread", at=2), ["AS", "unread", "3S"]),
        (Step("unsure", at=2, confidence=40), ["AS", "2S", "3S"]),
        (Step("overdraw", at=2), ["AS", "overdrawn", "3S"]),
        (Step("reverse", at=2), ["AS", "2S", "reverse", "3S"]),
        (Step("error", at=2, code=7, text="worn"), ["AS", "2S", "fault", "3S"]),
        (Step("lid", at=2, seconds=0.1), ["AS", "2S", "lid opens", "lid closes", "3S"]),
    ],
)
def test_a_step_goes_wrong_at_its_card_and_once(begin, step, came):
    play = at_play(begin(steps=(step,)))
    heard = [word for _ in range(4) for word in play.step(0.1)]

    assert heard[: len(came)] == came


def test_an_unsure_read_has_the_confidence_of_its_step(begin):
    play = at_play(begin(steps=(Step("unsure", at=1, confidence=40),)))
    play.dealer.turn(play.now)
    *_, record = play.decoder.feed(b"".join(play.device.take_frames()))

    assert record == frames.CardRecord(3, Card.AS, 40)
    assert play.said[-1] == "card 1 of shoe 1 was read with a confidence of 40: it is AS"


def test_a_card_that_has_to_be_keyed_is_named_to_whoever_watches(begin):
    play = at_play(begin(steps=(Step("unread", at=1),)))
    play.step()

    assert play.said[-1] == "card 1 of shoe 1 was not read: it is AS"


@pytest.mark.parametrize("locked", [True, False])
def test_an_overdraw_waits_for_the_card_before_and_for_no_order(begin, locked):
    play = at_play(begin(steps=(Step("overdraw", at=2),)))
    play.turn()
    play.order(NONE, locked=locked)

    assert play.turn() == []
    assert play.step() == ["overdrawn"]
    assert play.step() == []


@pytest.mark.parametrize("do", ["unplug", "power", "forget"])
def test_cable_and_power_go_when_the_card_has_left_and_before_the_host_hears_of_it(begin, do):
    step = Step(do, at=2, seconds=3)
    play = at_play(begin(steps=(step,), window=8))
    outside = play.dealer.turn(play.now)

    assert outside == [step]
    assert play.device.inside.out == 2


def test_a_step_of_another_shoe_waits_for_it(begin):
    play = at_play(begin(shoes=(SHORT, SHORT), steps=(Step("unread", at=1, shoe=2),)))
    first = play.step()
    play.order(BURN)
    play.step()

    assert first == ["AS"]
    assert play.step() == ["unread"]


def test_chance_makes_the_same_cards_go_wrong_whatever_happens_between(begin, tmp_path):
    faults = Faults(unread=0.2, unsure=0.2, reverse=0.2)

    def run(name, *, killed):
        play = at_play(Play(tmp_path / name, shoes=(), faults=faults))
        came = []
        for _ in range(60):
            if killed:
                play.acknowledge()
                play.kill()
                play.order(PLAYER)
            came += play.step()
        play.close()
        return came

    whole = run("whole", killed=False)

    assert whole == run("killed", killed=True)
    assert {"unread", "reverse"} < set(whole)


def test_chance_overdraws_only_when_a_coup_is_over(begin):
    play = at_play(begin(faults=Faults(overdraw=1)))
    dealt = play.step()
    play.order(Lamps(banker=True), locked=True)

    assert dealt == ["AS"]
    assert play.step() == ["overdrawn"]


def test_a_ninth_copy_is_in_the_shoe_from_the_start(begin):
    play = begin(shoes=(), steps=(Step("ninth_copy", at=20),))
    play.order(BURN)
    play.turn()
    cards = play.device.inside.cards

    assert cards[19] in cards[:19]
    assert cards[:19] == ShoeOptions(store=play.options.store, decks=1, cut=0).cards(1)[:19]
