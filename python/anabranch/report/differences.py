"""Paired differences between the variants of a sweep, for the page and for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import polars as pl

from ..result import Result
from ..shipped import UsageError
from ..units import unit_of
from .page import Page, details, number, table

FIRST = ("throughput_bps", "back_throughput_bps", "fairness_index", "system_utilisation", "utilisation", "srtt_s",
         "retransmitted_chunks", "timeouts", "queue_max_packets", "goodput_share")  # fmt: skip
"""Quantities that a page lists before all others, the main one first."""
MOST_SHOWN = 40
"""Rows of a table that is not folded away."""
MOST_ROWS = 1000
"""Rows of a table."""
NOTE = """<p>The runs of one replica draw the same random numbers in all variants. Each row compares two variants
replica by replica: mean of the difference, and its 95 % interval (Student's t over the pairs). An interval without 0 is
a difference, also where the intervals of the two variants overlap.</p>"""


def differences(page: Page, result: Result, compare: str | None) -> None:
    """Adds the section of the paired differences, if there are variants and at least two replicas.

    Raises :class:`UsageError` if the axis or the baseline of ``compare`` does not exist, or cannot be compared.
    """
    axes = _axes(result, compare)
    if not axes:
        return
    page.section("differences", "Paired differences")
    page.add(NOTE)
    for axis, baseline in axes:
        found = list(_of_axis(result, axis, baseline))
        for place, frame in enumerate(found):
            page.add(_table(frame, axis, folded=place > 0))


def as_text(result: Result, compare: str) -> str:
    """The paired differences of the main quantity as lines of text."""
    ((axis, baseline),) = _axes(result, compare)
    frame = next(_of_axis(result, axis, baseline))
    head, body = _shown(frame, axis)
    rows = [head, *([_text(value) for value in row] for row in body)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([_title(frame, axis), *lines])


def _axes(result: Result, compare: str | None) -> list[tuple[str, str | None]]:
    """The axes to compare, with the baseline of each."""
    axes: list[tuple[str, str | None]] = [(axis, None) for axis in result.axes]
    if compare is not None:
        axis, equals, baseline = compare.partition("=")
        axes = [(axis.strip(), baseline.strip() if equals else None)]
        try:
            for axis, baseline in axes:
                result.compare(axis, _main(result), baseline=baseline)
        except KeyError as error:
            raise UsageError(f"--compare {compare}: {error.args[0]}") from error
    varied = [(axis, baseline) for axis, baseline in axes if result.scalars[axis].n_unique() > 1]
    enough = result.scalars["replica"].n_unique() > 1
    if compare is not None and not varied:
        raise UsageError(f"--compare {compare}: the axis has one value, so there is nothing to compare")
    if compare is not None and not enough:
        raise UsageError(f"--compare {compare}: the sweep has one replica; an interval needs at least two")
    return varied if enough else []


def _main(result: Result) -> str:
    """The quantity that is compared first."""
    known = result.scalars.filter(pl.col("path").is_null())["quantity"].unique(maintain_order=True).to_list()
    return next((quantity for quantity in FIRST if quantity in known), result.scalars["quantity"][0])


def _of_axis(result: Result, axis: str, baseline: str | None) -> Iterator[pl.DataFrame]:
    """The differences of whole flows and links: the main quantity, then the others together."""
    main, known = _main(result), set(result.scalars["quantity"])
    yield result.compare(axis, main, baseline=baseline).filter(pl.col("path").is_null())
    frames = [result.compare(axis, q, baseline=baseline) for q in FIRST if q in known and q != main]
    if frames:
        others = pl.concat(frames).filter(pl.col("path").is_null())
        if not others.is_empty():
            yield others


def _table(frame: pl.DataFrame, axis: str, *, folded: bool) -> str:
    head, rows = _shown(frame, axis, quantity=folded)
    title = "Other quantities" if folded else _title(frame, axis)
    names = head.index("baseline mean")
    shown = table(head, rows[:MOST_ROWS], title, names=names)
    if len(rows) > MOST_ROWS:
        shown += f"<p>{len(rows) - MOST_ROWS} more rows: see <code>Result.compare</code>.</p>"
    return details(f"{title}: {len(rows)} rows", shown) if folded or len(rows) > MOST_SHOWN else shown


def _title(frame: pl.DataFrame, axis: str) -> str:
    if frame.is_empty():
        return f"{axis} against its baseline"
    quantity = frame["quantity"][0]
    unit = f" in {found}" if (found := unit_of(quantity).unit) else ""
    return f"{quantity}{unit}, {axis} against {_text(frame['baseline'][0])}"


def _shown(frame: pl.DataFrame, axis: str, *, quantity: bool = False) -> tuple[list[str], list[list[Any]]]:
    """Head and rows of a table: with ``quantity`` and unit of each if wanted, and the window if there are several."""
    after = frame.columns[frame.columns.index("baseline") :]
    keys = [axis, *(name for name in frame.columns if name not in {axis, "path", *after})]
    left_out = {"window": frame["window"].n_unique() < 2, "quantity": not quantity}
    keys = [key for key in keys if not left_out.get(key)]
    rows: list[list[Any]] = []
    for row in frame.iter_rows(named=True):
        unit = unit_of(row["quantity"])
        numbers = [row["baseline_mean"], row["difference"], _interval(row)]
        cells = [_text(row[key]) for key in keys] + [unit.unit] * quantity
        cells += [None if value is None else value * unit.scale for value in numbers]
        rows.append([*cells, _share(row), row["pairs"], row["note"]])
    head = [*keys, *["unit"] * quantity, "baseline mean", "difference", "± (95 %)", "in % of the baseline"]
    return [*head, "pairs", "note"], rows


def _interval(row: dict[str, Any]) -> float | None:
    return row["half_width"] if math.isfinite(row["half_width"]) else None


def _share(row: dict[str, Any]) -> str:
    """The difference and its interval in percent of the mean of the baseline."""
    if not row["baseline_mean"] or not math.isfinite(row["half_width"]):
        return ""
    unit = 100 / abs(row["baseline_mean"])
    return f"{row['difference'] * unit:+.2f} ± {row['half_width'] * unit:.2f}"


def _text(value: object) -> str:
    return "" if value is None else number(value) if isinstance(value, float) else str(value)
