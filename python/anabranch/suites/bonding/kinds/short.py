"""``--kind short`` and ``pair``: associations for one short transfer each, one or two at a time."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from ....result import Result
from ...running import Runner
from ..draws import Dice, expected_rate, random_line
from ..line_text import describe
from ..measure import RECOMMENDED
from ..topology import Line, network, time_text
from . import times
from .kind import Kind, Merits
from .messages import INTERVALS, frequency

BAR = 1.1
"""Target of the mean time of a transfer, divided by that on the better path alone."""

_BUFFER = 4 << 20
_SIZES, _COUNT = (10_000, 1_000_000), 20
_BEGIN = 1.0
_PORT = 9000
_SLACK, _PATIENCE = 1.0, 3.0


@dataclass(frozen=True)
class Short:
    """A draw: the lines, and trains of transfers. Transfers of a train have one size and begin at equal intervals."""

    kind: str
    seed: int
    number: int
    lines: tuple[Line, ...]
    """The first path, on which associations are set up, is the one that is probably faster."""
    sizes: tuple[int, ...]
    """Bytes of each transfer, for each train."""
    interval: float
    late: float
    """How much later the second train begins, in seconds."""

    def __str__(self) -> str:
        trains = f"{' and '.join(map(str, self.sizes))} B each {self.interval:g} s"
        later = f", the second {1e3 * self.late:.3g} ms later" if len(self.sizes) > 1 else ""
        return f"{trains}{later}; {'; '.join(map(describe, self.lines))}"

    def groups(self) -> Iterator[str]:
        """How the lines differ, and how much is sent."""
        yield from times.groups(self.lines)
        yield "up to 100 kB" if max(self.sizes) <= 100_000 else "more than 100 kB"


def _time(line: Line, size: int) -> float:
    """Estimated time of a transfer in seconds: handshake, slow start from four packets, and its bytes at the rate."""
    doublings = math.log2(1 + size / 6000)
    return (2 + doublings) * line.rtt + 8 * size / expected_rate(line, _BUFFER)


def draw(kind: str, trains: int, seed: int, number: int) -> Short:
    """The draw ``number`` of a seed, with one or two trains of transfers."""
    dice = Dice(seed, number, kind)
    lines = [random_line(dice) for _ in range(2 + dice.below(2))]
    sizes = tuple(round(dice.log(*_SIZES)) for _ in range(trains))
    lines.sort(key=lambda line: _time(line, max(sizes)))
    # A transfer ends before the next one of its train begins: the interval leaves time for timeouts.
    least = _SLACK + _PATIENCE * sum(_time(lines[0], size) for size in sizes)
    interval = next(interval for interval in INTERVALS if interval >= least or interval == INTERVALS[-1])
    late = dice.uniform(0.0, 0.5) * _time(lines[0], sizes[0]) if trains > 1 else 0.0
    return Short(kind, seed, number, tuple(lines), sizes, interval, late)


def scenario(drawn: Short, sctp: str | Mapping[str, Any], networks: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The transfers over all paths, or over the given ones."""
    links = [line.link(number) for number, line in enumerate(drawn.lines, 1)]
    title = f"Draw {drawn.number} of kind {drawn.kind}, seed {drawn.seed}"
    over = {} if networks is None else {"networks": networks}
    trains = [
        {
            "name": f"train-{number + 1}", "client": "a", "server": "b", "protocol": "SCTP", "sctp": sctp,
            "remote_port": _PORT + number, "rate": frequency(drawn.interval), "size": f"{size} B",
            "from": time_text(_BEGIN + number * drawn.late),
            "to": time_text(_BEGIN + number * drawn.late + _COUNT * drawn.interval), **over,
        }
        for number, size in enumerate(drawn.sizes)
    ]  # fmt: skip
    return {**network(links, [_BUFFER], seed=drawn.seed, title=title), "transfers": trains}


def merits(drawn: Short, together: Result, options: Sequence[str], run: Runner) -> Merits:
    """The mean time of a transfer, divided by that on the better path alone."""
    replicas = run.running.replicas
    each = times.each_path(len(drawn.lines))
    alone = run.with_replicas(2 * replicas)("alone", scenario(drawn, RECOMMENDED, each))
    found, singles = _means(together, "options"), _means(alone, "network")
    return times.over_best({name: found[name] for name in options}, times.in_order(singles, each), replicas)


def _means(result: Result, axis: str) -> dict[str, list[float]]:
    """The mean time of the transfers of all trains by the value of an axis, one value for each replica."""
    rows = result.scalars.filter(pl.col("quantity") == "completion_time_mean_s")
    found: dict[str, list[float]] = {}
    for (value, _), trains in rows.sort("replica").group_by(axis, "replica", maintain_order=True):
        found.setdefault(str(value), []).append(statistics.fmean(trains["value"]))
    return found


SHORT = Kind(
    name="short",
    about="Twenty transfers of one size from 10 kB to 1 MB, each an association of its own, one after the other over "
    "two or three paths. Associations are set up on the path that is probably faster. Time: the mean from the first "
    "INIT to the arrival of the last byte, over that on the better path alone.",
    measures=(times.measure(BAR, "of a transfer"),),
    draw=partial(draw, "short", 1),
    scenario=scenario,
    merits=merits,
)
PAIR = Kind(
    name="pair",
    about="Twice twenty transfers as of kind short, two of them beside each other each time: the second begins in the "
    "first half of the first. Time: the mean of both, over that of both on the better path alone.",
    measures=(times.measure(BAR, "of two transfers"),),
    draw=partial(draw, "pair", 2),
    scenario=scenario,
    merits=merits,
)
