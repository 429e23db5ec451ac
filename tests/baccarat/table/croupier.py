"""A croupier: plays a table by saying what happens, in words, and numbers the shoe's records meanwhile."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, Literal, cast

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.progressive.aquarius import GameOver, Jpot, Key, TurnKey
from punto.baccarat.progressive.events import Adjust, BackOut, CardLevel, CountCoins, OpenMeter, Retire
from punto.baccarat.progressive.game_events import (
    HandButton,
    NobodyWon,
    ReopenGame,
    StartGame,
    WagerLifted,
    WagerPlaced,
    WagerVoided,
)
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.nexus import Confirm, EndGame, SignAward, SwipeCard
from punto.baccarat.progressive.settings import LinkedTable
from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.baccarat.table.catalogue import event_of
from punto.baccarat.table.effects import Announced, CardHeld, Effect, Happening, RoundEnded
from punto.baccarat.table.events import (
    AccessRefused,
    CardDrawn,
    CardOverdrawn,
    CardUnread,
    ConfigurationKeypad,
    CutCardSeen,
    DeviceHeard,
    DeviceName,
    Event,
    LidMoved,
    LinkNoise,
    RecordsLost,
    ReverseMovement,
    SensorFault,
    SensorsLink,
    ServiceStarted,
    SessionBegun,
    SetWager,
    ShoeFault,
    ShoeHello,
    ShoeLost,
)
from punto.baccarat.table.order_kinds import (
    AcceptDevice,
    AcceptShoe,
    AcknowledgeAlarm,
    CallSupervisor,
    ChangeGame,
    ChangeShoe,
    CloseBetting,
    CloseTable,
    CollectCommission,
    CorrectCard,
    CorrectRound,
    KeyCard,
    OpenBetting,
    ResumePlay,
    Reveal,
    SignOff,
    SignOn,
    VoidCoup,
    VoidRound,
    WaiveCommission,
)
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import Phase, RoundRecord, TableState
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.definition import Game
from punto.configs.game_files import load_game

# Coups in the order that the cards leave the shoe.
PLAYER_NATURAL: Final = "KS 2S 9H 3S"  # 9 over 5
BANKER_NATURAL: Final = "KS 9S 5H KD"  # 9 over 5
LONG: Final = "KS 2S 5S 3S 4D 9D"  # six cards: Player 9 over 4
TIE: Final = "KS KD 7S 7D"


def cards(codes: str) -> tuple[Card, ...]:
    return tuple(Card(code) for code in codes.split())


@cache
def game(name: str = "mini-baccarat", decks: int = 8) -> Game:
    return replace(load_game(name), decks=decks)


def settings(
    *,
    game_name: str = "mini-baccarat",
    decks: int = 8,
    reveal: Literal["shoe", "dealer", "player"] | None = None,
    meter: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Settings:
    """A table's settings as they are by default, but that nothing is burned: the first card begins a coup.

    `meter` are the settings of its progressive, over those of the game's pay table.
    """
    own: dict[str, Any] = {"table": "table-1", "name": "Table 1", "burn": "none"}
    played = game(game_name, decks)
    if reveal is not None:
        played = replace(played, reveal=reveal)
    if meter is not None:
        own["progressive"] = ProgressiveSettings.by_pay_table(
            "dragon",
            (LinkedTable("table-1", played.name),),
            played.wager("progressive"),
            **{"base_wagers": "recorded", **meter},
        )
    return Settings(game=played, **{**own, **changes})


class Croupier:
    """Someone who makes things happen at a new table, by `do("draw KS 2S", "lid open", "resume")`.

    `effects` gathers what the table did; `new` is what the last command led to.
    """

    def __init__(self, **changes: Any) -> None:
        self.settings = settings(**changes)
        self.table = Table.new(self.settings)
        self.record = 1
        self.new: list[Effect] = []
        self.effects: list[Effect] = []

    @classmethod
    def at_betting(cls, *commands: str, **changes: Any) -> "Croupier":
        """At a table with a shoe, and with betting open."""
        croupier = cls(**changes).do("hello", "sign on", "change shoe")
        return croupier.do("open", *commands)

    # --- what happens

    def do(self, *commands: str) -> "Croupier":
        for command in commands:
            self.new = []
            for event in events_of(self, command):
                self.handle(event)
        return self

    def handle(self, event: Event) -> None:
        found = self.table.handle(event)
        self.new += found
        self.effects += found

    def refused(self, command: str) -> RefusedError:
        """How the table refuses this, which changes nothing."""
        before = self.state
        with pytest.raises(RefusedError) as refused:
            self.do(command)
        assert self.state is before
        return refused.value

    def next_record(self) -> int:
        self.record += 1
        return self.record - 1

    # --- what came of it

    @property
    def state(self) -> TableState:
        return self.table.state

    @property
    def phase(self) -> Phase:
        return self.state.phase

    @property
    def hand(self) -> str:
        """The cards of the coup on the table, in order."""
        return "" if self.state.round.coup is None else " ".join(self.state.round.coup.cards)

    @property
    def stops(self) -> list[str]:
        return [stop.code for stop in self.state.waiting.stops]

    @property
    def last_round(self) -> int:
        return self.state.history.last.round if self.state.history.last else 0

    @property
    def rounds(self) -> list[RoundRecord]:
        return [effect.record for effect in self.effects if isinstance(effect, RoundEnded)]

    @property
    def said(self) -> list[Happening]:
        """What the public came to know by the last command."""
        return happenings(self.new)

    @property
    def kinds(self) -> list[str]:
        return [happening.kind for happening in self.said]

    @property
    def held(self) -> list[tuple[str, str]]:
        """What only surveillance came to know by the last command: cards and why."""
        return [(effect.card.value, effect.why) for effect in self.new if isinstance(effect, CardHeld)]

    @property
    def alarms(self) -> list[tuple[str, bool]]:
        """The alarms of the last command, and whether each stops play."""
        return [(each.code, each.stops) for each in self.said if each.kind == "alarm_raised"]


def events_of(at: Any, command: str) -> list[Event]:
    """What a command of `COMMANDS` says; `at` is a croupier, or another who has the same `state` and numbers the shoe's records."""
    verb = next(verb for verb in COMMANDS if f"{command} ".startswith(f"{verb} "))
    return COMMANDS[verb](at, command.removeprefix(verb).split())


