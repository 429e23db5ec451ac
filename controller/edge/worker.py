"""The process that computes the odds: the service's side, and the code of the process.

The service itself does not load numpy, which would cost it memory and time on the path of a card.
"""

import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import cache
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, Final

from punto.baccarat.wagers.definition import Game
from punto.odds.composition import Composition

if TYPE_CHECKING:
    from punto.odds.exact import GameOdds

SLOW_SECONDS: Final = 60
"""The limit of an answer, a thousand times the usual time. A slower worker is considered dead."""
_NICE: Final = 10


class OddsError(Exception):
    """The odds of a composition cannot be computed; the message has the reason."""


class Worker:
    """The service's side: one process, started when it is first needed. The methods block: call them in a thread."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def edges(self, game: Game, composition: Composition) -> dict[str, Fraction]:
        """The result of `edges_of`, computed in the process.

        Raises:
            OddsError: the edges cannot be computed.
            BrokenExecutor, OSError: the process died, does not answer or cannot be started; call `end` before the
                next call.
        """
        if self._pool is None:
            # Not a fork: the service has threads, and the worker does not need the service's memory and files.
            self._pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=_begin)
        return self._pool.submit(edges_of, game, composition).result(SLOW_SECONDS)

    def end(self) -> None:
        """Kill the process. Those of other tables go on."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list(pool._processes.values()):  # noqa: SLF001 - Python 3.14 has `kill_workers`
                process.kill()
            pool.shutdown(cancel_futures=True)


# --- in the process


def _begin() -> None:
    """Lower this process's priority, and end it with the service."""
    threading.Thread(target=_end_with_the_service, daemon=True).start()
    # Ctrl-C and systemd signal every process of the service. The service ends this one, and this one has no log.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)
    os.nice(_NICE)
    # Numpy reads it when it is loaded. Only one thread computes.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"


def _end_with_the_service() -> None:
    service = parent_process()
    if service is not None:
        service.join()
    os._exit(1)  # the service has ended


def edges_of(game: Game, composition: Composition) -> dict[str, Fraction]:
    """The exact house edge of each position of a game for this shoe, per unit staked.

    Raises:
        OddsError: the edges cannot be computed.
    """
    try:
        odds = _odds(game).odds(composition)
    except ValueError as error:
        raise OddsError(str(error)) from None
    except Exception as error:  # noqa: BLE001 - to unpickle an error of numpy's, the service would have to load numpy
        raise OddsError(f"{type(error).__name__}: {error}") from None
    return {position: figures.edge for position, figures in odds.items()}


@cache
def _odds(game: Game) -> "GameOdds":
    from punto.odds.exact import GameOdds  # noqa: PLC0415 - the service imports this module too

    return GameOdds(game)
