"""The tables of the fairness suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..tables import Grid, basis, number
from .measure import RIVALS, Rule, Score, State, Table
from .picture import RIVAL_NAMES

MARKS = {State.KEPT: "✓", State.OPEN: "~", State.BROKEN: "✗", None: ""}
TITLES = {
    Rule.ALONE: "Over one path",
    Rule.IMPROVE: "Improve throughput",
    Rule.HARM: "Do not harm",
    Rule.BALANCE: "Balance congestion",
}
LEGEND = "✓ kept, ~ open: the interval contains the bound, ✗ broken"


def grids(table: Table) -> Iterator[Grid]:
    """The worst topology of each rule, each rule topology by topology, the managed queues, and the references."""
    rules = [Rule.IMPROVE, Rule.HARM, Rule.BALANCE]
    head = ["control", *(f"{TITLES[rule].lower()}, {RIVAL_NAMES[rival]}" for rule in rules for rival in RIVALS)]
    rows = [
        [control, *(_worst(table.worst(control, rival, rule)) for rule in rules for rival in RIVALS)]
        for control in table.controls
    ]
    yield Grid("Each rule where it fares worst", head, rows)
    for rule in Rule:
        yield _by_topology(table, rule, TITLES[rule], table.topologies(rule))
    for rule in Rule:
        if places := table.topologies(rule, managed=True):
            yield _by_topology(table, rule, f"{TITLES[rule]}, one bottleneck with a managed queue", places)
    yield _references(table)


def _by_topology(table: Table, rule: Rule, title: str, places: Sequence[str]) -> Grid:
    head = ["control", *(f"{place}, {RIVAL_NAMES[rival]}" for place in places for rival in RIVALS)]
    rows = [
        [control, *(_cell(table.score(control, rival, place, rule)) for place in places for rival in RIVALS)]
        for control in table.controls
    ]
    return Grid(title, head, rows)


def _references(table: Table) -> Grid:
    head = ["topology", "bottleneck", *(f"{what}, {RIVAL_NAMES[r]}" for what in ("Mbit/s", "loss") for r in RIVALS)]
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
