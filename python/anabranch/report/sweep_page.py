"""The page about a sweep: every point with its interval, and every run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
from bokeh.models import ColumnDataSource, HoverTool, Range1d
from bokeh.plotting import figure

from ..folder import table_of
from ..reproduce import leading_number
from ..result import Result
from ..units import unit_of
from .differences import FIRST, differences
from .page import Cell, Page, asset, details, escape, in_script, number, table
from .run_page import network, origin

MOST_ROWS = 60_000
"""Rows of points in a page; beyond it only the quantities of :data:`FIRST` are in it."""
MOST_RUNS = 2000
"""Runs listed in a page."""

TOOLTIPS = [("", "@label"), ("mean", "@y{0.[0000]}"), ("interval", "@low{0.[0000]} to @high{0.[0000]}")]
FILTERS = """<form id="sweep-controls" class="controls" aria-label="Which points are shown">
{selects}
</form>"""


def build(result: Result, name: str, text: str | None, folder: str | None, compare: str | None = None) -> Page:
    """The page of a sweep; ``folder`` leads from the page to its stored runs.

    ``compare`` is the axis of the paired differences, and its baseline: ``AXIS`` or ``AXIS=BASELINE``.
    """
    manifest = result.manifest
    page = Page(str(manifest.get("title") or name))
    axes = manifest.get("axes", [])
    page.lead = _extent(result)
    page.lead += origin(manifest, {})
    failed = [run for run in manifest.get("runs", []) if run.get("failures")]
    if failed:
        page.add(f'<p class="warn">{len(failed)} runs failed: see their rows in the table of runs.</p>')
    page.section("points", "Points")
    page.add("<p>Means and 95 % intervals over the replicas. The table below the picture has the same points.</p>")
    _points(page, result)
    differences(page, result, compare)
    page.section("axes", "Axes")
    page.add(table(["axis", "values"], [[axis["name"], ", ".join(map(str, axis["values"]))] for axis in axes]))
    page.section("runs", "Runs")
    page.add(_runs(manifest, folder))
    page.section("network", "Network and scenario")
    page.add(*network(text))
    return page


def _extent(result: Result) -> str:
    """The number of runs, of points of the axes, and of replicas of a point; ``sweep --until`` adds some to a few."""
    runs = result.scalars.select("run", "replica", *result.axes).unique()
    counts = runs.group_by(result.axes).len()["len"].to_list() if result.axes else [runs.height]
    replicas = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    return f"<p>{runs.height} runs: {len(counts)} points of the axes, {replicas} replicas of each.</p>"


def _points(page: Page, result: Result) -> None:
    """The picture and the table of points, which the controls above them choose."""
    summary = _summary(result)
    first = {q: place for place, q in enumerate(FIRST)}
    quantities = sorted(summary["quantity"].unique(), key=lambda q: (first.get(q, 99), q))
    axes = result.axes
    selects = [_select("quantity", "Quantity", quantities), _select("of", "of", [])]
    selects.append(_select("x", "along", axes))
    values = {axis: _values(result, axis) for axis in axes}
    selects += [_select(f"axis-{n}", axis, ["all", *values[axis]]) for n, axis in enumerate(axes)]
    page.add(FILTERS.format(selects="\n".join(selects)))
    page.figure("points", _picture(), "Means and intervals")
    page.add('<ul id="sweep-key" class="key" aria-label="Lines of the picture"></ul>')
    page.add('<div id="sweep-table" class="scroll" aria-live="polite"></div>')
    columns = {name: [None if isinstance(v, float) and not math.isfinite(v) else v for v in summary[name].to_list()]
               for name in summary.columns}  # fmt: skip
    orders = {axis: {value: place for place, value in enumerate(values[axis])} for axis in axes}
    numbers = {axis: _numbers(orders[axis]) for axis in axes}
    units = {q: asdict(unit_of(q)) | {"label": unit_of(q).label} for q in quantities}
    data = {"axes": axes, "columns": columns, "order": orders, "numbers": numbers, "paths": _paths(result),
            "units": units}  # fmt: skip
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, default=str)
    page.add(f'<script type="application/json" id="sweep-data">{in_script(text)}</script>')
    page.scripts.append(asset("sweep.js"))


def _summary(result: Result) -> pl.DataFrame:
    """Mean, half width and runs of each point."""
    summary = result.summary()
    if result.axes:
        first = result.scalars.group_by(result.axes, maintain_order=True).agg(pl.col("run").min())
        summary = summary.join(first, on=result.axes, how="left", maintain_order="left")
    else:
        summary = summary.with_columns(run=pl.lit(0))
    if summary.height > MOST_ROWS:
        summary = summary.filter(pl.col("quantity").is_in(FIRST))
    # An axis of numbers and one of text look the same in the page.
    return summary.with_columns(pl.col(axis).map_elements(_word, return_dtype=pl.String) for axis in result.axes)


def _paths(result: Result) -> dict[str, dict[str, dict[int, str]]]:
    """What the page calls paths: by direction, flow and number."""
    known = result.scalars.drop_nulls("path").select("flow", "path").unique(maintain_order=True).rows()
    labels: dict[str, dict[str, dict[int, str]]] = {"forward": {}, "back": {}}
    for flow, path in known:
        for direction, of in labels.items():
            of.setdefault(flow, {})[path] = result.path_label(flow, path, back=direction == "back")
    return labels


def _word(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _values(result: Result, axis: str) -> list[str]:
    """The values of an axis: by size if they are numbers, otherwise in the order of the scenario.

    ``1 MiB`` is more than ``64 KiB``: results have a column of the numbers in the base unit.
    """
    columns = {found["name"]: found.get("number_column") for found in result.manifest.get("axes", [])}
    sizes = columns.get(axis) or axis
    pairs = result.scalars.select(value=pl.col(axis), size=pl.col(sizes)).unique(maintain_order=True)
    if pairs["size"].dtype.is_numeric():
        pairs = pairs.sort("size", maintain_order=True)
    return [_word(value) for value in pairs["value"]]


def _numbers(order: Mapping[str, int]) -> list[float] | None:
    """The values of an axis as numbers, if they are numbers with one unit."""
    units = {value.partition(" ")[2] for value in order}
    try:
        return [leading_number(value) for value in order] if len(units) == 1 else None
    except ValueError:
        return None


def _select(name: str, label: str, values: Sequence[str]) -> str:
    options = "".join(f'<option value="{escape(v)}">{escape(v)}</option>' for v in values)
    return f'<label>{escape(label)} <select name="{escape(name)}">{options}</select></label>'


def _picture() -> Any:
    """An empty picture of points with intervals, which the page fills."""
    drawn = figure(
        height=380, sizing_mode="stretch_width", tools="pan,box_zoom,reset,save", x_range=Range1d(start=0, end=1),
        y_range=Range1d(start=0, end=1), min_border_left=72, name="points", output_backend="canvas",
    )  # fmt: skip
    drawn.toolbar.logo = None
    drawn.toolbar.autohide = True
    lines = ColumnDataSource({"xs": [], "ys": [], "color": []}, name="points:lines")
    columns = ("x", "y", "low", "high", "bottom", "color", "marker", "label")
    points = ColumnDataSource({name: [] for name in columns}, name="points:points")
    drawn.multi_line("xs", "ys", source=lines, color="color", line_width=1.4)
    drawn.segment("x", "bottom", "x", "high", source=points, color="color", line_width=1.6)
    shown = drawn.scatter("x", "y", source=points, color="color", marker="marker", size=8)
    drawn.add_tools(HoverTool(renderers=[shown], tooltips=TOOLTIPS))
    return drawn


def _runs(manifest: Mapping[str, Any], folder: str | None) -> str:
    """Every run with its values, its digest, and a link to its stored results."""
    runs = manifest.get("runs", [])
    axes = [axis["name"] for axis in manifest.get("axes", [])]
    rows: list[list[object]] = []
    for run in runs[:MOST_RUNS]:
        values = [_word(run["parameters"].get(axis)) for axis in axes]
        link = escape(run["hash"][:12])
        if folder is not None:
            link = f'<a href="{escape(folder)}/runs/{escape(run["hash"])}/">{link}</a>'
        notes = "; ".join([*run.get("failures", []), *run.get("warnings", [])])
        place = Cell(f'<span id="run-{run["run"]}">{run["run"]}</span>', number=True)
        rows.append([place, run["replica"], *values, run["digest"], Cell(link), notes])
    more = f"<p>{len(runs) - MOST_RUNS} more runs are in manifest.json.</p>" if len(runs) > MOST_RUNS else ""
    note = (
        "<p>The folder of each run leads to its tables; <code>anabranch report FOLDER</code> makes a page of it.</p>"
        if folder is not None else ""
    )  # fmt: skip
    listed = table(["run", "replica", *axes, "digest", "folder", "notes"], rows, names=0)
    return note + (details(f"All {len(rows)} runs", listed) if len(rows) > 40 else listed) + more


def stored(folder: Path, manifest: dict[str, Any]) -> Result:
    """A run in the store of a sweep, as the result of one run."""
    scalars, series = (table_of(folder, manifest, name) for name in ("scalars", "series"))
    columns = {"run": pl.lit(0, dtype=pl.Int32), "replica": pl.lit(manifest["replica"], dtype=pl.Int32)}
    missing = {name: value for name, value in columns.items() if name not in scalars.columns}
    record = {**manifest, "run": 0, "simulated_s": manifest["simulated_ns"] / 1e9, "parameters": {}}
    return Result(
        scalars.with_columns(**missing), series.with_columns(**missing), {**manifest, "title": "", "runs": [record]}
    )
