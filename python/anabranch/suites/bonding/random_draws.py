"""``anabranch bonding --random``: random topologies, each with all paths together and each path alone."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from ...result import Result
from ...scenario import to_toml
from ...statistics import Estimate, estimate
from ..running import Report, Runner, Running, ratio, under_name
from . import bound
from .bound import Bound
from .draws import Draw, draw
from .measure import BIN, NOT_SLOWER, PAPER, RECOMMENDED, STALL, as_numbers, longest_stall, throughput_rows
from .topology import FLOW, START, Line, alone, scenario, time_text

SETS = (PAPER, "lowest-rtt", "ecf", RECOMMENDED)
"""The sets of options that run over all paths if the user names none; each path alone has the recommended ones."""
SUM = 0.95
"""Share of the sum that the median of all draws with an ample buffer must reach."""
RERUNS = 8
"""Number of further runs of a draw below the target. They show whether it is below on average, or in one run only."""
LATER = 0.001
"""The best path alone runs once more, and begins this number of seconds later: what chance does to the ratio."""
MOST_ACKS = 0.03
"""Bytes of acknowledgements for each byte of data at most."""
MOST_RETURN = 0.6
"""Share of any return link that acknowledgements may take."""
AFTER = 10.0
"""Time after a repair in which stalls still count, in seconds."""


@dataclass(frozen=True)
class Failure:
    """Time that the failures of paths cost in one draw, in seconds."""

    stall: float
    """The longest time without any arrival from the first failure on, with the recommended options."""
    floor: float
    """The shortest stall that such a failure can cause."""
    survivor: float
    """The longest time without any arrival over the best of the surviving paths alone, in the same interval."""
    otherwise: float
    """The longest time without any arrival over all paths in this interval if none of them fails."""

    @property
    def is_long(self) -> bool:
        """Whether the stall exceeds the target."""
        return self.stall > STALL

    @property
    def can_be_met(self) -> bool:
        """Whether the target can be met: the floor, the best survivor, and all paths without a failure are below it."""
        return max(self.floor, self.survivor, self.otherwise) <= STALL


@dataclass(frozen=True)
class Acks:
    """Bytes of acknowledgements in one draw with the recommended options; the largest value of all replicas."""

    share: float
    """Bytes of acknowledgements for each byte of data."""
    of_return: float
    """The largest share of the rate of a return link that they take."""


@dataclass(frozen=True)
class Outcome:
    """The throughputs of one draw in bit/s, one for each replica."""

    draw: Draw
    together: Mapping[str, list[float]]
    """Throughput over all paths, by set of options."""
    singles: list[list[float]]
    """Throughput over each path alone."""
    failure: Failure | None
    later: list[float]
    """Throughput over the best path alone, which starts ``LATER`` seconds later."""
    acks: Acks = Acks(0.0, 0.0)
    rerun: Estimate | None = None
    """Ratio of the mean throughputs of ``RERUNS`` further runs to those of the best single path. None if not slower."""

    @cached_property
    def alone(self) -> list[float]:
        """The throughput of each path alone, the mean over the replicas."""
        return [statistics.fmean(samples) for samples in self.singles]

    @cached_property
    def best(self) -> int:
        """The index of the best single path."""
        return max(range(len(self.alone)), key=self.alone.__getitem__)

    @cached_property
    def bound(self) -> Bound:
        """Throughput that no scheduler can exceed."""
        return bound.throughput(self.draw.lines, self.alone, self.draw.buffer, max(self.alone))

    def ratio(self, options: str = RECOMMENDED) -> Estimate:
        """Throughput divided by that of the best single path."""
        pairs = zip(self.together[options], self.singles[self.best], strict=True)
        return estimate([found / one if one > 0 else 1.0 for found, one in pairs])

    def regret(self, options: str = RECOMMENDED) -> float:
        """The share of the bound that the transfer did not carry, zero if it carried more.

        The bound is computed from the throughput of each path alone. A path that waits for timeouts when it is alone
        may carry more beside other paths, so a transfer may exceed the bound.
        """
        return max(0.0, 1 - statistics.fmean(self.together[options]) / self.bound.bps) if self.bound.bps > 0 else 0.0

    @property
    def itself(self) -> float:
        """Throughput of the best path alone, started ``LATER`` later, divided by that without: the effect of chance."""
        one = self.alone[self.best]
        return statistics.fmean(self.later) / one if one > 0 else 1.0

    def share(self, options: str = RECOMMENDED) -> float:
        """Throughput divided by the sum of the throughputs of each path alone."""
        total = sum(self.alone)
        return statistics.fmean(self.together[options]) / total if total > 0 else 1.0

    @property
    def is_slower(self) -> bool:
        """Whether the recommended options miss the target for the ratio to the best single path."""
        return self.ratio().mean < NOT_SLOWER

    @property
    def is_slower_on_average(self) -> bool:
        """Whether the ratio of the further runs is below the target, too."""
        return self.rerun is not None and self.rerun.mean < NOT_SLOWER

    @property
    def is_surely_slower(self) -> bool:
        """Whether the 95 % interval of that ratio lies below the target."""
        return self.rerun is not None and self.rerun.high < NOT_SLOWER

    @property
    def sum_can_be_met(self) -> bool:
        """Whether some scheduler could reach the target for the share of the sum."""
        return not self.draw.is_short and self.bound.bps >= SUM * sum(self.alone)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "draw": self.draw.number,
            "command": self.draw.command,
            "paths": [vars(line) for line in self.draw.lines],
            "buffer": self.draw.buffer,
            "length_s": self.draw.timing.length,
            "ample_buffer": self.draw.is_ample,
            "short": self.draw.is_short,
            "together_bps": {name: statistics.fmean(samples) for name, samples in self.together.items()},
            "alone_bps": self.alone,
            "bound_bps": self.bound.bps,
            "bound_by": self.bound.limit,
            "ratio": as_numbers(self.ratio()),
            "regret": {name: self.regret(name) for name in self.together},
            "share_of_sum": self.share(),
            "slower_than_best_path": self.is_slower,
            "best_path_over_itself": self.itself,
            "acks": vars(self.acks),
            "ratio_again": None if self.rerun is None else as_numbers(self.rerun),
            "failure": None if self.failure is None else self._failure(self.failure),
        }

    @staticmethod
    def _failure(failure: Failure) -> dict[str, Any]:
        return {
            "stall_s": failure.stall,
            "least_possible_s": failure.floor,
            "best_survivor_alone_s": failure.survivor,
            "without_failure_s": failure.otherwise,
            "can_be_met": failure.can_be_met,
        }


@dataclass(frozen=True)
class Distribution:
    """The outcomes of all draws."""

    outcomes: list[Outcome]
    seed: int
    replicas: int
    sets: tuple[str, ...] = SETS
    """The sets of options that ran over all paths."""

    @property
    def slower(self) -> list[Outcome]:
        """The draws in which the aggregate is slower than the best single path."""
        return [outcome for outcome in self.outcomes if outcome.is_slower]

    @property
    def slower_on_average(self) -> list[Outcome]:
        """The draws of ``slower`` whose further runs are below the target on average, too."""
        return [outcome for outcome in self.outcomes if outcome.is_slower_on_average]

    @property
    def surely_slower(self) -> list[Outcome]:
        """The draws of ``slower`` whose further runs have a 95 % interval below the target."""
        return [outcome for outcome in self.outcomes if outcome.is_surely_slower]

    @property
    def ample(self) -> list[Outcome]:
        """The draws to which the target for the sum applies: with an ample buffer, and a sum that can be reached."""
        return [outcome for outcome in self.outcomes if outcome.draw.is_ample and outcome.sum_can_be_met]

    def median_share(self, options: str = RECOMMENDED) -> float | None:
        """The median share of the sum in the draws with an ample buffer."""
        shares = [outcome.share(options) for outcome in self.ample]
        return statistics.median(shares) if shares else None

    def regret(self, options: str = RECOMMENDED) -> Estimate:
        """The mean regret to the bound over all draws."""
        return estimate([outcome.regret(options) for outcome in self.outcomes])

    @property
    def failures(self) -> list[tuple[Outcome, Failure]]:
        """The draws in which paths fail."""
        return [(outcome, outcome.failure) for outcome in self.outcomes if outcome.failure is not None]

    @property
    def stalled(self) -> list[Outcome]:
        """The draws with a stall above the target that some scheduler could avoid."""
        return [outcome for outcome, failure in self.failures if failure.is_long and failure.can_be_met]

    @property
    def talkative(self) -> list[Outcome]:
        """The draws with more acknowledgements than the target allows."""
        return [outcome for outcome in self.outcomes if outcome.acks.share > MOST_ACKS]

    @property
    def full_returns(self) -> list[Outcome]:
        """The draws in which acknowledgements take more of a return link than the target allows."""
        return [outcome for outcome in self.outcomes if outcome.acks.of_return > MOST_RETURN]

    @property
    def is_missed(self) -> bool:
        """Whether any target is missed."""
        share = self.median_share()
        below = share is not None and share < SUM
        return bool(self.slower or self.stalled or below or self.talkative or self.full_returns)

    def worst(self, count: int = 10) -> list[Outcome]:
        """The draws with the least ratio to the best single path."""
        return sorted(self.outcomes, key=lambda outcome: outcome.ratio().mean)[:count]

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "seed": self.seed,
            "replicas": self.replicas,
            "targets": {
                "best_single_path": {
                    "least": NOT_SLOWER,
                    "draws": len(self.outcomes),
                    "missed": len(self.slower),
                    "missed_again": len(self.slower_on_average),
                    "missed_beyond_interval": len(self.surely_slower),
                    "missed_by_best_path_itself": sum(outcome.itself < NOT_SLOWER for outcome in self.outcomes),
                },
                "sum": {"least_median": SUM, "draws": len(self.ample), "median": self.median_share()},
                "stall": {
                    "most_s": STALL,
                    "draws": len(self.failures),
                    "cannot_be_met": sum(not failure.can_be_met for _, failure in self.failures),
                    "missed": len(self.stalled),
                },
                "acks": {"most_share": MOST_ACKS, "missed": len(self.talkative)},
                "return_links": {"most_share": MOST_RETURN, "missed": len(self.full_returns)},
            },
            "regret": {name: as_numbers(self.regret(name)) for name in self.sets},
            "missed": self.is_missed,
            "draws": [outcome.as_dict() for outcome in self.outcomes],
        }


def measure(
    seed: int, numbers: Sequence[int], running: Running, report: Report | None = None, options: Sequence[str] = SETS
) -> Distribution:
    """Runs the draws of a seed; finished runs of an earlier, stopped call are reused.

    The recommended options always run, because the targets apply to them.
    """
    sets = tuple(dict.fromkeys((*options, RECOMMENDED)))

    def outcome(number: int) -> Outcome:
        return _outcome(draw(seed, number), sets, running, under_name(report, str(number)))

    return Distribution([outcome(number) for number in numbers], seed, running.replicas, sets)


def scenarios(draw: Draw, sets: Sequence[str] = SETS) -> Iterator[tuple[str, dict[str, Any]]]:
    """The scenarios of a draw: ``together`` with each set of options, each path ``alone``, and ``without-failure``."""

    def varied(options: Sequence[str], lines: Sequence[Line] = draw.lines) -> dict[str, Any]:
        title = f"Draw {draw.number} of `anabranch bonding --random`, seed {draw.seed}"
        made = scenario(lines, [draw.buffer], draw.timing, options, seed=draw.root_seed, title=title)
        if window is None:
            return made
        start, end = (f"{START + at:.2f} s" for at in window)
        every = f"{BIN * 1e3:g} ms"
        return made | {"probe": [{"quantity": "throughput", "flow": FLOW, "every": every, "from": start, "to": end}]}

    window = _failing(draw)
    yield "together", varied(sets)
    yield "alone", alone(varied([RECOMMENDED]), len(draw.lines))
    if window is not None:
        yield "without-failure", varied([RECOMMENDED], [replace(line, outage=None) for line in draw.lines])


def _failing(draw: Draw) -> tuple[float, float] | None:
    """The time from the first failure until ``AFTER`` seconds after the last repair, since the transfer started."""
    outages = [line.outage for line in draw.lines if line.outage is not None]
    if not outages:
        return None
    # The transfer begins up to 100 ms later than START: no bin is after its end.
    return min(start for start, _ in outages), min(max(end for _, end in outages) + AFTER, draw.timing.length)


def _outcome(draw: Draw, sets: Sequence[str], running: Running, report: Report | None) -> Outcome:
    name = f"draw-{draw.seed}-{draw.number}"
    run = Runner(name, Running(running.out, running.replicas, draw.root_seed, running.jobs), report)
    made = dict(scenarios(draw, sets))
    results = {kind: run(kind, varied) for kind, varied in made.items()}
    _write(running.out / "scenarios" / f"{name}.toml", _recommended(made["together"]))
    found = _throughputs(results["together"], "options")
    apart = _throughputs(results["alone"], "network")
    outcome = Outcome(
        draw,
        {options: found[options] for options in sets},
        [apart[f"[{number}]"] for number in range(1, len(draw.lines) + 1)],
        _failure(draw, results),
        [],
        _acks(draw, results["together"]),
    )
    later = throughput_rows(run("later", _on_best(outcome, made, START + LATER)))["value"].to_list()
    outcome = replace(outcome, later=later)
    return replace(outcome, rerun=_rerun(outcome, made, run)) if outcome.is_slower else outcome


def _rerun(outcome: Outcome, made: Mapping[str, dict[str, Any]], run: Runner) -> Estimate:
    """The ratio in further runs, without the first runs: these were selected for being slow, so they bias the mean."""
    first = run.running.replicas
    more = run.with_replicas(first + RERUNS)
    plain = _recommended(made["together"])
    estimates = [
        estimate(throughput_rows(more(name, varied))["value"].to_list()[first:])
        for name, varied in (("together-again", plain), ("alone-again", _on_best(outcome, made, START)))
    ]
    return ratio(*estimates) if estimates[1].mean > 0 else estimate([1.0])


def _recommended(varied: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario with the recommended options alone."""
    return {**varied, "flow": [{**varied["flow"][0], "sctp": RECOMMENDED}]}


