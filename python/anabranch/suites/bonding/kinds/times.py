"""Completion times over all paths, compared with those over the best path alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..topology import Line
from .kind import Average, Measure, Merits

MOST = 1.6
"""The largest ratio in any draw."""


def measure(bar: float, what: str) -> Measure:
    """The figure of merit, whose geometric mean over all draws is to be at most ``bar``."""
    title = f"Time {what} over that on the better path alone"
    return Measure("time", title, "the better path, again", False, bar, MOST, Average.GEOMETRIC)


def over_best(together: Mapping[str, Sequence[float]], singles: Sequence[Sequence[float]], replicas: int) -> Merits:
    """The mean times over all paths by options, divided by that on the path that is fastest alone.

    ``singles`` has for each path the mean times of ``replicas`` runs and of as many further runs, which show the effect
    of chance. All runs together decide which path is best. If only the first runs decided, the chosen path would
    probably be faster in them than on average.
    """
    best = min(singles, key=statistics.fmean)
    first, again = statistics.fmean(best[:replicas]), statistics.fmean(best[replicas:])
    found = {name: statistics.fmean(times) / first for name, times in together.items()}
    return Merits({"time": found}, {"time": again / first})


def groups(lines: Sequence[Line]) -> Iterator[str]:
    """How much the lines differ, and how they lose."""
    apart = max(line.rtt for line in lines) / min(line.rtt for line in lines)
    yield "RTTs within a factor of 3" if apart <= 3 else "RTTs that differ by more than 3"
    yield "loss above 0.3 %" if any(line.loss > 0.003 for line in lines) else "loss of 0.3 % at most"


def each_path(count: int) -> dict[str, Any]:
    """The value of ``networks`` that varies over ``count`` paths, each alone, with the axis ``network``."""
    return {"name": "network", "vary": [[number] for number in range(1, count + 1)]}


def in_order(found: Mapping[str, Sequence[float]], each: Mapping[str, Any]) -> list[Sequence[float]]:
    """The values of each path, in the order of the paths."""
    return [found[str(networks)] for networks in each["vary"]]
