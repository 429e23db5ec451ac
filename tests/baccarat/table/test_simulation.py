"""A virtual shoe deals at a table that is a simulation, and at no other; the two have records of their own."""

import pytest

from punto.baccarat.table.events import Component, ServiceStarted, ShoeHello
from punto.baccarat.table.order_kinds import AcceptShoe
from punto.baccarat.table.state import Phase
from punto.baccarat.table.turn import RefusedError
from tests.baccarat.table.croupier import PLAYER_NATURAL, Croupier, settings

VIRTUAL = ShoeHello("VS-000001", 1, 1, 1, 8, (Component("virtual-shoe", "1", "00"),))
REMEDY = "connect a real shoe, or write simulation = true in [table] and start the service again"


def shown_to(**changes) -> Croupier:
    """A table on its first day, to which a virtual shoe has introduced itself."""
    croupier = Croupier(**changes)
    croupier.handle(VIRTUAL)
    return croupier


def test_a_table_takes_no_virtual_shoe_whoever_accepts_it():
    croupier = shown_to()
    why = "the shoe is virtual, and this table is not a simulation"
    assert croupier.state.link.serial is None
    assert [stop.text for stop in croupier.state.waiting.stops] == [f"{why}: {REMEDY}"]

    croupier.do("sign on", "change shoe")
    with pytest.raises(RefusedError) as refused:
        croupier.handle(AcceptShoe("omar", "VS-000001", "it is ours"))

    assert (refused.value.code, str(refused.value)) == ("virtual_shoe", f"{why}: {REMEDY}")
    assert croupier.state.link.serial is None


def test_a_simulation_takes_it_and_says_so_in_its_name():
    croupier = shown_to(simulation=True).do("sign on", "change shoe", f"draw {PLAYER_NATURAL}")

    assert [record.winner for record in croupier.rounds] == ["player"]
    assert croupier.state.settings.title == "Table 1 · SIMULATION"


def test_the_name_of_a_table_that_is_no_simulation_stays_as_it_is():
    assert settings().title == "Table 1"


def test_where_cards_are_keyed_a_virtual_shoe_stops_nothing():
    croupier = shown_to(cards="keyed")

    assert (croupier.phase, croupier.state.waiting.stops) == (Phase.LOCKED, ())


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (False, "this is the record of a live table, but the configuration is for a simulation"),
        (True, "this is the record of a simulation, but the configuration is for a live table"),
    ],
)
def test_a_record_is_of_a_simulation_or_of_a_live_table_for_good(before, said):
    croupier = Croupier(simulation=before)
    croupier.handle(ServiceStarted("1.0.0", settings(simulation=before)))

    with pytest.raises(RefusedError, match=f"{said}: use a separate record for the simulation") as refused:
        croupier.handle(ServiceStarted("1.0.0", settings(simulation=not before)))

    assert refused.value.code == "simulation_differs"
