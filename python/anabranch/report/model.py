"""Contents of a report of one run: its series by quantity, flow and path, in the units of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from ..result import Result
from ..units import ALL_FLOWS
from .decimate import Numbers

LIMITS = (
    ("application", "the application"),
    ("send_buffer", "the send buffer"),
    ("peer_window", "the peer's receive window"),
    ("head_of_line", "head-of-line blocking"),
    ("scheduler", "the choice of paths"),
    ("pacing", "pacing or a burst limit"),
    ("cwnd", "cwnd"),
    ("recovery", "loss recovery"),
    ("timeout", "a timeout"),
)
"""The nine limits in the order of their numbers: the name in results, and in words."""


@dataclass(frozen=True)
class Series:
    """A quantity over time; ``path`` is None for a whole flow or a link, ``label`` what the page calls it."""

    flow: str
    path: int | None
    quantity: str
    time: Numbers
    value: Numbers
    label: str


@dataclass(frozen=True)
class RunView:
    """One run: its numbers, its series between two times, and where they come from."""

    result: Result
    series: list[Series]
    start: float
    end: float
    dropped: list[str] = field(default_factory=list)

    def of(self, quantity: str, flow: str | None = None) -> list[Series]:
        """The series of a quantity, of all flows and links or of one."""
        return [s for s in self.series if s.quantity == quantity and flow in (None, s.flow)]

    @property
    def flows(self) -> list[str]:
        """Flows with a series, in the order of the results."""
        return list(dict.fromkeys(s.flow for s in self.series if is_flow(s.flow)))

    @property
    def links(self) -> list[str]:
        """Directions of links with a series."""
        return list(dict.fromkeys(s.flow for s in self.series if s.flow.startswith("link:")))

    def scalar(self, flow: str, path: int | None, quantity: str) -> float | None:
        """A number of the whole measurement (not of a named window)."""
        found = self.scalars.get((flow, path, quantity))
        return None if found is None else float(found)

    @property
    def scalars(self) -> dict[tuple[str, int | None, str], float]:
        """The numbers outside named windows, by flow, path and quantity."""
        rows = self.result.scalars.filter(pl.col("window") == "")
        keys = zip(rows["flow"], rows["path"], rows["quantity"], strict=True)
        return dict(zip(keys, rows["value"], strict=True))


def view(result: Result, *, flows: list[str] | None = None, start: float | None = None, end: float | None = None,
         most_flows: int = 6) -> RunView:  # fmt: skip
    """The series of a run, of some flows (by default the first ``most_flows``) and between two times in seconds."""
    frame = result.series
    first, last = _times(result, frame)
    start, end = first if start is None else start, last if end is None else end
    known = list(dict.fromkeys(name for name in frame["flow"].unique(maintain_order=True) if is_flow(name)))
    wanted = known[:most_flows] if flows is None else [name for name in known if name in flows]
    left_out = [name for name in known if name not in wanted]
    found: list[Series] = []
    for keys, rows in frame.group_by(["flow", "path", "quantity"], maintain_order=True):
        flow, path, quantity = keys
        if is_flow(str(flow)) and flow not in wanted:
            continue
        time, value = rows["time"].to_numpy(), rows["value"].cast(pl.Float64).to_numpy()
        time, value = _between(time, value, start, end)
        if len(time):
            number = path if isinstance(path, int) else None
            label = str(flow).removeprefix("link:") if number is None else result.path_label(str(flow), number)
            found.append(Series(str(flow), number, str(quantity), time, value, label))
    return RunView(result, found, start, end, left_out)


def is_flow(name: str) -> bool:
    """Whether results of that name are those of one flow, not of a link, of a probe or of all flows together."""
    return not name.startswith(("link:", "nat:", "probe:", "flows:")) and "@" not in name


def without_repeats(scalars: pl.DataFrame) -> pl.DataFrame:
    """The rows without those of all flows together that repeat the only flow of the results."""
    flows = [name for name in scalars["flow"].unique() if is_flow(name)]
    if len(flows) != 1:
        return scalars
    key = ["run", "window", "quantity"]
    alone = scalars.filter(pl.col("path").is_null(), flow=flows[0]).select(*key, only="value")
    # A sum over the paths may differ from the value of the flow in its last digits.
    same = pl.col("only").is_not_null() & ((pl.col("value") - pl.col("only")).abs() <= 1e-9 * pl.col("only").abs())
    found = scalars.join(alone, on=key, how="left", maintain_order="left")
    return found.filter((pl.col("flow") != ALL_FLOWS) | ~same).drop("only")


def _times(result: Result, frame: pl.DataFrame) -> tuple[float, float]:
    if frame.height:
        return float(np.asarray(frame["time"].min())), float(np.asarray(frame["time"].max()))
    runs: list[dict[str, Any]] = result.manifest.get("runs", [])
    return 0.0, max((run["simulated_s"] for run in runs), default=1.0)


def _between(time: Numbers, value: Numbers, start: float, end: float) -> tuple[Numbers, Numbers]:
    """The points from ``start`` to ``end``, with the value that holds at ``start``."""
    low, high = int(np.searchsorted(time, start, "left")), int(np.searchsorted(time, end, "right"))
    if low and (low == len(time) or time[low] > start) and low < high:
        return np.append(start, time[low:high]), np.append(value[low - 1], value[low:high])
    return time[low:high], value[low:high]
