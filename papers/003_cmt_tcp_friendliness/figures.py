"""The figures and tables of paper 003, checks of its claims, and two figures that test its explanations."""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from anabranch import plots
from anabranch.plots import BLUE, GREEN, PINK, SKY, VERMILION, Bars, Look
from anabranch.reproduce import FigureData, leading_number
from anabranch.statistics import summarize
from anabranch.verdict import Band, Claim, Point, above, at_least, at_most, below, stated

ALONE = Look("first flow, alone", SKY)
FIRST = Look("first flow", BLUE)
SECOND = Look("second flow", VERMILION)
SHADES = {3: (0.45, 0.7, 1.0), 1: (1.0,)}
"""Opacity of the bars of each rate, from the lowest rate on."""

SCTP = Look("SCTP", VERMILION)
TCPS = Look("TCP with SACK (TCPS)", GREEN)
LOADS = {
    "two-TCP": Look("two TCP", GREEN, "--", "s"),
    "two-SCTP": Look("two SCTP", VERMILION, ":", "^"),
    "CMT": Look("CMT", BLUE, "-", "o"),
    "mulTCP": Look("mulTCP(2)", PINK, "-.", "v"),
}
WORDS = "TCPS: TCP with SACK. TCPNR: TCP NewReno. fb: followed by"
CAPACITY = 100.0
"""Mbit/s of the bottleneck link of section 5."""
RTT = 0.09
"""RTT of section 4 without queues, in seconds."""
FINE = 0.005
"""Width in seconds of the bins in which figure 12 records the packets of the added flows."""
RIVALS = {
    "plain": "as in\nthe paper",
    "larger-window": "first window\nof 3",
    "byte-counting": "byte\ncounting",
    "both": "both",
    "modern": "TCP of\ntoday",
}
TABLE_2 = {
    "TCPS-TCPS": ("0.996", "0.937", "0.961"),
    "TCPNR-TCPNR": ("0.993", "0.937", "0.961"),
    "SCTP-SCTP": ("0.999", "0.941", "0.966"),
    "SCTP-TCPS": ("0.972", "0.939", "0.964"),
    "SCTP-TCPNR": ("0.977", "0.939", "0.964"),
}
TABLE_3 = {
    "TCPS fb TCPS": ("0.998", "0.938", "0.961"),
    "TCPNR fb TCPNR": ("0.998", "0.937", "0.961"),
    "SCTP fb SCTP": ("1.0", "0.941", "0.966"),
    "SCTP fb TCPS": ("0.975", "0.939", "0.964"),
    "SCTP fb TCPNR": ("0.976", "0.939", "0.964"),
    "TCPS fb SCTP": ("0.976", "0.939", "0.964"),
    "TCPNR fb SCTP": ("0.974", "0.939", "0.964"),
}


def figure_4(data: FigureData) -> Figure:
    """Throughput, transport load and goodput of both flows, for each combination and rate."""
    return _measures(data, {"first": FIRST, "second": SECOND})


def figure_6(data: FigureData) -> Figure:
    """As figure 4, for a flow that starts after the other, and for the first flow while it is alone."""
    return _measures(data, {"alone": ALONE, "first": FIRST, "second": SECOND})


def _measures(data: FigureData, flows: dict[str, Look]) -> Figure:
    figure = plots.new_figure(plots.PAGE_WIDTH, 5.2)
    panels = figure.subplots(3, 1, sharex=True, sharey=True)
    names = {"": "Throughput", "-load": "Transport load", "-goodput": "Goodput"}
    rates = data.summary("first")["rate"].unique(maintain_order=True).to_list()
    for axes, (suffix, label) in zip(panels, names.items(), strict=True):
        found = {flow: data.summary(flow + suffix) for flow in flows}
        schemes = found["first"]["scheme"].unique(maintain_order=True).to_list()
        columns = [
            _column(found[flow].filter(pl.col("rate") == rate), "scheme", schemes, look, shade)
            for rate, shade in zip(rates, SHADES[len(rates)], strict=True)
            for flow, look in flows.items()
        ]
        plots.bars(axes, [scheme.replace(" fb ", "\nfb ") for scheme in schemes], columns)
        axes.set_ylabel(f"{label}\n[share of the link]")
    panels[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(flows), frameon=False)
    order = ", ".join(f"{leading_number(rate):g}" for rate in rates)
    order = f"from left to right: {order} Mbit/s" if len(rates) > 1 else f"{order} Mbit/s"
    panels[0].set_title(order, loc="right", fontsize=6, color="0.35")
    panels[-1].set_xlabel(WORDS, fontsize=7)
    data.foot(figure)
    return figure


