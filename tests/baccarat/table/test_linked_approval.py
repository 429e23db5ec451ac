"""At a linked table, an order needs a second person wherever it needs one at a table with a meter of its own."""

from typing import Final

import pytest

from tests.baccarat.table.linked_floor import LinkedFloor, Node, linked

QUARTER: Final = ("draw 2H KC 3H JC 4H", "draw KD")  # 25% of the meter
UNSUITED: Final = ("draw 2H KC 3D JC 4H", "draw KD")  # 1000 for 1, from the tray
NOTHING: Final = ("draw KS 2S 5S 3S 4D", "draw 9D")
CORRECTION: Final = "correct round 2D 3D 4D over KC JC KD"
"""To all of the meter."""
NEXT: Final = ("spot 2", "start game", "draw KS")
ENDS: Final = {
    "aquarius": {
        "won": ("hand 1", "turn jph", "j-pot", "turn run", "game over"),
        "denied": ("turn jph", "nobody", "turn run", "game over"),
        "lost": ("game over",),
        "corrected": ("game over", CORRECTION, "hand 1", "turn jph", "j-pot", "turn run", "game over"),
    },
    "nexus": {
        "won": ("hand 1", "confirm", "sign executive", "end game"),
        "denied": ("nobody", "sign executive", "end game"),
        "lost": ("end game",),
        "corrected": ("end game", CORRECTION, "hand 1", "confirm", "sign executive", "end game"),
    },
}
GAMES: Final = [
    pytest.param(procedure, (*hand, *ENDS[procedure][end], *NEXT), id=f"{procedure}-{name}-{end}")
    for procedure in ENDS
    for name, hand, end in (
        ("quarter", QUARTER, "won"),
        ("quarter", QUARTER, "denied"),
        ("fixed", UNSUITED, "won"),
        ("nothing", NOTHING, "lost"),
        ("nothing", NOTHING, "corrected"),
    )
]
ORDERS: Final = (
    CORRECTION,
    "correct round 2H 3H 4H over KC JC KD",  # 25%
    "correct round 2H 3D 4H over KC JC KD",  # of the tray
    "correct round 2D 3S 4D over KC JC KD",  # nothing
    "correct round KS 5S 4D over 2S 3S 9D",  # nothing, by other cards
    "void round",
    "void",
    "correct 1 2D",
    "correct 3 3H",
    "reopen",
)


def refusal_of(table: Node, order: str) -> str:
    """The refusal of an order that one person alone gives; empty if it is accepted. The table stays as it is."""
    state = table.state
    table.do(f"alone {order}")
    refusals, table.refusals = table.refusals, []
    assert not refusals or table.state is state
    table.table.state = state
    return "".join(refusals)


@pytest.mark.parametrize(("procedure", "game"), GAMES)
def test_one_person_alone_can_do_no_more_at_a_linked_table_than_at_any_other(procedure, game):
    alone = Node("t1", linked(1, authority=None, procedure=procedure))
    alone.do("meter", "hello", "sign on", "change shoe", "open")
    floor = LinkedFloor(1, {"procedure": procedure})
    floor.settle()
    table = floor.tables["t1"]
    for command in ("spot 1", "start game", *game):
        alone.do(command)
        table.do(command)
        assert alone.refusals == table.refusals == []
        expected = {order: refusal_of(alone, order) for order in ORDERS}
        while_it_waits = {order: refusal_of(table, order) for order in ORDERS}
        floor.settle()

        assert {order: refusal_of(table, order) for order in ORDERS} == expected, command
        for order, refusal in while_it_waits.items():
            assert refusal in {expected[order], "meter_asked"}, (command, order)
