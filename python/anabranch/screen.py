"""The one screen with which a demo ends: what was reproduced, where the pictures are, what is missed and why."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from .papers import Paper
from .progress import duration
from .reproduce import Reproduction
from .verdict import Row, Verdict

TABLES = "verdicts.txt"
"""The file with every row, in the folder of the results."""
WIDTH, LINES = 80, 24
README_FIGURE = ("001", "8-left")
"""Paper and figure of the picture in README.md."""

Done = Sequence[tuple[Paper, Sequence[Reproduction]]]
"""Papers and their reproduced figures."""


def screen(done: Done, out: Path, seconds: float) -> str:
    """At most 24 lines of 80 columns."""
    rows = [row for _, items in done for item in items for row in item.rows]
    figures = sum(len(items) for _, items in done)
    what = f"{_several(figures, 'figure')} of {_several(len(done), 'paper')}"
    head = f"Reproduced {what} in {duration(seconds)}: {_several(len(rows), 'number')}."
    tail = [*_open(rows), "", *_pictures(done, out), f"Every number, with its verdict:  {out / TABLES}"]
    lines = [head, "", *_counts(done), ""]
    missed = _missed(done)
    room = LINES - len(lines) - len(tail)
    if len(missed) > room:
        missed = [*missed[: room - 1], f"  and {len(missed) - room + 1} more"]
    return "\n".join([*lines, *missed, *tail])


def _several(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def _counts(done: Done) -> list[str]:
    head = "paper" + " " * 51 + "".join(f"{verdict:>6}" for verdict in Verdict)
    lines = [head]
    for paper, items in done:
        rows = [row for item in items for row in item.rows]
        lines.append(_line(f"{paper.id}  {paper.title}", rows))
    if len(done) > 1:
        lines.append(_line("all", [row for _, items in done for item in items for row in item.rows]))
    return lines


def _line(name: str, rows: Sequence[Row]) -> str:
    shown = textwrap.shorten(name, 55, placeholder=" ...")
    verdicts = [row.verdict for row in rows]
    return f"{shown:<56}" + "".join(f"{verdicts.count(verdict):>6}" for verdict in Verdict)


def _missed(done: Done) -> list[str]:
    lines = [
        f"{paper.id} {row.figure}: {row.measured}, not {row.expected}: {row.missed or row.what}"
        for paper, items in done
        for item in items
        for row in item.rows
        if row.verdict is Verdict.MISS
    ]
    shown = ["  " + textwrap.shorten(line, WIDTH - 2, placeholder=" ...") for line in lines]
    return ["Missed:", *shown] if shown else []


def _open(rows: Sequence[Row]) -> list[str]:
    """How many rows are OPEN, and what decides them."""
    explained = sum(row.verdict is Verdict.OPEN and not row.unexplained for row in rows)
    unexplained = sum(row.unexplained for row in rows)
    lines: list[str] = []
    if unexplained:
        lines.append(f"OPEN: {_several(unexplained, 'number')}: more replicas decide, `make papers`.")
    if explained:
        lines.append(f"OPEN: {_several(explained, 'number')}: for a reason that {TABLES} gives.")
    return lines


def _pictures(done: Done, out: Path) -> list[str]:
    files = [file for _, items in done for item in items for file in item.files]
    kinds = ", ".join(sorted({file.suffix.removeprefix(".") for file in files}))
    lines = [f"Pictures ({kinds}):  {out / 'paper-*' / 'figure-*'}"]
    readme = [
        file
        for paper, items in done
        for item in items
        for file in item.files
        if (paper.id, item.spec.id) == README_FIGURE and file.suffix == ".png"
    ]
    return lines + [f"The picture of README.md:  {file}" for file in readme]
