"""Tables of words, as text and as Markdown, and pages with a place for them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .statistics import Estimate
from .suites import SuiteError


@dataclass(frozen=True)
class Grid:
    """A titled table of words."""

    title: str
    head: list[str]
    rows: list[list[str]]


def basis(seed: int, replicas: int) -> str:
    """What the numbers of a table are."""
    many = f"{replicas} replicas" if replicas > 1 else "1 replica"
    return f"Seed {seed}, {many}, means and 95 % intervals"


def number(found: Estimate, scale: float = 1.0, digits: int = 2) -> str:
    """Mean and interval."""
    mean = f"{found.mean * scale:.{digits}f}"
    return f"{mean} ± {found.half_width * scale:.{digits}f}" if math.isfinite(found.half_width) else mean


def text(legend: str, grids: Iterable[Grid]) -> str:
    """For a terminal."""
    parts = [f"{legend}\n"]
    for grid in grids:
        widths = [max(map(len, column)) for column in zip(grid.head, *grid.rows, strict=True)]
        lines = ["  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)) for row in [grid.head, *grid.rows]]
        parts.append("\n".join([grid.title, *(f"  {line}".rstrip() for line in lines)]) + "\n")
    return "\n".join(parts)


def wrapped(rows: Sequence[tuple[str, ...]], width: int, indent: int = 2) -> list[list[str]]:
    """Each row as lines of at most ``width``: aligned cells, of which the last one is broken where it is too long."""
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


def markdown(legend: str, grids: Iterable[Grid]) -> str:
    """For a page."""
    parts = [f"{legend}\n"]
    for grid in grids:
        rows = [grid.head, ["---"] * len(grid.head), *grid.rows]
        parts.append(f"**{grid.title}**\n\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows))
    return "\n".join(parts)


@dataclass(frozen=True)
class Page:
    """A Markdown page with a place for the table, between two marks."""

    path: Path
    before: str
    after: str

    @classmethod
    def read(cls, path: Path) -> Page:
        """Raises :class:`SuiteError` if the marks are missing."""
        before, begin, rest = path.read_text(encoding="utf-8").partition("<!-- table -->\n")
        _, end, after = rest.partition("<!-- end of table -->")
        if not begin or not end:
            raise SuiteError(f"{path} has no `<!-- table -->` and `<!-- end of table -->`")
        return cls(path, before + begin, end + after)

    def write(self, table: str) -> None:
        """Writes the page with this table between the marks."""
        self.path.write_text(f"{self.before}\n{table}\n{self.after}", encoding="utf-8")
