"""What the record's tests share."""

from contextlib import closing
from pathlib import Path

from controller.journal import store
from controller.journal.entries import STATES
from controller.journal.recovery import recover
from tests.service.table_in_this_process import table

INCIDENTS = [
    ("refused", "no_card_awaited"),
    ("card_awaited", "unread"),
    ("alarm", "supervisor_called"),
    ("stop", "reverse_movement"),
]


async def start_on(record: Path) -> None:
    async with table(record):
        pass


def table_of(record: Path) -> str:
    """The table on a record, as JSON."""
    with closing(store.open_for_writing(record)) as connection:
        recovered = recover(connection)
    assert recovered is not None
    return STATES.dump_json(recovered.state).decode()
