"""Measures how much faster a sweep is on several cores than on one.

``python benches/sweep.py`` does the same sweep on one core and on two, in turn, so that both see the same machine,
and prints the ratio of wall times of each pair, and the median of the ratios. A sweep has as many threads as cores,
and all of them are bound to these cores. Run it on a quiet machine with the release build (``make .venv/.module``),
because other programs would use the second core. ``--cores 4`` compares one core with four. Linux only.

Three sweeps: ``plain`` has runs of one length, ``uneven`` runs whose work differs twentyfold, and ``series`` writes
0.6 MB of series for each run, so that tables are a large part of it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from anabranch import command

NETWORK = """
[[node]]
name = "a"
jitter = "20 us"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
rate = {rate}
delay = "10 ms"
loss = 0.001
[[flow]]
name = "f"
client = "a"
server = "b"
frame_rate = "0 Hz"
reset_time = "1 s"
stop_time = "100 s"
"""
PROBES = """
[[probe]]
quantity = ["cwnd", "srtt", "flight"]
flow = "f"
every = "change"
"""
EVEN = '{ name = "rate", vary = ["10 Mbit/s", "10.1 Mbit/s"] }'
UNEVEN = '{ name = "rate", vary = ["1 Mbit/s", "2 Mbit/s", "5 Mbit/s", "20 Mbit/s"] }'


@dataclass(frozen=True)
class Case:
    """A sweep and its number of replicas."""

    scenario: str
    replicas: int


CASES = {
    "plain": Case(NETWORK.format(rate=EVEN), 60),
    "uneven": Case(NETWORK.format(rate=UNEVEN), 30),
    "series": Case(NETWORK.format(rate=EVEN) + PROBES, 30),
}


def wall(case: Case, cores: int) -> float:
    """Seconds that a sweep takes on so many cores, from the file of the scenario to the tables."""
    with tempfile.TemporaryDirectory(prefix="anabranch-sweep-") as folder:
        file = Path(folder, "case.toml")
        file.write_text(case.scenario, encoding="utf-8")
        arguments = ["sweep", str(file), "--replicas", str(case.replicas), "--jobs", str(cores)]
        before = os.sched_getaffinity(0)
        # Threads that the sweep starts are kept there, too.
        os.sched_setaffinity(0, sorted(before)[:cores])
        begin = time.perf_counter()
        code = command.main([*arguments, "--out", str(Path(folder, "out")), "--quiet"])
        took = time.perf_counter() - begin
        os.sched_setaffinity(0, before)
        if code != 0:
            raise SystemExit(code)
        return took


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)} (default: all)")
    parser.add_argument("--pairs", type=int, default=7, help="pairs of sweeps of each case (default: %(default)s)")
    parser.add_argument("--cores", type=int, default=2, help="compared with one (default: %(default)s)")
    given = parser.parse_args()
    if (there := len(os.sched_getaffinity(0))) < given.cores:
        parser.error(f"this process may use {there} cores only")
    for name in given.cases or CASES:
        ratios: list[float] = []
        for pair in range(given.pairs):
            # One core and several cores run first in turn.
            order = (1, given.cores) if pair % 2 == 0 else (given.cores, 1)
            took = {cores: wall(CASES[name], cores) for cores in order}
            ratios.append(took[1] / took[given.cores])
            print(f"{name:7} 1 core {took[1]:6.2f} s, {given.cores} {took[given.cores]:6.2f} s: {ratios[-1]:.3f}")
        least, most = min(ratios), max(ratios)
        print(f"{name:7} median {statistics.median(ratios):.3f}, from {least:.3f} to {most:.3f}", flush=True)


if __name__ == "__main__":
    main()
