"""The titles of games, wagers and rules by their identifiers: people read the titles, and programs the identifiers."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from punto.baccarat.coup import Winner
from punto.baccarat.table.meters import NATURAL
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.words import words
from punto.house.store import Store
from punto.messages.models import Part

RESULTS: Final = "Results"
_RESULTS: Final = {
    Winner.PLAYER.value: "Player wins",
    Winner.BANKER.value: "Banker wins",
    Winner.TIE.value: "The hands tie",
    NATURAL: "A natural ends the hand",
}


class GameTitles(Part):
    """The titles of a game with these rules, of its wagers, and of the rules of each wager; the wager "" has the results of hands."""

    game: str
    rules: str
    title: str
    wagers: dict[str, str]
    decided_by: dict[str, dict[str, str]]


def titles_of(game: Game) -> GameTitles:
    """The titles of a game's file, with the rules in the words of the pay table."""
    return GameTitles(
        game=game.name,
        rules=game.rules_digest,
        title=game.title,
        wagers={"": RESULTS, **{each.name: each.title for each in game.wagers}},
        decided_by={
            "": _RESULTS,
            **{
                each.name: {rule.name: words(rule.when) or "All other hands" for rule in each.rules}
                for each in game.wagers
            },
        },
    )


def titles_in(store: Store, games: Iterable[tuple[str, str]]) -> tuple[GameTitles, ...]:
    """The titles of these games by their names and rules, as far as the store knows them."""
    known = (store.game(*each) for each in sorted(set(games)))
    return tuple(titles_of(each) for each in known if each is not None)


def tiers(store: Store) -> dict[str, str]:
    """The hands that win an award in words, by the names of their rules, if all games that are known mean the same by a name."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for game in store.games():
        for rule in (rule for wager in game.wagers if wager.progressive for rule in wager.rules if rule.wins):
            found[rule.name].add(words(rule.when))
    return {name: said.pop() for name, said in found.items() if len(said) == 1}


def titled(identifier: str, titles: Mapping[str, str]) -> str:
    """The title of a wager or a rule, with the base wager that is beside it, as in `progressive:banker`. Without a title, its identifier in words."""
    name, _, base = identifier.partition(":")
    title = titles.get(name) or in_words(name)
    beside = " and ".join(titles.get(each) or in_words(each) for each in base.split("+"))
    return f"{title}, with {beside}" if base else title


def in_words(identifier: str) -> str:
    """An identifier as people read it: with spaces, and a capital."""
    spaced = identifier.replace("_", " ").replace("-", " ")
    return spaced[:1].upper() + spaced[1:]
