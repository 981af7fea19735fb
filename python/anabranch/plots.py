"""Figures for print, in colours that colour-blind readers can tell apart.

Every figure states seed and replicas at its foot. Sizes are those of an IEEE page.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from PIL import Image, ImageColor

COLUMN_WIDTH = 3.5
"""Width of an IEEE column, in inches."""
PAGE_WIDTH = 7.16
"""Width of both IEEE columns, in inches."""
MEANS_AND_INTERVALS = "mean and 95 % confidence interval"

BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, BLACK = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
)  # fmt: skip

FORMATS = ("pdf", "svg", "png")


@dataclass(frozen=True, slots=True)
class Look:
    """The style of one curve: colour, dash pattern and marker. Each of the three identifies it."""

    label: str
    color: str
    line: str | tuple[int, tuple[float, ...]] = "-"
    marker: str = "o"


@dataclass(frozen=True, slots=True)
class Mark:
    """A value that a paper states, drawn as a wide bar behind the measured one."""

    x: float
    y: float
    whose: str = "the paper"


@contextmanager
def style() -> Iterator[None]:
    """Applies the common style to figures that are created inside the ``with`` block."""
    with as_file(files(__package__ or "anabranch") / "style.mplstyle") as path, mpl.rc_context(fname=path):
        yield


def new_figure(width: float = COLUMN_WIDTH, height: float = 2.7) -> Figure:
    """An empty figure, which needs neither a display nor pyplot."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def foot(figure: Figure, seed: int, replicas: int, note: str = "", shown: str = MEANS_AND_INTERVALS) -> None:
    """Writes seed, replicas, the kind of average and a note below the axes."""
    many = f"{replicas} replicas, {shown}" if replicas > 1 else "1 replica"
    more = f" ({note})" if note else ""
    figure.supxlabel(f"seed {seed}, {many}{more}", fontsize=6, color="0.35")


def curves(
    axes: Axes, summary: pl.DataFrame, *, x: str, series: str, looks: Mapping[str, Look], marks: Iterable[Mark] = ()
) -> None:
    """Draws a curve with error bars for each value of ``series``, in the order of ``looks``, and the stated values.

    ``summary`` comes from :func:`anabranch.statistics.summarize`: columns ``x``, ``series``, ``mean``, ``half_width``.
    A single replica has no error bars.
    """
    for name, look in looks.items():
        points = summary.filter(pl.col(series) == name).sort(x)
        curve(axes, points[x].to_list(), points["mean"].to_list(), points["half_width"].to_list(), look)
    handles, labels = axes.get_legend_handles_labels()
    if stated := list(marks):
        # Wider than the markers and behind them, so that a measured value at the same place remains visible.
        bars = axes.scatter(
            [mark.x for mark in stated], [mark.y for mark in stated], marker="_", s=170, color="0.45", linewidths=2.6,
            alpha=0.75, zorder=1, clip_on=False,
        )  # fmt: skip
        handles, labels = [*handles, bars], [*labels, f"stated by {stated[0].whose}"]
    axes.set_ylim(bottom=0)
    above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2, "frameon": False}
    axes.legend(handles, labels, **above)


def curve(
    axes: Axes, x: Sequence[float], means: Sequence[float], half_widths: Sequence[float], look: Look,
    *, least: float = -math.inf, **style: Any,
) -> None:  # fmt: skip
    """Draws one curve with error bars that end at ``least``; infinite half widths have none."""
    above = _bar_lengths(half_widths)
    below = [max(0.0, min(length, mean - least)) for length, mean in zip(above, means, strict=True)]
    axes.errorbar(
        x, means, yerr=[below, above], label=look.label, color=look.color, linestyle=look.line,
        marker=look.marker, markerfacecolor="white", **style,
    )  # fmt: skip


def _bar_lengths(half_widths: Sequence[float]) -> list[float]:
    return [width if math.isfinite(width) else 0.0 for width in half_widths]


@dataclass(frozen=True, slots=True)
class Bars:
    """One bar of every group: its look, and height and half width of the interval for each group."""

    look: Look
    heights: Sequence[float]
    half_widths: Sequence[float]
    shade: float = 1.0


def bars(axes: Axes, groups: Sequence[str], columns: Sequence[Bars]) -> None:
    """Draws groups of bars; columns with the same label share an entry of the legend."""
    width = 0.84 / len(columns)
    seen: set[str] = set()
    for number, column in enumerate(columns):
        label = column.look.label if column.look.label not in seen else None
        seen.add(column.look.label)
        places = [group + (number - (len(columns) - 1) / 2) * width for group in range(len(groups))]
        errors = _bar_lengths(column.half_widths)
        axes.bar(
            places, column.heights, width, yerr=errors, label=label, color=column.look.color, alpha=column.shade,
            error_kw={"linewidth": 0.6, "capsize": 1.0},
        )  # fmt: skip
    axes.set_xticks(range(len(groups)), groups)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")


