"""What suites have in common: where they lie, how they run, and the ratio that their rules are."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .laboratory import sweep
from .result import Result
from .statistics import Estimate


class SuiteError(ValueError):
    """The suite's files are not there, or something of that name is not."""


Report = Callable[[str, int, int, float | None], object]
"""Called with what runs, the runs that are done, the runs there are, and the seconds left if known."""


@dataclass(frozen=True)
class Running:
    """How much to run and where to put it."""

    out: Path
    replicas: int
    seed: int | None = None
    jobs: int | None = None


@dataclass(frozen=True)
class Runner:
    """Sweeps the scenarios of one topology, each below a folder of its own."""

    topology: str
    running: Running
    report: Report | None

    def __call__(self, name: str, scenario: Mapping[str, Any]) -> Result:
        """Sweeps a scenario; one that was stopped goes on where it was."""
        report, label = self.report, f"{self.topology} ({name})"
        return sweep(
            scenario,
            replicas=self.running.replicas,
            jobs=self.running.jobs,
            seed=self.running.seed,
            out=self.running.out / "runs" / self.topology / name,
            progress=None if report is None else lambda done, total, left: report(label, done, total, left),
        )


def folder() -> Path:
    """Where the suites lie: where ``ANABRANCH_SUITES`` says, else in the source tree of this package."""
    named = os.environ.get("ANABRANCH_SUITES")
    return Path(named) if named else Path(__file__).parents[2] / "suites"


def description(suite: str) -> Path:
    """The file that describes a suite. Raises :class:`SuiteError` if it is not there."""
    path = folder() / suite / "suite.toml"
    if not path.is_file():
        raise SuiteError(f"no {path}: name the folder of the suites in ANABRANCH_SUITES (they come with the sources)")
    return path


def chosen(names: str | None, known: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Those named, separated by commas; all that are known if none is."""
    wanted = known if names is None else tuple(name.strip() for name in names.split(","))
    for name in wanted:
        if name not in known:
            raise SuiteError(f"there is no {what} `{name}`: there are {', '.join(known)}")
    return wanted


def ratio(above: Estimate, below: Estimate) -> Estimate:
    """The quotient of two independent means, with the interval to first order."""
    mean = above.mean / below.mean
    half = math.hypot(above.half_width, mean * below.half_width) / abs(below.mean)
    return Estimate(mean, half, min(above.count, below.count))
