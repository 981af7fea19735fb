"""Kinds of random draws: what a kind is, its figures of merit, and the runner that all kinds share."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from ....result import Result
from ....scenario import to_toml
from ....statistics import estimate
from ...running import Report, Runner, Running, under_name
from ..draws import root_seed
from ..measure import PAPER, RECOMMENDED
from ..topology import varied

DEFAULT_OPTIONS = (PAPER, RECOMMENDED)
"""The sets of options that run if the user names none."""


class Average(StrEnum):
    """The kind of average over all draws.

    Ratios of times have the geometric mean: it is 1 if only chance makes a difference, and a draw with a timeout does
    not outweigh all others.
    """

    MEAN = "mean"
    GEOMETRIC = "geometric mean"
    MEDIAN = "median"


@dataclass(frozen=True)
class Measure:
    """A figure of merit: one number for each draw and set of options."""

    key: str
    title: str
    chance: str
    """The label of the row of :attr:`Merits.chance` in tables."""
    at_least: bool
    """Whether larger is better."""
    bar: float | None = None
    """Value that the average over all draws has to reach."""
    limit: float | None = None
    """Value that each draw has to reach."""
    average: Average = Average.MEAN
    """The kind of average over all draws."""

    def misses(self, value: float, target: float | None) -> bool:
        """Whether a value misses a target."""
        return target is not None and (value < target if self.at_least else value > target)

    def worst(self, values: Sequence[float]) -> int:
        """The index of the worst value."""
        pick = min if self.at_least else max
        return pick(range(len(values)), key=values.__getitem__)


@dataclass(frozen=True)
class Middle:
    """The average over all draws, with its 95 % interval; the ends of an unknown interval are infinite."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float], average: Average) -> Middle:
        """The average of the values of independent draws, with its interval."""
        if average is Average.MEDIAN:
            return cls._median(sorted(values))
        if average is Average.MEAN:
            found = estimate(values)
            return cls(found.mean, found.low, found.high)
        found = estimate([math.log(value) for value in values])
        ends = (math.exp(found.low), math.exp(found.high)) if found.count > 1 else (-math.inf, math.inf)
        return cls(math.exp(found.mean), *ends)

    @classmethod
    def _median(cls, ranked: Sequence[float]) -> Middle:
        """The interval of a median reaches from the k-th least to the k-th largest value.

        k is the largest number for which fewer than k of n fair coins show heads with a probability of at most 2.5 %.
        """
        count, k, below = len(ranked), 0, 0.0
        while (below := below + math.comb(count, k) / 2**count) <= 0.025:
            k += 1
        ends = (ranked[k - 1], ranked[-k]) if k else (-math.inf, math.inf)
        return cls(statistics.median(ranked), *ends)


@dataclass(frozen=True)
class Merits:
    """The figures of merit of one draw."""

    found: Mapping[str, Mapping[str, float]]
    """The figures of merit, by key of the measure and set of options."""
    chance: Mapping[str, float]
    """By key: the value of the measure if the reference runs are compared with repetitions of themselves."""


class Drawn(Protocol):
    """The common interface of draws of all kinds."""

    def __str__(self) -> str:
        """The draw in a few words, for tables."""
        ...

    def groups(self) -> Iterator[str]:
        """The groups to which the draw belongs, for the table of all groups."""
        ...


D = TypeVar("D", bound=Drawn)


@dataclass(frozen=True)
class Kind(Generic[D]):
    """A kind of draws: what is drawn, its scenario, and its figures of merit."""

    name: str
    about: str
    """The name of the measured quantities, for the text before the tables."""
    measures: tuple[Measure, ...]
    draw: Callable[[int, int], D]
    """The draw of a seed and a number."""
    scenario: Callable[[D, str | Mapping[str, Any]], dict[str, Any]]
    """The scenario over all paths with a set of options, or one that varies over several."""
    merits: Callable[[D, Result, Sequence[str], Runner], Merits]
    """The figures of merit, from the result of the scenario over all paths and further runs."""

    def command(self, seed: int, number: int) -> str:
        """The command that runs one draw alone."""
        return f"anabranch bonding --random 1 --kind {self.name} --seed {seed} --draw {number}"


@dataclass(frozen=True)
class Outcome:
    """One draw and its figures of merit."""

    seed: int
    number: int
    command: str
    about: str
    groups: tuple[str, ...]
    merits: Merits


