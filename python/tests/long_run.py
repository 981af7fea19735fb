"""A result with many points, as of a long run with probes."""

from __future__ import annotations

import numpy as np
import polars as pl

from anabranch.result import Result

POINT_BYTES = 24
"""Bytes of memory that a point of a series takes: time, value, and its part of shared words."""
FLOWS = 6


def long_run(points: int) -> Result:
    """A run of six flows whose windows vary at random, with ``points`` points in total."""
    count = points // FLOWS
    time = np.arange(count) * 1e-3
    parts = [
        pl.DataFrame({"time": time, "value": np.random.default_rng(n).uniform(1e4, 1e5, count)}).with_columns(
            run=0, replica=0, flow=pl.lit(f"f-{n}"), path=pl.lit(0, dtype=pl.Int32), quantity=pl.lit("cwnd")
        )
        for n in range(FLOWS)
    ]
    scalar = {"run": [0], "replica": [0], "window": [""], "flow": ["f-0"], "path": [None], "quantity": ["q"]}
    scalars = pl.DataFrame(scalar | {"value": [1.0]}, schema_overrides={"path": pl.Int32})
    return Result(scalars, pl.concat(parts), {"seed": 1})
