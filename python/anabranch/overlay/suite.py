"""The scenarios of ``docs/sim-vs-real-tables.md``, with the causes of their differences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..shipped import folder
from ..suites import running, tables
from .plan import OURS


@dataclass(frozen=True)
class Entry:
    """A scenario of the suite with the values of its axes, and the explanation of its result."""

    name: str
    title: str
    file: Path
    settings: tuple[str, ...]
    program: str
    """The program that runs the flows of SCTP for real."""
    text: str
    """A description of the scenario, and the cause of each difference."""


def entries(only: str | None = None) -> list[Entry]:
    """The scenarios of ``suites/overlay/suite.toml``, or those of them that ``only`` names."""
    content = running.read("overlay", "suite.toml")
    known = tuple(table["name"] for table in content["scenario"])
    wanted = running.chosen(only, known, "scenario in the suite `overlay`")
    return [_entry(table) for table in content["scenario"] if table["name"] in wanted]


def _entry(table: Mapping[str, Any]) -> Entry:
    settings = tuple(f"{key}={value}" for key, value in table.get("set", {}).items())
    file = folder("suites") / "overlay" / table["file"]
    return Entry(table["name"], table["title"], file, settings, table.get("program", OURS), table["text"].strip())


def section(entry: Entry, legend: str, grid: tables.Grid, picture: Path) -> str:
    """The part of the page about a scenario."""
    differ = sum(row[-2] == "differ" for row in grid.rows)
    verdict = (
        "All quantities agree." if not differ else f"{len(grid.rows) - differ} of {len(grid.rows)} quantities agree."
    )
    table = tables.markdown(legend, [grid])
    return f"## {entry.title}\n\n{verdict} {entry.text}\n\n![{entry.title}]({picture.as_posix()})\n\n{table}"


def merged(written: str, made: Mapping[str, str]) -> str:
    """The parts of the page in the order of the suite: those ``made`` now, the others as on the ``written`` page."""
    parts = re.split(r"^## ", written, flags=re.MULTILINE)[1:]
    known = {part.partition("\n")[0]: f"## {part.strip()}\n" for part in parts} | dict(made)
    return "\n".join(known[entry.title] for entry in entries() if entry.title in known)
