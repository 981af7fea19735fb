"""The bonding suite: the scenarios that it runs, and the evaluation of their numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anabranch import command
from anabranch.result import Result
from anabranch.statistics import Estimate
from anabranch.suites import running
from anabranch.suites.bonding import measure as bonding
from anabranch.suites.bonding.measure import FAILOVER, PAPER, RECOMMENDED, Cell, Place, longest_stall

BUFFERS = ["64 KiB", "1 MiB"]


def test_the_longest_stall_is_the_longest_series_of_empty_steps() -> None:
    assert longest_stall([1.0, 0.0, 0.0, 2.0, 0.0]) == pytest.approx(0.02)
    assert longest_stall([0.0] * 100) == pytest.approx(1.0)
    assert longest_stall([]) == 0.0


def test_a_cell_is_slower_below_98_per_cent_of_the_best_single_path() -> None:
    place = Place("somewhere", 0.0, "1 MiB")

    def cell(found: float) -> Cell:
        return Cell(RECOMMENDED, place, Estimate(found, 0.0, 2), Estimate(50.0, 0.0, 2), 60.0)

    assert (cell(49.1).is_slower, cell(48.9).is_slower) == (False, True)
    assert cell(54.0).share == pytest.approx(0.9)
    assert place.is_ample
    assert not Place("somewhere", 0.01, "1 MiB").is_ample
    assert not Place("somewhere", 0.0, "512 KiB").is_ample


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Replaces the simulator: one path carries 10 Mbit/s, two carry 20; a path failure stops all traffic for 0.3 s."""
    asked: list[dict[str, Any]] = []

    def sweep(scenario: dict[str, Any], *, replicas: int, **_: Any) -> Result:
        asked.append(scenario)
        flow = scenario["flow"][0]
        rows: list[dict[str, Any]] = []
        series: list[dict[str, Any]] = []
        dead = "probe" in scenario
        for options in flow["sctp"]["vary"]:
            for buffer in BUFFERS:
                for loss in [None] if dead else ["0.0", "0.01"]:
                    for network in ["[1]", "[2]"] if "networks" in flow else [None]:
                        first = len(rows)  # each replica is a run of its own
                        at = {"options": options, "buffer": buffer}
                        at |= {"loss": loss} if loss else {}
                        at |= {"network": network} if network else {}
                        value = 10e6 if network else 20e6
                        rows += [
                            at
                            | {"run": first + r, "replica": r, "flow": "transfer", "path": None}
                            | {"quantity": "throughput_bps", "value": value}
                            for r in range(replicas)
                        ]
                        for step in range(500, 2500) if dead else []:
                            still = 1000 <= step < 1030
                            point = {"time": (step + 1) / 100, "value": 0.0 if still else 20e6}
                            series += [{"run": first + r, "replica": r} | point for r in range(replicas)]
        return Result(pl.DataFrame(rows, infer_schema_length=None), pl.DataFrame(series), {})

    monkeypatch.setattr(running, "sweep", sweep)
    return asked


def test_the_command_writes_table_figure_and_page(faked: list[dict[str, Any]], tmp_path: Path, capsys) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table -->\n<!-- end of table -->\nafter\n")
    call = ["bonding", "--options", "blest,recommended", "--replicas", "2", "--out", str(tmp_path), "--page", str(page)]
    assert command.main([*call, "--formats", "png"]) == 0
    shown = capsys.readouterr().out
    assert "Seed 1, 2 replicas" in shown
    assert (tmp_path / "bonding.png").stat().st_size > 5000
    table = json.loads((tmp_path / "table.json").read_text())
    assert len(table["cells"]) == 3 * 2 * len(BUFFERS) * 2
    assert {cell["ratio"]["mean"] for cell in table["cells"]} == {2.0}
    assert len(table["outages"]) == 3 * 2 * len(BUFFERS) * 3
    assert {round(outage["stall_s"]["mean"], 6) for outage in table["outages"]} == {0.3}
    assert {outage["options"] for outage in table["outages"]} == {PAPER, FAILOVER, RECOMMENDED}
    assert (tmp_path / "table.md").read_text() in page.read_text()


def test_scenarios_get_the_second_path_and_the_outage(faked: list[dict[str, Any]], tmp_path: Path) -> None:
    bonding.measure(running.Running(tmp_path, replicas=1), ("blest",))
    assert len(faked) == bonding.sweeps()
    per_topology = len(faked) // len(bonding.topologies())
    assert per_topology == 4
    single, both, *dead = faked[:per_topology]
    assert single["flow"][0]["networks"]["vary"] == [[1], [2]]
    assert both["flow"][0]["sctp"]["vary"] == ["blest"]
    downs = [[link["name"] for link in scenario["link"] if "down" in link] for scenario in dead]
    assert downs == [["first"], ["second"]]
    second = [scenario["link"][1]["rate"] for scenario in faked[::per_topology]]
    assert second == ["10 Mbit/s", "10 Mbit/s", "50 Mbit/s"]


def test_an_unknown_set_of_options_is_refused(faked: list[dict[str, Any]], capsys) -> None:
    assert command.main(["bonding", "--options", "blast"]) == 2
    assert "there is no set of options `blast`" in capsys.readouterr().err
    assert faked == []
