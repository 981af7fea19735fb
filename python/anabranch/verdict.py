"""Verdicts: a measured number and its interval compared with the number that a paper states.

A verdict is about the mean over the replicas. PASS: the 95 % interval lies inside the band of the claim. MISS: it lies
outside. OPEN: it contains an end of the band; the report then says how many replicas would decide. NEAR, for a target
with a second bound: the interval lies between both bounds. ``docs/verdicts.md`` explains the rules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .statistics import MOST_REPLICAS, UNANIMOUS, Estimate, estimate, finite, replicas_for


class Verdict(StrEnum):
    """How a measured number compares with the stated one."""

    PASS = "PASS"
    NEAR = "NEAR"
    MISS = "MISS"
    OPEN = "OPEN"


@dataclass(frozen=True, slots=True)
class Band:
    """How far from the stated value a number may be and still agree: relative ("2 %") or absolute."""

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
        """Half the width of the band around ``value``."""
        return self.size * abs(value) if self.relative else self.size

    def __str__(self) -> str:
        return f"±{self.size * 100:g} %" if self.relative else f"±{self.size:g}"


@dataclass(frozen=True, slots=True)
class Claim:
    """The values that agree with a paper: those from ``low`` to ``high``.

    ``expected`` is the number that the paper states, or the bound. With ``strict`` the ends themselves do not agree.
    A value below ``low`` but above ``near`` is NEAR. With ``every_run`` the claim is about each run, not the mean.
    """

    expected: float
    low: float = -math.inf
    high: float = math.inf
    strict: bool = False
    near: float | None = None
    every_run: bool = False
    band: Band | None = None

    def of(self, value: float) -> Verdict:
        """The verdict on a value that is known exactly."""
        return _VERDICTS[self._region(value)]

    def between(self, low: float, high: float) -> Verdict:
        """The verdict on a value that is known to lie between two numbers."""
        first, last = self._region(low), self._region(high)
        return _VERDICTS[first] if first == last else Verdict.OPEN

    def _region(self, value: float) -> int:
        """The region of a value: 0 below, 1 near, 2 in the band, 3 above."""
        if value < self.low or (self.strict and value == self.low):
            return 1 if self.near is not None and value > self.near else 0
        return 3 if value > self.high or (self.strict and value == self.high) else 2

    def distance(self, value: float) -> float:
        """The distance of a value from the nearest bound at which the verdict changes."""
        edges = (self.low, self.high, self.low if self.near is None else self.near)
        return min(abs(value - edge) for edge in edges)

    def slack(self, low: float, high: float) -> float:
        """The distance of an interval inside the band from its ends, relative to ``expected``; negative outside."""
        return min(low - self.low, self.high - high) / (abs(self.expected) or 1.0)

    def text(self, unit: str = "") -> str:
        """``95 Mbit/s ±2 %``, ``> 1``, ``7 to 7.7 s``."""
        tail = f" {unit}" if unit else ""
        if self.band is not None:
            return f"{self.expected:.4g}{tail} {self.band}"
        if self.low == self.high:
            return f"{self.low:.4g}{tail}"
        if math.isinf(self.high):
            return f"{'>' if self.strict else '≥'} {self.low:.4g}{tail}"
        if math.isinf(self.low):
            return f"{'<' if self.strict else '≤'} {self.high:.4g}{tail}"
        return f"{self.low:.4g} to {self.high:.4g}{tail}"


_VERDICTS = (Verdict.MISS, Verdict.NEAR, Verdict.PASS, Verdict.MISS)


def stated(value: float, band: Band, *, every_run: bool = False) -> Claim:
    """A claim that the value lies in a band around a number."""
    width = band.around(value)
    return Claim(value, value - width, value + width, every_run=every_run, band=band)


def above(bound: float, *, every_run: bool = False) -> Claim:
    """A claim that the value is larger than a bound."""
    return Claim(bound, low=bound, strict=True, every_run=every_run)


def below(bound: float, *, every_run: bool = False) -> Claim:
    """A claim that the value is smaller than a bound."""
    return Claim(bound, high=bound, strict=True, every_run=every_run)


def at_least(bound: float, near: float | None = None, *, every_run: bool = False) -> Claim:
    """A claim that the value reaches a bound; above the lower bound ``near`` it is NEAR."""
    return Claim(bound, low=bound, near=near, every_run=every_run)


def at_most(bound: float, *, every_run: bool = False) -> Claim:
    """A claim that the value does not exceed a bound."""
    return Claim(bound, high=bound, every_run=every_run)


def within(low: float, high: float, *, every_run: bool = False) -> Claim:
    """A claim that the value lies between two bounds, both included."""
    return Claim((low + high) / 2, low, high, every_run=every_run)


@dataclass(frozen=True, slots=True)
class Point:
    """The values of all replicas at one point of the axes, and the claim about them."""

    where: str
    values: Sequence[float]
    claim: Claim
    unit: str = ""

    @property
    def estimate(self) -> Estimate:
        """Mean and interval."""
        return estimate(self.values)

    @property
    def worst(self) -> float:
        """The value of the run that agrees least with the claim."""
        return min(self.values, key=lambda value: self.claim.slack(value, value))

    def slack(self) -> float:
        """Orders points from worst to best: the larger, the safer the claim holds."""
        if self.claim.every_run:
            return self.claim.slack(min(self.values), max(self.values))
        found = self.estimate
        return self.claim.slack(found.low, found.high)


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one or several points, and the point that decides it.

    ``replicas`` is the number that would decide an OPEN verdict if mean and spread stay the same: infinite if more than
    10,000, None if it cannot be estimated.
    """

    verdict: Verdict
    point: Point
    replicas: float | None = None


