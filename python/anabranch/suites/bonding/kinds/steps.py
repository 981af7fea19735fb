"""``--kind steps``: the RTT or the rate of a path changes, once for good, or every 15 s as over satellites."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from ....result import Result
from ...running import Runner
from ..draws import Dice, random_line
from ..line_text import describe
from ..measure import RECOMMENDED
from ..topology import FLOW, START, Line, network, rate_text, time_text, varied
from .kind import Average, Kind, Measure, Merits
from .messages import INTERVALS, Messages, delays

COPIES, DELAY = 0.02, 1.1
"""Targets: needless copies per message, and the delay of messages, divided by that on paths that never change."""

_BUFFER = 4 << 20
_FIRST, _SLOT = 15.0, 15.0
_LEAST_RATE = 5e5
_FOR_GOOD = 45.0
"""Time after a change for good, in seconds."""
_TAIL = 3.0
_RTT, _RATE = "delay", "rate"
_RTTS, _SPREAD = (0.01, 0.2), (0.5, 2.0)
"""RTT of a draw in seconds, and RTTs of its lines divided by it: a user's lines seldom differ by a factor of 100."""
_SIZES, _LOAD = (100, 10_000), 0.2
"""Bytes of a message, and the share of the best path that they may fill."""


@dataclass(frozen=True)
class Steps:
    """A draw: the lines, and the line whose RTT or rate has one level after the other."""

    seed: int
    number: int
    lines: tuple[Line, ...]
    changing: int
    """The index of the line that changes."""
    what: str
    """The key of the link that changes: ``delay`` or ``rate``."""
    levels: tuple[float, ...]
    """The values that the RTT (in seconds) or the rate (in bit/s) takes, in order of time."""
    messages: Messages

    @property
    def starts(self) -> tuple[float, ...]:
        """When each level begins, in seconds after the first message."""
        return (0.0, *(_FIRST + _SLOT * number for number in range(len(self.levels) - 1)))

    def __str__(self) -> str:
        unit, scale = ("ms", 1e3) if self.what == _RTT else ("Mbit/s", 1e-6)
        levels = ", ".join(f"{scale * level:.3g}" for level in self.levels)
        size, interval = self.messages.size, self.messages.interval
        return (
            f"{size} B each {1e3 * interval:g} ms; {'; '.join(map(describe, self.lines))}; path {self.changing + 1} "
            f"has {levels} {unit}"
        )

    def groups(self) -> Iterator[str]:
        """The quantity that changes, the kind of the change, and other properties of the lines."""
        name = "RTT" if self.what == _RTT else "rate"
        if len(self.levels) == 2:
            yield f"{name} that {'rises' if self.levels[1] > self.levels[0] else 'falls'} for good"
        else:
            yield f"{name} that changes every {_SLOT:g} s"
        yield "jitter" if any(line.jitter for line in self.lines) else "no jitter"
        yield "loss" if any(line.loss for line in self.lines) else "no loss"


def draw(seed: int, number: int) -> Steps:
    """The draw ``number`` of a seed."""
    dice = Dice(seed, number, "steps")
    usual = dice.log(*_RTTS)
    lines = [_line(dice, usual * dice.log(*_SPREAD)) for _ in range(2 + dice.below(2))]
    # In most draws the path with the least RTT changes, because it is used most.
    near = min(range(len(lines)), key=lambda number: lines[number].rtt)
    changing = near if dice.chance(0.8) else dice.below(len(lines))
    what, for_good = dice.among((_RTT, _RTT, _RATE)), dice.chance(0.5)
    line = lines[changing]
    first = line.rtt if what == _RTT else line.rate
    if for_good:
        factor = dice.log(1.5, 10.0)
        levels = (first, first * factor if dice.chance(2 / 3) else first / factor)
    else:
        levels = (first, *(first * dice.log(0.5, 2.0) for _ in range(3)))
    if what == _RATE:
        levels = tuple(max(level, _LEAST_RATE) for level in levels)
    else:
        # No jitter exceeds half of the RTT.
        lines[changing] = replace(line, jitter=min(line.jitter, min(levels) / 2))
    least = min(levels) if what == _RATE else line.rate
    best = max(least if number == changing else other.rate for number, other in enumerate(lines))
    interval = INTERVALS[dice.below(4)]
    size = round(min(dice.log(*_SIZES), _LOAD * best * interval / 8))
    shortest = min([other.rtt for other in lines] + (list(levels) if what == _RTT else []))
    after = _FOR_GOOD if for_good else _SLOT * (len(levels) - 1)
    count = round((_FIRST + after) / interval)
    return Steps(
        seed, number, tuple(lines), changing, what, levels,
        Messages.of(size, interval, count, shortest / 2, _TAIL),
    )  # fmt: skip


def _line(dice: Dice, rtt: float) -> Line:
    """A line with this RTT, whose rate does not vary."""
    line = random_line(dice)
    return replace(line, rtt=rtt, queue=line.queue * rtt / line.rtt, jitter=min(line.jitter, rtt / 2), varies=None)


