"""The command ``anabranch bbr-cases``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ...console import say
from ...parser import Parser
from .. import tables
from . import measure

OK, MISSED = 0, 3
SEEDS = 3


def run(arguments: Sequence[str], count: Callable[[str], int]) -> int:
    """Runs the cases, prints their table, and returns 0, or 3 if one was missed."""
    parser = declared(count)
    given = parser.parse_args(arguments)
    if given.case is not None and given.case not in measure.NUMBERS:
        parser.error(f"--case {given.case}: expected a case from 1 to {measure.NUMBERS[-1]}")
    rows: list[measure.Row] = []
    seeds = range(1, 1 + (SEEDS if given.replicas is None else given.replicas))
    for number in measure.NUMBERS if given.case is None else [given.case]:
        if not given.quiet and sys.stderr.isatty():
            print(f"\rcase {number} of {measure.NUMBERS[-1]}", end="\r", file=sys.stderr)
        rows.extend(measure.measure(number, given.control, given.transport, seeds))
    passed = sum(row.verdict == "pass" for row in rows)
    legend = (
        f"`{given.control}` over {given.transport.upper()}, {len(seeds)} runs of each: {passed} of {len(rows)} pass."
    )
    grid = tables.Grid("Cases", ["case", "what", "verdict", "what was seen"], [_line(row) for row in rows])
    if given.page is not None:
        tables.Page.read(given.page, f"bbr-{given.transport}").write(tables.markdown(legend, [grid]))
    if given.json:
        say(json.dumps([_as_dict(row) for row in rows], indent=2, ensure_ascii=False))
    else:
        say(tables.text(legend, [grid]))
    return OK if passed == len(rows) else MISSED


def _line(row: measure.Row) -> list[str]:
    return [row.case, row.title, row.verdict, row.text]


def _as_dict(row: measure.Row) -> dict[str, object]:
    runs = [{"passed": one.passed, "seen": one.text} for one in row.seen]
    return {"case": row.case, "title": row.title, "verdict": row.verdict, "runs": runs}


def declared(count: Callable[[str], int]) -> argparse.ArgumentParser:
    """The options of the command."""
    parser = Parser(
        "bbr-cases",
        "Runs the 22 example cases of BBR and reads from its inner state whether it does what they ask for.",
        "Exit codes: 0 all cases pass, 1 a run failed, 2 wrong arguments, 3 a case was missed. The cases are in "
        "suites/bbr, and its NOTES.md explains each miss.",
        ("--case 21", "--control bbr-coupled --transport sctp"),
    )
    add = parser.add_argument
    add("--control", default="bbr", metavar="X", help="congestion control with states of BBR (default: %(default)s)")
    add("--transport", choices=measure.TRANSPORTS, default="tcp", metavar="NAME", help="tcp or sctp (default: tcp)")
    add("--case", type=count, metavar="N", help="run only this case")
    add(
        "--replicas", type=count, metavar="N", help=f"runs of each case, each with a seed of its own (default: {SEEDS})"
    )
    add("--page", type=Path, metavar="FILE", help="Markdown page: the table replaces its part between the marks")
    add("--json", action="store_true", help="print the table as JSON")
    add("--quiet", "-q", action="store_true", help="show no progress")
    return parser