def _column(found: pl.DataFrame, axis: str, groups: list[str], look: Look, shade: float) -> Bars:
    rows = {row[axis]: row for row in found.iter_rows(named=True)}
    ordered = [rows[group] for group in groups]
    return Bars(look, [row["mean"] for row in ordered], [row["half_width"] for row in ordered], shade)


def table_2(data: FigureData) -> Figure:
    """Every cell of table 2, as stated and as measured."""
    return _table(data, TABLE_2)


def table_3(data: FigureData) -> Figure:
    """Every cell of table 3, as stated and as measured."""
    return _table(data, TABLE_3)


def _table(data: FigureData, stated: dict[str, tuple[str, str, str]]) -> Figure:
    found = {name: data.summary(name) for name in ("fairness", "link", "system")}
    rates = found["link"]["rate"].unique(maintain_order=True).to_list()
    short = [f"{leading_number(rate):g}\nMbit/s" for rate in rates]
    names = ("fairness index", "link utilisation", "system utilisation")
    head = ["first flow,\nsecond flow"]
    for name in names:
        head += [f"{name}:\nthe paper", *short]
    rows: list[list[str]] = []
    for scheme, cells in stated.items():
        row = [scheme]
        for paper, summary in zip(cells, found.values(), strict=True):
            ours = summary.filter(pl.col("scheme") == scheme)
            means = [ours.filter(pl.col("rate") == rate)["mean"][0] for rate in rates]
            row += [paper, *(f"{mean:.3f}" for mean in means)]
        rows.append(row)
    figure = plots.TableFigure(head, rows, 0.5 + 0.2 * (2 + len(stated)))
    widest = max(width for summary in found.values() for width in summary["half_width"])
    data.foot(figure, f"means, 95 % intervals of at most ± {widest:.3f}. {WORDS}")
    return figure


def figure_5(data: FigureData) -> Figure:
    """Throughput of both flows over time in the run in which SCTP has the largest advantage."""
    return _series(data, "first", [1, 10, 100])


def figure_7(data: FigureData) -> Figure:
    """As figure 5, with SCTP starting first."""
    return _series(data, "first", [1, 10, 100], detail=(75.0, 115.0))


def figure_8(data: FigureData) -> Figure:
    """As figure 5, with SCTP starting second."""
    return _series(data, "second", [1, 10, 100], detail=(75.0, 115.0))


def _series(data: FigureData, sctp: str, widths: list[int], detail: tuple[float, float] | None = None) -> Figure:
    replica, advantage = worst(data, sctp)
    looks = {sctp: SCTP, _other(sctp): TCPS}
    views = [(width, None) for width in widths] + ([(1, detail)] if detail else [])
    figure = plots.new_figure(plots.PAGE_WIDTH, 1.35 * len(views) + 0.3)
    panels = figure.subplots(len(views), 1)
    for axes, (width, span) in zip(panels, views, strict=True):
        for flow, look in looks.items():
            found = binned(data, replica, flow, width)
            shown = found if span is None else found.filter(pl.col("time").is_between(*span))
            axes.plot(
                shown["time"], shown["value"], label=look.label, color=look.color,
                linewidth=0.5 if width == 1 and span is None else 0.9,
            )  # fmt: skip
        title = f"{width} RTT" if span is None else f"{width} RTT, {span[0]:g} to {span[1]:g} s"
        axes.set_title(title, loc="left")
        axes.set_ylim(0, 1.15)
        axes.margins(x=0.005)
        axes.set_ylabel("Throughput\n[share of link]")
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
    panels[-1].set_xlabel("Time [s]")
    text = (
        f"seed {data.seed}, of {data.replicas} runs the one most in favour of SCTP: {100 * (advantage - 1):.0f} % more"
    )
    figure.supxlabel(text + (f" ({data.note})" if data.note else ""), fontsize=6, color="0.35")
    return figure


