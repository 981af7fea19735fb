"""The bonding suite: several paths compared with the best of them, and a path that fails.

Each set of options sends one transfer over two different paths, with receive buffers from small to large. It is
compared with the best single path: the faster of both paths alone, with the same buffer, with or without the
recommended options. ``docs/bonding.md`` discusses the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ...result import Result
from ...statistics import Estimate, estimate, finite
from .. import running as suites
from ..running import Report, Runner, Running, ratio
from .topology import FLOW

DEFAULT_REPLICAS = 5
PAPER, RECOMMENDED, FAILOVER = "paper-001", "recommended", "potentially-failed"
NOT_SLOWER = 0.98
"""Least share of the best single path's throughput that an aggregate must reach in every place."""
SUM = 0.92
"""Least share of both links' payload rate to reach with a buffer of 1 MiB or more and without loss."""
OUTAGE = (10.0, 15.0)
"""Start and end of the path failure, in seconds."""
STALL = 1.0
"""Longest time without any arrival that such a failure may cause, in seconds."""
BIN = 0.01
"""The steps in which stalls are measured, in seconds."""

_FIRST, _SECOND = "first", "second"
_PAYLOAD, _PACKET = 1452, 1500
_STEP, _FROM, _UNTIL = 0.25, 5.0, 25.0


@dataclass(frozen=True)
class Topology:
    """The second path beside one of 50 Mbit/s and 20 ms, and the payload rate of both links in bit/s."""

    id: str
    second: Mapping[str, Any]
    ideal: float


@dataclass(frozen=True)
class Place:
    """Topology, loss probability and receive buffer under which sets of options are compared."""

    topology: str
    loss: float
    buffer: str

    @property
    def is_ample(self) -> bool:
        """Whether only the links should limit the throughput in this cell."""
        return self.loss == 0 and self.buffer.endswith("MiB")


@dataclass(frozen=True)
class Cell:
    """Throughput of a set of options over both paths, of the best single path, and of the links, in bit/s."""

    options: str
    place: Place
    found: Estimate
    single: Estimate
    ideal: float

    @property
    def ratio(self) -> Estimate:
        """Throughput divided by that of the best single path."""
        return ratio(self.found, self.single)

    @property
    def share(self) -> float:
        """Throughput divided by the payload rate of both links."""
        return self.found.mean / self.ideal

    @property
    def is_slower(self) -> bool:
        """Whether the aggregate is slower than the best link."""
        return self.ratio.mean < NOT_SLOWER


@dataclass(frozen=True)
class Outage:
    """A path fails: the longest time without any arrival, in seconds, and the throughput meanwhile, in bit/s."""

    options: str
    topology: str
    dead: str
    buffer: str
    stall: Estimate
    meanwhile: Estimate
    course: tuple[tuple[float, float], ...]
    """Points of the first replica: the end of a quarter of a second, and the throughput in it in bit/s."""


@dataclass(frozen=True)
class Table:
    """All measurements of the suite."""

    options: tuple[str, ...]
    cells: list[Cell]
    outages: list[Outage]
    seed: int
    replicas: int

    def topologies(self) -> list[str]:
        """The topologies, in the order of the suite."""
        return list(dict.fromkeys(cell.place.topology for cell in self.cells))

    def of(self, options: str) -> list[Cell]:
        """The cells of a set of options."""
        return [cell for cell in self.cells if cell.options == options]

    def row(self, options: str, topology: str, loss: float) -> list[Cell]:
        """The cells of a set of options in one topology with one loss probability, by size of the buffer."""
        return [c for c in self.of(options) if (c.place.topology, c.place.loss) == (topology, loss)]

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "seed": self.seed,
            "replicas": self.replicas,
            "cells": [
                {
                    "options": cell.options,
                    "topology": cell.place.topology,
                    "loss": cell.place.loss,
                    "buffer": cell.place.buffer,
                    "throughput_bps": as_numbers(cell.found),
                    "best_single_path_bps": as_numbers(cell.single),
                    "ratio": as_numbers(cell.ratio),
                    "ideal_bps": cell.ideal,
                }
                for cell in self.cells
            ],
            "outages": [
                {
                    "options": o.options,
                    "topology": o.topology,
                    "dead": o.dead,
                    "buffer": o.buffer,
                    "stall_s": as_numbers(o.stall),
                    "meanwhile_bps": as_numbers(o.meanwhile),
                }
                for o in self.outages
            ],
        }


def as_numbers(found: Estimate) -> dict[str, float | None]:
    """The mean and the half width of the interval for JSON; the half width of a single run is null."""
    return {"mean": found.mean, "half_width": finite(found.half_width)}


def _base() -> dict[str, Any]:
    return suites.read("bonding", "bonding.toml")


def known() -> tuple[str, ...]:
    """The sets of options that the suite compares."""
    return tuple(_flow(_base())["sctp"]["vary"])


FOR_DRAWS = ("auto",)
"""Sets of options without a size of the buffer, which the suite varies."""


def chosen(names: str | None, *more: str) -> tuple[str, ...]:
    """The sets of options in a list separated by commas, of those of the suite and of ``more``, or all of them."""
    return suites.chosen(names, (*known(), *more), "set of options")


def topologies() -> list[Topology]:
    """The topologies of the suite."""
    entries = suites.read("bonding", "suite.toml")["topology"]
    first = next(link for link in _base()["link"] if link["name"] == _FIRST)
    return [
        Topology(
            entry["id"],
            {
                "rate": entry["rate"],
                "delay": entry["delay"],
                "queue": {"kind": "drop-tail", "bytes": entry["queue"]},
            },
            (_mbps(first["rate"]) + _mbps(entry["rate"])) * 1e6 * _PAYLOAD / _PACKET,
        )
        for entry in entries
    ]


