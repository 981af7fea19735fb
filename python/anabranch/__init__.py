"""Anabranch: send data over several network paths at once, in simulations and in programs, with the same code.

    import anabranch

    result = anabranch.run("scenario.toml", seed=1)
    result.scalars                                          # a polars DataFrame

``run`` and ``sweep`` run the simulator. ``anabranch.net`` and ``anabranch.aio`` send and receive on real networks:
calls that wait, and calls for asyncio. :class:`Endpoint` is the protocol itself: packets in, packets out, and the
caller passes the time. ``statistics`` and ``plots`` are for the evaluation of results. ``run``, ``sweep``, ``measure``
and everything about results need ``pip install 'anabranch[lab]'``.

Durations are seconds as float, sizes bytes as int, rates bit/s; text with a unit such as ``"200 ms"`` is for options.
Only :class:`Endpoint` counts the time itself in whole nanoseconds.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from ._core import (
    AssociationClosedError,
    ConfigError,
    ConnectError,
    ConnectionLostError,
    EndpointClosedError,
    NotDeliveredError,
    ScenarioError,
    SimulationError,
    WouldBlockError,
    __version__,
    latency_grade,
    scenario_schema,
)
from .endpoint import Endpoint, nanoseconds
from .folder import DamagedResultError
from .laboratory import merge, run, sweep
from .measuring import measure
from .result import Result
from .statistics import Estimate, estimate, student_t, summarize

if TYPE_CHECKING:
    from . import aio, net

__all__ = [
    "AssociationClosedError",
    "ConfigError",
    "ConnectError",
    "ConnectionLostError",
    "DamagedResultError",
    "Endpoint",
    "EndpointClosedError",
    "Estimate",
    "NotDeliveredError",
    "Result",
    "ScenarioError",
    "SimulationError",
    "WouldBlockError",
    "__version__",
    "aio",
    "estimate",
    "latency_grade",
    "measure",
    "merge",
    "nanoseconds",
    "net",
    "run",
    "scenario_schema",
    "student_t",
    "summarize",
    "sweep",
]


def __getattr__(name: str) -> ModuleType:
    # asyncio takes longer to import than `anabranch --help` runs.
    if name in {"aio", "net"}:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