def _other(flow: str) -> str:
    return "second" if flow == "first" else "first"


def advantages(data: FigureData, sctp: str) -> pl.DataFrame:
    """Throughput of SCTP divided by that of TCP, one row for each replica, in ascending order."""
    wanted = (pl.col("quantity") == "sent_share") & (pl.col("window") == "steady") & pl.col("path").is_null()
    shares = data.result.scalars.filter(wanted)
    mine = shares.filter(pl.col("flow") == sctp).select("replica", "value")
    theirs = shares.filter(pl.col("flow") == _other(sctp)).select("replica", pl.col("value").alias("other"))
    return mine.join(theirs, on="replica").with_columns(ratio=pl.col("value") / pl.col("other")).sort("ratio")


def worst(data: FigureData, sctp: str) -> tuple[int, float]:
    """The replica with the largest throughput of SCTP relative to TCP, and that ratio."""
    found = advantages(data, sctp)
    return found["replica"][-1], found["ratio"][-1]


def binned(data: FigureData, replica: int, flow: str, width: int) -> pl.DataFrame:
    """Throughput of a flow in bins of ``width`` round-trip times, as a share of the link: middle of the bin, value."""
    rate = 10e6
    wanted = (pl.col("replica") == replica) & (pl.col("flow") == flow) & pl.col("path").is_null()
    bins = data.result.series.filter(wanted & (pl.col("quantity") == "sent-throughput")).sort("time")
    number = (pl.col("time") / (width * RTT) - 1e-6).floor().alias("bin")
    return (
        bins.group_by(number, maintain_order=True)
        .agg(pl.col("value").mean() / rate, pl.len())
        .filter(pl.col("len") == width)
        .select(((pl.col("bin") + 0.5) * width * RTT).alias("time"), "value")
    )


def _sctp_of(data: FigureData) -> str:
    return "second" if data.spec.id == "8" else "first"


def tcp_gives_and_takes(data: FigureData) -> list[Point]:
    """The smallest share of TCP over 100 RTTs, in each run, while both flows are measured."""
    tcp = _other(_sctp_of(data))
    begin = 60.0 if data.spec.id == "5" else 280.0
    least: list[float] = []
    for replica in range(data.replicas):
        found = binned(data, replica, tcp, 100).filter(pl.col("time") >= begin + 50 * RTT)
        least.append(min(found["value"]))
    return [Point("least share of TCP", least, at_least(0.1, every_run=True))]


def worst_run(data: FigureData) -> list[Point]:
    """In no run SCTP has more than twice the throughput of TCP."""
    found = advantages(data, _sctp_of(data))["ratio"].to_list()
    return [Point("SCTP over TCP", found, at_most(2.0, every_run=True))]


def ablation(data: FigureData) -> Figure:
    """Throughput of SCTP divided by that of TCP, as TCP gets features of SCTP one by one, at each rate."""
    found = data.summary()
    rates = found["rate"].unique(maintain_order=True).to_list()
    columns = [
        _column(found.filter(pl.col("rate") == rate), "rival", list(RIVALS), Look(rate, BLUE), shade)
        for rate, shade in zip(rates, SHADES[len(rates)], strict=True)
    ]
    figure = plots.new_figure(height=2.8)
    axes = figure.subplots()
    plots.bars(axes, list(RIVALS.values()), columns)
    axes.axhline(1.0, color="0.3", linewidth=0.8)
    axes.set_ylabel("SCTP's throughput over TCP's")
    axes.set_xlabel("TCP")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(rates), frameon=False)
    data.foot(figure)
    return figure


