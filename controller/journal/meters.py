"""The meters' rows of the record: the game of each round, the rule of each wager that decided it, and the views over them.

The views count each hand as it was settled last, by the rules that it was played with. `wager` is empty for results of hands
and for naturals. Times are UTC, and an `hour` is their beginning, such as 2026-11-21T14.
"""

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from punto.baccarat.table.meters import NATURAL, every
from punto.baccarat.table.state import RoundRecord
from punto.baccarat.wagers.definition import Game
from punto.configs.expectations import WIN, Expectation, Expectations, shipped
from punto.configs.problems import cut
from punto.controller.journal.entries import GAMES, ROUNDS

# A game's row is at the first round that was played with its rules after a round of others.
TABLES: Final = """
CREATE TABLE games (
    round INTEGER PRIMARY KEY REFERENCES rounds (round),
    name TEXT NOT NULL,
    rules TEXT NOT NULL,
    definition TEXT NOT NULL
) STRICT;
CREATE TABLE decided (
    round INTEGER NOT NULL REFERENCES rounds (round),
    wager TEXT NOT NULL,
    rule TEXT NOT NULL,
    PRIMARY KEY (round, wager)
) STRICT, WITHOUT ROWID;
CREATE TABLE expectations (
    rules TEXT NOT NULL,
    wager TEXT NOT NULL,
    rule TEXT NOT NULL,
    mean REAL NOT NULL,
    variance REAL NOT NULL,
    PRIMARY KEY (rules, wager, rule)
) STRICT, WITHOUT ROWID;
"""
KEYS: Final = {"games": ("round",), "decided": ("round", "wager"), "expectations": ("rules", "wager", "rule")}
OF_ROUNDS: Final = ("games", "decided")
"""The tables whose rows follow from a round. Expectations follow from a game's rules alone."""


def _number(fraction: str) -> str:
    """The SQL of a text such as "7/20" as a number. A cast reads the text up to the stroke."""
    below = f"CAST(substr({fraction}, nullif(instr({fraction}, '/'), 0) + 1) AS REAL)"
    return f"(CAST({fraction} AS REAL) / coalesce({below}, 1))"


VIEWS: Final = f"""
CREATE VIEW corrected AS
    SELECT json_extract(record, '$.corrects') AS round, max(round) AS entry FROM rounds
    WHERE status = 'correction' GROUP BY 1;
CREATE VIEW hands AS
    SELECT played.round, played.ts, played.game, played.shoe, played.coup,
        (SELECT rules FROM games WHERE games.round <= played.round ORDER BY games.round DESC LIMIT 1) AS rules,
        coalesce(last.round, played.round) AS entry,
        coalesce(last.player, played.player) AS player,
        coalesce(last.banker, played.banker) AS banker,
        coalesce(last.winner, played.winner) AS winner,
        json_extract(coalesce(last.record, played.record), '$.natural') AS natural
    FROM rounds AS played
    LEFT JOIN corrected ON corrected.round = played.round
    LEFT JOIN rounds AS last ON last.round = corrected.entry
    WHERE played.status = 'played' AND (last.round IS NULL OR last.winner IS NOT NULL);
CREATE VIEW hits AS
    SELECT round, ts, game, rules, '' AS wager, winner AS rule FROM hands
    UNION ALL SELECT round, ts, game, rules, '', '{NATURAL}' FROM hands WHERE natural
    UNION ALL SELECT hands.round, ts, game, rules, decided.wager, decided.rule
    FROM hands CROSS JOIN decided ON decided.round = hands.entry;
CREATE VIEW wagers AS
    SELECT hands.round, hands.ts, hands.game, hands.rules, own.wager, count(*) AS wagers, sum(own.stake) AS dropped,
        sum(own.returned + coalesce(more.returned, 0)) AS returned,
        sum({_number("own.remainder")} + coalesce(more.remainder, 0)) AS rounded
    FROM hands
    CROSS JOIN settlements AS own ON own.round = hands.round
    LEFT JOIN (
        SELECT json_extract(rounds.record, '$.corrects') AS round, seat, wager, sum(returned) AS returned,
            sum({_number("remainder")}) AS remainder
        FROM rounds CROSS JOIN settlements USING (round) WHERE rounds.status = 'correction' GROUP BY 1, 2, 3
    ) AS more ON more.round = own.round AND more.seat = own.seat AND more.wager = own.wager
    GROUP BY hands.round, own.wager;
CREATE VIEW meters_hands AS
    SELECT game, rules, count(*) AS hands, sum(winner = 'player') AS player, sum(winner = 'banker') AS banker,
        sum(winner = 'tie') AS tie, sum(natural) AS natural, min(ts) AS since, max(ts) AS until
    FROM hands GROUP BY game, rules;
CREATE VIEW meters_rules_by_hour AS
    WITH known AS (
        SELECT name AS game, rules, '' AS wager, value AS rule
        FROM games, json_each('["player", "banker", "tie", "{NATURAL}"]')
        UNION SELECT name, rules, json_extract(wager.value, '$.name'), json_extract(rule.value, '$.name')
        FROM games, json_each(definition, '$.wagers') AS wager, json_each(wager.value, '$.rules') AS rule
    ), played AS (
        SELECT substr(ts, 1, 13) AS hour, game, rules, count(*) AS hands FROM hands GROUP BY 1, 2, 3
    ), hit AS (
        SELECT substr(ts, 1, 13) AS hour, game, rules, wager, rule, count(*) AS hits FROM hits GROUP BY 1, 2, 3, 4, 5
    )
    SELECT played.hour, played.game, played.rules, known.wager, known.rule, played.hands,
        coalesce(hit.hits, 0) AS hits, played.hands * of.mean AS expected, played.hands * of.variance AS variance
    FROM played
    JOIN known ON known.game = played.game AND known.rules = played.rules
    LEFT JOIN expectations AS of ON of.rules = known.rules AND of.wager = known.wager AND of.rule = known.rule
    LEFT JOIN hit ON hit.hour = played.hour AND hit.game = played.game AND hit.rules = played.rules
        AND hit.wager = known.wager AND hit.rule = known.rule;
CREATE VIEW meters_rules AS
    SELECT game, rules, wager, rule, sum(hands) AS hands, sum(hits) AS hits, sum(expected) AS expected,
        (sum(hits) - sum(expected)) / nullif(sqrt(sum(variance)), 0) AS errors
    FROM meters_rules_by_hour GROUP BY game, rules, wager, rule;
CREATE VIEW meters_wagers_by_hour AS
    SELECT made.hour, made.game, made.rules, made.wager, made.wagers, made.dropped, made.returned,
        made.dropped - made.returned AS held, made.dropped * of.mean + made.rounded AS expected, made.squares * of.variance AS variance
    FROM (
        SELECT substr(ts, 1, 13) AS hour, game, rules, wager, sum(wagers) AS wagers, sum(dropped) AS dropped,
            sum(returned) AS returned, sum(rounded) AS rounded, sum(1.0 * dropped * dropped) AS squares
        FROM wagers GROUP BY 1, 2, 3, 4
    ) AS made
    LEFT JOIN expectations AS of ON of.rules = made.rules AND of.wager = made.wager AND of.rule = '{WIN}';
CREATE VIEW meters_wagers AS
    SELECT game, rules, wager, sum(wagers) AS wagers, sum(dropped) AS dropped, sum(returned) AS returned,
        sum(held) AS held, sum(expected) AS expected,
        (sum(held) - sum(expected)) / nullif(sqrt(sum(variance)), 0) AS errors
    FROM meters_wagers_by_hour GROUP BY game, rules, wager;
"""  # noqa: S608 - literals


