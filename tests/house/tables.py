"""Tables whose rounds are taken in, as they tell them."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.baccarat.table.state import RoundRecord
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.settlement import PlacedWager, settle
from punto.configs.game_files import load_game
from punto.house.taken import Taken
from tests.baccarat.table.croupier import Croupier

BEGAN = datetime(2026, 11, 24, 5, 0, tzinfo=UTC)
"""An hour before a gaming day begins."""
CARDS = list(Card)


def played(seed: int, rounds: int, game: str = "dragon-bonus-1") -> Croupier:
    """A table with so many entries at least: rounds with wagers, voids, corrections and rounds taken back."""
    dice = Random(seed)
    at = Croupier.at_betting(game_name=game)
    deck = dice.sample(CARDS * 8, 416)
    while len(at.rounds) < rounds:
        if len(deck) < 20:
            at.do("change shoe", "open")
            deck = dice.sample(CARDS * 8, 416)
        number = at.state.round.number
        for seat in dice.sample(range(1, 8), 3):
            wagers = dice.sample(["player", "tie", "dragon_bonus_player"], dice.randint(1, 3))
            for wager in ["player", *wagers]:
                at.do(f"wager {seat} {wager} {dice.randint(5, 40) * 100}")
        if dice.random() < 0.1:
            at.do(f"draw {deck.pop()}", "void")
            continue
        while at.state.round.number == number:
            at.do(f"draw {deck.pop()}")
        for _ in range(2):
            if dice.random() < 0.2:
                _correct(at, dice, deck)
        if dice.random() < 0.1:
            at.do("void round")
    return at


def _correct(at: Croupier, dice: Random, deck: list[Card]) -> None:
    """Correct the last round to another hand of as many cards, with cards that are still in the shoe."""
    last = at.rounds[-1]
    coup = Coup(())
    while (len(coup.player), len(coup.banker)) != (len(last.player), len(last.banker)):
        coup = Coup(())
        while not coup.over:
            coup = coup.with_card(dice.choice(deck))
    if last.winner is None or Counter(coup.cards) - Counter(deck):
        return
    at.do(f"correct round {' '.join(coup.player)} over {' '.join(coup.banker)}")
    for card in coup.cards:
        deck.remove(card)
    deck += [*last.player, *last.banker]
    dice.shuffle(deck)


def told(
    records: list[RoundRecord],
    at: Croupier,
    table: str = "table-1",
    record: str = "aa",
    currency: str = "USD",
) -> list[Taken]:
    """Rounds as a table tells them, a minute apart."""
    game = at.settings.game
    return [
        Taken(
            table,
            record,
            False,
            currency,
            BEGAN + timedelta(minutes=each.round),
            game.name,
            game.rules_digest,
            each,
        )
        for each in records
    ]


def with_five_wagers(hands: int) -> tuple[Game, list[RoundRecord]]:
    """Played rounds of a game, each with a wager of five seats."""
    dice, game = Random(1), load_game("dragon-bonus-1")
    found = []
    for number in range(1, hands + 1):
        coup = Coup(())
        while not coup.over:
            coup = coup.with_card(dice.choice(CARDS))
        wagers = [
            PlacedWager(seat, dice.choice(["player", "banker"]), dice.randint(1, 40) * 500)
            for seat in range(1, 6)
        ]
        found.append(
            RoundRecord(
                round=number,
                shoe=1,
                coup=number,
                status="played",
                player=coup.player,
                banker=coup.banker,
                player_total=coup.player_total,
                banker_total=coup.banker_total,
                winner=coup.winner,
                natural=coup.natural,
                player_pair=coup.player_pair,
                banker_pair=coup.banker_pair,
                settlements=settle(game, coup, wagers),
            )
        )
    return game, found
