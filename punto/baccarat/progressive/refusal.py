"""The error for events that are not allowed now, at a table or with its progressive."""


class RefusedError(Exception):
    """An event that is not allowed now; nothing has changed. The message says why and what to do.

    `code` is for programs. No table has the words, because the rule that refuses knows best what to do: each stands
    where a `RefusedError` is raised.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
