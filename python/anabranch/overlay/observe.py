"""The quantities of an overlay, in the time bins of its plan: of simulated replicas, and of real runs."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from ..folder import manifest_of
from ..result import Result
from . import foreign
from .plan import FINE, Flow, OverlayError, Plan
from .real import VECTOR

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, order=True)
class Quantity:
    """A compared quantity of a flow, of one of its paths, or of one direction of a link."""

    place: str
    what: str
    unit: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}, {self.unit}" if self.unit else f"{self.place}: {self.what}"


Values: TypeAlias = dict[Quantity, list[float]]
"""For each quantity, its value in each bin."""

LEAST_QUEUE = 1.0
"""A queue with fewer packets on average in every run is left out."""


@dataclass(frozen=True)
class Points:
    """A recorded series: each value holds until the next point."""

    times: list[float]
    values: list[float]

    def at(self, time: float) -> float | None:
        """The value at a time; None before the first point."""
        place = bisect_right(self.times, time + 1e-9) - 1
        return self.values[place] if place >= 0 else None

    def samples(self, low: float, high: float) -> list[float]:
        """The values at each point of the fine grid of a bin, except at the beginning of the bin."""
        count = round((high - low) / FINE)
        found = (self.at(low + (number + 1) * FINE) for number in range(count))
        return [value for value in found if value is not None]


def simulated(plan: Plan, result: Result) -> list[Values]:
    """The quantities of each replica of a sweep over the plan's scenario."""
    retransmitted = result.scalars.filter(quantity="retransmitted_chunks")
    replicas: list[Values] = []
    for replica in sorted(result.series["replica"].unique()):
        series = _points(result.series.filter(replica=replica))
        values: Values = {}
        for flow in plan.flows:
            _put(values, flow.name, "throughput", _means(plan, series[flow.name, None, "throughput"], 1e-6))
            for path in _paths(series, flow.name):
                _put_path(values, plan, flow, path, series)
                rows = retransmitted.filter(replica=replica, flow=flow.name, path=path)
                counts = dict(zip(rows["window"], rows["value"], strict=True))
                bins = [counts.get(str(number), 0.0) for number in range(len(plan.bins) - 1)]
                _put(values, f"{flow.name}, path {path}", "retransmissions", bins)
        _put_links(values, plan, series, 0.0)
        replicas.append(values)
    return replicas


def real(plan: Plan, folder: Path) -> Values:
    """The quantities of a real run: a folder of :func:`anabranch.overlay.real.run`, or of ``anabranch measure --out``.

    The times of a run are shifted so that its first message leaves at the time in the plan.
    """
    alone = (folder / "manifest.json").is_file()
    if alone and len(plan.flows) > 1:
        raise OverlayError(f"{folder} is a measurement of one flow; the scenario has {len(plan.flows)}")
    values: Values = {}
    shift = 0.0
    for flow in reversed(plan.flows):
        own = folder if alone else folder / flow.name
        if not (own / "manifest.json").is_file():
            raise OverlayError(f"{own}: expected a folder that `anabranch measure --out` wrote")
        shift = _measured(values, plan, flow, own, None if alone else folder / "emulation")
    if not alone:
        _put_links(values, plan, _points(Result.read(folder / "emulation").series), shift)
    return values


def _measured(values: Values, plan: Plan, flow: Flow, folder: Path, emulation: Path | None) -> float:
    """Adds the measurements of both sides of a flow; returns how late its first message was, in seconds."""
    manifest = manifest_of(folder)
    begun = manifest_of(emulation)["emulation"]["begun_us"] * 1e-6 if emulation is not None else None
    if manifest.get("schema") == foreign.SCHEMA:
        sent = manifest["begun_us"] * 1e-6
        _put_throughput(values, plan, flow, foreign.arrivals(folder), sent)
        return sent - begun - flow.start if begun is not None else 0.0
    if not str(manifest.get("schema", "")).startswith("anabranch.measure/"):
        raise OverlayError(f"{folder}: expected a folder that `anabranch measure --out` wrote")
    shift = 0.0
    if (folder / VECTOR).is_file():
        arrivals = _arrivals(folder / VECTOR)
        sent = min((at - delay for at, _, delay in arrivals), default=0.0)
        if begun is not None and arrivals:
            shift = sent - begun - flow.start
        _put_throughput(values, plan, flow, [(at, size) for at, size, _ in arrivals], sent)
    intervals = [part for part in manifest["intervals"] if part["associations"]]
    for path in range(len(intervals[0]["associations"][0]["paths"]) if intervals else 0):
        found = [(part, part["associations"][0]["paths"]) for part in intervals]
        parts = [
            (part["from_s"] + flow.start, part["to_s"] + flow.start, of[path]) for part, of in found if path < len(of)
        ]
        place = f"{flow.name}, path {path}"
        _put(values, place, "sent", _rates(plan, [(low, high, 8.0 * of["user_bytes"]) for low, high, of in parts]))
        _put_rtt(
            values, plan, place, _series((high, of["srtt_s"]) for _, high, of in parts if of["srtt_s"] is not None)
        )
        lost = [(low, high, float(of["retransmissions"])) for low, high, of in parts]
        _put(values, place, "retransmissions", spread(plan, lost))
    return shift


