"""The figures of paper 002, checks of its claims, and figures of CMT with FAST, which the paper does not test."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from anabranch import plots
from anabranch.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, Look
from anabranch.reproduce import FigureData
from anabranch.statistics import summarize
from anabranch.verdict import Band, Point, above, at_least, at_most, below, stated, within

FLOWS = (
    Look("flow 1", BLUE),
    Look("flow 2", VERMILION, "--"),
    Look("flow 3", GREEN, "-."),
    Look("flow 4", PINK, (0, (1, 1))),
)
TWO, FOUR = {"flows": "2 flows"}, {"flows": "4 flows"}
INSIDE, OUTSIDE = {"alpha_inside": True}, {"alpha_inside": False}
MEASURED, KNOWN, ONCE = ({"delay": delay} for delay in ("measured", "known", "measured, doubling once"))
LENGTH = 1000
"""Seconds that figures 2 to 5 show."""
PACKET = 1500
PATHS = (Look("path 1", BLUE), Look("path 2", VERMILION, "--"))
EXTRACT = (20.0, 40.0)
"""Seconds that figures 7(a) to 7(c) show."""

LOSS_BASED = "loss-based among loss-based"
SCHEMES = {
    LOSS_BASED: Look("loss-based", VERMILION, "--", "s"),
    "FAST among loss-based": Look("FAST beside loss-based", ORANGE, ":", "^"),
    "weighted, split and moving among loss-based": Look("best without stalls beside loss-based", SKY, "-.", "v"),
    "FAST among FAST": Look("FAST beside FAST", BLUE, "-", "o"),
    "weighted among FAST": Look("weighted beside FAST", GREEN, (0, (5, 1)), "D"),
    "weighted and split among FAST": Look("weighted, split beside FAST", PINK, (0, (3, 1, 1, 1)), "P"),
}
ALONE = {
    "loss-based": Look("loss-based", VERMILION, "--", "s"),
    "FAST": Look("FAST", BLUE, "-", "o"),
    "weighted": Look("weighted", GREEN, (0, (5, 1)), "D"),
    "weighted and split": Look("weighted, split", PINK, (0, (3, 1, 1, 1)), "P"),
    "weighted, no delayed SACKs": Look("weighted, SACK each packet", ORANGE, ":", "^"),
}
BIN, FINE_BIN = 0.05, 0.01
"""Widths of the throughput bins, in seconds."""
STALL = 0.2
"""Seconds without a delivery that count as a stall: more than the RTT of 0.12 s and 50 packets queued at 10 Mbit/s."""
ROUND_TRIP = 0.1215
"""RTT in seconds: 60 ms each way, and the transmission times of a packet and its SACK on three links."""
CHUNK, MESSAGE = 1468, 1452
BOTH_PATHS = 2 * 10 * MESSAGE / PACKET
"""Mbit/s of payload that both paths carry."""


def run_of(data: FigureData, at: Mapping[str, object], replica: int = 0) -> int:
    """The number of the run with some values of the axes and a replica."""
    runs = data.result.scalars.filter(*(pl.col(axis) == value for axis, value in at.items()))
    return runs.filter(pl.col("replica") == replica)["run"][0]


def trace(data: FigureData, run: int, quantity: str, flow: str, path: int | None = None) -> pl.DataFrame:
    """Time and value of a probe in one run: of a flow, a link or a path."""
    of = (pl.col("flow") == flow) & (pl.col("quantity") == quantity) & pl.col("path").eq_missing(path)
    series = data.result.series.filter((pl.col("run") == run) & of)
    return series.select("time", "value").sort("time", maintain_order=True)


# Figures 2 to 5


def figure_2(data: FigureData) -> Figure:
    """Two SCTP flows over time."""
    return _trajectories(data, {"SCTP": TWO}, 2)


def figure_3(data: FigureData) -> Figure:
    """Two FAST flows over time, with α placed in the equation as Jin et al. have it, and as the paper prints it."""
    panels = {
        "α as in Jin et al. (inside the brackets of γ)": INSIDE,
        "α as the paper prints it (outside)": OUTSIDE,
    }
    shown = set(data.result.scalars["alpha_inside"])
    return _trajectories(data, {title: at for title, at in panels.items() if at["alpha_inside"] in shown}, 2)


def figure_4(data: FigureData) -> Figure:
    """Four SCTP flows over time."""
    return _trajectories(data, {"SCTP": FOUR}, 4)


def figure_5(data: FigureData) -> Figure:
    """Four FAST flows over time: base RTT measured, base RTT known, and doubling only until the first queueing."""
    panels = {"base RTT measured": MEASURED, "base RTT known": KNOWN, "base RTT measured, doubling once": ONCE}
    return _trajectories(data, panels, 4)


def _trajectories(data: FigureData, columns: Mapping[str, Mapping[str, object]], flows: int) -> Figure:
    """Throughput of the link, windows, queue and losses over time, one column for each variant."""
    figure = plots.new_figure(plots.COLUMN_WIDTH if len(columns) == 1 else plots.PAGE_WIDTH, 5.0)
    grid = figure.subplots(4, len(columns), sharex=True, sharey="row", squeeze=False)
    link = "link:bottleneck"
    for column, (title, at) in enumerate(columns.items()):
        run = run_of(data, at)
        rate, queue, drops = (trace(data, run, quantity, link) for quantity in ("throughput", "queue", "drops"))
        panels = [grid[row][column] for row in range(4)]
        panels[0].plot(rate["time"], rate["value"] * 1e-6, color=BLACK, linewidth=0.8)
        for number, look in enumerate(FLOWS[:flows], start=1):
            window = trace(data, run, "cwnd", f"flow-{number}", 0)
            panels[1].plot(
                window["time"], window["value"] / PACKET, label=look.label, color=look.color, linestyle=look.line,
                linewidth=0.9,
            )  # fmt: skip
        panels[2].plot(queue["time"], queue["value"], color=BLACK, linewidth=0.5)
        panels[3].plot(drops["time"], drops["value"], color=BLACK, linewidth=0.9)
        if not drops["value"].max():
            panels[3].text(0.5, 0.5, "no packet was lost", transform=panels[3].transAxes, ha="center", va="center")
        panels[0].set_title(title)
        panels[3].set_xlabel("Time [s]")
        panels[3].set_xlim(0, drops["time"][-1])
    labels = (
        "Throughput\n[Mbit/s]",
        "Congestion window\n[packets]",
        "Queue\n[packets]",
        "Losses since\nthe start [packets]",
    )
    for row, label in zip(grid, labels, strict=True):
        row[0].set_ylabel(label)
        row[0].set_ylim(0, max(1.0, row[0].get_ylim()[1]))
        row[0].yaxis.set_major_locator(MaxNLocator(4, integer=True, steps=[1, 2, 4, 5, 10]))
    beside = flows if len(columns) == 1 else 2
    grid[1][-1].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=beside, columnspacing=1.2, frameon=False)
    figure.align_ylabels()
    shown = grid[3][0].get_xlim()[1]
    note = f"{shown:.0f} s, the paper: {LENGTH} s" if shown < 0.99 * LENGTH else ""
    plots.foot(figure, data.seed, data.replicas, note, "the first of them")
    return figure


def cuts(values: Sequence[float]) -> int:
    """Number of times that a value is lower than the one before by a fifth or more."""
    return sum(later < 0.8 * earlier for earlier, later in pairwise(values))


def _cuts_of_flows(data: FigureData, at: Mapping[str, object], flows: int) -> list[list[int]]:
    """Number of cuts of each flow's window, for each run."""
    return [
        [cuts(trace(data, run_of(data, at, r), "cwnd", f"flow-{n}", 0)["value"].to_list()) for n in range(1, flows + 1)]
        for r in range(data.replicas)
    ]


