"""The tables of the bonding suite, and its figure."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ... import plots
from ...plots import Look
from ..tables import Grid, basis, number
from .measure import FAILOVER, NOT_SLOWER, OUTAGE, PAPER, RECOMMENDED, STALL, SUM, Cell, Outage, Place, Table

_LOOKS = {
    PAPER: Look("CMT of paper 001", plots.VERMILION, "-", "s"),
    "lowest-rtt": Look("lowest RTT first", plots.SKY, (0, (5.0, 1.5)), "^"),
    "blest": Look("BLEST", plots.GREEN, (0, (3.0, 1.0, 1.0, 1.0)), "D"),
    RECOMMENDED: Look("recommended", plots.BLUE, "-", "o"),
}
_ALONE = Look("best single path", plots.BLACK, (0, (4.0, 2.0)), "")
_FALLING = {
    PAPER: _LOOKS[PAPER],
    FAILOVER: Look("with quick failover (RFC 7829)", plots.PINK, "-"),
    RECOMMENDED: _LOOKS[RECOMMENDED],
}
_SHOWN_BUFFER = "1 MiB"


def legend(table: Table) -> str:
    """The text that explains the numbers of the tables."""
    return (
        f"{basis(table.seed, table.replicas)}. Throughput of payload in Mbit/s, in brackets over that of the best "
        f"single path; ✗ is below {NOT_SLOWER}."
    )


def grids(table: Table) -> Iterator[Grid]:
    """The summary, then each topology, then the outages."""
    yield _summary(table)
    for topology in table.topologies():
        for loss in dict.fromkeys(cell.place.loss for cell in table.cells):
            yield _grid(table, topology, loss)
    yield _outages(table)


def _summary(table: Table) -> Grid:
    head = ["options", "least of the best single path", "where", f"places below {NOT_SLOWER:g}"]
    head.append("least of the sum, 1 MiB or more and no loss")
    rows: list[list[str]] = []
    for options in table.options:
        cells = table.of(options)
        worst = min(cells, key=lambda cell: cell.ratio.mean)
        slower = sum(cell.is_slower for cell in cells)
        least = min(cell.share for cell in cells if cell.place.is_ample)
        mark = "" if least >= SUM else " ✗"
        ratio = number(worst.ratio, digits=3)
        rows.append([options, ratio, _where(worst.place), f"{slower} of {len(cells)}", f"{least:.3f}{mark}"])
    return Grid("Where each set of options fares worst", head, rows)


def _where(place: Place) -> str:
    return f"{place.topology}, {_lossy(place.loss)}, {place.buffer}"


def _lossy(loss: float) -> str:
    return f"{100 * loss:g} % loss" if loss else "no loss"


def _grid(table: Table, topology: str, loss: float) -> Grid:
    some = table.row(table.options[0], topology, loss)
    head = ["options", *(cell.place.buffer for cell in some)]
    rows = [["one path, the best", *(number(cell.single, 1e-6, 1) for cell in some)]]
    rows += [[options, *map(_cell, table.row(options, topology, loss))] for options in table.options]
    return Grid(f"{topology}, {_lossy(loss)}: at most {some[0].ideal / 1e6:.1f} Mbit/s", head, rows)


def _cell(cell: Cell) -> str:
    return f"{number(cell.found, 1e-6, 1)} ({cell.ratio.mean:.2f}){' ✗' if cell.is_slower else ''}"


def _outages(table: Table) -> Grid:
    head = ["topology", "path that dies", "options", "longest stall [s]", "buffer", "meanwhile, with 1 MiB [Mbit/s]"]
    rows: list[list[str]] = []
    for topology in table.topologies():
        for dead in dict.fromkeys(outage.dead for outage in table.outages):
            for options in _FALLING:
                found = [o for o in table.outages if (o.topology, o.dead, o.options) == (topology, dead, options)]
                worst = max(found, key=lambda outage: outage.stall.mean)
                mark = " ✗" if worst.stall.mean > STALL else ""
                meanwhile = next(o.meanwhile for o in found if o.buffer == _SHOWN_BUFFER)
                stall = number(worst.stall) + mark
                rows.append([topology, dead, options, stall, worst.buffer, number(meanwhile, 1e-6, 1)])
    title = f"One path dead for {OUTAGE[1] - OUTAGE[0]:g} s: the longest stall of all buffers; ✗ is above {STALL:g} s"
    return Grid(title, head, rows)


def draw(table: Table) -> Figure:
    """For each topology: throughput against the buffer size, and against time when the faster path fails."""
    figure = plots.new_figure(plots.PAGE_WIDTH, 6.3)
    topologies = table.topologies()
    losses = list(dict.fromkeys(cell.place.loss for cell in table.cells))
    axes = figure.subplots(len(losses) + 1, len(topologies), sharey="row", squeeze=False)
    for x, topology in enumerate(topologies):
        for y, loss in enumerate(losses):
            _curves(axes[y][x], table, topology, loss)
            axes[y][x].set_title(f"{topology} (Mbit/s)\n{_lossy(loss)}" if y == 0 else _lossy(loss), fontsize=7)
        _course(axes[-1][x], [o for o in table.outages if (o.topology, o.dead) == (topology, "first")])
    for row in axes:
        row[0].set_ylim(bottom=0)
        row[0].set_ylabel("throughput [Mbit/s]")
    above = {"loc": "outside upper center", "ncols": 4, "frameon": False, "fontsize": 7}
    drawn = [pair for a in axes.flat for pair in zip(*a.get_legend_handles_labels(), strict=True)]
    handles = {label: handle for handle, label in reversed(drawn)}
    figure.legend(*zip(*((handle, label) for label, handle in reversed(handles.items())), strict=True), **above)
    plots.foot(figure, table.seed, table.replicas, "last row: first of them")
    return figure


def _curves(axes: Axes, table: Table, topology: str, loss: float) -> None:
    for options, look in _LOOKS.items():
        cells = table.row(options, topology, loss)
        if cells:
            _curve(axes, look, [1e-6 * c.found.mean for c in cells], [1e-6 * c.found.half_width for c in cells])
    some = table.row(table.options[0], topology, loss)
    _curve(axes, _ALONE, [1e-6 * cell.single.mean for cell in some], [0.0] * len(some))
    if loss == 0:
        axes.axhline(some[0].ideal / 1e6, color="0.5", linewidth=0.8, linestyle=":", label="sum of the links")
    axes.set_xticks(range(len(some)), [_short(cell.place.buffer) for cell in some])
    axes.set_xlabel("receive buffer [KiB]")


def _short(buffer: str) -> str:
    value, unit = buffer.split()
    return value if unit == "KiB" else str(1024 * int(value))


def _curve(axes: Axes, look: Look, means: list[float], halves: list[float]) -> None:
    plots.curve(axes, range(len(means)), means, halves, look, markersize=3.5, linewidth=1.0)


def _course(axes: Axes, outages: list[Outage]) -> None:
    axes.axvspan(*OUTAGE, color="0.9", zorder=0)
    for options, look in _FALLING.items():
        found = next(o for o in outages if (o.options, o.buffer) == (options, _SHOWN_BUFFER))
        time, value = zip(*found.course, strict=True)
        axes.plot(
            time, [v / 1e6 for v in value], color=look.color, linestyle=look.line, label=look.label, linewidth=1.0
        )
    axes.set(xlim=(8, 22), xlabel="time [s]")
    axes.set_title(f"the first path is dead in the grey time, {_SHOWN_BUFFER}", fontsize=7)
