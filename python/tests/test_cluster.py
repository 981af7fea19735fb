"""Sweeps on a Dask cluster, whose workers die."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_own_paper import copy_of_the_page

import anabranch
from anabranch import Result, cluster, command
from anabranch.shipped import UsageError

try:
    import dask.config
    import distributed
except ImportError:
    if os.environ.get("ANABRANCH_REQUIRE_TOOLS"):
        raise
    pytest.skip("Dask is not installed: pip install 'anabranch[cluster]'", allow_module_level=True)

SCENARIO = """
seed = 5
[[node]]
name = "a"
jitter = "20 us"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
rate = { vary = ["1 Mbit/s", "2 Mbit/s"], name = "rate" }
loss = 0.01
[[flow]]
name = "f"
client = "a"
server = "b"
reset_time = "1 s"
stop_time = { vary = ["3 s", "4 s"], name = "stop" }
frame_rate = "0 Hz"
"""
PATIENCE = 20.0


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    """A cluster of two workers, each in a process of its own."""
    with cluster.local_cluster(2) as local:
        yield local


@pytest.fixture(scope="module")
def client(workers) -> Iterator[distributed.Client]:
    with distributed.Client(workers) as found:
        yield found


def digests(result: Result) -> list[tuple[int, str, str]]:
    return [(run["run"], run["hash"], run["digest"]) for run in result.manifest["runs"]]


def same(one: Result, other: Result) -> bool:
    return (
        digests(one) == digests(other)
        and one.scalars.equals(other.scalars)
        and one.series.equals(other.series)
        and one.manifest["outputs_sha256"] == other.manifest["outputs_sha256"]
    )


def test_a_sweep_on_a_cluster_has_the_results_of_one_without(client, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    plain = anabranch.sweep(SCENARIO, replicas=2, jobs=1, out=tmp_path / "plain")
    far = anabranch.sweep(
        SCENARIO,
        replicas=2,
        out=tmp_path / "far",
        cluster=client,
        progress=lambda done, total, _: told.append((done, total)),
    )
    assert same(plain, far)
    assert told[-1] == (8, 8)
    # A call with more replicas in the same folder reuses the stored runs.
    more = anabranch.sweep(SCENARIO, replicas=3, out=tmp_path / "far", cluster=client)
    before = [(run["parameters"], run["replica"], run["wall_s"]) for run in far.manifest["runs"]]
    after = [(run["parameters"], run["replica"], run["wall_s"]) for run in more.manifest["runs"]]
    assert len(after) == 12
    assert all(run in after for run in before)


def test_a_worker_that_is_killed_costs_its_run_only(client, tmp_path: Path, monkeypatch) -> None:
    # The first worker that begins combination 2 dies in the middle of its run.
    died = tmp_path / "died"
    real = cluster.simulate

    def deadly(recipe: Any, combination: int, replica: int) -> Any:
        if combination == 2 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return real(recipe, combination, replica)

    monkeypatch.setattr(cluster, "simulate", deadly)
    far = anabranch.sweep(SCENARIO, replicas=2, out=tmp_path / "far", cluster=client)
    assert died.exists()
    assert same(anabranch.sweep(SCENARIO, replicas=2, jobs=1, out=tmp_path / "plain"), far)


def test_a_run_that_kills_each_worker_fails_and_keeps_the_others(client, tmp_path: Path, monkeypatch) -> None:
    real = cluster.simulate

    def deadly(recipe: Any, combination: int, replica: int) -> Any:
        if combination == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(recipe, combination, replica)

    monkeypatch.setattr(cluster, "simulate", deadly)
    # The scheduler may blame a run that waited at the same worker.
    with pytest.raises(anabranch.SimulationError, match=r"combination \d, replica 0: each worker .* died"):
        anabranch.sweep(SCENARIO, replicas=1, out=tmp_path, cluster=client)
    monkeypatch.undo()
    result = anabranch.sweep(SCENARIO, replicas=1, out=tmp_path, cluster=client)
    assert len(result.manifest["runs"]) == 4


def test_replicas_are_added_on_a_cluster_until_the_interval_is_narrow(client) -> None:
    wanted: dict[str, Any] = {"replicas": 2, "until": "throughput_bps ± 0.01 %", "most": 3}
    far = anabranch.sweep(SCENARIO, cluster=client, **wanted)
    assert far.scalars.equals(anabranch.sweep(SCENARIO, jobs=1, **wanted).scalars)
    assert far.scalars["run"].n_unique() > 8


def test_captures_come_from_the_workers(client, tmp_path: Path) -> None:
    scenario = SCENARIO + '[[capture]]\nlink = "a-b"\nfile = "a.pcapng"\n'
    anabranch.sweep(scenario, replicas=1, out=tmp_path / "far", cluster=client, captures=True)
    anabranch.sweep(scenario, replicas=1, out=tmp_path / "plain", jobs=1, captures=True)
    found = [sorted((tmp_path / name / "runs").glob("*/a.pcapng")) for name in ("far", "plain")]
    assert len(found[0]) == 4
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(*found, strict=True))


def test_the_command_sweeps_on_the_cluster_of_an_address(workers, tmp_path: Path, capfd) -> None:
    path = tmp_path / "one.toml"
    path.write_text(SCENARIO)
    address = workers.scheduler_address
    out = tmp_path / "out"
    arguments = [
        "sweep",
        str(path),
        "--replicas",
        "1",
        "--cluster",
        address,
        "--out",
        str(out),
        "--set",
        "rate=2 Mbit/s",
    ]
    assert command.main(arguments) == 0
    assert "2 runs: 1 replicas each" in capfd.readouterr().out
    assert len(Result.read(out).manifest["runs"]) == 2


def reproduced(paper: Path, out: Path, *more: str) -> list[dict[str, Any]]:
    """The figures in the verdicts of a paper, without the places of their files."""
    arguments = ["reproduce", str(paper), "--replicas", "2", "--formats", "png", "-q", "--out", str(out), *more]
    assert command.main(arguments) == 0
    found = json.loads((out / "paper-mine" / "verdicts.json").read_text(encoding="utf-8"))
    return [{key: value for key, value in figure.items() if key != "files"} for figure in found["figures"]]


def test_a_paper_is_reproduced_on_a_cluster_whose_worker_is_killed(workers, tmp_path: Path, monkeypatch) -> None:
    paper = copy_of_the_page(tmp_path)
    plain = reproduced(paper, tmp_path / "plain", "--jobs", "1")
    begun = tmp_path / "begun"
    begun.mkdir()
    real = cluster.simulate

    def deadly(recipe: Any, combination: int, replica: int) -> Any:
        times = begun / f"{combination}-{replica}"
        with times.open("a") as file:
            file.write("begun\n")
        # The first worker that begins this run dies in the middle of it.
        if (combination, replica) == (1, 0) and times.read_text().count("begun") == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(recipe, combination, replica)

    monkeypatch.setattr(cluster, "simulate", deadly)
    far = reproduced(paper, tmp_path / "far", "--cluster", workers.scheduler_address)
    assert far == plain
    # Every run was done by a worker.
    stored = list((tmp_path / "far").glob("paper-mine/runs/*/runs/*/manifest.json"))
    assert len(stored) == len(list(begun.iterdir())) > 1
    assert (begun / "1-0").read_text().count("begun") == 2


def test_an_address_without_a_scheduler_is_refused(tmp_path: Path) -> None:
    refused = pytest.raises(UsageError, match=r"cannot connect to the cluster tcp://127.0.0.1:9")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), refused:
        anabranch.sweep(SCENARIO, replicas=1, cluster="tcp://127.0.0.1:9", out=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_stops_a_sweep_on_a_cluster_and_keeps_finished_runs(client, tmp_path: Path) -> None:
    def interrupt(done: int, total: int, left: float | None) -> None:
        if done >= 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        anabranch.sweep(SCENARIO, replicas=5000, out=tmp_path, cluster=client, progress=interrupt)
    assert len(list((tmp_path / "runs").glob("*/manifest.json"))) >= 3
    until = time.monotonic() + PATIENCE
    while any(key.startswith("simulate") for key in client.futures) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(key.startswith("simulate") for key in client.futures)