def two_flows_of_sctp_are_sawtooths(data: FigureData) -> list[Point]:
    """Each window is cut at least twice, and grows by half or more between two cuts."""
    swings: list[float] = []
    for replica in range(data.replicas):
        found = trace(data, run_of(data, TWO, replica), "cwnd", "flow-1", 0).filter(pl.col("time") > 10)
        windows = found["value"].to_list()
        swings.append(max(windows) / min(windows))
    return [
        Point("cuts of the flow with fewer", [min(number) for number in _cuts_of_flows(data, TWO, 2)], at_least(2)),
        Point("largest window over smallest", swings, at_least(1.5)),
    ]


def four_flows_of_sctp_are_cut_more_often(data: FigureData) -> list[Point]:
    """Four flows have more window cuts in total than two."""
    both = zip(_cuts_of_flows(data, FOUR, 4), _cuts_of_flows(data, TWO, 2), strict=True)
    return [Point("cuts of four flows less those of two", [sum(four) - sum(two) for four, two in both], above(0))]


def mean_queue(data: FigureData, at: Mapping[str, object], replica: int) -> float:
    """The mean queue length while all flows are active and have converged."""
    found = trace(data, run_of(data, at, replica), "queue", "link:bottleneck")
    length = found["time"][-1]
    begin, end = (200, 850) if data.spec.id == "5" else (100, 999) if length > 500 else (20, length - 1)
    queues = found.filter(pl.col("time").is_between(begin, end))["value"].to_list()
    return sum(queues) / len(queues)


