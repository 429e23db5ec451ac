"""Has the heads of a table's record signed: asks the signer of this machine every ten seconds, beside the ordered path."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import structlog
from pydantic import ConfigDict, TypeAdapter, ValidationError

from punto.configs.problems import cut
from punto.controller.journal.entries import Head
from punto.controller.journal.journal import Journal
from punto.controller.signing.heads import HeadStatement, SignedHead
from punto.controller.signing.signer import HeadRequest, Refused
from punto.drivers.base import LinkHealth
from punto.messages.building import timestamp
from punto.runtime import clock

EVERY_SECONDS: Final = 10.0
_ANSWER_SECONDS: Final = 5.0
_LONGEST_ANSWER: Final = 4096
_PART_BYTES: Final = 100_000
"""About the most bytes of inputs in one request, and `_MOST_PARTS` is how many requests follow each other."""
_MOST_PARTS: Final = 30
_ANSWERS: Final[TypeAdapter[SignedHead | Refused]] = TypeAdapter(
    SignedHead | Refused, config=ConfigDict(defer_build=True)
)
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
        self.door = door
        self._table = table
        self._journal = journal
        self._changed = changed
        self._differs = differs
        self._told = False
        self._since_seq: int | None = None
        """The input that the signer signed last, None before it says so."""
        self._since = clock.now()
        self._reason = "not reached yet"
        self._count = 0

    def health(self) -> LinkHealth:
        """Whether heads are signed, and why not."""
        return LinkHealth(
            str(self.door), not self._reason, self._reason, self._since, None, {"signed": self._count}
        )

    async def run(self) -> None:
        """Have the head signed every ten seconds until cancelled."""
        while True:
            if self._journal.head.seq:
                await self.sign()
                self._changed()
            await asyncio.sleep(EVERY_SECONDS)

    async def sign(self) -> None:
        """Have the head signed. A signer that was away for long gets the inputs in parts, the rest of them the next time."""
        until, answers = self._journal.head.seq, 0
        try:
            while (
                self.signed is None or self.signed.at.seq < until or not answers
            ) and answers < _MOST_PARTS:
                async with asyncio.timeout(_ANSWER_SECONDS):
                    asked = await self._next(until)
                    answer = await ask(self.door, asked)
                answers += 1
                if isinstance(answer, Refused) and answer.refused == "since" and answers == 1:
                    self._since_seq = answer.seq  # as after a start of the service or of the signer
                elif not await self._take(asked.statement, answer):
                    return
        except TimeoutError:
            self._set(f"the signer has not answered for {_ANSWER_SECONDS:g} s")
        except (OSError, ValidationError) as error:
            self._set(getattr(error, "strerror", None) or "the program at the socket is not a signer")

    async def _next(self, until: int) -> HeadRequest:
        """The request for the head, or for one before it that the inputs of one request reach."""
        since, head = self._since_seq, self._journal.head
        told = [] if since is None else await self._journal.some_entries(since, until, _PART_BYTES)
        if told:
            head = Head(told[-1][0].seq, told[-1][1])
        return HeadRequest(
            table=self._table,
            record=await self._journal.name(),
            head=str(head),
            ts=timestamp(clock.now()),
            since=since or 0,
            inputs=tuple(entry.recorded for entry, _ in told),
        )

    async def _take(self, statement: HeadStatement, answer: SignedHead | Refused) -> bool:
        """Take the answer, and return whether the head is signed."""
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
            self._since_seq = answer.at.seq
            return True
        return False

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
