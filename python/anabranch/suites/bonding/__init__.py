"""``anabranch bonding`` shows whether several paths together are faster than the best one."""

from __future__ import annotations

from ..command import Suite
from . import measure, table

SUITE = Suite(
    name="bonding",
    description="Is the aggregate slower than the best link? Runs schedulers and the recommended options over two "
    "paths, compares them with the best single path and with the sum of both, and measures how long a path that fails "
    "stops the other one.",
    epilog="Exit codes: 0 success, 1 a run failed, 2 wrong arguments, 3 a target of --random or --path was missed. In "
    "the suite an aggregate that is slower is a result, not a failure. Calls that were stopped reuse finished runs.",
    examples=('--path "50/10 Mbit/s, 24 ms, 0.2 %" --path "30/10 Mbit/s, 60 ms, lte"', "--random 10"),
    replicas=measure.DEFAULT_REPLICAS,
    choice=("--options", "A,B", "sets of options of suites/bonding/bonding.toml to compare (default: all)"),
    chosen=measure.chosen,
    measure=measure.measure,
    sweeps=measure.sweeps,
    legend=table.legend,
    grids=table.grids,
    draw=table.draw,
)