Check = Callable[[FigureData], list[Point]]
FIVE_PER_CENT = Band(0.05, relative=True)


def _queue_check(at: Mapping[str, object], expected: float) -> Check:
    def check(data: FigureData) -> list[Point]:
        found = [mean_queue(data, at, replica) for replica in range(data.replicas)]
        return [Point("", found, stated(expected, FIVE_PER_CENT), "packets")]

    return check


two_flows_of_fast_keep_alpha = _queue_check(INSIDE, 400)
alpha_outside_keeps_twice_as_much = _queue_check(OUTSIDE, 800)
four_flows_of_fast_keep_alpha = _queue_check(KNOWN, 800)
latecomers_keep_more = _queue_check(MEASURED, 1368)


def overflows(drops: pl.DataFrame, apart: float = 5.0) -> list[float]:
    """Times of the losses that follow the previous one by more than ``apart`` seconds."""
    times = [t for (_, v), (t, w) in pairwise(drops.rows()) if w > v]
    return [t for last, t in pairwise([-apart - 1, *times]) if t - last > apart]


def _overflow_check(expected: float, pick: Callable[[list[float]], float]) -> Check:
    def check(data: FigureData) -> list[Point]:
        runs = [run_of(data, FOUR, replica) for replica in range(data.replicas)]
        found = [pick(overflows(trace(data, run, "drops", "link:bottleneck"))) for run in runs]
        return [Point("", found, stated(expected, FIVE_PER_CENT), "s")]

    return check


def _nearest(expected: float) -> Callable[[list[float]], float]:
    return lambda times: min(times, key=lambda time: abs(time - expected), default=math.inf)


first_overflow_at_102_8_s = _overflow_check(102.8, lambda times: min(times, default=math.inf))
cut_at_200_s = _overflow_check(200, _nearest(200))
cut_at_800_s = _overflow_check(800, _nearest(800))


# Figure 7