def happenings(effects: list[Effect]) -> list[Happening]:
    """What the public came to know by these effects."""
    return [effect.happening for effect in effects if isinstance(effect, Announced)]


def _hello(croupier: Croupier, words: list[str]) -> list[Event]:
    """`hello [serial] [log=…] [decks=…] [kept=…] [next=…]`: by default the shoe that was there, with nothing new."""
    given = dict(word.split("=") for word in words if "=" in word)
    serial = next((word for word in words if "=" not in word), "A")
    kept, following = int(given.get("kept", croupier.record)), int(given.get("next", croupier.record))
    croupier.record = kept if "kept" in given else croupier.record
    decks = int(given.get("decks", croupier.settings.game.decks))
    return [ShoeHello(serial, int(given.get("log", 1)), kept, following, decks)]


def _lost(croupier: Croupier, words: list[str]) -> list[Event]:
    """`records lost 3`: the next three records are gone."""
    first = croupier.record
    croupier.record += int(words[0])
    return [RecordsLost(first, croupier.record - 1)]


def _wager(croupier: Croupier, words: list[str]) -> list[Event]:
    """`wager 3 player 500`: of seat 3, for the table's round."""
    seat, wager, amount = words
    return [SetWager("w", int(seat), wager, int(amount), croupier.state.round.number)]


def _correct_round(croupier: Croupier, words: list[str]) -> list[Event]:
    """`correct round KS 9H over 2S 3S`: the last round's hands, Player's first."""
    over = words.index("over")
    player, banker = cards(" ".join(words[:over])), cards(" ".join(words[over + 1 :]))
    return [CorrectRound("bob", croupier.last_round, player, banker, "misread", "eve")]


def _alone(croupier: Croupier, words: list[str]) -> list[Event]:
    """`alone void round`: the order after it, which nobody else has approved."""
    given: list[Any] = events_of(croupier, " ".join(words))
    return [replace(order, approved_by=None) for order in given]


def _acknowledge(croupier: Croupier, words: list[str]) -> list[Event]:
    """`acknowledge link_noise`."""
    return [AcknowledgeAlarm("bob", each.number) for each in croupier.state.alarms if each.code == words[0]]


def _fault(position: int, fault: Any, *, stands: bool) -> SensorFault:
    """`sensor 3 stuck`: that of seat 2, for the first position has no seat."""
    return SensorFault(position, position - 1 or None, fault, stands)


_OWNER: Final[dict[str, tuple[str, CardLevel]]] = {
    "": ("bob", "supervisor"),
    "supervisor": ("bob", "supervisor"),
    "executive": ("eve", "executive"),
}
"""Whose card or signature is of a level."""

