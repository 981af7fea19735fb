"""The page about one run."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from . import latency, measured, panels
from .limits import limits
from .model import LIMITS, RunView, is_flow
from .page import Cell, Page, details, escape, facts, number, table
from .sequence import sequence
from .topology import shown, topology

CONTROLS = """<div class="controls" id="time-controls" role="group" aria-label="Times that all panels show">
<strong>Time</strong>
<label>from <input type="number" step="any" aria-label="from, in seconds"></label>
<label>to <input type="number" step="any" aria-label="to, in seconds"></label> s
<button type="button" data-act="in">Zoom in</button> <button type="button" data-act="out">Zoom out</button>
<button type="button" data-act="left">Earlier</button> <button type="button" data-act="right">Later</button>
<button type="button" data-act="whole">Whole run</button>
<span class="note">All panels move together. Drag over times to enlarge them; Ctrl and the wheel zoom.</span></div>"""
FLOW = (
    ("throughput_bps", "throughput, Mbit/s", 1e-6), ("sent_throughput_bps", "sent, Mbit/s", 1e-6),
    ("data_packets", "data packets", 1.0), ("fast_retransmissions", "retransmitted after missing reports", 1.0),
    ("timer_retransmissions", "after a timeout", 1.0), ("needless_retransmissions", "needlessly", 1.0),
    ("timeouts", "timeouts", 1.0), ("srtt_s", "SRTT at the end, ms", 1e3),
)  # fmt: skip
MOST_COLUMNS = 12
"""Flows and paths in the table of limits."""
DROPS = ("queue_full", "red_early", "red_forced", "loss", "damaged", "policed", "delayed", "too_big", "link_down")


def build(run: RunView, text: str | None, source: str) -> Page:
    """The page of a run; ``text`` is the scenario, if it is known."""
    manifest = run.result.manifest
    page = Page(str(manifest.get("title") or source))
    record: dict[str, Any] = (manifest.get("runs") or [{}])[0]
    is_measured = measured.is_measured(manifest)
    page.lead = measured.origin(manifest) if is_measured else origin(manifest, record)
    troubles = [*record.get("failures", []), *record.get("warnings", [])]
    page.add(*(f'<p class="warn">{escape(line)}</p>' for line in troubles))
    page.section("summary", "Flows")
    page.add(_flows(run), _limits_table(run))
    if latency.phases(manifest):
        page.section("latency", "Latency under load")
        page.add(*latency.summary(manifest))
    page.section("time", "Over time")
    _panels(page, run)
    if not is_measured:
        page.section("links", "Links")
        page.add(_links(run))
        page.section("network", "Network and scenario")
        page.add(*network(text))
    page.section("numbers", "All numbers")
    page.add(details("Every number that was measured", _scalars(run)))
    return page


def origin(manifest: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """Where results come from: seed, digest, versions, machine."""
    machine = manifest.get("machine") or {}
    pairs = [
        ("seed", f"{manifest.get('seed')}" + (f", replica {record.get('replica')}" if record else "")),
        ("digest", str(record.get("digest", ""))),
        ("simulator", str(manifest.get("simulator", ""))),
        ("commit", str(manifest.get("commit") or "")),
        ("scenario (SHA-256)", str(manifest.get("scenario_sha256", ""))),
        ("simulated", f"{number(record['simulated_s'])} s, {record.get('packet_hops')} packet-hops" if record else ""),
        ("parameters", ", ".join(f"{k} = {shown(v)}" for k, v in (record.get("parameters") or {}).items())),
        ("machine", ", ".join(filter(None, (machine.get("cpu"), machine.get("os"), machine.get("arch"))))),
    ]
    return facts(pairs)


def _panels(page: Page, run: RunView) -> None:
    if not run.series and measured.is_measured(run.result.manifest):
        page.add("<p>The measurement had no intervals.</p>")
        return
    if not run.series:
        page.add(
            "<p>The run stored no quantity over time, since its scenario has no <code>[[probe]]</code>. "
            "<code>anabranch report SCENARIO</code> runs a scenario with all probes.</p>"
        )
        return
    page.add(CONTROLS)
    if run.dropped:
        page.add(
            f'<p class="note">Panels show the flows {escape(", ".join(run.flows))}; <code>--flow</code> shows others: '
            f"{escape(', '.join(run.dropped[:20]))}</p>"
        )
    board = panels.Board.of(run)
    latency.over_time(board, run)
    latency.distribution(board, run)
    panels.rates(board, run)
    for flow in run.flows:
        sequence(board, run, flow)
        panels.windows(board, run, flow)
        panels.times(board, run, flow)
        limits(board, run, flow)
    panels.queues(board, run)
    for key, drawn in board.figures.items():
        kind, _, flow = key.partition(" ")
        title, note = TITLES[kind]
        page.figure(key, drawn, f"{title} of {flow}" if flow else title, note)


TITLES = {
    "latency": (
        "Round-trip time of probes",
        "Each mark is a probe, at the time of its sending. A click on a grey name in the legend shows the probes "
        "within the load and in new associations.",
    ),
    "latency-cdf": ("Distribution of round-trip times", "The probes of each path, in each phase."),
    "throughput": ("Throughput", "What the receiver got, and what each path sent, retransmissions included."),
    "sequence": (
        "Time and sequence",
        "Each mark is a chunk; TSNs count from the first chunk of the association. A zoom in time enlarges TSNs, too.",
    ),
    "windows": (
        "Windows",
        "Congestion window and slow start threshold of each path; what is far above every cwnd is cut off. A click on "
        "a grey name in the legend shows it: flight size, and the peer's receive window.",
    ),
    "rtt": ("Smoothed round-trip time", ""),
    "limits": ("What limited the sender", "The height of a colour is its share of the time."),
    "queues": ("Queues", "Packets that wait, and crosses where packets were dropped."),
}


def _flows(run: RunView) -> str:
    """Throughput, retransmissions and RTT of flows and paths."""
    rows: list[list[object]] = []
    scalars = run.scalars
    kept = [column for column in FLOW if any(key[2] == column[0] and value for key, value in scalars.items())]
    for flow, path in sorted({(f, -1 if p is None else p) for f, p, _ in scalars if is_flow(f)}):
        cells = [scalars.get((flow, None if path < 0 else path, name)) for name, _, _ in kept]
        values = [None if v is None else v * scale for v, (_, _, scale) in zip(cells, kept, strict=True)]
        if any(v is not None for v in values):
            rows.append([_place(run, flow, path), *values])
    return table(["flow", *(title for _, title, _ in kept)], rows, "From the reset time to the stop time of each flow")


def _limits_table(run: RunView) -> str:
    """The share of time of each limit, of flows and paths."""
    scalars = run.scalars
    known = sorted({(f, -1 if p is None else p) for f, p, q in scalars if q.startswith("limited_by_")})[:MOST_COLUMNS]
    rows: list[list[object]] = []
    for name, words in LIMITS:
        shares = [scalars.get((f, None if p < 0 else p, f"limited_by_{name}_share")) for f, p in known]
        if any(shares):
            rows.append(
                [words, *(Cell("" if s is None else f"{100 * s:.1f} %" if s else "–", number=True) for s in shares)]
            )
    head = ["limited by", *(_place(run, flow, path) for flow, path in known)]
    return table(head, rows, "Share of the time in which each limit kept the sender from sending more") if rows else ""


def _links(run: RunView) -> str:
    """Utilisation, greatest queue and drops of each direction of a link."""
    scalars = run.scalars
    kept = [cause for cause in DROPS if any(q == f"drops_{cause}" and v for (_, _, q), v in scalars.items())]
    rows: list[list[object]] = []
    for link in sorted({f for f, _, _ in scalars if f.startswith("link:")}):
        used = scalars.get((link, None, "utilisation"))
        row: list[object] = [link.removeprefix("link:"), "" if used is None else f"{100 * used:.1f} %"]
        row += [scalars.get((link, None, name)) for name in ("queue_max_packets", "delivered_packets")]
        rows.append([*row, *(scalars.get((link, None, f"drops_{cause}")) for cause in kept)])
    heads = [f"dropped: {cause.replace('_', ' ')}" for cause in kept]
    note = "" if kept else "No link dropped a packet"
    return table(["link", "utilisation", "longest queue, packets", "packets delivered", *heads], rows, note)


def network(text: str | None) -> list[str]:
    """The drawing of the network, a table of its links, and the text of the scenario."""
    if text is None:
        return [
            "<p>The results do not hold the text of their scenario: an older version of Anabranch wrote them. "
            "A new run stores it.</p>"
        ]
    scenario = tomllib.loads(text)
    keys = ("name", "rate", "delay", "queue")
    rows = [
        [" – ".join(map(str, link.get("between", []))), *(shown(link.get(key)) for key in keys)]
        for link in scenario.get("link", [])
    ]
    links = table(["between", *keys], rows, "Links") if rows else ""
    return [
        topology(scenario),
        details("Links as a table", links),
        details("Scenario", f"<pre>{escape(text)}</pre>", printed=True),
    ]


def _scalars(run: RunView) -> str:
    rows = run.result.scalars.select("window", "flow", "path", "quantity", "value").iter_rows()
    return table(
        ["window", "flow", "path", "quantity", "value"],
        ([w, f, None if p is None else _number(run, f, p, q), q, v] for w, f, p, q, v in rows),
        names=0,
    )


def _place(run: RunView, flow: str, path: int) -> str:
    """A flow, or one of its paths."""
    return flow if path < 0 else f"{flow}, {run.result.path_label(flow, path)}"


def _number(run: RunView, flow: str, path: int, quantity: str) -> str:
    """The number of a path with its name, for a column of paths."""
    return run.result.path_label(flow, path, back=quantity.startswith("back_")).removeprefix("path ")