def figure_7(data: FigureData) -> Figure:
    """TSNs sent on each path and the peer's window during 20 s, and the cwnd of both paths during the whole run."""
    figure = plots.new_figure(plots.PAGE_WIDTH, 4.2)
    panels = figure.subplots(2, 2)
    panels[0][1].sharey(panels[0][0])
    panels[1][0].sharey(panels[1][1])
    for axes, path, look, letter in zip(panels[0], (0, 1), PATHS, "ab", strict=True):
        sent = trace(data, 0, "tsn", "transfer", path).filter(pl.col("time").is_between(*EXTRACT))
        axes.plot(sent["time"], sent["value"], color=look.color, linestyle="", marker=".", markersize=1.2)
        axes.set_title(f"({letter}) {look.label}", loc="left")
        axes.set_ylabel("TSN sent, counted from 1")
        axes.set_xlim(*EXTRACT)
    room = trace(data, 0, "peer-rwnd", "transfer").filter(pl.col("time").is_between(EXTRACT[0] - 5, EXTRACT[1]))
    plots.steps(
        panels[1][0], room["time"].to_list(), [v / 1024 for v in room["value"]], until=EXTRACT[1],
        look=Look("", BLACK),
    )  # fmt: skip
    panels[1][0].set_title("(c) window of the peer as the sender knows it", loc="left")
    panels[1][0].set_ylabel("Receive window [KiB]")
    panels[1][0].set_xlim(*EXTRACT)
    begin, length = _long_pause(data, 0)
    left = room.filter(pl.col("time") <= begin)["value"][-1]
    # Path 1 sends nothing from `begin` on; the band is the same in the panels of 20 s.
    for axes in (*panels[0], panels[1][0]):
        axes.axvspan(begin, begin + length, color="0.9", zorder=0)
    panels[1][0].text(begin + length / 2, 44, f"path 1 waits {length:.2f} s", ha="center")
    panels[1][0].annotate(
        f"{left:.0f} bytes", (begin, left / 1024), xytext=(begin + 2, 12), arrowprops={"arrowstyle": "->"},
    )  # fmt: skip
    for path, look in enumerate(PATHS):
        window = trace(data, 0, "cwnd", "transfer", path)
        values = [v / 1024 for v in window["value"]]
        solid = Look(look.label, look.color, "-")
        plots.steps(panels[1][1], window["time"].to_list(), values, until=300, look=solid)
    panels[1][1].set_title("(d) congestion windows", loc="left")
    panels[1][1].set_ylabel("Congestion window [KiB]")
    panels[1][1].set_xlim(0, 300)
    panels[1][1].set_ylim(bottom=0)
    panels[1][1].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
    for axes in panels.flat:
        axes.set_xlabel("Time [s]")
    for axes in (*panels[0], panels[1][0]):
        axes.set_xticks(range(20, 41, 5))
    data.foot(figure, "the first of them")
    return figure


def pauses(times: Sequence[float], least: float) -> list[tuple[float, float]]:
    """Begin and length of every pause of at least ``least`` seconds."""
    return [(a, b - a) for a, b in pairwise(times) if b - a >= least]


def _runs(data: FigureData) -> list[int]:
    return sorted(set(data.result.scalars["run"].to_list()))


def _long_pause(data: FigureData, run: int) -> tuple[float, float]:
    """The longest pause of path 1 that begins during the severe congestion."""
    times = trace(data, run, "tsn", "transfer", 0)["time"].to_list()
    return max(((a, b) for a, b in pauses(times, 0.1) if 27 <= a <= 32), key=lambda pause: pause[1])


def path_1_stands_still(data: FigureData) -> list[Point]:
    """Path 1 pauses more than once in 300 s."""
    number = [len(pauses(trace(data, run, "tsn", "transfer", 0)["time"].to_list(), 1.0)) for run in _runs(data)]
    return [Point("", number, above(1), "pauses")]


def three_timeouts_take_seven_seconds(data: FigureData) -> list[Point]:
    """The longest pause of each run lasts as long as three timeouts in a row."""
    return [Point("", [_long_pause(data, run)[1] for run in _runs(data)], within(7.0, 7.7), "s")]


def the_window_left_is_944_bytes(data: FigureData) -> list[Point]:
    """The peer's window in the view of the sender when the longest pause begins, in every run.

    A loss that is detected later increases this window.
    """
    found: list[float] = []
    for run in _runs(data):
        begin, _ = _long_pause(data, run)
        room = trace(data, run, "peer-rwnd", "transfer")
        found.append(room.filter(pl.col("time") <= begin)["value"][-1])
    return [Point("", found, within(944, 944, every_run=True), "bytes")]


def path_1_is_halved_without_loss(data: FigureData) -> list[Point]:
    """Cwnd of path 1 is halved more than once in 300 s, although path 1 loses nothing in any run."""
    number = [cuts(trace(data, run, "cwnd", "transfer", 0)["value"].to_list()) for run in _runs(data)]
    lost = data.samples("lost-1")["value"].to_list()
    return [
        Point("times halved", number, above(1)),
        Point("lost on path 1", lost, below(1, every_run=True), "packets"),
    ]


