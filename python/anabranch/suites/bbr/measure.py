"""Runs the example cases of BBR."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ... import laboratory
from ...scenario import to_toml, with_values
from ...shipped import folder
from ..running import SuiteError, read
from .cases import JUDGES, Seen
from .trace import PLAIN, Network, Trace

NUMBERS = range(1, 23)
"""The cases."""
TRANSPORTS = ("tcp", "sctp")
NETWORKS = {"": PLAIN, "5 Mbit/s": Network(5e6, 0.02), "200 ms": Network(50e6, 0.2)}
"""The network of the cases, and two more for those with ``starred``: a tenth of the rate, ten times the time."""


@dataclass(frozen=True)
class Row:
    """A case on one network: its name, and what each run showed."""

    case: str
    title: str
    seen: tuple[Seen, ...]

    @property
    def verdict(self) -> str:
        """``pass`` if all runs passed, otherwise ``MISS``."""
        return "pass" if all(one.passed for one in self.seen) else "MISS"

    @property
    def text(self) -> str:
        """What the first run showed that decides."""
        deciding = next((one for one in self.seen if not one.passed), self.seen[0])
        missed = sum(not one.passed for one in self.seen)
        return (
            deciding.text if missed in (0, len(self.seen)) else f"{deciding.text} ({missed} of {len(self.seen)} runs)"
        )


def measure(number: int, control: str, transport: str, seeds: range) -> Iterator[Row]:
    """Runs a case with each seed, on each of its networks and in each of its variants."""
    base, case = read("bbr", "network.toml"), read("bbr", f"{number:02}.toml")
    for label, network in NETWORKS.items():
        if label and not case.get("starred", False):
            continue
        for variant in case.get("variants", [""]):
            scenario, used = _scenario(base, case, variant, network, (control, transport))
            name = f"{number}{variant}" + (f" at {label}" if label else "")
            judge = JUDGES[f"{number}{variant}"]
            traces = (Trace(laboratory.run(scenario, seed=seed), used) for seed in seeds)
            yield Row(name, case["title"], tuple(_judged(trace, judge, control) for trace in traces))


def _judged(trace: Trace, judge: Any, control: str) -> Seen:
    if not trace.has_state:
        raise SuiteError(f"--control {control}: it has no states to read; expected `bbr` or `bbr-coupled`")
    return judge(trace)


def _scenario(
    base: Mapping[str, Any], case: Mapping[str, Any], variant: str, network: Network, subject: tuple[str, str]
) -> tuple[str, Network]:
    """The scenario as text, and its network. ``subject``: control and transport."""
    control, transport = subject
    scenario = copy.deepcopy(dict(base))
    parts = [case, case.get(variant, {})] if variant else [case]
    scenario["change"] = [change for part in parts for change in part.get("change", [])]
    text = to_toml(scenario)
    values: dict[str, Any] = {
        "tcp.case.control": control,
        "sctp.case.congestion_control": control,
        "flow.f.protocol": transport.upper(),
        "link.west-east.delay": f"{network.rtt / 2 * 1e3:g} ms",
        "link.west-east.rate": f"{network.rate / 1e6:g} Mbit/s",
    }
    for part in parts:
        values |= part.get("set", {})
    rate = _rate(values["link.west-east.rate"])
    used = Network(rate, network.rtt)
    queue = case.get("queue", 2) * (used.bdp if "queue" in case or network is not PLAIN else PLAIN.bdp)
    values["link.west-east.queue"] = {"kind": "drop-tail", "bytes": f"{queue:.0f} B"}
    for value in values.values():
        if isinstance(value, dict) and "deliveries" in value:
            value["deliveries"] = str(folder("scenarios") / "traces" / value["deliveries"])
    return with_values(text, values), used


def _rate(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"kbit/s": 1e3, "Mbit/s": 1e6}[unit]
