"""``Result.plot``: one quantity of a result as a figure with labelled axes."""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from . import plots
from .statistics import summarize
from .units import ALL_FLOWS, unit_of

if TYPE_CHECKING:
    from .result import Result


COLORS = (plots.BLUE, plots.VERMILION, plots.GREEN, plots.PINK, plots.ORANGE, plots.SKY, plots.BLACK)
LINES = ("-", "--", "-.", ":")
MARKERS = "osD^vPX"
MOST_CURVES = 20
"""Largest number of curves in a figure; the caller must restrict a result that has more."""


class Drawing(Figure):
    """A figure that notebooks show without further calls."""

    def _repr_png_(self) -> bytes:
        drawn = io.BytesIO()
        self.savefig(drawn, format="png", dpi=150)
        return drawn.getvalue()


def draw(result: Result, quantity: str, *, flow: str | None, path: int | None, run: int, x: str | None) -> Drawing:
    """A quantity over time if a probe recorded it, and otherwise means and intervals over an axis of the sweep."""
    recorded = set(result.series["quantity"].unique())
    measured = set(result.scalars["quantity"].unique())
    if quantity not in recorded | measured:
        probes = ", ".join(sorted(recorded)) or "none"
        raise KeyError(
            f"no quantity `{quantity}`: probes recorded {probes}; measured are {', '.join(sorted(measured))}"
        )
    with plots.style():
        drawing = Drawing(figsize=(plots.PAGE_WIDTH * 0.8, 2.9))
        FigureCanvasAgg(drawing)
        if quantity in recorded:
            _over_time(drawing, result, quantity, (flow, path, run))
        else:
            _over_axis(drawing, result, quantity, (flow, path, x))
    return drawing


def _chosen(frame: pl.DataFrame, quantity: str, flow: str | None, path: int | None) -> pl.DataFrame:
    rows = frame.filter(quantity=quantity)
    if flow is not None:
        rows = rows.filter(flow=flow)
    if path is not None:
        rows = rows.filter(path=path)
    if rows.is_empty():
        known = ", ".join(frame.filter(quantity=quantity)["flow"].unique(maintain_order=True))
        raise KeyError(f"no `{quantity}` of flow {flow!r} and path {path!r}: there are {known}")
    return rows


def _name(flow: str, path: str | None, flows: int) -> str:
    """The name of a curve; ``path`` is the label of a path."""
    if path is None:
        return flow.removeprefix("link:")
    return path if flows == 1 else f"{flow}, {path}"


def _over_time(drawing: Drawing, result: Result, quantity: str, which: tuple[str | None, int | None, int]) -> None:
    flow, path, run = which
    unit = unit_of(quantity)
    rows = _chosen(result.series.filter(run=run), quantity, flow, path)
    groups = rows.partition_by(["flow", "path"], maintain_order=True)
    _check(len(groups), "`flow` or `path`")
    axes = drawing.subplots()
    flows = rows["flow"].n_unique()
    until = max(result.series.filter(run=run)["time"].to_list(), default=0.0)
    for place, group in enumerate(groups):
        name, number = group["flow"][0], group["path"][0]
        label = _name(name, None if number is None else result.path_label(name, number, run=run), flows)
        look = plots.Look(label, COLORS[place % len(COLORS)], LINES[place // len(COLORS) % len(LINES)])
        value = (group["value"] * unit.scale).to_list()
        if "throughput" in quantity:
            axes.plot(group["time"], value, label=label, color=look.color, linestyle=look.line)
        else:
            plots.steps(axes, group["time"].to_list(), value, until=until, look=look)
    axes.set_xlabel("time, s")
    axes.set_ylabel(unit.label)
    axes.set_ylim(bottom=0)
    _finish(drawing, result, len(groups), f"run {run}" if result.scalars["run"].n_unique() > 1 else "")


def _over_axis(
    drawing: Drawing, result: Result, quantity: str, which: tuple[str | None, int | None, str | None]
) -> None:
    flow, path, x = which
    unit = unit_of(quantity)
    rows = _chosen(result.scalars.filter(window=""), quantity, flow, path)
    if path is None and rows["path"].null_count():
        rows = rows.filter(pl.col("path").is_null())
    if x is not None and x not in result.axes:
        raise KeyError(f"no axis `{x}`: there are {', '.join(result.axes) or 'none'}")
    # All flows together are drawn only if the caller names them, or if the result has no single flows.
    if flow is None and (single := rows.filter(pl.col("flow") != ALL_FLOWS)).height:
        rows = single
    along = x or next(iter(result.axes), None)
    others = [axis for axis in result.axes if axis != along]
    keys = [*others, "flow", "path"]
    summary = summarize(rows, [*result.axes, "flow", "path"])
    axes = drawing.subplots()
    least = -math.inf if unit.may_be_negative else 0.0
    places = _places(summary[along].unique(maintain_order=True).to_list()) if along else {}
    groups = summary.partition_by(keys, maintain_order=True)
    _check(len(groups), "`flow` or `path`")
    several, named = rows["flow"].n_unique(), rows.select("flow", "path").n_unique() > 1
    for place, group in enumerate(groups):
        parts = [f"{axis} = {group[axis][0]}" for axis in others]
        if named or not parts:
            name, number = group["flow"][0], group["path"][0]
            back = quantity.startswith("back_")
            parts.append(_name(name, None if number is None else result.path_label(name, number, back=back), several))
        look = plots.Look(
            ", ".join(parts), COLORS[place % len(COLORS)], LINES[place // len(COLORS) % 4], MARKERS[place % 7]
        )
        at = [places[value] for value in group[along]] if along else [float(place)]
        means, halves = (group[name] * unit.scale for name in ("mean", "half_width"))
        plots.curve(axes, at, means.to_list(), halves.to_list(), look, least=least)
    if along and any(place != _number(value) for value, place in places.items()):
        axes.set_xticks(list(places.values()), [str(value) for value in places])
    axes.set_xlabel(along or "flow")
    if not along:
        axes.set_xticks([])
    axes.set_ylabel(unit.label)
    low, high = axes.get_ylim()
    bottom = min(0.0, low) if unit.may_be_negative else 0.0
    axes.set_ylim(bottom, high + 0.03 * (high - bottom))
    most = max(summary["count"].to_list())
    _finish(drawing, result, len(groups), plots.MEANS_AND_INTERVALS, most)


def _check(curves: int, what: str) -> None:
    if curves > MOST_CURVES:
        raise ValueError(f"{curves} curves are too many for one figure; choose with {what}")


def _number(value: object) -> float | None:
    found = re.fullmatch(r"\s*([0-9.eE+-]+)", str(value))
    return float(found[1]) if found else None


def _places(values: list[object]) -> dict[object, float]:
    """The positions of the values of an axis: their numbers, or 0, 1, 2 ... if some value is not a number."""
    numbers = [_number(value) for value in values]
    if all(number is not None for number in numbers):
        return {value: number for value, number in zip(values, numbers, strict=True) if number is not None}
    return {value: float(place) for place, value in enumerate(values)}


def _finish(drawing: Drawing, result: Result, curves: int, note: str, most: int = 0) -> None:
    """Adds legend, title and foot; ``most`` is the largest number of replicas of a point."""
    axes = drawing.axes[0]
    if curves > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0, frameon=False)
    title = str(result.manifest.get("title", ""))
    axes.set_title(title, loc="left")
    replicas = int(result.manifest.get("replicas", 1))
    seed = result.manifest.get("seed", 0)
    more = f"up to {most} replicas of a point" if most > replicas > 1 else ""
    plots.foot(drawing, int(seed or 0), replicas, more, shown=note)