def figure_10(data: FigureData) -> Figure:
    """Throughput of each added flow, the average flow and the ideal share, for each kind of added flow."""
    figure = plots.new_figure(plots.PAGE_WIDTH, 2.7)
    panels = figure.subplots(1, 3, sharey=True)
    names = {
        "two-TCP": ("two TCP", "TCP1", "TCP2"),
        "two-SCTP": ("two SCTP", "SCTP1", "SCTP2"),
        "CMT": ("CMT", "subflow 1", "subflow 2"),
    }
    looks = (("-", "o", BLUE), ("--", "s", VERMILION))
    for axes, (load, (title, *labels)) in zip(panels, names.items(), strict=True):
        for number, (label, (line, marker, color)) in enumerate(zip(labels, looks, strict=True)):
            _curve(axes, each(data, load, number), Look(label, color, line, marker))
        average = data.samples("average").filter(pl.col("load") == load)
        _curve(axes, average, Look("average flow", GREEN, ":", "^"))
        numbers = sorted(set(average["n"].to_list()))
        ideal = [CAPACITY / (n + 2) for n in numbers]
        axes.plot(numbers, ideal, color="0.3", linewidth=0.8, linestyle=(0, (5, 1)), label="bw / (n + 2)")
        axes.set_title(title)
        axes.set_xlabel("Number of TCP flows n")
        axes.set_xticks(numbers)
        axes.legend(loc="upper right")
    most = max(mean for load in names for mean in summarize(each(data, load, 0), "n")["mean"].to_list())
    panels[0].set_ylim(0, 1.15 * most)
    panels[0].set_ylabel("Throughput [Mbit/s]")
    data.foot(figure)
    return figure


def each(data: FigureData, load: str, number: int) -> pl.DataFrame:
    """Throughput of the first (0) or second (1) added flow or subflow, in Mbit/s: n, replica, value."""
    of = (pl.col("flow") == "added-1") & (pl.col("path") == number)
    if load != "CMT":
        of = (pl.col("flow") == f"added-{number + 1}") & pl.col("path").is_null()
    wanted = (pl.col("quantity") == "sent_throughput_bps") & (pl.col("window") == "steady") & (pl.col("load") == load)
    return data.result.scalars.filter(wanted & of).select("n", "replica", pl.col("value") * 1e-6)


def _curve(axes: Axes, samples: pl.DataFrame, look: Look) -> None:
    points = summarize(samples, "n").with_columns(pl.col("n").cast(pl.Float64), series=pl.lit(look.label))
    plots.curves(axes, points, x="n", series="series", looks={look.label: look})


def figure_11(data: FigureData) -> Figure:
    """Added flows together, the average flow and Jain's index as functions of the number of TCP flows."""
    figure = plots.new_figure(plots.PAGE_WIDTH, 2.7)
    panels = figure.subplots(1, 3)
    labels = {
        "added": "Added flows together [Mbit/s]",
        "average": "Average flow [Mbit/s]",
        "fairness": "Fairness index",
    }
    for axes, (quantity, label) in zip(panels, labels.items(), strict=True):
        plots.curves(axes, _over_n(data, quantity), x="n", series="load", looks=LOADS)
        axes.set_xlabel("Number of TCP flows n")
        axes.set_ylabel(label)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    panels[2].set_ylim(0.8, 1.005)
    for axes in panels[1:]:
        legend = axes.get_legend()
        if legend is not None:
            legend.remove()
    data.foot(figure)
    return figure


def _over_n(data: FigureData, quantity: str) -> pl.DataFrame:
    return data.summary(quantity).with_columns(pl.col("n").cast(pl.Float64))


def figure_12(data: FigureData) -> Figure:
    """Two SCTP flows, and CMT, beside few TCP flows, for both weights of RED's average."""
    figure = plots.new_figure(plots.PAGE_WIDTH, 2.7)
    panels = figure.subplots(1, 2, sharey=True)
    looks = {load: LOADS[load] for load in ("two-SCTP", "CMT")}
    for axes, weight in zip(panels, (0.002, 0.001), strict=True):
        found = _over_n(data, "added").filter(pl.col("weight") == weight)
        plots.curves(axes, found, x="n", series="load", looks=looks)
        axes.set_title(f"weight {weight:g}", loc="left")
        axes.set_xlabel("Number of TCP flows n")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    panels[0].set_ylabel("Added flows together [Mbit/s]")
    data.foot(figure)
    return figure


