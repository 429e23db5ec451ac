"""What is followed of tables, over a network that loses, repeats and delays, between crashes of either side."""

from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from punto.house.disputes import REJECTED
from punto.house.following import ASKS_AT_ONCE, COMPARED, NEW_FOR, REMEMBERED, Ask, Following
from punto.house.taken import Cursor, Taken, TakenIncidents
from punto.messages.building import timestamp
from punto.messages.models import Health, Message, Round
from punto.messages.requests import (
    IncidentsRequest,
    IncidentsResponse,
    RecordedIncident,
    RoundsRequest,
    RoundsResponse,
)
from tests.house.tables import BEGAN
from tests.house.told import Told
from tests.share import soaked


class House:
    """The store, and what is followed since the program was started."""

    def __init__(self) -> None:
        self.stored: list[Taken | TakenIncidents] = []
        self.heard: list[Taken | TakenIncidents] = []
        self.start()

    def start(self) -> None:
        """Start again: what was heard and not stored is lost."""
        self.heard = []
        cursors: dict[tuple[str, str], Cursor] = {}
        for each in self.stored:
            before = cursors.get(("t", each.record), Cursor(1, 0, None, 0))
            if isinstance(each, Taken):
                after = before._replace(rounds=each.round.round, ended=each.ts)
            else:
                after = before._replace(incidents=each.until)
            cursors["t", each.record] = after
        self.following = Following(cursors)
        self.following.meet("t")

    def store(self) -> None:
        self.stored += self.heard
        self.heard = []

    def hear(self, message: Message) -> None:
        match message:
            case Round():
                self.heard += self.following.hear("t", message)
            case RoundsResponse():
                self.heard += self.following.hear_answer("t", message)
            case IncidentsResponse():
                found = self.following.hear_incidents("t", message)
                self.heard += [] if found is None else [found]
            case Health():
                self.following.meet("t", message.rounds, message.inputs, message.record)

    def numbers(self, record: str) -> list[int]:
        return [each.round.round for each in self.rounds(record)]

    def rounds(self, record: str) -> list[Taken]:
        return [each for each in self.stored if isinstance(each, Taken) and each.record == record]

    def incidents(self, record: str) -> list[RecordedIncident]:
        told = [each for each in self.stored if isinstance(each, TakenIncidents) and each.record == record]
        return [incident for each in told for incident in each.incidents]


def serves(house: House, record: str, seconds: float) -> None:
    """The service of a record reports."""
    house.following.hear_service("t", record, BEGAN + timedelta(seconds=seconds))


class Network:
    """What is on its way between the tables and the house."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.house, self.table, self.now = House(), Told(), 0.0
        self.earlier: list[Told] = []
        self.sent: list[Message] = []

    def play(self) -> None:
        self.sent.append(self.table.play(self.dice))

    def say_how_it_is(self) -> None:
        self.sent.append(self.table.health())
        serves(self.house, self.table.record, self.now)

    def ask(self) -> None:
        self.sent += [self.table.answer(asked) for _, asked in self.house.following.to_ask(self.now)]

    def arrive(self) -> None:
        for _ in range(min(len(self.sent), self.dice.randint(1, 4))):
            self.house.hear(self.sent.pop(0))

    def lose(self) -> None:
        if self.sent:
            self.sent.pop(self.dice.randrange(len(self.sent)))

    def repeat(self) -> None:
        if self.sent:
            self.sent.insert(self.dice.randrange(len(self.sent)), self.dice.choice(self.sent))

    def store(self) -> None:
        self.house.store()

    def crash(self) -> None:
        self.house.start()

    def connect(self) -> None:
        self.house.following.compare_again()

    def begin_record(self) -> None:
        """The table's record is another one, after all of the one before was told."""
        if not self.sent:
            self.store()
            self.earlier.append(self.table)
            self.table = Told(f"record {len(self.earlier)}")


STEPS = [Network.play] * 6 + [Network.ask] * 4 + [Network.arrive] * 6 + [Network.store] * 3
STEPS += [Network.say_how_it_is] * 2 + [
    Network.lose,
    Network.repeat,
    Network.crash,
    Network.connect,
    Network.begin_record,
]


