"""The command ``anabranch evaluate``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ...console import say
from ...parser import Parser
from .. import tables
from ..fairness.measure import contenders
from ..running import Runner, Running, chosen
from .bench import Bench
from .criteria import CRITERIA, Row

REPLICAS, FULL = 5, 20


def run(arguments: Sequence[str], count: Callable[[str], int]) -> int:
    """Measures all criteria of a control, prints and writes its table, and returns 0."""
    given = declared(count).parse_args(arguments)
    (control,) = chosen(given.control, contenders(), "congestion control")[:1]
    out = Path("out", "evaluate", control) if given.out is None else given.out
    replicas = (FULL if given.full else REPLICAS) if given.replicas is None else given.replicas
    bench = Bench(control, Runner("evaluate", Running(out, replicas, given.seed, given.jobs), None))
    rows: list[Row] = []
    for criterion in CRITERIA:
        if not given.quiet:
            print(f"{criterion.__name__.replace('_', ' ')} ...", file=sys.stderr)
        rows.extend(criterion(bench))
    legend = f"`{control}`, {replicas} runs of each point, means and 95 % intervals."
    lines = [[row.criterion, row.experiment, row.numbers, row.verdict] for row in rows]
    grid = tables.Grid(control, ["criterion of RFC 9743", "experiment", "result", "verdict"], lines)
    report = json.dumps({"control": control, "replicas": replicas, "rows": [vars(row) for row in rows]}, indent=2)
    out.mkdir(parents=True, exist_ok=True)
    (out / "table.md").write_text(tables.markdown(legend, [grid]), encoding="utf-8")
    (out / "table.json").write_text(report + "\n", encoding="utf-8")
    if given.page is not None:
        tables.Page.read(given.page, control).write(tables.markdown(legend, [grid]))
    say(report if given.json else tables.text(legend, [grid]))
    return 0


def declared(count: Callable[[str], int]) -> argparse.ArgumentParser:
    """The options of the command."""
    parser = Parser(
        "evaluate",
        "Measures a congestion control against the criteria of RFC 9743. The RFC asks to consider them; the bounds are "
        "ours. A criterion that is broken is a result, not a failure.",
        "Exit codes: 0 success, 1 a run failed, 2 wrong arguments. Calls that were stopped reuse finished runs.",
        ("--control braid", "--control recommended --out out/recommended"),
    )
    add = parser.add_argument
    add("--control", required=True, metavar="X", help="the congestion control, or `recommended` for the options")
    add("--full", action="store_true", help=f"{FULL} runs of each point in place of {REPLICAS}")
    add("--replicas", type=count, metavar="N", help="runs of each point")
    add("--seed", type=int, help="root seed (default: the scenario's)")
    add("--jobs", "-j", type=count, metavar="J", help="threads (default: all cores)")
    add("--out", type=Path, metavar="DIR", help="folder of table and runs (default: out/evaluate/X)")
    add("--page", type=Path, metavar="FILE", help="Markdown page: the table replaces its part between the marks")
    add("--json", action="store_true", help="print the table as JSON")
    add("--quiet", "-q", action="store_true", help="show no progress")
    return parser