# --- writing


def add_expectations(connection: sqlite3.Connection, game: Game, found: Expectations) -> None:
    """Add those expectations of a game that the record does not have."""
    connection.executemany(
        "INSERT INTO expectations SELECT ?1, ?2, ?3, ?4, ?5 "
        "WHERE NOT EXISTS (SELECT 1 FROM expectations WHERE rules = ?1 AND wager = ?2 AND rule = ?3)",
        [(game.rules_digest, wager or "", rule, *figures) for (wager, rule), figures in found.items()],
    )


def game_of(connection: sqlite3.Connection, number: int) -> tuple[str, str]:
    """The name and the rules of the game of a round; empty before the first."""
    row: tuple[str, str] | None = connection.execute(
        "SELECT name, rules FROM games WHERE round <= ? ORDER BY round DESC LIMIT 1", (number,)
    ).fetchone()
    return row or ("", "")


# --- reading


def game_at(connection: sqlite3.Connection, number: int) -> Game | None:
    """The game of a round, None before the first."""
    row = connection.execute(
        "SELECT definition FROM games WHERE round <= ? ORDER BY round DESC LIMIT 1", (number,)
    ).fetchone()
    return None if row is None else GAMES.validate_json(row[0])


def games_since(connection: sqlite3.Connection, first: int) -> list[tuple[Game, list[RoundRecord]]]:
    """The games from a round on, each with its rounds that were played or corrected, in order.

    If no round has ended since, it is the last game.
    """
    begun = connection.execute(
        "SELECT round, definition FROM games WHERE round > ?1 "
        "OR round = (SELECT max(round) FROM games WHERE round <= ?1) ORDER BY round",
        (first,),
    ).fetchall()
    games = [GAMES.validate_json(definition) for _, definition in begun]
    found: dict[tuple[str, str], tuple[Game, list[RoundRecord]]] = {
        (game.name, game.rules_digest): (game, []) for game in games
    }
    starts = [number for number, _ in begun]
    for record in _settled_since(connection, first):
        game = games[bisect_right(starts, record.round) - 1]
        found[game.name, game.rules_digest][1].append(record)
    return list(found.values())


def _settled_since(connection: sqlite3.Connection, first: int) -> Iterator[RoundRecord]:
    rows: Iterable[tuple[str]] = connection.execute(
        "SELECT record FROM rounds WHERE round >= ? AND status IN ('played', 'correction') ORDER BY round",
        (first,),
    )
    return (ROUNDS.validate_json(record) for (record,) in rows)


def expectations_of(connection: sqlite3.Connection, game: Game) -> Expectations:
    """The expectations of a game that are on the record."""
    rows = connection.execute(
        "SELECT wager, rule, mean, variance FROM expectations WHERE rules = ?", (game.rules_digest,)
    )
    return {(wager or None, rule): Expectation(mean, variance) for wager, rule, mean, variance in rows}


def expectations_differ(connection: sqlite3.Connection, game: Game, *, complete: bool) -> bool:
    """Whether the record has other expectations of a game than those that ship; or, if they are to be `complete`, not all of them."""
    own = expectations_of(connection, game)
    return any(
        own.get(key, None if complete else figures) != figures for key, figures in shipped(game).items()
    )


def stray_expectation(connection: sqlite3.Connection, games: Mapping[str, Game]) -> str | None:
    """The error of expectations that are of none of these games, by the digests of their rules; None without one."""
    for rules, wager, rule in connection.execute("SELECT rules, wager, rule FROM expectations"):
        game = games.get(rules)
        if game is None or (wager, rule) not in {
            *((of or "", its) for of, its in every(game)),
            *((each.name, WIN) for each in game.wagers),
        }:
            return f"expectations has a row that is of no game on the record: {cut(f'{rules} {wager} {rule}', 100)}: restore a backup"
    return None
