"""What may not be done now, at a table or with its progressive."""


class RefusedError(Exception):
    """An event that may not be carried out now; nothing has changed. The message says why and what would help.

    `code` is for programs.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
