"""The picture of a figure that has no drawing function of its own: curves over an axis of its scenario."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from . import plots
from .plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, Look

if TYPE_CHECKING:
    from .reproduce import FigureData

COLORS = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "v", "D", "x", "P")
LINES = ("-", "--", "-.", ":")


def overview(data: FigureData) -> Figure:
    """Mean and interval of the figure's quantity over the first axis with numbers.

    There is a curve for each combination of the other axes. Without an axis of numbers there are bars.
    """
    number = next((axis for axis in data.axes if _is_number(data, axis)), None)
    rest = [axis for axis in data.axes if axis != number]
    summary = data.summary(number=number).with_columns(_label(rest))
    names = summary["label"].unique(maintain_order=True).to_list()
    figure = plots.new_figure()
    axes = figure.add_subplot()
    if number is None:
        bars = plots.Bars(Look(data.spec.quantity, BLUE), summary["mean"].to_list(), summary["half_width"].to_list())
        plots.bars(axes, names, [bars])
    else:
        looks = zip(names, cycle(COLORS), cycle(LINES), cycle(MARKERS), strict=False)
        named = {name: Look(name, color, line, marker) for name, color, line, marker in looks}
        plots.curves(axes, summary, x=number, series="label", looks=named, marks=data.marks(number))
        axes.set_xlabel(number)
    unit = data.paper.quantities[data.spec.quantity].unit
    axes.set_ylabel(f"{data.spec.quantity} [{unit}]" if unit else data.spec.quantity)
    data.foot(figure)
    return figure


def _label(axes: list[str]) -> pl.Expr:
    if not axes:
        return pl.lit("measured").alias("label")
    return pl.concat_str([pl.col(axis).cast(pl.String) for axis in axes], separator=", ").alias("label")


def _is_number(data: FigureData, axis: str) -> bool:
    """Whether all values of an axis begin with a number, as rates and delays do."""
    return all(str(value)[:1].isdigit() for value in data.result.scalars[axis].unique())
