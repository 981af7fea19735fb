"""The probes of one run of a case, read by time and by state."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ...result import Result

STATES = ("startup", "drain", "down", "cruise", "refill", "up", "probe-rtt")
"""The states in the order of their numbers (``ModelState`` in crates/cc)."""


@dataclass(frozen=True)
class Network:
    """The path of a case without changes."""

    rate: float
    """Rate in bit/s of the link."""
    rtt: float
    """Round-trip time in seconds without a queue."""

    @property
    def payload_rate(self) -> float:
        """Rate in bit/s of the payload of full packets."""
        return self.rate * 1448 / 1500

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product in bytes."""
        return self.rate * self.rtt / 8


PLAIN = Network(50e6, 0.02)
"""Network N of the cases."""


@dataclass(frozen=True)
class Visit:
    """A stay in a state."""

    state: str
    begin: float
    end: float

    @property
    def lasts(self) -> float:
        """Seconds in the state."""
        return self.end - self.begin


class Trace:
    """The series of a run."""

    def __init__(self, result: Result, network: Network) -> None:
        self.network = network
        self._scalars = {(row["flow"], row["quantity"]): row["value"] for row in result.scalars.iter_rows(named=True)}
        self._series: dict[str, tuple[list[float], list[float]]] = {}
        for row in result.series.sort("time", maintain_order=True).iter_rows(named=True):
            times, values = self._series.setdefault(row["quantity"].removeprefix("cc:"), ([], []))
            times.append(row["time"])
            values.append(row["value"])

    def scalar(self, quantity: str) -> float:
        """A scalar of the flow, 0 if there is none."""
        return float(self._scalars.get(("f", quantity), 0.0))

    @property
    def has_state(self) -> bool:
        """True if the congestion control shows its state."""
        return "state" in self._series

    @property
    def end(self) -> float:
        """Time of the last value."""
        return max(times[-1] for times, _ in self._series.values())

    @cached_property
    def visits(self) -> list[Visit]:
        """The states in order, without repetitions."""
        times, numbers = self._series["state"]
        starts: list[tuple[str, float]] = []
        for time, number in zip(times, numbers, strict=True):
            name = STATES[int(number)]
            if not starts or starts[-1][0] != name:
                starts.append((name, time))
        ends = [*(time for _, time in starts[1:]), self.end]
        return [Visit(name, time, end) for (name, time), end in zip(starts, ends, strict=True)]

    def visit(self, state: str, entry: int = 1) -> Visit | None:
        """The n-th stay in a state."""
        found = [visit for visit in self.visits if visit.state == state]
        return found[entry - 1] if len(found) >= entry else None

    def after(self, visit: Visit, further: int = 1) -> Visit | None:
        """The stay that follows another one."""
        place = self.visits.index(visit) + further
        return self.visits[place] if place < len(self.visits) else None

    def at(self, quantity: str, time: float) -> float:
        """The value that holds at a time, changes at that time included; not a number before the first one."""
        times, values = self._series.get(quantity, ([], []))
        place = bisect.bisect_right(times, time)
        return values[place - 1] if place else float("nan")

    def before(self, quantity: str, time: float) -> float:
        """The value that holds just before a time."""
        times, values = self._series.get(quantity, ([], []))
        place = bisect.bisect_left(times, time)
        return values[place - 1] if place else float("nan")

    def changes(self, quantity: str, begin: float, end: float) -> Iterator[tuple[float, float]]:
        """The value at ``begin`` and those recorded later, up to ``end``."""
        times, values = self._series.get(quantity, ([], []))
        first, last = bisect.bisect_right(times, begin), bisect.bisect_right(times, end)
        if first:
            yield begin, values[first - 1]
        yield from zip(times[first:last], values[first:last], strict=True)

    def least(self, quantity: str, begin: float, end: float) -> float:
        """The smallest value in an interval."""
        return min((value for _, value in self.changes(quantity, begin, end)), default=float("nan"))

    def most(self, quantity: str, begin: float, end: float) -> float:
        """The largest value in an interval."""
        return max((value for _, value in self.changes(quantity, begin, end)), default=float("nan"))

    def mean(self, quantity: str, begin: float, end: float) -> float:
        """The mean of the values recorded in an interval, which are at a fixed interval."""
        times, values = self._series.get(quantity, ([], []))
        inside = values[bisect.bisect_right(times, begin) : bisect.bisect_right(times, end)]
        return sum(inside) / len(inside) if inside else float("nan")

    def estimate(self, time: float) -> float:
        """The bandwidth-delay product of the model in bytes."""
        bandwidth = min(self.before("max_bw", time), self.before("bw_shortterm", time))
        return bandwidth * self.before("min_rtt", time) / 8

    def round_times(self, begin: float, end: float) -> list[float]:
        """The times at which round trips begin in an interval."""
        return [time for time, _ in self.changes("round", begin, end)][1:]
