"""Verdicts: a measured number beside the one a paper states.

PASS lies within the band, NEAR within twice the band, MISS beyond. A claim of order (above, below) has no band: it
holds at every point or it is a MISS. A target (at least, with a lower bound that is near enough) is PASS at the
target, NEAR above the bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from .statistics import Estimate


class Verdict(StrEnum):
    """How a measured number stands to the stated one."""

    PASS = "PASS"
    NEAR = "NEAR"
    MISS = "MISS"


@dataclass(frozen=True, slots=True)
class Band:
    """How far from the stated value still counts as agreement: relative ("2 %") or absolute (a number)."""

    size: float
    relative: bool

    @classmethod
    def parse(cls, text: str | float) -> Band:
        """Reads ``"2 %"`` as relative, a number as absolute."""
        if isinstance(text, str):
            number = text.strip()
            if not number.endswith("%"):
                raise ValueError(f"a band is a number or a percentage such as '2 %', not {text!r}")
            band = cls(float(number[:-1]) / 100, relative=True)
        else:
            band = cls(float(text), relative=False)
        if not band.size > 0 or not math.isfinite(band.size):
            raise ValueError(f"a band must be above zero: {text!r}")
        return band

    def around(self, value: float) -> float:
        """Half the width of the band about ``value``."""
        return self.size * abs(value) if self.relative else self.size

    def __str__(self) -> str:
        return f"±{self.size * 100:g} %" if self.relative else f"±{self.size:g}"


@dataclass(frozen=True, slots=True)
class Stated:
    """A number with a band."""

    value: float
    band: Band

    def judge(self, measured: float) -> Verdict:
        """The verdict on one mean."""
        distance = abs(measured - self.value)
        width = self.band.around(self.value)
        if distance <= width:
            return Verdict.PASS
        return Verdict.NEAR if distance <= 2 * width else Verdict.MISS

    def slack(self, measured: float) -> float:
        """The larger, the safer: orders points from worst to best."""
        return -abs(measured - self.value)

    def __str__(self) -> str:
        return f"{self.value:.4g}"


@dataclass(frozen=True, slots=True)
class Above:
    """A claim of order: larger than a bound."""

    bound: float

    def judge(self, measured: float) -> Verdict:
        """The verdict on one mean."""
        return Verdict.PASS if measured > self.bound else Verdict.MISS

    def slack(self, measured: float) -> float:
        """The larger, the safer."""
        return measured - self.bound

    def __str__(self) -> str:
        return f"> {self.bound:.4g}"


@dataclass(frozen=True, slots=True)
class Below:
    """A claim of order: smaller than a bound."""

    bound: float

    def judge(self, measured: float) -> Verdict:
        """The verdict on one mean."""
        return Verdict.PASS if measured < self.bound else Verdict.MISS

    def slack(self, measured: float) -> float:
        """The larger, the safer."""
        return self.bound - measured

    def __str__(self) -> str:
        return f"< {self.bound:.4g}"


@dataclass(frozen=True, slots=True)
class Target:
    """A value to reach, and a lower one that is near enough."""

    at_least: float
    near: float

    def judge(self, measured: float) -> Verdict:
        """The verdict on one mean."""
        if measured >= self.at_least:
            return Verdict.PASS
        return Verdict.NEAR if measured > self.near else Verdict.MISS

    def slack(self, measured: float) -> float:
        """The larger, the safer."""
        return measured - self.at_least

    def __str__(self) -> str:
        return f"≥ {self.at_least:.4g}"


Test = Stated | Above | Below | Target


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a verdict table."""

    figure: str
    what: str
    source: str
    verdict: Verdict
    measured: str
    expected: str
    band: str

    def as_dict(self) -> dict[str, str]:
        """The row for JSON."""
        return {
            "figure": self.figure,
            "what": self.what,
            "source": self.source,
            "verdict": self.verdict.value,
            "measured": self.measured,
            "expected": self.expected,
            "band": self.band,
        }


@dataclass(frozen=True, slots=True)
class Point:
    """A measured mean and where on the axes it lies."""

    where: str
    estimate: Estimate


def judge(test: Test, points: Sequence[Point]) -> tuple[Verdict, Point]:
    """The verdict on the worst of some points, and that point."""
    if not points:
        raise ValueError("nothing was measured to judge")
    worst = min(points, key=lambda point: test.slack(point.estimate.mean))
    return test.judge(worst.estimate.mean), worst


def format_estimate(found: Estimate, unit: str = "") -> str:
    """``95.91 ± 0.12 Mbit/s``: the mean to the digits its interval supports, four at least."""
    tail = f" {unit}" if unit else ""
    if not math.isfinite(found.half_width):
        return f"{found.mean:.4g}{tail}"
    if found.half_width == 0:
        return f"{found.mean:.4g} ± 0{tail}"
    digits = max(0, 1 - math.floor(math.log10(found.half_width)))
    digits = min(digits, max(0, 3 - math.floor(math.log10(abs(found.mean) or 1))))
    return f"{found.mean:.{digits}f} ± {found.half_width:.{digits}f}{tail}"
