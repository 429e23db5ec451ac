"""Wagers that no house has, to ask the odds what no sheet asks, and shoes with few cards left."""

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from punto.baccarat.cards import RANKS, STANDARD_DECK, SUITS
from punto.baccarat.coup import Side, Winner
from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.definition import Game, Limits, Progressive, Rule, Wager

PLAYER = Wager(
    name="player",
    title="Player",
    base=True,
    side=Side.PLAYER,
    rules=(
        Rule(name="player_wins", pays="1 to 1", when=Condition(winner=(Winner.PLAYER,))),
        Rule(name="tie", pays="push", when=Condition(winner=(Winner.TIE,))),
        Rule(name="lose", pays="lose"),
    ),
)
BANKER = Wager(
    name="banker",
    title="Banker",
    base=True,
    side=Side.BANKER,
    rules=(
        Rule(name="wins_with_six", pays="1 to 2", when=Condition(winner=(Winner.BANKER,), banker_total=(6,))),
        Rule(name="banker_wins", pays="1 to 1 less 5%", when=Condition(winner=(Winner.BANKER,))),
        Rule(name="tie", pays="push", when=Condition(winner=(Winner.TIE,))),
        Rule(name="lose", pays="lose"),
    ),
)


def wager(name: str, *rules: tuple[str, dict[str, Any]], **keys: Any) -> Wager:
    """A wager with these rules, each by its pay and its condition, that loses what they do not decide."""
    numbered = [
        Rule(name=f"rule_{number}", pays=pays, when=condition(when))
        for number, (pays, when) in enumerate(rules, 1)
    ]
    return Wager(name=name, title=name, rules=(*numbered, Rule(name="lose", pays="lose")), **keys)


def condition(fields: dict[str, Any]) -> Condition:
    """A condition with the winners by their names."""
    winners = fields.get("winner")
    return Condition(**fields | ({"winner": tuple(Winner(each) for each in winners)} if winners else {}))


def game(*wagers: Wager, **keys: Any) -> Game:
    return Game(name="odd", title="Odd", sheet="none", wagers=(PLAYER, BANKER, *wagers), **keys)


FEATURES: dict[str, tuple[Any, ...]] = {
    "winner": ("player", "banker", "tie"),
    "player_cards": (2, 3),
    "banker_cards": (2, 3),
    "coup_cards": (4, 5, 6),
    "player_total": tuple(range(10)),
    "banker_total": tuple(range(10)),
    "margin": tuple(range(10)),
    "natural": (True, False),
    "player_pair": (True, False),
    "banker_pair": (True, False),
    "player_perfect_pair": (True, False),
    "banker_perfect_pair": (True, False),
    "winning_ranks": ("2-3-4", "8-A", "9-K", "T-J-9", "A-A-7", "5-5-9", "8-8-3", "4-5", "Q-9", "K-K-A"),
    "winning_suit": tuple(SUITS),
    "coup_suit": tuple(SUITS),
}


def asked(name: str, *values: Any) -> dict[str, Any]:
    """A condition that asks this of a coup and nothing else."""
    return {name: values[0] if isinstance(FEATURES[name][0], bool) else values}


