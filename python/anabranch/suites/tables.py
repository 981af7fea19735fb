"""Tables of text, printed for a terminal or as Markdown, and Markdown pages that hold one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..statistics import Estimate
from .running import SuiteError


@dataclass(frozen=True)
class Grid:
    """A table of text with a title."""

    title: str
    head: list[str]
    rows: list[list[str]]


def basis(seed: int, replicas: int) -> str:
    """How the numbers of a table were measured: seed, replicas, intervals."""
    many = f"{replicas} replicas" if replicas > 1 else "1 replica"
    return f"Seed {seed}, {many}, means and 95 % intervals"


def number(found: Estimate, scale: float = 1.0, digits: int = 2) -> str:
    """Mean and half width of the interval, both times ``scale``."""
    mean = f"{found.mean * scale:.{digits}f}"
    return f"{mean} ± {found.half_width * scale:.{digits}f}" if math.isfinite(found.half_width) else mean


def text(legend: str, grids: Iterable[Grid]) -> str:
    """The tables for a terminal."""
    parts = [f"{legend}\n"]
    for grid in grids:
        widths = [max(map(len, column)) for column in zip(grid.head, *grid.rows, strict=True)]
        lines = ["  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)) for row in [grid.head, *grid.rows]]
        parts.append("\n".join([grid.title, *(f"  {line}".rstrip() for line in lines)]) + "\n")
    return "\n".join(parts)


def markdown(legend: str, grids: Iterable[Grid]) -> str:
    """The tables as Markdown."""
    parts = [f"{legend}\n"]
    for grid in grids:
        rows = [grid.head, ["---"] * len(grid.head), *grid.rows]
        parts.append(f"**{grid.title}**\n\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows))
    return "\n".join(parts)


@dataclass(frozen=True)
class Page:
    """A Markdown page that holds the tables between two marks, ``<!-- table -->`` and ``<!-- end of table -->``."""

    path: Path
    before: str
    within: str
    after: str

    @classmethod
    def read(cls, path: Path, mark: str = "table") -> Page:
        """Reads a page, whose marks may contain another word. Raises :class:`SuiteError` if a mark is missing."""
        before, begin, rest = path.read_text(encoding="utf-8").partition(f"<!-- {mark} -->\n")
        within, end, after = rest.partition(f"<!-- end of {mark} -->")
        if not begin or not end:
            raise SuiteError(f"{path}: expected lines `<!-- {mark} -->` and `<!-- end of {mark} -->` around the table")
        return cls(path, before + begin, within, end + after)

    def write(self, table: str) -> None:
        """Writes the page with other tables between the marks."""
        self.path.write_text(f"{self.before}\n{table}\n{self.after}", encoding="utf-8")
