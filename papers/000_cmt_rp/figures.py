"""The figures of paper 000, drawn as the paper draws them, and its claims about shapes."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from anabranch import plots
from anabranch.plots import BLUE, GREEN, ORANGE, VERMILION, Look
from anabranch.reproduce import FigureData

FLOWS = {
    "sctp": Look("SCTP (CMT off)", VERMILION, "--", "s"),
    "cmt": Look("CMT", BLUE, "-", "o"),
    "cmt-rp": Look("CMT/RP", ORANGE, ":", "^"),
}
BESIDE = {
    "cmt": Look("beside CMT", BLUE, "-", "o"),
    "cmt-rp": Look("beside CMT/RP", ORANGE, ":", "^"),
}
WINDOW = (20.0, 23.0)
"""The three seconds that figure 4 shows: from 19 s after the start of transmission."""
IDLE_WINDOW = 4 * 1500
"""Bytes to which the window of an idle path falls (RFC 4960, section 7.2.1); the first window is smaller."""


def figure_3_left(data: FigureData) -> Figure:
    """Throughput over the rate of the links."""
    return _throughput(data, "rho", FLOWS, "Data rate of each path ρ [Mbit/s]")


def figure_3_right(data: FigureData) -> Figure:
    """Throughput over the number of flows."""
    figure = _throughput(data, "N", FLOWS, "Number of background flows N")
    figure.axes[0].xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def figure_5_left(data: FigureData) -> Figure:
    """The reference flow beside a multipath flow, disjoint paths."""
    figure = _throughput(data, "rho", BESIDE, "Data rate of each path ρ [Mbit/s]")
    _fractions(figure.axes[0], {"ρ/2": 1 / 2})
    return figure


def figure_5_right(data: FigureData) -> Figure:
    """The reference flow beside a multipath flow, one bottleneck."""
    figure = _throughput(data, "rho", BESIDE, "Data rate of the bottleneck ρ [Mbit/s]")
    _fractions(figure.axes[0], {"ρ/2": 1 / 2, "ρ/3": 1 / 3})
    return figure


def _throughput(data: FigureData, x: str, looks: dict[str, Look], label: str) -> Figure:
    figure = plots.new_figure()
    axes = figure.subplots()
    plots.curves(axes, data.summary(number=x), x=x, series="variant", looks=looks, marks=data.marks(x))
    axes.set_xlabel(label)
    axes.set_ylabel("Payload throughput [Mbit/s]")
    data.foot(figure)
    return figure


def _fractions(axes: Axes, lines: dict[str, float]) -> None:
    """Thin lines at fractions of the rate, as orientation, named where they end."""
    end = axes.get_xlim()[1]
    top = max(axes.get_ylim()[1], *(slope * end for slope in lines.values()))
    for label, slope in lines.items():
        axes.plot([0, end], [0, slope * end], color="0.6", linewidth=0.6, linestyle="-", zorder=0)
        axes.annotate(label, (end, slope * end), xytext=(3, 0), textcoords="offset points", va="center")
    axes.set_xlim(left=0, right=end)
    axes.set_ylim(bottom=0, top=top)


def figure_4(data: FigureData) -> Figure:
    """Windows (solid) and thresholds (dotted) of both paths and their sums, one panel a variant."""
    figure = plots.new_figure(plots.PAGE_WIDTH, 6.0)
    panels = figure.subplots(3, 1, sharex=True)
    for axes, (variant, look) in zip(panels, FLOWS.items(), strict=True):
        for quantity, letter, line in (("cwnd", "c", "-"), ("ssthresh", "s", ":")):
            paths = [trace(data, variant, quantity, path) for path in (0, 1)]
            for number, (found, color) in enumerate(zip(paths, (VERMILION, GREEN), strict=True), start=1):
                _draw(axes, found, Look(f"${letter}_{number}$", color, line))
            _draw(axes, total(paths), Look(f"${letter.upper()}$", BLUE, line))
        axes.set_title(look.label, loc="left")
        axes.set_ylabel("[KiB]")
        axes.set_ylim(bottom=0)
        axes.set_xlim(*WINDOW)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    panels[-1].set_xlabel("Time [s]")
    data.foot(figure)
    return figure


def _draw(axes: Axes, found: pl.DataFrame, look: Look) -> None:
    """The part of a trace within the window, with the value it enters the window with."""
    before = found.filter(pl.col("time") <= WINDOW[0]).tail(1)
    shown = pl.concat([before, found.filter(pl.col("time").is_between(*WINDOW, closed="right"))])
    values = [v / 1024 for v in shown["value"]]
    plots.steps(axes, shown["time"].to_list(), values, until=WINDOW[1], look=look)


def trace(data: FigureData, variant: str, quantity: str, path: int) -> pl.DataFrame:
    """Time and value of a probe; empty if the quantity was never set."""
    wanted = (pl.col("quantity") == quantity) & (pl.col("path") == path)
    series = data.result.series.join(runs_of(data, variant), on="run", how="semi")
    return series.filter(wanted & pl.col("value").is_finite()).select("time", "value").sort("time", maintain_order=True)


def runs_of(data: FigureData, variant: str) -> pl.DataFrame:
    """The runs of a variant."""
    return data.result.scalars.filter(pl.col("variant") == variant).select("run").unique()


def total(paths: list[pl.DataFrame]) -> pl.DataFrame:
    """The sum of two traces at every instant at which either changes; empty if one was never set."""
    if any(path.is_empty() for path in paths):
        return paths[0].clear()
    first, second = (path.unique("time", keep="last", maintain_order=True) for path in paths)
    times = pl.concat([first.select("time"), second.select("time")]).unique().sort("time")
    joined = times.join_asof(first.rename({"value": "a"}), on="time").join_asof(
        second.rename({"value": "b"}), on="time"
    )
    return joined.drop_nulls().select("time", (pl.col("a") + pl.col("b")).alias("value"))


def held(found: pl.DataFrame, step: float = 0.01) -> list[float]:
    """The trace at regular instants over its whole length."""
    if found.is_empty():
        return []
    first, last = found["time"][0], found["time"][-1]
    grid = pl.DataFrame({"time": [first + step * i for i in range(int((last - first) / step) + 1)]})
    return grid.join_asof(found, on="time", strategy="backward")["value"].to_list()


def cuts(found: pl.DataFrame) -> int:
    """How often the value fell by a fifth and more at once."""
    return sum(later < 0.8 * earlier for earlier, later in pairwise(found["value"].to_list()))


def second_path_of_sctp_is_idle(data: FigureData) -> tuple[bool, str]:
    """The window of path 2 is never above what an idle path keeps, and its threshold is never set."""
    windows = trace(data, "sctp", "cwnd", 1)["value"].to_list()
    threshold = trace(data, "sctp", "ssthresh", 1)
    most = max(windows, default=0.0)
    return most <= IDLE_WINDOW and threshold.is_empty(), f"c2 at most {most:.0f} B; s2 set {threshold.height} times"


def first_path_of_sctp_is_a_sawtooth(data: FigureData) -> tuple[bool, str]:
    """At least a cut every ten seconds, and growth between the cuts."""
    found = trace(data, "sctp", "cwnd", 0)
    number = cuts(found)
    rises = sum(later > earlier for earlier, later in pairwise(found["value"].to_list()))
    return number >= 3 and rises > number, f"{number} cuts in 30 s"


def paths_of_cmt_are_two_sawtooths(data: FigureData) -> tuple[bool, str]:
    """Both are cut often, and their mean windows differ by less than a quarter."""
    paths = [trace(data, "cmt", "cwnd", path) for path in (0, 1)]
    number = [cuts(path) for path in paths]
    mean = [sum(values) / max(len(values), 1) for values in map(held, paths)]
    alike = min(mean) > 0.75 * max(mean)
    text = f"{number[0]} and {number[1]} cuts, means {mean[0] / 1024:.0f} and {mean[1] / 1024:.0f} KiB"
    return min(number) >= 3 and alike, text


def small_side(data: FigureData) -> list[int]:
    """For every 10 ms of the CMT/RP run: the path whose threshold is under a quarter of the total, else -1.

    That share is what its window grows by (equations 9 and 10).
    """
    first, second = (held(trace(data, "cmt-rp", "ssthresh", path)) for path in (0, 1))
    sides: list[int] = []
    for a, b in zip(first, second, strict=False):
        sides.append(0 if a < 0.25 * (a + b) else 1 if b < 0.25 * (a + b) else -1)
    return sides


def one_path_of_rp_is_held_down(data: FigureData) -> tuple[bool, str]:
    """The threshold of one path stays under a quarter of the total for a second without a break."""
    longest, current, previous = 0, 0, -1
    for side in small_side(data):
        current = current + 1 if side == previous and side >= 0 else int(side >= 0)
        previous = side
        longest = max(longest, current)
    return longest >= 100, f"longest {longest / 100:.1f} s with less than a quarter of S"


def paths_of_rp_change_places(data: FigureData) -> tuple[bool, str]:
    """Over the 30 s of the measurement each path is the small one at some time."""
    sides = small_side(data)
    times = [sides.count(path) / 100 for path in (0, 1)]
    return min(times) > 0, f"less than a quarter of S: s1 for {times[0]:.1f} s, s2 for {times[1]:.1f} s"