# Each value that a feature can have is a rule, but for one of a boolean's two.
EACH_FEATURE = [
    wager(
        name, *(("1 to 1", asked(name, each)) for each in (values[:1] if values[0] is True else values[::-1]))
    )
    for name, values in FEATURES.items()
]
SEVERAL_VALUES = [
    wager(f"several_{name}", ("3 to 2", asked(name, *values[::2])))
    for name, values in FEATURES.items()
    if not isinstance(values[0], bool)
]
NEGATIONS = [
    wager(f"not_{name}", ("2 to 1", asked(name, False)))
    for name, values in FEATURES.items()
    if isinstance(values[0], bool)
]
NO_PAIR_AT_ALL = {
    "player_pair": False,
    "banker_pair": False,
    "player_perfect_pair": False,
    "banker_perfect_pair": False,
}
COMBINATIONS = [
    wager(
        "perfect_pair_and_hearts",
        ("25 to 1", {"player_perfect_pair": True, "winning_suit": ("H",), "banker_pair": False}),
    ),
    wager("natural_of_black_cards", ("50 to 1", {"coup_suit": ("S", "D"), "natural": True})),
    wager("two_cards_by_rank", ("9 to 1", {"winning_ranks": ("8-A", "K-9")})),
    wager("no_pair_at_all", ("1 to 1", NO_PAIR_AT_ALL)),
    wager(
        "pairs_by_degree",
        ("200 to 1", {"player_perfect_pair": True, "banker_perfect_pair": True}),
        ("75 to 1", {"player_perfect_pair": True, "banker_pair": True}),
        ("25 to 1", {"player_perfect_pair": True}),
        ("push", {"player_pair": True, "banker_pair": True}),
        ("11 to 1", {"banker_pair": True, "player_perfect_pair": False}),
    ),
    wager("pair_that_is_not_perfect", ("5 to 1", {"banker_pair": True, "banker_perfect_pair": False})),
    wager("perfect_pair_that_is_no_pair", ("5 to 1", {"banker_pair": False, "banker_perfect_pair": True})),
    wager("suited_tie", ("100 to 1", {"winner": ("tie",), "coup_suit": ("S", "H", "D", "C")})),
    wager("suited_hand_of_a_tie", ("100 to 1", {"winner": ("tie",), "winning_suit": ("S", "H", "D", "C")})),
    wager("ranks_of_a_tie", ("100 to 1", {"winner": ("tie",), "winning_ranks": ("2-3-4", "9-K", "4-5")})),
    wager("suits_that_differ", ("4 to 1", {"coup_suit": ("S", "H"), "winning_suit": ("H", "D")})),
    wager(
        "ranks_and_suit_of_six_cards",
        (
            "300 for 1",
            {
                "winning_ranks": ("2-3-4", "A-8-T", "2-2-5"),
                "winning_suit": ("S", "C"),
                "coup_cards": (6,),
                "margin": (1, 2, 3, 5, 9),
            },
        ),
        ("30 for 1", {"winning_ranks": ("4-3-2", "T-8-A", "2-5-2"), "banker_total": (0, 1)}),
        ("3 for 1", {"winning_ranks": ("2-4-3", "8-T-A"), "player_cards": (2,)}),
    ),
    # One rule takes from the next by ranks or suits, then by points, then by nothing at all.
    wager(
        "masked_by_suit",
        ("20 to 1", {"winning_suit": ("S", "H")}),
        ("push", {"coup_suit": ("D",), "natural": False}),
        ("1 to 1", {"winner": ("player",), "player_total": (6, 7, 8, 9)}),
        ("push", {"player_pair": False}),
        ("lose", {"winning_ranks": ("K-9", "4-5")}),
        ("1 to 2", {"winner": ("banker", "tie")}),
    ),
    wager(
        "masked_the_other_way",
        ("1 to 2", {"winner": ("banker", "tie")}),
        ("lose", {"winning_ranks": ("K-9", "4-5")}),
        ("push", {"player_pair": False}),
        ("1 to 1", {"winner": ("player",), "player_total": (6, 7, 8, 9)}),
        ("push", {"coup_suit": ("D",), "natural": False}),
        ("20 to 1", {"winning_suit": ("S", "H")}),
    ),
    wager(
        "masked_by_the_same",
        ("2 to 1", {"winning_suit": ("S",)}),
        ("3 to 1", {"winning_suit": ("S", "C")}),
        ("4 to 1", {"winning_suit": ("C",)}),
        ("5 to 1", {"coup_suit": ("C",)}),
    ),
    wager("everything", ("1 to 1", {})),
]
# A hand of one suit in a coup of another is nothing, however the rules come to ask for one.
ONE_SUIT_IN_ANOTHER = [
    wager(
        "one_suit_in_another",
        ("1 to 1", {"winning_suit": ("S",)}),
        ("10 to 1", {"winning_suit": ("H", "D"), "coup_suit": ("S",)}),
    ),
    wager(
        "one_suit_after_another",
        ("1 to 1", {"winning_suit": ("D",)}),
        ("push", {"coup_suit": ("D",), "player_pair": True}),
        ("10 to 1", {"winning_suit": ("C",), "natural": True}),
    ),
]
WITH_THE_BASE = [
    wager(
        "any_base",
        ("100 to 1", {"winning_suit": ("D",), "margin": (7, 8, 9)}),
        ("push", {"winner": ("tie",), "player_pair": True}),
        ("10 to 1", {"winner": ("player", "tie"), "natural": True}),
        ("lose", {"banker_total": (6,)}),
        ("1 for 1", {"winner": ("banker",), "banker_pair": False}),
        ("push", {"margin": (1, 2)}),
        requires_base="any",
        requires_base_win=True,
    ),
    wager(
        "same_base",
        ("12 to 1", {"winning_ranks": ("9-T", "9-J", "9-Q", "9-K")}),
        ("push", {"coup_cards": (4, 5)}),
        requires_base="same_side",
        requires_base_win=True,
        side=Side.PLAYER,
    ),
    wager(
        "same_base_without_its_win",
        ("12 to 1", {"winner": ("banker", "player")}),
        requires_base="same_side",
        side=Side.PLAYER,
    ),
]
METERED = [
    wager(
        "meter",
        ("100% of the meter", {"margin": (9,), "coup_cards": (6,)}),
        ("25% of the meter", {"margin": (9,), "player_cards": (3,)}),
        ("12.5% of the meter", {"margin": (9,), "natural": False}),
        ("10 for 1", {"margin": (9,)}),
        ("push", {"winner": ("tie",), "natural": True}),
        limits=Limits(minimum=100, maximum=100),
        progressive=Progressive(seed=500_000, contribution="26%"),
    ),
    wager(
        "meter_with_the_base",
        ("100% of the meter", {"banker_total": (9,), "player_total": (0,)}),
        ("100% of the meter", {"player_total": (9,), "banker_total": (0,), "natural": False}),
        ("2 to 1", {"natural": True}),
        limits=Limits(minimum=500),
        progressive=Progressive(seed=123_457, contribution="7.5%"),
        requires_base="any",
        requires_base_win=True,
    ),
]
ODD = [*EACH_FEATURE, *SEVERAL_VALUES, *NEGATIONS, *COMBINATIONS, *WITH_THE_BASE]


