"""A house's settings of one table: the game and the policies that the sheets leave to the house."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
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
]
"""An order for which a house may require a second person's approval."""


DeviceSection = Literal["shoe", "keypad", "coin_spot", "card_reader"]
"""A device of a table, by its section in the configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One table's settings, without times and devices.

    - `table`, `name`: its id in topics, its name on displays; `currency` an ISO 4217 code of two-decimal
      money.
    - `cards`: read by the shoe, or keyed by the dealer; `shoe_serial` the only shoe accepted, None for any.
    - `unproven`: the devices that the house allows without a proof of which ones they are (`link_version = 1`).
    - `minimum_confidence`: an operator must key a card that was read with less.
    - `betting_closes`: by the first card or by an order; `next_coup`: opens by itself after a result or by an
      order.
    - `burn`: nothing, by the first card (an ace burns `burn_ace`), or `burn_cards`.
    - `coups_after_cut_card`: the number of further coups if the cut card comes in mid-coup.
    - `overdraw`: the use of an overdrawn card after a supervisor has seen it.
    - `reveal`: who turns cards that lie face down, None as the game file says (sheet 004 has both).
    - `approval`: the orders that a second person must approve.
    - `simulation`: the table is not played for money, so its shoe may be a virtual one.
    - `progressive`: the progressive that the table is linked to, None if it is not linked.

    Raises:
        ValueError: the settings contradict each other or the approval letter.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    table: str
    name: str
    game: Game
    seats: int = 7
    currency: str = "USD"
    cards: Literal["shoe", "keyed"] = "shoe"
    shoe_serial: str | None = None
    keypad_serial: str | None = None
    coin_spot_serial: str | None = None
    card_reader_serial: str | None = None
    unproven: tuple[DeviceSection, ...] = ()
    minimum_confidence: int = 90
    betting_closes: Literal["first_card", "order"] = "first_card"
    next_coup: Literal["automatic", "order"] = "automatic"
    burn: Literal["none", "first_card", "fixed"] = "first_card"
    burn_ace: Literal[1, 11] = 1
    burn_cards: int = 3
    coups_after_cut_card: int = 1
    overdraw: Literal["next_coup", "burn", "dummy"] = "burn"
    reveal: Literal["dealer", "player"] | None = None
    approval: tuple[ApprovedOrder, ...] = ()
    simulation: bool = False
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
