"""The panels of a run: one Bokeh figure for each quantity, all on the same axis of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from bokeh.models import (
    BasicTickFormatter,
    ColumnDataSource,
    CrosshairTool,
    HoverTool,
    Legend,
    LegendItem,
    Range1d,
    Span,
    WheelZoomTool,
)
from bokeh.plotting import figure

from .decimate import Numbers, decimate
from .model import RunView, Series

COLORS = ("#3a86c8", "#d9662b", "#1fa187", "#c267a8", "#c99700", "#7a6fd0", "#8a8a8a", "#b04a4a")
"""Colours of paths and links: each has a contrast of 3 or more to the white and to the dark page."""
DASHES = ("solid", "dashed", "dotdash", "dotted")
MOST_POINTS = 400_000
"""Largest number of points of all series of a page together; they take about 6 MB."""


Model = TypeVar("Model", bound=Any)


def named(name: str, model: Model) -> Model:
    """The model with a name, by which the page finds it."""
    model.name = name
    return model


@dataclass
class Board:
    """The figures of a page so far; they share the range of time and a line under the pointer."""

    time: Range1d
    end: float
    budget: int
    figures: dict[str, Any] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    crosshair: Span = field(default_factory=lambda: Span(dimension="height", line_color="#888888", line_width=1))

    @classmethod
    def of(cls, run: RunView) -> Board:
        """An empty board for a run."""
        end = run.end if run.end > run.start else run.start + 1.0
        time = named("time", Range1d(start=run.start, end=end, bounds=(run.start, end)))
        return cls(time, end, max(2000, min(20_000, MOST_POINTS // max(1, len(run.series)))))

    def panel(self, key: str, unit: str, *, height: int = 210, top: float | None = None, low: float = 0.0) -> Any:
        """A new figure: the label of its vertical axis, and the greatest value that it shows."""
        drawn = figure(
            height=height, sizing_mode="stretch_width", x_range=self.time, tools="xpan,xbox_zoom,reset,save",
            active_drag="xbox_zoom", toolbar_location="right", x_axis_label="time, s", y_axis_label=unit,
            min_border_left=72, output_backend="canvas", name=key, lod_threshold=None,
        )  # fmt: skip
        if top is not None:
            drawn.y_range = Range1d(start=low, end=low + (top - low) * 1.06 if top > low else low + 1.0)
        drawn.toolbar.logo = None
        drawn.toolbar.autohide = True
        # Without a key the wheel scrolls the page.
        drawn.add_tools(WheelZoomTool(dimensions="width", modifiers="ctrl"), CrosshairTool(overlay=self.crosshair))
        drawn.yaxis.formatter = BasicTickFormatter(use_scientific=False)
        self.figures[key] = drawn
        return drawn

    def source(self, time: Numbers, value: Numbers, kind: str) -> ColumnDataSource:
        """The points of a curve, down-sampled to the budget. The page down-samples them again after each zoom."""
        time, value = decimate(time, value, self.budget)
        name = f"curve-{len(self.sources)}"
        self.sources.append(name)
        return ColumnDataSource({"time": time, "value": value}, name=name, tags=[kind])


def curves(board: Board, key: str, unit: str, lines: Iterable[Line], *, height: int = 210) -> Any | None:
    """A panel of curves with a legend above; None without a curve."""
    lines = [line for line in lines if len(line.series.time)]
    if not lines:
        return None
    top = max(float(np.max(line.series.value)) * line.scale for line in lines)
    drawn = board.panel(key, unit, height=height, top=top)
    items: list[LegendItem] = []
    for line in lines:
        value = line.series.value * line.scale
        if line.mode == "marks":
            source = board.source(line.series.time, value, "marks")
            shown = drawn.scatter("time", "value", source=source, marker="x", size=7, color=line.color, line_width=1.5)
        else:
            source = board.source(*held(line.series.time, value, board.end), "line")
            shown = drawn.step(
                "time", "value", source=source, mode="after", color=line.color, line_dash=line.dash,
                line_width=line.width,
            ) if line.mode == "step" else drawn.line(
                "time", "value", source=source, color=line.color, line_dash=line.dash, line_width=line.width
            )  # fmt: skip
        shown.name, shown.visible, shown.tags = line.label, False, ["shown"] if line.shown else []
        items.append(LegendItem(label=line.label, renderers=[shown]))
    legend(drawn, items)
    drawn.add_tools(HoverTool(tooltips=[("", "$name"), ("time", "@time{0.000000} s"), (unit, "@value{0.[000]}")]))
    return drawn


def held(time: Numbers, value: Numbers, end: float) -> tuple[Numbers, Numbers]:
    """The points of a quantity that keeps its last value up to ``end``."""
    return (time, value) if time[-1] >= end else (np.append(time, end), np.append(value, value[-1]))


def legend(drawn: Any, items: list[LegendItem]) -> None:
    """A legend above the panel, whose entries hide their curves."""
    box = Legend(items=items, orientation="horizontal", click_policy="hide", border_line_color=None, margin=0)
    labels: list[Any] = [item.label for item in items]
    box.ncols, box.spacing = columns([label.value for label in labels]), 8
    box.location = "top_left"
    box.background_fill_alpha = 0.0
    drawn.add_layout(box, "above")


def columns(labels: Sequence[str]) -> int:
    """Into how many columns the labels of a legend fit, at most six, on a page of 1000 pixels."""
    for count in range(min(len(labels), 6), 1, -1):
        widest = [max(map(len, labels[n::count])) for n in range(count)]
        # Pixels of a letter, and of a mark with the gaps around it.
        if 6.6 * sum(widest) + 33 * count <= 830:
            return count
    return 1


@dataclass(frozen=True)
class Line:
    """A curve: its series, how it looks, and the factor that turns its values into the unit of the panel."""

    series: Series
    label: str
    color: str
    scale: float = 1.0
    dash: str = "solid"
    width: float = 1.6
    mode: str = "step"
    shown: bool = True


def color(series: Series, place: int) -> str:
    """The colour of a path, or of the flow or link at a place of the list."""
    return COLORS[(place if series.path is None else series.path) % len(COLORS)]


def windows(board: Board, run: RunView, flow: str) -> None:
    """cwnd, ssthresh and flight size of the paths of a flow."""
    lines: list[Line] = []
    looks = (("cwnd", "solid", 1.8), ("ssthresh", "dashed", 1.2), ("flight", "dotted", 0.9))
    for quantity, dash, width in looks:
        lines += [
            Line(s, f"{quantity} {s.label}", color(s, 0), 1 / 1024, dash, width, shown=quantity != "flight")
            for s in run.of(quantity, flow)
        ]
    lines += [
        Line(s, "peer's receive window", "#8a8a8a", 1 / 1024, "dotdash", 1.0, shown=False)
        for s in run.of("peer-rwnd", flow)
    ]
    windows_only = [line for line in lines if line.series.quantity == "cwnd"] or lines
    drawn = curves(board, f"windows {flow}", "KiB", lines, height=260)
    if drawn is not None and windows_only:
        # ssthresh and the peer's window may be far above every cwnd.
        top = max(float(np.max(line.series.value)) * line.scale for line in windows_only)
        drawn.y_range.end = min(drawn.y_range.end, top * 1.25 or 1.0)


def times(board: Board, run: RunView, flow: str) -> None:
    """Smoothed RTT and RTO of the paths of a flow."""
    lines = [Line(s, f"SRTT {s.label}", color(s, 0), 1e3) for s in run.of("srtt", flow)]
    curves(board, f"rtt {flow}", "ms", lines)


def rates(board: Board, run: RunView) -> None:
    """Throughput of flows, and the rates at which their paths send."""
    lines: list[Line] = []
    for place, flow in enumerate(run.flows):
        prefix = f"{flow}: " if len(run.flows) > 1 else ""
        whole = run.of("throughput", flow)
        lines += [Line(s, f"{prefix}received", _whole(place), 1e-6, width=2.0) for s in whole]
        lines += [
            Line(s, f"{prefix}sent on {s.label}", color(s, 0), 1e-6, DASHES[(place + 1) % 4], 1.2)
            for s in run.of("sent-throughput", flow) if s.path is not None
        ]  # fmt: skip
    curves(board, "throughput", "Mbit/s", lines, height=240)


def _whole(place: int) -> str:
    return COLORS[-(place + 2) % len(COLORS)]


def queues(board: Board, run: RunView, most: int = 8) -> None:
    """Queues of the links that had one, and the packets that they dropped."""
    busy = sorted(run.of("queue"), key=lambda s: -float(np.max(s.value)))[:most]
    busy = [s for s in busy if np.max(s.value) > 1]
    drops = {s.flow: s for s in run.of("drops")}
    lines: list[Line] = []
    for place, series in enumerate(busy):
        lines.append(Line(series, series.label, COLORS[place % len(COLORS)], width=1.2))
        lost = drops.get(series.flow)
        if lost is not None and (at := _increases(lost, series)) is not None:
            lines.append(Line(at, f"{series.label}: dropped", COLORS[place % len(COLORS)], mode="marks"))
    curves(board, "queues", "packets", lines)


def _increases(drops: Series, queue: Series) -> Series | None:
    """The instants at which a counter of drops grew, at the length that the queue had."""
    grown = np.flatnonzero(np.diff(drops.value, prepend=drops.value[:1]) > 0)
    if not len(grown):
        return None
    time = drops.time[grown]
    place = np.maximum(np.searchsorted(queue.time, time, "right") - 1, 0)
    return Series(drops.flow, None, "drops", time, queue.value[place], queue.label)