# Any wagers and shoes.

CODES = [card.value for card in STANDARD_DECK]
_HANDS = st.lists(st.sampled_from(RANKS), min_size=2, max_size=3).map("-".join)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    name: st.booleans()
    if isinstance(values[0], bool)
    else st.lists(
        _HANDS if name == "winning_ranks" else st.sampled_from(values), min_size=1, max_size=4, unique=True
    ).map(tuple)
    for name, values in FEATURES.items()
}


@st.composite
def conditions(draw: st.DrawFn) -> dict[str, Any]:
    """A few features with some of their values."""
    names = draw(st.lists(st.sampled_from(list(FEATURES)), max_size=3, unique=True))
    return {name: draw(_VALUES[name]) for name in names}


PAYS = st.sampled_from(
    ["1 to 1", "1 to 2", "1 to 1 less 5%", "30 to 1", "10 for 1", "1 for 2", "push", "lose"]
)


@st.composite
def wagers(draw: st.DrawFn) -> Wager:
    """A wager with up to six rules, which may need the base wager's win."""
    keys: dict[str, Any] = draw(
        st.sampled_from(
            [{}, {}, {"requires_base": "any"}, {"requires_base": "same_side", "side": Side.PLAYER}]
        )
    )
    if keys:
        keys = {**keys, "requires_base_win": draw(st.booleans())}
    return wager("any_wager", *draw(st.lists(st.tuples(PAYS, conditions()), min_size=1, max_size=6)), **keys)


def renamed(wagers: list[Wager]) -> list[Wager]:
    """These wagers, each with a name of its own."""
    return [replace(each, name=f"{each.name}_{number}") for number, each in enumerate(wagers, 1)]


@st.composite
def shoes(draw: st.DrawFn, most: int) -> dict[str, int]:
    """A shoe with six to `most` cards, often of few ranks or suits."""
    ranks = draw(st.one_of(st.just(RANKS), st.lists(st.sampled_from(RANKS), min_size=2, max_size=5)))
    suits = draw(st.one_of(st.just(SUITS), st.lists(st.sampled_from(SUITS), min_size=1, max_size=2)))
    cards = st.tuples(st.sampled_from(ranks), st.sampled_from(suits)).map("".join)
    return dict(Counter(draw(st.lists(cards, min_size=6, max_size=most))))
