"""Starts `punto` without the second that Python takes to load it: tests start it hundreds of times.

A process that has loaded the program forks for each start. What comes of it is a process like any other, a child of this
one: it can be killed, waited for and read. Any other command, and any command under coverage, starts as always.

python -m tests.started FD    # the process that has loaded the program, with its end of a pair of sockets
"""

import atexit
import ctypes
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any, Final

from punto.commands import cli
from punto.controller.accounts import passwords
from tests import cheap

HERE: Final = Path(__file__).parents[1]
FORKED: Final = ("punto", "punto.commands.cli", "tests.controller.killed_at")
"""The modules that a process forks for, when Python is asked to run them."""
_COVERED: Final = any(name.startswith("COVERAGE_PROCESS") for name in os.environ)
_ONE_AT_A_TIME: Final = threading.Lock()
_SET_CHILD_SUBREAPER: Final = 36


class Started(subprocess.Popen[Any]):
    """A `Popen` that forks `punto` from a process that has loaded it."""

    def _execute_child(self, args: Any, *how: Any) -> None:
        command = [str(each) for each in args]
        if _COVERED or command[:2] != [sys.executable, "-m"] or command[2] not in FORKED:
            super()._execute_child(args, *how)  # type: ignore[misc]
            return
        cwd, env, pipes = how[4], how[5], how[9:15]
        fds = [number if fd == -1 else fd for number, fd in enumerate(pipes[each] for each in (0, 3, 5))]
        asked = json.dumps([command[2:], str(cwd or Path.cwd()), dict(env or os.environ)]).encode()
        with _ONE_AT_A_TIME:
            _adopt(orphans=True)
            try:
                line = load()
                socket.send_fds(line, [len(asked).to_bytes(4)], fds)
                line.sendall(asked)
                self.pid = int.from_bytes(line.recv(4, socket.MSG_WAITALL))
            finally:
                _adopt(orphans=False)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def _adopt(*, orphans: bool) -> None:
    """Whether a process whose parent has ended is this one's child."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(orphans), 0, 0, 0)


@cache
def load() -> socket.socket:
    """The line to the process that has loaded the program. It ends when the line does.

    PUNTO_LOADED_BY names another module, which calls `main` after it has changed the program.
    """
    ours, its = socket.socketpair()
    with its:
        module = os.environ.get("PUNTO_LOADED_BY", "tests.started")
        command = [sys.executable, "-m", module, str(its.fileno())]
        process = subprocess.Popen(command, cwd=HERE, pass_fds=[its.fileno()])
    atexit.register(process.wait)
    atexit.register(ours.close)  # before that
    return ours


def obey_interrupts() -> None:
    """Have programs end by SIGINT, which they would inherit as ignored where a shell began the tests in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def main(fd: int) -> None:
    """Fork for each start that is asked for, until the line ends."""
    from punto.commands import operator, run  # noqa: F401
    from punto.commands.demo import command as demo  # noqa: F401
    from punto.consoles import console  # noqa: F401
    from punto.displays import command, server  # noqa: F401
    from punto.simulators.shoe import command as shoe  # noqa: F401

    passwords._HASHER = cheap.HASHER  # type: ignore[misc]
    gc.freeze()  # what is loaded is shared by all
    line = socket.socket(fileno=fd)
    while True:
        size, fds, _, _ = socket.recv_fds(line, 4, 3)
        if not size:
            return
        arguments, cwd, environment = json.loads(line.recv(int.from_bytes(size), socket.MSG_WAITALL))
        told, tells = os.pipe()
        between = os.fork()
        if not between:
            pid = os.fork()
            if pid:
                os.write(tells, pid.to_bytes(4))
                os._exit(0)  # its child is now a child of who asked
            for own in (told, tells):
                os.close(own)
            line.close()
            break
        os.close(tells)
        pid_of_it = os.read(told, 4)
        os.waitpid(between, 0)
        line.sendall(pid_of_it)
        for own in (told, *fds):
            os.close(own)
    for number, own in enumerate(fds):
        os.dup2(own, number)
        os.close(own)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    module, *sys.argv[1:] = arguments
    if not module.startswith("punto"):
        runpy.run_module(module, run_name="__main__")  # it calls `main` after it has changed the program
    sys.exit(cli.main(sys.argv[1:]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
