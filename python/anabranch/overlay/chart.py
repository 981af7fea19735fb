"""The figure of an overlay: a panel for each quantity, replicas as a band, real runs as steps over it."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .. import plots
from . import foreign
from .overlaying import Overlay, Row

COLUMNS = 2
PANEL_HEIGHT = 1.45
"""Inches of one panel."""


def draw(overlay: Overlay) -> Figure:
    """Draws all quantities over time. Call it within :func:`anabranch.plots.style`."""
    lines = -(-len(overlay.rows) // COLUMNS)
    figure = plots.new_figure(plots.PAGE_WIDTH, 0.7 + PANEL_HEIGHT * lines)
    panels = figure.subplots(lines, COLUMNS, sharex=True, squeeze=False)
    places = [axes for line in panels for axes in line]
    edges = list(overlay.plan.bins)
    for axes, row in zip(places, overlay.rows, strict=False):
        _panel(axes, edges, row)
    for axes in places[len(overlay.rows) :]:
        axes.remove()
    for axes in places[max(0, len(overlay.rows) - COLUMNS) : len(overlay.rows)]:
        axes.set_xlabel("time [s]")
        axes.tick_params(labelbottom=True)
    figure.suptitle(overlay.plan.title, x=0.01, ha="left", fontsize=9)
    figure.legend(*places[0].get_legend_handles_labels(), loc="upper right", ncols=3, fontsize=6, frameon=False)
    late = sum(outcome["late"] for outcome in overlay.outcomes)
    note = foreign.real_runs(overlay.plan, len(overlay.rows[0].real)) + (f", {late} of them late" if late else "")
    plots.foot(figure, overlay.plan.seed, overlay.replicas, note, shown="95 % prediction band of one run")
    return figure


def _panel(axes: Axes, edges: list[float], row: Row) -> None:
    lows, highs = ([*ends, ends[-1]] for ends in zip(*row.verdict.band, strict=True))
    axes.fill_between(
        edges, lows, highs, step="post", color=plots.SKY, alpha=0.45, linewidth=0, label="95 % of simulated runs"
    )
    means = [sum(values) / len(values) for values in zip(*row.simulated, strict=True)]
    axes.step(edges, [*means, means[-1]], where="post", color=plots.BLUE, linewidth=1.0, label="mean of simulated")
    for number, values in enumerate(row.real):
        label = "real" if number == 0 else "_"
        drawn = {"color": plots.VERMILION, "linestyle": "-", "linewidth": 0.7, "alpha": 0.8, "label": label}
        axes.step(edges, [*values, values[-1]], where="post", **drawn)
    verdict = row.verdict
    word = "agree" if verdict.agrees else "differ"
    ratio = f"{verdict.ratio.low:.3f} to {verdict.ratio.high:.3f}"
    axes.set_title(
        f"{row.quantity.place}, {row.quantity.what}\n"
        f"{word}: real/simulated {ratio}, {100 * verdict.inside:.0f} % of the bins in the band",
        loc="left",
        fontsize=6,
    )
    axes.set_ylabel(row.quantity.unit)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(4))
