"""The desk: reads an order, gives it to the engine in the operator's name, and answers.

Every door (the local socket, and the consoles' beside it) brings the same JSON here and says who stands at it; nothing
about orders is known anywhere else.
"""

import dataclasses
import difflib
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from controller.baccarat.cards import Card
from controller.config import LimitsConfig, house_game
from controller.engine import Engine, Handled
from controller.games import load_game
from controller.messages.building import public_round, state_message
from controller.messages.models import State
from controller.operators.games import game_names
from controller.problems import ConfigError
from controller.progressive.aquarius import TurnKey
from controller.progressive.events import ChangeSettings
from controller.progressive.nexus import Confirm
from controller.progressive.procedure import StartGame, WagerLifted, WagerPlaced
from controller.progressive.shares import DealersSide
from controller.table.effects import Happened, Happening, RoundEnded
from controller.table.events import BooksOrder, ChangeGame, GameOrder, Order, VoidCoup
from controller.table.state import RoundRecord, TablesProgressive, TableState
from controller.table.table import Table
from controller.table.turn import RefusedError
from drivers.base import CardAnswer

Given = Order | GameOrder | BooksOrder | WagerPlaced | WagerLifted | TurnKey
"""What people order at a desk, of the table or of its progressive; and what they see there in place of a sensor."""

_GIVEN: Final[TypeAdapter[Given]] = TypeAdapter(Annotated[Given, Field(discriminator="kind")])
_LIMITS: Final = TypeAdapter(dict[str, LimitsConfig])
KINDS: Final[dict[str, Any]] = {
    str(field.default): kind
    for kind in get_args(Given)
    for field in dataclasses.fields(kind)
    if field.name == "kind"
}
"""Order by the name it has in a request."""

_CARD_FIELDS: Final = frozenset({"card", "player", "banker"})
"""The fields of orders that have cards."""

MOST: Final = 10**12
"""Above every amount that a meter holds, in minor units, and far below what the record's numbers hold of millionths."""

Amount = Annotated[int, Field(ge=0, le=MOST)]

APPROVABLE: Final = frozenset(
    name
    for name, kind in KINDS.items()
    if any(field.name == "approved_by" for field in dataclasses.fields(kind))
)
"""The kinds of orders that a second person can approve."""


class MeterChanges(BaseModel):
    """The settings of its progressive that a table can change; what is left out stays as it is. Amounts in minor units."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    seed: Amount = 0
    contribution: str = ""
    reserve: str = ""
    display_limit: Amount | None = None
    split: Literal["winners", "participants"] = "winners"
    fixed_awards: Literal["tray", "meter"] = "tray"
    executive_from: Amount | None = None
    approval_above: Amount | None = None
    seat_one: DealersSide = "right"


def fields_of(kind: str) -> tuple[set[str], set[str]]:
    """The names of the fields that a request for such an order must have, and of those that it may have."""
    if kind == "change_settings":
        return {"reason"}, set(MeterChanges.model_fields)
    own = [
        field
        for field in dataclasses.fields(KINDS[kind])
        # Who gives it cannot say so, nor what the sensors latched.
        if field.name not in {"kind", "who", "approved_by"} and (kind, field.name) != ("start_game", "seats")
    ]
    needed = {field.name for field in own if field.default is dataclasses.MISSING}
    return needed, {field.name for field in own} - needed


class Answer(BaseModel):
    """What became of a request: accepted, or why not; the table's public state where it was asked for."""

    model_config = ConfigDict(frozen=True)

    accepted: bool
    seq: int = 0
    code: str | None = None
    reason: str | None = None
    state: State | None = None


class Preview(BaseModel):
    """What would become of an order now: the round that it would end or enter, and what the public would be told.

    `meter` is what the progressive's displays would show, in minor units, None where the order does not change it.
    """

    model_config = ConfigDict(frozen=True)

    accepted: bool
    code: str | None = None
    reason: str | None = None
    round: RoundRecord | None = None
    meter: int | None = None
    happenings: tuple[Annotated[Happening, Field(discriminator="kind")], ...] = ()


