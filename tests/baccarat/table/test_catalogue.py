"""The catalogue of orders is whole, each field has bounds, and what can be given now is what the machine would take."""

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import product
from typing import Any, get_args, get_type_hints

import pytest

from punto.baccarat.cards import RANKS, SUITS, Card
from punto.baccarat.progressive.aquarius import Key, TurnKey
from punto.baccarat.progressive.events import Adjust, BackOut, ChangeSettings, CountCoins, ForgetTable
from punto.baccarat.progressive.game_events import HandButton, StartGame, WagerLifted, WagerPlaced
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.nexus import SignAward, SwipeCard
from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.baccarat.table import possible
from punto.baccarat.table.catalogue import CATALOGUE, CHANGEABLE, event_of, orders_of
from punto.baccarat.table.definition import FIELDS, Role
from punto.baccarat.table.events import BooksOrder, GameOrder, ServiceStarted
from punto.baccarat.table.order_kinds import (
    AcceptDevice,
    AcceptShoe,
    AcknowledgeAlarm,
    ChangeGame,
    CloseBetting,
    CollectCommission,
    CorrectCard,
    CorrectRound,
    KeyCard,
    Order,
    SignOn,
    VoidCoup,
    VoidRound,
    WaiveCommission,
)
from punto.baccarat.table.possible import Trials, refusal
from punto.baccarat.table.state import Phase, TableState
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from tests.baccarat.table.croupier import LONG, Croupier, game, settings
from tests.baccarat.table.linked_floor import AUTHORITY, linked
from tests.baccarat.table.test_transitions import BET, COUP, IN_PHASE, METERED, SCENARIOS

PEOPLE = {"who", "approved_by", "kind"}
CARDS = [Card(rank + suit) for rank in RANKS for suit in SUITS]


# --- what is in it


def test_every_order_event_is_in_it_once_and_nothing_else_is():
    by_hand = {WagerPlaced, WagerLifted, TurnKey}  # what a device sees, or a person says where there is none
    orders = {*get_args(Order), *get_args(GameOrder), *get_args(BooksOrder), *by_hand}

    assert sorted(each.event.__name__ for each in CATALOGUE.values()) == sorted(
        each.__name__ for each in orders
    )


@pytest.mark.parametrize("kind", CATALOGUE)
def test_an_order_says_what_it_is_and_has_the_fields_of_its_event(kind):
    definition = CATALOGUE[kind]
    own = {each.name for each in fields(definition.event)} - PEOPLE

    assert (
        definition.kind
        == kind
        == definition.event(**dict.fromkeys(own | needed_people(definition.event))).kind
    )
    assert definition.label
    assert definition.sentence[0].islower() or definition.sentence[0].isupper()
    assert not definition.sentence.endswith(".")
    assert definition.roles
    assert definition.approvable == ("approved_by" in {each.name for each in fields(definition.event)})
    if definition.takes is None:
        assert definition.fields.keys() == own
        assert {name for name, each in definition.fields.items() if each.required} == {
            name for name in own if required(definition.event, name)
        }
        for name, field in definition.fields.items():
            assert field.type == get_type_hints(definition.event)[name]
    assert not definition.fields.keys() & PEOPLE
    if definition.report is not None:
        assert definition.report.format(**dict.fromkeys(definition.fields, "x"))


def needed_people(event: type) -> set[str]:
    return {each.name for each in fields(event)} & {"who"}


def required(event: type, name: str) -> bool:
    try:
        event(**{each.name: None for each in fields(event) if each.name not in {name, "kind"}})
    except TypeError:
        return True
    return False


def test_the_orders_whose_requests_are_other_than_their_events_are_known():
    assert {kind: list(each.takes) for kind, each in CATALOGUE.items() if each.takes is not None} == {
        "change_game": ["game", "limits"],  # by its name
        "start_game": ["round"],  # which seats have a wager is not a person's to say
        "change_settings": ["reason", *CHANGEABLE],  # some of them
        "sign_award": [],  # the level is that of the account
    }
    assert set(CHANGEABLE) < {each.name for each in fields(ProgressiveSettings)}
    assert [name for name, each in CATALOGUE["change_settings"].fields.items() if each.required] == ["reason"]


