"""Measures the cost of a stored sweep by number of runs: a first sweep, its repetition, and a merge of two halves.

``python benches/store.py 1000 10000 100000`` prints a line for each number of runs, with CPU time and wall time of each step in
microseconds for one run. The runs are as short as possible, so that nearly all of the cost is that of storing and
reading.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anabranch

SCENARIO = """
[[node]]
name = "a"
jitter = "20 us"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
rate = { name = "rate", vary = ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s", "4 Mbit/s"] }
[[flow]]
name = "f"
client = "a"
server = "b"
protocol = "UDP"
connect_time = "0 s"
start_time = "0 s"
reset_time = "0 s"
stop_time = "100 ms"
frame_rate = "10 Hz"
[[probe]]
quantity = "queue"
link = "a-b"
"""
POINTS = 4


def cost(runs: int, step: Callable[[], object]) -> str:
    """CPU and wall time of a step for each run."""
    cpu, wall = time.process_time(), time.perf_counter()
    step()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return f"{cpu / runs * 1e6:7.0f} us CPU {wall / runs * 1e6:7.0f} us wall"


def measure(runs: int, jobs: int, folder: Path) -> None:
    """Prints the costs of a sweep of so many runs."""

    def sweep() -> object:
        return anabranch.sweep(SCENARIO, replicas=runs // POINTS, jobs=jobs, out=folder / "all")

    print(f"{runs:7} runs, first: {cost(runs, sweep)}", flush=True)
    print(f"{'':13} again: {cost(runs, sweep)}", flush=True)
    print(f"{'':13} table: {cost(runs, lambda: anabranch.Result.read(folder / 'all').summary())}", flush=True)
    print(f"{'':13} merge: {cost(runs, lambda: anabranch.merge(folder / 'new', folder / 'all'))}", flush=True)


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=int, nargs="*", default=[1000, 10_000], help="numbers of runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="threads (default: all cores)")
    given = parser.parse_args()
    for runs in given.runs:
        with tempfile.TemporaryDirectory(prefix="anabranch-store-") as folder:
            measure(runs, given.jobs, Path(folder))


if __name__ == "__main__":
    main()
