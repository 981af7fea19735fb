"""Which paths share a bottleneck: `python suites/controls/bottlenecks.py docs/controls/bottlenecks.png`."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from anabranch import plots, run

SCENARIO = Path(__file__).with_name("bottlenecks.toml")
UNTIL = 20.0
LOOKS = [
    plots.Look("paths 0 and 1, over one link", plots.VERMILION, (0, (4, 1))),
    plots.Look("", plots.ORANGE, (0, (1, 1))),
    plots.Look("path 2, over a link of its own", plots.BLUE, "-"),
]


def draw(series: pl.DataFrame) -> Figure:
    """Round-trip times above, and below with how many paths each path may share a bottleneck."""
    figure = plots.new_figure(5.2, 2.7)
    times, coupled = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    for number, look in enumerate(LOOKS):
        for axes, quantity, unit in ((times, "srtt", 1e3), (coupled, "cc:coupled", 1)):
            of_path = series.filter(pl.col("quantity") == quantity, pl.col("path") == number)
            plots.steps(axes, of_path["time"].to_list(), (of_path["value"] * unit).to_list(), until=UNTIL, look=look)
    times.set(ylabel="smoothed RTT [ms]", xlim=(0, UNTIL), ylim=(35, 95))
    coupled.set(ylabel="coupled paths", xlabel="time [s]", ylim=(0.5, 3.5), yticks=[1, 2, 3])
    times.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
    links = "each link: 20 Mbit/s, RTT 40 ms without queues, drop-tail queue of one BDP"
    figure.supxlabel(f"{links}; two TCP flows beside paths 0 and 1; one run", fontsize=6, color="0.35")
    return figure


def main(path: Path) -> None:
    """Runs the scenario and draws the picture."""
    series = run(SCENARIO).series
    with plots.style():
        plots.save_small(draw(series), path, dpi=130)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
