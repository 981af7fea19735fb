"""Common parts of the suites: their files, how they run scenarios, and the ratio of two means."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..laboratory import sweep
from ..result import Result
from ..shipped import UsageError, folder
from ..statistics import Estimate


class SuiteError(UsageError):
    """A file of the suite is missing or wrong, or the user named something that the suite does not have."""


Report = Callable[[str, int, int, float | None], object]
"""Called with what runs, the number of finished runs, the number of all runs, and the seconds left if known."""


@dataclass(frozen=True)
class Running:
    """How much to run and where to put it."""

    out: Path
    replicas: int
    seed: int | None = None
    jobs: int | None = None

    def seed_of(self, scenario: Mapping[str, Any]) -> int:
        """The root seed of the runs: the chosen one, or else that of the scenario."""
        return int(scenario["seed"]) if self.seed is None else self.seed


@dataclass(frozen=True)
class Runner:
    """Sweeps the scenarios of one topology, each in a folder of its own."""

    topology: str
    running: Running
    report: Report | None

    def __call__(self, name: str, scenario: Mapping[str, Any]) -> Result:
        """Sweeps a scenario; finished runs of an earlier, stopped sweep are reused."""
        report, label = self.report, f"{self.topology} ({name})"
        return sweep(
            scenario,
            replicas=self.running.replicas,
            jobs=self.running.jobs,
            seed=self.running.seed,
            out=self.running.out / "runs" / self.topology / name,
            progress=None if report is None else lambda done, total, left: report(label, done, total, left),
        )

    def with_replicas(self, replicas: int) -> Runner:
        """The same with another number of replicas."""
        return replace(self, running=replace(self.running, replicas=replicas))


def under_name(report: Report | None, name: str) -> Report | None:
    """The report with one name for all sweeps of a part."""
    return None if report is None else lambda _, done, total, left: report(name, done, total, left)


def read(suite: str, name: str) -> dict[str, Any]:
    """A TOML file of a suite. Raises :class:`SuiteError` if it is not there."""
    path = folder("suites") / suite / name
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SuiteError(
            f"the suite `{suite}` needs {path}, which is missing: install the package again, or name a folder of "
            "suites in the environment variable ANABRANCH_SUITES"
        ) from error


def chosen(names: str | None, known: tuple[str, ...], what: str) -> tuple[str, ...]:
    """The names in a list separated by commas, or all known ones for None. Raises :class:`SuiteError` for others."""
    wanted = known if names is None else tuple(name.strip() for name in names.split(","))
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            tip = f"; did you mean `{near[0]}`?" if near else ""
            raise SuiteError(f"there is no {what} `{name}`: there are {', '.join(known)}{tip}")
    return wanted


def ratio(above: Estimate, below: Estimate) -> Estimate:
    """The quotient of two independent means, with its interval to first order."""
    mean = above.mean / below.mean
    half = math.hypot(above.half_width, mean * below.half_width) / abs(below.mean)
    return Estimate(mean, half, min(above.count, below.count))
