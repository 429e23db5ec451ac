"""The states of a linked table, of its authority and of their connection, as far as they decide what people an award needs.

Walks and simulations count with them what they reach.
"""

from typing import Final, Literal, NamedTuple

from punto.baccarat.progressive.aquarius import Key
from punto.baccarat.progressive.procedure import Hand, Step
from punto.baccarat.progressive.state import AwardState
from punto.baccarat.progressive.state import Phase as MeterPhase
from punto.baccarat.table.meter_link import served_table
from punto.baccarat.table.state import AuthorityLink, Phase, TablesProgressive, TableState

Won = Literal["nothing", "unconfirmed", "selected", "confirmed", "nobody won", "differs"]
_ON_THE_TABLE: Final = frozenset({Phase.DEALING, Phase.REVEAL})


class OfTable(NamedTuple):
    """A table: the step of its game, the award of the game's hand, the supervisor's key, and whether a hand is being dealt."""

    step: Step
    won: Won
    key: Key | None
    dealing: bool


class OfAuthority(NamedTuple):
    """What the authority has of a table: the meter, whether the table's last game is over, and the last award of this game.

    `over` is None before the first game. `locked` says whether an award of another table is locked.
    """

    meter: MeterPhase
    over: bool | None
    award: AwardState | None
    locked: bool


class OfConnection(NamedTuple):
    """What the table knows of the authority: whether it answers, and what the table has asked.

    `asked` is the kind of the first order of the request that waits, None if none does. `done` says whether the authority has
    carried out this request, or has refused it, and the answer is on its way. `later` says whether reports wait for it.
    """

    online: bool
    asked: str | None
    done: Literal["no", "carried out", "refused"]
    later: bool


class Reached(NamedTuple):
    """A table, its authority and their connection at one moment."""

    table: OfTable
    authority: OfAuthority
    connection: OfConnection

    @property
    def pair(self) -> tuple[OfTable, OfAuthority]:
        """The states of the table and of the authority."""
        return self.table, self.authority


def reached(table: TableState, authority: TablesProgressive) -> Reached:
    """The state of a linked table, and of its authority and their connection as they concern this table."""
    progressive = table.progressive
    assert progressive is not None
    assert progressive.link is not None
    procedure, name = progressive.procedure, table.settings.table
    key = procedure.key if procedure.kind == "aquarius" else None
    of_table = OfTable(procedure.step, _won(procedure.hand), key, table.phase in _ON_THE_TABLE)
    return Reached(of_table, of_authority(authority, name), _connection(progressive.link, authority, name))


def of_authority(authority: TablesProgressive, table: str) -> OfAuthority:
    """What the authority has of this table."""
    books = authority.books
    played = books.round_at(table)
    own = [
        each.state for each in books.awards if played and (each.table, each.round) == (table, played.round)
    ]
    return OfAuthority(
        books.phase,
        None if played is None else played.over,
        own[-1] if own else None,
        any(each.table != table for each in books.locked),
    )


def _won(hand: Hand) -> Won:
    if hand.award_differs:
        return "differs"
    if hand.open:
        return "selected" if hand.selected else "unconfirmed"
    if hand.denied:
        return "nobody won"
    return "nothing" if hand.awarded is None else "confirmed"


def _connection(link: AuthorityLink, authority: TablesProgressive, table: str) -> OfConnection:
    if link.asked is None:
        return OfConnection(link.online, None, "no", later=False)
    last = served_table(authority, table)
    if last is None or last.number != link.asked.number:
        done: Literal["no", "carried out", "refused"] = "no"
    else:
        done = "carried out" if last.refused is None else "refused"
    return OfConnection(link.online, link.asked.orders[0].kind, done, bool(link.later))
