"""Pictures of every congestion control at work: `python suites/controls/pictures.py docs/controls [CONTROL ...]`."""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from anabranch import plots, sweep
from anabranch.suites.fairness.measure import controls, with_controls

LOOKS = [
    plots.Look("path 0, beside two TCP flows in the grey time", plots.VERMILION, "-"),
    plots.Look("path 1, alone", plots.BLUE, (0, (4, 1))),
]
UNTIL = 90.0
COMPANY = (30.0, 60.0)
LONG = 780.0
LONG_MEMORY = ("ledbat", "ledbat-mp")
"""Controls that differ only in the length of the base delay history, in minutes. Pictures of 90 s would be equal."""


def draw(series: pl.DataFrame, until: float) -> Figure:
    """Windows of both paths above, queues of both links below, and the time in which two TCP flows share path 0."""
    figure = plots.new_figure(5.2, 2.7)
    windows, queues = figure.subplots(2, 1, sharex=True)
    for number, look in enumerate(LOOKS):
        cwnd = series.filter(pl.col("quantity") == "cwnd", pl.col("path") == number)
        plots.steps(windows, cwnd["time"].to_list(), (cwnd["value"] / 1500).to_list(), until=until, look=look)
        queue = series.filter(pl.col("quantity") == "queue", pl.col("flow") == f"link:tight{number + 1}")
        plots.steps(queues, queue["time"].to_list(), queue["value"].to_list(), until=until, look=look)
    for axes, label in ((windows, "cwnd [packets]"), (queues, "queue [packets]")):
        axes.axvspan(*COMPANY, color="0.9", zorder=0)
        axes.set(ylabel=label, xlim=(0, until))
        axes.set_ylim(bottom=0)
    windows.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
    queues.set_xlabel("time [s]")
    network = "each path: 10 Mbit/s, RTT 40 ms without queues, drop-tail queue of 125 packets; one run"
    figure.supxlabel(network, fontsize=6, color="0.35")
    return figure


def main(folder: Path, chosen: Sequence[str]) -> None:
    """Runs the scenario with each control and writes a picture for each."""
    scenario = tomllib.loads(Path(__file__).with_name("picture.toml").read_text(encoding="utf-8"))
    names = [name for name in controls() if name in chosen or not chosen]
    longer = {"flow.contender.stop_time": f"{LONG:g} s", "probe.*.to": f"{LONG:g} s", "probe.*.every": "1 s"}
    for until, some, values in (
        (UNTIL, [name for name in names if name not in LONG_MEMORY], {}),
        (LONG, [name for name in names if name in LONG_MEMORY], longer),
    ):
        if not some:
            continue
        with tempfile.TemporaryDirectory(prefix="anabranch-") as out:
            result = sweep(with_controls(scenario, some), replicas=1, set=values, out=out)
        for run, name in result.scalars.select("run", "control").unique().iter_rows():
            with plots.style():
                picture = draw(result.series.filter(pl.col("run") == run), until)
                plots.save_small(picture, folder / f"{name}.png", dpi=130)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
