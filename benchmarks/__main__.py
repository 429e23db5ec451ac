"""`make bench`: every figure in one run, on this machine, beside what it is compared with.

`python -m benchmarks odds` measures one part; several can be named.
"""

import argparse
import asyncio
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import endurance, latency, odds, pages, progressive, rivals, simulation
from benchmarks.bench import mosquitto
from punto.configs.game_files import load_game
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds

MEBI = 1 << 20
ENGINE_ROUNDS = 500_000


@dataclass(frozen=True)
class Line:
    """A figure, and whether it is within its bound."""

    what: str
    figure: str
    bound: str
    holds: bool


def main() -> int:
    """Measure, print, and return 1 if a bound does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all if none is named")
    parts = parser.parse_args().parts or list(PARTS)
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}: name some of {', '.join(PARTS)}")
    lines: list[Line] = []
    for part in parts:
        with tempfile.TemporaryDirectory(prefix="punto-bench-") as folder:
            measured = PARTS[part](Path(folder))
        _show(measured)
        lines += measured
    return 0 if all(line.holds for line in lines) else 1


def _latency(folder: Path) -> list[Line]:
    with mosquitto(folder) as broker:
        floor, ours = latency.measure(folder, broker)
    say(f"From a frame on the pseudo-terminal to a message in another process, {latency.SAMPLES} cards each,")
    say("in alternating blocks; the floor is os.read, one durable SQLite commit, one paho QoS 1 publish.\n")
    lines = []
    for name, base, own, most in (("p50", floor.p50, ours.p50, 1.5), ("p99", floor.p99, ours.p99, 2.0)):
        ratio = own / base
        figure = f"{own:.2f} ms, floor {base:.2f} ms, ratio {ratio:.2f}"
        lines.append(Line(f"latency {name}", figure, f"at most {most}", ratio <= most))
    return lines


def _endurance(folder: Path) -> list[Line]:
    say(
        f"\n{endurance.ROUNDS:,} rounds from a virtual shoe as fast as acknowledged, everything recorded and published.\n"
    )
    with mosquitto(folder) as broker:
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


def _odds(_folder: Path) -> list[Line]:
    say(
        "\nExact edges in shoes at random points, by processor time on one core, in alternating blocks. No program on PyPI,"
    )
    say(
        "crates.io or npm was found to have them; those published as source walk the tree of a coup by points, as here.\n"
    )
    run = odds.measure()
    ours = run.by_points[odds.GAME]
    lines = [Line(odds.GAME, f"{ours:.0f} µs for every wager", "at most 250 µs", ours <= 250)]
    for name, least in (("Python", 50), ("numba", 1)):
        walk = run.walks.get(name)
        if walk is None:
            say(f"  {name} is not installed: nothing to compare with there")
            continue
        figure = f"{walk / ours:,.1f} times faster than {walk:,.0f} µs"
        lines.append(Line(f"… a walk by {name}", figure, f"at least {least}", walk >= least * ours))
    slowest, whole = (max(times, key=lambda name: times[name]) for times in (run.by_points, run.in_whole))
    by_points, in_whole = run.by_points[slowest], run.in_whole[whole] / 1000
    rate = 1e6 / run.at_once
    return [
        *lines,
        Line("… the same edges", f"to {run.difference:.0e}", "at most 1e-12", run.difference <= 1e-12),
        Line("… many shoes at once", f"{rate:,.0f} a second", "at least 20,000", rate >= 20_000),
        Line(
            "by points, any game",
            f"{by_points:.0f} µs or less ({slowest})",
            "at most 250 µs",
            by_points <= 250,
        ),
        Line("with ranks and suits", f"{in_whole:.2f} ms or less ({whole})", "at most 20 ms", in_whole <= 20),
    ]


def _simulation(folder: Path) -> list[Line]:
    say("\nRounds of whole shoes, dealt and settled by one job, after import and compilation.\n")
    engine = rivals.deal_with_engine(folder, ENGINE_ROUNDS)
    lines = [Line(*each) for each in simulation.measure(engine)]
    if engine is None:
        say(f"  {rivals.ENGINE} cannot be had from npm and run here: nothing to compare with there")
        return lines
    exact = GameOdds(load_game("mini-baccarat")).odds(Composition.of_decks(8))
    errors = 0.0
    for name, won in (("player", engine.player), ("banker", engine.banker), ("tie", engine.tie)):
        chance = float(exact[name].hit)
        errors = max(
            errors, abs(won - chance * engine.rounds) / math.sqrt(chance * (1 - chance) * engine.rounds)
        )
    return [*lines, Line("… the same winners", f"to {errors:.1f} standard errors", "at most 5", errors <= 5)]


def _pages(folder: Path) -> list[Line]:
    say(
        "\nThe i-Score and the dealer's page in Chromium, from this machine; beside the browser's own time for an empty"
    )
    say("page of the same server, and for a word that changes.\n")
    run = asyncio.run(pages.measure(folder))
    return [
        *(
            Line(
                what,
                f"{seconds:.2f} s, {seconds / run.empty:.1f} times an empty page",
                "under 1 s",
                seconds < 1,
            )
            for what, seconds in (("i-Score painted", run.board), ("dealer's page painted", run.dealers))
        ),
        *(
            Line(
                what,
                f"{1000 * seconds:.0f} ms, {seconds / run.change:.1f} times a change",
                "under 100 ms",
                seconds < 0.1,
            )
            for what, seconds in (
                ("a message on the i-Score", run.message),
                ("a card on the dealer's", run.card),
            )
        ),
    ]


def _progressive(folder: Path) -> list[Line]:
    say(
        "\nWhat four wagers add to the path of a game's START in the service's engine, beside the floor of the latency's part;"
    )
    say(
        "and the table recovered from a year's record, beside one of fifteen days (the year is dealt first, for some minutes).\n"
    )
    with mosquitto(folder) as broker:
        costs = progressive.contribution(folder, broker)
    share = costs.contribution / costs.floor
    say(
        f"  A START without wagers takes {costs.start:.0f} µs more than an input that asks nothing of the meter.\n"
    )
    run = progressive.starts(folder)
    return [
        Line(
            "a contribution",
            f"{costs.contribution:.0f} µs, {100 * share:.1f}% of the floor's {costs.floor:.0f} µs",
            "under 5%",
            share < 0.05,
        ),
        Line(
            "recovery of a year",
            f"{run.seconds:.2f} s of {run.rounds:,} rounds, {run.seconds / run.few_seconds:.1f} times of {run.few_rounds:,}",
            "under 1 s",
            run.seconds < 1,
        ),
    ]


def _show(lines: list[Line]) -> None:
    for line in lines:
        say(
            f"  {line.what:<26} {line.figure:<44} {line.bound:<16} {'holds' if line.holds else 'DOES NOT HOLD'}"
        )


def say(text: str) -> None:
    """Print at once: a run takes minutes."""
    print(text, flush=True)


PARTS = {
    "latency": _latency,
    "endurance": _endurance,
    "odds": _odds,
    "simulation": _simulation,
    "pages": _pages,
    "progressive": _progressive,
}

if __name__ == "__main__":
    sys.exit(main())
