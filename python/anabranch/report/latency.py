"""Latency under load: the round-trip times of probes of a scenario, or in each phase of a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, HoverTool, Label, LegendItem, Range1d
from bokeh.plotting import figure

from .model import RunView, Series
from .page import escape, table
from .panels import COLORS, DASHES, Board, color, legend

PHASES = {"idle": "#8a8a8a", "down": COLORS[0], "up": COLORS[1], "both": COLORS[2]}
"""The phases in their order, and their colours."""
KINDS = {"self": "within the load", "handshake": "new: handshake / 2", "message": "new: message"}
"""Probes that are not those of a path, and what they are called."""
QUANTITY = "probe-rtt"


def phases(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The complete phases; none if latency was not measured."""
    found = manifest.get("latency") or {}
    return {name: found[name] for name in PHASES if name in found}


def summary(manifest: Mapping[str, Any]) -> list[str]:
    """The grade, and a table of the round-trip times of each phase."""
    found = manifest["latency"]
    rows: list[list[object]] = []
    for name, phase in phases(manifest).items():
        rpm = found["rpm"].get(name)
        rows += [_row(name, f"path {one['path']} to {one['remote']}", one, None) for one in phase["paths"]]
        foreign = phase["foreign"] or {}
        for kind, numbers in {"self": phase["self"], **foreign}.items():
            rows.append(_row(name, KINDS[kind], numbers or {}, rpm if kind == "self" else None))
    head = ["phase", "probe", "p50, ms", "p95, ms", "p99, ms", "jitter, ms", "lost, %", "added, ms", "RPM"]
    grade = f"Grade <strong>{escape(found['grade'] or 'none')}</strong>, by the largest added latency of all paths"
    text = f"<p>{grade}; confidence in RPM: {escape(found['confidence'])}.</p>"
    older = "<p>The server does not echo probes: heartbeats of the association were measured.</p>"
    return [text, "" if found["echoes"] else older, table(head, rows, "Round-trip times of probes", names=2)]


def _row(phase: str, probe: str, numbers: Mapping[str, Any], rpm: float | None) -> list[object]:
    times = [numbers.get(name) for name in ("p50_s", "p95_s", "p99_s", "jitter_s")]
    lost = 100 * numbers["lost"] / numbers["sent"] if "sent" in numbers else 100.0
    added = numbers.get("added_s")
    cells = [None if time is None else 1e3 * time for time in (*times, added)]
    return [phase, probe, *cells[:4], lost, cells[4], rpm]


def over_time(board: Board, run: RunView) -> Any | None:
    """The round-trip time of each probe, with the phases shaded; None if latency was not measured."""
    found = [series for series in run.of(QUANTITY) if series.flow != "probe:handshake"]
    if not found:
        return None
    top = 1e3 * max(float(np.max(series.value)) for series in found)
    drawn = board.panel("latency", "ms", height=300, top=top)
    items: list[LegendItem] = []
    for series in found:
        source = board.source(series.time, series.value * 1e3, "marks")
        paint = "#8a8a8a" if series.path is None and _is_measured(series) else color(series, 0)
        marker = "dot" if series.path is not None else "x" if series.flow == "probe:self" else "diamond"
        size = 12 if marker == "dot" else 4
        shown = drawn.scatter("time", "value", source=source, marker=marker, size=size, color=paint)
        shown.name, shown.visible = _label(series), False
        # Probes of paths, and of flows in the simulator, are shown first; the legend shows the others.
        shown.tags = ["shown"] if series.path is not None or not _is_measured(series) or len(found) == 1 else []
        items.append(LegendItem(label=shown.name, renderers=[shown]))
    for name, phase in phases(run.result.manifest).items():
        times = {"left": phase["from_s"], "right": phase["to_s"]}
        drawn.add_layout(BoxAnnotation(**times, fill_color=PHASES[name], fill_alpha=0.12, line_color=None))
        text = Label(x=phase["from_s"], y=2, y_units="screen", text=f" {name}", text_font_size="12px")
        text.text_color = PHASES[name]
        drawn.add_layout(text)
    legend(drawn, items)
    drawn.add_tools(HoverTool(tooltips=[("", "$name"), ("time", "@time{0.000} s"), ("ms", "@value{0.[000]}")]))
    return drawn


def distribution(board: Board, run: RunView) -> Any | None:
    """The share of the probes of each path up to a round-trip time, in each phase; None without probes of paths."""
    found = [series for series in run.of(QUANTITY) if series.path is not None]
    drawn = figure(
        height=300, sizing_mode="stretch_width", tools="pan,box_zoom,reset,save", output_backend="canvas",
        x_axis_label="round-trip time, ms", y_axis_label="share of the probes", min_border_left=72, name="latency-cdf",
    )  # fmt: skip
    drawn.toolbar.logo = None
    drawn.toolbar.autohide = True
    drawn.y_range = Range1d(start=0, end=1.02)
    items: list[LegendItem] = []
    for place, series in enumerate(found):
        for name, phase in phases(run.result.manifest).items():
            inside = (series.time >= phase["from_s"]) & (series.time < phase["to_s"])
            times = np.sort(series.value[inside]) * 1e3
            if not len(times):
                continue
            share = np.arange(1, len(times) + 1) / len(times)
            source = ColumnDataSource({"ms": times, "share": share})
            dash = DASHES[place % len(DASHES)]
            shown: Any = drawn.step(
                "ms", "share", source=source, mode="after", color=PHASES[name], line_dash=dash, line_width=1.8
            )
            shown.name = f"{_label(series)}, {name}"
            items.append(LegendItem(label=shown.name, renderers=[shown]))
    if not items:
        return None
    legend(drawn, items)
    drawn.legend.ncols = len(phases(run.result.manifest))
    drawn.add_tools(HoverTool(tooltips=[("", "$name"), ("ms", "@ms{0.[000]}"), ("share", "@share{0.0 %}")]))
    board.figures["latency-cdf"] = drawn
    return drawn


def _label(series: Series) -> str:
    if series.path is None and _is_measured(series):
        return KINDS[series.flow.removeprefix("probe:")]
    return series.label


def _is_measured(series: Series) -> bool:
    """True for a probe of ``anabranch measure``; those of a scenario have the names of its flows."""
    return series.flow.startswith("probe:")
