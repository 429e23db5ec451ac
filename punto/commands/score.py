"""`punto score`: score coups and settle their wagers."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

from punto.baccarat.cards import Card, check_one_shoe
from punto.baccarat.coup import Coup
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.settlement import PlacedWager, Settlement, check_wagers, settle
from punto.commands.arguments import add_game, game_or_table
from punto.commands.json_lines import (
    DoubledKeyObject,
    InexactNumber,
    LineError,
    check_keys,
    parse,
    quoted,
)
from punto.configs.text_file import lines

HELP: Final = (
    "Compute the results of coups (deals) and settle their wagers. Each line of the standard input and of the standard output is one "
    'JSON object. An example of an input line is {"id":"r1","cards":["9S","KD","3H","4C","8D"],'
    '"wagers":[{"seat":1,"wager":"player","amount":2500}]}. The cards are in the order in which they left the shoe; T is ten. '
    'Amounts are whole minor units, such as cents. The answer to an invalid line is {"id","error"}, and the exit status is then 1.'
)

KEYS: Final = ("id", "cards", "wagers")
WAGER_KEYS: Final = ("seat", "wager", "amount")
HIGHEST_SEAT: Final = 99
LARGEST_AMOUNT: Final = 10**12
"""Minor units. For larger amounts, the return could be too large for the floating-point numbers of JSON readers."""

_RESULT: Final = (
    *("player", "banker", "player_total", "banker_total"),
    *("winner", "natural", "player_pair", "banker_pair"),
)
_CARDS: Final = {card.value: card for card in Card}
_JSON: Final = json.JSONEncoder(separators=(",", ":"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    add_game(parser, required=True)


def main(args: argparse.Namespace) -> int:
    """Score standard input; 1 if a line is invalid."""
    game = game_or_table(args.game)
    status = 0
    for answer, good in score(game, lines(sys.stdin.buffer)):
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()  # a program that runs this as a coprocess waits for the answer
        if not good:
            status = 1
    return status


def score(game: Game, source: Iterable[bytes]) -> Iterator[tuple[str, bool]]:
    """The answer to each line that is not blank, and whether the line is valid."""
    for line in source:
        if line.isspace():
            continue
        identity = "null"
        try:
            found = parse(line)
            identity = _identity(found)
            answer = _score(game, found)
        except ValueError as error:  # also from the cards, the coup and the wagers
            yield f'{{"id":{identity},"error":{_JSON.encode(str(error))}}}', False
        else:
            yield f'{{"id":{identity},{answer}}}', True


def _identity(found: dict[str, Any]) -> str:
    """The line's id as JSON, null without one."""
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
    """The answer without its id, as JSON without the outer braces."""
    check_keys(found, KEYS, required=("cards",))
    coup = Coup.complete(read_cards(found["cards"], game.decks))
    wagers = _wagers(found["wagers"]) if "wagers" in found else []
    for seat in {placed.seat: None for placed in wagers}:
        check_wagers(game, [placed for placed in wagers if placed.seat == seat])
    result = {name: getattr(coup, name) for name in _RESULT}
    result["settlements"] = [_plain(settlement) for settlement in settle(game, coup, wagers)]
    return _JSON.encode(result)[1:-1]


def read_cards(found: object, decks: int) -> tuple[Card, ...]:
    """The cards of a list such as ["9S","KD"].

    Raises:
        LineError: it is not a list of cards.
        ValueError: a card is there more often than in a shoe of this number of decks.
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
            f"amount must be a whole number of minor units from 1 to {LARGEST_AMOUNT}, not {quoted(amount)}"
        )
    return PlacedWager(seat, wager, amount)


def _plain(settlement: Settlement) -> dict[str, Any]:
    names = ("seat", "wager", "outcome", "stake", "returned", "net", "rule")
    return {name: getattr(settlement, name) for name in names}
