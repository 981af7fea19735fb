"""The fairness suite: how well each congestion control keeps the three design rules of multipath transport.

The rules (paper 004, section II-B, after Raiciu, Wischik and Handley): a multipath flow should *improve throughput*,
*do no harm* and *balance congestion*. Each rule is a number here, a ratio to the throughput of a single-path TCP flow
of the rivals' kind in the same place; ``docs/fairness.md`` derives them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

import polars as pl

from ..._core import scenario_schema
from ...result import Result
from ...statistics import Estimate, estimate, finite
from .. import running as suites
from ..running import Report, Runner, Running, ratio

DEFAULT_REPLICAS = 8
RIVALS = ("reno", "cubic")
ALONE = "shared"
"""The topology in which each control also runs over one path only."""

RECOMMENDED = "recommended"
"""The recommended options, as they are: a row beside those of the controls."""

_FLOW, _WINDOW = "contender", "steady"
_DROPS = ("drops_queue_full", "drops_red_early", "drops_red_forced", "drops_delayed")
"""What queues drop."""


class Rule(StrEnum):
    """The design rules, and ``ALONE``: the throughput over a single path, which is no rule."""

    ALONE = "alone"
    IMPROVE = "improve"
    HARM = "harm"
    BALANCE = "balance"


class State(StrEnum):
    """Result of a rule: kept or broken if the whole 95 % interval is on one side of the bound, otherwise open."""

    KEPT = "kept"
    OPEN = "open"
    BROKEN = "broken"


TOLERANCE = 0.05
"""Tolerance of the bounds: two implementations of one control differ by about this much."""


def judge(rule: Rule, found: Estimate) -> State | None:
    """Whether the whole interval keeps the rule, breaks it, or neither; None for ``ALONE``."""
    match rule:
        case Rule.ALONE:
            return None
        case Rule.IMPROVE:
            low, high = found.low - (1 - TOLERANCE), found.high - (1 - TOLERANCE)
        case Rule.HARM:
            low, high = 1 + TOLERANCE - found.high, 1 + TOLERANCE - found.low
        case Rule.BALANCE:
            low, high = found.low, found.high
    return State.KEPT if low >= 0 else State.BROKEN if high < 0 else State.OPEN


def improve(total: Sequence[float], singles: Sequence[Sequence[float]]) -> Estimate:
    """I = T / max S: the throughput of the flow divided by that of a TCP flow on the best path."""
    best = max(map(estimate, singles), key=lambda found: found.mean)
    return ratio(estimate(total), best)


def harm(taken: Sequence[Sequence[float]], singles: Sequence[Sequence[float]]) -> Estimate:
    """H = max over bottlenecks of X / Y: the rate of the flow there, divided by that of a TCP flow in its place."""
    found = [ratio(estimate(x), estimate(s)) for x, s in zip(taken, singles, strict=True)]
    return max(found, key=lambda one: one.mean)


def balance(taken: Sequence[Sequence[float]], singles: Sequence[Sequence[float]]) -> Estimate:
    """B = 1 - f/g: the share of its traffic that the flow moved away from the first, more congested bottleneck.

    f is the share of the flow's traffic there, g that of two TCP flows, one over each bottleneck.
    """
    found = ratio(estimate(_first_share(taken)), estimate(_first_share(singles)))
    return Estimate(1 - found.mean, found.half_width, found.count)


def _first_share(traffic: Sequence[Sequence[float]]) -> list[float]:
    return [run[0] / sum(run) for run in zip(*traffic, strict=True)]


@dataclass(frozen=True)
class Topology:
    """A scenario of the suite: the networks over each bottleneck, the bottleneck links, and the rules that apply."""

    id: str
    bottlenecks: tuple[tuple[int, ...], ...]
    links: tuple[str, ...]
    rules: tuple[Rule, ...]
    of: str
    """The topology whose scenario is run. It is another topology if only the queue of the bottleneck differs."""
    queue: Mapping[str, Any] | None
    """The queue of the bottleneck links, if it differs."""

    def scenario(self) -> dict[str, Any]:
        """The scenario of the topology."""
        base = suites.read("fairness", f"{self.of}.toml")
        if self.queue is None:
            return base
        links = [link | {"queue": self.queue} if link.get("name") in self.links else link for link in base["link"]]
        return {**base, "link": links}


@dataclass(frozen=True)
class Score:
    """One number of the table."""

    control: str
    rival: str
    topology: str
    rule: Rule
    found: Estimate

    @property
    def state(self) -> State | None:
        """Whether the rule is kept."""
        return judge(self.rule, self.found)

    def as_dict(self) -> dict[str, Any]:
        """The number for JSON; an unknown half width is null."""
        return {
            "control": self.control,
            "rival": self.rival,
            "topology": self.topology,
            "rule": self.rule,
            "mean": self.found.mean,
            "half_width": finite(self.found.half_width),
            "replicas": self.found.count,
            "state": self.state,
        }


@dataclass(frozen=True)
class Reference:
    """Throughput of a TCP flow of the rivals' kind in the contender's place over one bottleneck, and the loss there."""

    rival: str
    topology: str
    bottleneck: int
    throughput: Estimate
    loss: Estimate


@dataclass(frozen=True)
class Table:
    """All measurements of the suite."""

    controls: tuple[str, ...]
    """The contenders: controls, and perhaps the recommended options."""
    scores: list[Score]
    references: list[Reference]
    seed: int
    replicas: int

    def score(self, control: str, rival: str, topology: str, rule: Rule) -> Score | None:
        """One number, if the rule applies in the topology."""
        wanted = (control, rival, topology, rule)
        return next((s for s in self.scores if (s.control, s.rival, s.topology, s.rule) == wanted), None)

    def worst(self, control: str, rival: str, rule: Rule) -> Score | None:
        """The worst number of a rule over all topologies with rivals and drop-tail queues."""
        counted = [place for place in self.topologies(rule) if place != "idle"]
        scores = (self.score(control, rival, place, rule) for place in counted)
        found = [score for score in scores if score is not None]
        pick = max if rule is Rule.HARM else min
        return pick(found, key=lambda score: score.found.mean, default=None)

    def alone(self, control: str, rival: str) -> Score | None:
        """The throughput of a control over a single path."""
        return self.score(control, rival, ALONE, Rule.ALONE)

    def topologies(self, rule: Rule, *, managed: bool = False) -> list[str]:
        """Returns the names of the topologies in which a rule was measured.

        These are the topologies with drop-tail queues. With ``managed`` they are those with RED, CoDel, FQ-CoDel or
        PIE.
        """
        queues = _managed()
        found = dict.fromkeys(score.topology for score in self.scores if score.rule is rule)
        return [place for place in found if (place in queues) is managed]

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "seed": self.seed,
            "replicas": self.replicas,
            "controls": list(self.controls),
            "scores": [score.as_dict() for score in self.scores],
            "references": [
                {
                    "rival": r.rival,
                    "topology": r.topology,
                    "bottleneck": r.bottleneck + 1,
                    "throughput_bps": r.throughput.mean,
                    "loss": r.loss.mean,
                }
                for r in self.references
            ],
        }


def controls() -> tuple[str, ...]:
    """Every congestion control that a scenario can name, in the order of the schema."""
    return tuple(_property(json.loads(scenario_schema()), "congestion_control")["anyOf"][0]["enum"])


def _property(node: Any, name: str) -> dict[str, Any]:
    """The first property of a name in a JSON Schema."""
    pending = [node]
    while pending:
        at = pending.pop(0)
        if isinstance(at, dict):
            if name in at.get("properties", {}):
                return at["properties"][name]
            pending += at.values()
        elif isinstance(at, list):
            pending += at
    raise KeyError(name)


def contenders() -> tuple[str, ...]:
    """Every congestion control, and the recommended options."""
    return (*controls(), RECOMMENDED)


def chosen(names: str | None) -> tuple[str, ...]:
    """The contenders in a list separated by commas, or all of them."""
    return suites.chosen(names, contenders(), "congestion control")


def topologies() -> list[Topology]:
    """The topologies of the suite."""
    entries = {entry["id"]: entry for entry in suites.read("fairness", "suite.toml")["topology"]}
    return [_topology(name, entry.get("of", name), entry.get("queue"), entries) for name, entry in entries.items()]


def _topology(name: str, of: str, queue: Mapping[str, Any] | None, entries: Mapping[str, Any]) -> Topology:
    base = entries[of]
    bottlenecks, rules = tuple(map(tuple, base["bottlenecks"])), tuple(map(Rule, base["rules"]))
    return Topology(name, bottlenecks, tuple(base["links"]), rules, of, queue)


@cache
def _managed() -> frozenset[str]:
    """Returns the names of the topologies whose bottleneck has RED, CoDel, FQ-CoDel or PIE."""
    return frozenset(topology.id for topology in topologies() if topology.queue is not None)


def sweeps() -> int:
    """The number of sweeps of :func:`measure`: two for each topology, and the controls over one path."""
    return 2 * len(topologies()) + 1


def measure(running: Running, names: tuple[str, ...], report: Report | None = None) -> Table:
    """Runs the suite; finished runs of an earlier, stopped one are reused."""
    scores: list[Score] = []
    references: list[Reference] = []
    seed = 0
    for topology in topologies():
        base = topology.scenario()
        seed = running.seed_of(base)
        run = Runner(topology.id, running, report)
        tcp = run("tcp", with_tcp(base, [networks[0] for networks in topology.bottlenecks]))
        contender = run("controls", with_controls(base, names))
        references += _references(topology, tcp)
        scores += _scores(topology, contender, tcp, names)
        if topology.id == ALONE:
            one = run("one-path", over(with_controls(base, names), topology.bottlenecks[0][0]))
            scores += _alone(topology, one, tcp, names)
    return Table(names, scores, references, seed, running.replicas)


def with_controls(base: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The scenario varied over contenders: each control with the contender's options, and the recommended options."""
    plain = {**base["sctp"][_FLOW], "congestion_control": "standard"}
    sets = {name: {"inherit": _FLOW, "congestion_control": name} for name in names if name != RECOMMENDED}
    sets |= {_FLOW: plain, RECOMMENDED: {"profile": RECOMMENDED}}
    varied = {"name": "control", "vary": list(names)}
    return _with_contender({**base, "sctp": sets}, lambda flow: {**flow, "sctp": varied})


