"""Measurements between two hosts, with the same tables as simulated runs."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, Unpack

from . import _core, lab
from .options import Options
from .result import Result
from .scenario import to_toml

Direction = Literal["up", "down", "both"]
"""Who sends: this host, the server, or both."""

_DIRECTIONS = {"up": [], "down": ["--reverse"], "both": ["--bidir"]}


def measure(
    host: str | Sequence[str],
    *,
    port: int = 9000,
    udp_port: int = _core.UDP_PORT,
    local: Sequence[str] = (),
    transport: Literal["sctp", "tcp", "udp"] = "sctp",
    time: float = 10.0,
    omit: float = 0.0,
    interval: float = 1.0,
    rate: float | None = None,
    length: int | None = None,
    direction: Direction = "up",
    latency: bool = False,
    probe_rate: float = 20.0,
    parallel: int = 1,
    streams: int = 1,
    flows: Sequence[str] = (),
    pcap: str | os.PathLike[str] | None = None,
    pcap_limit: int | None = None,
    key: str | os.PathLike[str] | None = None,
    peer: str | None = None,
    progress: Callable[[dict[str, Any]], object] | None = None,
    **options: Unpack[Options],
) -> Result:
    """Measures against ``anabranch measure --server``, or NetPerfMeter with TCP and UDP, and returns the results.

    Times are seconds, sizes bytes, rates bit/s. ``host``: the server, and its further addresses for SCTP; ``local``:
    addresses of this host. ``latency``: measures latency without load and under load in phases of ``time`` (half of it
    without load), with ``probe_rate`` probes a second on each path, in place of ``direction``, ``parallel``,
    ``streams``, ``omit``, ``flows`` and ``transport``; ``summary("rpm")`` of the result is the responsiveness.
    ``rate``: that of each flow; 0, the default except for UDP, means as fast as possible. ``length``: that of a
    message. ``flows``: NetPerfMeter's flow specifications, in place of ``rate``, ``length``, ``direction``,
    ``parallel`` and ``streams``. ``options``: the options of SCTP. ``time``: 0 measures until the call is stopped.
    ``progress`` gets each interval. ``pcap``: file for a capture of the packets of SCTP at this side, of at most
    ``pcap_limit``, 100 MiB unless set; a warning says how many packets at the end are not in it. ``key``: the file of
    this side's private key, which encrypts SCTP, but not TCP, UDP and the control connection; ``peer``: the public key
    of the server.

    Needs ``pip install 'anabranch[lab]'``. The manifest of the result is the report of ``anabranch measure --json``.
    Ctrl-C stops the measurement. Raises ``OSError`` if the server cannot be reached or the measurement fails,
    ``ValueError`` for wrong arguments.
    """
    lab.require()
    hosts = host if isinstance(host, str) else ",".join(host)
    arguments = [hosts, "--port", str(port), "--udp-port", str(udp_port)]
    arguments += ["--time", str(time), "--interval", str(interval)]
    arguments += ["--latency", "--probe-rate", str(probe_rate)] if latency else []
    # The command refuses options that exclude each other, so the defaults are left out.
    arguments += [] if transport == "sctp" else ["--transport", transport]
    arguments += ["--omit", str(omit)] if omit else []
    if local:
        arguments += ["--local", ",".join(local)]
    for flow in flows:
        arguments += ["--flow", flow]
    if not flows:
        arguments += _DIRECTIONS[direction]
        arguments += [] if parallel == 1 else ["--parallel", str(parallel)]
        arguments += [] if streams == 1 else ["--streams", str(streams)]
        arguments += [] if rate is None else ["--bitrate", str(rate)]
        arguments += [] if length is None else ["--length", str(length)]
    if pcap is not None:
        arguments += ["--pcap", os.fspath(pcap)]
        arguments += [] if pcap_limit is None else ["--pcap-limit", str(pcap_limit)]
    arguments += [] if key is None else ["--key", os.fspath(key)]
    arguments += [] if peer is None else ["--peer", peer]
    if options:
        arguments += ["--set", to_toml(options)]
    watch = None if progress is None else lambda text: progress(json.loads(text))
    result = Result.from_bytes(*_core.measure(arguments, watch))
    _warn_of_capture(result.manifest["capture"])
    return result


def _warn_of_capture(capture: dict[str, Any] | None) -> None:
    if capture is None:
        return
    if capture["failure"] is not None:
        warnings.warn(f"cannot write {capture['file']}: {capture['failure']}", stacklevel=3)
    if capture["left_out"] > 0:
        text = f"{capture['file']} reached its limit: the last {capture['left_out']} packets are not in it"
        warnings.warn(f"{text}; pcap_limit allows more", stacklevel=3)
