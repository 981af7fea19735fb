"""The bonding suite: whether the aggregate is slower than the best link, and what a path that dies costs the other.

Sets of options, schedulers among them, carry one transfer over two paths of unlike kind, with receive buffers of all
sizes. Beside each stands the best single path: over either path alone, with the same congestion control and buffer, and
with or without the recommended options, whichever is faster. `docs/bonding.md` tells what it shows.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from . import suites
from .result import Result
from .statistics import Estimate, estimate
from .suites import Report, Runner, Running, ratio

DEFAULT_REPLICAS = 5
PAPER, RECOMMENDED, FAILOVER = "paper-001", "recommended", "potentially-failed"
NOT_SLOWER = 0.98
"""Of the best single path: what an aggregate has to reach in every place."""
SUM = 0.92
"""Of the payload that the links carry together, with a buffer of 1 MiB or more and without loss."""
OUTAGE = (10.0, 15.0)
"""From when to when a path is dead, in seconds."""
STALL = 1.0
"""How long the other path may stand still for that, in seconds."""

_FLOW, _FIRST, _SECOND = "transfer", "first", "second"
_PAYLOAD, _PACKET = 1452, 1500
_BIN, _STEP, _FROM, _UNTIL = 0.01, 0.25, 5.0, 25.0


@dataclass(frozen=True)
class Topology:
    """The second path beside one of 50 Mbit/s and 20 ms, and what the links carry of payload together."""

    id: str
    second: Mapping[str, Any]
    ideal: float


@dataclass(frozen=True)
class Place:
    """Where sets of options are compared."""

    topology: str
    loss: float
    buffer: str

    @property
    def is_ample(self) -> bool:
        """Whether nothing but the links should limit there."""
        return self.loss == 0 and self.buffer.endswith("MiB")


@dataclass(frozen=True)
class Cell:
    """What a set of options gets out of both paths, in bit/s, beside the best single path and the sum."""

    options: str
    place: Place
    found: Estimate
    single: Estimate
    ideal: float

    @property
    def ratio(self) -> Estimate:
        """To the best single path."""
        return ratio(self.found, self.single)

    @property
    def share(self) -> float:
        """Of the payload that the links carry together."""
        return self.found.mean / self.ideal

    @property
    def is_slower(self) -> bool:
        """The aggregate is slower than the best link."""
        return self.ratio.mean < NOT_SLOWER


@dataclass(frozen=True)
class Outage:
    """A path dies: the longest time in which nothing arrived, in seconds, and what arrived meanwhile, in bit/s."""

    options: str
    topology: str
    dead: str
    buffer: str
    stall: Estimate
    meanwhile: Estimate
    course: tuple[tuple[float, float], ...]
    """Of the first replica: throughput in bit/s, by the quarter of a second that ends then."""


@dataclass(frozen=True)
class Table:
    """All that was measured."""

    options: tuple[str, ...]
    cells: list[Cell]
    outages: list[Outage]
    seed: int
    replicas: int

    def topologies(self) -> list[str]:
        """In the order of the suite."""
        return list(dict.fromkeys(cell.place.topology for cell in self.cells))

    def of(self, options: str) -> list[Cell]:
        """The cells of a set of options."""
        return [cell for cell in self.cells if cell.options == options]

    def row(self, options: str, topology: str, loss: float) -> list[Cell]:
        """By size of the buffer."""
        return [c for c in self.of(options) if (c.place.topology, c.place.loss) == (topology, loss)]

    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "seed": self.seed,
            "replicas": self.replicas,
            "cells": [
                {
                    "options": cell.options,
                    "topology": cell.place.topology,
                    "loss": cell.place.loss,
                    "buffer": cell.place.buffer,
                    "throughput_bps": _plain(cell.found),
                    "best_single_path_bps": _plain(cell.single),
                    "ratio": _plain(cell.ratio),
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
                    "stall_s": _plain(o.stall),
                    "meanwhile_bps": _plain(o.meanwhile),
                }
                for o in self.outages
            ],
        }


def _plain(found: Estimate) -> dict[str, float | None]:
    return {"mean": found.mean, "half_width": found.half_width if math.isfinite(found.half_width) else None}


def _base() -> dict[str, Any]:
    path = suites.description("bonding").with_name("bonding.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def known() -> tuple[str, ...]:
    """The sets of options that the suite compares."""
    return tuple(_flow(_base())["sctp"]["vary"])


def chosen(names: str | None) -> tuple[str, ...]:
    """The sets of options named, separated by commas; all of them if none is."""
    return suites.chosen(names, known(), "set of options")


def topologies() -> list[Topology]:
    """The topologies of the suite."""
    entries = tomllib.loads(suites.description("bonding").read_text(encoding="utf-8"))["topology"]
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
        raise suites.SuiteError(f"rates of the bonding suite are in Mbit/s, not {rate}")
    return float(value)


def _flow(scenario: Mapping[str, Any]) -> dict[str, Any]:
    return next(flow for flow in scenario["flow"] if flow["name"] == _FLOW)


def with_second(base: Mapping[str, Any], topology: Topology) -> dict[str, Any]:
    """The scenario with the second path of a topology."""
    return {**base, "link": [{**link, **topology.second} if link["name"] == _SECOND else link for link in base["link"]]}


def with_options(base: Mapping[str, Any], names: Sequence[str], **changes: Any) -> dict[str, Any]:
    """The scenario with these sets of options, one after the other, and other changes of the flow."""
    varied = {"name": "options", "vary": list(names)}
    return {**base, "flow": [{**_flow(base), "sctp": varied, **changes}]}


def with_outage(base: Mapping[str, Any], dead: str) -> dict[str, Any]:
    """The scenario without loss, with a link that fails for a while, and what arrives in steps of 10 ms."""

    def link(old: Mapping[str, Any]) -> dict[str, Any]:
        down = {"down": [[f"{OUTAGE[0]:g} s", f"{OUTAGE[1]:g} s"]]} if old["name"] == dead else {}
        return {key: value for key, value in old.items() if key != "loss"} | down

    probe = {
        "quantity": "throughput", "flow": _FLOW, "every": f"{_BIN * 1e3:g} ms",
        "from": f"{_FROM:g} s", "to": f"{_UNTIL:g} s",
    }  # fmt: skip
    changed = with_options(base, [PAPER, FAILOVER, RECOMMENDED], stop_time=f"{_UNTIL:g} s")
    return {**changed, "link": list(map(link, base["link"])), "probe": [probe]}


def measure(running: Running, names: tuple[str, ...], report: Report | None = None) -> Table:
    """Runs the suite; one that was stopped goes on where it was."""
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
    seed = int(base["seed"]) if running.seed is None else running.seed
    return Table(names, cells, outages, seed, running.replicas)


_Key = tuple[Any, ...]


def _throughputs(result: Result, *axes: str) -> dict[_Key, Estimate]:
    """Of the transfer, by the values of some axes, in their order."""
    rows = result.scalars.filter(
        pl.col("flow") == _FLOW, pl.col("quantity") == "throughput_bps", pl.col("path").is_null()
    )
    groups = rows.group_by(*axes, maintain_order=True)
    return {key: estimate(group.sort("replica")["value"].to_list()) for key, group in groups}


def _cells(topology: Topology, both: Result, singles: Result) -> Iterator[Cell]:
    alone = _throughputs(singles, "loss", "buffer", "options", "network")
    for (loss, buffer, options), found in _throughputs(both, "loss", "buffer", "options").items():
        best = max((one for key, one in alone.items() if key[:2] == (loss, buffer)), key=lambda one: one.mean)
        yield Cell(str(options), Place(topology.id, float(loss), str(buffer)), found, best, topology.ideal)


def longest_stall(bins: Sequence[float]) -> float:
    """The longest time without anything, in seconds, of throughputs in steps of 10 ms."""
    longest = now = 0
    for rate in bins:
        now = 0 if rate > 0 else now + 1
        longest = max(longest, now)
    return longest * _BIN


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
