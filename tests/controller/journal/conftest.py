"""Records to do things to, which nobody has open."""

import asyncio
import shutil
from pathlib import Path

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.progressive.events import ChangeSettings
from punto.baccarat.table.events import CardUnread, ReverseMovement, SetWager
from punto.baccarat.table.order_kinds import CallSupervisor, KeyCard
from tests.controller.table_in_this_process import rows, table
from tests.controller.test_progressive_record import AWARD, to_the_win
from tests.controller.test_progressive_record import settings as progressive_settings


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record of some rounds with wagers, past its second snapshot."""
    folder = tmp_path_factory.mktemp("played")
    record = folder / "table.db"

    async def play() -> None:
        async with table(record) as here:
            await here.begin_shoe()
            await here.play(200, seats=[1, 4])

    asyncio.run(play())
    assert len(rows(record, "SELECT seq FROM snapshots")) == 2
    return record


@pytest.fixture
def record(played: Path, tmp_path: Path) -> Path:
    """A copy of it to do things to."""
    shutil.copy(played, tmp_path / "table.db")
    return tmp_path / "table.db"


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A record of two rounds, without a snapshot."""
    record: Path = tmp_path / "short.db"

    async def play() -> None:
        async with table(record) as here:
            await here.begin_shoe()
            await here.play(2, seats=[1])

    asyncio.run(play())
    return record


@pytest.fixture
def troubled(tmp_path: Path) -> Path:
    """A record of two rounds and then of one incident of each kind."""
    record: Path = tmp_path / "troubled.db"

    async def play() -> None:
        async with table(record) as here:
            await here.begin_shoe()
            await here.play(2, seats=[1])
            await here.engine.submit([KeyCard("mei", Card("9S"))], "operator mei")
            await here.engine.submit([SetWager("w", 99, "player", 500, here.state.round.number)], "wagers")
            await here.shoe(CardUnread(here.state.link.expected))
            await here.order(CallSupervisor("mei", "a dispute"))
            await here.shoe(ReverseMovement(here.state.link.expected))

    asyncio.run(play())
    return record


@pytest.fixture
async def stopped(tmp_path):
    """A record with a meter that has paid an award and holds another open, changed settings, and no snapshot."""
    path = tmp_path / "t.db"
    async with table(path, progressive_settings()) as here:
        await to_the_win(here)
        await here.do(*AWARD)
        changed = progressive_settings(reserve="2%").progressive
        assert changed is not None
        await here.order(ChangeSettings(changed, "a trial", "eve", "bob"))
        await here.do(
            "wager 1 player 500", "start game 1", "draw 2H KC 3H JC 4H KD", "hand 1", "turn jph", "j-pot"
        )
    return path
