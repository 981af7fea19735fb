"""Whether two paths take more than one path each: `python suites/fairness/one_path.py --out out/one-path`.

On disjoint paths, prints the throughput of the contender over each path alone, and over both, in Mbit/s. A TCP flow
in its place takes the first row.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from anabranch.result import Result
from anabranch.statistics import estimate
from anabranch.suites.fairness import measure
from anabranch.suites.running import Runner, Running

CONTROLS = (measure.RECOMMENDED, "cubic", "coupled-cubic")


def main(out: Path, replicas: int, seed: int) -> None:
    """Runs the topology `disjoint` beside CUBIC, over path 1, over path 2 and over both."""
    base = next(one for one in measure.topologies() if one.id == "disjoint").scenario()
    run = Runner("disjoint", Running(out, replicas, seed, None), None)
    one = [run(f"path-{n}", measure.over(measure.with_controls(base, CONTROLS), n)) for n in (1, 2)]
    tcp = run("tcp", measure.with_tcp(base, [1, 2]))
    both = run("both", measure.with_controls(base, CONTROLS))

    def rate(result: Result, **at: str) -> str:
        found = estimate(value / 1e6 for value in measure.samples(result, rival="cubic", **at).total)
        return f"{found.mean:.2f} ± {found.half_width:.2f}"

    print("| flow | path 1 alone | path 2 alone | both |\n|---|---|---|---|")
    first, second = (rate(tcp, network=axis) for axis in measure.networks(tcp))
    print(f"| TCP (CUBIC) | {first} | {second} | |")
    for control in CONTROLS:
        print(f"| {control} | " + " | ".join(rate(result, control=control) for result in (*one, both)) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/one-path"))
    parser.add_argument("--replicas", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    main(given.out, given.replicas, given.seed)
