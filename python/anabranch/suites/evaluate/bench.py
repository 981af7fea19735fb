"""The bottleneck on which a control is evaluated: its scenarios, and the samples of their runs."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ...result import Result
from ...statistics import Estimate, estimate
from ..fairness.measure import RECOMMENDED
from ..running import Runner, ratio, read

RATE, BDP, RTT = 10e6, 50_000, 0.04
"""The bottleneck: bit/s, bytes, seconds."""
CUBIC, RENO = "cubic", "standard"
TIGHT = "link:tight"


@dataclass(frozen=True)
class Bench:
    """Runs scenarios with the control that is evaluated and with others in its place."""

    control: str
    run: Runner

    def sweep(self, name: str, scenario: Mapping[str, Any], controls: Sequence[str], **more: Any) -> Runs:
        """Runs a scenario with each control as ``x``, and with more options, replicas and all."""
        sets = {one.replace("-", "_"): options(one) | more for one in controls}
        varied = {"name": "control", "vary": list(sets)}
        flows = [flow | {"sctp": varied} if flow.get("sctp") == "x" else flow for flow in scenario["flow"]]
        return Runs(self.run(name, {**scenario, "sctp": sets, "flow": flows}), len(sets) > 1)


def options(control: str) -> dict[str, Any]:
    """The options of a control, or the recommended ones."""
    if control == RECOMMENDED:
        return {"profile": RECOMMENDED}
    return {"congestion_control": control, "send_buffer": "8 MB", "receive_buffer": "8 MB"}


class Runs:
    """Samples of one sweep."""

    def __init__(self, result: Result, varied: bool) -> None:
        self.result = result
        self._varied = varied

    def values(self, control: str, quantity: str, flow: str = "x", window: str = "") -> list[float]:
        """A scalar, one value for each replica."""
        rows = self.result.scalars.filter(pl.col("flow") == flow, pl.col("quantity") == quantity)
        rows = rows.filter(pl.col("window") == window, pl.col("path").is_null())
        return [float(value) for value in self._of(rows, control).sort("replica")["value"]]

    def series(self, control: str, quantity: str, flow: str | None = None) -> list[list[tuple[float, float]]]:
        """A probed quantity, of one flow or of all, the points of each replica."""
        rows = self.result.series.filter(pl.col("quantity") == quantity, pl.col("path").is_null())
        rows = self._of(rows if flow is None else rows.filter(pl.col("flow") == flow), control)
        found: dict[int, list[tuple[float, float]]] = {}
        for row in rows.sort("time").iter_rows(named=True):
            found.setdefault(row["replica"], []).append((row["time"], row["value"]))
        return list(found.values())

    def _of(self, rows: pl.DataFrame, control: str) -> pl.DataFrame:
        return rows.filter(pl.col("control") == control.replace("-", "_")) if self._varied else rows

    def use(self, control: str, window: str = "") -> Estimate:
        """The share of the bottleneck that carries packets."""
        return estimate(self.values(control, "utilisation", TIGHT, window))

    def loss(self, control: str, window: str = "") -> Estimate:
        """The share of packets that the bottleneck drops."""
        offered = self.values(control, "offered_packets", TIGHT, window)
        delivered = self.values(control, "delivered_packets", TIGHT, window)
        return estimate(max(0.0, 1 - d / o) if o else 0.0 for o, d in zip(offered, delivered, strict=True))

    def wait(self, control: str, part: float | None = None) -> Estimate:
        """Mean wait at the bottleneck in seconds, or the wait that a part of the time does not exceed."""
        runs = [[value for time, value in points if time > 10] for points in self.series(control, "queue")]
        pick = (lambda v: sum(v) / len(v)) if part is None else (lambda v: sorted(v)[int(part * (len(v) - 1))])
        return estimate(pick(values) * 1500 * 8 / RATE for values in runs)


def over(above: Estimate, below: Estimate) -> Estimate:
    """The ratio of two means; 1 if both are practically zero."""
    if below.mean < 1e-9:
        return Estimate(1.0 if above.mean < 1e-9 else float("inf"), 0.0, above.count)
    return ratio(above, below)


def base(**tight: Any) -> dict[str, Any]:
    """The network with other values of the bottleneck."""
    scenario = copy.deepcopy(read("evaluate", "network.toml"))
    link(scenario, "tight").update(tight)
    scenario["probe"] = [{"quantity": "queue", "link": "tight", "every": "100 ms"}]
    return scenario


def link(scenario: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A link of a scenario."""
    return next(one for one in scenario["link"] if one["name"] == name)


def queue(bdps: float) -> dict[str, Any]:
    """A drop-tail queue of some bandwidth-delay products."""
    return {"kind": "drop-tail", "bytes": f"{max(3000, bdps * BDP):.0f} B"}


def contender(seconds: float = 60, name: str = "x", start: str = "0 s", **keys: Any) -> dict[str, Any]:
    """A saturated flow of the control, measured after 10 s."""
    return {
        "name": name, "client": "a", "server": "b", "protocol": "SCTP", "sctp": "x", "frame_rate": "0 Hz",
        "start_time": start, "reset_time": "10 s", "stop_time": f"{seconds:g} s",
    } | keys  # fmt: skip


def beside(protocol: str = "TCP", seconds: float = 60, **keys: Any) -> dict[str, Any]:
    """A flow beside the contender."""
    return {
        "name": "y", "client": "s", "server": "d", "protocol": protocol, "frame_rate": "0 Hz", "start_time": "0 s",
        "reset_time": "10 s", "stop_time": f"{seconds:g} s",
    } | keys  # fmt: skip
