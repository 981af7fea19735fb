"""The figures of paper 004, checks of its claims, and the same figures with its two defects repaired."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch import plots
from anabranch.plots import BLACK, BLUE, GREEN, ORANGE, VERMILION, Look
from anabranch.reproduce import FigureData
from anabranch.verdict import Band, Point, above, at_least, at_most, stated, within

SUBFLOWS = (Look("$F_0^0$ (north)", BLUE, "-"), Look("$F_0^1$ (south)", VERMILION, "--"))
TOTAL = Look("$F_0$ (total)", BLACK, (0, (1, 1)))
RENO = Look("Reno-SP", GREEN, "-.")
LIA = (Look("$F_1^0$ (LIA)", GREEN, "-."), Look("$F_1^1$ (LIA)", ORANGE, (0, (3, 1, 1, 1))))
PLAIN, REPAIRED = {"control": "ledbat-mp"}, {"control": "mpplus"}
LINKED = {"lia": "linked-slow-start"}
LEAST_WINDOW = 2 * 1500
"""Minimum cwnd of LEDBAT in bytes."""


def trace(
    data: FigureData,
    at: Mapping[str, str],
    quantity: str,
    flow: str = "background",
    path: int | None = None,
    *,
    replica: int = 0,
) -> pl.DataFrame:
    """Time and value of a probe in one run: of a flow, a link or a path."""
    runs = data.result.scalars.filter(*(pl.col(axis) == value for axis, value in at.items()))
    run = runs.filter(pl.col("replica") == replica)["run"][0]
    of = (pl.col("flow") == flow) & (pl.col("quantity") == quantity) & pl.col("path").eq_missing(path)
    return data.result.series.filter((pl.col("run") == run) & of).select("time", "value").sort("time")


def _draw(axes: Axes, found: pl.DataFrame, look: Look, scale: float) -> None:
    axes.plot(
        found["time"], found["value"] * scale, label=look.label, color=look.color, linestyle=look.line, linewidth=0.9
    )


def _panel(axes: Axes, label: str, end: float, begin: float = 0.0, columns: int = 3) -> None:
    axes.set_xlabel("Time [s]")
    axes.set_ylabel(label)
    axes.set_xlim(begin, end)
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, columnspacing=1.2, frameon=False)


def figure_2(data: FigureData) -> Figure:
    """Windows and throughput of both subflows and of the plain flow."""
    at = PLAIN
    figure = plots.new_figure(plots.PAGE_WIDTH, 2.6)
    windows, rates = figure.subplots(1, 2)
    for path, look in enumerate(SUBFLOWS):
        _draw(windows, trace(data, at, "cwnd", path=path), look, 1e-3)
        _draw(rates, trace(data, at, "sent-throughput", path=path), look, 1e-6)
    _draw(windows, trace(data, at, "cwnd", "reno", 0), RENO, 1e-3)
    _draw(rates, trace(data, at, "throughput", "reno"), RENO, 1e-6)
    _panel(windows, "Congestion window [kB]", 90)
    _panel(rates, "Payload throughput [Mbit/s]", 90)
    data.foot(figure, "the first of them")
    return figure


def figure_3(data: FigureData) -> Figure:
    """Windows of all four subflows and throughput of both flows."""
    at = PLAIN | LINKED
    figure = plots.new_figure(plots.PAGE_WIDTH, 2.6)
    windows, rates = figure.subplots(1, 2)
    for flow, looks in (("background", SUBFLOWS), ("lia", LIA)):
        for path, look in enumerate(looks):
            _draw(windows, trace(data, at, "cwnd", flow, path), look, 1e-3)
    _draw(rates, trace(data, at, "throughput"), Look("$F_0$ (LEDBAT-MP)", BLUE), 1e-6)
    _draw(rates, trace(data, at, "throughput", "lia"), Look("$F_1$ (LIA)", GREEN, "-."), 1e-6)
    _panel(windows, "Congestion window [kB]", 70, columns=4)
    _panel(rates, "Payload throughput [Mbit/s]", 70)
    data.foot(figure, "the first of them")
    return figure


def figure_4(data: FigureData) -> Figure:
    """Windows and round-trip times over 2000 s."""
    return _bottleneck(data, PLAIN)


def figure_4_repaired(data: FigureData) -> Figure:
    """As figure 4, with LEDBAT-MP+."""
    return _bottleneck(data, REPAIRED)


def _bottleneck(data: FigureData, at: Mapping[str, str]) -> Figure:
    figure = plots.new_figure(plots.PAGE_WIDTH, 4.6)
    grid = figure.subplots(3, 2, sharex=True, sharey="row")
    paths = [trace(data, at, "cwnd", path=path) for path in (0, 1)]
    for path, look in enumerate(SUBFLOWS):
        _envelope(grid[0][path], paths[path], look, 1e-3)
        _envelope(grid[1][path], trace(data, at, "srtt", path=path), look, 1e3)
        grid[0][path].set_title(look.label, loc="left")
    _envelope(grid[2][0], total(paths), TOTAL, 1e-3)
    grid[2][0].set_title("both together", loc="left")
    grid[2][1].set_axis_off()
    grid[2][1].text(0, 0.5, ENVELOPE, transform=grid[2][1].transAxes, va="center")
    for row, label in zip(grid, ("cwnd [kB]", "Smoothed RTT [ms]", "Sum of cwnd [kB]"), strict=True):
        row[0].set_ylabel(label)
        row[0].set_ylim(bottom=0)
    for axes in (grid[2][0], grid[1][1]):
        axes.set_xlabel("Time [s]")
    grid[1][1].tick_params(labelbottom=True)
    grid[0][0].set_xlim(0, 2000)
    figure.align_ylabels()
    data.foot(figure, "the first of them")
    return figure


ENVELOPE = "Bands: least to greatest value\nof each 10 s. Lines: their median."
BIN = 10.0
"""Width in seconds of the bins in which a curve of 2000 s is drawn as a band."""


def _envelope(axes: Axes, found: pl.DataFrame, look: Look, scale: float) -> None:
    """Draws the least and greatest value of each bin as a band, and the median as a line.

    The trace itself has more points than can be told apart.
    """
    value = pl.col("value") * scale
    bins = (
        found.group_by((pl.col("time") / BIN).floor().alias("bin"))
        .agg(value.min().alias("low"), value.max().alias("high"), value.median().alias("middle"))
        .sort("bin")
    )
    middle = (bins["bin"] + 0.5) * BIN
    axes.fill_between(middle, bins["low"], bins["high"], color=look.color, alpha=0.25, linewidth=0, step="mid")
    axes.plot(middle, bins["middle"], color=look.color, linewidth=0.9)


def total(paths: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The sum of traces that were probed at the same instants."""
    return pl.concat(paths).group_by("time").agg(pl.col("value").sum(), pl.len().alias("n")).filter(
        pl.col("n") == len(paths)
    ).sort("time")  # fmt: skip


