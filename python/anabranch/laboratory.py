"""Running scenarios: one run, or a sweep over variations and replicas."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from . import _core
from .result import Result
from .scenario import Scenario, as_text

Progress = Callable[[int, int, float | None], object]
"""Called several times a second with the finished runs, all runs, and the seconds left if known."""


def run(scenario: Scenario, *, seed: int | None = None, replica: int = 0) -> Result:
    """Runs a scenario without variations once. Returns when it is finished, and releases the GIL meanwhile.

    ``seed`` replaces the root seed of the scenario. Seed and replica determine every random draw, so the same call
    gives the same result on every machine. Ctrl-C stops it. Raises :class:`ScenarioError` for a wrong scenario.
    """
    text, name = as_text(scenario)
    return Result.from_bytes(*_core.run(text, name, seed, replica))


def sweep(
    scenario: Scenario,
    *,
    replicas: int = 30,
    jobs: int | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Result:
    """Runs all combinations of a scenario's variations, ``replicas`` times each, on ``jobs`` threads (all cores).

    With ``out`` each run is stored in that folder as soon as it is finished, and the same call after an interruption
    reuses it; tables and manifest are in that folder, too. Ctrl-C stops the sweep.
    """
    text, name = as_text(scenario)
    with tempfile.TemporaryDirectory(prefix="anabranch-") if out is None else nullcontext(out) as folder:
        _core.sweep(text, name, replicas, jobs, seed, str(folder), progress)
        return Result.read(folder)
