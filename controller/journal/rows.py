"""The rows of the record that follow from an input, and their text, whose digest the chain of hashes covers.

People query these rows in their tables. A start reads none of them to go on, and a replay derives them again.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from punto.baccarat.coup import Coup
from punto.baccarat.table.after_settlement import as_dealt
from punto.baccarat.table.effects import CommissionMoved, Effect, RoundEnded
from punto.baccarat.table.meters import deciding
from punto.baccarat.table.state import RoundRecord
from punto.baccarat.wagers.definition import Game
from punto.controller.journal import books
from punto.controller.journal.books import Row, Value
from punto.controller.journal.entries import GAMES, ROUNDS
from punto.controller.journal.incidents import Incident

TABLES: Final = ("incidents", "rounds", "settlements", "games", "decided", "commissions", *books.NEVER_EDITED)
"""The tables of these rows, in the order in which an input's rows are written: a round before what refers to it."""
_PLACE: Final = {table: place for place, table in enumerate(TABLES)}
_SETTLEMENT_KEY: Final = 3
_OTHER_KEY: Final = 2


def text(rows: Iterable[Row]) -> str:
    """The rows as one JSON text, in the order of their tables and keys. The same rows give the same text."""
    return json.dumps(sorted(rows, key=_order), ensure_ascii=False, separators=(",", ":"))


def _order(row: Row) -> tuple[int, tuple[Value, ...]]:
    key = _SETTLEMENT_KEY if row.table == "settlements" else _OTHER_KEY
    return _PLACE[row.table], row.values[:key]


def of_incidents(seq: int, incidents: Iterable[Incident]) -> list[Row]:
    """The incidents of the input `seq`."""
    return [
        Row("incidents", (seq, place, each.kind, each.code, each.text))
        for place, each in enumerate(incidents)
    ]


def of_round(seq: int, ts: str, game: Game, record: RoundRecord, *, begins: bool) -> list[Row]:
    """A round that the input `seq` ended, with its settlements and deciding rules; and its game, if the game `begins` with it."""
    number = record.round
    cards = (" ".join(record.player), " ".join(record.banker))
    totals = (record.player_total, record.banker_total)
    about = (record.shoe, record.coup, record.status)
    whole = ROUNDS.dump_json(record).decode()
    rows = [Row("rounds", (number, seq, ts, game.name, *about, *cards, *totals, record.winner, whole))]
    for paid in record.settlements:
        amounts = (paid.stake, paid.returned, paid.net, paid.rule, str(paid.remainder))
        rows.append(Row("settlements", (number, paid.seat, paid.wager, paid.outcome, *amounts)))
    if begins:
        rows.append(Row("games", (number, game.name, game.rules_digest, GAMES.dump_json(game).decode())))
    return rows + [Row("decided", (number, *each)) for each in _decided(game, record)]


def of_commissions(seq: int, effects: Iterable[Effect]) -> list[Row]:
    """The entries in the seats' accounts of commission that the input `seq` made."""
    moved = [effect.entry for effect in effects if isinstance(effect, CommissionMoved)]
    return [
        Row(
            "commissions", (seq, place, each.seat, each.cause, each.amount, each.owed, each.round, each.wager)
        )
        for place, each in enumerate(moved)
    ]


def _decided(game: Game, record: RoundRecord) -> list[tuple[str, str]]:
    """Each wager of a round that has a result, and the rule that decided it."""
    if record.status not in {"played", "correction"} or record.winner is None:
        return []
    coup = Coup(as_dealt(record.player, record.banker))
    return [(wager, rule) for wager, rule in deciding(game, coup) if wager is not None]


def rounds_in(effects: Sequence[Effect]) -> list[RoundRecord]:
    """The rounds that ended, in order."""
    return [each.record for each in effects if isinstance(each, RoundEnded)]