@pytest.mark.parametrize("seed", [*range(10), *soaked(*range(10, 500))])
def test_every_round_is_taken_in_once_and_in_order(seed):
    at = Network(Random(seed))
    house = at.house
    for _ in range(400):
        at.now += at.dice.random()
        at.dice.choice(STEPS)(at)
        for record in {each.record for each in house.stored}:
            assert house.numbers(record) == list(range(1, len(house.numbers(record)) + 1))
    at.play()
    at.connect()
    for _ in range(80):
        at.now += 5
        house.hear(at.table.health())
        serves(house, at.table.record, at.now)
        for _, asked in house.following.to_ask(at.now):
            house.hear(at.table.answer(asked))
    at.store()
    assert house.following.faults() == {}
    assert house.incidents(at.table.record) == [*at.table.incidents(0, at.table.inputs)]
    assert [(timestamp(each.ts), each.round) for each in house.rounds(at.table.record)] == [
        (told.ts, told.round) for told in map(at.table.tell, range(1, len(at.table.rounds) + 1))
    ]


def followed(rounds: int) -> tuple[House, Told]:
    dice, house, table = Random(0), House(), Told()
    for _ in range(rounds):
        table.play(dice)
    for now in range(0, 100, 10):
        for _, asked in house.following.to_ask(now):
            house.hear(table.answer(asked))
    house.store()
    assert house.numbers("aa") == list(range(1, rounds + 1))
    return house, table


def test_a_table_that_was_followed_is_asked_for_nothing():
    house, _ = followed(250)
    house.following.meet("t", 250)

    assert [*house.following.to_ask(1000.0)] == []
    house.following.meet("t", 251)
    ((_, asked),) = house.following.to_ask(1000.0)
    assert asked == RoundsRequest(id=asked.id, after=250, limit=100)


@pytest.mark.parametrize("played_on", [0, 3, 30])
def test_a_restored_backup_is_found_and_nothing_of_it_is_taken_in(played_on):
    house, table = followed(20)
    before = [*house.stored]
    del table.rounds[10:]
    table.moments = 100
    for _ in range(played_on):
        table.play(Random(1))
    house.start()
    for now in range(0, 100, 10):
        for _, asked in house.following.to_ask(now):
            house.hear(table.answer(asked))
    house.hear(table.play(Random(2)))
    house.store()

    assert house.stored == before
    assert "round 20" in house.following.faults()["t"]

    new = Told("bb")
    for now in (180, 200):
        serves(house, "bb", now)
    house.hear(new.play(Random(3)))
    for now in range(200, 300, 10):
        for _, asked in house.following.to_ask(now):
            house.hear(new.answer(asked))
    house.store()
    assert house.numbers("bb") == [1]
    assert house.following.faults() == {}


def in_place_of(told: Round) -> Round:
    """A round that was never dealt, under the number of one that was."""
    return told.model_copy(update={"round": replace(told.round, shoe=told.round.shoe + 1)})


def test_a_round_that_comes_again_as_it_was_is_no_fault():
    house, table = followed(30)
    for number in range(1, 31):
        house.hear(table.tell(number))

    assert house.following.faults() == {}
    house.store()
    assert house.numbers("aa") == [*range(1, 31)]


@pytest.mark.parametrize("at", [1, 2, COMPARED, REMEMBERED])
def test_another_round_under_a_number_that_was_taken_in_is_a_fault_of_the_table(at):
    """Someone with the table's password told the first one."""
    house, table = followed(5)
    house.hear(in_place_of(table.play(Random(1))))
    for _ in range(at - 1):
        house.hear(table.play(Random(1)))
    house.hear(table.tell(6))

    assert "the round 6 that was taken in" in house.following.faults()["t"]
    house.hear(table.play(Random(1)))
    house.store()
    assert len(house.numbers("aa")) == 5 + at
    house.following.compare_again()
    for _, asked in house.following.to_ask(1000.0):
        house.hear(table.answer(asked))
    assert ("t" in house.following.faults()) == (at <= COMPARED)


def test_a_table_that_has_fewer_rounds_than_were_taken_in_is_a_fault():
    """Someone with the table's password told rounds that are not dealt yet."""
    house, table = followed(5)
    ahead = Told()
    ahead.rounds, ahead.moments = [*table.rounds], 10**6
    for _ in range(200):
        house.hear(ahead.play(Random(1)))
    house.hear(table.health())
    for _, asked in house.following.to_ask(1000.0):
        house.hear(table.answer(asked))

    fault = house.following.faults()["t"]
    assert "the round 205 that was taken in: either a backup" in fault
    assert "or somebody else sends with the table's password" in fault


