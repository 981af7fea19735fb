"""The figures of paper 000, drawn as in the paper, and checks of its claims about the shape of curves."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from anabranch import plots
from anabranch.plots import BLUE, GREEN, ORANGE, VERMILION, Look
from anabranch.reproduce import FigureData
from anabranch.verdict import Point, above, at_least, at_most, below

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
"""Bytes to which the window of an idle path decays (RFC 4960, section 7.2.1); the initial window is smaller."""


def figure_3_left(data: FigureData) -> Figure:
    """Throughput as a function of the rate of the links."""
    return _throughput(data, "rho", FLOWS, "Data rate of each path ρ [Mbit/s]")


def figure_3_right(data: FigureData) -> Figure:
    """Throughput as a function of the number of flows."""
    figure = _throughput(data, "N", FLOWS, "Number of background flows N")
    figure.axes[0].xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def figure_5_left(data: FigureData) -> Figure:
    """Throughput of the reference flow and of a multipath flow over disjoint paths."""
    figure = _throughput(data, "rho", BESIDE, "Data rate of each path ρ [Mbit/s]")
    _fractions(figure.axes[0], {"ρ/2": 1 / 2})
    return figure


def figure_5_right(data: FigureData) -> Figure:
    """Throughput of the reference flow and of a multipath flow over one bottleneck."""
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
    """Draws thin labelled lines at fractions of the rate, for orientation."""
    end = axes.get_xlim()[1]
    top = max(axes.get_ylim()[1], *(slope * end for slope in lines.values()))
    for label, slope in lines.items():
        axes.plot([0, end], [0, slope * end], color="0.6", linewidth=0.6, linestyle="-", zorder=0)
        axes.annotate(label, (end, slope * end), xytext=(3, 0), textcoords="offset points", va="center")
    axes.set_xlim(left=0, right=end)
    axes.set_ylim(bottom=0, top=top)


def figure_4(data: FigureData) -> Figure:
    """Cwnd (solid) and ssthresh (dotted) of both paths and their sums, one panel for each variant."""
    figure = plots.new_figure(plots.PAGE_WIDTH, 6.4)
    panels = figure.subplots(3, 1, sharex=True, sharey=True)
    for axes, (variant, look) in zip(panels, FLOWS.items(), strict=True):
        for quantity, letter, line in (("cwnd", "c", "-"), ("ssthresh", "s", ":")):
            paths = [trace(data, variant, quantity, path) for path in (0, 1)]
            for number, (found, color) in enumerate(zip(paths, (VERMILION, GREEN), strict=True), start=1):
                _draw(axes, found, Look(f"{quantity} of path {number} (${letter}_{number}$)", color, line))
            _draw(axes, total(paths), Look(f"sum of both {quantity} (${letter.upper()}$)", BLUE, line))
        axes.set_title(look.label, loc="left")
        axes.set_ylabel("Window [KiB]")
        axes.set_xlim(*WINDOW)
    panels[0].set_ylim(bottom=0)
    panels[-1].set_xlabel("Time [s]")
    # The panel of CMT has every curve; one path of plain SCTP never has an ssthresh.
    handles, labels = panels[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    data.foot(figure, "the first of them")
    return figure


def _draw(axes: Axes, found: pl.DataFrame, look: Look) -> None:
    """Draws the part of a trace inside the time window, beginning with the value at the start of the window."""
    before = found.filter(pl.col("time") <= WINDOW[0]).tail(1)
    shown = pl.concat([before, found.filter(pl.col("time").is_between(*WINDOW, closed="right"))])
    values = [v / 1024 for v in shown["value"]]
    plots.steps(axes, shown["time"].to_list(), values, until=WINDOW[1], look=look)


def trace(data: FigureData, variant: str, quantity: str, path: int, replica: int = 0) -> pl.DataFrame:
    """Time and value of a probe in one run; empty if the quantity was never set."""
    wanted = (pl.col("quantity") == quantity) & (pl.col("path") == path)
    series = data.result.series.join(run_of(data, variant, replica), on="run", how="semi")
    return series.filter(wanted & pl.col("value").is_finite()).select("time", "value").sort("time", maintain_order=True)


def run_of(data: FigureData, variant: str, replica: int) -> pl.DataFrame:
    """The run of a variant and replica."""
    wanted = (pl.col("variant") == variant) & (pl.col("replica") == replica)
    return data.result.scalars.filter(wanted).select("run").unique()


def total(paths: list[pl.DataFrame]) -> pl.DataFrame:
    """The sum of two traces at every instant at which one of them changes; empty if one was never set."""
    if any(path.is_empty() for path in paths):
        return paths[0].clear()
    first, second = (path.unique("time", keep="last", maintain_order=True) for path in paths)
    times = pl.concat([first.select("time"), second.select("time")]).unique().sort("time")
    joined = times.join_asof(first.rename({"value": "a"}), on="time").join_asof(
        second.rename({"value": "b"}), on="time"
    )
    return joined.drop_nulls().select("time", (pl.col("a") + pl.col("b")).alias("value"))


def held(found: pl.DataFrame, step: float = 0.01) -> list[float]:
    """The values of a trace at regular instants over its whole length."""
    if found.is_empty():
        return []
    first, last = found["time"][0], found["time"][-1]
    grid = pl.DataFrame({"time": [first + step * i for i in range(int((last - first) / step) + 1)]})
    return grid.join_asof(found, on="time", strategy="backward")["value"].to_list()


def cuts(found: pl.DataFrame) -> int:
    """Number of times that the value fell by a fifth or more at once."""
    return sum(later < 0.8 * earlier for earlier, later in pairwise(found["value"].to_list()))


def second_path_of_sctp_is_idle(data: FigureData) -> list[Point]:
    """The cwnd of path 2 never exceeds that of an idle path, and its ssthresh is never set."""
    largest = [max(trace(data, "sctp", "cwnd", 1, r)["value"].to_list(), default=0.0) for r in range(data.replicas)]
    settings = [trace(data, "sctp", "ssthresh", 1, r).height for r in range(data.replicas)]
    return [
        Point("largest c2", largest, at_most(IDLE_WINDOW), "bytes"),
        Point("settings of s2", settings, below(1, every_run=True)),
    ]


def first_path_of_sctp_is_a_sawtooth(data: FigureData) -> list[Point]:
    """Cwnd is cut at least once every ten seconds, and grows between the cuts."""
    windows = [trace(data, "sctp", "cwnd", 0, replica) for replica in range(data.replicas)]
    number = [cuts(found) for found in windows]
    rises = [sum(later > earlier for earlier, later in pairwise(found["value"].to_list())) for found in windows]
    more = [up - down for up, down in zip(rises, number, strict=True)]
    return [Point("cuts in 30 s", number, at_least(3)), Point("steps up, less cuts", more, above(0))]


def paths_of_cmt_are_two_sawtooths(data: FigureData) -> list[Point]:
    """Both windows are cut often, and their means differ by less than a quarter."""
    fewer: list[int] = []
    alike: list[float] = []
    for replica in range(data.replicas):
        paths = [trace(data, "cmt", "cwnd", path, replica) for path in (0, 1)]
        fewer.append(min(cuts(path) for path in paths))
        mean = [sum(values) / max(len(values), 1) for values in map(held, paths)]
        alike.append(min(mean) / max(mean))
    return [
        Point("cuts of the path with fewer", fewer, at_least(3)),
        Point("smaller mean window over the larger", alike, above(0.75)),
    ]


def small_side(data: FigureData, replica: int) -> list[int]:
    """For every 10 ms of a CMT/RP run: the path whose ssthresh is below a quarter of the total, else -1.

    In equations 9 and 10 the window of a path grows in proportion to this share.
    """
    first, second = (held(trace(data, "cmt-rp", "ssthresh", path, replica)) for path in (0, 1))
    sides: list[int] = []
    for a, b in zip(first, second, strict=False):
        sides.append(0 if a < 0.25 * (a + b) else 1 if b < 0.25 * (a + b) else -1)
    return sides


def one_path_of_rp_is_held_down(data: FigureData) -> list[Point]:
    """The ssthresh of one path stays below a quarter of the total for a whole second."""
    found: list[float] = []
    for replica in range(data.replicas):
        longest, current, previous = 0, 0, -1
        for side in small_side(data, replica):
            current = current + 1 if side == previous and side >= 0 else int(side >= 0)
            previous = side
            longest = max(longest, current)
        found.append(longest / 100)
    return [Point("longest time below a quarter of S", found, at_least(1.0), "s")]


def paths_of_rp_change_places(data: FigureData) -> list[Point]:
    """During the 30 s of the measurement each path has the small ssthresh at some time."""
    sides = [small_side(data, replica) for replica in range(data.replicas)]
    shorter = [min(found.count(path) for path in (0, 1)) / 100 for found in sides]
    return [Point("time below a quarter of S, path with less", shorter, above(0), "s")]
