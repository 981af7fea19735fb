"""Overlays: reading of scenarios and results, and an overlay with real runs over an emulated network."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import anabranch
from anabranch import command
from anabranch.folder import sealed
from anabranch.overlay import command as overlay_command
from anabranch.overlay import observe, plan, real
from anabranch.overlay.observe import Quantity
from anabranch.overlay.plan import OverlayError
from anabranch.overlay.suite import entries

SCENARIO = """
title = "Small"
seed = 3
node = [{ name = "client", jitter = "20 us" }, { name = "server" }]

[[link]]
name = "one"
between = ["client", "server"]
net_id = 1
rate = "8 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", packets = 20 }

[[link]]
name = "two"
between = ["client", "server"]
net_id = 2
rate = "8 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", packets = 20 }

[sctp.base]
profile = "recommended"
cmt = { dac = false }

[sctp.ours]
inherit = "base"
hb_interval = "1 s"
cmt = { sfr = true }

[[flow]]
name = "transfer"
client = "client"
server = "server"
udp_encapsulation = true
sctp = "ours"
connect_time = "1 s"
start_time = "2 s"
reset_time = "500 ms"
stop_time = "2.5 s"
frame_rate = "0 Hz"
frameSize = "1000 B"
"""


def test_a_plan_has_what_real_programs_need() -> None:
    found = plan.read(SCENARIO)
    (flow,) = found.flows
    assert (flow.start, flow.stop, flow.length, flow.rate) == (3.0, 5.5, 1000, 0.0)
    assert found.bins == (3.5, 4.5, 5.5)
    assert flow.options["client"] == {
        "profile": "recommended",
        "hb_interval": "1 s",
        "cmt": {"dac": False, "sfr": True},
    }
    assert found.way(flow) == (["10.1.0.1", "10.2.0.1"], ["10.1.0.2", "10.2.0.2"])
    assert plan.read(SCENARIO, ["flow.transfer.start_time=4 s"]).flows[0].start == 5.0


def test_simulated_hosts_get_the_jitter_and_emulated_ones_none() -> None:
    found = plan.read(SCENARIO)
    assert found.simulated().count('jitter = "20 us"') == 1
    assert found.simulated(1e-4).count('jitter = "0.000100000 s"') == 2
    emulated = found.emulated({"client": "c", "server": "s"})
    assert "jitter" not in emulated
    assert "[flow" not in emulated
    assert 'addresses = ["10.1.0.2/16", "10.2.0.2/16"]' in emulated


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("udp_encapsulation = true", "", "real SCTP is in UDP"),
        ('start_time = "2 s"', 'start_time = "1 s"', "expected 3 s or more"),
        ('start_time = "2 s"', 'start_time = { uniform = ["2 s", "3 s"] }', "expected a constant"),
        ('"8 Mbit/s"', '{ vary = ["8 Mbit/s", "9 Mbit/s"] }', "has variations"),
        ('stop_time = "2.5 s"', 'stop_time = "1 s"', "less than a bin"),
        ("net_id = 2", "net_id = 1", "another `net_id`"),
        ("frame_rate =", "bidirectional = true\nframe_rate =", "`bidirectional` cannot be run"),
    ],
)
def test_what_cannot_run_for_real_is_named(before: str, after: str, message: str) -> None:
    assert before in SCENARIO
    with pytest.raises(OverlayError, match=message):
        plan.read(SCENARIO.replace(before, after))


def test_every_scenario_of_the_suite_can_be_planned_and_simulated() -> None:
    found = entries()
    assert len(found) >= 7
    for entry in found:
        read = plan.read(entry.file, entry.settings)
        assert len(read.bins) > 5
        short = [f"flow.{flow.name}.stop_time=2.2 s" for flow in read.flows]
        reset = [f"flow.{flow.name}.reset_time=0 s" for flow in read.flows]
        small = plan.read(entry.file, [*entry.settings, *short, *reset])
        values = observe.simulated(small, anabranch.sweep(small.simulated(1e-4), replicas=1))
        assert values[0][Quantity(small.flows[0].name, "throughput", "Mbit/s")][1] > 1.0


def measured(folder: Path, begun: float, received: list[tuple[float, int]]) -> Path:
    """A folder as ``measure`` writes it: messages that arrived after so many seconds, and two intervals of one path."""
    folder.mkdir(parents=True)
    path = {"user_bytes": 500_000, "retransmissions": 4, "srtt_s": 0.02}
    parts = [
        {"from_s": low, "to_s": high, "associations": [{"paths": [path | {"srtt_s": srtt}]}]}
        for low, high, srtt in ((0.5, 1.5, 0.02), (1.5, 2.5, 0.03))
    ]
    manifest = {"schema": "anabranch.measure/1", "begun_us": round(begun * 1e6), "intervals": parts}
    (folder / "manifest.json").write_text(sealed(manifest), encoding="utf-8")
    rows = ["AbsTime RelTime SeqNumber"]
    for number, (after, size) in enumerate(received):
        rows.append(f"{number} {round((begun + after) * 1e6)} 0.0 {number}\t0 0 0\t{size} 1 1\t10.000 0.000 0.000")
    (folder / real.VECTOR).write_text("\n".join(rows) + "\n", encoding="ascii")
    return folder


def test_real_quantities_are_in_bins_from_the_first_message_on(tmp_path: Path) -> None:
    found = plan.read(SCENARIO)
    # The first message leaves at `begun` and arrives 10 ms later. On the clock of the scenario it is sent at 3 s; bins
    # begin at 3.5 s.
    arrivals = [(0.010, 999), (0.499, 999), (0.501, 125_000), (1.499, 125_000), (1.6, 375_000), (2.6, 999)]
    values = observe.real(found, measured(tmp_path / "run", 1e9, arrivals))
    assert values[Quantity("transfer", "throughput", "Mbit/s")] == pytest.approx([2.0, 3.0])
    assert values[Quantity("transfer, path 0", "sent", "Mbit/s")] == pytest.approx([4.0, 4.0])
    assert values[Quantity("transfer, path 0", "retransmissions", "chunks")] == pytest.approx([4.0, 4.0])


def test_amounts_over_an_edge_are_divided() -> None:
    found = plan.read(SCENARIO)
    assert observe.spread(found, [(4.25, 4.75, 10.0), (3.0, 4.0, 2.0), (9.0, 9.5, 5.0)]) == pytest.approx([6.0, 5.0])


def test_runs_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    scenario = tmp_path / "small.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    one = measured(tmp_path / "run", 1e9, [(0.01, 1000), (1.0, 1000)])
    out = ["--out", str(tmp_path / "out"), "--replicas", "2", "--quiet"]
    with pytest.raises(OverlayError, match="2 real runs or more"):
        overlay_command.run([str(scenario), "--runs", str(one), *out], int)
    with pytest.raises(OverlayError, match=r"anabranch measure --out"):
        overlay_command.run([str(scenario), "--runs", str(one), str(tmp_path), *out], int)


def test_a_damaged_manifest_of_a_run_is_one_line_that_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "small.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    runs = [measured(tmp_path / f"run-{n}", 1e9, [(0.01, 1000), (1.0, 1000)]) for n in (1, 2)]
    path = runs[1] / "manifest.json"
    whole = path.read_text(encoding="utf-8")
    for wrong in (whole.replace("500000", "600000"), whole[:99], "\0"):
        path.write_text(wrong, encoding="utf-8")
        call = ["overlay", str(scenario), "--runs", *map(str, runs), "--replicas", "2", "--out", str(tmp_path / "out")]
        assert command.main([*call, "--quiet"]) == 1
        said = capsys.readouterr().err
        assert str(path) in said
        assert len(said.splitlines()) == 1, said


def test_measured_runs_of_elsewhere_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "small.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    runs = [measured(tmp_path / f"run-{n}", 1e9, [(0.01, 1000), (1.0, 100_000 * n), (2.0, 9)]) for n in (1, 2)]
    call = ["overlay", str(scenario), "--runs", *map(str, runs), "--replicas", "3", "--out", str(tmp_path / "out")]
    assert command.main([*call, "--formats", "png", "--json", "--quiet"]) == 3
    found = json.loads(capsys.readouterr().out)
    verdicts = {(row["place"], row["what"]): row for row in found["quantities"]}
    throughput = verdicts["transfer", "throughput"]
    assert throughput["verdict"] == "differ"
    assert throughput["real"][1] == pytest.approx([1.6, 0.000072])
    assert found["lateness"] == []
    assert (tmp_path / "out" / "overlay.png").stat().st_size > 5000


def small_overlay(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    scenario = folder / "small.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    # This test does not check whether such short runs on a busy machine are late or agree.
    call = ["overlay", str(scenario), "--real", "2", "--replicas", "3", "--force", "--out", str(folder / "out")]
    assert command.main([*call, "--formats", "png", "--json", "--quiet"]) in (0, 3)
    return json.loads(capsys.readouterr().out)


def test_real_programs_over_emulated_links_are_like_simulated_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if (why := real.missing()) is not None:
        if os.environ.get("ANABRANCH_REQUIRE_TOOLS"):
            pytest.fail(f"real runs need {why}, and ANABRANCH_REQUIRE_TOOLS is set")
        pytest.skip(f"real runs need {why}")
    found = small_overlay(tmp_path, capsys)
    rows = {(row["place"], row["what"]): row for row in found["quantities"]}
    throughput = rows["transfer", "throughput"]
    # Both paths together carry at most 16 Mbit/s, and one alone 8. What waited for a missing message counts, too.
    for run in throughput["real"]:
        assert all(9.0 < rate < 20.0 for rate in run), found
    assert {"transfer, path 0", "transfer, path 1", "link one", "link two"} <= {place for place, _ in rows}
    for path in (0, 1):
        assert all(rtt >= 20.0 for run in rows[f"transfer, path {path}", "RTT, median"]["real"] for rtt in run)
    assert len(found["lateness"]) == 2
    assert found["host_jitter_s"] > 0
    assert not list(Path("/run/netns").glob(f"ov{os.getpid()}-*")), "namespaces are removed"


def test_the_emulator_has_precedence_over_the_programs_at_its_ends(tmp_path: Path) -> None:
    if (why := real.missing()) is not None:
        if os.environ.get("ANABRANCH_REQUIRE_TOOLS"):
            pytest.fail(f"real runs need {why}, and ANABRANCH_REQUIRE_TOOLS is set")
        pytest.skip(f"real runs need {why}")
    if not real.urgent(2):
        pytest.skip("real-time priorities are not allowed here")
    namespaces = {host: f"ov{os.getpid()}-p{number}" for number, host in enumerate(("client", "server"))}
    (tmp_path / "emulated.toml").write_text(plan.read(SCENARIO).emulated(namespaces), encoding="utf-8")
    command = [sys.executable, "-c", "import os; print(os.sched_getparam(0).sched_priority)"]
    with real._emulation(tmp_path, namespaces, 1), real._Program(command, tmp_path / "program") as program:
        program.end(real.PATIENCE)
        parents = Path("/proc/self/task").glob("*/children")
        children = {int(pid) for parent in parents for pid in parent.read_text(encoding="ascii").split()}
        emulator = max(os.sched_getparam(pid).sched_priority for pid in children)
    assert emulator > int(program.said()) > 0
