"""Latency beside a load, by queue and by congestion control (`make latency-queues-picture`).

Runs scenarios/latency.toml, draws the round-trip times of its probes over time, and prints a table for docs/latency.md.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import tomllib
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch import Result, latency_grade, plots, sweep

SCENARIO = Path(__file__).parents[2] / "scenarios" / "latency.toml"
REPLICAS = 5
QUEUE_COLORS = [plots.VERMILION, plots.ORANGE, plots.GREEN, plots.BLUE]
CONTROL_COLORS = [plots.VERMILION, plots.PINK, plots.BLACK]
"""The first of both is the same run: CUBIC with drop-tail."""
NAMES = {
    "cubic": "CUBIC",
    "bbr": "BBR",
    "ledbat-pp": "LEDBAT++",
    "codel": "CoDel",
    "fq-codel": "FQ-CoDel",
    "pie": "PIE",
}
PHASES = {"idle": (0.0, 5.0), "down": (5.0, 15.0), "both": (15.0, 25.0), "up": (25.0, 35.0)}
TICKS = [20, 30, 50, 100, 200, 500]


def kind(queue: str) -> str:
    """The kind of a queue, as people call it."""
    found: str = tomllib.loads(f"queue = {queue}")["queue"]["kind"]
    return NAMES.get(found, found)


def panel(axes: Axes, title: str, found: dict[str, pl.DataFrame], colors: list[str]) -> None:
    """The round-trip times of some runs over time, with the phases shaded."""
    for (name, series), color in zip(found.items(), colors, strict=True):
        axes.plot(series["time"], series["value"] * 1e3, ".", markersize=1.8, color=color, label=name)
    for number, (name, (left, right)) in enumerate(PHASES.items()):
        axes.axvspan(left, right, color="0.92" if number % 2 else "0.97", zorder=0, linewidth=0)
        axes.text((left + right) / 2, TICKS[-1] * 0.96, name, ha="center", va="top", fontsize=7)
    axes.set_yscale("log")
    axes.set_yticks(TICKS, [str(tick) for tick in TICKS])
    axes.yaxis.minorticks_off()
    axes.set(xlabel="time [s]", xlim=(0, PHASES["up"][1]), ylim=(TICKS[0] * 0.93, TICKS[-1]))
    axes.set_title(title, loc="left", fontsize=7)
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=4, frameon=False, markerscale=4, fontsize=7,
        handletextpad=0, columnspacing=0.8,
    )  # fmt: skip


def draw(result: Result) -> Figure:
    """Left the queues with CUBIC, right the congestion controls with a drop-tail queue; each in one run."""
    runs = result.series.filter((pl.col("quantity") == "probe-rtt") & (pl.col("replica") == 0))
    groups = dict(runs.group_by("queue", "control", maintain_order=True))
    drop_tail = next(queue for queue, _ in groups)
    figure = plots.new_figure(5.6, 2.6)
    left, right = figure.subplots(1, 2, sharey=True)
    queues = {kind(queue): series for (queue, control), series in groups.items() if control == "cubic"}
    controls = {NAMES[control]: series for (queue, control), series in groups.items() if queue == drop_tail}
    panel(left, "queues, with CUBIC", queues, QUEUE_COLORS)
    panel(right, "congestion controls, with drop-tail", controls, CONTROL_COLORS)
    left.set_ylabel("RTT of probes [ms]")
    return figure


def table(result: Result) -> str:
    """A row of Markdown for each queue and control: added latency, its grade, and the throughput of the load."""
    lines = ["| queue | control | added latency | grade | download | upload |", "|---|---|---|---|---|---|"]
    whole = result.scalars.filter((pl.col("window") == "") & pl.col("path").is_null())
    for (queue, control), rows in whole.group_by("queue", "control", maintain_order=True):
        mean = {
            (flow, quantity): statistics.fmean(group["value"])
            for (flow, quantity), group in rows.group_by("flow", "quantity")
        }
        added = mean["latency", "echo_rtt_added_s"]
        rates = [f"{mean[flow, 'throughput_bps'] / 1e6:.1f} Mbit/s" for flow in ("download", "upload")]
        cells = [kind(queue), NAMES[control], f"{added * 1e3:.1f} ms", latency_grade(added), *rates]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(picture: Path) -> None:
    """Runs the scenario, prints the table, and writes the picture."""
    with tempfile.TemporaryDirectory(prefix="anabranch-") as out:
        result = sweep(SCENARIO, replicas=REPLICAS, out=out)
    print(table(result))
    with plots.style():
        plots.save_small(draw(result), picture, dpi=130)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
