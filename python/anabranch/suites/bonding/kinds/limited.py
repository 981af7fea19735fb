"""``--kind limited``: the application sends 1 kB to 200 kB at intervals, less than the better path carries."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....result import Result
from ...running import Runner
from ..draws import Dice, expected_rate, random_line
from ..line_text import describe
from ..measure import RECOMMENDED
from ..topology import Line, network
from . import times
from .kind import Kind, Merits
from .messages import INTERVALS, Messages, delays

BAR = 1.05
"""Target of the mean time of a message, divided by that on the better path alone."""

_BUFFER = 4 << 20
_SIZES, _COUNT, _LOAD = (1_000, 200_000), 50, 0.3
_TAIL = 10.0
"""Time that the last message has to arrive, in seconds."""


@dataclass(frozen=True)
class Limited:
    """A draw: the lines and the messages."""

    seed: int
    number: int
    lines: tuple[Line, ...]
    messages: Messages

    def __str__(self) -> str:
        size, interval = self.messages.size, self.messages.interval
        return f"{size} B each {interval:g} s; {'; '.join(map(describe, self.lines))}"

    def groups(self) -> Iterator[str]:
        """How the lines differ, and how much is sent."""
        yield from times.groups(self.lines)
        yield "up to 10 kB" if self.messages.size <= 10_000 else "more than 10 kB"


def draw(seed: int, number: int) -> Limited:
    """The draw ``number`` of a seed."""
    dice = Dice(seed, number, "limited")
    lines = tuple(random_line(dice) for _ in range(2 + dice.below(2)))
    size = round(dice.log(*_SIZES))
    best = max(expected_rate(line, _BUFFER) for line in lines)
    slowest = 8 * size / (_LOAD * best)
    fitting = [interval for interval in INTERVALS if interval >= slowest]
    interval = dice.among(fitting[:4])
    least = min(line.rtt / 2 + 8 * size / line.rate for line in lines)
    return Limited(seed, number, lines, Messages.of(size, interval, _COUNT, least, _TAIL))


def scenario(
    drawn: Limited, sctp: str | Mapping[str, Any], networks: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The messages that are sent over ``networks``, or over all paths if that is None."""
    links = [line.link(number) for number, line in enumerate(drawn.lines, 1)]
    made = network(links, [_BUFFER], seed=drawn.seed, title=f"Draw {drawn.number} of kind limited, seed {drawn.seed}")
    over = {} if networks is None else {"networks": networks}
    return {**made, "probe": [drawn.messages.probe()], "flow": [drawn.messages.flow(sctp) | over]}


def merits(drawn: Limited, together: Result, options: Sequence[str], run: Runner) -> Merits:
    """The mean time of a message, divided by that on the better path alone."""
    replicas = run.running.replicas
    each = times.each_path(len(drawn.lines))
    alone = run.with_replicas(2 * replicas)("alone", scenario(drawn, RECOMMENDED, each))

    def means(result: Result, axis: str) -> dict[str, list[float]]:
        found = delays(drawn.messages, result, [axis])
        return {key[0]: [statistics.fmean(each) for each in runs] for key, runs in found.items()}

    found, singles = means(together, "options"), means(alone, "network")
    return times.over_best({name: found[name] for name in options}, times.in_order(singles, each), replicas)


KIND = Kind(
    name="limited",
    about="An association that lasts sends 50 times 1 kB to 200 kB at intervals, over two or three paths of which the "
    "better one could carry more than three times as much. Time: the mean from the transmission to the arrival of the "
    "last byte, over that on the better path alone.",
    measures=(times.measure(BAR, "of a message"),),
    draw=draw,
    scenario=scenario,
    merits=merits,
)