def _on_best(outcome: Outcome, made: Mapping[str, dict[str, Any]], start: float) -> dict[str, Any]:
    """The scenario with the recommended options on the best path alone, from ``start`` seconds on."""
    plain = _recommended(made["together"])
    flow = {**plain["flow"][0], "networks": [outcome.best + 1], "start_time": time_text(start)}
    return {**plain, "flow": [flow]}


def _write(path: Path, scenario: Mapping[str, Any]) -> None:
    """Writes the scenario for `anabranch run`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_toml(scenario), encoding="utf-8")


def _throughputs(result: Result, axis: str) -> dict[str, list[float]]:
    """The throughput of each replica by the value of an axis. A flow that never connected has none: zero."""
    groups = throughput_rows(result).group_by(axis, maintain_order=True)
    return {str(key[0]): group["value"].to_list() for key, group in groups}


def _acks(draw: Draw, result: Result) -> Acks:
    """The bytes of acknowledgements with the recommended options, over the same interval as the throughput."""
    rows = result.scalars.filter(pl.col("options") == RECOMMENDED, pl.col("flow") == FLOW)
    shares, parts = [0.0], [0.0]
    for _, run in rows.group_by("run"):
        of_flow, of_paths = run.filter(pl.col("path").is_null()), run.filter(pl.col("path").is_not_null())
        total = dict(of_flow.select("quantity", "value").iter_rows())
        if not total.get("throughput_bps"):
            continue
        shares.append(total["ack_share"])
        seconds = 8 * total["received_bytes"] / total["throughput_bps"]
        by_path = of_paths.filter(pl.col("quantity") == "ack_bytes").select("path", "value").iter_rows()
        parts.extend(8 * sent / seconds / draw.lines[path].back for path, sent in by_path)
    return Acks(max(shares), max(parts))


def _failure(draw: Draw, results: Mapping[str, Result]) -> Failure | None:
    if "without-failure" not in results:
        return None
    dying = [number for number, line in enumerate(draw.lines, 1) if line.outage is not None]
    living = [number for number in range(1, len(draw.lines) + 1) if number not in dying]
    loaded = _loaded(results["alone"], draw)
    survivors = [(draw.lines[number - 1], loaded[number]) for number in living]
    gaps = _stalls(results["alone"], "network")
    return Failure(
        _stalls(results["together"], "options")[RECOMMENDED],
        max(bound.stall(draw.lines[number - 1], survivors) for number in dying),
        min(gaps[f"[{number}]"] for number in living),
        _stalls(results["without-failure"], "options")[RECOMMENDED],
    )


def _loaded(singles: Result, draw: Draw) -> dict[int, float]:
    """The RTT under load of each path by its number, when it is alone."""
    rows = singles.scalars.filter(pl.col("flow") == FLOW, pl.col("quantity") == "srtt_s", pl.col("path").is_not_null())
    found = {str(key[0]): group["value"].to_list() for key, group in rows.group_by("network", maintain_order=True)}
    return {
        number: max(line.rtt, statistics.fmean(found.get(f"[{number}]", [line.rtt])))
        for number, line in enumerate(draw.lines, 1)
    }


def _stalls(result: Result, axis: str) -> dict[str, float]:
    """The longest time without any arrival, the largest of all replicas, by the value of an axis."""
    runs = dict(result.scalars.select("run", axis).unique(maintain_order=True).iter_rows())
    longest: dict[str, float] = {}
    for key, rows in result.series.group_by("run", maintain_order=True):
        value = str(runs[key[0]])
        longest[value] = max(longest.get(value, 0.0), longest_stall(rows.sort("time")["value"].to_list()))
    return longest


def kinds(outcome: Outcome) -> Iterator[str]:
    """The kinds of topologies that a draw belongs to, for the table of all kinds."""
    draw, lines = outcome.draw, outcome.draw.lines
    yield f"{len(lines)} paths"
    product = sum(line.rate for line in lines) * draw.longest_rtt / 8
    sizes = ("below 0.1", 0.1), ("0.1 to 0.5", 0.5), ("0.5 to 2", 2.0), ("2 or more", math.inf)
    size = next(name for name, end in sizes if draw.buffer < end * product)
    yield f"buffer {size} rates times longest RTT"
    yield from {line.discipline for line in lines}
    tests = {
        "loss above 0.3 %": any(line.loss > 0.003 for line in lines),
        "losses in bursts": any(line.burst > 1 for line in lines),
        "no loss": not any(line.loss for line in lines),
        "jitter above 2 ms": any(line.jitter > 0.002 for line in lines),
        "return link below 1/20": any(line.back < line.rate / 20 for line in lines),
        "rate that varies": any(line.varies for line in lines),
        "path that dies": any(line.outage for line in lines),
        "short": draw.is_short,
    }
    yield from (name for name, holds in tests.items() if holds)