class TableFigure(Figure):
    """A figure that is a table; :func:`save` writes it as CSV and LaTeX, too."""

    def __init__(self, head: Sequence[str], rows: Sequence[Sequence[str]], height: float) -> None:
        super().__init__(figsize=(PAGE_WIDTH, height))
        FigureCanvasAgg(self)
        self.head, self.rows = head, rows
        _draw_table(self, head, rows)

    def write_text(self, folder: Path, name: str) -> list[Path]:
        """Writes ``name.csv`` and ``name.tex``."""
        heads = [cell.replace("\n", " ") for cell in self.head]
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([heads, *self.rows])
        lines = [" & ".join(map(_latex, row)) + r" \\" for row in [heads, *self.rows]]
        columns = "l" + "r" * (len(heads) - 1)
        text = [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\hline",
            lines[0],
            r"\hline",
            *lines[1:],
            r"\hline",
            r"\end{tabular}",
        ]
        (folder / f"{name}.tex").write_text("\n".join(text) + "\n", encoding="utf-8")
        return [folder / f"{name}.csv", folder / f"{name}.tex"]


def _latex(text: str) -> str:
    """Text for LaTeX."""
    return "".join(_LATEX.get(letter, letter) for letter in text)


_LATEX = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "±": r"$\pm$",
    "ρ": r"$\rho$",
}


def _draw_table(figure: Figure, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Draws a table with a line above and below its head; the first column is text, the others are numbers."""
    axes = figure.subplots()
    axes.set_axis_off()
    drawn = axes.table(cellText=[list(head), *map(list, rows)], bbox=Bbox.unit(), cellLoc="center", edges="open")
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(7)
    drawn.auto_set_column_width(range(len(head)))
    lines = 1 + max(name.count("\n") for name in head)
    for (row, column), cell in drawn.get_celld().items():
        if row == 0:
            cell.set_height(lines * cell.get_height())
        cell.visible_edges = "BT" if row == 0 else "B" if row == len(rows) else ""
        cell.set_linewidth(0.6)
        if column == 0:
            cell.set_text_props(ha="left")


def steps(axes: Axes, time: Sequence[float], value: Sequence[float | None], *, until: float, look: Look) -> None:
    """Draws a quantity that keeps its value between changes, up to ``until``; None leaves a gap."""
    if not len(time):
        return
    held = [math.nan if v is None else v for v in value]
    axes.plot(
        [*time, until], [*held, held[-1]], drawstyle="steps-post", label=look.label, color=look.color,
        linestyle=look.line, linewidth=0.9,
    )  # fmt: skip


def formats(text: str) -> tuple[str, ...]:
    """File formats with commas between them, as the argument of a command."""
    known = sorted(FigureCanvasBase.get_supported_filetypes())
    names = tuple(name.strip().lower() for name in text.split(","))
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise argparse.ArgumentTypeError(f"unknown format {name!r}: expected some of {', '.join(known)}{hint}")
    return names


def save(
    figure: Figure, directory: str | Path, name: str, formats: Iterable[str] = FORMATS, numbers: str = ""
) -> list[Path]:
    """Writes the figure in each format, without a date, so that equal figures are equal files.

    ``numbers`` is what the figure shows, as text; a PNG keeps it as its description.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for extension in formats:
        path = folder / f"{name}.{extension}"
        undated: dict[str, dict[str, str | None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
        if numbers:
            undated["png"] = {"Description": numbers}
        figure.savefig(path, metadata=undated.get(extension))
        written.append(path)
    if isinstance(figure, TableFigure):
        written += figure.write_text(folder, name)
    return written


def save_small(figure: Figure, path: str | Path, dpi: int) -> None:
    """Writes the figure as a PNG with 64 colours, a third of the usual size, for Markdown pages.

    The colours of curves are exact. The others are the most frequent ones of the figure.
    """
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi)
    picture = np.asarray(Image.open(drawn).convert("RGB"))
    found, index, counts = np.unique(picture.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    curves = [ImageColor.getrgb(colour) for colour in (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, BLACK)]
    palette = np.concatenate([curves, found[np.argsort(-counts)]])[:64].astype(int)
    nearest = ((found[:, None, :] - palette) ** 2).sum(axis=2).argmin(axis=1)
    small = Image.fromarray(nearest[index].reshape(picture.shape[:2]).astype(np.uint8))
    small.putpalette(palette.astype(np.uint8).tobytes())
    small.save(path, optimize=True)