def figure_5(data: FigureData) -> Figure:
    """Throughput of both subflows, of both together and of the plain flow."""
    return _joined(data, PLAIN)


def figure_5_repaired(data: FigureData) -> Figure:
    """As figure 5, with LEDBAT-MP+."""
    return _joined(data, REPAIRED)


def _joined(data: FigureData, at: Mapping[str, str]) -> Figure:
    figure = plots.new_figure()
    axes = figure.subplots()
    for path, look in enumerate(SUBFLOWS):
        _draw(axes, trace(data, at, "sent-throughput", path=path), look, 1e-6)
    _draw(axes, trace(data, at, "throughput"), TOTAL, 1e-6)
    _draw(axes, trace(data, at, "throughput", "reno"), RENO, 1e-6)
    _panel(axes, "Payload throughput [Mbit/s]", 2000, 1300, columns=2)
    data.foot(figure, "the first of them")
    return figure


def disjoint(data: FigureData) -> Figure:
    """Throughput of both controls alone on two disjoint paths."""
    figure = plots.new_figure(height=2.4)
    axes = figure.subplots()
    for at, look in ((PLAIN, Look("LEDBAT-MP", BLUE)), (REPAIRED, Look("LEDBAT-MP+", VERMILION, "--"))):
        _draw(axes, trace(data, at, "throughput"), look, 1e-6)
    _panel(axes, "Payload throughput [Mbit/s]", 300)
    data.foot(figure, "the first of them")
    return figure


def _runs(data: FigureData) -> range:
    return range(data.replicas)


