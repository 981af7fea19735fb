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
"""Called several times a second with the runs that are done, the runs there are, and the seconds left if known."""


def run(scenario: Scenario, *, seed: int | None = None, replica: int = 0) -> Result:
    """Runs a scenario without variations once, in the calling thread's time but without holding the GIL.

    ``seed`` replaces the root seed of the scenario; (seed, replica) fix every random draw, so the same call gives the
    same result anywhere. Ctrl-C stops it. Raises :class:`ScenarioError` for a scenario that does not read.
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
    """Runs the product of a scenario's variations, each ``replicas`` times, on ``jobs`` threads (all cores).

    With ``out`` each run is kept there as soon as it ends: a sweep begun again goes on where it was stopped, and the
    tables and the manifest lie in that directory. Ctrl-C stops it.
    """
    text, name = as_text(scenario)
    with tempfile.TemporaryDirectory(prefix="anabranch-") if out is None else nullcontext(out) as folder:
        _core.sweep(text, name, replicas, jobs, seed, str(folder), progress)
        return Result.read(folder)
