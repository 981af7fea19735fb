"""Access lines side by side, and the scenario of one transfer over all or some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import running as suites

PAYLOAD, PACKET = 1452, 1500
"""Bytes of payload in each full packet, and of the packet."""
START = 3.0
"""Time from the handshake to the start of the transfer, in seconds, in which all addresses are confirmed."""
FLOW = "transfer"
NO_SEND_LIMIT = "32 MiB"
"""A send buffer that never limits a transfer with a receive buffer of at most 16 MiB."""

_HOST_JITTER = "10 us"
_LEAST_QUEUE, _LEAST_BACK_QUEUE = 4 * PACKET, 10 * PACKET


@dataclass(frozen=True)
class Line:
    """An access line: one path of the transfer. Acknowledgements travel in its return direction (``back``)."""

    rate: float
    """Rate in bit/s, the mean if it varies."""
    back: float
    """Rate of the return direction, in bit/s."""
    rtt: float
    """Round-trip time of the empty line, in seconds."""
    queue: float
    """Largest queue, as the time in seconds in which the line sends it; at least 4 packets, 10 on the way back."""
    discipline: str = "drop-tail"
    """The queue discipline: ``drop-tail``, ``codel`` or ``red``. The way back has a drop-tail queue."""
    loss: float = 0.0
    """Share of the packets that are lost on the wire, in each direction."""
    burst: float = 1.0
    """Mean number of packets that are lost in a row."""
    jitter: float = 0.0
    """Largest additional delay of a packet in seconds; packets keep their order."""
    varies: str | None = None
    """The random model of the rate: ``lte``, ``wifi`` or ``satellite``."""
    outage: tuple[float, float] | None = None
    """Start and end of a failure, in seconds after the start of the transfer."""

    @property
    def bandwidth_delay_product(self) -> float:
        """Bytes that the line carries in the RTT of the empty line."""
        return self.rate * self.rtt / 8

    @property
    def payload_rate(self) -> float:
        """Payload that the line can carry, in bit/s."""
        return self.rate * PAYLOAD / PACKET

    def link(self, number: int) -> dict[str, Any]:
        """The line as a link of a scenario, in the network ``number``."""
        link: dict[str, Any] = {
            "name": f"path-{number}",
            "between": ["a", "b"],
            "net_id": number,
            "rate": rate_text(self.rate)
            if self.varies is None
            else {"model": self.varies, "mean": rate_text(self.rate)},
            "delay": time_text(self.rtt / 2),
            "queue": self._queue(),
            "back": {
                "rate": rate_text(self.back),
                "queue": {"kind": "drop-tail", "bytes": _size(max(self.queue * self.back / 8, _LEAST_BACK_QUEUE))},
            },
        }
        if self.loss > 0:
            link["loss"] = round(self.loss, 6) if self.burst == 1 else _bursts(self.loss, self.burst)
        if self.jitter > 0:
            link["jitter"] = time_text(self.jitter)
        if self.outage is not None:
            link["down"] = [[time_text(START + at) for at in self.outage]]
        return link

    def _queue(self) -> dict[str, Any]:
        size = max(self.queue * self.rate / 8, _LEAST_QUEUE)
        packets = round(size / PACKET)
        match self.discipline:
            case "codel":
                # The target is at least the time of one packet (RFC 8289, section 4.4).
                target = max(0.005, 1.5 * 8 * PACKET / self.rate)
                return {"kind": "codel", "target": time_text(target), "packets": packets}
            case "red":
                limits = {"min": max(1, packets // 6), "max": max(2, packets // 2), "capacity": packets}
                return {"kind": "red", "max_p": 0.1, "gentle": True} | limits
            case _:
                return {"kind": "drop-tail", "bytes": _size(size)}


@dataclass(frozen=True)
class Timing:
    """How long the transfer runs, in seconds. It is measured in the last three quarters of this time."""

    length: float

    @property
    def warm_up(self) -> float:
        """Time before the measurement, in seconds."""
        return self.length / 4


def rate_text(bps: float) -> str:
    """A rate as scenarios write it, in whole bit/s."""
    return f"{round(bps)} bit/s"


def time_text(seconds: float) -> str:
    """A time as scenarios write it, in whole microseconds."""
    return f"{round(seconds * 1e6)} us"


def _size(size: float) -> str:
    return f"{round(size)} B"


def _bursts(loss: float, burst: float) -> dict[str, float]:
    leave = 1 / burst
    return {"p": round(leave * loss / (1 - loss), 8), "r": round(leave, 6)}


def buffer_text(size: int) -> str:
    """A buffer as scenarios and tables write it: 65536 is ``64 KiB``."""
    return f"{size >> 20} MiB" if size >= 1 << 20 and not size % (1 << 20) else f"{size >> 10} KiB"


def scenario(
    lines: Sequence[Line], buffers: Sequence[int], timing: Timing, options: Sequence[str], *, seed: int, title: str
) -> dict[str, Any]:
    """One transfer over all lines, varied over sets of options of ``bonding.toml`` and, if many, receive buffers."""
    links = [line.link(number) for number, line in enumerate(lines, 1)]
    flow = transfer(varied(options), timing)
    return {**network(links, buffers, seed=seed, title=title), "flow": [flow]}


def network(links: Sequence[dict[str, Any]], buffers: Sequence[int], *, seed: int, title: str) -> dict[str, Any]:
    """A scenario without flows: the hosts ``a`` and ``b``, links, and the sets of options of ``bonding.toml``."""
    sizes = [buffer_text(size) for size in buffers]
    buffer = sizes[0] if len(sizes) == 1 else {"vary": sizes, "name": "buffer"}
    sets = {
        name: {**table, "receive_buffer": buffer, "send_buffer": NO_SEND_LIMIT}
        if table.get("receive_buffer", "auto") != "auto"
        else table
        for name, table in suites.read("bonding", "bonding.toml")["sctp"].items()
    }
    return {
        "title": title,
        "seed": seed,
        "node": [host(name) for name in ("a", "b")],
        "link": list(links),
        "sctp": sets,
    }


def host(name: str) -> dict[str, Any]:
    """A host with a small processing jitter."""
    return {"name": name, "jitter": _HOST_JITTER}


def varied(options: Sequence[str]) -> dict[str, Any]:
    """The value of ``sctp`` that varies over sets of options, with the axis ``options``."""
    return {"vary": list(options), "name": "options"}


def transfer(sctp: str | Mapping[str, Any], timing: Timing) -> dict[str, Any]:
    """The flow that transfers as much as it can."""
    return {
        **suites.read("bonding", "bonding.toml")["flow"][0],
        "name": FLOW,
        "sctp": sctp,
        "start_time": time_text(START),
        "reset_time": time_text(timing.warm_up),
        "stop_time": time_text(timing.length),
    }


def alone(scenario: Mapping[str, Any], count: int) -> dict[str, Any]:
    """The scenario varied over its ``count`` lines, each alone: axis ``network`` with values ``[1]``, ``[2]``, ..."""
    each = {"name": "network", "vary": [[number] for number in range(1, count + 1)]}
    return {**scenario, "flow": [{**scenario["flow"][0], "networks": each}]}