class UnreadableError(ValueError):
    """A request that is no order; the message says what to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What a table's devices do for its progressive, so that nobody need do it at a desk.

    - `gives`: the kinds of orders that a device gives now, and no desk takes: `wager_placed` and `wager_lifted` where there
      are sensors, `turn_key` while there is a key switch, `swipe_card` while there is a card reader. A keypad or a reader
      that is away must not keep an award that is confirmed from its end.
    - `start_game`: starts a game with the wagers that the sensors latch, given the order and its source; refuses, and has
      nothing on the record, where they do not answer.
    - `start_label`: what is written on the keypad's key for START GAME.
    - `late`: the seats with a wager on their sensor that came after the start.
    - `password_of`: whose card was swiped and waits for its owner's password, None where none does.
    - `give_password`: takes it, given where and what checks it: `CardDoor.confirm`; None where there is no card reader.
    """

    gives: Callable[[], frozenset[str]] = frozenset
    start_game: Callable[[StartGame, str], Awaitable[Handled]] | None = None
    start_label: str = "START GAME"
    late: Callable[[], tuple[int, ...]] = tuple
    password_of: Callable[[], str | None] = lambda: None
    give_password: Callable[[str, str, Any], Awaitable[CardAnswer]] | None = None


NOTHING_FITTED: Final = Fitted()


class _Confirmed(NamedTuple):
    """Who last pressed CONFIRM at a desk, in which round's game."""

    round: int
    who: str


class Desk:
    """Takes orders for one table; `folder` is where a house's own game files are, `fitted` what its devices do."""

    def __init__(self, engine: Engine, folder: Path, fitted: Fitted = NOTHING_FITTED) -> None:
        self._engine = engine
        self._folder = folder
        self.fitted = fitted
        self._confirmed: _Confirmed | None = None

    async def ask(self, request: bytes, who: str) -> Answer:
        """Carry out a request: JSON with `order` and that order's own fields; `status` asks for the state.

        Raises:
            RecordError: the order could not be put on the record.
        """
        try:
            kind, fields = read_request(request)
            if kind == "status":
                _check_fields(kind, fields, set())
                state = state_message(self._engine.state, self._engine.seq, datetime.now(UTC))
                return Answer(accepted=True, seq=self._engine.seq, state=state)
            order = self.order(kind, fields, who)
        except UnreadableError as error:
            return bad_request(str(error))
        return await self.give(order, who)

    def order(self, kind: str, fields: dict[str, Any], who: str) -> Given:
        """The order of this kind in somebody's name, which nobody else has approved yet.

        Raises:
            UnreadableError: there is no such order, or its fields are not as they should be.
        """
        if kind not in KINDS:
            raise UnreadableError(
                f"there is no order {kind!r}{_nearest(kind, KINDS)}: {', '.join(KINDS)} or status"
            )
        if kind in self.fitted.gives():
            raise UnreadableError(f"{kind}: a device of this table gives it, so it cannot be ordered here")
        if kind == "change_game":
            return self._change_game(fields, who)
        needed, optional = fields_of(kind)
        _check_fields(kind, fields, needed, optional)
        reason = fields.get("reason")
        if isinstance(reason, str) and reason != sayable(reason):
            raise UnreadableError(f"{kind}: reason: there is half of a character in it: write it anew")
        if "reason" in needed and isinstance(reason, str) and not reason.strip():
            raise UnreadableError(
                f"{kind}: reason: write what happened, for it is all that the record will say"
            )
        if kind == "change_settings":
            return self._change_settings(fields, who)
        try:
            order = _GIVEN.validate_json(json.dumps({**fields, "kind": kind, "who": who}), strict=True)
        except ValidationError as error:
            raise UnreadableError(f"{kind}: {_first(error, 1)}") from error
        self._refuse_beyond_bounds(kind, fields)
        return order

    def _refuse_beyond_bounds(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "count_coins":
            _check_day(fields["day"])
        if fields.get("amount", 0) > MOST:
            raise UnreadableError(f"{kind}: amount: write at most {MOST} minor units")
        seats = self._engine.state.settings.seats
        if kind == "wager_placed" and not 1 <= fields["seat"] <= seats:
            raise UnreadableError(f"{kind}: seat: this table has the seats 1 to {seats}")

    def _change_settings(self, fields: dict[str, Any], who: str) -> ChangeSettings:
        """A change of some of the progressive's settings; the others stay as they are in force."""
        progressive = self._engine.state.progressive
        if progressive is None:
            raise UnreadableError("change_settings: this table has no progressive: configure one first")
        if not isinstance(fields["reason"], str):
            raise UnreadableError("change_settings: reason: write what happened, as text")
        written = {name: value for name, value in fields.items() if name != "reason"}
        try:
            changes = MeterChanges.model_validate_json(json.dumps(written)).model_dump(exclude_unset=True)
            settings = replace(progressive.books.settings, **changes)
        except ValidationError as error:
            raise UnreadableError(f"change_settings: {_first(error, 0)}") from error
        except ValueError as error:
            raise UnreadableError(f"change_settings: {error}") from error
        return ChangeSettings(settings, fields["reason"], who, before=progressive.books.settings)

    def _change_game(self, fields: dict[str, Any], who: str) -> Order:
        """A change to a game that ships, or to one of the house's own, by its name and with these limits."""
        _check_fields("change_game", fields, {"game"}, optional={"limits"})
        name = fields["game"]
        known = game_names(self._folder)
        if not isinstance(name, str) or name not in known:  # and so never a path
            raise UnreadableError(
                f"change_game: game: there is no game {str(name)[:60]!r}{_nearest(str(name), known)}: {', '.join(known)}"
            )
        try:
            limits = _LIMITS.validate_json(json.dumps(fields.get("limits", {})), strict=True)
            game = house_game(load_game(name, self._folder), limits)
        except ValidationError as error:
            raise UnreadableError(f"change_game: limits: {_first(error, 0)}") from error
        except ConfigError as error:
            raise UnreadableError(f"change_game: {error}") from error
        return ChangeGame(who, game)

    async def give(self, order: Given, who: str) -> Answer:
        """Carry out an order that came from `who`, which may be in the name of another who signed it there.

        Raises:
            RecordError: it could not be put on the record.
        """
        source = f"operator {who}"
        if isinstance(order, StartGame) and self.fitted.start_game is not None:
            handled = await self.fitted.start_game(order, source)
        else:
            (handled,) = await self._engine.submit([order], source)
        refusal = handled.refusal
        if refusal is not None:
            reason = f"{refusal}{self._who_was_first(refusal.code)}"
            return Answer(accepted=False, seq=handled.seq, code=refusal.code, reason=reason)
        if isinstance(order, Confirm):
            self._confirmed = _Confirmed(self._round_of_game, order.who)
        return Answer(accepted=True, seq=handled.seq)

    def _who_was_first(self, code: str) -> str:
        """Of two supervisors who confirm an award at the same moment, the second is told who the other was."""
        progressive = self._engine.state.progressive
        if code != "already_confirmed" or progressive is None:
            return ""
        here = (self._engine.state.settings.table, self._round_of_game)
        logged = [each.who for each in progressive.books.awards if (each.table, each.round) == here]
        if logged:
            return f" ({logged[-1]} was first)"
        if self._confirmed is not None and self._confirmed.round == self._round_of_game:
            return f" ({self._confirmed.who} was first)"
        return ""

    @property
    def _round_of_game(self) -> int:
        progressive = self._engine.state.progressive
        return 0 if progressive is None else progressive.procedure.hand.round

    def preview(self, order: Given) -> Preview:
        """What an order would do now. It changes nothing, and asks for no second person's approval."""
        state = self._engine.state
        if _hidden(state) and not isinstance(order, VoidCoup | BooksOrder):
            # What would be refused, and how the coup would end, say something of the cards.
            return Preview(
                accepted=False,
                code="not_revealed",
                reason="cards are on the table that have not been revealed: of them nothing is shown beforehand",
            )
        if isinstance(order, ChangeSettings):
            order = replace(order, before=None)  # below they are others, for nobody's approval is asked
        table = Table(_without_approval(state))
        try:
            effects = table.handle(order)
        except RefusedError as refusal:
            return Preview(accepted=False, code=refusal.code, reason=str(refusal))
        rounds = [effect.record for effect in effects if isinstance(effect, RoundEnded)]
        return Preview(
            accepted=True,
            round=public_round(rounds[0]) if rounds else None,
            meter=_meter_after(state.progressive, table.state.progressive),
            happenings=tuple(effect.happening for effect in effects if isinstance(effect, Happened)),
        )


def _check_day(day: str) -> None:
    try:
        date.fromisoformat(day)
    except ValueError:
        raise UnreadableError(f"count_coins: day: {day[:20]!r} is no day: write it as 2026-11-21") from None


def _hidden(state: TableState) -> bool:
    """Whether there are cards that nobody may know yet: face down, or drawn for a coup that seats may still wager on."""
    face_down = state.settings.game.reveal == "dealer" and state.coup is not None
    return face_down or bool(state.carried)


def _without_approval(state: TableState) -> TableState:
    """The same table in a house that asks for nobody's approval."""
    progressive = state.progressive
    if progressive is not None:
        books = progressive.books
        free = replace(books, settings=replace(books.settings, approval_above=None))
        progressive = replace(progressive, books=free)
    return state.but(settings=replace(state.settings, approval=()), progressive=progressive)


def _meter_after(before: TablesProgressive | None, after: TablesProgressive | None) -> int | None:
    if before is None or after is None or before.books.shown == after.books.shown:
        return None
    return after.books.shown


def bad_request(reason: str) -> Answer:
    """What to say to a request that is none."""
    return Answer(accepted=False, code="bad_request", reason=sayable(reason))


def sayable(text: str) -> str:
    """Text that can be sent: half of a surrogate pair, which JSON can spell out, is no text."""
    return text.encode(errors="replace").decode()


def read_request(request: bytes) -> tuple[str, dict[str, Any]]:
    """The kind of an order and its fields.

    Raises:
        UnreadableError: it is no order.
    """
    try:
        fields = json.loads(request)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"the request is not JSON: {error}") from error
    if not isinstance(fields, dict) or not isinstance(fields.get("order"), str):
        raise UnreadableError('a request is a JSON object with an "order", such as {"order": "change_shoe"}')
    return fields.pop("order"), fields


def _check_fields(kind: str, fields: dict[str, Any], needed: set[str], optional: Iterable[str] = ()) -> None:
    known = needed.union(optional)
    for name in sorted(fields.keys() - known):
        takes = ", ".join(sorted(known)) or "nothing"
        raise UnreadableError(f"{kind} has no {name!r}{_nearest(name, known)}: it takes {takes}")
    if missing := needed - fields.keys():
        raise UnreadableError(f"{kind} needs {', '.join(sorted(missing))}")


def _first(error: ValidationError, skipped: int) -> str:
    """The first of what is wrong, with its place but for the first `skipped` parts of it."""
    fault = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in fault["loc"][skipped:])
    what = fault["msg"]
    if fault["type"] == "enum" and _CARD_FIELDS.intersection(fault["loc"]):
        try:
            Card(str(fault["input"])[:20])
        except ValueError as no_card:  # which says how one is written; the validation would list all 52
            what = str(no_card)
    return f"{where}: {what}"


def _nearest(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean {close[0]}?)" if close else ""
