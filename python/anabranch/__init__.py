"""Anabranch: a multipath transport to simulate, measure and deploy with the same code.

>>> import anabranch
>>> result = anabranch.run("scenario.toml", seed=1)        # doctest: +SKIP
>>> result.scalars                                          # a polars DataFrame  # doctest: +SKIP

``run`` and ``sweep`` drive the simulator; :class:`Endpoint` is the protocol itself, packets in and packets out, with
the time given by the caller; ``statistics`` and ``plots`` are for what comes after.
"""

from ._core import (
    AssociationClosedError,
    ConfigError,
    ScenarioError,
    SimulationError,
    WouldBlockError,
    __version__,
    scenario_schema,
)
from .endpoint import Endpoint, nanoseconds
from .laboratory import run, sweep
from .result import Result
from .statistics import Estimate, estimate, student_t, summarize

__all__ = [
    "AssociationClosedError",
    "ConfigError",
    "Endpoint",
    "Estimate",
    "Result",
    "ScenarioError",
    "SimulationError",
    "WouldBlockError",
    "__version__",
    "estimate",
    "nanoseconds",
    "run",
    "scenario_schema",
    "student_t",
    "summarize",
    "sweep",
]
