"""The errors that ended a service: those of a group, which a TaskGroup raises, one by one."""

from collections.abc import Iterator


def errors_of(error: BaseException) -> Iterator[BaseException]:
    """All errors in a group and its inner groups."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from errors_of(each)
    else:
        yield error


def messages_of(error: BaseException, kind: type[BaseException] = BaseException) -> list[str]:
    """The messages of all errors of this kind. One error may reach several tasks; it has one message."""
    return list(dict.fromkeys(str(each) for each in errors_of(error) if isinstance(each, kind)))
