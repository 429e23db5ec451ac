"""Whatever is read from a line, a file, the broker or a browser, the program does not fail: it says what is wrong."""

from random import Random
from typing import Any

import pytest

from tests.controller.table_in_this_process import HERE
from tests.fuzz.fuzzer import FaultError, Fuzzer, Target, corpus_of, run
from tests.fuzz.targets import TARGETS
from tests.share import ALL, share

CHANGES = 20_000


@pytest.mark.parametrize("name", TARGETS)
def test_each_input_of_the_corpus_is_borne(name):
    for path, data in corpus_of(name).items():
        try:
            run(name, TARGETS[name], data)
        except FaultError as fault:
            pytest.fail(f"{path}: {fault}")


@pytest.mark.in_part
@pytest.mark.parametrize("name", [name for name in TARGETS if name != "record"])
def test_inputs_that_are_changed_are_borne(name):
    fuzzer = Fuzzer(name, TARGETS[name], Random(name), guided=ALL)
    fuzzer.begin()
    fuzzer.fuzz(changes=share(CHANGES, one_in=1000))

    assert [*map(str, fuzzer.found.values())] == []
    assert fuzzer.executions > len(fuzzer.inputs)


BEHIND = """
def read(data):
    if data[:1] == b"p":
        if data[1:2] == b"u":
            if data[2:3] == b"n":
                raise LookupError
"""


def test_the_fuzzer_finds_what_lies_behind_several_conditions():
    """It keeps what reaches a new line, so that it gets from one condition to the next."""
    made: dict[str, Any] = {}
    exec(compile(BEHIND, HERE / "own.py", "exec"), made)  # noqa: S102 - as if it were of the program
    fuzzer = Fuzzer("own", Target(made["read"], lambda: [b"...."]), Random(1))
    fuzzer.begin()
    fuzzer.fuzz(changes=20_000)

    assert [type(fault.error) for fault in fuzzer.found.values()] == [LookupError]
