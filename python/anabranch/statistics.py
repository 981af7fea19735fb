"""Mean and confidence interval over independent replicas."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    import polars as pl

CONFIDENCE = 0.95
UNANIMOUS = 6
"""Smallest number of replicas whose agreement is significant.

If all of n replicas agree, the 95 % interval (Clopper and Pearson) of the share of agreeing runs begins at 0.025^(1/n),
which is above one half from n = 6 on.
"""
MOST_REPLICAS = 10_000
"""If a decision would need more replicas than this, the true value is taken to be at the edge of the band."""
_NORMAL = 1.959963984540054
"""The limit of Student's t for many replicas, at 95 %. It is the lower bound at which the search begins."""
_MANY = 1000
"""Degrees of freedom beyond which Student's t decreases by 0.1 % at most."""
_NAMED = 10
"""Missing replicas that a note names."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of a sample and the half width of its confidence interval.

    A single replica says nothing about the spread: ``half_width`` is infinite.
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


def finite(value: float) -> float | None:
    """The number for JSON: None for infinities and NaN."""
    return value if math.isfinite(value) else None


@lru_cache(maxsize=256)
def student_t(degrees: int, confidence: float = CONFIDENCE) -> float:
    """The t for which Student's distribution with ``degrees`` of freedom is between -t and t with ``confidence``.

    >>> round(student_t(29), 3)
    2.045
    """
    if degrees < 1:
        raise ValueError(f"Student's t needs at least 1 degree of freedom, not {degrees}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"a confidence level must lie between 0 and 1, not be {confidence}")
    return _core.student_t(degrees, confidence)


def estimate(values: Iterable[float], confidence: float = CONFIDENCE) -> Estimate:
    """Mean and interval of independent values. Raises ValueError without values."""
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
    """The smallest number of replicas for an interval of at most that half width, if the spread stays the same.

    Infinite beyond :data:`MOST_REPLICAS`; None after a single replica, whose spread is unknown.
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
    import polars as pl

    keys = [by] if isinstance(by, str) else list(by)
    groups = frame.group_by(keys, maintain_order=True).agg(pl.col(value).cast(pl.Float64))
    found = [estimate(values, confidence) for values in groups[value]]
    return groups.select(  # without keys there is one group
        *keys,
        pl.Series("mean", [e.mean for e in found], dtype=pl.Float64),
        pl.Series("half_width", [e.half_width for e in found], dtype=pl.Float64),
        pl.Series("count", [e.count for e in found], dtype=pl.Int64),
    )


def paired(
    frame: pl.DataFrame, axis: str, baseline: Any, by: Sequence[str], confidence: float = CONFIDENCE
) -> pl.DataFrame:
    """Differences of ``value`` to the runs in which ``axis`` is ``baseline``, in pairs of the same ``replica``.

    There is a row for each group of ``by`` and each other value of the axis, in order of first appearance. After these
    columns come ``baseline``; ``baseline_mean`` and ``difference``, means over the pairs, null without a pair;
    ``half_width`` (infinite with fewer than two pairs); ``pairs``; ``missing``, the replicas that only one of the two
    has; and ``note``, which says in words what is special. Values that are not finite count as missing.
    """
    import polars as pl

    keys = [*by, axis]
    values = frame.with_columns(pl.col("value").cast(pl.Float64)).filter(pl.col("value").is_finite())
    groups: dict[tuple[Any, ...], dict[Any, dict[int, float]]] = {}
    for row in values.group_by(keys, maintain_order=True).agg("replica", "value").iter_rows(named=True):
        of_value = groups.setdefault(tuple(row[key] for key in by), {})
        of_value[row[axis]] = dict(zip(row["replica"], row["value"], strict=True))
    others = [value for value in frame[axis].unique(maintain_order=True) if value != baseline]
    rows = [
        (*group, value, baseline, *_difference(of_value.get(baseline, {}), of_value.get(value, {}), confidence))
        for group, of_value in groups.items()
        for value in others
        if baseline in of_value or value in of_value
    ]
    schema = {key: frame.schema[key] for key in keys} | {"baseline": frame.schema[axis]}
    schema |= {name: pl.Float64() for name in ("baseline_mean", "difference", "half_width")}
    schema |= {"pairs": pl.Int64(), "missing": pl.List(pl.Int64()), "note": pl.String()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _difference(
    base: Mapping[int, float], other: Mapping[int, float], confidence: float
) -> tuple[float | None, float | None, float, int, list[int], str]:
    both, missing = sorted(base.keys() & other.keys()), sorted(base.keys() ^ other.keys())
    notes: list[str] = []
    if missing:
        named = ", ".join(map(str, missing[:_NAMED])) + (", ..." if len(missing) > _NAMED else "")
        notes.append(f"{len(missing)} replica{'s' * (len(missing) > 1)} missing in one of the two: {named}")
    if not both:
        return None, None, math.inf, 0, missing, "; ".join(notes)
    found = estimate((other[replica] - base[replica] for replica in both), confidence)
    if len(both) == 1:
        notes.insert(0, "one pair: no interval")
    elif all(other[replica] == base[replica] for replica in both):
        notes.insert(0, f"identical in all {len(both)} replicas")
    mean = math.fsum(base[replica] for replica in both) / len(both)
    return mean, found.mean, found.half_width, len(both), missing, "; ".join(notes)
