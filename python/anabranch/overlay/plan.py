"""Plan of an overlay: the scenario with probes for the simulator, and with real hosts for the emulator."""

from __future__ import annotations

import copy
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..scenario import Scenario, as_text, at, to_toml, with_settings
from ..shipped import UsageError, similar_scenario

OURS = "ours"
"""The program that sends and receives with our stack: ``anabranch measure``."""
FINE = 0.05
"""Time between two points of the recorded series, in seconds."""
LEAD = 3.0
"""Real programs start and connect in this time, in seconds: no flow may send earlier."""
RESET = 5.0
"""The default of `reset_time`, in seconds."""
KERNEL_CONTROLS = {"standard": "reno", "cubic": "cubic", "bbr": "bbr"}
"""The congestion controls of the simulated TCP, each with the corresponding one of Linux."""

_UNITS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "B": 1.0, "kB": 1e3, "Hz": 1.0, "kHz": 1e3}


class OverlayError(UsageError):
    """A scenario that cannot be run for real, or results that do not fit it."""


@dataclass(frozen=True)
class Flow:
    """A flow as real programs run it. Times are seconds on the clock of the scenario."""

    name: str
    client: str
    server: str
    transport: str
    """``"sctp"``: our stack in UDP; ``"tcp"``: TCP of the kernel."""
    options: dict[str, dict[str, Any]]
    """Options of SCTP or TCP of the client and of the server."""
    start: float
    stop: float
    rate: float
    """Messages per second; 0: as many as possible."""
    length: int
    unordered: float
    networks: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """A scenario that is simulated and run for real."""

    title: str
    scenario: dict[str, Any]
    flows: tuple[Flow, ...]
    bins: tuple[float, ...]
    """Edges of the time bins, in seconds on the clock of the scenario."""
    seed: int
    program: str = OURS
    """The program that runs the flows of SCTP for real."""

    @property
    def end(self) -> float:
        """The time at which the last flow stops, in seconds."""
        return max(flow.stop for flow in self.flows)

    def simulated(self, jitter: float | None = None) -> str:
        """The scenario for the simulator; ``jitter`` in seconds replaces the jitter of each host.

        A flow that ``measure`` runs begins with a message that names its connection. Real flows have measured an RTT
        with this message when they begin to send, so simulated flows begin with it, too.
        """
        scenario = copy.deepcopy(self.scenario)
        for table, flow in zip(scenario["flow"], self.flows, strict=True):
            table["identify"] = flow.transport == "tcp" or self.program == OURS
        hosts = {flow.client for flow in self.flows} | {flow.server for flow in self.flows}
        for node in scenario["node"]:
            if jitter is not None and node["name"] in hosts:
                node["jitter"] = f"{jitter:.9f} s"
        probes = [
            _probe(quantity, flow=flow.name) for flow in self.flows for quantity in ("throughput", "sent-throughput")
        ]
        probes += [_probe("srtt", flow=flow.name) for flow in self.flows if flow.transport == "sctp"]
        scenario["probe"] = [*probes, LINKS]
        scenario["window"] = [
            {"name": str(number), "from": f"{low:.6f} s", "to": f"{high:.6f} s"}
            for number, (low, high) in enumerate(zip(self.bins, self.bins[1:], strict=False))
        ]
        return to_toml(scenario)

    def emulated(self, namespaces: Mapping[str, str]) -> str:
        """The network alone, with a network namespace for each host that has a flow."""
        keep = ("title", "seed", "link")
        scenario = {key: copy.deepcopy(self.scenario[key]) for key in keep if key in self.scenario}
        scenario["node"] = [{k: v for k, v in node.items() if k != "jitter"} for node in self.scenario["node"]]
        scenario["probe"] = [LINKS]
        scenario["host"] = [
            {"name": host, "real": {"namespace": namespace, "addresses": list(self.addresses(host).values())}}
            for host, namespace in namespaces.items()
        ]
        return to_toml(scenario)

    def addresses(self, host: str) -> dict[int, str]:
        """The address of a host in each of its networks, with the length of the prefix."""
        number = [node["name"] for node in self.scenario["node"]].index(host) + 1
        return {network: f"10.{network}.0.{number}/16" for network in _networks(self.scenario, host)}

    def way(self, flow: Flow) -> tuple[list[str], list[str]]:
        """The addresses of client and server that a flow uses, without prefixes."""
        ends = [self.addresses(host) for host in (flow.client, flow.server)]
        client, server = ([end[network].partition("/")[0] for network in flow.networks] for end in ends)
        return client, server


LINKS = {"quantity": ["queue", "drops"], "link": "*", "every": f"{FINE} s"}
"""The probe of all links, in the direction in which the scenario names their nodes."""