def compared(replicas: Sequence[Values], runs: Sequence[Values]) -> list[Quantity]:
    """The quantities that all replicas and runs have, without idle queues and quantities that are zero everywhere."""
    common = set.intersection(*(set(values) for values in (*replicas, *runs)))

    def matters(quantity: Quantity) -> bool:
        most = max(fmean(values[quantity]) for values in (*replicas, *runs))
        return most >= LEAST_QUEUE if quantity.what == "queue" else most > 0.0

    order = ("throughput", "sent", "RTT, median", "RTT, 95 %", "retransmissions", "queue", "drops")
    return sorted(filter(matters, common), key=lambda q: (q.place.startswith("link"), order.index(q.what), q.place))


_UNITS = {"throughput": "Mbit/s", "sent": "Mbit/s", "RTT, median": "ms", "RTT, 95 %": "ms", "retransmissions": "chunks",
          "queue": "packets", "drops": "packets"}  # fmt: skip


def _put(values: Values, place: str, what: str, bins: Sequence[float] | None) -> None:
    if bins is not None:
        values[Quantity(place, what, _UNITS[what])] = list(bins)


def _put_throughput(values: Values, plan: Plan, flow: Flow, arrivals: Sequence[tuple[float, int]], sent: float) -> None:
    """Adds the rate at which bytes arrived. ``sent`` is the time of day of the first message."""
    amounts = [(at - sent + flow.start, at - sent + flow.start, 8.0 * size) for at, size in arrivals]
    _put(values, flow.name, "throughput", _rates(plan, amounts))


def _put_path(values: Values, plan: Plan, flow: Flow, path: int, series: Mapping[Any, Points]) -> None:
    place = f"{flow.name}, path {path}"
    _put(values, place, "sent", _means(plan, series[flow.name, path, "sent-throughput"], 1e-6))
    if (flow.name, path, "srtt") in series:
        _put_rtt(values, plan, place, series[flow.name, path, "srtt"])


def _put_rtt(values: Values, plan: Plan, place: str, points: Points) -> None:
    bins = [sorted(points.samples(low, high)) for low, high in _pairs(plan)]
    if all(bins):
        for what, share in (("RTT, median", 0.5), ("RTT, 95 %", 0.95)):
            _put(values, place, what, [1e3 * bin[math.ceil(share * len(bin)) - 1] for bin in bins])


def _put_links(values: Values, plan: Plan, series: Mapping[Any, Points], shift: float) -> None:
    for flow, _, what in series:
        if flow.startswith("link:"):
            points = series[flow, None, what]
            moved = Points([time - shift for time in points.times], points.values)
            place = "link " + flow.removeprefix("link:")
            if what == "queue":
                _put(values, place, "queue", _means(plan, moved))
            elif what == "drops":
                edges = [moved.at(edge) or 0.0 for edge in plan.bins]
                _put(values, place, "drops", [after - before for before, after in pairwise(edges)])


def _pairs(plan: Plan) -> list[tuple[float, float]]:
    return list(zip(plan.bins, plan.bins[1:], strict=False))


def _means(plan: Plan, points: Points, scale: float = 1.0) -> list[float] | None:
    bins = [points.samples(low, high) for low, high in _pairs(plan)]
    return [scale * math.fsum(bin) / len(bin) for bin in bins] if all(bins) else None


def _rates(plan: Plan, amounts: Iterable[tuple[float, float, float]]) -> list[float]:
    """Amounts of bits as Mbit/s in each bin."""
    width = plan.bins[1] - plan.bins[0]
    return [1e-6 * total / width for total in spread(plan, amounts)]


def spread(plan: Plan, amounts: Iterable[tuple[float, float, float]]) -> list[float]:
    """Distributes amounts over the time bins; each amount has the begin and the end of the time in which it arrived."""
    first, width, count = plan.bins[0], plan.bins[1] - plan.bins[0], len(plan.bins) - 1
    bins = [0.0] * count
    for low, high, amount in amounts:
        begin, end = (low - first) / width, (high - first) / width
        if begin == end:
            if 0 <= begin < count:
                bins[int(begin)] += amount
            continue
        for number in range(max(0, math.floor(begin)), min(count, math.ceil(end))):
            bins[number] += amount * (min(end, number + 1) - max(begin, number)) / (end - begin)
    return bins


def _series(points: Iterable[tuple[float, float]]) -> Points:
    found = list(points)
    return Points([time for time, _ in found], [value for _, value in found])


def _points(series: pl.DataFrame) -> dict[tuple[str, int | None, str], Points]:
    """The series by flow, path and quantity."""
    found: dict[tuple[str, int | None, str], Points] = {}
    for (flow, path, quantity), rows in series.group_by(["flow", "path", "quantity"], maintain_order=True):
        found[str(flow), path if isinstance(path, int) else None, str(quantity)] = Points(
            rows["time"].to_list(), rows["value"].to_list()
        )
    return found


def _paths(series: Iterable[tuple[str, int | None, str]], flow: str) -> list[int]:
    return sorted(
        {path for name, path, what in series if name == flow and path is not None and what == "sent-throughput"}
    )


def _arrivals(file: Path) -> list[tuple[float, int, float]]:
    """For each received message: the time of day in seconds, the bytes, and the transit time in seconds."""
    rows = (line.split() for line in file.read_text(encoding="ascii").splitlines()[1:])
    return [(int(row[1]) * 1e-6, int(row[7]), float(row[10]) * 1e-3) for row in rows]
