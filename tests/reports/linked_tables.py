"""Tables that are linked to an authority in this process: requests and answers are carried from one to the other by the test."""

from typing import Any

from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.baccarat.table.events import MeterAnswered, MeterHeard, TableAsked
from punto.baccarat.table.meter_link import served_table
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import TablesProgressive
from tests.baccarat.table.croupier import settings
from tests.baccarat.table.linked_floor import AUTHORITY, Node, linked
from tests.controller.table_in_this_process import Table


def authority(**meter: Any) -> Settings:
    """The settings of an authority for `t1` and `t2`."""
    return settings(game_name="progressive-2", table=AUTHORITY, progressive=linked(2, **meter), cards="keyed")


def kept(here: Table) -> TablesProgressive:
    """The progressive at its authority."""
    progressive = here.state.progressive
    assert progressive is not None
    return progressive


async def open_tables(here: Table) -> list[Node]:
    """The authority's tables, with betting open."""
    progressive: ProgressiveSettings = kept(here).books.settings
    tables = [Node(each.table, progressive) for each in progressive.tables]
    for at in tables:
        at.do("hello", "sign on", "change shoe", "open")
        await carry(here, at)
    return tables


async def carry(here: Table, at: Node) -> None:
    """What a table asks of the authority, and the authority's answer."""
    link, name = at.progressive.link, at.settings.table
    assert link is not None
    if link.asked is not None:
        asked = TableAsked(name, f"record of {name}", link.asked.number, link.asked.orders)
        (handled,) = await here.engine.submit([asked], f"table {name}")
        assert handled.refusal is None
        last = served_table(kept(here), name)
        assert last is not None
        extract = kept(here).books.extract(name)
        at.handle(MeterAnswered(last.number, last.entries, last.refused, extract))
    at.handle(MeterHeard(True, "", kept(here).books.extract(name), None))


async def play(here: Table, at: Node, *commands: str) -> None:
    """Something happens at a table, and is carried each time."""
    for command in commands:
        at.do(command)
        await carry(here, at)