def read(scenario: Scenario, settings: Sequence[str] = (), bin_width: float = 1.0, program: str = OURS) -> Plan:
    """Reads a scenario, whose flows of SCTP ``program`` runs for real.

    Raises :class:`OverlayError`, which names the part of the scenario that cannot be run for real.
    """
    try:
        text, name = as_text(scenario)
    except FileNotFoundError as error:
        tip = similar_scenario(str(scenario))
        raise OverlayError(f"{scenario}: there is no file and no scenario of that name{tip}") from error
    text, chosen = with_settings(text, name, settings)
    content: dict[str, Any] = tomllib.loads(text)
    for axis, position in chosen.items():
        content = at(content, axis, position)
    if _varies(content):
        raise OverlayError(f"{name} has variations; give each of them one value with --set")
    for table in ("host", "transfers", "latency"):
        if table in content:
            raise OverlayError(f"{name}: [[{table}]] cannot be part of an overlay; remove it")
    if any(node.get("count", 1) != 1 for node in content.get("node", [])):
        raise OverlayError(f"{name}: a node with a `count` cannot be part of an overlay; write a table for each node")
    flows = tuple(_flow(content, table, name) for table in content.get("flow", []))
    if not flows:
        raise OverlayError(f"{name} has no [[flow]], so that there is nothing to run")
    reset = min(_number(table, "reset_time", RESET, "a flow") for table in content["flow"])
    first, last = min(flow.start for flow in flows) + reset, max(flow.stop for flow in flows)
    count = math.floor((last - first) / bin_width + 1e-9)
    if count < 1:
        raise OverlayError(f"{name}: flows send for {last - first:g} s, which is less than a bin of {bin_width:g} s")
    bins = tuple(first + number * bin_width for number in range(count + 1))
    return Plan(str(content.get("title", name)), content, flows, bins, int(content.get("seed", 1)), program)


def _varies(node: object) -> bool:
    if isinstance(node, Mapping):
        return "vary" in node or any(map(_varies, node.values()))
    return isinstance(node, list) and any(map(_varies, node))


def _probe(quantity: str, **target: str) -> dict[str, Any]:
    return {"quantity": quantity, **target, "every": f"{FINE} s"}


def _networks(scenario: Mapping[str, Any], host: str) -> list[int]:
    networks = [int(link.get("net_id", 0)) for link in scenario["link"] if host in link["between"]]
    if len(set(networks)) < len(networks):
        raise OverlayError(f"host `{host}` has several links in one network; expected another `net_id` for each")
    return networks


def _flow(content: Mapping[str, Any], raw: Mapping[str, Any], file: str) -> Flow:
    table = {re.sub("(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), key): raw[key] for key in raw}
    where = f"{file}: flow `{table.get('name', '?')}`"
    refused = ("back", "bidirectional", "on", "off", "on_off", "streams", "unreliable", "stream_request_time", "count")
    for key in refused:
        if key in table:
            raise OverlayError(f"{where}: `{key}` cannot be run for real yet; remove it")
    transport = str(table.get("protocol", "SCTP")).lower()
    if transport not in ("sctp", "tcp"):
        raise OverlayError(f"{where}: expected the protocol SCTP or TCP, found {table['protocol']}")
    if transport == "sctp" and not table.get("udp_encapsulation", False):
        raise OverlayError(f"{where}: real SCTP is in UDP; expected `udp_encapsulation = true`")
    start = _number(table, "connect_time", 0.0, where) + _number(table, "start_time", 0.0, where)
    if start < LEAD:
        raise OverlayError(f"{where}: sends from {start:g} s on; expected {LEAD:g} s or more (`connect_time` and "
                           "`start_time` together), in which real programs start and connect")  # fmt: skip
    client, server = str(table["client"]), str(table["server"])
    common = [network for network in _networks(content, client) if network in _networks(content, server)]
    networks = tuple(network for network in common if network in table.get("networks", common))
    if not networks:
        raise OverlayError(f"{where}: client and server have no network in common; expected links of one `net_id`")
    own = table.get(transport)
    return Flow(
        name=str(table["name"]),
        client=client,
        server=server,
        transport=transport,
        options={
            client: _options(content, transport, own),
            server: _options(content, transport, table.get(f"server_{transport}", own)),
        },
        start=start,
        stop=start + _number(table, "stop_time", None, where),
        rate=_number(table, "frame_rate", None, where),
        length=int(_number(table, "frame_size", None, where)),
        unordered=float(table.get("unordered", 0.0)),
        networks=networks,
    )


def _options(content: Mapping[str, Any], transport: str, name: str | None) -> dict[str, Any]:
    """A set of options with the options that it inherits; options of SCTP always include the profile."""
    found: dict[str, Any] = {"profile": "standard"} if transport == "sctp" else {}
    if name is None:
        return found
    own = content[transport][name]
    if "inherit" in own:
        found = _options(content, transport, own["inherit"])
    return _over(found, {key: value for key, value in own.items() if key != "inherit"})


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        merged[key] = _over(under, value) if isinstance(under, Mapping) and isinstance(value, Mapping) else value
    return merged


def _number(table: Mapping[str, Any], key: str, default: float | None, where: str) -> float:
    """A constant with its unit as a number in the base unit."""
    value = table.get(key, default)
    if isinstance(value, float):
        return value
    found = re.fullmatch(r"\s*([0-9.eE+-]+)\s*([a-zA-Zµ]+)\s*", str(value))
    if found is None or found[2] not in _UNITS:
        raise OverlayError(f'{where}: `{key}` = {value}; expected a constant such as "2 s" or "1400 B"')
    return float(found[1]) * _UNITS[found[2]]
