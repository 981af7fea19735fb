"""Running scenarios: one run, or a sweep over variations and replicas."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from . import _core, lab
from .cluster import cluster_work
from .result import Result
from .scenario import Scenario, as_text, with_values

Progress = Callable[[int, int, float | None], object]
"""Called several times a second with the finished runs, all runs, and the seconds left if known."""


def run(
    scenario: Scenario,
    *,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    replica: int = 0,
    out: str | Path | None = None,
) -> Result:
    """Runs a scenario without variations once. Returns when it is finished, and releases the GIL meanwhile.

    ``set`` gives keys other values: ``{"link.a-b.rate": "5 Mbit/s", "link.*.loss": 0.01}``. ``seed`` replaces the root
    seed of the scenario. Seed and replica determine every random draw, so the same call gives the same result on every
    machine. With ``out`` tables, manifest and captures are written to that folder. Ctrl-C stops it. Raises
    :class:`ScenarioError` for a wrong scenario.
    """
    text, name = as_text(scenario)
    return run_text(with_values(text, set), name, seed=seed, replica=replica, out=out)


def run_text(
    text: str, name: str, *, seed: int | None = None, replica: int = 0, out: str | Path | None = None
) -> Result:
    """As :func:`run`, for TOML text; traces that the text names are in the folder of the file ``name``."""
    lab.require()
    return Result.from_bytes(*_core.run(text, name, seed, replica, None if out is None else str(out)))


def sweep(
    scenario: Scenario,
    *,
    replicas: int | None = None,
    until: str | None = None,
    most: int = 1000,
    jobs: int | None = None,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    captures: bool = False,
    cluster: Any = None,
    progress: Progress | None = None,
) -> Result:
    """Runs all combinations of a scenario's variations, ``replicas`` times each (30), on ``jobs`` threads (all cores).

    With ``until="throughput_bps ± 2 %"`` it begins with 5 replicas, and adds more to each combination in which the 95 %
    interval of that quantity is wider for some flow, up to ``most``.

    ``set`` gives keys other values, as for :func:`run`. With ``out`` each run is stored in that folder as soon as it is
    finished, and the same call after an interruption reuses it; tables and manifest are in that folder, too, and with
    ``captures`` a file of all packets for each run and capture of the scenario. Ctrl-C stops the sweep.

    With ``cluster`` the runs are done by the workers of a Dask cluster: ``"tcp://scheduler:8786"``, ``"local"``, a
    ``distributed.Client``, or a cluster such as ``dask_jobqueue.SLURMCluster``. Needs ``pip install
    anabranch[cluster]``.
    """
    lab.require()
    text, name = as_text(scenario)
    text = with_values(text, set)
    with tempfile.TemporaryDirectory(prefix="anabranch-") if out is None else nullcontext(out) as folder:
        count = replicas if replicas is not None else (30 if until is None else 5)
        wanted = None if until is None else (until, most)
        with cluster_work(cluster) as work:
            _core.sweep(text, name, count, jobs, seed, str(folder), captures, wanted, work, progress)
        return Result.read(folder)


def merge(into: str | Path, *others: str | Path) -> Result | None:
    """Copies the runs of sweeps in other folders to the folder ``into``, and writes the tables of all.

    Returns None if the folders are not of one sweep, so that there are no common tables; their runs are copied, and a
    :func:`sweep` with this folder reuses them. Raises :class:`SimulationError`, before anything is copied, if two
    folders have different results for the same inputs.
    """
    without_tables = _core.merge(str(into), [str(folder) for folder in others])[-1]
    return Result.read(into) if without_tables is None else None
