"""Mean and confidence interval over independent replicas.

The quantile of Student's t distribution comes from its closed form for whole degrees of freedom
(Abramowitz and Stegun, 26.7.3 and 26.7.4): the mean of n replicas has n - 1 of them, never a fraction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import polars as pl

CONFIDENCE = 0.95
UNANIMOUS = 6
"""Replicas that must agree before their agreement says anything.

If all of n agree, the 95 % interval of the share of all runs that would (Clopper and Pearson) begins at 0.025^(1/n):
above one half from n = 6 on.
"""
MOST_REPLICAS = 10_000
"""More replicas than this are not asked for: the true value is as good as on the edge."""
_NORMAL = 1.959963984540054
"""What Student's t falls to with many replicas, at 95 %: a lower bound to begin the search with."""
_MANY = 1000
"""Degrees of freedom beyond which Student's t falls by another 0.1 % only."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of a sample and the half width of its confidence interval.

    With a single replica nothing is known about the spread: ``half_width`` is infinite.
    """

    mean: float
    half_width: float
    count: int

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.half_width


@lru_cache(maxsize=256)
def student_t(degrees: int, confidence: float = CONFIDENCE) -> float:
    """The t for which ``confidence`` of the distribution with ``degrees`` of freedom lies within -t and t.

    >>> round(student_t(29), 3)
    2.045
    """
    if degrees < 1:
        raise ValueError(f"Student's t needs at least 1 degree of freedom, not {degrees}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"a confidence level lies between 0 and 1, not at {confidence}")
    low, high = 0.0, math.pi / 2
    while True:
        theta = (low + high) / 2
        if theta in (low, high):
            return math.sqrt(degrees) * math.tan(theta)
        if _within(theta, degrees) < confidence:
            low = theta
        else:
            high = theta


def _within(theta: float, degrees: int) -> float:
    """Probability that abs(t) < sqrt(degrees) * tan(theta)."""
    cos, sin = math.cos(theta), math.sin(theta)
    odd = degrees % 2
    if degrees == 1:
        return 2 * theta / math.pi
    term = cos if odd else 1.0
    total = term
    for k in range(2 + odd, degrees - 1, 2):
        term *= (k - 1) / k * cos * cos
        total += term
    return 2 / math.pi * (theta + sin * total) if odd else sin * total


def estimate(values: Iterable[float], confidence: float = CONFIDENCE) -> Estimate:
    """Mean and interval of independent values; at least one is needed."""
    sample = [float(value) for value in values]
    if not sample:
        raise ValueError("no values to take the mean of")
    n = len(sample)
    mean = math.fsum(sample) / n
    if n == 1:
        return Estimate(mean, math.inf, 1)
    variance = math.fsum((value - mean) ** 2 for value in sample) / (n - 1)
    return Estimate(mean, student_t(n - 1, confidence) * math.sqrt(variance / n), n)


def replicas_for(found: Estimate, half_width: float) -> float | None:
    """The least number of replicas whose interval is no wider than that, if the spread stays what it is.

    Infinite beyond :data:`MOST_REPLICAS`, None for a single replica, whose spread is not known.
    """
    if found.count == 1:
        return None
    deviation = found.half_width * math.sqrt(found.count) / student_t(found.count - 1)
    if half_width <= 0 or (_NORMAL * deviation / half_width) ** 2 > MOST_REPLICAS:
        return math.inf
    count = max(2, math.ceil((_NORMAL * deviation / half_width) ** 2))
    while student_t(min(count - 1, _MANY)) * deviation > half_width * math.sqrt(count):
        count += 1
    return count


def summarize(
    frame: pl.DataFrame, by: str | Sequence[str], value: str = "value", confidence: float = CONFIDENCE
) -> pl.DataFrame:
    """Mean and interval of ``value`` in each group of ``by``, groups in order of first appearance.

    The result has the columns of ``by``, then ``mean``, ``half_width`` (infinite for a group of one) and ``count``.
    """
    keys = [by] if isinstance(by, str) else list(by)
    groups = frame.group_by(keys, maintain_order=True).agg(pl.col(value).cast(pl.Float64))
    found = [estimate(values, confidence) for values in groups[value]]
    return groups.select(keys).with_columns(
        pl.Series("mean", [e.mean for e in found], dtype=pl.Float64),
        pl.Series("half_width", [e.half_width for e in found], dtype=pl.Float64),
        pl.Series("count", [e.count for e in found], dtype=pl.Int64),
    )
