"""``anabranch bonding``."""

from __future__ import annotations

from . import bonding, bonding_table
from .suite_command import Suite

SUITE = Suite(
    name="bonding",
    description="Is the aggregate slower than the best link? Schedulers and the recommended options over two paths, "
    "beside the best single path and the sum, and what a path that dies costs the other.",
    epilog="An aggregate that is slower is a result, not a failure. A suite that was stopped goes on where it was.",
    replicas=bonding.DEFAULT_REPLICAS,
    choice=("--options", "A,B", "which sets of options of suites/bonding/bonding.toml (default: all there are)"),
    chosen=bonding.chosen,
    measure=bonding.measure,
    legend=bonding_table.legend,
    grids=bonding_table.grids,
    draw=bonding_table.draw,
)
