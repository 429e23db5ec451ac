"""The winners of a progressive, by the cards and the base wagers of a hand."""

from collections.abc import Iterable, Mapping, Sequence

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup, MissingCardError, Side, SurplusCardError, Winner
from punto.baccarat.progressive.events import Won
from punto.baccarat.progressive.game_events import HandDecided
from punto.baccarat.progressive.settings import Settings
from punto.baccarat.table.state import TablesProgressive
from punto.baccarat.wagers.definition import Game, Rule
from punto.baccarat.wagers.settlement import PlacedWager


def decision(
    game: Game, progressive: TablesProgressive, coup: Coup, base: Iterable[PlacedWager]
) -> HandDecided:
    """The award of a hand, and its winners. One hand wins, so all winners win the same tier."""
    settings, seats = progressive.books.settings, progressive.procedure.hand.wagers
    certain = settings.base_wagers == "recorded"
    if certain:
        won = _won_by(settings, game, coup, seats, base)
        tier, seats = next(iter(won.values()), None), tuple(won)
    else:
        rule = settings.wager.deciding_rule(coup)
        tier = None if rule is None else settings.tier(rule.name)
    if tier is None:
        return HandDecided()
    side = None if coup.winner is Winner.TIE else Side(coup.winner.value)
    alone = settings.dealer_up_to(tier)
    return HandDecided(Won(tier.name, seats, certain, side, alone, coup.player, coup.banker))


def _won_by(
    settings: Settings, game: Game, coup: Coup, seats: Sequence[int], base: Iterable[PlacedWager]
) -> Mapping[int, Rule]:
    """The tier that each of these seats, which have a progressive wager, wins with its base wagers."""
    names: dict[int, list[str]] = {seat: [] for seat in seats}
    for placed in base:
        if placed.seat in names:
            names[placed.seat].append(placed.wager)
    won = {}
    for seat, of_seat in names.items():
        rule = settings.wager.beside(game.sides_of(of_seat)).deciding_rule(coup)
        tier = None if rule is None else settings.tier(rule.name)
        if tier is not None:
            won[seat] = tier
    return won


def can_win(settings: Settings, won: Won) -> bool:
    """Whether the cards of a hand win this tier, for a seat with wagers on Player, Banker, both or neither."""
    try:
        coup = Coup.complete((*_in_turn(won.player, won.banker), *won.player[2:], *won.banker[2:]))
    except (MissingCardError, SurplusCardError):
        return False
    if (coup.player, coup.banker) != (won.player, won.banker):
        return False
    ways = (
        settings.wager.beside(sides).deciding_rule(coup)
        for sides in ((), *((side,) for side in Side), tuple(Side))
    )
    return any(rule is not None and rule.wins and rule.name == won.rule for rule in ways)


def _in_turn(player: Sequence[Card], banker: Sequence[Card]) -> Iterable[Card]:
    return (card for both in zip(player[:2], banker[:2], strict=False) for card in both)
