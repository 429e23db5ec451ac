"""A house's settings of one table: the game and the policies that the sheets leave to the house."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.baccarat.unit import Unit
from punto.baccarat.wagers.definition import FACE_UP_ONLY, Game

ApprovedOrder = Literal[
    "void_coup",
    "correct_card",
    "correct_round",
    "void_round",
    "resume_play",
    "accept_shoe",
    "accept_device",
    "change_game",
    "waive_commission",
]
"""An order for which a house may require a second person's approval."""


DeviceSection = Literal["shoe", "keypad", "coin_spot", "card_reader"]
"""A device of a table, by its section in the configuration."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)  # only ever a base
class Policies:
    """What the house decides for a table. These are keys of `[table]` in its configuration, whose model has this class as a base."""

    seats: int = 7
    """The number of seats at the table, from 1 to 99. At the authority of a meter, the largest number of seats of its tables: the
    authority counts no wagers of other seats.
    """
    currency: str = "USD"
    """The ISO 4217 code of the currency. All amounts of the table are whole minor units of it. A record has one currency, so
    another currency needs a record of its own.
    """
    cards: Literal["shoe", "keyed"] = "shoe"
    """`shoe`: a card-recognition shoe reads the cards. `keyed`: the dealer enters each card by hand, and there is no section
    `[shoe]`.
    """
    minimum_confidence: Annotated[int, Unit("%")] = 90
    """From 0 to 100. If the shoe's confidence in a card is lower than this value, an operator must enter the card by hand."""
    betting_closes: Literal["first_card", "order"] = "first_card"
    """When betting closes: when the first card is drawn, or when the dealer gives the order."""
    next_coup: Literal["automatic", "order"] = "automatic"
    """When betting opens for the next coup: automatically after a result, or when the dealer gives the order."""
    burn: Literal["none", "first_card", "fixed"] = "first_card"
    """How many cards of a new shoe are burned (put away unplayed): none, the value of the first card, or `burn_cards`."""
    burn_ace: Literal[1, 11] = 1
    """How many cards are burned if `burn` is `first_card` and the first card is an ace."""
    burn_cards: int = 3
    """How many cards are burned if `burn` is `fixed`, from 1 to 20. The key is required with `fixed`."""
    coups_after_cut_card: int = 1
    """How many more coups are dealt after the coup with the cut card, from 0 to 9. The cut card announces the end of the shoe. If it
    comes in place of a coup's first card, that coup is the last one, whatever this number is.
    """
    commission: Literal["each_win", "shoe_end"] = "each_win"  # sheet 004: "as each wager is settled"
    """When the commission on a win is taken. `each_win`: it is kept from the pay. `shoe_end`: the whole win is paid, and the
    commission is marked at the seat, whose account the dealer collects before the seat leaves or the shoe is changed.
    """
    overdraw: Literal["next_coup", "burn", "dummy"] = "burn"
    """The use of a card that was drawn by mistake, after a supervisor has resumed play. `next_coup`: the card begins the next
    coup, for which wagers are still placed: choose it only if such a card is not shown to the players. `burn`: the card is burned. `dummy`: the card begins a dummy hand, which does not count.
    """
    reveal: Literal["dealer", "player"] | None = None  # sheet 004 has both
    """Who turns cards that lie face down: the dealer, or the player with the largest wager on Player or Banker. If left out, the
    game file decides.
    """
    approval: tuple[ApprovedOrder, ...] = ()
    """The orders that a second person must approve."""
    simulation: bool = False
    """Whether the table is a simulation. Only a simulation accepts a virtual shoe (`punto shoe`). All pages, messages and reports
    of a simulation are marked as simulated.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Policies):
    """One table's settings, without times and devices.

    - `table`, `name`: its id in topics, its name on displays.
    - `shoe_serial` and the like: the only device accepted, None for any.
    - `unproven`: the devices that the house allows without a proof of which ones they are (`link_version = 1`).
    - `progressive`: the progressive that the table is linked to, None if it is not linked.

    Raises:
        ValueError: the settings contradict each other or the approval letter.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    table: str
    name: str
    game: Game
    shoe_serial: str | None = None
    keypad_serial: str | None = None
    coin_spot_serial: str | None = None
    card_reader_serial: str | None = None
    unproven: tuple[DeviceSection, ...] = ()
    progressive: ProgressiveSettings | None = None

    def __post_init__(self) -> None:
        if self.cards == "shoe" and self.game.variation and self.game.dealt == "face_down":
            raise ValueError(
                f"{self.game.title} is a variation dealt face down, so its cards must be keyed (cards = "
                f'"keyed"). Approval letter: "{FACE_UP_ONLY}"'
            )
        if not self.table or not set(self.table) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_"):
            raise ValueError(
                f"the table's id {self.table!r} goes into topics: use small letters, digits, - and _ only"
            )
        self._check_progressive()
        for name, value, lowest, highest in (
            ("seats", self.seats, 1, 99),
            ("minimum_confidence", self.minimum_confidence, 0, 100),
            ("burn_cards", self.burn_cards, 1, 20),
            ("coups_after_cut_card", self.coups_after_cut_card, 0, 9),
        ):
            if not lowest <= value <= highest:
                raise ValueError(f"{name} must be from {lowest} to {highest}, not {value}")

    @property
    def title(self) -> str:
        """The table's name for people; see `title_of`."""
        return title_of(self.name, simulation=self.simulation)

    def _check_progressive(self) -> None:
        if self.progressive is None:
            return
        if self.progressive.authority == self.table:
            self._check_authority(self.progressive)
            return
        linked = next((each for each in self.progressive.tables if each.table == self.table), None)
        if linked is None:
            raise ValueError(
                f"the progressive {self.progressive.progressive} is not linked to {self.table}: add the table to the progressive's tables"
            )
        if linked.game != self.game.name or self.progressive.wager not in self.game.wagers:
            raise ValueError(
                f"the progressive {self.progressive.progressive} is for {self.progressive.wager.title} of {linked.game}, "
                f"but the table plays {self.game.title}: a meter is for one game only (sheet 000)"
            )

    def _check_authority(self, progressive: ProgressiveSettings) -> None:
        if any(each.table == self.table for each in progressive.tables):
            raise ValueError(
                f"{self.table} keeps the meter of {progressive.progressive}, so it cannot be one of its tables: remove it from tables"
            )


def title_of(name: str, *, simulation: bool) -> str:
    """A table's name for people: on every page and report of a simulation it says so."""
    return f"{name} · SIMULATION" if simulation else name