def test_a_message_with_fewer_rounds_than_the_table_has_changes_nothing():
    house, table = followed(5)
    old = table.health()
    house.hear(table.play(Random(1)))
    for now in (1000.0, 1005.0):
        house.hear(old)
        for _, asked in house.following.to_ask(now):
            house.hear(table.answer(asked))
        house.hear(table.play(Random(1)))
    house.store()

    assert (house.numbers("aa"), house.following.faults()) == ([*range(1, 9)], {})


def test_incidents_are_taken_in_up_to_the_inputs_that_the_table_has():
    """Someone with the table's password answers that there are none up to an input that is far ahead."""
    house, table = followed(5)
    table.play(Random(1))
    house.hear(table.health())
    for now in (1000, 1010):
        for _, asked in house.following.to_ask(now):
            answer = table.answer(asked)
            if isinstance(answer, IncidentsResponse):
                answer = answer.model_copy(update={"until": 10**9, "seq": 10**9})
            house.hear(answer)
    house.store()
    assert isinstance(house.stored[-1], TakenIncidents)
    for _ in range(94):
        table.play(Random(1))
    house.hear(table.health())
    for now in range(1020, 1100, 10):
        for _, asked in house.following.to_ask(now):
            house.hear(table.answer(asked))
    house.store()

    assert house.following.faults() == {}
    assert house.incidents("aa") == [*table.incidents(0, 500)]


@pytest.mark.parametrize(("ahead", "fault"), [(0, False), (1, True), (10**9, True)])
def test_a_table_that_has_fewer_inputs_than_were_taken_in_is_a_fault(ahead, fault):
    """Someone told what the table's health is too, or a backup was restored."""
    house, table = followed(5)
    house.following = Following({("t", "aa"): Cursor(1, 5, house.rounds("aa")[-1].ts, table.inputs + ahead)})
    house.following.meet("t")
    for now in range(0, 100, 10):
        house.hear(table.health())
        for _, asked in house.following.to_ask(now):
            house.hear(table.answer(asked))

    told = house.following.faults().get("t", "")
    assert (f"the input {table.inputs + ahead} that was taken in" in told) == fault


def requested(kind: type[Ask]) -> tuple[House, Told, Ask]:
    """A table with rounds and incidents that were not taken in, and the request for those of one kind."""
    house, table = followed(5)
    for _ in range(95):
        table.play(Random(1))
    house.hear(table.health())
    for now in range(1000, 1100, 10):
        for _, asked in house.following.to_ask(now):
            if isinstance(asked, kind):
                return house, table, asked
            house.hear(table.answer(asked))
    raise AssertionError(kind)


def test_no_request_has_an_id_that_was_foreseen():
    def ids(kind: type[Ask]) -> set[str]:
        return {requested(kind)[2].id for _ in range(20)}

    assert len(ids(RoundsRequest)) == len(ids(IncidentsRequest)) == 20


@pytest.mark.parametrize("kind", [RoundsRequest, IncidentsRequest])
def test_a_second_answer_that_has_more_is_no_fault(kind):
    house, table, asked = requested(kind)
    house.hear(table.answer(asked))
    table.play(Random(2))
    house.hear(table.answer(asked))

    assert house.following.faults() == {}


@pytest.mark.parametrize(
    ("kind", "forged"),
    [
        (RoundsRequest, lambda told: {"rounds": (replace(told.rounds[0], shoe=99), *told.rounds[1:])}),
        (IncidentsRequest, lambda _: {"incidents": ()}),
        (IncidentsRequest, lambda told: {"incidents": told.incidents[1:]}),
    ],
)
@pytest.mark.parametrize("forged_first", [True, False])
def test_two_answers_to_one_request_that_differ_are_a_fault(kind, forged, forged_first):
    """Someone with the table's password answers too."""
    house, table, asked = requested(kind)
    true = table.answer(asked)
    answers = [true.model_copy(update=forged(true)), true]
    for each in answers if forged_first else reversed(answers):
        house.hear(each)

    assert "with the table's password" in house.following.faults()["t"]


