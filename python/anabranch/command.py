"""The command ``anabranch``: ``reproduce``, ``papers`` and the suites here, everything else in Rust."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from . import _core, bonding_command, fairness_command, papers, plots, suite_command, tables
from .papers import Paper, PaperError
from .progress import Progress
from .reproduce import Options, Reproduction, reproduce
from .suites import SuiteError
from .verdict import Row, Verdict

OK, FAILED, USAGE, MISSED = 0, 1, 2, 3
WIDTH = 110
"""Columns of the printed table."""
_COLORS = {Verdict.PASS: "32", Verdict.NEAR: "33", Verdict.MISS: "1;31", Verdict.OPEN: "36"}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code: 0 fine, 1 failed, 2 usage, 3 a number was missed or left open."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        command = _COMMANDS.get(arguments[0]) if arguments else None
        return command(arguments[1:]) if command else _core.cli(arguments)
    except (PaperError, SuiteError) as error:
        print(f"anabranch: {error}", file=sys.stderr)
        return USAGE
    except (_core.ScenarioError, _core.SimulationError, OSError) as error:
        print(f"anabranch: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("anabranch: stopped; what is done is kept, the same command goes on from here", file=sys.stderr)
        return 130


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _reproduce(arguments: Sequence[str]) -> int:
    chosen = _reproduce_parser().parse_args(arguments)
    wanted = [papers.find(name) for name in chosen.papers] or papers.all_papers()
    if chosen.figure and len(wanted) != 1:
        raise PaperError("--figure needs the number of one paper before it")
    progress = None if chosen.quiet or not sys.stderr.isatty() else Progress(sys.stderr, "figure")
    rows: list[Row] = []
    reports: list[dict[str, Any]] = []
    for paper in wanted:
        figures = paper.select(chosen.figure)
        out = chosen.out / f"paper-{paper.id}"
        formats = tuple(chosen.formats.split(","))
        options = Options(out, chosen.replicas, chosen.demo, chosen.full, chosen.seed, chosen.jobs, formats)
        for item in reproduce(paper, figures, options, progress):
            if progress is not None:
                progress.clear()
            if not chosen.json:
                print(table(paper, item, color=_colored(sys.stdout)), flush=True)
            rows += item.rows
        reports.append(json.loads((out / "verdicts.json").read_text(encoding="utf-8")))
    if chosen.json:
        print(json.dumps(reports, indent=2, ensure_ascii=False))
    else:
        print(f"{counts(rows)}. Pictures, verdicts.json and runs are in {chosen.out}")
    return exit_code(rows, demo=chosen.demo)


def exit_code(rows: Sequence[Row], *, demo: bool) -> int:
    """3 if a number was missed; also if one was left OPEN without a reason, but for a demo, which has few replicas."""
    missed = any(row.verdict is Verdict.MISS or (row.unexplained and not demo) for row in rows)
    return MISSED if missed else OK


def counts(rows: Sequence[Row]) -> str:
    """How many there are of each verdict."""
    verdicts = [row.verdict for row in rows]
    notes = {
        Verdict.PASS: (sum(row.label != row.verdict for row in rows), "calibrated"),
        Verdict.OPEN: (sum(row.unexplained for row in rows), "without a reason"),
    }
    parts: list[str] = []
    for verdict in Verdict:
        some, what = notes.get(verdict, (0, ""))
        parts.append(f"{verdicts.count(verdict)} {verdict}" + (f" ({some} {what})" if some else ""))
    return ", ".join(parts)


def _reproduce_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="anabranch reproduce",
        description="Run the figures of papers, and judge each number the papers state.",
        epilog=(
            "Exit code 3 if a number was missed, or, but for --demo, left OPEN without a reason. "
            "A run that was stopped goes on where it was."
        ),
    )
    add = parser.add_argument
    add("papers", nargs="*", metavar="PAPER", help="numbers, as `anabranch papers` lists them (default: all)")
    add("--figure", "-f", action="append", default=[], metavar="F", help="a figure (8-left), or all parts of one (8)")
    add(
        "--replicas", type=_count, metavar="N", help="runs of each point (default: as the paper, or as its folder says)"
    )
    level = parser.add_mutually_exclusive_group()
    few = "few replicas, and few points beside those the paper states"
    level.add_argument("--demo", "--quick", action="store_true", help=few)
    level.add_argument("--full", action="store_true", help="all that the paper ran, where the default is less")
    add("--seed", type=int, help="root seed (default: that of the scenario)")
    add("--jobs", "-j", type=_count, metavar="J", help="threads (default: all cores)")
    add("--out", type=Path, metavar="DIR", default=Path("out", "papers"), help="where all goes (default: %(default)s)")
    add("--formats", default=",".join(plots.FORMATS), help="of the pictures (default: %(default)s)")
    add("--json", action="store_true", help="print the verdicts as JSON")
    add("--quiet", "-q", action="store_true", help="no progress")
    return parser


def _papers(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="anabranch papers", description="List the papers and their figures.")
    parser.add_argument("--json", action="store_true", help="as JSON")
    chosen = parser.parse_args(arguments)
    known = papers.all_papers()
    if chosen.json:
        listing = [
            {
                "paper": p.id,
                "title": p.title,
                "citation": p.citation,
                "figures": [{"figure": f.id, "title": f.title} for f in p.figures],
            }
            for p in known
        ]
        print(json.dumps(listing, indent=2, ensure_ascii=False))
        return OK
    for paper in known:
        print(f"{paper.id}  {paper.title}\n     {paper.citation}")
        for figure in paper.figures:
            print(f"     {figure.label:<15} {figure.title}")
        print()
    return OK


def _fairness(arguments: Sequence[str]) -> int:
    return suite_command.run(fairness_command.SUITE, arguments, _count)


def _bonding(arguments: Sequence[str]) -> int:
    return suite_command.run(bonding_command.SUITE, arguments, _count)


_COMMANDS = {"reproduce": _reproduce, "papers": _papers, "fairness": _fairness, "bonding": _bonding}


def table(paper: Paper, item: Reproduction, color: bool = False) -> str:
    """The verdicts on one figure, in lines of at most 110 columns."""
    many = f"{item.replicas} replicas" if item.replicas > 1 else "1 replica"
    many += f"; {item.note}" if item.note else ""
    title = f"Paper {paper.id}, {item.spec.label}: {item.spec.title} ({many}, seed {item.seed})"
    lines = textwrap.wrap(title, WIDTH, subsequent_indent="    ")
    heads = ("", "measured", "expected", "what (source)")
    parts = tables.wrapped([heads, *map(_cells, item.rows)], WIDTH)
    lines += parts[0]
    for row, (first, *more) in zip(item.rows, parts[1:], strict=True):
        lines += [_painted(first, row) if color else first, *more]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> tuple[str, str, str, str]:
    where = row.finding.point.where
    what = f"{row.what}, {where} ({row.source})" if where else f"{row.what} ({row.source})"
    return (row.label, row.measured, row.expected, "\n".join(filter(None, (what, row.remark))))


def _painted(line: str, row: Row) -> str:
    return line.replace(row.label, f"\x1b[{_COLORS[row.verdict]}m{row.label}\x1b[0m", 1)


def _colored(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ
