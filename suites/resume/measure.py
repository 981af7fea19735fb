"""What `resume = "return"` of the recommended options changes over random topologies, for docs/resume.md.

    python suites/resume/measure.py --seed 31001 --seeds 3 --outages 60 --others 20

Takes the first draws of `anabranch bonding --random` of each seed that have an outage, and the first that have none.
Each runs with the recommended options, with and without the option. Prints the mean change of throughput and of the
longest stall, each with its 95 % interval. Use seeds that nobody has looked at. Finished runs are kept.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from anabranch.statistics import Estimate, estimate
from anabranch.suites.bonding import random_draws
from anabranch.suites.bonding.draws import Draw, draw
from anabranch.suites.bonding.measure import RECOMMENDED
from anabranch.suites.running import Runner, Running

REPLICAS = 3
OFF = "off"


def draws(seed: int, fails: bool) -> Iterator[Draw]:
    """The draws of a seed in which a path fails, or those in which none does."""
    return (one for one in (draw(seed, n) for n in count(1)) if any(line.outage for line in one.lines) == fails)


def measure(one: Draw, out: Path) -> tuple[float, float, bool]:
    """The logarithm of the ratio of throughputs, the change of the longest stall in seconds, whether all is equal."""
    made = dict(random_draws.scenarios(one, [RECOMMENDED]))["together"]
    made["sctp"] = made["sctp"] | {OFF: made["sctp"][RECOMMENDED] | {"resume": OFF}}
    made["flow"] = [made["flow"][0] | {"sctp": {"name": "options", "vary": [OFF, RECOMMENDED]}}]
    result = Runner(f"draw-{one.seed}-{one.number}", Running(out, REPLICAS, one.root_seed), None)("resume", made)
    found = random_draws._throughputs(result, "options")
    before, after = found[OFF], found[RECOMMENDED]
    stalls = random_draws._stalls(result, "options") if "probe" in made else {OFF: 0.0, RECOMMENDED: 0.0}
    ratio = statistics.fmean(after) / statistics.fmean(before)
    return math.log(ratio), stalls[RECOMMENDED] - stalls[OFF], before == after


def shown(found: Estimate, factor: float, digits: int) -> str:
    """Mean, interval, and the mean in standard errors."""
    errors = found.mean / found.half_width * 1.96 if found.half_width else 0.0
    return f"{factor * found.mean:+.{digits}f} ± {factor * found.half_width:.{digits}f} ({errors:+.1f} standard errors)"


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds (1)")
    parser.add_argument("--outages", type=int, default=60, help="draws with an outage of each seed (60)")
    parser.add_argument("--others", type=int, default=20, help="draws without one of each seed (20)")
    parser.add_argument("--out", type=Path, default=Path("out/resume"), help="folder of runs (out/resume)")
    args = parser.parse_args()
    seeds = range(args.seed, args.seed + args.seeds)
    print("| draws | of seed | number | throughput [%] | longest stall [s] | without any change |")
    print("|---|---|---|---|---|---|")
    for name, fails, number in ("with an outage", True, args.outages), ("without", False, args.others):
        every = []
        for seed in seeds:
            found = [measure(one, args.out) for one in islice(draws(seed, fails), number)]
            every += found
            print(row(name, str(seed), found), flush=True)
        print(row(name, "all", every), flush=True)


def row(name: str, seed: str, found: list[tuple[float, float, bool]]) -> str:
    """A line of the table."""
    ratios, stalls, same = zip(*found, strict=True)
    cells = shown(estimate(ratios), 100, 2), shown(estimate(stalls), 1, 3)
    return f"| {name} | {seed} | {len(found)} | {cells[0]} | {cells[1]} | {sum(same)} |"


if __name__ == "__main__":
    main()
