"""Limits of a sender over time: the shares of the nine limits in each short interval."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, LegendItem, Range1d

from .decimate import shares
from .model import LIMITS, RunView, Series
from .panels import Board, legend

COLORS = ("#c9c9c9", "#8f7a66", "#3a86c8", "#7b2d8b", "#2aa198", "#e3a018", "#4caf50", "#ef7d57", "#b3202c")
"""Colours of the nine limits, in the order of their numbers."""
BINS = 600


def limits(board: Board, run: RunView, flow: str) -> Any | None:
    """Bands of a flow and of each of its paths, one above the other; None without a probe `limit`."""
    found = sorted(run.of("limit", flow), key=lambda s: -1 if s.path is None else s.path)
    if not found:
        return None
    drawn = board.panel(f"limits {flow}", "share of the time", height=70 + 62 * len(found))
    rows = [_name(series) for series in found]
    drawn.y_range = Range1d(start=-0.1, end=1.1 * len(found))
    drawn.yaxis.ticker = [0.5 + 1.1 * place for place in range(len(found))]
    drawn.yaxis.major_label_overrides = {0.5 + 1.1 * place: name for place, name in enumerate(reversed(rows))}
    drawn.ygrid.grid_line_color = None
    edges = np.linspace(run.start, board.end, BINS + 1)
    sources = _bands(found, edges, run.end)
    items: list[LegendItem] = []
    for kind, data in sources.items():
        shown = drawn.quad(
            left="left", right="right", bottom="bottom", top="top", source=ColumnDataSource(data),
            fill_color=COLORS[kind], line_color=None,
        )  # fmt: skip
        shown.name = LIMITS[kind][1]
        items.append(LegendItem(label=LIMITS[kind][1], renderers=[shown]))
    legend(drawn, items)
    drawn.add_tools(HoverTool(tooltips=[("limited by", "$name"), ("from", "@left{0.000} s"), ("share", "@share{0 %}")]))
    return drawn


def _name(series: Series) -> str:
    return "flow" if series.path is None else series.label


def _bands(found: list[Series], edges: Any, until: float) -> dict[int, dict[str, Any]]:
    """The rectangles of each limit that limited the sender at some time."""
    parts: dict[int, list[Any]] = {}
    for place, series in enumerate(reversed(found)):
        share = shares(series.time, series.value, until, edges, len(LIMITS))
        base = 1.1 * place + np.vstack([np.zeros(share.shape[1]), np.cumsum(share, axis=0)])
        for kind in range(len(LIMITS)):
            held = np.flatnonzero(share[kind] > 1e-4)
            if len(held):
                row = (edges[held], edges[held + 1], base[kind][held], base[kind + 1][held], share[kind][held])
                parts.setdefault(kind, []).append(np.array(row, dtype=np.float32))
    names = ("left", "right", "bottom", "top", "share")
    return {kind: dict(zip(names, np.concatenate(rows, axis=1), strict=True)) for kind, rows in sorted(parts.items())}