@pytest.mark.parametrize(
    ("kind", "name", "field"),
    [(kind, name, field) for kind, each in CATALOGUE.items() for name, field in each.fields.items()],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_field_has_bounds_and_says_what_to_write(kind, name, field):
    kinds = set(get_args(field.type) or (field.type,)) - {type(None)}

    assert field.help == FIELDS[name].help
    assert not field.help.endswith(".")
    if int in kinds:
        assert field.least is not None
        assert field.most is not None
        assert field.least <= field.most
    elif kinds == {str} and name != "limits":  # which are bounded as a configuration's
        assert field.longest is not None
    else:  # one of a list, or cards
        assert name == "limits" or not kinds & {str, int}


def test_a_field_is_in_the_catalogue_because_an_order_has_it():
    assert FIELDS.keys() == {name for each in CATALOGUE.values() for name in each.fields}


@pytest.mark.parametrize("kind", [kind for kind, each in CATALOGUE.items() if each.twice])
def test_what_is_pressed_twice_asks_for_nothing_more(kind):
    assert set(CATALOGUE[kind].fields) <= {"round"}


def test_a_key_gives_what_a_dealer_may_and_an_aquarius_key_what_its_supervisor_may():
    keyed = {kind for kind, each in CATALOGUE.items() if each.key}

    assert keyed - orders_of([Role.DEALER]) == {"jpot"}


def test_who_may_give_several_roles_orders_has_several_roles():
    assert orders_of([Role.DEALER, Role.TECHNICIAN]) == orders_of([Role.DEALER]) | orders_of(
        [Role.TECHNICIAN]
    )
    assert orders_of([Role.EXECUTIVE]) == CATALOGUE.keys()
    assert orders_of([Role.AUDITOR]) == orders_of([]) == frozenset()


@pytest.mark.parametrize(
    ("kind", "values", "event"),
    [
        ("sign_on", {}, SignOn("ann")),
        ("key_card", {"card": Card("9S"), "position": 2}, KeyCard("ann", Card("9S"), 2)),
        ("wager_placed", {"seat": 3}, WagerPlaced(3)),  # which says nobody's name
        ("start_game", {"round": 3}, StartGame(3, "ann")),
    ],
)
def test_an_order_is_given_in_somebodys_name_where_it_has_one(kind, values, event):
    assert event_of(kind, values, "ann") == event


# --- what can be given now

HOUSES: dict[str, dict[str, Any]] = {
    "aquarius": {"game_name": "progressive-2", "meter": {}},
    "nexus": {"game_name": "progressive-2", "meter": {"procedure": "nexus"}},
    "unseen": {"game_name": "progressive-2", "meter": {"base_wagers": "unseen"}},
    "small": {"game_name": "progressive-2", "meter": {"seed": 0, "display_limit": 100}},
}
SUITED = "draw 2H KC 3H JC 4H KD"
WON = [*BET, "wager 2 player 500", "wager 5 player 500", "spot 2 5", "start game", SUITED]
SELECTED = [*WON, "hand 2", "hand 5"]
GAMES: list[tuple[str, list[str]]] = [
    *(
        (house, ["meter", *BET, *more])
        for house in HOUSES
        for more in ([], ["spot 2"], ["start game"], ["draw KS"], ["start game", f"draw {LONG}"])
    ),
    *((house, ["meter", *WON]) for house in ("aquarius", "nexus", "unseen")),
    ("aquarius", ["meter", *SELECTED, "turn jph"]),
    ("aquarius", ["meter", *SELECTED, "turn jph", "j-pot"]),
    ("aquarius", ["meter", *SELECTED, "turn jph", "j-pot", "turn run"]),
    ("aquarius", ["meter", *SELECTED, "turn jph", "j-pot", "turn run", "back out 1"]),
    ("nexus", ["meter", *SELECTED]),
    ("nexus", ["meter", *SELECTED, "confirm"]),
    ("nexus", ["meter", *SELECTED, "confirm", "swipe"]),
    ("nexus", ["meter", *SELECTED, "confirm", "swipe", "end game"]),
    ("aquarius", ["meter", *BET, "sensors there", "spot 2"]),
    ("aquarius", ["meter", *BET, "sensors there", "spot 2", "sensors lost"]),
    ("aquarius", ["meter", "retire"]),
    ("aquarius", BET),
]
ONE_DECK = {"decks": 1}
OF_A_RANK = "draw KS KH KD KC 5S 6S"
STATES: list[tuple[dict[str, Any], list[str]]] = [
    *((house, [*so_far, command]) for house, so_far, command, _, _ in SCENARIOS),
    *((house, [*so_far, "noise"]) for house, so_far in IN_PHASE.values()),
    *(({**HOUSES["aquarius"], **house}, ["meter", *so_far]) for house, so_far in METERED.values()),
    *((HOUSES[house], so_far) for house, so_far in GAMES),
    *((ONE_DECK, [*BET, *so_far]) for so_far in (["draw KS KH KD"], ["draw KS KH KD KC"], [OF_A_RANK])),
    (ONE_DECK, [*BET, "draw KS KH KD KC 5S", "unread"]),
    ({"game_name": "progressive-2", "table": AUTHORITY, "progressive": linked(1)}, ["meter"]),
]


def everything(state: TableState) -> dict[type, Iterator[Any]]:
    """What somebody could write in each order: every value that makes a difference, and some that are wrong."""
    rounds = range(state.round.number + 2)
    seats = range(state.settings.seats + 2)
    own: dict[type, Iterator[Any]] = {
        SwipeCard: (SwipeCard("eve", level) for level in ("supervisor", "executive")),
        SignAward: (SignAward("eve", level) for level in ("supervisor", "executive")),
        TurnKey: (TurnKey(to, "ann") for to in Key),
        KeyCard: (KeyCard("ann", card, at) for card in CARDS for at in (None, *range(7))),
        CorrectCard: (CorrectCard("ann", at, card, "r", "bob") for at in range(7) for card in CARDS),
        CorrectRound: _rounds(state),
        VoidRound: (VoidRound("ann", number, "r", "bob") for number in rounds),
        AcceptDevice: (AcceptDevice("ann", serial, "bob") for serial in ("A", "B", "KP-2", "")),
        AcceptShoe: (AcceptShoe("ann", serial, "bob") for serial in ("A", "B", "C", "")),
        AcknowledgeAlarm: (AcknowledgeAlarm("ann", number) for number in range(state.happenings + 2)),
        ChangeGame: (
            ChangeGame("ann", other, "bob")
            for other in (state.settings.game, game("mini-baccarat"), game("midi-baccarat"))
        ),
        StartGame: _starts(state, rounds),
        WagerPlaced: (WagerPlaced(seat) for seat in seats),
        WagerLifted: (WagerLifted(seat) for seat in seats),
        HandButton: (HandButton(seat, "ann") for seat in seats),
        Adjust: (
            Adjust(cause, amount, "r", "ann", "bob") for cause in Cause for amount in (0, 1, 100, 10**6)
        ),
        BackOut: (BackOut(award, "r", "ann", "bob") for award in range(4)),
        ForgetTable: (ForgetTable(table, "r", "ann", "bob") for table in ("t1", "t9")),
        CountCoins: (
            CountCoins("2026-01-02", 1, "ann", name) for name in (None, "dragon", *state.retired_progressives)
        ),
        ChangeSettings: _changes(state),
        CollectCommission: (
            CollectCommission("ann", seat, amount) for seat in seats for amount in (0, 50, 100)
        ),
        WaiveCommission: (
            WaiveCommission("ann", seat, amount, "r", "bob") for seat in seats for amount in (0, 50, 100)
        ),
    }
    written = {"who": "ann", "reason": "r", "approved_by": "bob"}  # of all others
    others = {each.event for each in CATALOGUE.values()} - own.keys()
    return own | {
        event: iter(
            [event(**{each.name: written[each.name] for each in fields(event) if each.name != "kind"})]
        )
        for event in others
    }


def _rounds(state: TableState) -> Iterator[CorrectRound]:
    """The last round with any one of its cards, or any two, another; and a few that are quite others."""
    last = state.history.last
    if last is None:
        yield CorrectRound("ann", 1, (Card("KS"), Card("9H")), (Card("2S"), Card("3S")), "r", "bob")
        return
    yield CorrectRound("ann", last.round, (Card("KS"), Card("9H")), (Card("2S"), Card("7D")), "r", "bob")
    dealt = (*last.player, *last.banker)
    for place, card in product(range(len(dealt)), CARDS):
        read = (*dealt[:place], card, *dealt[place + 1 :])
        player, banker = read[: len(last.player)], read[len(last.player) :]
        yield CorrectRound("ann", last.round, player, banker, "r", "bob")


def _starts(state: TableState, rounds: range) -> Iterator[StartGame]:
    sensors = () if state.progressive is None else state.progressive.procedure.hand.sensors
    latched = (
        [None] if state.devices.sensors is None else [sensors] if state.devices.sensors.online else [None]
    )
    return (StartGame(number, "ann", seats) for number in rounds for seats in latched)


def _changes(state: TableState) -> Iterator[ChangeSettings]:
    if state.progressive is None:
        other = settings(**HOUSES["aquarius"]).progressive
        assert other is not None
        return iter([ChangeSettings(other, "r", "ann", "bob")])
    before = state.progressive.books.settings
    others: list[dict[str, Any]] = [
        {},
        {"seed": 77},
        {"split": "participants"},
        {"seat_one": "left"},
        {"seat_one": "right"},
    ]
    return (ChangeSettings(replace(before, **each), "r", "ann", "bob") for each in others)


@pytest.mark.parametrize(("house", "so_far"), STATES[::8])
def test_what_is_said_to_be_possible_is_what_the_machine_takes(house, so_far):
    holds(Croupier(**house).do(*so_far).state)


@pytest.mark.soak
@pytest.mark.parametrize(("house", "so_far"), STATES)
def test_what_is_said_to_be_possible_is_what_the_machine_takes_in_every_state(house, so_far):
    holds(Croupier(**house).do(*so_far).state)


@pytest.mark.parametrize(
    "so_far", [[*BET, "draw KS 2S"], [*COUP, "draw 3S"], [*COUP, "unread"], [*SELECTED, "confirm"]]
)
def test_where_every_card_has_come_none_can_be_another(so_far):
    house = HOUSES["nexus"] if "confirm" in so_far else {}
    meter = ["meter"] if house else []
    state = Croupier(**house).do(*meter, *so_far).state
    spent = state.replace(shoe=state.shoe.replace(drawn=tuple(CARDS) * state.settings.game.decks))
    said = Trials(spent).refusals

    holds(spent)
    assert {kind for kind in ("key_card", "correct_card", "correct_round") if said[kind] is None} == set()


def holds(state: TableState) -> None:
    """What is said to be possible is what the machine takes, whatever somebody writes."""
    said = Trials(state).refusals

    assert list(said) == list(CATALOGUE)
    for event, tries in everything(state).items():
        kind = next(kind for kind, each in CATALOGUE.items() if each.event is event)
        accepted = next((order for order in tries if refusal(state, order) is None), None)
        assert (said[kind] is None) == (accepted is not None), (kind, said[kind], accepted)


@pytest.mark.parametrize("phase", Phase)
def test_what_no_phase_allows_is_said_to_be_not_now(phase):
    house, so_far = IN_PHASE[phase]
    said = Trials(Croupier(**house).do(*so_far).state).refusals
    found = {kind: error.code for kind, error in said.items() if error is not None}

    if phase is Phase.LOCKED:
        assert [kind for kind, refused in said.items() if refused is None] == ["sign_on"]
    if phase is not Phase.BETTING:
        assert found["close_betting"] == "not_now"
    if phase is not Phase.REVEAL:
        assert found["reveal"] == "not_now"


def test_what_is_tried_changes_nothing():
    croupier = Croupier().do(*COUP)
    before = croupier.state

    assert refusal(before, CloseBetting("ann")) is not None
    assert Trials(before).refusals["close_betting"] is not None
    assert croupier.state is before
    assert before == Croupier().do(*COUP).state


def test_an_order_with_a_field_of_unknown_values_says_where_to_add_them(monkeypatch):
    monkeypatch.delitem(possible._VALUES, "reason")
    with pytest.raises(TypeError, match="HoldPlay: add a possible value of reason to _VALUES"):
        possible._combinations.__wrapped__("hold_play")


def test_the_settings_asking_for_a_second_person_do_not_make_an_order_impossible():
    state = Croupier(approval=("void_coup",)).do(*COUP).state

    assert Trials(state).refusals["void_coup"] is None
    with pytest.raises(RefusedError) as caught:
        Table(state).handle(VoidCoup("ann", "r"))
    alone = caught.value
    assert alone is not None
    assert alone.code == "needs_approval"


@pytest.mark.parametrize("own", [None, {"procedure": "nexus"}])
def test_the_coins_of_a_retired_meter_can_be_counted_whatever_the_table_has_since(own):
    at = Croupier(**HOUSES["aquarius"]).do("meter", "retire")
    following = settings(game_name="progressive-2", meter=own)
    if following.progressive is not None:
        following = replace(following, progressive=replace(following.progressive, progressive="dragon-2"))
    at.handle(ServiceStarted("0.1.0", following))

    assert Trials(at.state).refusals["count_coins"] is None


def test_a_dealer_may_confirm_what_the_house_lets_the_dealer_confirm_alone():
    may = {"jpot", "confirm", "nobody_won"}
    house = {"game_name": "progressive-2", "meter": {"supervisor_from": 1_000_000}}
    before = Croupier(**house).do("hello", "sign on", "meter", "change shoe", "open", "wager 2 player 500")
    dealt = before.do("start game 2")

    assert not orders_of([Role.DEALER], dealt.state) & may
    dealt.do("draw 2H KC 2D JC 5H KD")  # 9 over 0: 40 for 1, from the tray
    assert orders_of([Role.DEALER], dealt.state) & may == may
    assert not orders_of([Role.DEALER]) & may
