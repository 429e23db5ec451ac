"""Refusals before an order reaches the table: of an order, a name and password, or a security key."""

from collections.abc import Awaitable
from typing import TypeVar


class RefusalError(Exception):
    """A request is refused before it reaches the table. `status` is HTTP's; the message is for people."""

    def __init__(self, status: int, code: str, reason: str, retry_after: int | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.code = code
        self.retry_after = retry_after


class AccountsError(RefusalError):
    """The accounts cannot be read, or not changed in this way; the message says what to do."""

    def __init__(self, reason: str) -> None:
        super().__init__(503, "no_accounts", reason)


class NotLetInError(RefusalError):
    """A name and password are not accepted. `code` is refused, locked_out or too_many; the message is for people.

    `retry_after` is the number of seconds after which it makes sense to try again, None if another try is useless.
    """

    def __init__(self, code: str, message: str, retry_after: int | None = None) -> None:
        super().__init__(401 if retry_after is None else 429, code, message, retry_after)


_Found = TypeVar("_Found")


async def let_in(checked: Awaitable[_Found], code: str, noun: str) -> _Found:
    """The result of a check at a session, which stays signed on if the check fails.

    Raises:
        RefusalError: the check failed, with this `code`; the message begins with `noun`.
    """
    try:
        return await checked
    except NotLetInError as error:
        status, code = (403, code) if error.status == 401 else (error.status, error.code)
        raise RefusalError(status, code, f"{noun}: {error}", error.retry_after) from None