def over(base: Mapping[str, Any], network: int) -> dict[str, Any]:
    """The scenario with the contender on one network only."""
    return _with_contender(base, lambda flow: {**flow, "networks": [network]})


def with_tcp(base: Mapping[str, Any], networks: Sequence[int]) -> dict[str, Any]:
    """The scenario with a TCP flow of the rivals' kind in the contender's place, varied over networks."""
    kind = {
        "protocol": "TCP",
        "tcp": {"name": "rival", "vary": list(RIVALS)},
        "networks": {"name": "network", "vary": [[network] for network in networks]},
    }
    without = {key: value for key, value in base.items() if key != "sctp"}
    return _with_contender(without, lambda flow: {k: v for k, v in flow.items() if k != "sctp"} | kind)


def _with_contender(base: Mapping[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    return {**base, "flow": [change(flow) if flow["name"] == _FLOW else flow for flow in base["flow"]]}


@dataclass(frozen=True)
class Samples:
    """The contender's rates, one value a replica: received by its application, and sent over each path."""

    total: list[float]
    sent: list[list[float]]


def samples(result: Result, **at: str) -> Samples:
    """The contender's rates in the runs with these values of axes."""
    rows = result.scalars.filter(pl.col("flow") == _FLOW, pl.col("window") == _WINDOW).sort("replica")
    for axis, value in at.items():
        # Scenarios without rivals do not have this axis.
        rows = rows.filter(pl.col(axis) == value) if axis in result.axes else rows
    total = rows.filter(pl.col("quantity") == "throughput_bps")["value"].to_list()
    paths = rows.filter(pl.col("quantity") == "sent_throughput_bps", pl.col("path").is_not_null())
    count = paths["path"].n_unique()
    sent = [paths.filter(pl.col("path") == path)["value"].to_list() for path in range(count)]
    return Samples(total, sent)


def _over_bottlenecks(topology: Topology, sent: Sequence[Sequence[float]]) -> list[list[float]]:
    """The rate over each bottleneck; networks count from 1, paths from 0."""
    return [
        [sum(run) for run in zip(*(sent[network - 1] for network in networks), strict=True)]
        for networks in topology.bottlenecks
    ]


def _scores(topology: Topology, contender: Result, tcp: Result, names: Sequence[str]) -> Iterator[Score]:
    for rival in RIVALS:
        singles = [samples(tcp, rival=rival, network=axis) for axis in networks(tcp)]
        received = [single.total for single in singles]
        crossed = [single.sent[0] for single in singles]
        for control in names:
            found = samples(contender, control=control, rival=rival)
            taken = _over_bottlenecks(topology, found.sent)
            for rule in topology.rules:
                if rule is Rule.IMPROVE:
                    number = improve(found.total, received)
                else:
                    number = (harm if rule is Rule.HARM else balance)(taken, crossed)
                yield Score(control, rival, topology.id, rule, number)


def _alone(topology: Topology, one: Result, tcp: Result, names: Sequence[str]) -> Iterator[Score]:
    for rival in RIVALS:
        single = estimate(samples(tcp, rival=rival).total)
        for control in names:
            found = estimate(samples(one, control=control, rival=rival).total)
            yield Score(control, rival, topology.id, Rule.ALONE, ratio(found, single))


def _references(topology: Topology, tcp: Result) -> Iterator[Reference]:
    for rival in RIVALS:
        for number, (axis, link) in enumerate(zip(networks(tcp), topology.links, strict=True)):
            single = samples(tcp, rival=rival, network=axis)
            yield Reference(rival, topology.id, number, estimate(single.total), _loss(tcp, link, rival, axis))


def networks(tcp: Result) -> list[Any]:
    """The values of the axis of networks, in the order of the scenario."""
    return tcp.scalars["network"].unique(maintain_order=True).to_list() if "network" in tcp.axes else [None]


def _loss(tcp: Result, link: str, rival: str, network: Any) -> Estimate:
    """The share of the packets offered to a link that it dropped."""
    rows = tcp.scalars.filter(
        pl.col("flow") == f"link:{link}", pl.col("window") == _WINDOW, pl.col("rival") == rival,
        *([pl.col("network") == network] if network is not None else []),
    ).sort("replica")  # fmt: skip
    offered = rows.filter(pl.col("quantity") == "offered_packets")
    drops = rows.filter(pl.col("quantity").is_in(_DROPS))
    dropped = drops.group_by("replica").agg(pl.col("value").sum().alias("drops"))
    both = offered.join(dropped, on="replica", maintain_order="left")
    return estimate((both["drops"] / both["value"]).to_list())