def scenario(drawn: Steps, sctp: str | Mapping[str, Any]) -> dict[str, Any]:
    """The messages over all paths, one of which changes."""
    texts = [_text(drawn.what, level) for level in drawn.levels]
    # Times of links are counted from the start of the run.
    times = ["0 s", *(time_text(START + start) for start in drawn.starts[1:])]
    return _with(drawn, sctp, {"steps": [list(step) for step in zip(times, texts, strict=True)]})


def _text(what: str, level: float) -> str:
    return time_text(level / 2) if what == _RTT else rate_text(level)


def _with(drawn: Steps, sctp: str | Mapping[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """The scenario in which the rate or the delay of the line that changes has this value."""
    links = [line.link(number) for number, line in enumerate(drawn.lines, 1)]
    links[drawn.changing][drawn.what] = value
    ends = [*drawn.starts[1:], drawn.messages.end - drawn.messages.tail]
    windows = [
        {"name": f"level-{number}", "from": time_text(START + start), "to": time_text(START + end)}
        for number, (start, end) in enumerate(zip(drawn.starts, ends, strict=True))
    ]
    title = f"Draw {drawn.number} of kind steps, seed {drawn.seed}"
    return {
        **network(links, [_BUFFER], seed=drawn.seed, title=title),
        "window": windows,
        "probe": [drawn.messages.probe()],
        "flow": [drawn.messages.flow(sctp)],
    }


def merits(drawn: Steps, together: Result, options: Sequence[str], run: Runner) -> Merits:
    """Needless copies after the first change, and the delay, divided by that on a path that never changes."""
    replicas = run.running.replicas
    constant = {"name": "level", "vary": [_text(drawn.what, level) for level in drawn.levels]}
    always = run.with_replicas(2 * replicas)("always", _with(drawn, varied(options), constant))
    labels = always.scalars["level"].unique(maintain_order=True).to_list()
    stepped = delays(drawn.messages, together, ["options"])
    constant_delays = delays(drawn.messages, always, ["options", "level"])

    def mean(runs: Callable[[int], Sequence[Sequence[float]]]) -> float:
        """The mean delay of all messages after the first change; ``runs`` gives the runs for each level."""
        levels = range(1, len(labels))
        return statistics.fmean(
            value for level in levels for found in runs(level) for value in _of_level(drawn, level, found)
        )

    def usual(name: str, replicas: slice) -> float:
        """The mean delay of the same messages on a path that always has the level at which each message was sent."""
        return mean(lambda level: constant_delays[name, labels[level]][replicas])

    first, again = slice(replicas), slice(replicas, 2 * replicas)
    levels = [(pl.col("level") == label, f"level-{number}") for number, label in enumerate(labels[1:], 1)]
    return Merits(
        {
            "copies": {
                name: _copies(together, name, [(pl.lit(True), window) for _, window in levels]) for name in options
            },
            "delay": {name: mean(lambda _, name=name: stepped[(name,)]) / usual(name, first) for name in options},
        },
        {
            "copies": _copies(always, RECOMMENDED, levels),
            "delay": usual(RECOMMENDED, again) / usual(RECOMMENDED, first),
        },
    )


def _of_level(drawn: Steps, level: int, found: Sequence[float]) -> Sequence[float]:
    """The delays of the messages that were sent at a level."""
    interval = drawn.messages.interval
    bounds = [*(round(start / interval) for start in drawn.starts), drawn.messages.count]
    return found[bounds[level] : bounds[level + 1]]


def _copies(result: Result, options: str, parts: Sequence[tuple[pl.Expr, str]]) -> float:
    """Duplicate chunks that arrived, per message that arrived, in some windows of some runs.

    No message is longer than a chunk.
    """
    rows = result.scalars.filter(pl.col("flow") == FLOW, pl.col("options") == options, pl.col("path").is_null())
    rows = rows.filter(pl.any_horizontal(*(runs & (pl.col("window") == window) for runs, window in parts)))
    total = dict(rows.group_by("quantity").agg(pl.col("value").sum()).iter_rows())
    return total["duplicate_chunks"] / max(1.0, total["messages"])


KIND = Kind(
    name="steps",
    about="An application sends small messages at intervals over two or three paths. The RTT or the rate of one path "
    "changes after 15 s for good, by a factor of 1.5 to 10, or every 15 s, by up to 2. Copies: chunks that the "
    "receiver had already, for each message, from the first change on. Delay: mean delay of the messages from then on, "
    "over that of the same messages if the path always was as it is at their time.",
    measures=(
        Measure("copies", "Needless copies for each message", "if the path always was so", False, COPIES, COPIES),
        Measure("delay", "Delay of messages over that if the path always was so", "if it always was so, again", False,
                DELAY, 1.5, Average.GEOMETRIC),
    ),
    draw=draw,
    scenario=scenario,
    merits=merits,
)  # fmt: skip
