"""``anabranch fairness``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from . import fairness, fairness_table, plots
from .progress import Progress


def run(arguments: Sequence[str], count: Callable[[str], int]) -> int:
    """Runs the suite, prints its table and writes table.md, table.json and the figure."""
    chosen = _parser(count).parse_args(arguments)
    names = fairness.chosen(chosen.controls)
    page = None if chosen.page is None else fairness_table.Page.read(chosen.page)
    progress = None if chosen.quiet or not sys.stderr.isatty() else Progress(sys.stderr, "topology")
    options = fairness.Options(chosen.out, names, chosen.replicas, chosen.seed, chosen.jobs)
    table = fairness.measure(options, progress)
    if progress is not None:
        progress.clear()
    report = json.dumps(table.as_dict(), indent=2, ensure_ascii=False)
    print(report if chosen.json else fairness_table.text(table))
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "table.json").write_text(report + "\n", encoding="utf-8")
    (chosen.out / "table.md").write_text(fairness_table.markdown(table), encoding="utf-8")
    if page is not None:
        page.write(table)
    with plots.style():
        figure = fairness_table.draw(table)
        plots.save(figure, chosen.out, "fairness", chosen.formats.split(","))
        if chosen.picture is not None:
            plots.save_small(figure, chosen.picture, dpi=170)
    if not chosen.json:
        print(f"Table, figure and runs are in {chosen.out}")
    return 0


def _parser(count: Callable[[str], int]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="anabranch fairness",
        description="Put congestion controls through the three design rules of multipath transport: "
        "improve throughput, do no harm, balance congestion.",
        epilog="A broken rule is a result, not a failure. A suite that was stopped goes on where it was.",
    )
    add = parser.add_argument
    add("--controls", metavar="A,B", help="which (default: all there are)")
    few = fairness.DEFAULT_REPLICAS
    add("--replicas", type=count, metavar="N", default=few, help="runs of each point (default: %(default)s)")
    add("--seed", type=int, help="root seed (default: that of the scenarios)")
    add("--jobs", "-j", type=count, metavar="J", help="threads (default: all cores)")
    out = Path("out", "fairness")
    add("--out", type=Path, metavar="DIR", default=out, help="where all goes (default: %(default)s)")
    add("--page", type=Path, metavar="FILE", help="a Markdown page whose marked part becomes the table")
    add("--picture", type=Path, metavar="FILE", help="the figure once more, as a small PNG for that page")
    add("--formats", default=",".join(plots.FORMATS), help="of the figure (default: %(default)s)")
    add("--json", action="store_true", help="print the table as JSON")
    add("--quiet", "-q", action="store_true", help="no progress")
    return parser