def _mbps(rate: str) -> float:
    value, unit = rate.split()
    if unit != "Mbit/s":
        raise suites.SuiteError(f"the suite `bonding` has the rate `{rate}`: expected a number of Mbit/s")
    return float(value)


def _flow(scenario: Mapping[str, Any]) -> dict[str, Any]:
    return next(flow for flow in scenario["flow"] if flow["name"] == FLOW)


def with_second(base: Mapping[str, Any], topology: Topology) -> dict[str, Any]:
    """The scenario with the second path of a topology."""
    return {**base, "link": [{**link, **topology.second} if link["name"] == _SECOND else link for link in base["link"]]}


def with_options(base: Mapping[str, Any], names: Sequence[str], **changes: Any) -> dict[str, Any]:
    """The scenario varied over sets of options, with other changes of the flow."""
    varied = {"name": "options", "vary": list(names)}
    return {**base, "flow": [{**_flow(base), "sctp": varied, **changes}]}


def with_outage(base: Mapping[str, Any], dead: str) -> dict[str, Any]:
    """The scenario without loss, with a link that fails for a while, and a probe of the throughput every 10 ms."""

    def link(old: Mapping[str, Any]) -> dict[str, Any]:
        down = {"down": [[f"{OUTAGE[0]:g} s", f"{OUTAGE[1]:g} s"]]} if old["name"] == dead else {}
        return {key: value for key, value in old.items() if key != "loss"} | down

    probe = {
        "quantity": "throughput", "flow": FLOW, "every": f"{BIN * 1e3:g} ms",
        "from": f"{_FROM:g} s", "to": f"{_UNTIL:g} s",
    }  # fmt: skip
    changed = with_options(base, [PAPER, FAILOVER, RECOMMENDED], stop_time=f"{_UNTIL:g} s")
    return {**changed, "link": list(map(link, base["link"])), "probe": [probe]}


def sweeps() -> int:
    """The number of sweeps of :func:`measure`: four for each topology."""
    return 4 * len(topologies())


def measure(running: Running, names: tuple[str, ...], report: Report | None = None) -> Table:
    """Runs the suite; finished runs of an earlier, stopped one are reused."""
    base = _base()
    cells: list[Cell] = []
    outages: list[Outage] = []
    for topology in topologies():
        scenario = with_second(base, topology)
        run = Runner(topology.id.replace(" ", "-"), running, report)
        alone = {"name": "network", "vary": [[1], [2]]}
        singles = run("single", with_options(scenario, [PAPER, RECOMMENDED], networks=alone))
        cells += _cells(topology, run("both", with_options(scenario, names)), singles)
        for dead in (_FIRST, _SECOND):
            outages += _outages(topology, dead, run(f"{dead}-dies", with_outage(scenario, dead)))
    return Table(names, cells, outages, running.seed_of(base), running.replicas)


_Key = tuple[Any, ...]


def _throughputs(result: Result, *axes: str) -> dict[_Key, Estimate]:
    """The throughput of the transfer for each combination of some axes."""
    groups = throughput_rows(result).group_by(*axes, maintain_order=True)
    return {key: estimate(group["value"].to_list()) for key, group in groups}


def throughput_rows(result: Result) -> pl.DataFrame:
    """The rows of the transfer's throughput in bit/s, one for each run, ordered by replica."""
    rows = pl.col("flow") == FLOW, pl.col("quantity") == "throughput_bps", pl.col("path").is_null()
    return result.scalars.filter(*rows).sort("replica", maintain_order=True)


def _cells(topology: Topology, both: Result, singles: Result) -> Iterator[Cell]:
    alone = _throughputs(singles, "loss", "buffer", "options", "network")
    for (loss, buffer, options), found in _throughputs(both, "loss", "buffer", "options").items():
        best = max((one for key, one in alone.items() if key[:2] == (loss, buffer)), key=lambda one: one.mean)
        yield Cell(str(options), Place(topology.id, float(loss), str(buffer)), found, best, topology.ideal)


def longest_stall(bins: Sequence[float]) -> float:
    """The longest time without any arrival, in seconds, in a series of throughputs every 10 ms."""
    longest = now = 0
    for rate in bins:
        now = 0 if rate > 0 else now + 1
        longest = max(longest, now)
    return longest * BIN


def _outages(topology: Topology, dead: str, result: Result) -> Iterator[Outage]:
    runs = result.scalars.select("run", "options", "buffer").unique(maintain_order=True)
    by_run = {key[0]: rows.sort("time") for key, rows in result.series.group_by("run", maintain_order=True)}
    for (options, buffer), replicas in runs.group_by("options", "buffer", maintain_order=True):
        samples = [by_run[run] for run in replicas["run"]]
        after = [rows.filter(pl.col("time") > OUTAGE[0])["value"].to_list() for rows in samples]
        during = [rows.filter(pl.col("time").is_between(*OUTAGE, closed="right"))["value"] for rows in samples]
        stall = estimate([longest_stall(bins) for bins in after])
        meanwhile = estimate([float(bins.mean() or 0.0) for bins in during])  # pyright: ignore[reportArgumentType]
        yield Outage(str(options), topology.id, dead, str(buffer), stall, meanwhile, _course(samples[0]))


def _course(rows: pl.DataFrame) -> tuple[tuple[float, float], ...]:
    steps = rows.group_by(((pl.col("time") - 1e-6) / _STEP).floor().alias("step"), maintain_order=True)
    return tuple(((step + 1) * _STEP, value) for step, value in steps.agg(pl.col("value").mean()).iter_rows())
