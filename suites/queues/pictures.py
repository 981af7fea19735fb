"""Step responses of queues: `python suites/queues/pictures.py docs/figures` (`make queue-pictures`).

The picture of a queue shows how long packets wait in it: one TCP flow sends all the time, and four more for a while.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from anabranch import plots, sweep

SCENARIO = Path(__file__).with_name("step.toml")
UNTIL = 40.0
STEP = (10.0, 30.0)
SETTLED = 15.0
"""Time in seconds: means are computed from then on, and the peak is the maximum before."""
MS_PER_PACKET = 1500 * 8 / 10e6 * 1000
GREY = plots.Look("drop-tail, 200 ms", "0.75", "-")


def draw(name: str, queue: pl.DataFrame, drop_tail: pl.DataFrame, most: float) -> Figure:
    """Draws the waiting time in a queue over time, and behind it that in a drop-tail queue, up to ``most`` ms."""
    figure = plots.new_figure(5.2, 1.9)
    axes = figure.subplots()
    looks = [(drop_tail, GREY)] if name != "drop-tail" else []
    for series, look in [*looks, (queue, plots.Look(name, plots.VERMILION, "-"))]:
        plots.steps(axes, series["time"].to_list(), (series["value"] * MS_PER_PACKET).to_list(), until=UNTIL, look=look)
    axes.axvspan(*STEP, color="0.95", zorder=0)
    axes.set(xlabel="time [s]", ylabel="queueing delay [ms]", xlim=(0, UNTIL))
    axes.set_ylim(0, 1.05 * most)
    axes.set_title("one TCP flow, five in the grey time", loc="left", fontsize=7)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
    return figure


def main(folder: Path) -> None:
    """Runs the scenario with each queue, prints the delays, and writes a picture for each."""
    kinds = [queue["kind"] for queue in tomllib.loads(SCENARIO.read_text(encoding="utf-8"))["link"][0]["queue"]["vary"]]
    with tempfile.TemporaryDirectory(prefix="anabranch-") as out:
        result = sweep(SCENARIO, replicas=1, out=out)
    most = max(result.series["value"].to_list()) * MS_PER_PACKET
    of_run = [result.series.filter(pl.col("run") == run) for run in range(len(kinds))]
    for name, series in zip(kinds, of_run, strict=True):
        delays = [(time, value * MS_PER_PACKET) for time, value in series.select("time", "value").iter_rows()]
        loaded = [delay for time, delay in delays if SETTLED <= time <= STEP[1]]
        peak = max(delay for time, delay in delays if STEP[0] <= time <= SETTLED)
        print(f"{name}: mean under load {sum(loaded) / len(loaded):.0f} ms, peak after the step {peak:.0f} ms")
        with plots.style():
            plots.save_small(draw(name, series, of_run[0], most), folder / f"queue-{name}.png", dpi=130)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
