"""The tables of the fairness suite, and its figure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ... import plots
from ..tables import Grid, basis, number
from .measure import RIVALS, Rule, Score, State, Table

MARKS = {State.KEPT: "✓", State.OPEN: "~", State.BROKEN: "✗", None: ""}
TITLES = {
    Rule.ALONE: "Over one path",
    Rule.IMPROVE: "Improve throughput",
    Rule.HARM: "Do not harm",
    Rule.BALANCE: "Balance congestion",
}
_FILLS = {State.KEPT: "#CFE6F5", State.OPEN: "white", State.BROKEN: "#F6C7A4", None: "#EEEEEE"}
_RIVAL = {"reno": "Reno", "cubic": "CUBIC"}
LEGEND = "✓ kept, ~ open: the interval contains the bound, ✗ broken"


def grids(table: Table) -> Iterator[Grid]:
    """The overview with the worst topology of each rule, then each rule topology by topology, then the references."""
    rules = [Rule.IMPROVE, Rule.HARM, Rule.BALANCE]
    head = ["control", *(f"{TITLES[rule].lower()}, {_RIVAL[rival]}" for rule in rules for rival in RIVALS)]
    rows = [
        [control, *(_worst(table.worst(control, rival, rule)) for rule in rules for rival in RIVALS)]
        for control in table.controls
    ]
    yield Grid("Each rule where it fares worst", head, rows)
    for rule in Rule:
        places = table.topologies(rule)
        head = ["control", *(f"{place}, {_RIVAL[rival]}" for place in places for rival in RIVALS)]
        rows = [
            [control, *(_cell(table.score(control, rival, place, rule)) for place in places for rival in RIVALS)]
            for control in table.controls
        ]
        yield Grid(TITLES[rule], head, rows)
    yield _references(table)


def _references(table: Table) -> Grid:
    head = ["topology", "bottleneck", *(f"{what}, {_RIVAL[r]}" for what in ("Mbit/s", "loss") for r in RIVALS)]
    found = {(r.topology, r.bottleneck, r.rival): r for r in table.references}
    places = dict.fromkeys((topology, bottleneck) for topology, bottleneck, _ in found)
    rows = [
        [topology, str(bottleneck + 1)]
        + [number(found[topology, bottleneck, r].throughput, 1e-6) for r in RIVALS]
        + [f"{100 * found[topology, bottleneck, r].loss.mean:.2f} %" for r in RIVALS]
        for topology, bottleneck in places
    ]
    return Grid("What one TCP flow gets in the contender's place", head, rows)


def _cell(score: Score | None) -> str:
    return "" if score is None else f"{number(score.found)} {MARKS[score.state]}".rstrip()


def _worst(score: Score | None) -> str:
    return "" if score is None else f"{_cell(score)} {score.topology}"


def legend(table: Table) -> str:
    """Says what the numbers and marks of the tables are."""
    return f"{basis(table.seed, table.replicas)}. {LEGEND}."


def draw(table: Table) -> Figure:
    """One table: a row for each control, the rules by topology, first beside Reno, then beside CUBIC."""
    columns = [(rule, place) for rule in Rule for place in table.topologies(rule)]
    rows = len(table.controls)
    figure = plots.new_figure(plots.PAGE_WIDTH, 1.3 + 0.44 * rows)
    for axes, rival in zip(figure.subplots(len(RIVALS), 1), RIVALS, strict=True):
        _panel(axes, table, rival, columns)
    plots.foot(figure, table.seed, table.replicas)
    return figure


def _panel(axes: Axes, table: Table, rival: str, columns: Sequence[tuple[Rule, str]]) -> None:
    rows = len(table.controls)
    axes.set(xlim=(0, len(columns)), ylim=(rows, 0))
    axes.grid(visible=False)
    for y, control in enumerate(table.controls):
        for x, (rule, place) in enumerate(columns):
            score = table.score(control, rival, place, rule)
            if score is not None:
                _box(axes, x, y, score)
    axes.set_yticks([y + 0.5 for y in range(rows)], table.controls)
    axes.set_xticks([x + 0.5 for x in range(len(columns))], [place for _, place in columns])
    axes.tick_params(length=0, top=False, labelsize=6.5)
    for rule in Rule:
        at = [x for x, (of, _) in enumerate(columns) if of is rule]
        if not at:
            continue
        title = TITLES[rule] if len(at) > 1 else "One path"
        axes.text((at[0] + at[-1] + 1) / 2, -0.25, title, ha="center", va="bottom", fontsize=7)
        axes.axvline(at[-1] + 1, color="black", linewidth=0.8)
    axes.set_title(f"beside {_RIVAL[rival]}", loc="left", pad=14)


def _box(axes: Axes, x: int, y: int, score: Score) -> None:
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=_FILLS[score.state], edgecolor="white", linewidth=0.8))
    mark = MARKS[score.state]
    half = score.found.half_width
    interval = f"±{half:.2f}" if math.isfinite(half) else ""
    weight = "bold" if score.state is State.BROKEN else "normal"
    # The marks are not in the font of the text.
    family = ["STIXGeneral", "DejaVu Sans"]
    number = f"{score.found.mean:.2f}{mark}"
    axes.text(x + 0.5, y + 0.4, number, fontsize=6, family=family, weight=weight, ha="center", va="center")
    axes.text(x + 0.5, y + 0.8, interval, fontsize=4.2, color="0.3", ha="center", va="center")
