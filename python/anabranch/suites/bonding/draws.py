"""Random topologies: each is a function of a seed and its number, on every machine and version of Python."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from .topology import PAYLOAD, Line, Timing

MOST_PACKETS = 300_000
"""Packets of data that the transfer over all paths of a draw sends, at most."""
LEAST_TIME, LEAST_ROUND_TRIPS, LEAST_PACKETS = 10.0, 30, 500
"""A draw lasts at least 10 s, 30 RTTs of its longest path, and until its slowest path has carried 500 packets, unless
``MOST_PACKETS`` or ``MOST_TIME`` ends it before."""
MOST_TIME = 60.0

T = TypeVar("T")

_SMALLEST_BUFFER, _BUFFERS = 64 << 10, 9
_RATES, _RTTS, _QUEUES, _LOSSES, _NARROWEST = (1e6, 1e9), (0.005, 0.6), (0.2, 8.0), (1e-4, 0.03), 50.0


@dataclass(frozen=True)
class Draw:
    """A random topology: its paths, its receive buffer in bytes, and how long the transfer runs."""

    seed: int
    number: int
    lines: tuple[Line, ...]
    buffer: int
    timing: Timing

    @property
    def command(self) -> str:
        """The command that runs this draw alone."""
        return f"anabranch bonding --random 1 --seed {self.seed} --draw {self.number}"

    @property
    def longest_rtt(self) -> float:
        """The longest RTT of all paths, in seconds."""
        return max(line.rtt for line in self.lines)

    @property
    def is_ample(self) -> bool:
        """Whether the buffer holds the bytes that all paths carry in twice the longest RTT."""
        return self.buffer >= 2 * sum(line.rate for line in self.lines) * self.longest_rtt / 8

    @property
    def is_short(self) -> bool:
        """Whether the limit of packets ends the draw before 30 RTTs of its longest path."""
        return self.timing.length < 0.999 * LEAST_ROUND_TRIPS * self.longest_rtt

    @property
    def root_seed(self) -> int:
        """The root seed of the draw's scenario. Link names, and so random streams, are the same in all draws."""
        return root_seed(self.seed, self.number)


def root_seed(seed: int, number: int) -> int:
    """The root seed of the scenario of a draw."""
    return seed * 1_000_000 + number


class Dice:
    """Random numbers of a draw. Only ``random()`` is the same in all versions of Python."""

    def __init__(self, seed: int, number: int, kind: str = "") -> None:
        self._random = random.Random(f"anabranch bonding {f'{kind} ' if kind else ''}{seed} {number}")

    def uniform(self, least: float, most: float) -> float:
        """A number from ``least`` to ``most``."""
        return least + (most - least) * self._random.random()

    def log(self, least: float, most: float) -> float:
        """A number from ``least`` to ``most``, evenly in its logarithm."""
        return least * (most / least) ** self._random.random()

    def below(self, count: int) -> int:
        """A whole number from 0 to ``count`` - 1."""
        return int(count * self._random.random())

    def among(self, choices: Sequence[T]) -> T:
        """One of several choices."""
        return choices[self.below(len(choices))]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability


def draw(seed: int, number: int) -> Draw:
    """The draw ``number`` of a seed."""
    dice = Dice(seed, number)
    lines = tuple(random_line(dice) for _ in range(2 + dice.below(3)))
    buffer = _SMALLEST_BUFFER << dice.below(_BUFFERS)
    length = timing(lines, buffer)
    survivor = dice.below(len(lines))
    with_outages = tuple(
        replace(line, outage=_outage(dice, length)) if number != survivor and dice.chance(0.15) else line
        for number, line in enumerate(lines)
    )
    return Draw(seed, number, with_outages, buffer, length)


def random_line(dice: Dice) -> Line:
    """A line with all of its features drawn, but without an outage."""
    rate, rtt = dice.log(*_RATES), dice.log(*_RTTS)
    discipline = ("drop-tail", "drop-tail", "codel", "red")[dice.below(4)]
    lossy, bursty = dice.chance(0.6), dice.chance(0.4)
    return Line(
        rate=rate,
        back=rate / dice.log(1.0, _NARROWEST),
        rtt=rtt,
        queue=dice.log(*_QUEUES) * rtt,
        discipline=discipline,
        loss=dice.log(*_LOSSES) if lossy else 0.0,
        burst=dice.uniform(2.0, 10.0) if lossy and bursty else 1.0,
        jitter=dice.uniform(0.0, min(0.02, rtt / 2)) if dice.chance(0.5) else 0.0,
        varies=("lte", "wifi", "satellite")[dice.below(3)] if dice.chance(0.2) else None,
    )


def _outage(dice: Dice, timing: Timing) -> tuple[float, float]:
    start = dice.uniform(0.35, 0.5) * timing.length
    return start, start + min(dice.log(0.5, 5.0), timing.length / 4)


def expected_rate(line: Line, buffer: int) -> float:
    """Estimates the throughput of the path alone, in bit/s: limited by its rate, the buffer, and CUBIC with its losses.

    The average window is 1.054 (RTT / p)^(3/4) segments (RFC 9438, section 5.1), but at least that of Reno.
    """
    rate = min(line.payload_rate, 8 * buffer / line.rtt)
    if line.loss > 0:
        events = line.loss / line.burst
        window = max(1.054 * (line.rtt / events) ** 0.75, math.sqrt(1.5 / events))
        rate = min(rate, 8 * PAYLOAD * window / line.rtt)
    return rate


def timing(lines: Sequence[Line], buffer: int, least: float = LEAST_TIME) -> Timing:
    """How long a transfer over these paths runs: see ``LEAST_TIME`` and ``MOST_PACKETS``."""
    expected = [expected_rate(line, buffer) for line in lines]
    wanted = max(
        least,
        LEAST_ROUND_TRIPS * max(line.rtt for line in lines),
        LEAST_PACKETS * 8 * PAYLOAD / min(expected),
    )
    return Timing(min(wanted, MOST_TIME, MOST_PACKETS * 8 * PAYLOAD / sum(expected)))
