"""One evening of a house: it plays while faults strike, then all is mended, and everything is checked."""

import shutil
import sqlite3
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from tests.controller.table_on_a_machine import rounds, wait_until
from tests.simulated.plan import Wrong
from tests.soak.checks import check
from tests.soak.faults import AtBroker, AtCable, AtService, Ledger, Place, mend
from tests.soak.flips import Flipping
from tests.soak.house import House, Service
from tests.soak.people import Hall, Seats, Subscriber, people

MEMORY = Path("/dev/shm")  # noqa: S108 - the disks are files there
_CATCH_UP_SECONDS = 120.0


class Evening:
    """What an evening came to: `struck` faults of each kind, `figures`, and what is `wrong`, if anything is."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.struck: Counter[str] = Counter()
        self.figures: Counter[str] = Counter()
        self.seconds = 0.0
        self.wrong: str | None = None


def play(seed: int, wanted: Mapping[str, int], seconds: float) -> Evening:
    """Play an evening until so many faults of each kind have struck, or until the time is over.

    If something is wrong, the records and logs stay in the folder that is named.
    """
    evening, began = Evening(seed), time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="punto-soak-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        with House(folder, seed) as house, people(house, seed) as (hall, seats, subscriber):
            ledger = Ledger(wanted)
            try:
                flips = _strike(house, hall, subscriber, ledger, evening, seconds)
                _quieten(house, hall, seats, subscriber)
                _nothing_wrong([*hall.wrong, *subscriber.wrong])
                evening.figures = check(house, seats, subscriber, seed)
                evening.figures += flips
            except BaseException:
                _keep(house)
                raise
            finally:
                evening.struck = ledger.struck
    except Exception as error:  # noqa: BLE001 - whatever it is, the evening does not count
        evening.wrong = f"{''.join(traceback.format_exception(error))}\nIts files are in {folder}"
    else:
        shutil.rmtree(folder)
    evening.seconds = time.monotonic() - began
    return evening


def _nothing_wrong(said: list[str]) -> None:
    if said:
        raise Wrong("\n".join(said[:5]))


def _keep(house: House) -> None:
    """Copy the records from their disks, which go with the house."""
    for service in house.services:
        service.kill()
        for file in service.disk.path.glob("table.db*"):
            shutil.copy2(file, service.folder)


def _strike(
    house: House, hall: Hall, subscriber: Subscriber, ledger: Ledger, evening: Evening, seconds: float
) -> Counter[str]:
    """Let the faults strike; return what came of the flipped bits."""
    over, copies = threading.Event(), SimpleQueue[Path]()
    named = {service.name: service for service in house.services}
    flipping = Flipping(copies, named, evening.seed, over)
    places: list[Place] = [
        AtBroker(house, subscriber, ledger, evening.seed, over),
        *(AtService(service, ledger, evening.seed, over, copies) for service in house.services),
        *(AtCable(house, table, hall, ledger, evening.seed, over) for table in house.tables),
    ]
    for thread in (flipping, *places):
        thread.start()
    end = time.monotonic() + seconds
    while not over.wait(0.5) and time.monotonic() < end and not ledger.complete:
        pass
    over.set()
    for place in places:
        place.join()
    flipping.finish()
    if wrong := [said for said in (flipping.wrong, *(place.wrong for place in places)) if said]:
        raise Wrong("\n".join(wrong))
    return Counter(
        {
            f"flipped bit in a {each.place}: {f'found by {each.found}' if each.found else 'changed nothing'}": number
            for each, number in flipping.outcomes.items()
        }
    )


def _quieten(house: House, hall: Hall, seats: Mapping[str, Seats], subscriber: Subscriber) -> None:
    """No more faults and no more play; wait until all that was on its way has arrived, and stop the services."""
    mend(house)
    for each in seats.values():
        each.playing = False
    for name, each in seats.items():
        wait_until(partial(_answered, each), f"the seats of {name} have their answers", _CATCH_UP_SECONDS)
    hall.stop_playing()
    for table in house.linked:
        wait_until(
            partial(_asks_nothing, table), f"{table.name} has its authority's answer", _CATCH_UP_SECONDS
        )
    for table in house.tables:
        wait_until(partial(_all_sent, table), f"{table.name} has sent its rounds")
        subscriber.request_missing(table.name, len(rounds(table.record)))
    for service in house.services:
        if service.stop() != 0:
            raise Wrong(f"{service.name} was stopped, and ended with {service.process.returncode}")


def _asks_nothing(table: Service) -> bool:
    time.sleep(0.5)
    return table.link.online and table.link.asked is None


def _answered(seats: Seats) -> bool:
    return not seats.waiting


def _all_sent(table: Service) -> bool:
    with closing(sqlite3.connect(f"file:{table.record}?mode=ro", uri=True)) as database:
        row = database.execute("SELECT at FROM cursors WHERE name = 'rounds_sent'").fetchone()
    return (0 if row is None else row[0]) == len(rounds(table.record))
