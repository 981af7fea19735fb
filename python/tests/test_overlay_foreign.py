"""Overlays whose real runs use other stacks: usrsctp, and MPTCP of the kernel."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from anabranch import command
from anabranch.overlay import foreign, observe, overlaying, plan, real
from anabranch.overlay.foreign import ForeignError
from anabranch.overlay.observe import Quantity
from anabranch.overlay.suite import entries
from anabranch.shipped import folder

FILE = folder("suites") / "overlay" / "foreign.toml"
SHORT = ["link.*.rate=8 Mbit/s", "flow.transfer.reset_time=500 ms", "flow.transfer.stop_time=2.5 s"]


def planned(program: str, *settings: str) -> plan.Plan:
    return plan.read(FILE, [f"like={program}", *settings], program=program)


def test_the_suite_has_runs_by_each_program() -> None:
    found = {entry.program: entry for entry in entries()}
    assert set(found) == {"ours", "usrsctp", "mptcp"}
    for program in foreign.FOREIGN.values():
        (flow,) = planned(program.name).flows
        assert program.unfit(flow) is None


@pytest.mark.parametrize(
    ("program", "setting", "message"),
    [
        ("usrsctp", "flow.transfer.frame_size=1000 B", 'frame_size = "1400 B"'),
        ("usrsctp", "flow.transfer.networks=[1]", "expected a flow over 2 networks, found 1"),
        ("usrsctp", 'sctp.usrsctp.congestion_control="cubic"', "that of RFC 9260"),
        ("mptcp", "flow.transfer.frame_rate=50 Hz", 'frame_rate = "0 Hz"'),
        ("mptcp", 'sctp.mptcp.congestion_control="olia"', "expected one of standard, cubic, bbr"),
    ],
)
def test_flows_that_a_program_cannot_run_are_named(program: str, setting: str, message: str) -> None:
    with pytest.raises(ForeignError, match=message):
        foreign.check(planned(program, setting))


def test_a_program_needs_a_flow_of_sctp() -> None:
    found = plan.read(folder("suites") / "overlay" / "kernel-tcp.toml", program="usrsctp")
    with pytest.raises(ForeignError, match="takes the place of one flow of SCTP; found 0"):
        foreign.check(found)


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ForeignError, match="usrsctp needs the C compiler cc"):
        foreign.check(planned("usrsctp"))


def test_what_arrives_is_the_throughput_and_paths_have_no_quantities(tmp_path: Path) -> None:
    found = planned("usrsctp", *SHORT)
    run = tmp_path / "run" / "transfer"
    run.mkdir(parents=True)
    # The first message leaves at 1e9 s, which is 4 s on the clock of the scenario; bins begin at 4.5 s.
    rows = [(0.01, 999), (0.6, 125_000), (1.6, 125_000), (2.4, 125_000), (2.6, 999)]
    text = "".join(f"{1e9 + after:.6f} {size}\n" for after, size in rows)
    (run / foreign.ARRIVALS).write_text(text, encoding="ascii")
    assert foreign.finish(found, found.flows[0], 'listening\n{"begun": 1000000000.0}', run) is None
    (tmp_path / "run" / "emulation").mkdir()
    values: observe.Values = {}
    observe._measured(values, found, found.flows[0], run, None)
    assert values == {Quantity("transfer", "throughput", "Mbit/s"): pytest.approx([1.0, 2.0])}


def test_finished_runs_of_another_program_are_not_kept(tmp_path: Path) -> None:
    found = planned("usrsctp", *SHORT)
    stored = {"scenario": found.simulated(), "program": "mptcp", "outcome": {"late": False}}
    (tmp_path / overlaying.STORED).write_text(json.dumps(stored), encoding="utf-8")
    assert overlaying._finished(found, tmp_path) is None
    (tmp_path / overlaying.STORED).write_text(json.dumps({**stored, "program": "usrsctp"}), encoding="utf-8")
    assert overlaying._finished(found, tmp_path) == {"late": False}


def small_overlay(program: str, out: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    settings = [f"--set={setting}" for setting in (f"like={program}", *SHORT)]
    call = ["overlay", str(FILE), *settings, "--program", program, "--real", "2", "--replicas", "3", "--force"]
    assert command.main([*call, "--out", str(out), "--formats", "png", "--json", "--quiet"]) in (0, 3)
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("program", list(foreign.FOREIGN))
def test_other_stacks_send_over_both_emulated_links(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if (why := real.missing() or foreign.FOREIGN[program].missing()) is not None:
        if os.environ.get("ANABRANCH_REQUIRE_TOOLS"):
            pytest.fail(f"real runs by {program} need {why}, and ANABRANCH_REQUIRE_TOOLS is set")
        pytest.skip(f"real runs by {program} need {why}")
    found = small_overlay(program, tmp_path, capsys)
    assert found["program"] == program
    rows = {(row["place"], row["what"]): row for row in found["quantities"]}
    # Both links together carry at most 16 Mbit/s.
    for run in rows["transfer", "throughput"]["real"]:
        assert all(0.0 < rate < 16.0 for rate in run), found
    emulated = json.loads((tmp_path / "run-1" / "emulation" / "manifest.json").read_text(encoding="utf-8"))
    carried = {link["link"]: link["delivered_bytes"] for link in emulated["emulation"]["links"]}
    assert min(carried["one client > server"], carried["two client > server"]) > 250_000, carried
    assert not [place for place, _ in rows if ", path" in place]
    assert not list(Path("/run/netns").glob(f"ov{os.getpid()}-*")), "namespaces are removed"
