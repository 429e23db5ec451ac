"""What a door of the table passes to the order desk, and what it gets back."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple, Protocol

from pydantic import Field

from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.table.effects import Happening
from punto.baccarat.table.state import CommissionEntry, RoundRecord
from punto.controller.accounts.roles import Role
from punto.controller.engine import Handled
from punto.drivers.base import CardAnswer, LinkHealth
from punto.messages.models import Part, State


class Caller(Protocol):
    """A person at a door, identified by an account, or by the operating system if the table has no accounts.

    At the socket of a table with accounts a caller has no roles; each order is signed.
    """

    @property
    def name(self) -> str:
        """The name for the record."""

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles, which decide the possible orders."""

    @property
    def where(self) -> str:
        """The console's address, or the socket."""


class OrderAnswer(Part):
    """The result of an order: its number `seq` on the record, or its number among the `waiting` orders."""

    accepted: bool
    seq: int
    code: str | None = None
    reason: str | None = None
    waiting: int | None = None


class LinkNow(Part):
    """A link of the service, to a device, the broker or the record: whether it is connected, and if not, the reason."""

    port: str
    connected: bool
    reason: str
    serial: str | None


class Answer(OrderAnswer):
    """The result of a request at the socket, with the table's public state and its links, by their names, for `status`."""

    state: State | None = None
    links: dict[str, LinkNow] | None = None


class Preview(Part):
    """The result that an order would have now: the round that it would end or enter, and the public happenings.

    - `second`: why a second person must approve it, None if no approval is needed; `at_page`: whether the approval may be
      given with a password at the first person's page, and not only at a session of their own.
    - `meter`: the amount that the progressive's displays would show, in minor units, None if the order does not change it.
    - `marked`: the entries in the seats' accounts of commission.
    """

    accepted: bool
    code: str | None = None
    reason: str | None = None
    second: str | None = None
    at_page: bool = False
    round: RoundRecord | None = None
    meter: int | None = None
    marked: tuple[CommissionEntry, ...] = ()
    happenings: tuple[Annotated[Happening, Field(discriminator="kind")], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """The parts of a progressive's procedure that this table's devices do in place of a person at a desk.

    - `gives`: the kinds of orders that a device gives now and a desk refuses: `wager_placed` and `wager_lifted` with
      sensors, `turn_key` and `swipe_card` while a keypad with a key switch or a card reader is online and accepted. If it is not,
      a desk must be able to complete a confirmed award.
    - `start_game`: starts a game with the wagers that the sensors latch, given the order and its source. If the sensors do
      not answer, it refuses and records nothing.
    - `start_label`: the label of the keypad's key for START GAME.
    - `meter`: the amount that the authority of the meter shows now, in minor units; None if the table has no authority, or has
      not heard an amount since its start.
    - `late`: the seats with a wager on their sensor that came after the start.
    - `password_of`: the owner of a swiped card that waits for a password, or None.
    - `give_password`: gives that password: `CardDoor.confirm`; None without a card reader.
    - `links`: the state of the devices, the broker and the record, by name.
    """

    gives: Callable[[], frozenset[str]] = frozenset
    start_game: Callable[[StartGame, str], Awaitable[Handled]] | None = None
    start_label: str = "START GAME"
    meter: Callable[[], int | None] = lambda: None
    late: Callable[[], tuple[int, ...]] = tuple
    password_of: Callable[[], str | None] = lambda: None
    give_password: Callable[[str, str, Any], Awaitable[CardAnswer]] | None = None
    links: Callable[[], Mapping[str, LinkHealth]] = dict


NO_EQUIPMENT: Final = Equipment()


class Peer(NamedTuple):
    """A `Caller` without a session: a second person at the first person's page, or the user at the socket."""

    name: str
    roles: tuple[Role, ...]
    where: str = "socket"
