"""The tables and the figure of a kind of random draws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from matplotlib.figure import Figure

from .... import plots
from ....plots import Look
from ...tables import Grid
from ..measure import RECOMMENDED
from ..random_table import LOOKS, cumulative
from .kind import Distribution, Measure, Middle, Outcome

_CHANCE = Look("chance alone", plots.BLACK, (0, (1.0, 1.5)), "")
_OTHER = (plots.PINK, plots.ORANGE, plots.GREEN, plots.SKY)


def legend(found: Distribution) -> str:
    """The text that explains the numbers of the tables."""
    numbers = [outcome.number for outcome in found.outcomes]
    seeds = ", ".join(map(str, found.seeds))
    many = f"{found.replicas} runs" if found.replicas > 1 else "one run"
    return (
        f"Kind {found.kind.name}, seed{'s' * (len(found.seeds) > 1)} {seeds}, draws {min(numbers)} to {max(numbers)}, "
        f"{many} of each point. {found.kind.about} Averages over all draws with 95 % intervals. The last row "
        "of each table is what the measure is without the options: what chance alone makes of it."
    )


def grids(found: Distribution) -> Iterator[Grid]:
    """Each figure of merit by options, and the worst draws."""
    for measure in found.kind.measures:
        yield _measure(found, measure)
    yield _groups(found)
    yield _worst(found)


def _measure(found: Distribution, measure: Measure) -> Grid:
    word, sign = ("at least", "below") if measure.at_least else ("at most", "above")
    head = ["options", measure.average, "95 % interval", "worst", "draw"]
    if measure.limit is not None:
        head.append(f"draws {sign} {measure.limit:g}")
    bar = "" if measure.bar is None else f": {word} {measure.bar:g}"
    rows = [_row(found, measure, options) for options in (*found.options, None)]
    return Grid(f"{measure.title}{bar}", head, rows)


def _row(found: Distribution, measure: Measure, options: str | None) -> list[str]:
    values, middle = found.values(measure, options), found.middle(measure, options)
    judged = options == RECOMMENDED
    worst = measure.worst(values)
    outcome = found.outcomes[worst]
    row = [
        measure.chance if options is None else options,
        f"{middle.value:.3f}{_mark(measure, middle.value, measure.bar, judged)}",
        _interval(middle),
        f"{values[worst]:.3f}{_mark(measure, values[worst], measure.limit, judged)}",
        f"{outcome.number} of seed {outcome.seed}",
    ]
    if measure.limit is not None:
        row.append(f"{found.missed(measure, options)} of {len(values)}")
    return row


def _mark(measure: Measure, value: float, target: float | None, judged: bool) -> str:
    return " ✗" if judged and measure.misses(value, target) else ""


def _interval(middle: Middle) -> str:
    return f"{middle.low:.3f} to {middle.high:.3f}" if math.isfinite(middle.low) else "unknown"


def _groups(found: Distribution) -> Grid:
    measures = found.kind.measures
    groups: dict[str, list[Outcome]] = {}
    for outcome in found.outcomes:
        for group in outcome.groups:
            groups.setdefault(group, []).append(outcome)
    head = ["draws with", "draws", *(f"{measure.key}, {measure.average}" for measure in measures)]
    rows: list[list[str]] = []
    for group, outcomes in sorted(groups.items()):
        some = replace(found, outcomes=outcomes)
        middles = [some.middle(measure) for measure in measures]
        rows.append([group, str(len(outcomes)), *(f"{one.value:.3f} ({_interval(one)})" for one in middles)])
    return Grid("The recommended options, by what is drawn", head, rows)


def _worst(found: Distribution) -> Grid:
    keys = [measure.key for measure in found.kind.measures]
    rows = [
        [*(f"{outcome.merits.found[key][RECOMMENDED]:.3f}" for key in keys), outcome.about, f"`{outcome.command}`"]
        for outcome in found.worst()
    ]
    return Grid("The worst draws with the recommended options", [*keys, "draw", "command"], rows)


def figure(found: Distribution) -> Figure:
    """The cumulative distribution of each figure of merit over all draws."""
    measures = found.kind.measures
    drawn = plots.new_figure(plots.PAGE_WIDTH, 2.9)
    panels = drawn.subplots(1, len(measures), squeeze=False)[0]
    colors = iter(_OTHER * len(found.options))
    looks = {name: LOOKS.get(name) or Look(name, next(colors), "-", "") for name in found.options}
    for axes, measure in zip(panels, measures, strict=True):
        for options, look in [*looks.items(), (None, _CHANCE)]:
            cumulative(axes, look, found.values(measure, options))
        if measure.bar is not None:
            axes.axvline(measure.bar, color="0.5", linewidth=0.8, linestyle=":")
        shown = sorted(found.values(measure))
        axes.set(xlabel=measure.key, xlim=(0, 1.2 * max(1.0, shown[int(0.95 * len(shown))])), ylim=(0, 1))
        axes.set_title(measure.title, fontsize=7)
    panels[0].set_ylabel("share of the draws")
    drawn.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False, fontsize=7)
    plots.foot(drawn, found.seeds[0], found.replicas, "dotted: target", shown="all draws")
    return drawn
