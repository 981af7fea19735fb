"""Throughput that no scheduler can exceed: limits of the buffer, of the return links, and of a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .topology import PAYLOAD, Line

SACK_PACKET, PACKETS_PER_SACK = 48, 2
"""Bytes of the least packet with a SACK over IPv4, and the packets of data that it acknowledges (RFC 9260, 6.2)."""
PATHS, BUFFER, RETURN = "paths", "buffer", "return links"


@dataclass(frozen=True)
class Bound:
    """The largest possible throughput in bit/s, and its limit: ``paths``, ``buffer`` or ``return links``."""

    bps: float
    limit: str


def throughput(lines: Sequence[Line], rates: Sequence[float], buffer: int, carried: float = 0.0) -> Bound:
    """The largest throughput of all paths together, in order, given the rate of each path in bit/s.

    A byte on a path with the one-way delay d is delivered in order after d at the earliest. The sender may have at most
    one receive buffer W of unacknowledged bytes. The acknowledgement takes at least the shortest delay back, b. So
    while a path with delay d is used, all paths together carry at most W / (d + b). The best choice is to use the k
    paths of the least delay, for some k. Queues only reduce the throughput.

    The return links limit the throughput if the receiver acknowledges every second packet. A transfer may need fewer
    acknowledgements, so the bound is at least ``carried``, the throughput that was measured.
    """
    back = min(line.rtt for line in lines) / 2
    paths = sorted(zip((line.rtt / 2 for line in lines), rates, strict=True))
    best, total = 0.0, 0.0
    for delay, rate in paths:
        total += rate
        best = max(best, min(total, 8 * buffer / (delay + back)))
    acknowledged = sum(line.back for line in lines) * PACKETS_PER_SACK * PAYLOAD / SACK_PACKET
    bps = max(min(best, acknowledged), carried)
    if bps >= 0.999 * total:
        return Bound(total, PATHS)
    return Bound(bps, RETURN if acknowledged < best else BUFFER)


def stall(dead: Line, survivors: Sequence[tuple[Line, float]]) -> float:
    """The shortest possible stall in seconds when a path dies, unless everything is sent twice.

    ``survivors`` are the other paths, each with the RTT that it has under load. The acknowledgement of a lost chunk is
    due half an RTT after the chunk. A copy then waits in the queue of another path.
    """
    return dead.rtt / 2 + min(loaded - line.rtt / 2 for line, loaded in survivors)