@pytest.mark.parametrize("heard", [True, False])
@pytest.mark.parametrize("restarted", [True, False])
def test_a_record_of_which_no_service_was_heard_is_not_followed_beside_another_one(restarted, heard):
    """Someone with the table's password tells its rounds, and answers with it first."""
    house, table = followed(5)
    if restarted:
        house.start()
    invented = Told("feedfacefeedface")
    for now in range(1000, 1100, 10):
        if heard:
            serves(house, "aa", now)
        house.hear(invented.play(Random(1)))
        house.hear(invented.health())
        for _, asked in house.following.to_ask(now):
            house.hear(invented.answer(asked))
            house.hear(table.answer(asked))
        house.hear(table.play(Random(1)))
    house.store()

    assert house.following.faults() == {}
    assert (house.numbers("feedfacefeedface"), house.numbers("aa")) == ([], [*range(1, 16)])


def test_a_new_record_is_followed_when_its_service_was_heard_for_a_while():
    house, _ = followed(5)
    new, followed_from = Told("bb"), 0
    new.play(Random(1))
    for now in range(1010, 1070, 5):
        serves(house, "bb", now)
        house.hear(new.health())
        for _, asked in house.following.to_ask(now):
            house.hear(new.answer(asked))
        house.store()
        followed_from = followed_from or (now if house.numbers("bb") else 0)

    assert 1010 + NEW_FOR.total_seconds() <= followed_from < 1060
    assert house.following.faults() == {}


def test_what_was_not_stored_of_a_record_is_compared_with_nothing():
    house, table = followed(5)
    house.hear(in_place_of(table.play(Random(1))))
    house.following.go_back("t", {("t", "aa"): Cursor(1, 5, house.rounds("aa")[-1].ts, 0)})
    house.heard.clear()
    for now in range(1000, 1100, 10):
        for _, asked in house.following.to_ask(now):
            house.hear(table.answer(asked))
    house.store()

    assert (house.numbers("aa"), house.following.faults()) == ([1, 2, 3, 4, 5, 6], {})


def test_no_more_is_asked_than_a_table_answers():
    following = Following({})
    following.meet("t")
    asked = []
    for tick in range(1000):  # a hundred seconds
        for _ in following.to_ask(tick / 10):
            asked.append(tick / 10)
            following.refuse("u")
            following.compare_again()
    assert ASKS_AT_ONCE <= len(asked) <= ASKS_AT_ONCE + 50


def test_an_answer_to_somebody_else_is_not_heard():
    house, table = followed(5)
    asked = RoundsRequest(id="rounds-1", after=0)
    house.hear(table.answer(asked))
    house.store()
    assert house.numbers("aa") == [1, 2, 3, 4, 5]


def asked_at(house: House, now: float) -> dict[type, Any]:
    """What the table is asked at this time, by the kind of the request."""
    return {type(each): each for _, each in house.following.to_ask(now)}


def with_inputs(rounds: int) -> tuple[House, Told]:
    """A house that has the rounds of a table, whose health it has heard, and that has asked for its incidents."""
    house, table = followed(rounds)
    house.hear(table.health())
    return house, table


def test_the_answer_to_another_request_with_the_same_id_is_not_heard():
    """A table answers whoever asks, also with an id of the Game Manager."""
    house, table = with_inputs(200)
    asked = asked_at(house, 100.0)[IncidentsRequest]

    house.hear(table.answer(replace_after(asked, 900)))
    house.store()
    assert house.incidents("aa") == []
    house.hear(table.answer(asked))
    house.hear(table.answer(replace_after(asked, 900)))
    house.store()

    assert len(house.incidents("aa")) == 1000 // 97
    assert house.following.faults() == {}


def test_rounds_after_another_number_than_was_asked_for_are_not_heard():
    house, table = House(), Told()
    for _ in range(30):
        table.play(Random(1))
    (asked,) = asked_at(house, 1.0).values()

    house.hear(table.answer(replace_after(asked, 20)))
    house.store()
    assert house.numbers("aa") == []

    house.hear(table.answer(asked))
    house.hear(table.answer(asked_at(house, 10.0)[RoundsRequest]))
    house.store()
    assert house.numbers("aa") == [*range(1, 31)]


