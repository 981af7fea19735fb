"""Verdicts on the example cases: what each asks for, read from the probes of a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .trace import PLAIN, Trace, Visit


@dataclass(frozen=True)
class Seen:
    """Whether a run passed, and what was seen."""

    passed: bool
    text: str


Judge = Callable[[Trace], Seen]


def _mbit(rate: float) -> str:
    return f"{rate / 1e6:.2f} Mbit/s"


def _kb(size: float) -> str:
    return "no bound" if math.isinf(size) else f"{size / 1e3:.0f} kB"


def _never(state: str) -> Seen:
    return Seen(False, f"{state.upper()} is not reached")


def _following(trace: Trace, visit: Visit) -> str:
    after = trace.after(visit)
    return "nothing" if after is None else after.state.upper()


def startup_plateau(trace: Trace) -> Seen:
    """Case 1."""
    drain = trace.visit("drain")
    if drain is None:
        return _never("drain")
    net, at = trace.network, drain.begin
    found = trace.at("max_bw", at) / net.payload_rate - 1
    rounds = trace.round_times(0, at)[-4:]
    growth = trace.at("max_bw", at) / trace.at("max_bw", rounds[0])
    begin = next(time for time, flight in trace.changes("flight", 0, at) if flight > 0)
    count, took = trace.at("full_bw_count", at), (at - begin) / net.rtt
    # 14 RTT on N with an initial window of 10 packets; Startup takes O(log2(BDP)) round trips.
    allowed = 14 + math.log2(net.bdp / PLAIN.bdp * 14480 / trace.at("cwnd", begin))
    passed = abs(found) <= 0.02 and count == 3 and growth < 1.25 and took <= allowed
    text = f"max_bw {100 * found:+.1f} %, count {count:.0f}, growth {growth:.2f}, {took:.1f} of {allowed:.1f} RTT"
    return Seen(passed, text)


def startup_loss(trace: Trace) -> Seen:
    """Case 2. If no queue waits, the acknowledgement that begins DRAIN ends it, too."""
    after = trace.after(trace.visits[0])
    if after is None or after.state == "probe-rtt":
        return Seen(False, f"Startup does not end; {trace.at('drops', 1.0):.0f} packets were lost")
    took = (after.begin - 0.14) / trace.network.rtt
    reached, bound = trace.at("full_bw_reached", after.begin), trace.at("inflight_longterm", after.begin)
    passed = 0 < took <= 3 and reached == 1 and math.isfinite(bound)
    return Seen(passed, f"{after.state.upper()} {took:.1f} RTT after the losses began, h = {_kb(bound)}")


def drain_inflight(trace: Trace) -> Seen:
    """Case 3."""
    drain = trace.visit("drain")
    if drain is None:
        return _never("drain")
    gain, flight = trace.at("pacing_gain", drain.begin), trace.at("flight", drain.end)
    estimate = trace.estimate(drain.end)
    rounds = trace.at("round", drain.end) - trace.at("round", drain.begin)
    passed = gain == 0.5 and flight <= estimate * 1.02 and rounds <= 1
    return Seen(passed, f"gain {gain}, flight {_kb(flight)} of {_kb(estimate)}, {rounds:.0f} round trips")


def drain_time(trace: Trace) -> Seen:
    """Case 4."""
    drain = trace.visit("drain")
    if drain is None:
        return _never("drain")
    rounds = trace.at("round", drain.end) - trace.at("round", drain.begin)
    flight, estimate = trace.at("flight", drain.end), trace.estimate(drain.end)
    return Seen(
        rounds == 4 and flight > estimate, f"{rounds:.0f} rounds, flight {_kb(flight)}, estimate {_kb(estimate)}"
    )


def up_plateau(trace: Trace) -> Seen:
    """Case 5, in the first UP that ProbeRTT does not cut short."""
    up = next((one for one in trace.visits if one.state == "up" and _following(trace, one) != "PROBE-RTT"), None)
    if up is None:
        return _never("up")
    count = trace.most("full_bw_count", up.begin, up.end)
    lost = trace.at("drops", up.end) - trace.before("drops", up.begin)
    passed = _following(trace, up) == "DOWN" and count == 3 and not lost
    return Seen(passed, f"{_following(trace, up)} with count {count:.0f}, {lost or 0:.0f} lost")


def up_loss(trace: Trace) -> Seen:
    """Case 6."""
    up = trace.visit("up")
    if up is None:
        return _never("up")
    took, bound = up.lasts / trace.network.rtt, trace.at("inflight_longterm", up.end)
    passed = _following(trace, up) == "DOWN" and took <= 2
    return Seen(passed, f"{_following(trace, up)} after {took:.2f} RTT, h: {_kb(bound)}")


def _only(trace: Trace, begin: float, allowed: set[str]) -> Seen:
    states = [visit.state for visit in trace.visits if visit.end > begin]
    shown = " ".join(states[:6]).upper() + (" ..." if len(states) > 6 else "")
    return Seen(set(states) <= allowed, shown)


def never_ends_from_start(trace: Trace) -> Seen:
    """Case 7a."""
    return _only(trace, 0.0, {"startup", "probe-rtt"})


def never_ends_from_up(trace: Trace) -> Seen:
    """Case 7b. Without DOWN only ProbeRTT ends an UP; CRUISE and REFILL follow it, since the pipe was full once."""
    up = trace.visit("up")
    return _never("up") if up is None else _only(trace, up.begin, {"up", "probe-rtt", "cruise", "refill"})


def down_inflight(trace: Trace) -> Seen:
    """Case 8."""
    down = next((one for one in trace.visits if one.state == "down" and _bounded(trace, one)), None)
    if down is None:
        return Seen(False, "h is not set")
    flight, bound = trace.at("flight", down.end), trace.before("inflight_longterm", down.end)
    gain, at = trace.at("pacing_gain", down.begin), down.end
    estimate = trace.before("max_bw", at) * trace.before("min_rtt", at) / 8  # without b, as in IsTimeToCruise
    passed = gain == 0.9 and _following(trace, down) == "CRUISE"
    passed &= flight <= 0.85 * bound + 1500 and flight <= estimate * 1.02
    text = f"gain {gain}, {_following(trace, down)} at flight {_kb(flight)}, h {_kb(bound)}, estimate {_kb(estimate)}"
    return Seen(passed, text)


def _bounded(trace: Trace, visit: Visit) -> bool:
    return math.isfinite(trace.before("inflight_longterm", visit.end))


def down_time(trace: Trace) -> Seen:
    """Case 9."""
    down = trace.visit("down")
    if down is None:
        return _never("down")
    passed = _following(trace, down) == "REFILL" and 2 <= down.lasts <= 3.2
    return Seen(passed, f"{_following(trace, down)} after {down.lasts:.2f} s in DOWN")


def _last_minimum(trace: Trace, begin: float, end: float) -> float:
    """The last time before ``end`` at which a lower round-trip time was measured, or ``begin``."""
    return [time for time, _ in trace.changes("probe_rtt_min_delay", begin, end) if time < end][-1]


def probe_rtt(trace: Trace) -> Seen:
    """Case 10."""
    probes = [visit for visit in trace.visits if visit.state == "probe-rtt"]
    if not probes:
        return _never("probe-rtt")
    probe, net = probes[0], trace.network
    begins = [0.0] + [visit.end for visit in probes[:-1]]
    waits = [
        visit.begin - _last_minimum(trace, begin, visit.begin) for begin, visit in zip(begins, probes, strict=True)
    ]
    gain, longest = trace.at("cwnd_gain", probe.begin), max(visit.lasts for visit in probes)
    back = {_following(trace, visit) for visit in probes if visit.end < trace.end}
    passed = all(abs(wait - 5) <= net.rtt + 0.01 for wait in waits) and gain == 0.5
    passed &= longest <= 0.2 + 2 * net.rtt + 0.005 and back == {"CRUISE"}
    shown = "/".join(f"{wait:.2f}" for wait in waits[:3])
    return Seen(passed, f"after {shown} s, gain {gain}, {1e3 * longest:.0f} ms, then {' '.join(sorted(back))}")


def no_probe_after_idle(trace: Trace) -> Seen:
    """Case 11."""
    probe = next((one for one in trace.visits if one.state == "probe-rtt" and 16 <= one.begin <= 18), None)
    return Seen(probe is None, "no ProbeRTT in 2 s" if probe is None else f"ProbeRTT {probe.begin - 16:.2f} s later")


def startup_aggregated(trace: Trace) -> Seen:
    """Case 12."""
    drain = trace.visit("drain")
    if drain is None:
        return _never("drain")
    net, at = trace.network, drain.begin
    extra, window = trace.most("extra_acked", 0, at), trace.most("cwnd", 0, at)
    found = trace.at("max_bw", at) / net.payload_rate - 1
    rates = [trace.before("max_bw", time) for time in trace.round_times(0, at)]
    rising = [rate for rate in rates if 0 < rate < 0.8 * net.payload_rate]
    growth = (rising[-1] / rising[0]) ** (1 / (len(rising) - 1)) if len(rising) > 1 else 0.0
    # A sample lasts min_rtt at least, and contains one burst of 10 ms more than end in that time at most.
    most = 0.01 / trace.at("min_rtt", at)
    passed = extra >= 50e3 and window > 2 * net.bdp and -0.05 <= found <= most and growth >= 1.6
    rate = f"max_bw {100 * found:+.1f} % (at most {100 * most:+.1f} %)"
    return Seen(passed, f"extra_acked {_kb(extra)}, cwnd {_kb(window)}, {rate}, mean growth {growth:.2f}")


def cruise_aggregated(trace: Trace) -> Seen:
    """Case 13."""
    cruises = [one for one in trace.visits if one.state == "cruise" and one.lasts > 0.5]
    if not cruises:
        return _never("cruise")
    use = min(trace.mean("throughput", one.begin + 0.1, one.end) for one in cruises) / trace.network.payload_rate
    late = cruises[-1].end
    extra, window = trace.before("extra_acked", late), trace.before("cwnd", late)
    bound = min(0.85 * trace.before("inflight_longterm", late), trace.before("inflight_shortterm", late))
    needed = min(2 * trace.estimate(late) + extra, bound)
    found = trace.before("max_bw", late) / trace.network.payload_rate - 1
    passed = use >= 0.95 and window >= 0.99 * needed and extra >= 50e3
    text = f"use {100 * use:.1f} %, cwnd {_kb(window)} of {_kb(needed)}, extra_acked {_kb(extra)}"
    return Seen(passed, f"{text}, max_bw {100 * found:+.1f} %")


def tiny_rate(trace: Trace) -> Seen:
    """Case 14. The window before ProbeBW is that of the transport."""
    end = trace.end - 2
    cruises = [one for one in trace.visits if one.state == "cruise" and one.begin < end]
    if not cruises:
        return _never("cruise")
    cruise = cruises[-1]
    begin = next(one.begin for one in trace.visits if one.state not in ("startup", "drain"))
    window = min(cwnd for _, cwnd in trace.changes("cwnd", begin, end)) / 1448
    wanted = 0.99 * trace.network.payload_rate
    pacing = trace.before("pacing_rate", cruise.end) / wanted - 1
    use = trace.mean("throughput", 5, 30) / trace.network.payload_rate
    passed = window >= 4 and abs(pacing) <= 0.05 and use >= 0.95
    return Seen(passed, f"cwnd at least {window:.1f} packets, pacing {100 * pacing:+.1f} %, use {100 * use:.0f} %")


def faster(trace: Trace) -> Seen:
    """Case 15."""
    cruise = trace.visit("cruise", 2)
    if cruise is None:
        return _never("cruise (2)")
    goal = 95e6 * 1448 / 1500
    reached = next((time for time, rate in trace.changes("max_bw", cruise.begin, trace.end) if rate >= goal), None)
    if reached is None:
        return Seen(False, f"max_bw reaches {_mbit(trace.most('max_bw', cruise.begin, trace.end))}")
    ups = [one for one in trace.visits if one.state == "up" and cruise.begin < one.begin < reached]
    in_up = sum(min(one.end, reached) - one.begin for one in ups) / trace.network.rtt
    bounded = math.isfinite(trace.at("inflight_longterm", reached))
    text = f"{len(ups)} cycles, {in_up:.0f} RTT of UP, h {'set' if bounded else 'not set'}"
    return Seen(len(ups) <= 3 or in_up <= 60, text)


def slower(trace: Trace) -> Seen:
    """Case 16. Each round trip with losses takes 30 % of b and of l, until l fits into the path."""
    cruise = trace.visit("cruise")
    if cruise is None:
        return _never("cruise")
    begin = cruise.begin
    short = trace.least("bw_shortterm", begin, begin + 2)
    holds = 2 * PLAIN.bdp + 10e6 / 8 * trace.network.rtt  # the queue, and the new bandwidth-delay product
    steps = math.ceil(math.log(holds / trace.at("cwnd", begin), 0.7))
    allowed = trace.at("max_bw", begin) * 0.7**steps
    # A cycle is complete with the DOWN that follows its UP; ProbeRTT can cut one short.
    downs = [one for one in trace.visits if one.state == "down" and one.begin > begin]
    late = trace.at("max_bw", downs[1].end if len(downs) > 1 else trace.end)
    text = f"bw_shortterm {_mbit(short)} of {_mbit(allowed)}, max_bw {_mbit(late)}"
    return Seen(short <= 1.01 * allowed and late <= 10.5e6, text)


def policer(trace: Trace) -> Seen:
    """Case 17."""
    end = trace.end - 1
    rate = trace.mean("throughput", 10, 30)
    lost = (trace.at("drops", end) - trace.at("drops", 10)) * 1448 * 8 / (end - 10)
    part = lost / (lost + rate)
    bound = trace.least("inflight_longterm", 10, end)
    short = min(trace.least("inflight_shortterm", 10, end), trace.least("bw_shortterm", 10, end))
    low, high = (limit * 1448 / 1500 for limit in (18e6, 20e6))
    passed = part <= 0.03 and low <= rate <= high and math.isfinite(bound) and math.isfinite(short)
    return Seen(passed, f"loss {100 * part:.1f} %, {_mbit(rate)}, h {_kb(bound)}, l or b set: {math.isfinite(short)}")


def _undone(trace: Trace, within: float) -> tuple[Visit | None, Visit | None]:
    """The first UP, and the REFILL or UP that follows it within a time."""
    up = trace.visit("up")
    if up is None:
        return None, None
    back = [one for one in trace.visits if one.begin >= up.end and one.state in ("refill", "up")]
    return up, next((one for one in back if one.begin <= up.end + within), None)


def _restored(trace: Trace, up: Visit, time: float) -> bool:
    names = ("bw_shortterm", "inflight_longterm", "inflight_shortterm")
    return all(trace.at(name, time) >= trace.before(name, up.begin) for name in names)


def spurious_recovery(trace: Trace) -> Seen:
    """Case 18."""
    up, back = _undone(trace, 0.1)
    if up is None:
        return _never("up")
    undone = trace.scalar("undone_recoveries")
    if back is None:
        return Seen(False, f"{_following(trace, up)} after UP, {undone:.0f} recoveries undone")
    passed = undone > 0 and _restored(trace, up, back.begin)
    return Seen(
        passed, f"{back.state.upper()} {1e3 * (back.begin - up.end):.0f} ms after UP ended, {undone:.0f} undone"
    )


def spurious_timeout(trace: Trace) -> Seen:
    """Case 19."""
    up = trace.visit("up")
    if up is None:
        return _never("up")
    timeouts, undone = trace.scalar("timeouts"), trace.scalar("undone_recoveries")
    before = trace.most("cwnd", up.begin, up.begin + trace.network.rtt)
    late = up.begin + 1.01
    back = next((t for t, cwnd in trace.changes("cwnd", late, late + 0.5) if cwnd >= 0.98 * before), None)
    shown = "cwnd not back" if back is None else f"cwnd back {1e3 * (back - late):.0f} ms after the data arrived"
    passed = timeouts > 0 and undone > 0 and back is not None and back - late <= 2 * trace.network.rtt
    passed &= _restored(trace, up, late + 2 * trace.network.rtt)
    return Seen(passed, f"{timeouts:.0f} timeouts, {undone:.0f} undone, {shown}")


def probe_in_startup(trace: Trace) -> Seen:
    """Case 20."""
    states = [visit.state for visit in trace.visits if visit.begin < 11.9]
    reached = trace.most("full_bw_reached", 0, 11.9)
    passed = states[:3] == ["startup", "probe-rtt", "startup"] and reached == 0
    return Seen(passed and set(states) == {"startup", "probe-rtt"}, " ".join(states).upper())


def loss_in_up(trace: Trace) -> Seen:
    """Case 21."""
    lost = next((one for one in trace.visits if one.state == "up" and _ended_by_loss(trace, one)), None)
    if lost is None:
        return Seen(False, "no UP ends by loss")
    bound = trace.at("inflight_longterm", lost.end)
    least = 0.7 * min(trace.estimate(lost.end), trace.before("cwnd", lost.end))
    following = next((one for one in trace.visits if one.state == "up" and one.begin > lost.end), None)
    if following is None:
        return Seen(False, "no UP follows")
    flight = trace.before("flight", following.end) + 3000
    early = flight >= trace.before("inflight_longterm", following.end)
    passed = bound >= 0.99 * least and _following(trace, lost) == "DOWN" and early
    return Seen(passed, f"h = {_kb(bound)} ≥ {_kb(least)}, next UP ends at flight {_kb(flight - 3000)}")


def _ended_by_loss(trace: Trace, up: Visit) -> bool:
    set_now = trace.before("inflight_longterm", up.end) != trace.at("inflight_longterm", up.end)
    return up.end < trace.end and set_now and trace.before("full_bw_count", up.end) < 3


def limited_refill(trace: Trace) -> Seen:
    """Case 22."""
    refill = trace.visit("refill")
    if refill is None:
        return _never("refill")
    kept = trace.at("max_bw", refill.end) / trace.before("max_bw", refill.begin)
    passed = abs(kept - 1) < 0.01 and _following(trace, refill) == "UP"
    return Seen(passed, f"max_bw × {kept:.3f}, then {_following(trace, refill)}")


JUDGES: dict[str, Judge] = {
    "1": startup_plateau,
    "2": startup_loss,
    "3": drain_inflight,
    "4": drain_time,
    "5": up_plateau,
    "6": up_loss,
    "7a": never_ends_from_start,
    "7b": never_ends_from_up,
    "8": down_inflight,
    "9": down_time,
    "10": probe_rtt,
    "11": no_probe_after_idle,
    "12": startup_aggregated,
    "13": cruise_aggregated,
    "14": tiny_rate,
    "15": faster,
    "16": slower,
    "17": policer,
    "18": spurious_recovery,
    "19": spurious_timeout,
    "20": probe_in_startup,
    "21": loss_in_up,
    "22": limited_refill,
}
"""The verdict of each case and variant."""
