"""``--kind shared``: all or some paths lead over one bottleneck, beside TCP flows."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ....result import Result
from ...running import Runner
from ..draws import Dice
from ..line_text import describe
from ..measure import PAPER
from ..topology import START, Line, Timing, host, network, time_text, transfer
from .kind import Average, Kind, Measure, Merits

BAR, LIMIT = 0.85, 0.6
"""Targets of a rival's rate, divided by that beside one SCTP path: for the median of all draws, and for each draw."""

_BUFFER = 16 << 20
_ACCESS = "1 Gbit/s"
_RATES, _RTTS, _QUEUES = (4e6, 60e6), (0.015, 0.2), (0.3, 4.0)
_LEAST_TIME, _ROUND_TRIPS = 40.0, 300
_RIVAL, _WINDOW = "rival", "steady"
_RIVALS_START = 5.0


@dataclass(frozen=True)
class Shared:
    """A draw: the bottleneck, the paths over it, a path of its own if there is one, and the rivals."""

    seed: int
    number: int
    bottleneck: Line
    access: tuple[float, ...]
    """The additional RTT of each path over the bottleneck, in seconds."""
    own: Line | None
    """A path that does not lead over the bottleneck."""
    rivals: int
    control: str
    """The rivals' congestion control: ``reno`` or ``cubic``."""
    rival_access: float
    """The additional RTT of the rivals, in seconds."""

    @property
    def timing(self) -> Timing:
        """How long the transfer runs: the longer, the longer the RTTs."""
        return Timing(max(_LEAST_TIME, _ROUND_TRIPS * self.bottleneck.rtt))

    @property
    def fair_share(self) -> float:
        """The payload that each of all flows carries if the bottleneck is divided equally, in bit/s."""
        return self.bottleneck.payload_rate / (1 + self.rivals)

    def __str__(self) -> str:
        extra = ", ".join(f"{1e3 * rtt:.2g}" for rtt in self.access)
        own = "" if self.own is None else f"; own path {describe(self.own)}"
        return (
            f"{len(self.access)} paths (+ {extra} ms) over {describe(self.bottleneck)}; {self.rivals} {self.control} "
            f"(+ {1e3 * self.rival_access:.2g} ms){own}"
        )

    def groups(self) -> Iterator[str]:
        """The queue, the rivals, and the paths."""
        yield self.bottleneck.discipline
        yield f"{self.rivals} TCP flow{'s' * (self.rivals > 1)}"
        yield f"TCP of {self.control}"
        yield f"{len(self.access)} paths over the bottleneck"
        yield "another path" if self.own is not None else "no other path"


def draw(seed: int, number: int) -> Shared:
    """The draw ``number`` of a seed."""
    dice = Dice(seed, number, "shared")
    rate, rtt = dice.log(*_RATES), dice.log(*_RTTS)
    discipline = dice.among(("drop-tail", "drop-tail", "codel", "red"))
    bottleneck = Line(rate, rate / dice.log(1.0, 10.0), rtt, dice.log(*_QUEUES) * rtt, discipline)
    access = tuple(rtt * dice.uniform(0.0, 0.5) for _ in range(2 + dice.below(2)))
    own = None
    if dice.chance(0.3):
        own_rate, own_rtt = rate * dice.log(0.3, 3.0), rtt * dice.log(0.3, 3.0)
        own = Line(own_rate, own_rate / dice.log(1.0, 10.0), own_rtt, dice.log(*_QUEUES) * own_rtt)
    rivals, control = 1 + dice.below(4), dice.among(("reno", "cubic"))
    return Shared(seed, number, bottleneck, access, own, rivals, control, rtt * dice.uniform(0.0, 0.5))