def judge(points: Sequence[Point]) -> Finding:
    """The verdict on a claim about all points: MISS if it is missed at one, else OPEN if it is open at one."""
    if not points:
        raise ValueError("no point was measured, so there is no verdict")
    found = [_settle(point) for point in points]
    for verdict in (Verdict.MISS, Verdict.OPEN, Verdict.NEAR, Verdict.PASS):
        those = [one for one in found if one.verdict is verdict]
        if those and verdict is Verdict.OPEN:
            return _deciding(those)
        if those:
            return min(those, key=lambda one: one.point.slack())
    raise AssertionError("each point has one of the verdicts")


def _settle(point: Point) -> Finding:
    claim, values = point.claim, point.values
    alone = len(values) == 1 and not claim.every_run
    if alone or not all(map(math.isfinite, values)):
        return Finding(Verdict.OPEN, point)
    if claim.every_run:
        return _unanimous(point)
    found = point.estimate
    low, high = (found.low, found.high) if min(values) < max(values) else (values[0], values[0])
    verdict = claim.between(low, high)
    if verdict is not Verdict.OPEN:
        return Finding(verdict, point)
    return Finding(verdict, point, replicas_for(found, claim.distance(found.mean)))


def _unanimous(point: Point) -> Finding:
    """Judges a claim about every run. One run that disagrees is a MISS; a few runs that agree leave the claim OPEN."""
    verdict = point.claim.of(point.worst)
    if verdict is Verdict.PASS and len(point.values) < UNANIMOUS:
        return Finding(Verdict.OPEN, point, UNANIMOUS)
    return Finding(verdict, point)


