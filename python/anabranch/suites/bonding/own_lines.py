"""``anabranch bonding --path``: throughput of the user's lines together and alone, as a function of the buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ..._core import SimulationError
from ...result import Result
from ...scenario import to_toml
from ...statistics import Estimate, estimate, finite
from ..running import Report, Runner, Running, ratio
from . import bound
from .bound import BUFFER, RETURN, Bound
from .draws import timing
from .measure import NOT_SLOWER, PAPER, RECOMMENDED, throughput_rows
from .random_draws import SUM
from .topology import FLOW, Line, alone, buffer_text, scenario

DEFAULT_REPLICAS = 3
BUFFERS = tuple((128 << 10) << step for step in range(8))
"""Receive buffers from 128 KiB to 16 MiB, in bytes."""
LEAST_TIME = 40.0
"""The transfer lasts this time in seconds, if that is not too many packets."""
ENOUGH = 0.98
"""A buffer is enough if it gives this share of the largest throughput."""

_FULL, _LARGER_HELPS = 0.9, 1.03


@dataclass(frozen=True)
class Point:
    """Throughputs of the transfer with one receive buffer, in bit/s."""

    buffer: int
    together: Estimate
    """Throughput over all lines, with the recommended options."""
    paper: Estimate
    """Throughput over all lines, with CMT as in paper 001."""
    singles: list[Estimate]
    """Throughput over each line alone, with the recommended options."""
    bound: Bound
    """Throughput that no scheduler and no congestion control can exceed."""

    @property
    def best(self) -> Estimate:
        """The throughput of the best single line."""
        return max(self.singles, key=lambda one: one.mean)

    @property
    def gain(self) -> Estimate:
        """Throughput divided by that of the best single line."""
        return ratio(self.together, self.best)

    @property
    def is_slower(self) -> bool:
        """Whether all lines together are slower than the best one."""
        return self.gain.mean < NOT_SLOWER


@dataclass(frozen=True)
class Use:
    """How one line is used while all lines carry the transfer."""

    line: Line
    alone: Estimate
    carried: float
    """Payload sent over it, in bit/s."""
    forward: float
    """Share of the time in which it sends data."""
    back: float
    """Share of the time in which its return direction sends acknowledgements."""

    @property
    def limit(self) -> str:
        """Limit of the line."""
        if self.forward >= _FULL:
            return "its rate"
        if self.back >= _FULL:
            return "its return link"
        if self.line.loss > 0:
            return "its losses"
        return "short queue, or the buffer"


@dataclass(frozen=True)
class Gain:
    """All measurements of the lines."""

    lines: list[Line]
    texts: list[str]
    points: list[Point]
    uses: list[Use]
    """The use of each line, with the recommended buffer."""
    seed: int
    replicas: int

    @property
    def enough(self) -> Point:
        """The point with the least buffer that is enough."""
        return _enough(self.points)

    @property
    def is_missed(self) -> bool:
        """Whether all lines together are slower than the best one, with any buffer."""
        return any(point.is_slower for point in self.points)

    def limit(self, point: Point) -> str:
        """The limit of the throughput of all lines together, with this buffer."""
        lines = sum(single.mean for single in self.points[-1].singles)
        larger = [other.together.mean for other in self.points if other.buffer > point.buffer]
        if point.together.mean >= SUM * lines:
            return "the lines"
        if point.bound.limit == RETURN:
            return "the return links"
        if point.bound.limit == BUFFER or max(larger, default=0.0) > _LARGER_HELPS * point.together.mean:
            return "the buffer"
        return "losses, queues and the scheduler"

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""

        def plain(found: Estimate) -> dict[str, float | None]:
            return {"mean": found.mean, "half_width": finite(found.half_width)}

        return {
            "seed": self.seed,
            "replicas": self.replicas,
            "paths": [{"text": text, **vars(line)} for text, line in zip(self.texts, self.lines, strict=True)],
            "recommended_buffer": self.enough.buffer,
            "slower_than_best_path": self.is_missed,
            "buffers": [
                {
                    "buffer": point.buffer,
                    "together_bps": plain(point.together),
                    "paper_001_bps": plain(point.paper),
                    "alone_bps": [plain(single) for single in point.singles],
                    "gain": plain(point.gain),
                    "bound_bps": point.bound.bps,
                    "bound_by": point.bound.limit,
                    "limit": self.limit(point),
                }
                for point in self.points
            ],
            "use": [
                {
                    "carried_bps": use.carried,
                    "alone_bps": plain(use.alone),
                    "utilisation": use.forward,
                    "return_utilisation": use.back,
                    "limit": use.limit,
                }
                for use in self.uses
            ],
        }


def _enough(points: Sequence[Point]) -> Point:
    most = max(point.together.mean for point in points)
    return next(point for point in points if point.together.mean >= ENOUGH * most)


SWEEPS = 2
"""The number of sweeps of :func:`measure`."""


def measure(
    lines: Sequence[Line], texts: Sequence[str], seed: int, running: Running, report: Report | None = None
) -> Gain:
    """Runs the lines together and alone with each buffer, and writes the scenario of the recommended buffer."""
    title = "anabranch bonding " + " ".join(f'--path "{text}"' for text in texts)
    length = timing(lines, BUFFERS[-1], LEAST_TIME)
    together = scenario(lines, BUFFERS, length, (RECOMMENDED, PAPER), seed=seed, title=title)
    each = alone(scenario(lines, BUFFERS, length, (RECOMMENDED,), seed=seed, title=title), len(lines))
    run = Runner("paths", Running(running.out, running.replicas, seed, running.jobs), report)
    both, singles = run("together", together), run("alone", each)
    points = list(_points(lines, both, singles))
    check(points)
    enough = _enough(points)
    _write(running.out / "scenario.toml", scenario(lines, [enough.buffer], length, (), seed=seed, title=title))
    return Gain(list(lines), list(texts), points, _uses(lines, both, enough), seed, running.replicas)


def _points(lines: Sequence[Line], both: Result, singles: Result) -> Iterator[Point]:
    together, apart = _throughputs(both, "options"), _throughputs(singles, "network")
    rates = [line.payload_rate for line in lines]
    for size in BUFFERS:
        text = buffer_text(size)
        all_lines = together[RECOMMENDED, text]
        each = [apart[f"[{number}]", text] for number in range(1, len(lines) + 1)]
        possible = bound.throughput(lines, rates, size, all_lines.mean)
        yield Point(size, all_lines, together[PAPER, text], each, possible)


def check(points: Sequence[Point]) -> None:
    """Raises :class:`SimulationError` if no line carries anything alone."""
    if not all(point.best.mean > 0 for point in points):
        raise SimulationError("nothing arrives over any of these paths alone; expected at least one that works")


def _throughputs(result: Result, axis: str) -> dict[tuple[str, str], Estimate]:
    groups = throughput_rows(result).group_by(axis, "buffer", maintain_order=True)
    return {(str(value), str(size)): estimate(group["value"].to_list()) for (value, size), group in groups}


def _uses(lines: Sequence[Line], both: Result, point: Point) -> list[Use]:
    rows = both.scalars.filter(
        pl.col("options") == RECOMMENDED, pl.col("buffer") == buffer_text(point.buffer), pl.col("window") == ""
    )

    def mean(quantity: str, flow: str, path: int | None = None) -> float:
        of_path = pl.col("path").is_null() if path is None else pl.col("path") == path
        values = rows.filter(pl.col("quantity") == quantity, pl.col("flow") == flow, of_path)["value"].to_list()
        return estimate(values).mean if values else 0.0

    return [
        Use(
            line,
            point.singles[index],
            mean("sent_throughput_bps", FLOW, index),
            mean("utilisation", f"link:path-{index + 1}"),
            mean("utilisation", f"link:path-{index + 1}:back"),
        )
        for index, line in enumerate(lines)
    ]


def _write(path: Path, varied: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_toml({**varied, "flow": [{**varied["flow"][0], "sctp": RECOMMENDED}]}), encoding="utf-8")
