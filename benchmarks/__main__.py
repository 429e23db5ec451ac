"""`make bench`: every figure in one run, on this machine, with Mosquitto, beside what it is compared with."""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import endurance, latency
from benchmarks.bench import mosquitto

MEBI = 1 << 20


@dataclass(frozen=True)
class Line:
    """A figure, and whether it is within its bound."""

    what: str
    figure: str
    bound: str
    holds: bool


def main() -> int:
    """Measure, print, and return 1 if a bound does not hold."""
    with tempfile.TemporaryDirectory(prefix="punto-bench-") as folder:
        here = Path(folder)
        with mosquitto(here) as broker:
            lines = _latency(here, broker)
            _show(lines)
        with mosquitto(here) as broker:
            long_run = _endurance(here / "long", broker)
            _show(long_run)
    return 0 if all(line.holds for line in lines + long_run) else 1


def _latency(folder: Path, broker: int) -> list[Line]:
    floor, ours = latency.measure(folder, broker)
    say(f"From a frame on the pseudo-terminal to a message in another process, {latency.SAMPLES} cards each,")
    say("in alternating blocks; the floor is os.read, one durable SQLite commit, one paho QoS 1 publish.\n")
    lines = []
    for name, base, own, most in (("p50", floor.p50, ours.p50, 1.5), ("p99", floor.p99, ours.p99, 2.0)):
        ratio = own / base
        figure = f"{own:.2f} ms, floor {base:.2f} ms, ratio {ratio:.2f}"
        lines.append(Line(f"latency {name}", figure, f"at most {most}", ratio <= most))
    return lines


def _endurance(folder: Path, broker: int) -> list[Line]:
    folder.mkdir()
    say(
        f"\n{endurance.ROUNDS:,} rounds from a virtual shoe as fast as acknowledged, everything recorded and published.\n"
    )
    run = endurance.measure(folder, broker)
    rate = run.cards / run.seconds
    growth = (run.memory_many - run.memory_few) / MEBI
    return [
        Line("cards a second", f"{rate:,.0f} ({run.cards:,} cards)", "at least 1,500", rate >= 1500),
        Line("cards published", f"{run.published:,}, {run.gaps} gaps", "all, none", _all_seen(run)),
        Line("start after a kill", f"{run.start_seconds:.2f} s", "under 1 s", run.start_seconds < 1),
        Line(
            "memory growth",
            f"{growth:.1f} MiB, from {run.memory_few / MEBI:.0f} MiB",
            "at most 10",
            growth <= 10,
        ),
        Line("idle processor", f"{100 * run.idle:.2f}%", "under 1%", run.idle < 0.01),
    ]


def _all_seen(run: endurance.Endurance) -> bool:
    return run.published == run.cards and run.gaps == 0


def _show(lines: list[Line]) -> None:
    for line in lines:
        say(
            f"  {line.what:<20} {line.figure:<44} {line.bound:<16} {'holds' if line.holds else 'DOES NOT HOLD'}"
        )


def say(text: str) -> None:
    """Print at once: a run takes minutes."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
