"""``anabranch fairness`` shows which congestion controls keep the design rules of multipath transport."""

from __future__ import annotations

from ..command import Suite
from . import measure, picture, table

SUITE = Suite(
    name="fairness",
    description="Measures how well congestion controls keep the three design rules of multipath transport: "
    "improve throughput, do no harm, balance congestion.",
    epilog="A broken rule is a result, not a failure. A suite that was stopped reuses its finished runs.",
    examples=("", "--controls lia,olia,balia --replicas 10"),
    replicas=measure.DEFAULT_REPLICAS,
    choice=(
        "--controls",
        "A,B",
        "congestion controls to compare, or `recommended` for the recommended options (default: all)",
    ),
    chosen=measure.chosen,
    measure=measure.measure,
    sweeps=measure.sweeps,
    legend=table.legend,
    grids=table.grids,
    draw=picture.draw,
)