def figure_12_bursts(data: FigureData) -> Figure:
    """Share of packets in trains of at least some length, and the index of dispersion; RED weight 0.002."""
    figure = plots.new_figure(plots.PAGE_WIDTH, 2.8)
    trains, dispersion = figure.subplots(1, 2)
    numbers = [int(n) for n in sorted(set(data.result.scalars["n"].to_list()))]
    for load, one, look in (("CMT", "CMT", LOADS["CMT"]), ("two-SCTP", "one SCTP flow", LOADS["two-SCTP"])):
        for n, line in ((numbers[0], "-"), (numbers[-1], ":")):
            style = {"color": look.color, "linestyle": line, "marker": look.marker, "markerfacecolor": "white"}
            share = packets_in_trains(data, load, n)
            trains.plot(range(1, len(share) + 1), share, label=f"{one}, n = {n}", **style)
            uneven = index_of_dispersion(data, load, n)
            widths = [1e3 * width for width in uneven]
            dispersion.plot(widths, list(uneven.values()), label=f"{look.label}, n = {n}", **style)
    trains.set_ylim(0, 1.05)
    trains.set_xlabel("Length of a train at the tight link [packets]")
    trains.set_ylabel("Share of packets in trains\nof that length and more")
    dispersion.set_xlabel("Width of bins [ms]")
    dispersion.set_ylabel("Packets sent: variance / mean")
    dispersion.set_ylim(bottom=0)
    for axes in (trains, dispersion):
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    data.foot(figure, "mean")
    return figure


def packets_in_trains(data: FigureData, load: str, n: int) -> list[float]:
    """Share of packets that arrive in trains of at least 1, 2, ... 16 packets; RED weight 0.002."""
    wanted = (pl.col("load") == load) & (pl.col("n") == n) & (pl.col("weight") == 0.002)
    found = data.result.scalars.filter(wanted & (pl.col("flow") == "added-1@link:tight"))

    def of(quantity: str) -> list[float]:
        return found.filter(pl.col("quantity") == quantity).sort("run")["value"].to_list()

    total = sum(count * mean for count, mean in zip(of("bursts"), of("burst_packets_mean"), strict=True))
    shorter, share = 0.0, [1.0]
    for length in range(1, 16):
        shorter += length * sum(of(f"bursts_of_{length}"))
        share.append(1.0 - shorter / total)
    return share


def index_of_dispersion(data: FigureData, load: str, n: int) -> dict[float, float]:
    """The mean of :func:`dispersions` over the runs."""
    return {width: sum(values) / len(values) for width, values in dispersions(data, load, n).items()}


def dispersions(data: FigureData, load: str, n: int) -> dict[float, list[float]]:
    """Variance divided by mean of the packets that the added flows send in a bin, by the width of bins in seconds.

    The index is 1 if packets are sent at random times, and 0 at equal intervals. RED weight 0.002; a value per run.
    """
    wanted = (pl.col("load") == load) & (pl.col("n") == n) & (pl.col("weight") == 0.002)
    runs = data.result.scalars.filter(wanted)["run"].unique().to_list()
    whole_flows = pl.col("run").is_in(runs) & (pl.col("quantity") == "sent-throughput") & pl.col("path").is_null()
    sent = (
        data.result.series.filter(whole_flows)
        .group_by("run", (pl.col("time") / FINE).round().alias("bin"))
        .agg(pl.col("value").sum() * FINE / (8 * 1200))
    )
    found: dict[float, list[float]] = {}
    for together in (1, 2, 4, 6, 8, 12):
        wide = sent.group_by("run", (pl.col("bin") / together).floor()).agg(pl.col("value").sum(), pl.len())
        whole = wide.filter(pl.col("len") == together)
        each_run = whole.group_by("run").agg(pl.col("value").var() / pl.col("value").mean()).sort("run")
        found[together * FINE] = each_run["value"].to_list()
    return found


def cmt_is_burstier(data: FigureData) -> list[Point]:
    """The index of dispersion of CMT divided by that of two SCTP flows, in bins of 10 ms, at every n."""
    points: list[Point] = []
    for n in sorted(set(data.result.scalars["n"].to_list())):
        cmt, sctp = (dispersions(data, load, n)[2 * FINE] for load in ("CMT", "two-SCTP"))
        points.append(Point(f"n = {n:g}", [a / b for a, b in zip(cmt, sctp, strict=True)], above(1)))
    return points


