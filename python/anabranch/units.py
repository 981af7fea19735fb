"""How figures and reports show the quantities of results: in words, and in units that people read."""

from __future__ import annotations

from dataclasses import dataclass

ALL_FLOWS = "flows:all"
"""Name of all flows together in the column ``flow`` of results."""


@dataclass(frozen=True, slots=True)
class Unit:
    """How a quantity is shown: its name in words, the unit, and the factor from the unit of results to that one."""

    words: str
    unit: str = ""
    scale: float = 1.0
    may_be_negative: bool = False

    @property
    def label(self) -> str:
        """The label of an axis."""
        return f"{self.words}, {self.unit}" if self.unit else self.words


UNITS = {
    "cwnd": Unit("congestion window", "KiB", 1 / 1024),
    "ssthresh": Unit("slow start threshold", "KiB", 1 / 1024),
    "flight": Unit("flight size", "KiB", 1 / 1024),
    "peer-rwnd": Unit("peer's receive window", "KiB", 1 / 1024),
    "srtt": Unit("smoothed RTT", "ms", 1e3),
    "rto": Unit("retransmission timeout", "ms", 1e3),
    "throughput": Unit("throughput", "Mbit/s", 1e-6),
    "sent-throughput": Unit("throughput sent", "Mbit/s", 1e-6),
    "queue": Unit("queue", "packets"),
    "queue-average": Unit("average queue of RED", "packets"),
    "drops": Unit("drops", "packets"),
    "tsn": Unit("TSN, from 1"),
    "limit": Unit("limit, by number"),
}
SUFFIXES = (
    ("_bps", "Mbit/s", 1e-6),
    ("_s", "ms", 1e3),
    ("_share", "%", 100.0),
    ("_bytes", "MB", 1e-6),
    ("_packets", "packets", 1.0),
    ("utilisation", "%", 100.0),
)
ADDED = "_added_s"
"""Suffix of differences of times, the only quantities that may be negative."""


def unit_of(quantity: str) -> Unit:
    """Words and unit of a quantity of results, by its name."""
    if quantity in UNITS:
        return UNITS[quantity]
    for suffix, unit, scale in SUFFIXES:
        if quantity.endswith(suffix):
            words = quantity.removesuffix(suffix if suffix.startswith("_") else "").replace("_", " ")
            return Unit(words, unit, scale, may_be_negative=quantity.endswith(ADDED))
    return Unit(quantity.replace("_", " "))
