"""Decides whether real runs agree with simulated ones: prediction bands, and a verdict for each quantity.

Simulated replicas give a band for each time bin, in which a further run lies with 95 % probability. Real runs agree
with simulated ones if two conditions hold. First, the 90 % confidence interval of the ratio of the means, real to
simulated, lies within 0.95 to 1.05: this is the test of equivalence by two one-sided tests at 5 %. Second, at least
90 % of the bins of the real runs lie in the band.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Any

from ..statistics import Estimate, student_t

EQUIVALENT = (0.95, 1.05)
"""The ratios between which a real quantity is equivalent to the simulated one."""
RATIO_CONFIDENCE = 0.90
"""Confidence of the interval of the ratio: two one-sided tests at 5 % are an interval of 90 %."""
INSIDE = 0.90
"""Share of the bins of real runs that must lie in the band."""


class LateRunError(ValueError):
    """An emulated run was too late to be compared."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The verdict on a quantity.

    ``ratio`` is the ratio of the means, real to simulated, with its 90 % interval; ``inside`` is the share of the bins
    of all real runs that lie in ``band``.
    """

    ratio: Estimate
    inside: float
    band: tuple[tuple[float, float], ...]

    @property
    def agrees(self) -> bool:
        """True if the real runs agree with the simulated ones."""
        low, high = EQUIVALENT
        return low <= self.ratio.low and self.ratio.high <= high and self.inside >= INSIDE

    def __str__(self) -> str:
        word = "agree" if self.agrees else "differ"
        interval = f"{self.ratio.low:.3f} to {self.ratio.high:.3f}"
        return f"{word}: real/simulated {self.ratio.mean:.3f} ({interval}), {self.inside:.0%} of the bins in the band"


def prediction_band(values: Sequence[float]) -> tuple[float, float]:
    """The interval of a further run with 95 % probability: mean ± t·s·√(1 + 1/n) of n independent values, two at least.

    >>> [round(end, 3) for end in prediction_band([9.0, 10.0, 11.0])]
    [5.032, 14.968]
    """
    n = _number(values, "replicas")
    half = student_t(n - 1) * math.sqrt(variance(values) * (1 + 1 / n))
    return fmean(values) - half, fmean(values) + half


def ratio_of_means(real: Sequence[float], simulated: Sequence[float]) -> Estimate:
    """The ratio of two means and its 90 % interval, two independent values of each at least.

    The relative variances of both means add (delta method); the degrees of freedom are those of Welch and
    Satterthwaite, rounded down. If both means are zero, the ratio is 1.
    """
    counts = _number(real, "real runs"), _number(simulated, "replicas")
    above, below = fmean(real), fmean(simulated)
    if below == 0.0:
        return Estimate(1.0 if above == 0.0 else math.inf, 0.0 if above == 0.0 else math.inf, counts[0])
    parts = [
        variance(values) / (count * below**2) * scale
        for values, count, scale in ((real, counts[0], 1.0), (simulated, counts[1], (above / below) ** 2))
    ]
    total = math.fsum(parts)
    if total == 0.0:
        return Estimate(above / below, 0.0, counts[0])
    degrees = total**2 / math.fsum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    half = student_t(max(1, math.floor(degrees)), RATIO_CONFIDENCE) * math.sqrt(total)
    return Estimate(above / below, half, counts[0])


def compare(simulated: Sequence[Sequence[float]], real: Sequence[Sequence[float]]) -> Comparison:
    """Compares a quantity; each replica and each real run has a value for each time bin.

    Raises ValueError if there are fewer than two of each, or if they differ in the number of bins.
    """
    lengths = {len(run) for run in (*simulated, *real)}
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError(f"expected runs of the same number of bins, at least 1; found {sorted(lengths)}")
    band = tuple(prediction_band(values) for values in zip(*simulated, strict=True))
    ratio = ratio_of_means([fmean(run) for run in real], [fmean(run) for run in simulated])
    inside = [low <= value <= high for run in real for value, (low, high) in zip(run, band, strict=True)]
    return Comparison(ratio, fmean(inside), band)


def refuse_late(outcomes: Sequence[Mapping[str, Any]], *, forced: bool = False) -> None:
    """Raises LateRunError if an emulated run was late, unless ``forced``.

    ``outcomes`` are the reports that ``anabranch emulate --json`` prints.
    """
    late = [number for number, outcome in enumerate(outcomes, 1) if outcome["late"]]
    if late and not forced:
        runs = ", ".join(map(str, late))
        raise LateRunError(f"runs too late to be compared: {runs}; repeat them on an idle machine, or pass forced=True")


def _number(values: Sequence[float], what: str) -> int:
    if len(values) < 2:
        raise ValueError(f"expected at least 2 {what}, found {len(values)}")
    return len(values)
