"""Runs the tests in several processes, all forked from one that has imported the program and collected the tests.

`pytest --workers 8 tests` runs them in eight processes. pytest-xdist would start eight Pythons which all import and collect
the same again, and that takes about eight seconds of a processor for each of them. No maintained plugin forks workers after the
collection: pytest-forked forks once for each test, one after the other, and is archived.

Each worker takes a module of tests, and then the next module. When all modules are taken, a worker that has nothing left to do
takes half of what the busiest worker has left, so that all of them finish at about the same time.

A test whose timeout was no help, because what ends it hangs too, is ended with its worker.
"""

import time
import traceback
from collections import deque
from collections.abc import Iterable
from math import inf
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final

import pytest
from _pytest import runner

_FORK: Final = get_context("fork")
_TIMEOUTS: Final = 1.5
"""After so many of its timeouts a test hangs: pytest-timeout interrupts it once, and does not come back if a fixture then waits for ever."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The number of processes; 0 means that the tests run in the process that collects them."""
    parser.addoption("--workers", type=int, default=0, help="run the tests in this many forked processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run all tests in workers, if there are to be any."""
    option = session.config.option
    if not option.workers or option.collectonly or session.testsfailed:
        return None
    Workers(session, option.workers).run()
    return True


class Workers:
    """Hands out the tests one by one, and passes their reports on to pytest."""

    def __init__(self, session: pytest.Session, number: int) -> None:
        self._session = session
        self._config = session.config
        self._number = number
        self._modules = deque(_modules(session.items))
        self._queues: dict[Connection, deque[int]] = {}
        """What each worker has: the test that it runs, the next one, which it knows already, and those after these two."""
        self._processes: dict[Connection, Any] = {}
        self._ends: dict[Connection, float] = {}
        """When the test of each worker must have ended."""

    def run(self) -> None:
        """Run all tests.

        Raises:
            Failed: pytest wants no more tests after a failure (`-x`).
            Interrupted: pytest wants to stop for another reason.
            RuntimeError: a worker failed outside of a test.
        """
        # All workers use this folder, because pytest removes it at the end of this process.
        self._config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        try:
            for _ in range(min(self._number, len(self._session.items))):
                self._fork()
            while self._queues:
                for line in wait(list(self._queues), timeout=1):
                    assert isinstance(line, Connection)
                    self._hear(line)
                for line in self._queues:
                    if self._hangs(line):
                        self._processes[line].kill()
        finally:
            for line in self._queues:
                line.close()
            for process in self._processes.values():
                process.join()

    def _fork(self) -> None:
        ours, its = _FORK.Pipe()
        process = _FORK.Process(target=_work, args=(self._session, its, [ours, *self._queues]))
        process.start()
        its.close()
        self._queues[ours] = deque()
        self._processes[ours] = process

    def _hear(self, line: Connection) -> None:
        queue = self._queues[line]
        try:
            failure, reports = line.recv()
        except EOFError:
            self._replace(line)
            return
        if failure:
            raise RuntimeError(failure)
        if reports:
            queue.popleft()
        for data in reports:
            hook = self._config.hook
            self._report(hook.pytest_report_from_serializable(config=self._config, data=data))
        self._hand_out(line)

    def _report(self, report: pytest.TestReport) -> None:
        self._config.hook.pytest_runtest_logreport(report=report)
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _hand_out(self, line: Connection) -> None:
        queue = self._queues[line]
        if len(queue) < 2:
            queue.extend(self._more())
        line.send(tuple(queue)[:2])
        if queue:
            self._ends[line] = time.monotonic() + _TIMEOUTS * _timeout(self._session.items[queue[0]])
        else:
            del self._queues[line]

    def _more(self) -> Iterable[int]:
        """The next module, or else half of what the busiest worker has left."""
        if self._modules:
            return self._modules.popleft()
        busiest = max(self._queues.values(), key=len)
        return reversed([busiest.pop() for _ in range((len(busiest) - 1) // 2)])

    def _hangs(self, line: Connection) -> bool:
        return time.monotonic() > self._ends.get(line, inf)

    def _replace(self, line: Connection) -> None:
        """Report the test in which a worker died as failed, and give the worker's other tests to a new worker."""
        queue, process = self._queues.pop(line), self._processes[line]
        process.join()
        if queue:
            item = self._session.items[queue.popleft()]
            ended = "hung" if self._hangs(line) else f"died with the exit code {process.exitcode}"
            why = f"the worker {ended} in this test"
            self._report(pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call"))
        self._modules.appendleft(queue)
        self._fork()


def _timeout(item: pytest.Item) -> float:
    """In seconds; without pytest-timeout there is none."""
    marker = item.get_closest_marker("timeout")
    return (marker.args[0] if marker else getattr(item.config, "_env_timeout", None)) or inf


def _modules(items: list[pytest.Item]) -> Iterable[deque[int]]:
    """The numbers of the tests of each module; modules of one folder that need the browser are together, and so is the browser."""
    found: dict[Path, deque[int]] = {}
    for number, item in enumerate(items):
        together = item.path.parent if "browser" in getattr(item, "fixturenames", ()) else item.path
        found.setdefault(together, deque()).append(number)
    return found.values()


class Reports:
    """Sends the reports of each test to the process that hands out the tests, which alone shows and writes them."""

    def __init__(self, line: Connection) -> None:
        self._line = line

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test, with all that other plugins do around it."""
        to_data = item.config.hook.pytest_report_to_serializable
        reports = runner.runtestprotocol(item, log=False, nextitem=nextitem)
        self._line.send(("", [to_data(config=item.config, report=each) for each in reports]))
        return True


def _work(session: pytest.Session, line: Connection, others: list[Connection]) -> None:
    """Run the tests that are handed out, until there are none or the other process has ended."""
    for other in others:
        other.close()
    plugins = session.config.pluginmanager
    capture: Any = plugins.getplugin("capturemanager")
    capture.stop_global_capturing()  # its files are shared with the other workers
    capture.start_global_capturing()
    plugins.register(Reports(line))
    try:
        line.send(("", []))
        while numbers := line.recv():
            item, *following = (session.items[number] for number in numbers)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=next(iter(following), None))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        pass
    except BaseException:  # noqa: BLE001 - the other process raises it
        line.send((traceback.format_exc(), []))
    finally:
        runner.pytest_sessionfinish(session)
