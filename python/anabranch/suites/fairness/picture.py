"""The figure of the fairness suite: each number as a point with its interval, beside the bound of its rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ... import plots
from .measure import RIVALS, TOLERANCE, Rule, Score, Table

LOOKS = {
    "idle": (plots.BLACK, "D"),
    "disjoint": (plots.BLUE, "o"),
    "shared": (plots.VERMILION, "s"),
    "partly": (plots.GREEN, "^"),
    "rtt": (plots.PINK, "v"),
    "rate": (plots.ORANGE, "P"),
}
"""Colour and marker of each topology with drop-tail queues, in the order of the lanes of a row."""
RIVAL_NAMES = {"reno": "Reno", "cubic": "CUBIC"}
_ALONE = "over one path only, in shared"
_BROKEN = "#FBE3D3"
_RULES = {
    Rule.IMPROVE: ("Improve throughput", "I: throughput of the flow,\n1 = one TCP flow on the best path"),
    Rule.HARM: ("Do no harm", "H: what the flow sends over a bottleneck,\n1 = one TCP flow in its place"),
    Rule.BALANCE: ("Balance congestion", "B: share moved off the more congested\nbottleneck, 0 = as two TCP flows"),
}
_RATIOS = (0.125, 5.0)
"""The ends of the logarithmic scale of I and H, unless a mean is beyond."""
_TICKS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Values that the logarithmic scale is labelled with."""
_BALANCES = (-1.6, 1.05)
"""The ends of the scale of B, unless a mean is beyond."""
_ROW, _REST = 0.25, 1.95
"""Height of a control in each half of the figure, and of titles and legend, in inches."""


def draw(table: Table) -> Figure:
    """A column for each rule, beside Reno above and beside CUBIC below; a row for each control."""
    height = _REST + len(RIVALS) * max(0.9, _ROW * len(table.controls))
    figure = plots.new_figure(plots.PAGE_WIDTH, height)
    panels = figure.subplots(len(RIVALS), len(_RULES), sharex="col", sharey=True, squeeze=False)
    scales = {rule: _scale(table, rule) for rule in _RULES}
    for rival, row in zip(RIVALS, panels, strict=True):
        for rule, axes in zip(_RULES, row, strict=True):
            _panel(axes, table, rival, rule, scales[rule])
        for rule, axes in zip(_RULES, row, strict=True):
            axes.set_title(f"{_RULES[rule][0]}, beside {RIVAL_NAMES[rival]}", fontsize=8.5)
            axes.tick_params(axis="x", labelsize=8, labelbottom=True)
    for rule, axes in zip(_RULES, panels[-1], strict=True):
        axes.set_xlabel(_RULES[rule][1])
    figure.legend(handles=_legend(table), loc="outside upper center", ncols=4, frameon=False, fontsize=8.5)
    plots.foot(figure, table.seed, table.replicas)
    return figure


def _scale(table: Table, rule: Rule) -> tuple[float, float]:
    """The common ends of a rule's panels: I and H have the same, so that they can be compared."""
    ratios = rule is not Rule.BALANCE
    rules = (Rule.ALONE, Rule.IMPROVE, Rule.HARM) if ratios else (Rule.BALANCE,)
    means = [score.found.mean for score in table.scores if score.rule in rules and score.topology in LOOKS]
    low, high = _RATIOS if ratios else _BALANCES
    if not ratios:
        return min([low, *(mean - 0.1 for mean in means)]), max([high, *(mean + 0.1 for mean in means)])
    return min([low, *(mean / 1.2 for mean in means if mean > 0)]), max([high, *(mean * 1.2 for mean in means)])


def _panel(axes: Axes, table: Table, rival: str, rule: Rule, scale: tuple[float, float]) -> None:
    rows = len(table.controls)
    if rule is Rule.BALANCE:
        broken = (scale[0], 0.0)
    else:
        axes.set_xscale("log")
        axes.set_xticks([tick for tick in _TICKS if scale[0] <= tick <= scale[1]], minor=False)
        axes.set_xticks([], minor=True)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        broken = (scale[0], 1 - TOLERANCE) if rule is Rule.IMPROVE else (1 + TOLERANCE, scale[1])
    axes.set(xlim=scale, ylim=(rows - 0.5, -0.5))
    axes.axvspan(*broken, facecolor=_BROKEN, edgecolor="none", zorder=0)
    axes.axvline(broken[0] if rule is Rule.HARM else broken[1], color="0.45", linestyle="-", linewidth=0.8, zorder=1)
    axes.set_yticks(range(rows), table.controls)
    axes.tick_params(axis="y", length=0, labelsize=8)
    axes.grid(visible=False, axis="y")
    for line in range(1, rows):
        axes.axhline(line - 0.5, color="0.8", linestyle="-", linewidth=0.4, zorder=0.5)
    for place, control in enumerate(table.controls):
        lanes = [topology for topology in LOOKS if topology in table.topologies(rule)]
        for lane, topology in enumerate(lanes):
            if (score := table.score(control, rival, topology, rule)) is not None:
                _point(axes, score, place + ((lane + 0.5) / len(lanes) - 0.5) * 0.86, scale)
        alone = table.alone(control, rival) if rule is Rule.IMPROVE else None
        if alone is not None:
            axes.plot([alone.found.mean] * 2, [place - 0.4, place + 0.4], color="0.3", linestyle="-", linewidth=1.4)


def _point(axes: Axes, score: Score, y: float, scale: tuple[float, float]) -> None:
    """One number: a marker, and a bar for its interval where it is known. A bar that is cut ends at the frame."""
    color, marker = LOOKS[score.topology]
    found = score.found
    if math.isfinite(found.half_width):
        ends = [max(found.low, scale[0]), min(found.high, scale[1])]
        axes.plot(ends, [y, y], color=color, linestyle="-", linewidth=0.9, solid_capstyle="butt", zorder=2.5)
    at = min(max(found.mean, scale[0]), scale[1])
    axes.plot([at], [y], color=color, marker=marker, markersize=3.0, markeredgewidth=0, linestyle="", zorder=3)


def _legend(table: Table) -> Sequence[Line2D | Patch]:
    shown = {score.topology for score in table.scores if score.rule in _RULES}
    look: dict[str, Any] = {"markersize": 4.5, "markeredgewidth": 0, "linestyle": "-", "linewidth": 0.9}
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=color, marker=marker, label=topology, **look)
        for topology, (color, marker) in LOOKS.items()
        if topology in shown
    ]
    tick: dict[str, Any] = {"marker": "|", "markersize": 9, "markeredgewidth": 1.4, "linestyle": ""}
    handles.append(Line2D([], [], color="0.3", label=_ALONE, **tick))
    handles.append(Patch(facecolor=_BROKEN, edgecolor="0.45", linewidth=0.8, label="the rule is broken here"))
    return handles
