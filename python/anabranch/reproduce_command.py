"""``anabranch reproduce``: runs the figures of papers and prints a verdict on each number."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from . import papers, plots
from .cluster import connected
from .console import printable, say
from .papers import Paper, PaperError
from .parser import Parser, seed
from .progress import Progress
from .reproduce import Options, Reproduction, reproduce
from .screen import TABLES, screen
from .verdict import Row, Verdict

WIDTH = 110
"""Columns of the printed table."""
_COLORS = {Verdict.PASS: "32", Verdict.NEAR: "33", Verdict.MISS: "1;31", Verdict.OPEN: "36"}


def run(arguments: Sequence[str], count: Callable[[str], int]) -> bool:
    """Runs the command; ``count`` reads a number of at least 1.

    True if no number was missed and, except with ``--demo``, none was left OPEN without a reason.
    """
    chosen = declared(count).parse_args(arguments)
    wanted = [papers.find(name) for name in chosen.papers] or papers.all_papers()
    if chosen.figure and len(wanted) != 1:
        raise PaperError("--figure needs the number of one paper before it")
    figures = [paper.select(chosen.figure) for paper in wanted]
    parts = sum(not chosen.demo or spec.demo_replicas is not None for found in figures for spec in found)
    progress = None if chosen.quiet else Progress(sys.stderr, "paper", parts)
    began = time.monotonic()
    # A demo of whole papers ends with one screen, and its tables are in the file only.
    brief = chosen.demo and not chosen.figure
    done: list[tuple[Paper, list[Reproduction]]] = []
    reports: list[dict[str, Any]] = []
    chosen.out.mkdir(parents=True, exist_ok=True)
    with connected(chosen.cluster) as client, (chosen.out / TABLES).open("w", encoding="utf-8") as tables:
        for paper, found in zip(wanted, figures, strict=True):
            out = chosen.out / f"paper-{paper.id}"
            options = Options(
                out,
                chosen.replicas,
                chosen.demo,
                chosen.full,
                chosen.seed,
                chosen.jobs,
                chosen.formats,
                client,
                tuple(chosen.set),
            )
            done.append((paper, []))
            for item in reproduce(paper, found, options, progress):
                if progress is not None:
                    progress.clear()
                print(table(paper, item), file=tables, flush=True)
                if not chosen.json and not brief:
                    say(table(paper, item, color=_colored(sys.stdout)), colored=True)
                done[-1][1].append(item)
            reports.append(json.loads((out / "verdicts.json").read_text(encoding="utf-8")))
    rows = [row for _, items in done for item in items for row in item.rows]
    if chosen.json:
        say(json.dumps(reports, indent=2, ensure_ascii=False))
    elif brief:
        say(screen(done, chosen.out, time.monotonic() - began))
    else:
        say(f"{counts(rows)}. Pictures, verdicts.json, {TABLES} and runs are in {chosen.out}")
    return is_reproduced(rows, demo=chosen.demo)


def is_reproduced(rows: Sequence[Row], *, demo: bool) -> bool:
    """Whether no number was missed and none was left OPEN without a reason.

    A demo has so few replicas that OPEN numbers do not count.
    """
    return not any(row.verdict is Verdict.MISS or (row.unexplained and not demo) for row in rows)


def counts(rows: Sequence[Row]) -> str:
    """The number of rows with each verdict."""
    verdicts = [row.verdict for row in rows]
    notes = {
        Verdict.PASS: (sum(row.verdict is Verdict.PASS and bool(row.calibrated) for row in rows), "calibrated"),
        Verdict.OPEN: (sum(row.unexplained for row in rows), "without a reason"),
    }
    parts: list[str] = []
    for verdict in Verdict:
        some, what = notes.get(verdict, (0, ""))
        parts.append(f"{verdicts.count(verdict)} {verdict}" + (f" ({some} {what})" if some else ""))
    if differ := verdicts.count(None):
        parts.append(f"{differ} without a verdict (parameters differ from the paper's)")
    return ", ".join(parts)


def declared(count: Callable[[str], int]) -> argparse.ArgumentParser:
    """The options of the command."""
    parser = Parser(
        "reproduce",
        "Runs the figures of papers, and compares each number that the papers state with the measured one.",
        epilog=(
            "Exit code 3 if a number was missed or, except with --demo, left OPEN without a reason. "
            "The same command after an interruption reuses the finished runs."
        ),
        examples=("--demo", "000 --figure 5-right --replicas 10", "./mypaper"),
    )
    add = parser.add_argument
    add(
        "papers",
        nargs="*",
        metavar="PAPER",
        help="numbers, as `anabranch papers` lists them, or folders such as ./mypaper (default: all)",
    )
    add("--figure", "-f", action="append", default=[], metavar="F", help="a figure (8-left), or all parts of one (8)")
    add(
        "--replicas",
        type=count,
        metavar="N",
        help="runs of each point (default: the number in the paper's folder)",
    )
    level = parser.add_mutually_exclusive_group()
    few = "few replicas, and few points besides those that the paper states"
    level.add_argument("--demo", "--quick", action="store_true", help=few)
    level.add_argument("--full", action="store_true", help="everything that the paper ran, where the default is less")
    add(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="give a parameter another value, such as link.NAME.delay='20 ms'; the figure then gets no verdicts",
    )
    add("--seed", type=seed, help="root seed (default: the scenario's)")
    threads = parser.add_mutually_exclusive_group()
    threads.add_argument("--jobs", "-j", type=count, metavar="J", help="threads (default: all cores)")
    threads.add_argument("--cluster", metavar="ADDRESS", help="a Dask cluster: tcp://SCHEDULER:8786, or local")
    add(
        "--out",
        type=Path,
        metavar="DIR",
        default=Path("out", "papers"),
        help="folder of results (%(default)s)",
    )
    add("--formats", type=plots.formats, default=",".join(plots.FORMATS),
        help="file formats of the pictures (default: %(default)s)")  # fmt: skip
    add("--json", action="store_true", help="print the verdicts as JSON")
    add("--quiet", "-q", action="store_true", help="show no progress")
    return parser


def table(paper: Paper, item: Reproduction, color: bool = False) -> str:
    """The verdicts on one figure, in lines of at most 110 columns."""
    many = f"{item.replicas} replicas" if item.replicas > 1 else "1 replica"
    many += f"; {item.note}" if item.note else ""
    title = f"Paper {paper.id}, {item.spec.label}: {item.spec.title} ({many}, seed {item.seed})"
    lines = textwrap.wrap(printable(title), WIDTH, subsequent_indent="    ")
    heads = ("", "measured", "expected", "what (source)")
    parts = wrapped([heads, *map(_cells, item.rows)], WIDTH)
    lines += parts[0]
    for row, (first, *more) in zip(item.rows, parts[1:], strict=True):
        lines += [_painted(first, row) if color else first, *more]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> tuple[str, str, str, str]:
    where = row.finding.point.where
    what = f"{row.what}, {where} ({row.source})" if where else f"{row.what} ({row.source})"
    return (row.label, row.measured, row.expected, printable("\n".join(filter(None, (what, row.remark)))))


def wrapped(rows: Sequence[tuple[str, ...]], width: int, indent: int = 2) -> list[list[str]]:
    """Each row as lines of at most ``width`` columns: aligned cells, the last one wrapped."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    begin = " " * indent
    margin = begin + " " * sum(w + 2 for w in widths)
    found: list[list[str]] = []
    for *cells, last in rows:
        first = begin + "".join(f"{cell:<{w}}  " for cell, w in zip(cells, widths, strict=True))
        parts = [
            textwrap.wrap(part, max(20, width - len(margin)), break_on_hyphens=False) or [""]
            for part in last.split("\n")
        ]
        lines = [line for part in parts for line in part]
        found.append([(first + lines[0]).rstrip(), *(margin + line for line in lines[1:])])
    return found


def _painted(line: str, row: Row) -> str:
    if row.verdict is None:
        return line
    return line.replace(row.label, f"\x1b[{_COLORS[row.verdict]}m{row.label}\x1b[0m", 1)


def _colored(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ
