"""The order desk: it checks roles, signatures and approvals of orders, carries them out and answers.

Every door (the consoles' API, the local socket) passes the same JSON and the caller. The catalogue and the table machine
define the rules; the desk applies them to people, in the same way at every door.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punto.baccarat.progressive.events import ChangeSettings
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.table.approval import second_person_needed
from punto.baccarat.table.catalogue import CATALOGUE, event_of
from punto.baccarat.table.effects import Announced, CommissionMoved, RoundEnded
from punto.baccarat.table.events import BooksOrder
from punto.baccarat.table.order_kinds import ChangeGame, VoidCoup
from punto.baccarat.table.possible import Trials, refusal, verdict
from punto.baccarat.table.state import TablesProgressive, TableState
from punto.baccarat.table.turn import RefusedError
from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError, meant
from punto.controller.accounts.refusals import RefusalError, let_in
from punto.controller.accounts.roles import card_level, orders_of
from punto.controller.accounts.security_keys import Signed
from punto.controller.config.jurisdiction import NO_LAW, Law
from punto.controller.config.limits import RulesConfig, house_game
from punto.controller.config.sections import AccountsConfig
from punto.controller.engine import Engine
from punto.controller.orders import requests
from punto.controller.orders.countersigning import APPROVAL_SECONDS, Countersigning, Waiting
from punto.controller.orders.doors import (
    NO_EQUIPMENT,
    Answer,
    Caller,
    Equipment,
    LinkNow,
    OrderAnswer,
    Peer,
    Preview,
)
from punto.controller.orders.games import game_names
from punto.controller.orders.meter_answer import meter_answered
from punto.controller.orders.one_signature import refusals_at_a_desk, ways_to_give
from punto.controller.orders.requests import Credentials, Order, UnreadableError
from punto.messages.building import public_round, state_message
from punto.runtime import clock
from punto.runtime.pace import PROGRAM

if TYPE_CHECKING:
    from punto.controller.accounts.gate import Gate


class Desk:
    """Accepts orders for one table; `folder` has the house's own game files, `equipment` is what its devices do.

    `law` limits the games that the table can change to, `rules` are the house's rules of wagers, and all amounts are in multiples of its `smallest_chip`. `accounts` are the accounts that can sign; None if the table has none. Their policy decides whether a second person may
    approve with a password at the first person's page; at a session of their own they always may.

    Each method that carries out or refuses an order raises RecordError if that could not be recorded.
    """

    def __init__(
        self,
        engine: Engine,
        folder: Path,
        equipment: Equipment = NO_EQUIPMENT,
        accounts: "Gate | None" = None,
        law: Law = NO_LAW,
        rules: dict[str, RulesConfig] | None = None,
        smallest_chip: int = 1,
    ) -> None:
        self.engine = engine
        self.folder = folder
        self.law = law
        self.rules = rules or {}
        self.smallest_chip = smallest_chip
        self.equipment = equipment
        self.accounts = accounts
        self._at_page = (
            accounts is not None
            and isinstance(accounts.policy, AccountsConfig)
            and accounts.policy.approval == "page"
        )
        self.waiting = Countersigning(clock.monotonic)
        self._trials = Trials(engine.state)

    async def ask(self, request: bytes, caller: Caller) -> Answer:
        """Answer one request: JSON with `order` and that order's own fields; `status` returns the table's public state."""
        try:
            order = requests.read_order(request)
            if order.order == "status":
                for name in sorted(order.model_fields_set - {"order"}):
                    raise UnreadableError(f"status has no {name!r}: it takes no fields")
                state = state_message(self.engine.state, self.engine.seq, clock.now())
                return Answer(accepted=True, seq=self.engine.seq, state=state, links=self.links())
            answer = await self.give(await self.orders(order, caller), caller)
            return Answer(**dict(answer))
        except RefusalError as error:
            return self.refused(error)

    def links(self) -> dict[str, LinkNow]:
        """The devices, the broker and the record, by name."""
        return {
            name: LinkNow(port=at.port, connected=at.connected, reason=at.reason, serial=at.serial)
            for name, at in self.equipment.links().items()
        }

    def refused(self, error: RefusalError) -> Answer:
        """The answer to a request that is refused before it reaches the table."""
        reason = requests.sayable(str(error))
        return Answer(accepted=False, seq=self.engine.seq, code=error.code, reason=reason)

    # --- reading and checking an order

    async def orders(self, request: Order, caller: Caller) -> list[list[Any]]:
        """The order of a request, in the name of the giver and with the name of the approver, as `ways_to_give` it.

        Raises:
            UnreadableError: the request is not an order.
            RefusalError: the giver or the approver may not do this, or the caller has asked too often.
        """
        at_socket = isinstance(caller, Peer)
        client, times = (f"user {caller.name}", PROGRAM) if at_socket else (f"account {caller.name}", 1)
        if not self.engine.pace.allows(client, times, few=not at_socket):
            raise RefusalError(429, "too_fast", "too many orders in a short time: wait some seconds", 5)
        kind, read = request.order, self._read(request)
        giver = caller
        if request.by is not None:
            await self._refuse_signature(kind, caller)
            giver = await self._signed(request.by, caller, kind, "sign")
        elif kind not in orders_of(caller.roles, self.engine.state):
            await self._refuse_role(caller, kind)
        order = self._built(kind, read, giver)
        if request.approval is None:
            return self._ways(order, giver)
        if not self._at_page:
            raise RefusalError(
                403,
                "not_approved",
                "a second person must approve in their own session: give the order without `approval`",
            )
        second = await self._signed(request.approval, caller, kind, "approve")
        if second.name == giver.name and second_person_needed(self.engine.state, order) is None:
            # If an approval is needed, the table refuses this one.
            raise RefusalError(403, "not_approved", "you cannot approve your own order: leave `approval` out")
        return self._ways(replace(order, approved_by=second.name), giver)

    def _ways(self, order: Any, giver: Caller) -> list[list[Any]]:
        return ways_to_give(self.engine.state, order, card_level(giver.roles), self.equipment.gives())

    async def preview(self, request: Order, caller: Caller) -> Preview:
        """The result that an order would have now, and whether a second person must approve it.

        Raises:
            UnreadableError: the request is not an order.
            RefusalError: neither the caller nor a person who could sign here may give it.
        """
        kind, read = request.order, self._read(request)
        if kind not in self.offered(caller):
            await self._refuse_role(caller, kind)
        return self._tried_out(self._ways(self._built(kind, read, caller), caller))

    def offered(self, caller: Caller) -> frozenset[str]:
        """The kinds of orders that can be given here: by the caller's roles, or signed by another person at this page."""
        own = orders_of(caller.roles, self.engine.state)
        at_the_table = "sign_on" in own
        return own | {kind for kind, each in CATALOGUE.items() if each.signed and at_the_table}

    def _read(self, request: Order) -> dict[str, Any]:
        """The order's own fields, if a person can give it here."""
        kind = request.order
        if kind not in CATALOGUE:
            known = [each for each, definition in CATALOGUE.items() if not definition.seen]
            raise UnreadableError(
                f"there is no order {kind!r}{meant(kind, known)}: {', '.join(known)} or status"
            )
        if CATALOGUE[kind].seen or kind in self.equipment.gives():
            raise UnreadableError(
                f"{kind}: a device of this table gives this order, so it cannot be given here"
            )
        read = requests.read_fields(kind, request.model_extra or {})
        if request.approval is not None and not CATALOGUE[kind].approvable:
            raise UnreadableError(f"{kind} needs no approval: leave `approval` out")
        return read

    async def _refuse_signature(self, kind: str, caller: Caller) -> None:
        """Refuse a signature that this caller's page does not accept. At the socket every order is signed."""
        if self.accounts is None or not caller.roles:
            return
        if not CATALOGUE[kind].signed:
            raise UnreadableError(f"{kind} is given by the person who is signed on: leave `by` out")
        if kind not in self.offered(caller):
            await self._refuse_role(caller, kind)

    async def _refuse_role(self, caller: Caller, kind: str) -> None:
        if self.accounts is None:
            reason = (
                "this order needs an account, and the table has no accounts: make them with `punto operators`, and name "
                "their file in [accounts]"
            )
            raise RefusalError(403, "not_of_role", reason)
        if not caller.roles:
            raise RefusalError(
                401, "not_signed", "sign the order: give the name and password of an account in `by`"
            )
        await self.accounts.refuse_role(caller.name, kind, caller.where)
        raise RefusalError(403, "not_of_role", f"your roles do not allow {kind}")

    async def _signed(self, given: Credentials, caller: Caller, kind: str, verb: str) -> Caller:
        """The person who signs or approves an order at the caller's door; their roles must allow that order."""
        refused, noun = ("not_approved", "approval") if verb == "approve" else ("not_signed", "signature")
        if self.accounts is None:
            raise RefusalError(
                403, refused, f"{noun}: this table has no accounts, so nobody can {verb} an order"
            )
        what = f"{verb} {kind}"
        checked = self.accounts.check(given.name, given.password, caller.where, what)
        person = await let_in(checked, refused, noun)
        if kind not in orders_of(person.roles, self.engine.state):
            await self.accounts.refuse_role(person.name, what, caller.where)
            raise RefusalError(403, refused, f"{noun}: the roles of {person.name} do not allow {kind}")
        return Peer(person.name, person.roles, caller.where)

    def _built(self, kind: str, read: dict[str, Any], giver: Caller) -> Any:
        if kind == "change_game":
            return self._change_game(read, giver.name)
        if kind == "change_settings":
            return self._change_settings(read, giver.name)
        if kind == "sign_award":
            read = {"level": card_level(giver.roles)}
        return event_of(kind, read, giver.name)

    def _change_settings(self, read: dict[str, Any], who: str) -> ChangeSettings:
        """A change of some of the progressive's settings; the others stay as they are."""
        progressive = self.engine.state.progressive
        if progressive is None:
            raise UnreadableError("change_settings: this table has no progressive: configure one first")
        before, reason = progressive.books.settings, read.pop("reason")
        try:
            return ChangeSettings(replace(before, **read), reason, who, before=before)
        except ValueError as error:
            raise UnreadableError(f"change_settings: {error}") from error

    def _change_game(self, read: dict[str, Any], who: str) -> ChangeGame:
        """A change to a shipped game or to one of the house's own, by its name and with these limits."""
        name, known = read["game"], game_names(self.folder)
        if name not in known:  # so a name is never a path
            raise UnreadableError(
                f"change_game: game: there is no game {name[:60]!r}{meant(name, known)}: {', '.join(known)}"
            )
        try:
            game = load_game(name, self.folder)
            limits = read.get("limits", {})
            currency = self.engine.state.settings.currency
            house = self.rules, self.law, self.smallest_chip, currency
            return ChangeGame(who, house_game(game, limits, *house))
        except ConfigError as error:
            raise UnreadableError(f"change_game: {error}") from error

    # --- carrying out an order

    async def give(self, ways: Sequence[Sequence[Any]], caller: Caller) -> OrderAnswer:
        """Carry out an order that came from `caller`, perhaps in the name of another person who signed it there; see `ways_to_give`.

        If a second person must approve an order at a session of their own, the order waits, and nothing happens yet.
        Raises RefusalError if too many orders wait already.
        """
        state, (order,) = self.engine.state, ways[-1]
        why = None
        if self.accounts is not None and getattr(order, "approved_by", order) is None:
            why = second_person_needed(state, order)
        if self.accounts is None or why is None or refusal(state, order) is not None:
            return await self._carry_out(ways, caller)
        version = self.accounts.version_of(order.who)
        waiting = self.waiting.add(order, caller, why, state, version)
        reason = f"{why}: the order waits {APPROVAL_SECONDS:.0f} s until this person approves the order in their own session"
        return OrderAnswer(
            accepted=False, seq=self.engine.seq, code="awaits_approval", reason=reason, waiting=waiting.number
        )

    async def approve(self, number: int, second: Caller) -> OrderAnswer:
        """Carry out a waiting order, approved by `second` at their own session.

        Raises:
            RefusalError: the order no longer waits, it is their own, or their roles do not allow it.
        """
        found = self.waiting.find(number, self.engine.state)
        if found.kind not in orders_of(second.roles, self.engine.state):
            await self._refuse_role(second, found.kind)
        if second.name == found.giver:
            raise RefusalError(403, "not_approved", "your own order needs another person's approval")
        if self.accounts is None or self.accounts.version_of(found.giver) != found.version:
            self.waiting.ended(found, f"the account of {found.giver} was changed")
            reason = f"the account of {found.giver} was changed after the order was given: have the order given again"
            raise RefusalError(403, "not_approved", reason)
        self.waiting.take(found)
        answer = await self._carry_out([[replace(found.order, approved_by=second.name)]], found.source)
        outcome = f"approved by {second.name}" if answer.accepted else f"refused: {answer.reason}"
        self.waiting.ended(found, outcome, accepted=answer.accepted)
        return answer

    def key_challenge(self, number: int, name: str, caller: Caller) -> bytes:
        """The challenge for the security key of the person with this name, to approve an order at `caller`'s page.

        Raises RefusalError if the order no longer waits there.
        """
        return self._at(caller, number).challenge(name)

    async def approve_by_key(
        self, number: int, name: str, key: tuple[Any, str], caller: Caller
    ) -> OrderAnswer:
        """Do as `approve`, with the security key of the person with this name, at the page where the order waits.

        `key` is the credential and the origin of that page. A signature is valid for one attempt.

        Raises:
            RefusalError: as in `approve`, or the key is not accepted.
        """
        found = self._at(caller, number)
        assert self.accounts is not None  # noqa: S101 - without accounts no order waits
        self.waiting.spend(found)
        given = Signed(key[0], found.challenge(name), key[1])
        what = f"approve {found.kind}"
        checked = self.accounts.check_key(name, given, caller.where, what)
        person = await let_in(checked, "not_approved", "approval")
        return await self.approve(number, Peer(person.name, person.roles, caller.where))

    def _at(self, caller: Caller, number: int) -> Waiting:
        found = self.waiting.find(number, self.engine.state)
        if not found.concerns(caller.name):
            raise RefusalError(
                403, "not_approved", "a security key approves an order only at the page where it was given"
            )
        return found

    async def decline(self, number: int, caller: Caller) -> None:
        """Discard a waiting order. The person who gave it and those who may approve it may do so.

        Raises:
            RefusalError: the order no longer waits, or the caller's roles do not allow this.
        """
        found = self.waiting.find(number, self.engine.state)
        if not found.concerns(caller.name) and found.kind not in orders_of(caller.roles, self.engine.state):
            await self._refuse_role(caller, found.kind)
        self.waiting.ended(found, f"declined by {caller.name}")

    async def _carry_out(self, ways: Sequence[Sequence[Any]], caller: Caller) -> OrderAnswer:
        source = f"operator {caller.name}"
        for orders in ways:
            if isinstance(orders[0], StartGame) and self.equipment.start_game is not None:
                handled = [await self.equipment.start_game(orders[0], source)]
            else:
                handled = await self.engine.submit(orders, source, whole=orders is not ways[-1])
            if not any(each.refused for each in handled):
                break
        for each in handled:
            if each.refusal is not None:
                reason = f"{each.refusal}{self._advice(each.refusal.code, caller)}"
                return OrderAnswer(accepted=False, seq=each.seq, code=each.refusal.code, reason=reason)
        refused = await meter_answered(self.engine, orders[-1])
        if refused is not None:
            return OrderAnswer(accepted=False, seq=self.engine.seq, code=refused.code, reason=refused.text)
        return OrderAnswer(accepted=True, seq=handled[-1].seq)

    @property
    def trials(self) -> Trials:
        """What the table would answer in its present state."""
        if self._trials.state is not self.engine.state:
            self._trials = Trials(self.engine.state)
        return self._trials

    def refusals(self) -> dict[str, RefusedError | None]:
        """The present refusal of each order of the catalogue, or None."""
        return refusals_at_a_desk(self.trials, self.equipment.gives())

    def _advice(self, code: str, caller: Caller) -> str:
        """The end of a refusal's reason: who was first, or which orders are possible instead."""
        if code == "already_confirmed":
            return self._who_was_first()
        if code != "not_now":
            return ""
        own = orders_of(caller.roles, self.engine.state) - self.equipment.gives()
        possible = [
            CATALOGUE[kind] for kind, why_not in self.refusals().items() if not why_not and kind in own
        ]
        labels = [each.label for each in possible if each.group != "alarms"]
        return f". You can now: {', '.join(dict.fromkeys(labels))}" if labels else ""

    def _who_was_first(self) -> str:
        """The name of the supervisor who confirmed an award first, for a second one who confirms it at the same moment."""
        progressive = self.engine.state.progressive
        if progressive is None:
            return ""
        procedure, table = progressive.procedure, self.engine.state.settings.table
        found = [each.who for each in progressive.books.awards_of(table, procedure.hand.round)]
        if procedure.kind == "nexus" and procedure.confirmed is not None:
            found.append(procedure.confirmed.who)
        return f" ({found[-1]} was first)" if found else ""

    def _tried_out(self, ways: Sequence[Sequence[Any]]) -> Preview:
        """The result that an order would have now. Nothing changes, and no approval is needed."""
        state, (order,) = self.engine.state, ways[-1]
        needs = partial(Preview, second=second_person_needed(state, order), at_page=self._at_page)
        if _hidden(state) and not isinstance(order, VoidCoup | BooksOrder):
            # A refusal, or the end of the coup, would disclose something about the cards.
            reason = "there are cards on the table that are not revealed, so there is no preview"
            return needs(accepted=False, code="not_revealed", reason=reason)
        for orders in ways:
            after, effects, refused = verdict(state, *orders)
            if refused is None:
                break
        if refused is not None:
            return Preview(accepted=False, code=refused.code, reason=str(refused))
        rounds = [effect.record for effect in effects if isinstance(effect, RoundEnded)]
        return needs(
            accepted=True,
            round=public_round(rounds[0]) if rounds else None,
            meter=_meter_after(state.progressive, after.progressive),
            marked=tuple(effect.entry for effect in effects if isinstance(effect, CommissionMoved)),
            happenings=tuple(effect.happening for effect in effects if isinstance(effect, Announced)),
        )


def _hidden(state: TableState) -> bool:
    """Whether there are cards that no person may know yet: face down, or drawn for a coup that still accepts wagers."""
    return state.face_down or bool(state.shoe.carried)


def _meter_after(before: TablesProgressive | None, after: TablesProgressive | None) -> int | None:
    if before is None or after is None or before.books.shown == after.books.shown:
        return None
    return after.books.shown