@dataclass(frozen=True)
class Distribution:
    """The outcomes of all draws."""

    kind: Kind[Any]
    options: tuple[str, ...]
    outcomes: list[Outcome]
    replicas: int

    @cached_property
    def seeds(self) -> list[int]:
        """The seeds of the draws."""
        return list(dict.fromkeys(outcome.seed for outcome in self.outcomes))

    def values(self, measure: Measure, options: str | None = RECOMMENDED) -> list[float]:
        """One figure of merit of all draws; with ``options`` None, the values of chance."""
        if options is None:
            return [outcome.merits.chance[measure.key] for outcome in self.outcomes]
        return [outcome.merits.found[measure.key][options] for outcome in self.outcomes]

    def middle(self, measure: Measure, options: str | None = RECOMMENDED) -> Middle:
        """The average over all draws."""
        return Middle.of(self.values(measure, options), measure.average)

    def missed(self, measure: Measure, options: str | None = RECOMMENDED) -> int:
        """The number of draws that miss the target of each draw (``limit``)."""
        return sum(measure.misses(value, measure.limit) for value in self.values(measure, options))

    def worst(self, count: int = 10) -> list[Outcome]:
        """The draws with the worst first figure of merit, with the recommended options."""
        first = self.kind.measures[0]
        sign = 1 if first.at_least else -1
        return sorted(self.outcomes, key=lambda outcome: sign * outcome.merits.found[first.key][RECOMMENDED])[:count]

    @property
    def is_missed(self) -> bool:
        """Whether the recommended options miss any target."""
        return any(
            measure.misses(self.middle(measure).value, measure.bar) or self.missed(measure) > 0
            for measure in self.kind.measures
        )

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "kind": self.kind.name,
            "seeds": self.seeds,
            "replicas": self.replicas,
            "measures": {measure.key: self._measure(measure) for measure in self.kind.measures},
            "missed": self.is_missed,
            "draws": [
                {
                    "seed": outcome.seed,
                    "draw": outcome.number,
                    "command": outcome.command,
                    "what": outcome.about,
                    "groups": outcome.groups,
                    "found": outcome.merits.found,
                    "chance": outcome.merits.chance,
                }
                for outcome in self.outcomes
            ],
        }

    def _measure(self, measure: Measure) -> dict[str, Any]:
        rows: Iterator[str | None] = iter((*self.options, None))
        return {
            "title": measure.title,
            "average": measure.average,
            "bar": measure.bar,
            "limit": measure.limit,
            "rows": {"chance" if options is None else options: self._row(measure, options) for options in rows},
        }

    def _row(self, measure: Measure, options: str | None) -> dict[str, Any]:
        middle, values = self.middle(measure, options), self.values(measure, options)
        ends = [end if math.isfinite(end) else None for end in (middle.low, middle.high)]
        worst = measure.worst(values)
        return {
            "average": middle.value,
            "interval": ends,
            "worst": values[worst],
            "worst_draw": self.outcomes[worst].number,
            "worst_seed": self.outcomes[worst].seed,
            "beyond_limit": self.missed(measure, options),
            "draws": len(values),
        }


def measure(
    kind: Kind[Any], draws: Sequence[tuple[int, int]], options: Sequence[str], running: Running,
    report: Report | None = None,
) -> Distribution:  # fmt: skip
    """Runs draws, each given by a seed and a number; finished runs of an earlier, stopped call are reused.

    The recommended options always run, because the targets apply to them.
    """
    names = tuple(dict.fromkeys((*options, RECOMMENDED)))

    def outcome(seed: int, number: int) -> Outcome:
        drawn = kind.draw(seed, number)
        name = f"{kind.name}-{seed}-{number}"
        with_seed = replace(running, seed=root_seed(seed, number))
        run = Runner(name, with_seed, under_name(report, f"{seed}/{number}"))
        _write(running.out / "scenarios" / f"{name}.toml", kind.scenario(drawn, RECOMMENDED))
        merits = kind.merits(drawn, run("together", kind.scenario(drawn, varied(names))), names, run)
        return Outcome(seed, number, kind.command(seed, number), str(drawn), tuple(drawn.groups()), merits)

    return Distribution(kind, names, [outcome(seed, number) for seed, number in draws], running.replicas)


def _write(path: Path, scenario: Mapping[str, Any]) -> None:
    """Writes the scenario for `anabranch run`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_toml(scenario), encoding="utf-8")
