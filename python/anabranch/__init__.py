"""Anabranch: send data over several network paths at once, in simulations and in programs, with the same code.

>>> import anabranch
>>> result = anabranch.run("scenario.toml", seed=1)        # doctest: +SKIP
>>> result.scalars                                          # a polars DataFrame  # doctest: +SKIP

``run`` and ``sweep`` run the simulator. :class:`Endpoint` is the protocol itself: packets in, packets out, and the
caller passes the time. ``statistics`` and ``plots`` are for the evaluation of results.
"""

from ._core import (
    AssociationClosedError,
    ConfigError,
    ConnectError,
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
    "ConnectError",
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
