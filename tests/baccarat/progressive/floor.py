"""A floor with one progressive: tables that play by saying what happens, in words, and the books that they share."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from punto.baccarat.progressive.aquarius import Aquarius, GameOver, Jpot, Key, TurnKey
from punto.baccarat.progressive.effects import AwardBooked, Effect, Posted
from punto.baccarat.progressive.events import Event, OpenMeter, Won
from punto.baccarat.progressive.game_events import (
    AwardTakenBack,
    HandButton,
    HandDecided,
    NobodyWon,
    ReopenGame,
    StartGame,
    WagerLifted,
    WagerPlaced,
    WagerVoided,
)
from punto.baccarat.progressive.ledger import Cause, Ledger, Posting
from punto.baccarat.progressive.nexus import Confirm, EndGame, Nexus, SignAward, SwipeCard
from punto.baccarat.progressive.progressive import Progressive
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.progressive.settings import LinkedTable, Settings
from punto.baccarat.progressive.state import Award, State
from punto.baccarat.wagers.definition import Wager
from punto.configs.game_files import load_game

TIERS: Final = {
    "all": "two_three_four_diamonds",
    "quarter": "two_three_four_suited",
    "thousand": "two_three_four_unsuited",
    "forty": "nine_over_zero",
}
OWNERS: Final = {"supervisor": "bob", "executive": "eve"}
"""Who swipes a card of a level, or signs."""
PAY_TABLES: Final[dict[str, Wager]] = {
    name: load_game(name).wager("progressive")
    for name in ("progressive-1", "progressive-1-five-dollar", "progressive-2", "progressive-3")
}


def settings(pay_table: str = "progressive-2", how_many: int = 1, **others: Any) -> Settings:
    """Pay table #2 for $1 unless another is said, at tables `t1`, `t2` …"""
    linked = tuple(LinkedTable(f"t{number}", pay_table) for number in range(1, how_many + 1))
    own: dict[str, Any] = {"progressive": "dragon", "tables": linked, "wager": PAY_TABLES[pay_table]}
    return Settings.by_pay_table(**{**own, **others})


class Floor:
    """One progressive in service and its tables' procedures; what one refuses, the other has not done either."""

    def __init__(self, **changes: Any) -> None:
        self.settings = settings(**changes)
        self.progressive = Progressive.new(self.settings, "USD")
        self.effects: list[Effect] = []
        kind = Aquarius if self.settings.procedure == "aquarius" else Nexus
        stake = self.settings.wager.limits.minimum
        # of either procedure, and which is known where it matters
        self.tables: dict[str, Any] = {
            each.table: kind.new(each.table, stake) for each in self.settings.tables
        }
        self.order(OpenMeter("eve"))

    def order(self, event: Event) -> list[Effect]:
        effects = self.progressive.handle(event)
        self.effects += effects
        return effects

    def tell(self, table: str, event: Any) -> None:
        """Something happens at a table."""
        machine = self.tables[table]
        if isinstance(event, HandDecided) and event.won is not None:
            rule = self.state.settings.tier(event.won.rule)
            alone = 0 if rule is None else self.state.settings.dealer_up_to(rule)
            event = HandDecided(replace(event.won, dealer_up_to=alone))
        before = machine.state, self.progressive.state, len(self.effects)
        try:
            for order in machine.handle(event):
                self.order(order)
        except RefusedError:
            machine.state, self.progressive.state = before[0], before[1]
            del self.effects[before[2] :]
            raise

    def at(self, table: str, *commands: str) -> "Floor":
        """Say what happens at a table: `at("t1", "place 1", "start", "won quarter 1", "press 1")`."""
        for command in commands:
            verb, *words = command.split()
            self.tell(table, COMMANDS[verb](self.tables[table].state, words))
        return self

    def do(self, *commands: str) -> "Floor":
        """The same at the first table."""
        return self.at("t1", *commands)

    @property
    def state(self) -> State:
        return self.progressive.state

    @property
    def step(self) -> str:
        return str(self.tables["t1"].state.step)

    @property
    def awards(self) -> list[Award]:
        """Those that were booked."""
        return [effect.award for effect in self.effects if isinstance(effect, AwardBooked)]

    @property
    def postings(self) -> list[Posting]:
        return [effect.posting for effect in self.effects if isinstance(effect, Posted)]

    @property
    def causes(self) -> list[Cause]:
        return [posting.cause for posting in self.postings]


def refusal(floor: Floor, does: Callable[[], object]) -> tuple[str, str]:
    """The code and the text of the refusal that this ends in, which must leave everything as it was."""
    before = {name: machine.state for name, machine in floor.tables.items()}, floor.state, [*floor.effects]
    try:
        does()
    except RefusedError as refused:
        after = {name: machine.state for name, machine in floor.tables.items()}, floor.state, floor.effects
        assert after == before
        return refused.code, str(refused)
    raise AssertionError("it was not refused")


COMMANDS: Final[dict[str, Callable[[Any, list[str]], Any]]] = {
    "place": lambda _, words: WagerPlaced(int(words[0])),
    "lift": lambda _, words: WagerLifted(int(words[0])),
    "void": lambda _, words: WagerVoided(int(words[0])),
    "start": lambda state, _: StartGame(state.hand.round + 1, "ann"),
    "latched": lambda state, words: StartGame(
        state.hand.round + 1, "ann", tuple(int(word) for word in words)
    ),
    "won": lambda _, words: HandDecided(Won(TIERS[words[0]], tuple(int(word) for word in words[1:]))),
    "may": lambda _, words: HandDecided(
        Won(TIERS[words[0]], tuple(int(word) for word in words[1:]), certain=False)
    ),
    "lost": lambda _, __: HandDecided(),
    "back": lambda _, __: AwardTakenBack(),
    "press": lambda _, words: HandButton(int(words[0]), "ann"),
    "nobody": lambda _, words: NobodyWon("bob", " ".join(words) or "no base wager won"),
    "reopen": lambda _, words: ReopenGame("eve", "seat 3 had won", words[0] if words else None),
    # Aquarius
    "key": lambda _, words: TurnKey(Key(words[0]), "bob"),
    "jpot": lambda _, __: Jpot("bob"),
    "over": lambda _, __: GameOver("ann"),
    # Nexus
    "confirm": lambda _, __: Confirm("bob"),
    "swipe": lambda _, words: SwipeCard(OWNERS[words[0]], words[0]),  # type: ignore[arg-type]
    "sign": lambda _, words: SignAward(OWNERS[words[0]], words[0]),  # type: ignore[arg-type]
    "end": lambda _, __: EndGame("ann"),
}


def paid_in_all(ledger: Ledger) -> int:
    """The total that the meter has paid, for all tiers."""
    return sum(paid.amount for paid in ledger.paid)


def paid_for(ledger: Ledger, tier: str) -> int:
    """The total that the meter has paid for a tier."""
    return next((paid.amount for paid in ledger.paid if paid.tier == tier), 0)


def accounted(ledger: Ledger) -> int:
    """The sum of the meter's accounts and all it has paid; always equal to `given`."""
    return ledger.primary + ledger.reserve + ledger.overflow + paid_in_all(ledger)
