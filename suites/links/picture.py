"""The picture of docs/links.md: `python suites/links/picture.py docs/figures/rates.png` (`make link-picture`).

It shows each kind of rate that changes, as the throughput of a flow that always fills the link.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import mean, pstdev

import polars as pl
from matplotlib.figure import Figure

from anabranch import plots, sweep

SCENARIO = Path(__file__).with_name("rates.toml")
BEGIN = 5.0
MEANS = {"lte": 20.0, "wifi": 20.0, "satellite": 20.0}
"""The long-term means of the models in Mbit/s."""
BURSTS = "bursts.deliveries"
SHOWN = {"lte": 20.0, "wifi": 3.0, "satellite": 60.0, "evening.csv": 24.0, BURSTS: 0.25}
"""The models and files, in the order of the scenario, and how many seconds of each are shown."""
FINE = 125
"""Number of points of the finer probe, which follow those of the other probe in the series."""


def draw(rates: dict[str, pl.DataFrame]) -> Figure:
    """The rate over time, one model or file below the other."""
    figure = plots.new_figure(5.2, 7.2)
    rows = figure.subplots(len(rates), 1)
    for axes, (name, series) in zip(rows, rates.items(), strict=True):
        shown = series.filter(pl.col("time") <= BEGIN + SHOWN[name])
        time, rate = (shown["time"] - BEGIN).to_list(), (shown["value"] / 1e6).to_list()
        axes.plot(time, rate, drawstyle="steps-pre", color=plots.BLUE, linewidth=0.9)
        if name in MEANS:
            axes.axhline(MEANS[name], color="0.6", linewidth=0.8, linestyle=(0, (4, 2)))
        axes.set(xlabel="time [s]", ylabel="rate [Mbit/s]", xlim=(0, SHOWN[name]))
        axes.set_ylim(bottom=0)
        axes.set_title(name, loc="left", fontsize=8)
    return figure


def main(path: Path) -> None:
    """Runs the scenario with each kind of rate, prints the means, and draws them."""
    with tempfile.TemporaryDirectory(prefix="anabranch-") as out:
        result = sweep(SCENARIO, replicas=1, out=out)
    both = {name: result.series.filter(pl.col("run") == run) for run, name in enumerate(SHOWN)}
    rates = {name: series.head(-FINE) for name, series in both.items()}
    for name, series in rates.items():
        values = [value / 1e6 for (value,) in series.select("value").iter_rows()]
        print(f"{name}: mean {mean(values):.1f} Mbit/s, coefficient of variation {pstdev(values) / mean(values):.2f}")
    with plots.style():
        plots.save_small(draw(rates | {BURSTS: both[BURSTS].tail(FINE)}), path, dpi=130)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
