"""Programs that tests start are as a user starts them."""

import signal
import subprocess
import sys

from tests.started import obey_interrupts

INTERRUPTED = "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(1)"


def test_a_program_ends_by_an_interrupt_though_the_tests_were_begun_in_the_background():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        obey_interrupts()
        ran = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, check=False)
    finally:
        signal.signal(signal.SIGINT, before)

    assert ran.returncode == -signal.SIGINT
