"""Runs a program with the sandbox of a unit, as systemd does: its system calls, address families, and no executable memory.

    python -m tests.deploy.sandbox '["@system-service", "~@privileged"]' AF_UNIX,AF_INET PROGRAM ARGUMENT...

The sets of system calls are those of `systemd-analyze syscall-filter`. libseccomp is there with systemd, which needs it.
"""

import ctypes
import errno
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterable
from typing import Final

_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000
_EQUAL: Final = 4
_MDWE: Final = 65
"""PR_SET_MDWE of <linux/prctl.h>: memory cannot become executable. Before Linux 6.3 there is no such thing, and it is left out."""


class _Argument(ctypes.Structure):
    """`struct scmp_arg_cmp` of <seccomp.h>."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    )


def allowed(filters: Iterable[str]) -> set[str]:
    """The system calls that a unit's lines of `SystemCallFilter=` leave; the first line is of those that are allowed."""
    listed = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager"], check=True, capture_output=True, text=True
    )
    sets: dict[str, list[str]] = {}
    for line in re.sub(r"\x1b\[[\d;]*m", "", listed.stdout).splitlines():
        if line.startswith("@"):
            members = sets[line.strip()] = []
        elif line.startswith(" ") and not line.strip().startswith("#"):
            members.append(line.strip())

    def calls(name: str) -> set[str]:
        return set().union(*map(calls, sets[name])) if name.startswith("@") else {name}

    found = calls("@default")  # which systemd adds to each list of allowed ones
    for line in filters:
        named = set().union(*map(calls, line.removeprefix("~").split()))
        found = found - named if line.startswith("~") else found | named
    return found


def confine(calls: Iterable[str], families: Iterable[str]) -> None:
    """Leave this process, and all that it starts, only these system calls and address families.

    Raises:
        OSError: The kernel takes no filter.
    """
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    seccomp.seccomp_init.argtypes = [ctypes.c_uint32]
    context = ctypes.c_void_p(seccomp.seccomp_init(_ERRNO | errno.EPERM))
    for name in set(calls) - {"socket"}:
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # others are of other processors
            seccomp.seccomp_rule_add_array(context, _ALLOW, number, 0, None)
    for family in families:
        argument = _Argument(0, _EQUAL, getattr(socket, family), 0)
        number = seccomp.seccomp_syscall_resolve_name(b"socket")
        seccomp.seccomp_rule_add_array(context, _ALLOW, number, 1, ctypes.byref(argument))
    ctypes.CDLL(None).prctl(_MDWE, 1, 0, 0, 0)
    if failed := seccomp.seccomp_load(context):
        raise OSError(-failed, os.strerror(-failed))


if __name__ == "__main__":
    _, listed_filters, listed_families, program, *arguments = sys.argv
    confine(allowed(json.loads(listed_filters)), listed_families.split(","))
    os.execvp(program, [program, *arguments])  # noqa: S606 - the unit's own program
