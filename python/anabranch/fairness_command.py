"""``anabranch fairness``."""

from __future__ import annotations

from . import fairness, fairness_table
from .suite_command import Suite
from .suites import Report, Running


def _measure(running: Running, controls: tuple[str, ...], report: Report | None) -> fairness.Table:
    return fairness.measure(fairness.Options(controls, running), report)


SUITE = Suite(
    name="fairness",
    description="Put congestion controls through the three design rules of multipath transport: "
    "improve throughput, do no harm, balance congestion.",
    epilog="A broken rule is a result, not a failure. A suite that was stopped goes on where it was.",
    replicas=fairness.DEFAULT_REPLICAS,
    choice=("--controls", "A,B", "which (default: all there are)"),
    chosen=fairness.chosen,
    measure=_measure,
    legend=fairness_table.legend,
    grids=fairness_table.grids,
    draw=fairness_table.draw,
)
