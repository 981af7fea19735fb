"""The flow that sends messages at intervals, and the delay of each message."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ....result import Result
from ..topology import FLOW, PAYLOAD, START, time_text

LEAST_STEP = 5e-4
"""About the shortest steps in which arrivals are measured, in seconds."""
_STEPS = 2
"""Approximate number of steps in the least time that a message takes."""
_GOLDEN = (5**0.5 - 1) / 2
INTERVALS = (0.02, 0.04, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
"""Intervals between messages, in seconds. Their frequencies are exact in mHz."""


@dataclass(frozen=True)
class Messages:
    """An application that sends ``size`` bytes each ``interval`` seconds, ``count`` times."""

    size: int
    interval: float
    count: int
    step: float
    """The steps in which arrivals are measured, in seconds."""
    tail: float
    """Time that the last message has to arrive, in seconds."""

    @classmethod
    def of(cls, size: int, interval: float, count: int, least: float, tail: float) -> Messages:
        """Chooses the steps for messages that take at least ``least`` seconds.

        The interval is a whole number of steps plus the golden ratio of a step. So the messages leave at evenly spread
        points within a step, and the error of the mean delay is far smaller than a step.
        """
        steps = max(1, round(interval / max(LEAST_STEP, least / _STEPS)))
        return cls(size, interval, count, round(interval / (steps + _GOLDEN), 6), tail)

    @property
    def end(self) -> float:
        """The end of the run, in seconds after the first message."""
        return self.count * self.interval + self.tail

    def flow(self, sctp: str | Mapping[str, Any]) -> dict[str, Any]:
        """The flow of a scenario. Its first message leaves at ``START`` seconds; it goes on sending in the tail."""
        return {
            "name": FLOW, "client": "a", "server": "b", "sctp": sctp,
            "connect_time": "0 s", "start_time": time_text(START), "stop_time": time_text(self.end),
            "frame_rate": frequency(self.interval), "frame_size": f"{self.size} B",
            "max_msg_size": f"{PAYLOAD} B", "queue_size": 100_000,
        }  # fmt: skip

    def probe(self) -> dict[str, Any]:
        """The probe from which :meth:`delays` derives how long messages take."""
        return {"quantity": "throughput", "flow": FLOW, "every": time_text(self.step)}

    def delays(self, rows: pl.DataFrame, begin: float = START) -> list[float]:
        """The time from the transmission of each message to the arrival of its last byte, in seconds.

        ``rows`` are the points of :meth:`probe` of one run, whose first message leaves at ``begin`` seconds. A message
        that did not arrive has the time until the end.
        """
        arrived = rows.filter(pl.col("value") > 0).sort("time")
        total = (arrived["value"] * self.step / 8).cum_sum().to_list()
        # A point is at the end of its step: on average its packets arrived in the middle of it.
        times = [*(arrived["time"] - self.step / 2).to_list(), begin + self.end]
        sent = (begin + number * self.interval for number in range(self.count))
        arrivals = (bisect_left(total, (number + 1) * self.size - 0.5) for number in range(self.count))
        return [times[at] - left for at, left in zip(arrivals, sent, strict=True)]


def delays(messages: Messages, result: Result, axes: Sequence[str]) -> dict[tuple[str, ...], list[list[float]]]:
    """The delays of all messages by the values of some axes, one list for each replica."""
    arrived = result.series.filter(pl.col("quantity") == "throughput", pl.col("value") > 0)
    by_run = {key[0]: rows for key, rows in arrived.group_by("run")}
    # An association whose setup takes longer begins to send after the setup.
    handshakes = result.scalars.filter(pl.col("quantity") == "handshake_s").select("run", "value")
    begin = {run: max(START, handshake) for run, handshake in handshakes.iter_rows()}
    found: dict[tuple[str, ...], list[list[float]]] = {}
    runs = result.scalars.select("run", *axes, "replica").unique().sort("run")
    for run, *values, _ in runs.sort("replica", maintain_order=True).iter_rows():
        # A run in which nothing arrived has no rows.
        found.setdefault(tuple(map(str, values)), []).append(
            messages.delays(by_run.get(run, arrived.clear()), begin.get(run, START))
        )
    return found


def frequency(interval: float) -> str:
    """The frequency with this interval in seconds, as scenarios write it."""
    return f"{round(1000 / interval)} mHz"
