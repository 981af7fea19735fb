"""The command ``anabranch overlay``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .. import plots
from ..console import say
from ..parser import Parser, seconds
from ..progress import Progress
from ..suites import tables
from . import foreign, suite
from .chart import draw
from .overlaying import Overlay, overlay, real_runs
from .plan import OURS, OverlayError, Plan, read

DIFFERS = 3
"""Exit code if a quantity differs."""


def run(arguments: Sequence[str], count: Callable[[str], int]) -> int:
    """Does an overlay, prints its verdicts, and writes them and the figure; 0 if all agree, else 3."""
    given = declared(count).parse_args(arguments)
    if given.suite is not None:
        return _suite(given)
    if given.scenario is None:
        raise OverlayError("name a scenario, or do all those of docs/sim-vs-real-tables.md with --suite PAGE")
    out = Path("out", "overlay") if given.out is None else given.out
    plan = read(given.scenario, given.set, given.bin, given.program)
    found = one(plan, given, out)
    say(json.dumps(found.as_dict(), indent=2) if given.json else tables.text(legend(found), [grid(found)]))
    with plots.style():
        plots.save(draw(found), out, "overlay", given.formats)
    if not given.json:
        say(f"Figure, verdicts and runs are in {out}")
    return 0 if found.agrees else DIFFERS


def one(plan: Plan, given: argparse.Namespace, out: Path) -> Overlay:
    """Does the real runs, unless they are given, and the overlay."""
    progress = None if given.quiet else Progress(sys.stderr, plan.title)

    def report(what: str, done: int, total: int) -> None:
        if progress is not None:
            progress(what, done, total, None)

    out.mkdir(parents=True, exist_ok=True)
    outcomes, repeated = [], 0
    runs: list[Path] = given.runs
    if not runs:
        outcomes, repeated = real_runs(plan, given.real, out, forced=given.force, report=report)
        runs = [out / f"run-{number + 1}" for number in range(len(outcomes))]
    try:
        return overlay(plan, runs, out, replicas=given.replicas, jobs=given.jobs, outcomes=outcomes, repeated=repeated,
                       report=report)  # fmt: skip
    finally:
        if progress is not None:
            progress.clear()


def legend(found: Overlay) -> str:
    """How the numbers were measured."""
    real = foreign.real_runs(found.plan, len(found.rows[0].real))
    text = f"Seed {found.plan.seed}, {found.replicas} replicas, {real}"
    if found.outcomes:
        worst = max(found.outcomes, key=lambda outcome: outcome["lateness"]["p99_s"])["lateness"]
        most = max(outcome["lateness"]["max_s"] for outcome in found.outcomes)
        late = sum(outcome["late"] for outcome in found.outcomes)
        text += (f"; lateness: 99th percentile at most {1e3 * worst['p99_s']:.2f} ms, maximum {1e3 * most:.1f} ms; "
                 f"{found.repeated} late runs repeated, {late} late runs kept")  # fmt: skip
    if found.jitter is not None:
        text += f"; jitter of simulated hosts {1e6 * found.jitter:.0f} µs"
    if found.plan.program != OURS:
        text += "; the real programs report nothing about their paths, which are not compared"
    return text


def grid(found: Overlay) -> tables.Grid:
    """The verdict of each quantity."""
    rows: list[list[str]] = []
    for row in found.rows:
        verdict = row.verdict
        simulated, real = (sum(map(sum, runs)) / sum(map(len, runs)) for runs in (row.simulated, row.real))
        rows.append([
            row.quantity.place, row.quantity.what, f"{simulated:.2f}", f"{real:.2f} {row.quantity.unit}",
            f"{verdict.ratio.low:.3f} to {verdict.ratio.high:.3f}", f"{verdict.inside:.0%}",
            "agree" if verdict.agrees else "differ", row.hint,
        ])  # fmt: skip
    head = ["of", "quantity", "simulated", "real", "real/simulated", "bins in the band", "verdict", "why"]
    return tables.Grid(found.plan.title, head, rows)


def _suite(given: argparse.Namespace) -> int:
    """All scenarios of the suite, and the page that shows them."""
    page = tables.Page.read(given.suite, "overlays")
    out = Path("out", "overlays") if given.out is None else given.out
    made: dict[str, str] = {}
    agree = True
    for entry in suite.entries(given.only):
        plan = read(entry.file, entry.settings, given.bin, entry.program)
        found = one(plan, given, out / entry.name)
        agree = agree and found.agrees
        picture = Path("figures", "overlay", f"{entry.name}.png")
        to = given.suite.parent / picture
        to.parent.mkdir(parents=True, exist_ok=True)
        with plots.style():
            plots.save_small(draw(found), to, dpi=130)
        say(tables.text(legend(found), [grid(found)]))
        made[entry.title] = suite.section(entry, legend(found), grid(found), picture)
    page.write(suite.merged(page.within, made))
    return 0 if agree else DIFFERS


def declared(count: Callable[[str], int]) -> argparse.ArgumentParser:
    """The options of the command."""
    parser = Parser(
        "overlay",
        "Compares real runs with simulated ones, with prediction bands and a verdict for each quantity.",
        epilog="The network of the scenario is emulated between network namespaces, which needs Linux and root, and "
        "real programs send over it: SCTP of this project in UDP or, with --program, another stack; TCP of the kernel. "
        "docs/sim-vs-real.md explains the "
        "verdict. Exit code 3: a quantity differs.",
        examples=("two-lines --real 3", "mine.toml --runs measured-1 measured-2"),
    )
    add = parser.add_argument
    add("scenario", nargs="?", metavar="SCENARIO", help="scenario file, or name of a shipped scenario")
    add("--replicas", type=count, default=30, metavar="N", help="simulated runs (default: 30)")
    add("--real", type=count, default=5, metavar="N", help="real runs (default: 5); late ones are repeated")
    add("--runs", nargs="+", type=Path, default=[], metavar="DIR",
        help="compare these folders of `anabranch measure --out` instead, or the runs of this command")  # fmt: skip
    add("--program", choices=(OURS, *foreign.FOREIGN), default=OURS,
        help="what runs the flow of SCTP for real: our stack (default), usrsctp, or MPTCP of the kernel")  # fmt: skip
    add("--force", action="store_true", help="compare late runs, too")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="another value for a key of the scenario")
    add("--bin", type=seconds, default=1.0, metavar="SECONDS", help="width of a time bin (default: 1)")
    add("--jobs", "-j", type=count, metavar="J", help="threads of the simulator (default: all cores)")
    add("--out", type=Path, metavar="DIR", help="folder of figure, verdicts and runs (default: out/overlay)")
    add(
        "--formats",
        type=plots.formats,
        default=",".join(plots.FORMATS),
        help="file formats of the figure (default: %(default)s)",
    )
    add("--suite", type=Path, metavar="PAGE", help="do all scenarios of suites/overlay, and write the page")
    add("--only", metavar="NAMES", help="with --suite: only these scenarios, separated by commas")
    add("--json", action="store_true", help="print the verdicts as JSON")
    add("--quiet", "-q", action="store_true", help="show no progress")
    return parser
