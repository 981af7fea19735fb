"""The tables of the user's lines, and the figure of throughput over the receive buffer."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from ... import plots
from ...plots import Look
from ..tables import Grid, basis, number
from .own_lines import Gain, Point
from .topology import buffer_text

_TOGETHER = Look("together, recommended", plots.BLUE, "-", "o")
_PAPER = Look("together, CMT of paper 001", plots.VERMILION, "-", "s")
_ALONE = (
    Look("", plots.BLACK, (0, (4.0, 2.0)), "^"),
    Look("", plots.GREEN, (0, (3.0, 1.0, 1.0, 1.0)), "v"),
    Look("", plots.PINK, (0, (1.0, 1.0)), "D"),
    Look("", plots.ORANGE, (0, (5.0, 1.5)), "x"),
)


def legend(found: Gain) -> str:
    """The answer in two sentences, and the text that explains the numbers of the tables."""
    point = found.enough
    gain = 100 * (point.gain.mean - 1)
    more = "more" if gain >= 0 else "less"
    return (
        f"With a receive buffer of {buffer_text(point.buffer)} all paths together carry "
        f"{point.together.mean / 1e6:.1f} Mbit/s, {abs(gain):.0f} % {more} than the best one alone "
        f"({point.best.mean / 1e6:.1f} Mbit/s). {_more(found)}\n"
        f"{basis(found.seed, found.replicas)}, recommended options. Throughput of payload in Mbit/s. At most: what "
        "rates, delays, return links and the buffer allow. scenario.toml in the folder of results is the scenario."
    )


def _more(found: Gain) -> str:
    limit = found.limit(found.enough)
    if found.enough is found.points[-1] and limit == "the buffer":
        return "A larger buffer would carry more."
    return f"Larger buffers bring no more: what limits is {limit}."


def grids(found: Gain) -> Iterator[Grid]:
    """Throughput by buffer, and how each path is used."""
    alone = [f"path {index} alone" for index in range(len(found.lines))]
    head = ["buffer", *alone, "together", "over the best", "at most", "paper 001", "what limits"]
    yield Grid("By receive buffer", head, [_row(found, point) for point in found.points])
    head = ["path", "", "alone", "its part", "used", "return link used", "what limits"]
    rows = [
        [
            str(index),
            text,
            number(use.alone, 1e-6, 1),
            f"{use.carried / 1e6:.1f}",
            f"{100 * use.forward:.0f} %",
            f"{100 * use.back:.0f} %",
            use.limit,
        ]
        for index, (text, use) in enumerate(zip(found.texts, found.uses, strict=True))
    ]
    yield Grid(f"Each path, with {buffer_text(found.enough.buffer)}", head, rows)


def _row(found: Gain, point: Point) -> list[str]:
    chosen = " ←" if point is found.enough else ""
    return [
        buffer_text(point.buffer) + chosen,
        *(number(single, 1e-6, 1) for single in point.singles),
        number(point.together, 1e-6, 1),
        f"{point.gain.mean:.2f}{' ✗' if point.is_slower else ''}",
        f"{point.bound.bps / 1e6:.1f}",
        number(point.paper, 1e-6, 1),
        found.limit(point),
    ]


def figure(found: Gain) -> Figure:
    """Throughput against the receive buffer: all paths together, and each alone."""
    drawn = plots.new_figure(plots.COLUMN_WIDTH * 1.4, 3.4)
    axes = drawn.subplots()
    places = range(len(found.points))

    def curve(values: list[tuple[float, float]], look: Look) -> None:
        means, halves = zip(*((1e-6 * mean, 1e-6 * half) for mean, half in values), strict=True)
        plots.curve(axes, places, means, halves, look, markersize=3.5, linewidth=1.0)

    curve([(p.together.mean, p.together.half_width) for p in found.points], _TOGETHER)
    curve([(p.paper.mean, p.paper.half_width) for p in found.points], _PAPER)
    for index, text in enumerate(found.texts):
        look = _ALONE[index % len(_ALONE)]
        singles = [p.singles[index] for p in found.points]
        curve([(s.mean, s.half_width) for s in singles], Look(f"alone: {text}", look.color, look.line, look.marker))
    total = sum(single.mean for single in found.points[-1].singles) / 1e6
    axes.axhline(total, color="0.5", linewidth=0.8, linestyle=":", label="sum of all alone, largest buffer")
    axes.set_xticks(list(places), [buffer_text(point.buffer) for point in found.points], rotation=30)
    axes.set(xlabel="receive buffer", ylabel="throughput [Mbit/s]")
    axes.set_ylim(bottom=0)
    drawn.legend(loc="outside upper center", ncols=1, frameon=False, fontsize=6.5)
    plots.foot(drawn, found.seed, found.replicas)
    return drawn