def _over_n_points(found: pl.DataFrame, claim: Claim) -> list[Point]:
    """A point for each n, from rows with the columns ``n`` and ``value``."""
    groups = found.group_by("n").agg("value").sort("n")
    return [Point(f"n = {row['n']:g}", row["value"], claim) for row in groups.iter_rows(named=True)]


def _alike(data: FigureData, load: str) -> list[Point]:
    """The throughputs of both added flows differ by at most a tenth, at every n; replica by replica."""
    first, second = (each(data, load, number) for number in (0, 1))
    pairs = first.join(second, on=["n", "replica"], suffix="_second")
    ratios = pairs.with_columns(pl.col("value") / pl.col("value_second"))
    return _over_n_points(ratios, stated(1.0, Band(0.1, relative=True)))


def sctp_flows_alike(data: FigureData) -> list[Point]:
    """The flows SCTP1 and SCTP2 have the same throughput."""
    return _alike(data, "two-SCTP")


def subflows_alike(data: FigureData) -> list[Point]:
    """Both subflows of CMT have the same throughput."""
    return _alike(data, "CMT")


def _over_ideal(data: FigureData, quantity: str, load: str, flows: int, claim: Claim) -> list[Point]:
    """Throughput of a flow divided by bw/(n+2), at every n."""
    found = data.samples(quantity).filter(pl.col("load") == load)
    share = pl.col("value") / flows * (pl.col("n") + 2) / CAPACITY
    return _over_n_points(found.with_columns(share), claim)


def average_below_ideal(data: FigureData) -> list[Point]:
    """The average flow beside two TCP flows is below an equal share of the link, at every n."""
    return _over_ideal(data, "average", "two-TCP", 1, below(1))


def sctp_above_ideal(data: FigureData) -> list[Point]:
    """An SCTP flow is above an equal share of the link, at every n."""
    return _over_ideal(data, "added", "two-SCTP", 2, above(1))


def nobody_starves(data: FigureData) -> list[Point]:
    """Each TCP flow has at least a third of the mean of all TCP flows of its run."""
    wanted = (pl.col("quantity") == "sent_throughput_bps") & (pl.col("window") == "steady") & pl.col("path").is_null()
    flows = data.result.scalars.filter(
        wanted & (pl.col("load") == "two-SCTP") & pl.col("flow").str.starts_with("background")
    )
    parts = flows.group_by("run").agg(pl.col("value").min() / pl.col("value").mean()).sort("run")["value"].to_list()
    return [Point("least flow over their mean", parts, at_least(1 / 3, every_run=True))]


def deficits(data: FigureData, weight: float) -> pl.DataFrame:
    """Deficit of CMT against two SCTP flows, in per cent of their throughput: n, replica, value."""
    found = data.samples("added").filter(pl.col("weight") == weight)
    pairs = found.filter(pl.col("load") == "CMT").join(
        found.filter(pl.col("load") == "two-SCTP"), on=["n", "replica"], suffix="_sctp"
    )
    lacking = 100 * (1 - pl.col("value") / pl.col("value_sctp"))
    return pairs.select("n", "replica", lacking.alias("value"))


def _difference(more: pl.DataFrame, less: pl.DataFrame) -> list[float]:
    """The mean value of each replica in one frame minus that in the other."""
    first, second = (found.group_by("replica").agg(pl.col("value").mean()) for found in (more, less))
    pairs = first.join(second, on="replica", suffix="_less").sort("replica")
    return (pairs["value"] - pairs["value_less"]).to_list()


def deficit_grows_as_n_falls(data: FigureData) -> list[Point]:
    """RED weight 0.002: the deficit at the two smallest n minus that at the two largest."""
    found = deficits(data, 0.002)
    numbers = sorted(set(found["n"].to_list()))
    few, many = (found.filter(pl.col("n").is_in(part)) for part in (numbers[:2], numbers[-2:]))
    return [Point("of the two smallest n less the two largest", _difference(few, many), above(0), "%")]


def smaller_weight_smaller_deficit(data: FigureData) -> list[Point]:
    """The mean deficit over all n, compared between both RED weights."""
    more = _difference(deficits(data, 0.002), deficits(data, 0.001))
    return [Point("with 0.002 less with 0.001", more, above(0), "%")]