def one_subflow_starves(data: FigureData) -> list[Point]:
    """The first time at which a cwnd is at its minimum; 360 s, when the base delay expires, if none is."""
    found: list[float] = []
    for replica in _runs(data):
        paths = [trace(data, PLAIN, "cwnd", path=path, replica=replica) for path in (0, 1)]
        least = [p.filter(pl.col("time").is_between(5, 360) & (pl.col("value") <= LEAST_WINDOW)) for p in paths]
        found.append(min((min(p["time"].to_list()) for p in least if not p.is_empty()), default=360.0))
    return [Point("", found, within(60, 250), "s")]


def the_total_is_flat(data: FigureData) -> list[Point]:
    """The sum of the windows, from 20 s until just before the base delay expires."""
    spread: list[float] = []
    for replica in _runs(data):
        paths = [trace(data, PLAIN, "cwnd", path=path, replica=replica) for path in (0, 1)]
        values = total(paths).filter(pl.col("time").is_between(20, 355))["value"].to_list()
        spread.append(100 * (max(values) - min(values)) * len(values) / sum(values))
    return [Point("largest less smallest, of the mean", spread, at_most(10), "%")]


def _rtts(data: FigureData, begin: float, end: float) -> list[float]:
    """The mean RTT of both paths in ms, run by run."""
    found: list[float] = []
    for replica in _runs(data):
        paths = [trace(data, PLAIN, "srtt", path=path, replica=replica) for path in (0, 1)]
        values = pl.concat(paths).filter(pl.col("time").is_between(begin, end))["value"].to_list()
        found.append(1e3 * sum(values) / len(values))
    return found


def rtt_before_the_step(data: FigureData) -> list[Point]:
    """Before the step the RTT exceeds the base RTT of 20 ms by one target."""
    return [Point("", _rtts(data, 20, 359), stated(120, Band(8, relative=False)), "ms")]


def rtt_after_the_step(data: FigureData) -> list[Point]:
    """After the step, once the queue has grown, the RTT exceeds the base RTT of 20 ms by two targets."""
    return [Point("", _rtts(data, 375, 719), stated(220, Band(12, relative=False)), "ms")]


def the_step_is_at_360_s(data: FigureData) -> list[Point]:
    """The first time at which the RTT exceeds the mean of both levels."""
    found: list[float] = []
    for replica in _runs(data):
        times = trace(data, PLAIN, "srtt", path=1, replica=replica).filter(pl.col("value") > 0.17)
        found.append(times["time"][0])
    return [Point("half of it is done", found, within(360, 370), "s")]


def _drops(data: FigureData, replica: int) -> list[float]:
    """The seconds in which packets were dropped."""
    counted = trace(data, PLAIN, "drops", "link:bottleneck", replica=replica)
    return counted.filter(pl.col("value").diff() > 0)["time"].to_list()


def losses_from_720_s_on(data: FigureData) -> list[Point]:
    """The first loss is at 720 s at the earliest, and losses occur in at least two different seconds until 2000 s.

    A run without a loss has its first loss at 2000 s.
    """
    times = [_drops(data, replica) for replica in _runs(data)]
    return [
        Point("first loss", [min(t, default=2000.0) for t in times], within(720, 780), "s"),
        Point("different seconds with losses", [len(t) for t in times], at_least(2)),
    ]


def windows_are_sawtooths(data: FigureData) -> list[Point]:
    """Number of times that a cwnd was cut by a quarter or more within two seconds, from 720 s on."""
    found: list[float] = []
    for replica in _runs(data):
        cuts = 0
        for path in (0, 1):
            windows = trace(data, PLAIN, "cwnd", path=path, replica=replica).filter(pl.col("time") >= 720)
            cuts += windows.filter(pl.col("value") < 0.75 * pl.col("value").shift(1)).height
        found.append(cuts)
    return [Point("", found, at_least(2), "cuts")]


def subflows_always_share(data: FigureData) -> list[Point]:
    """Jain's index of the subflows' throughput in each 100 s, the smallest of each run."""
    least: list[float] = []
    for replica in _runs(data):
        first, second = (
            trace(data, REPAIRED, "sent-throughput", path=path, replica=replica)["value"].to_list() for path in (0, 1)
        )
        least.append(min((a + b) ** 2 / (2 * (a * a + b * b)) for a, b in zip(first, second, strict=True)))
    return [Point("", least, above(0.95, every_run=True))]
