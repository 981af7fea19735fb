"""Runs and sweeps with the real simulator, from the scenario to the data frames."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import anabranch
from anabranch import Result, ScenarioError, command
from anabranch.report import write
from anabranch.suites.fairness.measure import controls

SCENARIO = """
title = "Two hosts, two paths"
seed = 5
[[node]]
name = "client"
[[node]]
name = "server"
[[link]]
between = ["client", "server"]
net_id = 1
rate = "2 Mbit/s"
delay = "5 ms"
[[link]]
between = ["client", "server"]
name = "second"
net_id = 2
rate = "2 Mbit/s"
delay = "5 ms"
loss = 0.01
[sctp.plain]
[sctp.cmt]
cmt = { enabled = true }
[[flow]]
name = "bulk"
client = "client"
server = "server"
sctp = SET
connect_time = "0 s"
start_time = "100 ms"
reset_time = "500 ms"
stop_time = "3 s"
frame_rate = "0 Hz"
frame_size = "1400 B"
[[probe]]
quantity = "cwnd"
flow = "bulk"
from = "1 s"
to = "2 s"
every = "100 ms"
"""
ONE = SCENARIO.replace("SET", '"cmt"')
SWEEP = SCENARIO.replace("SET", '{ vary = ["plain", "cmt"], name = "set" }')


def throughput(result: Result) -> pl.DataFrame:
    wanted = (pl.col("quantity") == "throughput_bps") & (pl.col("flow") == "bulk")
    return result.scalars.filter(wanted)


def test_a_run_with_cmt_uses_both_paths() -> None:
    result = anabranch.run(ONE)
    (rate,) = throughput(result)["value"]
    assert 2.2e6 < rate < 4e6
    assert result.axes == []
    assert result.manifest["seed"] == 5


def test_a_latency_table_gives_metrics_a_series_and_a_grade(tmp_path: Path) -> None:
    result = anabranch.run(ONE + '[[latency]]\nclient = "client"\nserver = "server"\n')
    of = {
        flow: dict(rows.select("quantity", "value").iter_rows())
        for (flow,), rows in result.scalars.filter(pl.col("flow").str.starts_with("latency")).group_by("flow")
    }
    assert sorted(of) == ["latency-1", "latency-2"], "a path for each network"
    for numbers in of.values():
        added = numbers["echo_rtt_p95_s"] - numbers["echo_rtt_idle_p50_s"]
        assert numbers["echo_rtt_added_s"] == pytest.approx(added)
        # 100 packets of drop-tail wait at most 0.6 s.
        assert 0.01 < added < 0.65
    assert [anabranch.latency_grade(added) for added in (0.0, 0.055, math.inf)] == ["A+", "B", "F"]
    assert result.summary("echo_rtt_added_s")["flow"].to_list() == ["latency-1", "latency-2"]
    series = result.series.filter(pl.col("quantity") == "probe-rtt")
    idle = series.filter((pl.col("flow") == "latency-1") & (pl.col("time") < 0.1))
    # Of two values, half do not exceed the least.
    assert (len(idle), idle["value"].min()) == (2, of["latency-1"]["echo_rtt_idle_p50_s"])
    page = write(result, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Round-trip time of probes" in page


def test_a_probe_gives_a_series_for_each_path() -> None:
    series = anabranch.run(ONE).series
    assert series["quantity"].unique().to_list() == ["cwnd"]
    assert sorted(series["path"].unique()) == [0, 1]
    assert series["time"].is_between(1.0, 2.0).all()
    assert series.height >= 18


def test_paths_have_the_same_numbers_in_tables_labels_reports_and_explanations(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    result = anabranch.run(ONE)
    assert set(result.scalars["path"].drop_nulls()) == set(result.series["path"].drop_nulls()) == {0, 1}
    labels = {line.get_label() for line in result.plot("cwnd").axes[0].lines}
    assert {"path 0", "path 1 (second)"} <= labels
    (tmp_path / "two.toml").write_text(ONE)
    write(tmp_path / "two.toml", tmp_path / "r.html")
    assert command.main(["explain", str(tmp_path / "two.toml")]) == 0
    for text in (capfd.readouterr().out, (tmp_path / "r.html").read_text(encoding="utf-8")):
        assert set(re.findall(r"path (\d)", text)) == {"0", "1"}


def test_seed_and_replica_determine_a_run() -> None:
    first, again = anabranch.run(ONE, seed=9), anabranch.run(ONE, seed=9)
    other = anabranch.run(ONE, seed=9, replica=1)
    assert first.scalars.equals(again.scalars)
    assert not first.scalars.drop("replica").equals(other.scalars.drop("replica"))


def test_keys_of_a_scenario_can_be_set(tmp_path: Path) -> None:
    slow = anabranch.run(ONE, set={"link.*.rate": "400 kbit/s"})
    assert throughput(slow)["value"][0] < 0.5 * throughput(anabranch.run(ONE))["value"][0]
    varied = anabranch.sweep(
        ONE, replicas=1, set={"link.*.rate": {"vary": ["400 kbit/s", "800 kbit/s"], "name": "rate"}}
    )
    assert varied.axes == ["rate"]
    with pytest.raises(anabranch.ScenarioError, match="no element `0` in `link`"):
        anabranch.run(ONE, set={"link.0.rate": "1 Mbit/s"})
    stored = anabranch.run(ONE, out=tmp_path / "run")
    assert anabranch.Result.read(tmp_path / "run").scalars.equals(stored.scalars)


def test_a_sweep_adds_replicas_until_the_interval_is_narrow() -> None:
    few = anabranch.sweep(SWEEP, until="throughput_bps ± 50 %")
    assert few.scalars["run"].n_unique() == 10
    more = anabranch.sweep(SWEEP, replicas=2, until="throughput_bps +- 0.01 %", most=3)
    assert more.scalars["run"].n_unique() > 4
    with pytest.raises(ValueError, match="expected a quantity and an interval"):
        anabranch.sweep(SWEEP, until="2 %")


def test_no_replica_and_no_thread_are_refused() -> None:
    with pytest.raises(ValueError, match="expected at least one replica"):
        anabranch.sweep(ONE, replicas=0)
    with pytest.raises(ValueError, match="expected at least one thread"):
        anabranch.sweep(ONE, jobs=0)


def test_a_path_text_and_a_dictionary_are_the_same_scenario(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(ONE)
    found = [anabranch.run(scenario).scalars for scenario in (path, str(path), ONE, tomllib.loads(ONE))]
    assert all(scalars.equals(found[0]) for scalars in found)


def test_a_sweep_has_every_combination_and_does_not_depend_on_threads(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    result = anabranch.sweep(SWEEP, replicas=3, jobs=2, progress=lambda done, total, _: told.append((done, total)))
    assert result.axes == ["set"]
    assert throughput(result).select("set", "replica").rows() == [(s, r) for s in ("plain", "cmt") for r in range(3)]
    assert told[-1] == (6, 6)
    summary = result.summary("throughput_bps").filter(pl.col("flow") == "bulk")
    plain, cmt = summary["mean"]
    assert cmt > 1.2 * plain
    alone = anabranch.sweep(SWEEP, replicas=3, jobs=1, out=tmp_path)
    assert alone.scalars.equals(result.scalars)


def test_a_stored_sweep_is_not_simulated_again(tmp_path: Path) -> None:
    def kept() -> set[tuple[Path, int]]:
        return {(path, path.stat().st_mtime_ns) for path in (tmp_path / "runs").rglob("*") if path.is_file()}

    anabranch.sweep(SWEEP, replicas=2, out=tmp_path)
    before = kept()
    anabranch.sweep(SWEEP, replicas=3, out=tmp_path)
    assert before < kept()
    assert throughput(Result.read(tmp_path)).height == 6


def test_the_error_for_an_unknown_key_names_its_line_and_the_right_key() -> None:
    with pytest.raises(ScenarioError, match=r"<text>:\d+:\d+: .*`delay`"):
        anabranch.run(ONE.replace("delay", "dealy"))
    with pytest.raises(ScenarioError, match="set"):
        anabranch.run(SWEEP)


def test_an_exception_in_progress_stops_the_sweep() -> None:
    def stop(*_: Any) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        anabranch.sweep(SWEEP, replicas=500, progress=stop)


LONG = ONE.replace('stop_time = "3 s"', 'stop_time = "30000 s"')


@pytest.mark.usefixtures("interrupts")
@pytest.mark.skipif(os.name == "nt", reason="signals are sent by number")
@pytest.mark.parametrize("call", [anabranch.run, lambda s: anabranch.sweep(s, replicas=2)], ids=["run", "sweep"])
def test_ctrl_c_stops_a_long_call(call: Any) -> None:
    begun = time.monotonic()
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        call(LONG)
    assert time.monotonic() - begun < 5


def test_other_threads_run_during_a_simulation() -> None:
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.002):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.monotonic()
    anabranch.run(ONE.replace('stop_time = "3 s"', 'stop_time = "300 s"'))
    took = time.monotonic() - begun
    done.set()
    thread.join()
    assert len(ticks) > 0.1 * took / 0.002


def test_subcommands_of_rust_are_passed_to_rust(tmp_path: Path, capfd) -> None:
    path = tmp_path / "one.toml"
    path.write_text(ONE)
    assert command.main(["validate", str(path)]) == 0
    path.write_text(ONE.replace("delay", "dealy"))
    assert command.main(["validate", str(path)]) != 0
    assert "delay" in "".join(capfd.readouterr())


def test_the_schema_is_json() -> None:
    assert "flow" in json.loads(anabranch.scenario_schema())["properties"]


@pytest.mark.parametrize(("protocol", "where"), [("SCTP", "sctp"), ("TCP", "tcp")])
def test_every_congestion_control_can_be_named_in_a_scenario(protocol: str, where: str) -> None:
    names = list(controls())
    scenario = tomllib.loads(ONE)
    key = {"sctp": "congestion_control", "tcp": "control"}[where]
    scenario[where] = {"cmt": {key: {"vary": names, "name": "control"}}}
    flow = {name: value for name, value in scenario["flow"][0].items() if name != "sctp"}
    scenario["flow"] = [flow | {"protocol": protocol, where: "cmt"}]
    del scenario["probe"]
    result = anabranch.sweep(scenario, replicas=1, jobs=1)
    received = result.scalars.filter((pl.col("quantity") == "received_bytes") & (pl.col("flow") == "bulk"))
    assert received["control"].to_list() == names
    assert (received["value"] > 100_000).all()
