"""The command ``anabranch``: ``reproduce`` and ``papers`` here, everything else in Rust."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from . import _core, papers, plots
from .papers import Paper, PaperError
from .reproduce import Options, Reproduction, as_json, reproduce
from .verdict import Row, Verdict

OK, FAILED, USAGE, MISSED = 0, 1, 2, 3
_COLORS = {Verdict.PASS: "32", Verdict.NEAR: "33", Verdict.MISS: "1;31"}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code: 0 fine, 1 failed, 2 usage, 3 a number was missed."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        match arguments[:1]:
            case ["reproduce"]:
                return _reproduce(arguments[1:])
            case ["papers"]:
                return _papers(arguments[1:])
            case _:
                return _core.cli(arguments)
    except PaperError as error:
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
    parser = argparse.ArgumentParser(
        prog="anabranch reproduce",
        description="Run a paper's figures and judge each number the paper states.",
        epilog="Exit code 3 if a number was missed.",
    )
    parser.add_argument("paper", help="number of the paper, as `anabranch papers` lists them")
    parser.add_argument(
        "--figure", "-f", action="append", default=[], metavar="F",
        help="a figure (8-left) or all parts of one (8); may be repeated; all of them by default",
    )  # fmt: skip
    parser.add_argument("--replicas", type=_count, metavar="N", help="runs of each point (default: as in the paper)")
    parser.add_argument("--quick", action="store_true", help="few replicas, and only the points that are judged")
    parser.add_argument("--seed", type=int, help="root seed (default: that of the scenario)")
    parser.add_argument("--jobs", "-j", type=_count, metavar="J", help="threads (default: all cores)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where pictures, verdicts and runs go")
    parser.add_argument("--formats", default=",".join(plots.FORMATS), help="picture formats (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    parser.add_argument("--quiet", "-q", action="store_true", help="no progress")
    chosen = parser.parse_args(arguments)

    paper = papers.find(chosen.paper)
    figures = paper.select(chosen.figure)
    out = chosen.out or Path("out") / f"paper-{paper.id}"
    options = Options(out, chosen.replicas, chosen.quick, chosen.seed, chosen.jobs, tuple(chosen.formats.split(",")))
    progress = None if chosen.quiet or not sys.stderr.isatty() else Progress(sys.stderr)
    done = reproduce(paper, figures, options, progress)
    if progress is not None:
        progress.clear()
    if chosen.json:
        print(json.dumps(as_json(paper, done), indent=2, ensure_ascii=False))
    else:
        for item in done:
            print(table(paper, item, color=_colored(sys.stdout)))
        print(f"pictures, verdicts.json and runs: {out}")
    missed = any(row.verdict is Verdict.MISS for item in done for row in item.rows)
    return MISSED if missed else OK


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
            print(f"     figure {figure.id:<8} {figure.title}")
        print()
    return OK


def table(paper: Paper, item: Reproduction, color: bool = False) -> str:
    """The verdicts on one figure, a line each."""
    many = f"{item.replicas} replicas" if item.replicas > 1 else "1 replica"
    lines = [f"Paper {paper.id}, figure {item.spec.id}: {item.spec.title} ({many}, seed {item.seed})"]
    heads = Row("", "what", "source", Verdict.PASS, "measured", "expected", "band")
    widths = [max(len(cell) for cell in column) for column in zip(*map(_cells, [heads, *item.rows]), strict=True)]
    for row in [heads, *item.rows]:
        cells = [f"{cell:<{width}}" for cell, width in zip(_cells(row), widths, strict=True)]
        verdict = "      " if row is heads else _painted(row.verdict, color)
        lines.append(f"  {verdict}  " + "  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    return (row.measured, row.expected, row.band, row.source, row.what)


def _painted(verdict: Verdict, color: bool) -> str:
    return f"\x1b[{_COLORS[verdict]}m{verdict:<6}\x1b[0m" if color else f"{verdict:<6}"


def _colored(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ


class Progress:
    """One line on a terminal that is written over: figure, runs done, time left."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __call__(self, figure: str, done: int, total: int, left: float | None) -> None:
        """Shows how far a figure is."""
        wait = "" if left is None else f", {left:.0f} s left"
        self._stream.write(f"\r\x1b[Kfigure {figure}: {done} of {total} runs{wait}")
        self._stream.flush()

    def clear(self) -> None:
        """Removes the line."""
        self._stream.write("\r\x1b[K")
        self._stream.flush()