def nothing_blocks_for_good(data: FigureData) -> list[Point]:
    """Data is sent in the last ten seconds of every run."""
    last = [trace(data, run, "tsn", "transfer", 0)["time"][-1] for run in _runs(data)]
    return [Point("last data sent", last, above(290, every_run=True), "s")]


# The claim, and multipath FAST


def idle_times(rates: Sequence[float], width: float) -> list[float]:
    """Lengths of the times without a delivery, from a series of throughputs in bins."""
    found: list[float] = []
    empty = 0
    for rate in [*rates, 1.0]:
        if rate == 0:
            empty += 1
        elif empty:
            found.append(empty * width)
            empty = 0
    return found


def _of_runs(data: FigureData, measure: Callable[[list[float]], float]) -> pl.DataFrame:
    """A measure of the throughput of each run, with the axes and the replica of the run."""
    series = data.result.series.filter(pl.col("quantity") == "throughput").sort("time")
    values = {
        run: measure(part["value"].to_list()) for (run,), part in series.partition_by("run", as_dict=True).items()
    }
    keys = data.result.scalars.select("run", "replica", *data.axes).unique("run", maintain_order=True)
    return keys.with_columns(pl.Series("value", [values[run] for run in keys["run"]]))


def stalled(data: FigureData) -> pl.DataFrame:
    """Per cent of each run's time that is part of stalls, which are times without a delivery longer than an RTT."""

    def share(rates: list[float]) -> float:
        return 100 * sum(t for t in idle_times(rates, BIN) if t > STALL + 1e-9) / (len(rates) * BIN)

    return _of_runs(data, share)


def longest_pause(data: FigureData) -> pl.DataFrame:
    """The longest time without a delivery in each run, in ms: an upper bound, one bin more than the empty bins."""
    return _of_runs(data, lambda rates: 1000 * (max(idle_times(rates, FINE_BIN), default=0.0) + FINE_BIN))


def kibibytes(size: str) -> float:
    """A size such as ``"64 KiB"`` or ``"1 MiB"``, in KiB."""
    number, unit = size.split()
    return float(number) * {"KiB": 1, "MiB": 1024}[unit]


def figure_claim(data: FigureData) -> Figure:
    """Goodput and stalled time as functions of the receive buffer, for both queue sizes."""
    queues = sorted(set(data.result.scalars["queue"].to_list()))
    figure = plots.new_figure(plots.PAGE_WIDTH if len(queues) > 1 else plots.COLUMN_WIDTH, 4.6)
    grid = figure.subplots(2, len(queues), sharex=True, sharey="row", squeeze=False)
    shown = set(data.result.scalars["scheme"].to_list())
    looks = {scheme: look for scheme, look in SCHEMES.items() if scheme in shown}
    for samples, row in ((data.samples("throughput"), grid[0]), (stalled(data), grid[1])):
        for queue, axes in zip(queues, row, strict=True):
            _over_buffer(axes, samples.filter(pl.col("queue") == queue), looks)
        found = summarize(samples, ["scheme", "buffer", "queue"])
        row[0].set_ylim(0, 1.05 * max((found["mean"] + found["half_width"]).to_list()))
    for queue, axes in zip(queues, grid[0], strict=True):
        axes.set_title(f"queues of path 2: {queue:g} packets")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(3, len(queues) + 1), frameon=False)
    grid[0][0].set_ylabel("Goodput [Mbit/s]")
    grid[1][0].set_ylabel("Time in stalls [%]")
    for axes in grid[1]:
        axes.set_xlabel("Receive buffer [KiB]")
    data.foot(figure)
    return figure


def _over_buffer(axes: Axes, samples: pl.DataFrame, looks: Mapping[str, Look]) -> None:
    sized = samples.with_columns(pl.col("buffer").map_elements(kibibytes, return_dtype=pl.Float64))
    plots.curves(axes, summarize(sized, ["scheme", "buffer"]), x="buffer", series="scheme", looks=looks)
    legend = axes.get_legend()
    if legend is not None:
        legend.remove()
    sizes = sorted(set(sized["buffer"].to_list()))
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def _stall_check(scheme: str, queue: int) -> Check:
    """The stalled time of a scheme is at most a tenth of that of the loss-based control, in each replica."""

    def check(data: FigureData) -> list[Point]:
        found = stalled(data).filter((pl.col("queue") == queue) & (pl.col("buffer") == "64 KiB"))
        over, base = (found.filter(pl.col("scheme") == s) for s in (scheme, LOSS_BASED))
        pairs = over.join(base, on="replica", suffix="_base")
        less = (pairs["value"] - 0.1 * pairs["value_base"]).to_list()
        return [Point("time in stalls less a tenth of the loss-based", less, at_most(0.0), "%")]

    return check


fast_stalls_less_40 = _stall_check("FAST among FAST", 40)
split_stalls_less_40 = _stall_check("weighted and split among FAST", 40)
fast_stalls_less_beside_40 = _stall_check("FAST among loss-based", 40)
fast_stalls_less_8 = _stall_check("FAST among FAST", 8)
split_stalls_less_8 = _stall_check("weighted and split among FAST", 8)
moving_stalls_less_40 = _stall_check("weighted, split and moving among loss-based", 40)
moving_stalls_less_8 = _stall_check("weighted, split and moving among loss-based", 8)


def allowed(size: str) -> float:
    """Mbit/s that a receive buffer allows: its size each RTT, and at most the rate of both paths."""
    chunks = kibibytes(size) * 1024 // CHUNK
    return min(chunks * MESSAGE * 8e-6 / ROUND_TRIP, BOTH_PATHS)


def figure_multipath_fast(data: FigureData) -> Figure:
    """Goodput, the goodput that the receive buffer allows, and the longest time without a delivery."""
    figure = plots.new_figure(plots.PAGE_WIDTH, 2.9)
    left, right = figure.subplots(1, 2)
    _over_buffer(left, data.samples("throughput"), ALONE)
    sizes = sorted(set(data.result.scalars["buffer"].to_list()), key=kibibytes)
    left.plot(
        [kibibytes(s) for s in sizes], [allowed(s) for s in sizes], color=BLACK, linewidth=0.8, linestyle=(0, (1, 1)),
        label="buffer / round-trip time, both paths",
    )  # fmt: skip
    _over_buffer(right, longest_pause(data), ALONE)
    right.axhline(1000 * ROUND_TRIP, color="0.3", linewidth=0.8, linestyle=(0, (5, 1)))
    right.annotate("a round trip", (4096, 1000 * ROUND_TRIP), xytext=(0, 3), textcoords="offset points", ha="right")
    left.set_ylabel("Goodput [Mbit/s]")
    right.set_ylabel("Longest time without a delivery [ms]")
    for axes in (left, right):
        axes.set_xlabel("Receive buffer [KiB]")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    data.foot(figure)
    return figure


OVER_FAST = [scheme for scheme in ALONE if scheme != "loss-based"]


def _shares(data: FigureData, wanted: Callable[[str], bool], least: float) -> list[Point]:
    """Goodput divided by the goodput that the buffer allows, for every variant of FAST and the wanted buffers."""
    found = data.samples("throughput").filter(pl.col("scheme").is_in(OVER_FAST))
    groups = found.group_by("scheme", "buffer", maintain_order=True).agg("value")
    return [
        Point(f"{scheme}, {size}", [value / allowed(size) for value in values], at_least(least))
        for scheme, size, values in groups.rows()
        if wanted(size)
    ]


def fast_fills_the_buffer(data: FigureData) -> list[Point]:
    """Every variant of FAST with a buffer of 64 KiB has nearly the goodput that the buffer allows."""
    return _shares(data, lambda size: size == "64 KiB", 0.98)


def fast_fills_both_paths(data: FigureData) -> list[Point]:
    """Every variant of FAST with a buffer of 512 KiB or more has nearly the goodput of both paths."""
    return _shares(data, lambda size: kibibytes(size) >= 512, 0.99)


def fast_never_stalls(data: FigureData) -> list[Point]:
    """No variant of FAST stalls with any buffer, in any run."""
    found = longest_pause(data).filter(pl.col("scheme") != "loss-based")
    return [Point("", found["value"].to_list(), at_most(1000 * ROUND_TRIP, every_run=True), "ms")]
