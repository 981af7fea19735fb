"""The command of a suite: its options, and the files of its table and figure."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from matplotlib.figure import Figure

from .. import plots
from ..console import say
from ..parser import Parser, seed
from ..progress import Progress
from . import tables
from .running import Report, Running


class Measured(Protocol):
    """The numbers that a suite measured."""

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        ...


T = TypeVar("T", bound=Measured)


@dataclass(frozen=True)
class Experiment(Generic[T]):
    """What a command measures and shows: the name of its figure, and what it runs one after another."""

    name: str
    unit: str
    measure: Callable[[Running, Report | None], T]
    legend: Callable[[T], str]
    grids: Callable[[T], Iterator[tables.Grid]]
    draw: Callable[[T], Figure]
    parts: int
    """Sweeps or topologies that are measured one after another, each under a name of its own."""
    mark: str = "table"
    """The word in the marks around the tables of a page."""


@dataclass(frozen=True)
class Suite(Generic[T]):
    """The parts of a suite that its command uses."""

    name: str
    description: str
    epilog: str
    examples: tuple[str, ...]
    """Arguments of the command, for its help."""
    replicas: int
    choice: tuple[str, str, str]
    """The option that selects the controls or sets of options to compare: its name, the placeholder of its value, and
    its help."""
    chosen: Callable[[str | None], tuple[str, ...]]
    measure: Callable[[Running, tuple[str, ...], Report | None], T]
    sweeps: Callable[[], int]
    """The number of sweeps that ``measure`` runs."""
    legend: Callable[[T], str]
    grids: Callable[[T], Iterator[tables.Grid]]
    draw: Callable[[T], Figure]

    def experiment(self, choice: str | None) -> Experiment[T]:
        """The suite with the chosen controls or sets of options."""
        names = self.chosen(choice)
        return Experiment(
            self.name,
            "topology",
            lambda running, report: self.measure(running, names, report),
            self.legend,
            self.grids,
            self.draw,
            self.sweeps(),
        )


def run(suite: Suite[Any], arguments: Sequence[str], count: Callable[[str], int]) -> int:
    """Runs the suite, prints its table, and writes table.md, table.json and the figure."""
    given = parser(suite, count).parse_args(arguments)
    execute(suite.experiment(given.choice), given, suite.replicas)
    return 0


def execute(experiment: Experiment[T], given: argparse.Namespace, replicas: int) -> T:
    """Measures, prints the tables, writes them and the figure, and returns what was measured."""
    out = Path("out", experiment.name) if given.out is None else given.out
    page = None if given.page is None else tables.Page.read(given.page, experiment.mark)
    progress = None if given.quiet else Progress(sys.stderr, experiment.unit, experiment.parts)
    running = Running(out, replicas if given.replicas is None else given.replicas, given.seed, given.jobs)
    table = experiment.measure(running, progress)
    if progress is not None:
        progress.clear()
    legend = experiment.legend(table)
    report = json.dumps(table.as_dict(), indent=2, ensure_ascii=False)
    markdown = tables.markdown(legend, experiment.grids(table))
    out.mkdir(parents=True, exist_ok=True)
    (out / "table.json").write_text(report + "\n", encoding="utf-8")
    (out / "table.md").write_text(markdown, encoding="utf-8")
    if page is not None:
        page.write(markdown)
    with plots.style():
        figure = experiment.draw(table)
        plots.save(figure, out, experiment.name, given.formats)
        if given.picture is not None:
            plots.save_small(figure, given.picture, dpi=170)
    say(report if given.json else tables.text(legend, experiment.grids(table)))
    if not given.json:
        say(f"Table, figure and runs are in {out}")
    return table


def parser(suite: Suite[Any], count: Callable[[str], int]) -> argparse.ArgumentParser:
    """The options of a suite."""
    parser = Parser(suite.name, suite.description, suite.epilog, suite.examples)
    add = parser.add_argument
    option, value, which = suite.choice
    add(option, dest="choice", metavar=value, help=which)
    add("--replicas", type=count, metavar="N", help=f"runs of each point (default: {suite.replicas})")
    add("--seed", type=seed, help="root seed (default: the scenario's)")
    add("--jobs", "-j", type=count, metavar="J", help="threads (default: all cores)")
    add("--out", type=Path, metavar="DIR", help=f"folder of table, figure and runs (default: out/{suite.name})")
    add("--page", type=Path, metavar="FILE", help="Markdown page: the table replaces its part between the marks")
    add("--picture", type=Path, metavar="FILE", help="write the figure here, too, as a small PNG")
    add("--formats", type=plots.formats, default=",".join(plots.FORMATS),
        help="file formats of the figure (default: %(default)s)")  # fmt: skip
    add("--json", action="store_true", help="print the table as JSON")
    add("--quiet", "-q", action="store_true", help="show no progress")
    return parser