COMMANDS: Final[dict[str, Callable[[Croupier, list[str]], list[Event]]]] = {
    # the shoe
    "draw": lambda c, words: [CardDrawn(c.next_record(), Card(word), 99) for word in words],
    "unsure": lambda c, words: [CardDrawn(c.next_record(), Card(word), 60) for word in words],
    "unread": lambda c, _: [CardUnread(c.next_record())],
    "overdraw ?": lambda c, _: [CardOverdrawn(c.next_record(), None, 0)],
    "overdraw unsure": lambda c, words: [CardOverdrawn(c.next_record(), Card(words[0]), 60)],
    "overdraw": lambda c, words: [CardOverdrawn(c.next_record(), Card(word), 99) for word in words],
    "cut card": lambda c, _: [CutCardSeen(c.next_record())],
    "lid open": lambda c, _: [LidMoved(c.next_record(), open=True)],
    "lid closed": lambda c, _: [LidMoved(c.next_record(), open=False)],
    "push back": lambda c, _: [ReverseMovement(c.next_record())],
    "fault": lambda c, _: [ShoeFault(c.next_record(), 17, "reader window dirty")],
    "hello": _hello,
    "lose shoe": lambda _, __: [ShoeLost("no sign of life")],
    "records lost": _lost,
    "noise": lambda _, __: [LinkNoise(40, 10)],
    # people
    "sign on": lambda _, __: [SignOn("ann")],
    "sign off": lambda _, __: [SignOff("ann")],
    "change shoe": lambda _, __: [ChangeShoe("ann")],
    "open": lambda _, __: [OpenBetting("ann")],
    "no more bets": lambda _, __: [CloseBetting("ann")],
    "close table": lambda _, __: [CloseTable("ann")],
    "reveal": lambda _, __: [Reveal("ann")],
    "void round": lambda c, _: [VoidRound("bob", c.last_round, "misdeal", "eve")],
    "void": lambda _, words: [VoidCoup("bob", "misdeal", " ".join(words) or "eve")],
    "correct round": _correct_round,
    "correct": lambda _, words: [CorrectCard("bob", int(words[0]), Card(words[1]), "misread", "eve")],
    "key at": lambda _, words: [KeyCard("ann", Card(words[1]), int(words[0]))],
    "key": lambda _, words: [KeyCard("ann", Card(word)) for word in words],
    "resume": lambda _, __: [ResumePlay("bob", "seen to")],
    "accept device": lambda _, words: [AcceptDevice("bob", words[0])],
    "accept": lambda _, words: [AcceptShoe("bob", words[0])],
    "call": lambda _, words: [CallSupervisor("ann", " ".join(words))],
    "order": lambda _, words: [event_of(words[0], {"reason": " ".join(words[1:])}, "ann")],
    "acknowledge": _acknowledge,
    "collect": lambda _, words: [CollectCommission("ann", int(words[0]), int(words[1]))],
    "waive": lambda _, words: [WaiveCommission("bob", int(words[0]), int(words[1]), "left", "eve")],
    "alone": _alone,
    "wager": _wager,
    # the progressive
    "meter": lambda _, __: [OpenMeter("eve", "bob")],
    "spot": lambda _, words: [WagerPlaced(int(word)) for word in words],
    "lift": lambda _, words: [WagerLifted(int(word)) for word in words],
    "annul": lambda _, words: [WagerVoided(int(word)) for word in words],
    "start game": lambda c, words: [
        StartGame(c.state.round.number, "ann", tuple(int(word) for word in words) or None)
    ],
    "hand": lambda _, words: [HandButton(int(word), "ann") for word in words],
    "turn": lambda _, words: [TurnKey(Key(words[0]), "key switch")],
    "j-pot": lambda _, __: [Jpot("bob")],
    "game over": lambda _, __: [GameOver("ann")],
    "confirm": lambda _, __: [Confirm("bob")],
    "swipe": lambda _, words: [SwipeCard(*_OWNER["".join(words)])],
    "sign": lambda _, words: [SignAward(*_OWNER["".join(words)])],
    "nobody": lambda _, __: [NobodyWon("bob", "no base wager won")],
    "reopen": lambda _, __: [ReopenGame("eve", "a base wager had won", "bob")],
    "end game": lambda _, __: [EndGame("ann")],
    "add": lambda _, words: [Adjust(Cause.INCREASE, int(words[0]), "test", "eve", "bob")],
    "back out": lambda _, words: [BackOut(int(words[0]), "a mistake", "eve", "bob")],
    "retire": lambda _, __: [Retire("the end", "eve", "bob")],
    "count": lambda _, words: [
        CountCoins("2026-11-21", int(words[0]), "eve", words[1] if words[1:] else None)
    ],
    "game": lambda _, words: [ChangeGame("bob", game(words[0]))],
    # who came in
    "come in": lambda _, __: [SessionBegun("ann", ("dealer",), "192.0.2.7")],
    "lock out": lambda _, __: [AccessRefused("ann", "sign_on", "locked_out", "192.0.2.7")],
    # what else is plugged in
    "plug keypad": lambda _, __: [ConfigurationKeypad(attached=True, path="/dev/keypad")],
    "pull keypad": lambda _, __: [ConfigurationKeypad(attached=False, path="/dev/keypad")],
    "heard": lambda _, words: [DeviceHeard(cast("DeviceName", words[0]), words[1] if words[1:] else None)],
    "sensors there": lambda _, __: [SensorsLink(online=True, reason="connected")],
    "sensors lost": lambda _, __: [SensorsLink(online=False, reason="cable")],
    "sensor": lambda _, words: [_fault(int(words[0]), words[1], stands=True)],
    "mend": lambda _, words: [_fault(int(words[0]), words[1], stands=False)],
    # the service
    "start": lambda c, _: [ServiceStarted("0.1.0", c.settings)],
}