def scenario(drawn: Shared, sctp: str | Mapping[str, Any]) -> dict[str, Any]:
    """The transfer over all paths, and the rivals from the hosts ``s`` to ``d``."""
    count = len(drawn.access)
    tight = drawn.bottleneck.link(0) | {"name": "bottleneck", "between": ["west", "east"], "net_id": 0}
    links = [tight]
    for net, rtt in enumerate(drawn.access, 1):
        links += _access("a", "b", net, rtt)
    if drawn.own is not None:
        links.append(drawn.own.link(count + 1))
    links += _access("s", "d", 1, drawn.rival_access)
    made = network(links, [_BUFFER], seed=drawn.seed, title=f"Draw {drawn.number} of kind shared, seed {drawn.seed}")
    routers = [{"name": name, "kind": "router"} for name in ("west", "east")]
    end = START + drawn.timing.length
    rivals = {
        "name": _RIVAL, "client": "s", "server": "d", "networks": [1], "count": drawn.rivals,
        "protocol": "TCP", "tcp": drawn.control,
        "connect_time": {"uniform": ["0 s", time_text(_RIVALS_START)]},
        "stop_time": time_text(end + _RIVALS_START), "frame_rate": "0 Hz",
    }  # fmt: skip
    return {
        **made,
        "node": [*made["node"], host("s"), host("d"), *routers],
        "tcp": {
            "reno": {"send_buffer": "16 MiB"},
            "cubic": {"control": "cubic", "send_buffer": "16 MiB"},
        },
        "window": [{"name": _WINDOW, "from": time_text(START + drawn.timing.warm_up), "to": time_text(end)}],
        "flow": [transfer(sctp, drawn.timing), rivals],
    }


def _access(client: str, server: str, net: int, rtt: float) -> list[dict[str, Any]]:
    """The links of a path in front of the bottleneck and behind it."""
    common = {"net_id": net, "rate": _ACCESS, "delay": time_text(rtt / 4)}
    return [
        {"name": f"{client}-{net}", "between": [client, "west"], **common},
        {"name": f"{server}-{net}", "between": ["east", server], **common},
    ]


def merits(drawn: Shared, together: Result, options: Sequence[str], run: Runner) -> Merits:
    """The rivals' rate beside all paths, divided by that beside one unpaced path with CUBIC, and by the fair share."""
    replicas = run.running.replicas
    plain = scenario(drawn, PAPER)
    one = {**plain, "flow": [{**plain["flow"][0], "networks": [1]}, plain["flow"][1]]}
    beside_one = _rates(run.with_replicas(2 * replicas)("one-path", one))
    first, again = (statistics.fmean(part) for part in (beside_one[:replicas], beside_one[replicas:]))
    found = {name: statistics.fmean(_rates(together, options=name)) for name in options}
    return Merits(
        {
            "kept": {name: rate / first for name, rate in found.items()},
            "share": {name: rate / drawn.fair_share for name, rate in found.items()},
        },
        {"kept": again / first, "share": first / drawn.fair_share},
    )


def _rates(result: Result, **at: str) -> list[float]:
    """The mean throughput of the rivals, one value for each replica."""
    rows = result.scalars.filter(
        pl.col("flow").str.starts_with(_RIVAL), pl.col("quantity") == "throughput_bps", pl.col("window") == _WINDOW,
        pl.col("path").is_null(), *(pl.col(axis) == value for axis, value in at.items()),
    )  # fmt: skip
    return rows.group_by("replica").agg(pl.col("value").mean()).sort("replica")["value"].to_list()


KIND = Kind(
    name="shared",
    about="Two or three paths of a transfer lead over one bottleneck, beside 1 to 4 TCP flows; in three of ten draws "
    "another path does not. Kept: the mean rate of the TCP flows beside all paths, over that beside one path with "
    "CUBIC and without pacing (the options of paper 001). Share: "
    "their mean rate over an equal share of the bottleneck.",
    measures=(
        Measure(
            "kept",
            "What a rival keeps of its rate beside one path",
            "beside one path, again",
            True,
            BAR,
            LIMIT,
            Average.MEDIAN,
        ),
        Measure("share", "What a rival has of its fair share", "beside one path", True, average=Average.MEDIAN),
    ),
    draw=draw,
    scenario=scenario,
    merits=merits,
)
