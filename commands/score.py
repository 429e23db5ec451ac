"""`punto score`: coups and wagers in, results and settlements out."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

from punto.baccarat.cards import Card, check_one_shoe
from punto.baccarat.coup import Coup
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.settlement import PlacedWager, Settlement, check_wagers, settle
from punto.commands.json_lines import (
    DoubledKeyObject,
    InexactNumber,
    LineError,
    check_keys,
    lines,
    parse,
    quoted,
)
from punto.configs.game_files import load_game

HELP: Final = (
    "Score coups and settle their wagers: one JSON object a line from standard input to standard output. "
    'A line is such as {"id":"r1","cards":["9S","KD","3H","4C","8D"],'
    '"wagers":[{"seat":1,"wager":"player","amount":2500}]}: cards in the order they left the shoe, T for ten, '
    'amounts in cents. A bad line gives {"id","error"}, and then the exit status is 1.'
)

KEYS: Final = ("id", "cards", "wagers")
WAGER_KEYS: Final = ("seat", "wager", "amount")
HIGHEST_SEAT: Final = 99
LARGEST_AMOUNT: Final = 10**12
"""Minor units. Beyond it what is returned may be more than JSON readers with floating numbers hold exactly."""

_CARDS: Final = {card.value: card for card in Card}
_JSON: Final = json.JSONEncoder(separators=(",", ":"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    parser.add_argument(
        "--game",
        required=True,
        metavar="FILE",
        help="a game file, or the name of a game that ships with punto",
    )


def main(args: argparse.Namespace) -> int:
    """Score standard input; 1 if any line was bad."""
    game = load_game(args.game)
    status = 0
    for answer, good in score(game, lines(sys.stdin.buffer)):
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()  # whoever runs this as a coprocess waits for the answer
        if not good:
            status = 1
    return status


def score(game: Game, source: Iterable[bytes]) -> Iterator[tuple[str, bool]]:
    """The answer to each line but blank ones, and whether the line was good."""
    for line in source:
        if line.isspace():
            continue
        identity = "null"
        try:
            found = parse(line)
            identity = _identity(found)
            answer = _score(game, found)
        except ValueError as error:  # LineError, and what cards, coup and wagers raise
            yield f'{{"id":{identity},"error":{_JSON.encode(str(error))}}}', False
        else:
            yield f'{{"id":{identity},{answer}}}', True


def _identity(found: dict[str, Any]) -> str:
    """The line's id as JSON, null where it has none."""
    if isinstance(found, DoubledKeyObject) and found.doubled == "id":
        return "null"
    match found.get("id"):
        case InexactNumber(text):
            return text
        case None:
            return "null"
        case bool() | dict() | list():
            raise LineError("the id must be a string or a number")
        case identity:
            return _JSON.encode(identity)


def _score(game: Game, found: dict[str, Any]) -> str:
    """The answer but its id, as JSON without the braces around it."""
    check_keys(found, KEYS, required=("cards",))
    coup = Coup.complete(read_cards(found["cards"], game.decks))
    wagers = _wagers(found["wagers"]) if "wagers" in found else []
    for seat in {placed.seat: None for placed in wagers}:
        check_wagers(game, [placed for placed in wagers if placed.seat == seat])
    result = {
        "player": coup.player,
        "banker": coup.banker,
        "player_total": coup.player_total,
        "banker_total": coup.banker_total,
        "winner": coup.winner,
        "natural": coup.natural,
        "player_pair": coup.player_pair,
        "banker_pair": coup.banker_pair,
        "settlements": [_plain(settlement) for settlement in settle(game, coup, wagers)],
    }
    return _JSON.encode(result)[1:-1]


def read_cards(found: object, decks: int) -> tuple[Card, ...]:
    """The cards of a list such as ["9S","KD"].

    Raises:
        LineError: it is not a list of cards.
        ValueError: it has a card more often than a shoe of so many decks.
    """
    if not isinstance(found, list):
        raise LineError('cards must be a list of cards, such as ["9S","KD","3H","4C","8D"]')
    try:
        cards = tuple([_CARDS[code] for code in found])
    except (KeyError, TypeError):
        wrong = next(code for code in found if not isinstance(code, str) or code not in _CARDS)
        raise LineError(
            f"{quoted(wrong)} is not a card: write rank A23456789TJQK, then suit SHDC, such as 9S or TD"
        ) from None
    check_one_shoe(cards, decks)
    return cards


def _wagers(found: object) -> list[PlacedWager]:
    if not isinstance(found, list):
        raise LineError('wagers must be a list, such as [{"seat":1,"wager":"player","amount":2500}]')
    return [_wager(each) for each in found]


def _wager(found: object) -> PlacedWager:
    if not isinstance(found, dict):
        raise LineError(
            f'{quoted(found)} is not a wager: write an object such as {{"seat":1,"wager":"player","amount":2500}}'
        )
    check_keys(found, WAGER_KEYS, required=WAGER_KEYS)
    seat, wager, amount = found["seat"], found["wager"], found["amount"]
    if type(seat) is not int or not 1 <= seat <= HIGHEST_SEAT:
        raise LineError(f"seat must be a whole number from 1 to {HIGHEST_SEAT}, not {quoted(seat)}")
    if type(wager) is not str:
        raise LineError(f"wager must be a wager's name, not {quoted(wager)}")
    if type(amount) is not int or not 1 <= amount <= LARGEST_AMOUNT:
        raise LineError(
            f"amount must be a whole number of cents from 1 to {LARGEST_AMOUNT}, not {quoted(amount)}"
        )
    return PlacedWager(seat, wager, amount)


def _plain(settlement: Settlement) -> dict[str, Any]:
    return {
        "seat": settlement.seat,
        "wager": settlement.wager,
        "outcome": settlement.outcome,
        "stake": settlement.stake,
        "returned": settlement.returned,
        "net": settlement.net,
        "rule": settlement.rule,
    }
