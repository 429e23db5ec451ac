"""Has the heads of a table's record signed: asks the signer of this machine every ten seconds, beside the ordered path."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import structlog
from pydantic import TypeAdapter, ValidationError

from punto.configs.problems import cut
from punto.controller import clock
from punto.controller.journal.journal import Journal
from punto.controller.messages.building import timestamp
from punto.controller.signing.heads import HeadStatement, SignedHead
from punto.controller.signing.signer import HeadRequest, Refused
from punto.drivers.base import LinkHealth

EVERY_SECONDS: Final = 10.0
_ANSWER_SECONDS: Final = 5.0
_LONGEST_ANSWER: Final = 4096
_ANSWERS: Final[TypeAdapter[SignedHead | Refused]] = TypeAdapter(SignedHead | Refused)
_CONTRADICTED: Final = frozenset({"behind", "forked", "user"})

_log = structlog.get_logger("punto.controller")


class HeadSigner:
    """The link to the signer at a socket. `signed` is the last head that it signed, None before the first.

    `changed` is called after each attempt. `differs` is awaited once, with the reason, if the signer has signed another
    record of this table.
    """

    def __init__(
        self,
        door: Path,
        table: str,
        journal: Journal,
        changed: Callable[[], None],
        differs: Callable[[str], Awaitable[object]],
    ) -> None:
        self.signed: SignedHead | None = None
        self.tried = False
        """Whether the signer has answered, or could not be reached: until then there is nothing to publish."""
        self._door = door
        self._table = table
        self._journal = journal
        self._changed = changed
        self._differs = differs
        self._told = False
        self._since = clock.now()
        self._reason = "not reached yet"
        self._count = 0

    def health(self) -> LinkHealth:
        """Whether heads are signed, and why not."""
        return LinkHealth(
            str(self._door), not self._reason, self._reason, self._since, None, {"signed": self._count}
        )

    async def run(self) -> None:
        """Have the head signed every ten seconds until cancelled."""
        while True:
            if self._journal.head.seq:
                await self._sign()
            await asyncio.sleep(EVERY_SECONDS)

    async def _sign(self) -> None:
        head = self._journal.head
        asked = HeadRequest(
            table=self._table,
            record=await self._journal.name(),
            head=str(head),
            ts=timestamp(clock.now()),
            since=None if self.signed is None else self.signed.head,
        )
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                answer = await ask(self._door, asked)
                if isinstance(answer, Refused) and answer.refused == "since":  # the first head after a start
                    own = await self._journal.link_of(min(answer.seq, head.seq))
                    answer = await ask(self._door, asked.model_copy(update={"since": f"{answer.seq}:{own}"}))
        except TimeoutError:
            self._set(f"the signer has not answered for {_ANSWER_SECONDS:g} s")
        except (OSError, ValidationError) as error:
            self._set(getattr(error, "strerror", None) or "the program at the socket is not a signer")
        else:
            await self._take(asked.statement, answer)
        self._changed()

    async def _take(self, statement: HeadStatement, answer: SignedHead | Refused) -> None:
        if isinstance(answer, Refused):
            self._set(cut(answer.text))
            if answer.refused in _CONTRADICTED and not self._told:
                self._told = True
                await self._differs(f"the signer of heads refuses this record, {cut(answer.text)}")
        elif answer.body() != statement.body() or not answer.holds():
            self._set("the program at the socket is not a signer")
        else:
            self._set("")
            self._count += 1
            self.signed = answer

    def _set(self, reason: str) -> None:
        self.tried = True
        if reason != self._reason:
            self._since = clock.now()
            (_log.warning if reason else _log.info)("signer", reason=reason or "heads are signed")
        self._reason = reason


async def ask(door: Path, asked: HeadRequest) -> SignedHead | Refused:
    """The signer's answer.

    Raises:
        OSError: nobody is at the socket, or the connection was lost.
        ValidationError: what answers is not a signer.
    """
    reader, writer = await asyncio.open_unix_connection(str(door), limit=_LONGEST_ANSWER)
    try:
        writer.write(asked.model_dump_json().encode() + b"\n")
        await writer.drain()
        try:
            line = await reader.readline()
        except ValueError:
            line = b""  # longer than any answer
        return _ANSWERS.validate_json(line)
    finally:
        writer.close()
