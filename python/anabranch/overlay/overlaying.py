"""Performs an overlay: real runs, simulated replicas, and a verdict for each quantity."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..laboratory import sweep
from ..statistics import finite
from . import foreign, observe, real
from .observe import Quantity
from .plan import OverlayError, Plan
from .verdict import EQUIVALENT, Comparison, LateRunError, compare, refuse_late

ATTEMPTS = 4
"""Largest number of attempts for each run: a late run is repeated."""

STORED = "run.json"
"""The file with the emulator's report on a finished run, and the scenario of the run."""

Report = Callable[[str, int, int], object]
"""Called with the name of the running part, the number of finished runs, and the number of all runs."""


@dataclass(frozen=True)
class Row:
    """A quantity, its values in each bin of each replica and each real run, and the verdict."""

    quantity: Quantity
    simulated: list[list[float]]
    real: list[list[float]]
    verdict: Comparison

    @property
    def hint(self) -> str:
        """Which part of the verdict decided, for quantities that differ; empty for others."""
        if self.verdict.agrees:
            return ""
        low, high = EQUIVALENT
        ratio = self.verdict.ratio
        outside = f"{1 - self.verdict.inside:.0%} of the bins are outside the band"
        if low <= ratio.low and ratio.high <= high:
            return outside
        if ratio.high < low or ratio.low > high:
            return "the means differ"
        return (
            "the means may be equivalent: the interval is too wide for a decision"
            if self.verdict.inside >= 0.9
            else outside
        )


@dataclass(frozen=True)
class Overlay:
    """An overlay of real runs over simulated ones."""

    plan: Plan
    rows: list[Row]
    replicas: int
    outcomes: list[dict[str, Any]]
    """The report of ``anabranch emulate`` on each real run; empty for runs over other networks."""
    repeated: int
    """Runs that were too late and therefore repeated."""
    jitter: float | None
    """Jitter of simulated hosts in seconds, from the lateness of the real runs; None: the jitter in the scenario."""

    @property
    def agrees(self) -> bool:
        """True if all quantities agree."""
        return all(row.verdict.agrees for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """The verdicts for JSON."""
        return {
            "version": 1,
            "title": self.plan.title,
            "program": self.plan.program,
            "seed": self.plan.seed,
            "replicas": self.replicas,
            "real_runs": len(self.rows[0].real),
            "late_runs_repeated": self.repeated,
            "host_jitter_s": self.jitter,
            "lateness": [_lateness(outcome) for outcome in self.outcomes],
            "bins_s": list(self.plan.bins),
            "quantities": [_row(row) for row in self.rows],
        }


def _lateness(outcome: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: outcome["lateness"][key] for key in ("p50_s", "p99_s", "max_s")}
    return {**found, "late": outcome["late"]}


def _row(row: Row) -> dict[str, Any]:
    ratio = row.verdict.ratio
    return {
        "place": row.quantity.place,
        "what": row.quantity.what,
        "unit": row.quantity.unit,
        "verdict": "agree" if row.verdict.agrees else "differ",
        "hint": row.hint,
        "ratio": finite(ratio.mean),
        "ratio_low": finite(ratio.low),
        "ratio_high": finite(ratio.high),
        "inside": row.verdict.inside,
        "band": row.verdict.band,
        "simulated": row.simulated,
        "real": row.real,
    }


def real_runs(plan: Plan, count: int, out: Path, *, forced: bool, report: Report) -> tuple[list[dict[str, Any]], int]:
    """Does ``count`` runs in folders ``run-1`` and so on; late runs are repeated, and finished ones are kept.

    Returns the emulator's report on each run, and the number of repeated runs. Raises :class:`RunError` if a run fails,
    or is late in all attempts, unless ``forced``.
    """
    outcomes: list[dict[str, Any]] = []
    repeated = 0
    for number in range(count):
        report("real", number, count)
        folder = out / f"run-{number + 1}"
        outcome = _finished(plan, folder) or _new_run(plan, folder, plan.seed + number * ATTEMPTS, forced)
        outcomes.append(outcome)
        repeated += outcome["repeated"]
    return outcomes, repeated


def _finished(plan: Plan, folder: Path) -> dict[str, Any] | None:
    """The emulator's report on a run that an earlier call did in this folder, with the same scenario and program."""
    try:
        stored = json.loads((folder / STORED).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    same = (stored["scenario"], stored["program"]) == (plan.simulated(), plan.program)
    return stored["outcome"] if same else None


def _new_run(plan: Plan, folder: Path, seed: int, forced: bool) -> dict[str, Any]:
    if (why := real.missing()) is not None:
        raise OverlayError(f"real runs in network namespaces need {why}; compare runs of elsewhere with --runs")
    foreign.check(plan)
    outcome = {**real.run(plan, folder, seed), "repeated": 0}
    for attempt in range(1, ATTEMPTS):
        if outcome["late"]:
            outcome = {**real.run(plan, folder, seed + attempt), "repeated": attempt}
    try:
        refuse_late([outcome], forced=forced)
    except LateRunError as error:
        raise real.RunError(
            f"{plan.title}: {folder.name} was late in {ATTEMPTS} attempts; use an idle machine, or pass --force"
        ) from error
    stored = {"scenario": plan.simulated(), "program": plan.program, "outcome": outcome}
    (folder / STORED).write_text(json.dumps(stored), encoding="utf-8")
    return outcome


def overlay(
    plan: Plan,
    runs: Sequence[Path],
    out: Path,
    *,
    replicas: int,
    jobs: int | None = None,
    outcomes: Sequence[dict[str, Any]] = (),
    repeated: int = 0,
    report: Report = lambda *_: None,
) -> Overlay:
    """Simulates the plan's scenario and compares real runs, which are in ``runs``, with it.

    ``outcomes`` are the emulator's reports on the runs: their lateness becomes the jitter of simulated hosts. Raises
    :class:`OverlayError` if the runs do not fit the scenario.
    """
    if len(runs) < 2:
        raise OverlayError(f"expected 2 real runs or more, found {len(runs)}: one says nothing about their spread")
    jitter = 2 * math.fsum(outcome["lateness"]["p50_s"] for outcome in outcomes) / len(outcomes) if outcomes else None
    result = sweep(plan.simulated(jitter), replicas=replicas, jobs=jobs, seed=plan.seed, out=out / "simulated",
                   progress=lambda done, total, _: report("simulated", done, total))  # fmt: skip
    simulated = observe.simulated(plan, result)
    measured = [observe.real(plan, folder) for folder in runs]
    rows: list[Row] = []
    for quantity in observe.compared(simulated, measured):
        both = [values[quantity] for values in simulated], [values[quantity] for values in measured]
        rows.append(Row(quantity, *both, compare(*both)))
    if not rows:
        raise OverlayError("the real runs have no quantity in common with the simulation")
    found = Overlay(plan, rows, replicas, list(outcomes), repeated, jitter)
    (out / "overlay.json").write_text(json.dumps(found.as_dict(), indent=1) + "\n", encoding="utf-8")
    return found
