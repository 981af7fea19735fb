"""The time-sequence plot: what a flow sent and what was acknowledged, chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import HoverTool, LegendItem

from .model import RunView
from .panels import Board, color, held, legend

RESENT = (
    ("resent-fast", "retransmitted after missing reports", "x", "#e0332f"),
    ("resent-timeout", "retransmitted after a timeout", "square_x", "#a4161a"),
    ("resent-early", "sent again before a loss was found", "diamond", "#e68a00"),
)
EDGES = (
    ("acked", "cumulative TSN acknowledged", "#2b9348", "solid", 1.6),
    ("gap-acked", "highest TSN in a gap ack block", "#2b9348", "dotted", 1.0),
    ("non-renegable", "highest TSN acknowledged as non-renegable", "#00a6a6", "dashed", 1.0),
    ("window-edge", "edge of the peer's receive window", "#8a8a8a", "dotdash", 1.0),
)


def sequence(board: Board, run: RunView, flow: str) -> Any | None:
    """The time-sequence plot of a flow; None if no probe recorded its transmissions."""
    sent = [s for s in run.of("sent", flow) or run.of("tsn", flow) if s.path is not None]
    if not sent:
        return None
    tops = [float(np.max(s.value)) for s in sent]
    low = min(float(np.min(s.value)) for s in sent)
    drawn = board.panel(f"sequence {flow}", "TSN, from 1", height=420, top=max(tops), low=low)
    drawn.tags = ["follow"]
    items: list[LegendItem] = []
    exact = bool(run.of("sent", flow))
    for series in sent:
        source = board.source(series.time, series.value, "marks")
        shown = drawn.scatter("time", "value", source=source, marker="dot", size=9, color=color(series, 0))
        shown.name = f"{'first transmission' if exact else 'last chunk sent'} on {series.label}"
        shown.visible, shown.tags = False, ["shown"]
        items.append(LegendItem(label=shown.name, renderers=[shown]))
    for quantity, label, paint, dash, width in EDGES:
        for series in run.of(quantity, flow):
            source = board.source(*held(series.time, series.value, board.end), "line")
            shown = drawn.step(
                "time", "value", source=source, mode="after", color=paint, line_dash=dash, line_width=width
            )
            shown.name, shown.visible, shown.tags = label, False, ["shown"]
            items.append(LegendItem(label=label, renderers=[shown]))
    for quantity, label, marker, paint in RESENT:
        marks: list[Any] = []
        for series in run.of(quantity, flow):
            source = board.source(series.time, series.value, "marks")
            shown = drawn.scatter(
                "time", "value", source=source, marker=marker, size=9, line_color=paint, fill_color=None, line_width=1.6
            )
            shown.name, shown.visible, shown.tags = f"{label}, on {series.label}", False, ["shown"]
            marks.append(shown)
        if marks:
            items.append(LegendItem(label=label, renderers=marks))
    legend(drawn, items)
    drawn.add_tools(HoverTool(tooltips=[("", "$name"), ("time", "@time{0.000000} s"), ("TSN", "@value{0}")]))
    return drawn