def _deciding(found: Sequence[Finding]) -> Finding:
    """The OPEN point that decides: the first that will probably miss, else the one that passes after most replicas."""
    unknown = [one for one in found if one.replicas is None]
    if unknown:
        return unknown[0]
    misses = [one for one in found if one.point.claim.of(one.point.estimate.mean) is not Verdict.PASS]
    choose = min if misses else max
    return choose(misses or found, key=lambda one: one.replicas or 0.0)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a verdict table.

    ``calibrated`` names the parameter that was chosen to match the number, ``reason`` says why the row stays OPEN,
    ``missed`` why the number is missed. ``differs`` lists the parameters that are not the paper's; the row then has no
    verdict, because the paper states nothing about them.
    """

    figure: str
    what: str
    source: str
    finding: Finding
    calibrated: str = ""
    reason: str = ""
    missed: str = ""
    differs: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the claim."""
        return None if self.differs else self.finding.verdict

    @property
    def unexplained(self) -> bool:
        """Whether the verdict is OPEN without a reason."""
        return self.verdict is Verdict.OPEN and not self.reason

    @property
    def label(self) -> str:
        """The verdict as printed."""
        if self.verdict is None:
            return "none"
        return f"{self.verdict} (calibrated)" if self.calibrated and self.verdict is Verdict.PASS else str(self.verdict)

    @property
    def measured(self) -> str:
        """The number that decides, with its interval."""
        point = self.finding.point
        if point.claim.every_run:
            runs = f" (worst of {len(point.values)})" if len(point.values) > 1 else ""
            return _plain(point.worst, point.unit) + runs
        return format_estimate(point.estimate, point.unit)

    @property
    def expected(self) -> str:
        """The claim as printed."""
        return self.finding.point.claim.text(self.finding.point.unit)

    @property
    def remark(self) -> str:
        """Why the row has no verdict, is missed, or stays OPEN, and how many replicas would decide an OPEN row."""
        if self.differs:
            return f"differs from the paper: {self.differs}"
        if self.verdict is Verdict.MISS:
            return self.missed
        if self.verdict is not Verdict.OPEN:
            return ""
        return f"{_outlook(self.finding)}; {self.reason or 'no reason given'}"

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON: numbers, and null for values that are infinite or unknown."""
        point, replicas = self.finding.point, self.finding.replicas
        found, claim = point.estimate, point.claim
        return {
            "figure": self.figure,
            "what": self.what,
            "source": self.source,
            "where": point.where,
            "verdict": self.verdict and self.verdict.value,
            "differs": self.differs or None,
            "calibrated": self.calibrated or None,
            "unit": point.unit,
            "mean": finite(found.mean),
            "half_width": finite(found.half_width),
            "n": found.count,
            "worst_run": finite(point.worst) if claim.every_run else None,
            "expected": claim.expected,
            "band": [finite(claim.low), finite(claim.high)],
            "near": claim.near,
            "replicas_needed": int(replicas) if replicas is not None and math.isfinite(replicas) else None,
            "on_edge": replicas == math.inf,
            "reason": self.reason or None,
            "missed": self.missed or None,
        }


def _outlook(finding: Finding) -> str:
    """How many replicas would decide, rounded up to two digits, since the spread is not known better."""
    replicas, values = finding.replicas, finding.point.values
    if not all(map(math.isfinite, values)):
        return "not a number in each run"
    if replicas is None:
        return "one run has no interval"
    if math.isinf(replicas):
        return f"the value lies on the edge of the band: not even {MOST_REPLICAS:,} replicas would decide"
    step = 10 ** max(0, len(str(int(replicas))) - 2)
    return f"about {math.ceil(replicas / step) * step:,} replicas would decide"


def _plain(value: float, unit: str = "") -> str:
    digits = f"{value:.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"
    return f"{digits} {unit}".rstrip()


def format_estimate(found: Estimate, unit: str = "") -> str:
    """``95.91 ± 0.12 Mbit/s``: the mean to the digits its interval supports, four at least."""
    if not math.isfinite(found.half_width):
        return _plain(found.mean, unit)
    if found.half_width == 0:
        return f"{found.mean:.4g} ± 0 {unit}".rstrip()
    digits = max(0, 1 - math.floor(math.log10(found.half_width)))
    digits = min(digits, max(0, 3 - math.floor(math.log10(abs(found.mean) or 1))))
    return f"{found.mean:.{digits}f} ± {found.half_width:.{digits}f} {unit}".rstrip()
