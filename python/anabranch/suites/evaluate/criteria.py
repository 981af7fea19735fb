"""The criteria of RFC 9743 that today's scenarios can measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...statistics import Estimate, estimate
from ..fairness import measure as fairness
from ..fairness.measure import Rule
from . import bench
from .bench import CUBIC, RENO, Bench, Runs
from .misbehaving import Lie, rates

KEPT, BROKEN, OPEN, TABLE = "kept", "broken", "open", "not claimed"


@dataclass(frozen=True)
class Row:
    """A line of the page."""

    criterion: str
    experiment: str
    numbers: str
    verdict: str


def verdict(found: Estimate, *, least: float = -math.inf, most: float = math.inf) -> str:
    """Kept or broken if the whole interval is on one side of the bound, otherwise open."""
    half = found.half_width if math.isfinite(found.half_width) else 0.0
    low, high = found.mean - half, found.mean + half
    if low >= least and high <= most:
        return KEPT
    return BROKEN if high < least or low > most else OPEN


def shown(found: Estimate, digits: int = 2) -> str:
    """Mean and interval."""
    text = f"{found.mean:.{digits}f}"
    return f"{text} ± {found.half_width:.{digits}f}" if math.isfinite(found.half_width) else text


def _worst(found: list[Estimate]) -> Estimate:
    return max(found, key=lambda one: one.mean)


def collapse(bench_: Bench) -> Iterator[Row]:
    """5.1.1: half of the packets are lost, then all of them."""
    scenario = bench.base()
    scenario["flow"] = [bench.contender(100)]
    scenario["change"] = [
        {"at": "10 s", "link": "tight", "loss": 0.5},
        {"at": "30 s", "link": "tight", "loss": 1.0},
    ]
    scenario["window"] = [
        {"name": "half", "from": "15 s", "to": "30 s"},
        {"name": "first", "from": "31 s", "to": "46 s"},
        {"name": "second", "from": "46 s", "to": "90 s"},
    ]
    runs = bench_.sweep("collapse", scenario, [bench_.control])

    def packets(window: str, seconds: float) -> Estimate:
        return estimate(n / seconds for n in runs.values(bench_.control, "offered_packets", bench.TIGHT, window))

    half, first, second = packets("half", 15), packets("first", 15), packets("second", 44)
    state = verdict(first, most=1 / bench.RTT) if second.mean <= first.mean else BROKEN
    text = f"{shown(half, 1)} packets/s at 50 %; {shown(first)}, then {shown(second)} packets/s at 100 %"
    yield Row("5.1.1 collapse", "loss 50 %, then 100 % for 60 s", text, state)


def bloat(bench_: Bench) -> Iterator[Row]:
    """5.1.2: alone with a deep queue."""
    scenario = bench.base(queue=bench.queue(4))
    scenario["flow"] = [bench.contender()]
    runs = bench_.sweep("bloat", scenario, [bench_.control, CUBIC])
    for name, part in (("mean", None), ("99 %", 0.99)):
        own = runs.wait(bench_.control, part)
        found = bench.over(own, runs.wait(CUBIC, part))
        text = f"{shown(Estimate(own.mean * 1e3, own.half_width * 1e3, own.count), 0)} ms, {shown(found)} of CUBIC's"
        yield Row("5.1.2 bufferbloat", f"alone, queue 4 BDP: {name} wait", text, verdict(found, most=1))


def high_loss(bench_: Bench) -> Iterator[Row]:
    """5.1.3: many flows and short queues."""
    found, worst = [], ""
    for bdps in (0.25, 1, 4):
        for count in (1, 4, 16):
            scenario = bench.base(queue=bench.queue(bdps))
            scenario["flow"] = [bench.contender(30, count=count) if count > 1 else bench.contender(30)]
            runs = bench_.sweep(f"loss-{bdps:g}-{count}", scenario, [bench_.control, RENO])
            found.append(bench.over(runs.loss(bench_.control), runs.loss(RENO)))
            if found[-1] is _worst(found):
                own = runs.loss(bench_.control)
                worst = f"{shown(found[-1])} of Reno's with {count} flows and {bdps:g} BDP ({100 * own.mean:.2f} %)"
    most = _worst(found)
    yield Row("5.1.3 high loss", "1, 4, 16 flows, queues 0.25, 1, 4 BDP: worst", worst, verdict(most, most=2))


def with_itself(bench_: Bench) -> Iterator[Row]:
    """5.1.4: several flows of the same control."""
    for count in (2, 8):
        scenario = bench.base()
        scenario["flow"] = [bench.contender(90, count=count, reset_time="30 s")]
        runs = bench_.sweep(f"itself-{count}", scenario, [bench_.control])
        jain = _jain(runs, [f"x-{n}" for n in range(1, count + 1)], bench_.control)
        yield Row("5.1.4 with itself", f"{count} flows: Jain's index", shown(jain, 3), verdict(jain, least=0.9))
    scenario = bench.base()
    bench.link(scenario, "s-west")["delay"] = "61 ms"
    far = bench.contender(90, "far", client="s", server="d", reset_time="30 s")
    scenario["flow"] = [bench.contender(90, "near", reset_time="30 s"), far]
    runs = bench_.sweep("itself-rtt", scenario, [bench_.control])
    jain = _jain(runs, ["near", "far"], bench_.control)
    yield Row("5.1.4 with itself", "RTT 40 and 160 ms: Jain's index", shown(jain, 3), verdict(jain, least=0.9))
    scenario = bench.base()
    late = bench.contender(60, "late", start="30 s", reset_time="30 s", stop_time="60 s")
    scenario["flow"] = [bench.contender(90, "early", reset_time="60 s"), late]
    runs = bench_.sweep("itself-late", scenario, [bench_.control])
    jain = _jain(runs, ["early", "late"], bench_.control)
    text = f"{shown(jain, 3)}, 30 to 60 s after it joined"
    yield Row("5.1.4 with itself", "late joiner: Jain's index", text, verdict(jain, least=0.9))


def _jain(runs: Runs, flows: list[str], control: str) -> Estimate:
    each = [runs.values(control, "throughput_bps", flow) for flow in flows]
    return estimate(sum(run) ** 2 / (len(run) * sum(x * x for x in run)) for run in zip(*each, strict=True))


def short_flows(bench_: Bench) -> Iterator[Row]:
    """5.1.5: short transfers beside a long one."""
    scenario = bench.base()
    scenario["flow"] = [bench.contender()]
    scenario["transfers"] = [
        {
            "name": "short", "client": "s", "server": "d", "protocol": "TCP", "rate": {"exponential": "7.5 Hz"},
            "size": "50 kB", "from": "10 s", "to": "55 s",
        }
    ]  # fmt: skip
    runs = bench_.sweep("short", scenario, [bench_.control, CUBIC])
    for name in ("median", "p95"):
        quantity = f"completion_time_{name}_s"
        own, other = (estimate(runs.values(one, quantity, "short")) for one in (bench_.control, CUBIC))
        found = bench.over(own, other)
        text = f"{shown(own)} s, {shown(found)} of that beside CUBIC"
        yield Row("5.1.5 short flows", f"50 kB at 30 % load: {name}", text, verdict(found, most=1.2))


def real_time(bench_: Bench) -> Iterator[Row]:
    """5.2.2: a UDP flow of 2 Mbit/s."""
    scenario = bench.base()
    voice = bench.beside("UDP", frame_rate="50 Hz", frame_size="5000 B", max_msg_size="1250 B")
    scenario["flow"] = [bench.contender(), voice]
    runs = bench_.sweep("real-time", scenario, [bench_.control, CUBIC])

    def lost(control: str) -> Estimate:
        got = runs.values(control, "throughput_bps", "y")
        return estimate(100 * max(0.0, 1 - rate / 2e6) for rate in got)

    own, other = lost(bench_.control), lost(CUBIC)
    text = f"{shown(own)} % lost, beside CUBIC {shown(other)} %"
    limit = other.mean + (other.half_width if math.isfinite(other.half_width) else 0) + 0.05
    yield Row("5.2.2 real time", "2 Mbit/s of UDP in 50 frames a second", text, verdict(own, most=limit))


def links(bench_: Bench) -> Iterator[Row]:
    """6.1 to 6.4: a table without bounds."""
    kinds: list[tuple[str, dict[str, Any]]] = [
        (f"queue {bdps:g} BDP", {"queue": bench.queue(bdps)}) for bdps in (0.5, 2, 8)
    ]
    kinds += [(f"rate as of {name}", {"rate": {"model": name, "mean": "10 Mbit/s"}}) for name in ("lte", "wifi")]
    kinds.append(("random loss 1 %", {"loss": 0.01}))
    for name, values in kinds:
        scenario = bench.base(**values)
        scenario["flow"] = [bench.contender()]
        runs = bench_.sweep("link-" + name.replace(" ", "-").replace("%", "percent"), scenario, [bench_.control])
        use, wait = runs.use(bench_.control), runs.wait(bench_.control)
        text = f"use {shown(use)}, wait {wait.mean * 1e3:.0f} ms"
        yield Row("6.1 to 6.4 links", name, text, TABLE)


def managed(bench_: Bench) -> Iterator[Row]:
    """7.1: beside a flow of CUBIC at an AQM."""
    kinds = {
        "red": {"kind": "red", "min": 10, "max": 30}, "codel": {"kind": "codel"},
        "fq-codel": {"kind": "fq-codel"}, "pie": {"kind": "pie"},
    }  # fmt: skip
    for name, discipline in kinds.items():
        scenario = bench.base(queue=discipline)
        scenario["flow"] = [bench.contender(), bench.beside()]
        runs = bench_.sweep(f"aqm-{name}", scenario, [bench_.control])
        own, other = (estimate(runs.values(bench_.control, "throughput_bps", flow)) for flow in ("x", "y"))
        found, wait = bench.over(own, other), runs.wait(bench_.control)
        text = f"{shown(found)} of its rate, wait {wait.mean * 1e3:.0f} ms"
        yield Row("7.1 AQM", f"{name}, beside CUBIC", text, verdict(found, least=0.5, most=2))


def _recovery(runs: Runs, control: str, at: float, goal: float) -> Estimate:
    """Seconds until the throughput over 1 s reaches ``goal`` after a change; the rest of the run if it does not."""
    times = []
    for points in runs.series(control, "throughput"):
        later = [(time, rate) for time, rate in points if time > at + 1]
        times.append(next((time - at for time, rate in later if rate >= goal), later[-1][0] - at))
    return estimate(times)


def _changed(bench_: Bench, name: str, change: dict[str, object], goal: float, **tight: object) -> Estimate:
    scenario = bench.base(**tight)
    scenario["flow"] = [bench.contender()]
    scenario["change"] = [{"at": "20 s", "link": "tight"} | change]
    scenario["probe"].append({"quantity": "throughput", "flow": "x", "every": "1 s"})
    return _recovery(bench_.sweep(name, scenario, [bench_.control]), bench_.control, 20, goal)


def delays(bench_: Bench) -> Iterator[Row]:
    """7.3 and 7.5: long and changing delays."""
    found = _changed(bench_, "delay", {"delay": "67 ms"}, 0.9 * 9.6e6)
    text = f"{shown(found, 1)} s to 90 % of the rate"
    yield Row("7.3, 7.5 delay", "base RTT + 50 ms at 20 s", text, verdict(found, most=30 * 0.09))
    scenario = bench.base(delay="297 ms", queue=bench.queue(15))
    scenario["flow"] = [bench.contender(120, reset_time="60 s")]
    use = bench_.sweep("satellite", scenario, [bench_.control]).use(bench_.control)
    yield Row("7.3, 7.5 delay", "RTT 600 ms, 60 to 120 s", f"use {shown(use)}", TABLE)


def misbehaving(bench_: Bench) -> Iterator[Row]:
    """7.6: a receiver lies, beside an association whose receiver does not."""
    running, options = bench_.run.running, bench.options(bench_.control)
    first = running.seed_of(bench.base())
    seeds = range(first, first + running.replicas)
    truth = {ecn: [rates(Lie.NONE, ecn, seed, options) for seed in seeds] for ecn in (False, True)}
    for lie in Lie:
        if lie is Lie.NONE:
            continue
        runs = [
            (rates(lie, lie.of_marks, seed, options), honest)
            for seed, honest in zip(seeds, truth[lie.of_marks], strict=True)
        ]
        gain = estimate(run.carried / honest.carried for run, honest in runs)
        kept = estimate(run.beside / honest.beside for run, honest in runs)
        text = f"{shown(gain)} of its rate without the lie; the flow beside it {shown(kept)}"
        yield Row("7.6 misbehaving receiver", lie.value, text, verdict(gain, most=1.1))


def reordering(bench_: Bench) -> Iterator[Row]:
    """7.7: packets overtake each other by up to 20 ms."""
    scenario = bench.base(jitter={"up_to": "20 ms", "reorder": True})
    scenario["flow"] = [bench.contender()]
    use = bench_.sweep("reordering", scenario, [bench_.control]).use(bench_.control)
    yield Row("7.7 reordering", "up to 20 ms", f"use {shown(use)}", verdict(use, least=0.9))


def transients(bench_: Bench) -> Iterator[Row]:
    """7.8 and 7.9: the rate changes by ten."""
    down = _changed(bench_, "slower", {"rate": "1 Mbit/s"}, 0.9 * 0.96e6)
    text = f"{shown(down, 1)} s to 90 % of the new rate"
    yield Row("7.8, 7.9 transients", "rate ÷ 10 at 20 s", text, verdict(down, most=10))
    up = _changed(bench_, "faster", {"rate": "10 Mbit/s"}, 0.9 * 9.6e6, rate="1 Mbit/s")
    text = f"{shown(up, 1)} s to 90 % of the new rate"
    yield Row("7.8, 7.9 transients", "rate × 10 at 20 s", text, verdict(up, most=10))


def multipath(bench_: Bench) -> Iterator[Row]:
    """5.2.1 and 7.10: the topologies of the fairness suite."""
    for topology in fairness.topologies():
        if topology.id == "idle" or topology.queue is not None:
            continue
        base = topology.scenario()
        run = bench_.run
        tcp = run(f"fairness-{topology.id}-tcp", fairness.with_tcp(base, [n[0] for n in topology.bottlenecks]))
        own = run(f"fairness-{topology.id}", fairness.with_controls(base, (bench_.control,)))
        for score in fairness._scores(topology, own, tcp, (bench_.control,)):
            if score.rule is Rule.HARM:
                rival = "Reno" if score.rival == "reno" else "CUBIC"
                text = f"H = {shown(score.found)}"
                state = verdict(score.found, most=1.1)
                yield Row("5.2.1, 7.10 multipath", f"{topology.id}, beside {rival}", text, state)


def failover(bench_: Bench) -> Iterator[Row]:
    """7.10: 50 associations lose one of two paths at once, beside TCP flows on the other one."""
    scenario = bench.base(rate="100 Mbit/s", queue=bench.queue(10))
    scenario["link"].append(
        {"name": "other", "between": ["a", "b"], "net_id": 2, "rate": "100 Mbit/s", "delay": "19 ms"}
        | {"queue": bench.queue(10), "down": [["20 s", "60 s"]]}
    )
    rivals = [f"y{n}" for n in range(1, 6)]
    scenario["flow"] = [bench.contender(count=50)] + [bench.beside(name=name) for name in rivals]
    scenario["probe"] = [{"quantity": "throughput", "flow": name, "every": "100 ms"} for name in rivals]
    scenario["window"] = [{"name": "failover", "from": "20 s", "to": "21 s"}]
    runs = bench_.sweep("failover", scenario, [bench_.control], cmt={"enabled": True})
    each = [runs.series(bench_.control, "throughput", name) for name in rivals]
    longest = estimate(map(starved, zip(*each, strict=True)))
    lost = runs.loss(bench_.control, "failover")
    percent = Estimate(100 * lost.mean, 100 * lost.half_width, lost.count)
    text = f"TCP starves for {shown(longest, 1)} s; {shown(percent, 1)} % lost in the first second"
    yield Row("7.10 multipath", "50 associations fail over at once, beside 5 TCP flows", text, verdict(longest, most=1))


def starved(flows: Sequence[Sequence[tuple[float, float]]]) -> float:
    """The longest time in seconds, after 20 s, in which flows carry less than a tenth of their rate after 40 s."""
    total = [(points[0][0], sum(rate for _, rate in points)) for points in zip(*flows, strict=True)]
    total = [(time, rate) for time, rate in total if time <= 60]
    end = [rate for time, rate in total if time > 40]
    least, longest, since = sum(end) / len(end) / 10, 0.0, None
    for time, rate in total:
        if time <= 20 or rate >= least:
            since = None
            continue
        since = time - 0.1 if since is None else since
        longest = max(longest, time - since)
    return longest


CRITERIA: tuple[Callable[[Bench], Iterator[Row]], ...] = (
    collapse, bloat, high_loss, with_itself, short_flows, real_time, links, managed, delays, misbehaving,
    reordering, transients, multipath, failover,
)  # fmt: skip
"""The experiments in the order of the RFC."""
