"""The process in which odds are computed: the service's end of it, and what runs there.

The service never loads the mathematics: neither its memory nor the path of a card is to pay for them.
"""

import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import cache
from multiprocessing import active_children, get_context, parent_process
from typing import TYPE_CHECKING, Final

from punto.baccarat.wagers.definition import Game
from punto.odds.composition import Composition

if TYPE_CHECKING:
    from punto.odds.exact import GameOdds

SLOW_SECONDS: Final = 60
"""How long an answer may take, a thousand times what it does; a worker that is slower is taken for dead."""
_NICE: Final = 10


class OddsError(Exception):
    """The odds of a composition cannot be computed; the message says why."""


class Worker:
    """The service's end: one process, begun when it is first needed. Its methods block and are not for the event loop."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def edges(self, game: Game, composition: Composition) -> dict[str, Fraction]:
        """What `edges_of` finds, there.

        Raises:
            OddsError: they cannot be computed.
            BrokenExecutor, OSError: the process died, does not answer or cannot be begun; call `end` before the next.
        """
        if self._pool is None:
            # Not a fork: this process has threads, and what the service holds is none of the worker's business.
            self._pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=_begin)
        return self._pool.submit(edges_of, game, composition).result(SLOW_SECONDS)

    def end(self) -> None:
        """End the process, whatever it is doing."""
        for process in active_children():  # the service has no other
            process.kill()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


# --- what runs in the process


def _begin() -> None:
    """Be modest, and go with the service."""
    threading.Thread(target=_go_with_the_service, daemon=True).start()
    # Ctrl-C and systemd tell every process of the service to stop. It is the service that ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.nice(_NICE)
    # Numpy asks when it is first loaded. One thread computes; others would only stand by.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"


def _go_with_the_service() -> None:
    service = parent_process()
    if service is not None:
        service.join()
    os._exit(1)  # it was killed: nobody is left to answer


def edges_of(game: Game, composition: Composition) -> dict[str, Fraction]:
    """The house's edge of each position of a game for this shoe, exactly, per unit staked.

    Raises:
        OddsError: it cannot be computed.
    """
    try:
        odds = _odds(game).odds(composition)
    except ValueError as error:
        raise OddsError(str(error)) from None
    except Exception as error:  # noqa: BLE001 - an error of the mathematics' own would have the service load them
        raise OddsError(f"{type(error).__name__}: {error}") from None
    return {position: figures.edge for position, figures in odds.items()}


@cache
def _odds(game: Game) -> "GameOdds":
    from punto.odds.exact import GameOdds  # noqa: PLC0415 - the service imports this module too

    return GameOdds(game)
