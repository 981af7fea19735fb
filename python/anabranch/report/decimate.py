"""Fewer points of a series, without losing a peak."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

PER_BUCKET = 4
"""Points kept of each bucket: the first, the least, the greatest and the last one."""


def decimate(time: Numbers, value: Numbers, most: int) -> tuple[Numbers, Numbers]:
    """At most ``most`` points of a series, which is in order of time.

    The time is divided into buckets of equal length. The first, the least, the greatest and the last point of each
    bucket are kept.

    A line through them differs in time from a line through all points by less than the length of a bucket, and has the
    same extremes.
    """
    if len(time) <= most:
        return time, value
    buckets = max(1, most // PER_BUCKET)
    span = time[-1] - time[0]
    width = span / buckets if span > 0 else 1.0
    bucket = np.minimum(((time - time[0]) / width).astype(np.int64), buckets - 1)
    starts = np.flatnonzero(np.diff(bucket, prepend=-1))
    ends = np.append(starts[1:], len(time)) - 1
    by_value = np.lexsort((value, bucket))
    kept = np.unique(np.concatenate([starts, ends, by_value[starts], by_value[ends]]))
    return time[kept], value[kept]


def shares(time: Numbers, value: Numbers, until: float, edges: Numbers, kinds: int) -> npt.NDArray[np.float64]:
    """The share of each bin between ``edges`` during which a step function has the values 0, 1, ... ``kinds`` - 1.

    The function keeps each value up to the next point, and the last one up to ``until``. The shares of a bin add up to
    the share of it in which the function is defined. Result: a row for each value, a column for each bin.
    """
    found = np.zeros((kinds, len(edges) - 1))
    if not len(time):
        return found
    ends = np.append(time[1:], max(until, time[-1]))
    for kind in range(kinds):
        held = value == kind
        # Time spent in this value up to each change, as a function that is linear in between.
        spent = np.concatenate([[0.0], np.cumsum(np.where(held, ends - time, 0.0))])
        at_edges = np.interp(edges, np.append(time, ends[-1]), spent)
        found[kind] = np.diff(at_edges)
    return found / np.diff(edges)
