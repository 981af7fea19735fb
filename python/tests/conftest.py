"""Artificial results for tests, numbers that are known without a simulator, and signals."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import polars as pl
import pytest

from anabranch.result import Result
from anabranch.verdict import Point, Verdict

Value = Callable[[dict[str, Any]], Mapping[tuple[str, str], float]]
"""Returns the values of a run by (flow, quantity), for given axes and replica."""


@pytest.fixture
def agrees() -> Callable[[list[Point]], bool]:
    """Whether each value of a check lies in its band."""
    return lambda points: all(point.claim.of(v) is Verdict.PASS for point in points for v in point.values)


@pytest.fixture
def made_up() -> Callable[[Mapping[str, list[Any]], int, Value], Result]:
    """Builds the result of a sweep over axes from a function."""

    def build(axes: Mapping[str, list[Any]], replicas: int, value: Value) -> Result:
        rows: list[dict[str, Any]] = []
        for point in product(*axes.values()):
            for replica in range(replicas):
                where = {axis: float(v) if isinstance(v, int) else v for axis, v in zip(axes, point, strict=True)}
                run = len(rows)
                rows += [
                    {
                        "run": run,
                        "replica": replica,
                        **where,
                        "window": "",
                        "flow": flow,
                        "path": None,
                        "quantity": q,
                        "value": v,
                    }
                    for (flow, q), v in value({**where, "replica": replica}).items()
                ]
        series = {"run": pl.String, "replica": pl.UInt32, "flow": pl.String, "path": pl.UInt8, "quantity": pl.String}
        empty = pl.DataFrame(schema=series | {"time": pl.Float64, "value": pl.Float64})
        return Result(pl.DataFrame(rows), empty, {"seed": 1})

    return build


@pytest.fixture
def interrupts() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, also in a process that was started with the signal ignored, as behind ``&``."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