def replace_after(asked: Ask, after: int) -> Ask:
    return asked.model_copy(update={"after": after})


@pytest.mark.parametrize("at_most", [1, 3])
def test_rounds_that_do_not_fit_into_one_answer_are_compared_one_answer_after_the_other(at_most):
    house, table = followed(30)
    house.following.compare_again()
    table.play(Random(1))

    for now in range(200, 400, 3):
        for _, asked in house.following.to_ask(now):
            limit = {"limit": at_most} if isinstance(asked, RoundsRequest) else {}
            house.hear(table.answer(asked.model_copy(update=limit)))
    house.store()

    assert house.following.faults() == {}
    assert house.numbers("aa") == [*range(1, 32)]


def test_a_refusal_that_names_no_request_holds_up_none():
    house, table = with_inputs(200)
    house.following.refuse("t", None, "too many requests")

    asked = asked_at(house, 100.0)[IncidentsRequest]
    house.following.refuse("t", None, "too many requests")
    house.hear(table.answer(asked))
    house.store()

    assert len(house.incidents("aa")) == 1000 // 97


def test_an_old_message_of_the_table_that_is_sent_again_and_again_holds_up_nothing():
    """The table has signed it once, and the broker has it."""
    house, table = with_inputs(200)
    earlier, old_health = Told("earlier"), Told().health()
    serves(house, "earlier", 0)
    serves(house, "aa", 60)
    for _ in range(300):
        old_round = earlier.play(Random(1))
    now, on_the_way = 100.0, list[Message]()
    for _ in range(600):  # a minute
        now += 0.1
        house.hear(old_health.model_copy(update={"rounds": 1, "inputs": 1}))
        house.hear(old_round)
        house.hear(earlier.health())
        if round(now * 10) % 100 == 0:
            house.hear(table.health())
        asked = [each for _, each in house.following.to_ask(now)]
        for answer in on_the_way:
            house.hear(answer)
        on_the_way = [table.answer(each) for each in asked]
    house.store()

    assert len(house.incidents("aa")) == 1000 // 97
    assert house.following.faults() == {}


def test_one_old_round_of_another_record_does_not_silence_the_table():
    house, table = with_inputs(200)
    serves(house, "earlier", 0)
    serves(house, "aa", 60)
    asked_at(house, 100.0)
    house.hear(Told("earlier").play(Random(1)))

    for now in range(101, 160):
        for _, asked in house.following.to_ask(now):
            house.hear(table.answer(asked))
    house.store()

    assert len(house.incidents("aa")) == 1000 // 97


def test_an_answer_that_is_late_each_time_is_heard():
    dice, house, table = Random(0), House(), Told()
    table.play(dice)
    late: list[Message] = []
    for now in range(0, 40, 5):
        asked = [each for _, each in house.following.to_ask(now)]
        for message in late:
            house.hear(message)
        late = [table.answer(each) for each in asked]
    house.store()
    assert house.numbers("aa") == [1]


def test_a_table_that_is_heard_of_while_requests_are_sent_holds_up_none():
    following = Following({})
    for name in ("t1", "t2"):
        following.meet(name, 1, 1)

    asked = []
    for name, _ in following.to_ask(1.0):
        asked.append(name)
        following.meet(f"{name} too", 1, 1)

    assert set(asked) >= {"t1", "t2"}


def test_the_fault_of_many_disputed_records_is_short():
    following = Following({})
    for number in range(50):
        following.dispute("table-1", [f"record-{number:02}", f"other-{number:02}"])

    fault = following.faults()["table-1"]

    assert "other-00 and other-01 and other-02 and other-03 and 96 more" in fault
    assert len(fault) < 400


def test_a_rejected_record_that_still_publishes_is_a_fault_until_it_is_chosen():
    """A person may have chosen the wrong one."""
    table, held = Told("aa"), Cursor(1, 0, None, 0, held_back=REJECTED)
    following = Following({("table-1", "aa"): held})
    assert following.faults() == {}

    assert following.hear("table-1", table.play(Random(1))) == []
    assert "the record aa, which was rejected, is still published" in following.faults()["table-1"]

    following.review({("table-1", "aa"): held._replace(held_back=None)}, {})
    assert following.faults() == {}
