"""The windows of an association, from its log: `python suites/qlog/picture.py transfer-client.sqlog picture.png`.

It needs matplotlib only. Two more arguments are the first and the last second that the picture shows.
`make qlog-picture` draws those of docs/qlog.md and docs/resume.md.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]


def records(file: Path) -> Iterator[dict[str, Any]]:
    """The records of a log; what follows the last line feed is not whole."""
    for line in file.read_bytes().split(b"\n")[:-1]:
        yield json.loads(line.removeprefix(b"\x1e"))


def draw(file: Path, first: float = 0.0, last: float | None = None) -> Figure:
    """Cwnd of each path from the first to the last second, a mark for each loss, and a line for each network change."""
    windows, losses, markers = defaultdict(list), defaultdict(list), []
    for record in records(file):
        path, data = record.get("tuple", "0"), record.get("data", {})
        match record.get("name"):
            case "sctp:recovery_metrics_updated" if "congestion_window" in data:
                windows[path].append((record["time"] / 1000, data["congestion_window"] / 1000))
            case "sctp:packet_lost" if windows[path]:
                losses[path].append((record["time"] / 1000, windows[path][-1][1]))
            case "simulation:marker":
                markers.append((record["time"] / 1000, data["type"]))
    figure = Figure(figsize=(6.4, 2.8), layout="constrained")
    axes = figure.subplots()
    for (path, points), colour in zip(sorted(windows.items()), COLOURS, strict=False):
        axes.plot(*zip(*points, strict=True), drawstyle="steps-post", color=colour, linewidth=1, label=f"path {path}")
        if shown := [loss for loss in losses[path] if first <= loss[0] <= (last or loss[0])]:
            axes.plot(*zip(*shown, strict=True), "x", color=colour, markersize=4, label=f"losses of path {path}")
    for time, what in markers:
        axes.axvline(time, color="0.6", linewidth=0.8, linestyle="--")
        axes.annotate(
            textwrap.fill(what, 12), (time, 1), xycoords=axes.get_xaxis_transform(), xytext=(3, -3),
            textcoords="offset points", va="top", fontsize=7, color="0.3", annotation_clip=True,
        )  # fmt: skip
    axes.set(xlabel="time [s]", ylabel="cwnd [kB]")
    axes.set_xlim(first, last)
    axes.set_ylim(bottom=0)
    figure.legend(fontsize=7, ncols=4, frameon=False, loc="outside upper center")
    return figure


if __name__ == "__main__":
    with rc_context({"font.family": "serif", "font.size": 8}):
        picture = draw(Path(sys.argv[1]), *map(float, sys.argv[3:]))
        picture.savefig(sys.argv[2], dpi=140)
