"""Random topologies of the bonding suite: the draws, their scenarios, the bounds, and a grid of two draws."""

from __future__ import annotations

import json
import math
import statistics
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anabranch import _core, command, sweep
from anabranch.scenario import to_toml
from anabranch.statistics import Estimate
from anabranch.suites.bonding import bound, random_draws
from anabranch.suites.bonding.bound import Bound
from anabranch.suites.bonding.draws import MOST_PACKETS, MOST_TIME, Draw, draw, timing
from anabranch.suites.bonding.line_text import describe
from anabranch.suites.bonding.measure import PAPER, RECOMMENDED, throughput_rows
from anabranch.suites.bonding.random_draws import Acks, Distribution, Failure, Outcome, kinds, scenarios
from anabranch.suites.bonding.topology import PAYLOAD, Line, Timing

DRAWS = [draw(seed, number) for seed in (1, 2) for number in range(1, 301)]
LINES = [line for one in DRAWS for line in one.lines]


def test_a_draw_depends_on_seed_and_number_alone() -> None:
    assert draw(1, 17) == draw(1, 17)
    assert len({one.lines for one in DRAWS}) == len(DRAWS)
    assert len({one.root_seed for one in DRAWS}) == len(DRAWS)
    # The draw is the same on every machine and with every version of Python.
    first = draw(1, 1)
    assert (len(first.lines), first.buffer) == (3, 128 << 10)
    assert first.lines[0].rate == pytest.approx(217_603_191.8)


def test_every_draw_is_within_its_ranges() -> None:
    slack = 1 + 1e-9
    assert {len(one.lines) for one in DRAWS} == {2, 3, 4}
    assert {one.buffer for one in DRAWS} == {(64 << 10) << step for step in range(9)}
    for line in LINES:
        assert 1e6 <= line.rate <= 1e9 * slack
        assert line.rate / 50 / slack <= line.back <= line.rate
        assert 0.005 <= line.rtt <= 0.6 * slack
        assert 0.2 / slack <= line.queue / line.rtt <= 8 * slack
        assert line.loss == 0 or 1e-4 <= line.loss <= 0.03 * slack
        assert line.burst == 1 or 2 <= line.burst <= 10
        assert 0 <= line.jitter <= min(0.02, line.rtt / 2)
    assert {line.discipline for line in LINES} == {"drop-tail", "codel", "red"}
    assert {line.varies for line in LINES} == {None, "lte", "wifi", "satellite"}


def test_ranges_are_reached_on_both_ends() -> None:
    assert min(line.rate for line in LINES) < 1.1e6
    assert max(line.rate for line in LINES) > 0.9e9
    assert min(line.rtt for line in LINES) < 0.0055
    assert max(line.rtt for line in LINES) > 0.55
    assert min(line.back / line.rate for line in LINES) < 1 / 45
    assert max(line.loss for line in LINES) > 0.027


def test_paths_die_and_come_back_while_another_one_lives() -> None:
    dying = [one for one in DRAWS if any(line.outage for line in one.lines)]
    assert 0.15 < len(dying) / len(DRAWS) < 0.45
    for one in dying:
        assert any(line.outage is None for line in one.lines)
        for start, end in (line.outage for line in one.lines if line.outage):
            assert one.timing.warm_up < start < end <= 0.76 * one.timing.length
            assert end - start <= 5


def test_a_draw_lasts_long_enough_but_not_too_many_packets() -> None:
    slow, fast = Line(1e6, 1e6, 0.6, 0.6), Line(1e9, 1e9, 0.005, 0.005)
    assert timing([slow, slow], 1 << 20).length == pytest.approx(30 * 0.6)
    assert timing([fast, fast], 16 << 20).length == pytest.approx(MOST_PACKETS * 8 * PAYLOAD / (2e9 * PAYLOAD / 1500))
    lossy = Line(1e6, 1e6, 0.6, 0.6, loss=0.03)
    assert 10 < timing([lossy, slow], 1 << 20).length <= MOST_TIME
    assert not any(one.is_short for one in DRAWS if one.is_ample)


def test_every_draw_is_a_valid_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "draw.toml"
    for one in DRAWS[:60]:
        for _, varied in scenarios(one):
            file.write_text(to_toml(varied), encoding="utf-8")
            assert _core.cli(["validate", str(file)]) == 0, describe(one.lines[0])
    capsys.readouterr()


def test_the_scenario_says_what_the_line_is() -> None:
    line = Line(50e6, 10e6, 0.02, 0.04, loss=0.02, burst=4.0, jitter=0.003, varies="lte", outage=(4.0, 5.0))
    link = line.link(2)
    assert link["rate"] == {"model": "lte", "mean": "50000000 bit/s"}
    assert link["queue"] == {"kind": "drop-tail", "bytes": "250000 B"}
    assert link["back"] == {"rate": "10000000 bit/s", "queue": {"kind": "drop-tail", "bytes": "50000 B"}}
    good, bad = link["loss"]["p"], link["loss"]["r"]
    assert (good / (good + bad), 1 / bad) == (pytest.approx(0.02, rel=1e-3), pytest.approx(4.0))
    assert link["down"] == [["7000000 us", "8000000 us"]]
    red = Line(10e6, 10e6, 0.1, 0.1, discipline="red").link(1)["queue"]
    assert (red["min"], red["max"], red["capacity"]) == (13, 41, 83)
    # RFC 8289, section 4.4: the target is the time of 1.5 packets, 12 ms each.
    assert Line(1e6, 1e6, 0.1, 0.8, discipline="codel").link(1)["queue"]["target"] == "18000 us"


def test_in_order_delivery_bounds_the_paths_that_a_buffer_can_use() -> None:
    lines = [Line(10e6, 10e6, 0.2, 0.2), Line(40e6, 40e6, 0.02, 0.02)]

    def at_most(buffer: int) -> tuple[float, str]:
        found = bound.throughput(lines, [10e6, 40e6], buffer)
        return round(found.bps / 1e6, 1), found.limit

    # The best use of the buffer is the near path alone: 50 kB per RTT of 20 ms are 20 Mbit/s.
    assert at_most(50_000) == (20.0, bound.BUFFER)
    # Data takes 100 ms over the far path, its acknowledgement 10 ms over the near one: both paths together carry one
    # buffer in 110 ms.
    assert at_most(550_000) == (40.0, bound.BUFFER)
    assert at_most(650_000) == (47.3, bound.BUFFER)
    assert at_most(700_000) == (50.0, bound.PATHS)


def test_acknowledgements_bound_what_return_links_let_through() -> None:
    narrow = [Line(100e6, 0.5e6, 0.02, 0.02)] * 2
    # An acknowledgement of 48 bytes for two packets of 1452 bytes: 60.5 times the sum of the return rates.
    found = bound.throughput(narrow, [90e6, 90e6], 1 << 24)
    assert (round(found.bps), found.limit) == (60_500_000, bound.RETURN)
    assert bound.throughput(narrow, [90e6, 90e6], 1 << 24, carried=90e6) == Bound(90e6, bound.RETURN)


def test_the_bound_lies_between_the_best_path_and_the_sum() -> None:
    for one in DRAWS:
        # A path alone is limited by its buffer, too.
        alone = [min(line.payload_rate, 8 * one.buffer / line.rtt) for line in one.lines]
        found = bound.throughput(one.lines, alone, one.buffer, max(alone))
        assert max(alone) * 0.999 <= found.bps <= sum(alone) * 1.001
        assert (found.limit == bound.PATHS) == (found.bps >= 0.999 * sum(alone))
        if one.is_ample:
            assert found.limit == bound.PATHS


def test_a_stall_lasts_until_a_copy_has_passed_the_queue_of_another_path() -> None:
    dead, near, far = (Line(10e6, 10e6, rtt, rtt) for rtt in (0.2, 0.04, 0.4))
    # The acknowledgement is late after 100 ms; then a copy takes 20 ms and waits in a queue of 60 ms.
    assert bound.stall(dead, [(near, 0.1), (far, 0.4)]) == pytest.approx(0.18)


def outcome(found: float, singles: list[float], failure: Failure | None = None, buffer: int = 16 << 20) -> Outcome:
    lines = tuple(Line(10e6, 10e6, 0.05, 0.05) for _ in singles)
    together: dict[str, list[float]] = {name: [found] for name in random_draws.SETS}
    drawn = Draw(1, 1, lines, buffer, Timing(10.0))
    return Outcome(drawn, together, [[single] for single in singles], failure, [max(singles)])


def test_further_runs_show_how_sure_a_miss_is_and_do_not_change_the_verdict() -> None:
    slow = outcome(8e6, [9e6, 6e6])
    lucky, unsure, sure = (replace(slow, rerun=Estimate(mean, 0.05, 8)) for mean in (1.02, 0.95, 0.9))
    found = Distribution([lucky, unsure, sure], 1, 1)
    assert found.slower == [lucky, unsure, sure]
    assert (found.slower_on_average, found.surely_slower) == ([unsure, sure], [sure])
    assert Distribution([lucky], 1, 1).is_missed


def test_targets_are_the_best_path_the_sum_and_the_stall() -> None:
    good, slow, less = outcome(15e6, [9e6, 6e6]), outcome(8.8e6, [9e6, 6e6]), outcome(14e6, [9e6, 6e6])
    assert (good.is_slower, slow.is_slower, good.ratio().mean) == (False, True, pytest.approx(15 / 9))
    assert good.share(PAPER) == pytest.approx(1.0)
    assert not Distribution([good], 1, 1).is_missed
    assert Distribution([good, slow], 1, 1).slower == [slow]
    assert Distribution([good, slow], 1, 1).is_missed
    assert Distribution([less], 1, 1).median_share() == pytest.approx(14 / 15)
    assert Distribution([less], 1, 1).is_missed
    assert not Distribution([good, less, good], 1, 1).is_missed


def test_acknowledgements_may_take_a_share_of_the_data_and_of_each_return_link() -> None:
    def missed(share: float, of_return: float) -> bool:
        return Distribution([replace(outcome(15e6, [9e6, 6e6]), acks=Acks(share, of_return))], 1, 1).is_missed

    assert not missed(0.03, 0.6)
    assert missed(0.031, 0.1)
    assert missed(0.01, 0.61)


def test_a_stall_counts_if_the_failure_causes_it_and_another_path_could_avoid_it() -> None:
    def missed(*failure: float) -> bool:
        return Distribution([outcome(15e6, [9e6, 6e6], Failure(*failure))], 1, 1).is_missed

    assert missed(1.5, 0.2, 0.3, 0.4)
    assert not missed(0.9, 0.2, 0.3, 0.4)
    assert not any(missed(1.5, *others) for others in ((1.1, 0.3, 0.4), (0.2, 1.1, 0.4), (0.2, 0.3, 1.1)))


def test_a_sum_that_no_scheduler_can_reach_does_not_count() -> None:
    small = outcome(5e6, [5e6, 5e6], buffer=16_000)
    assert (round(small.bound.bps), small.bound.limit) == (5_000_000, bound.BUFFER)
    assert not small.sum_can_be_met
    assert Distribution([small], 1, 1).median_share() is None


def test_kinds_tell_small_buffers_from_ample_ones() -> None:
    # The bandwidth-delay product of 20 Mbit/s and 50 ms is 125 kB.
    def kind(buffer: int) -> str:
        return next(name for name in kinds(outcome(5e6, [5e6, 5e6], buffer=buffer)) if name.startswith("buffer"))

    assert [kind(size) for size in (12_000, 60_000, 240_000, 250_000)] == [
        f"buffer {size} rates times longest RTT" for size in ("below 0.1", "0.1 to 0.5", "0.5 to 2", "2 or more")
    ]


def test_a_grid_of_two_draws_runs_and_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["bonding", "--random", "2", "--seed", "3", "--draw", "28", "--formats", "png", "--json"]
    call += ["--out", str(tmp_path)]
    page = tmp_path / "page.md"
    page.write_text("<!-- random -->\n<!-- end of random -->\n")
    code = command.main([*call, "--page", str(page)])
    shown = capsys.readouterr().out
    found = json.loads(shown)
    assert code == (3 if found["missed"] else 0)
    assert [one["draw"] for one in found["draws"]] == [28, 29]
    assert found["draws"][1]["command"] == "anabranch bonding --random 1 --seed 3 --draw 29"
    for one in found["draws"]:
        assert set(one["together_bps"]) == set(random_draws.SETS)
        assert len(one["alone_bps"]) == len(one["paths"])
        assert one["ratio"]["mean"] == pytest.approx(one["together_bps"][RECOMMENDED] / max(one["alone_bps"]))
        assert one["bound_bps"] <= sum(one["alone_bps"]) * 1.001
        assert (one["failure"] is not None) == (
            tmp_path / "runs" / f"draw-3-{one['draw']}" / "without-failure"
        ).exists()
        assert (one["failure"] is None) == all(path["outage"] is None for path in one["paths"])
        assert (tmp_path / "scenarios" / f"draw-3-{one['draw']}.toml").exists()
    assert (tmp_path / "bonding-draws.png").stat().st_size > 5000
    assert (tmp_path / "table.md").read_text() in page.read_text()
    assert "--draw 29`" in page.read_text()

    # As after a call that was stopped, one run and the tables of its draw are missing.
    folder = tmp_path / "runs" / "draw-3-29" / "together"
    stored = sorted(folder.glob("runs/*/*"))
    kept = {path: path.stat().st_mtime_ns for path in stored}
    gone = stored[0].parent
    for path in gone.iterdir():
        path.unlink()
    gone.rmdir()
    (folder / "manifest.json").unlink()
    assert command.main(call) == code
    assert capsys.readouterr().out == shown
    again = {path: path.stat().st_mtime_ns for path in sorted(folder.glob("runs/*/*"))}
    assert {path for path in kept if again[path] != kept[path]} == {path for path in kept if path.parent == gone}


def test_one_draw_gives_the_same_as_in_a_grid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["bonding", "--seed", "3", "--formats", "png", "--json"]
    command.main([*call, "--random", "2", "--draw", "28", "--out", str(tmp_path / "two")])
    two = json.loads(capsys.readouterr().out)
    command.main([*call, "--random", "1", "--draw", "29", "--out", str(tmp_path / "one")])
    one = json.loads(capsys.readouterr().out)
    assert one["draws"] == two["draws"][1:]
    scenario = (tmp_path / "one" / "scenarios" / "draw-3-29.toml").read_text()
    assert "vary" not in scenario.partition("flow = ")[2]

    # Nothing but acknowledgements uses the return links.
    rows = sweep(scenario, replicas=1, out=tmp_path / "scenario").scalars
    used = rows.filter(pl.col("flow").str.ends_with(":back"), pl.col("quantity") == "utilisation")["value"]
    acks = one["draws"][0]["acks"]
    assert acks["of_return"] == pytest.approx(max(used), rel=0.1)
    assert 0.005 < acks["share"] < 0.03


def test_further_runs_leave_the_first_ones_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random_draws, "NOT_SLOWER", math.inf)
    command.main(["bonding", "--random", "1", "--seed", "3", "--draw", "29", "--json", "--out", str(tmp_path / "draw")])
    (found,) = json.loads(capsys.readouterr().out)["draws"]
    together = tomllib.loads((tmp_path / "draw/scenarios/draw-3-29.toml").read_text())
    best = found["alone_bps"].index(max(found["alone_bps"])) + 1
    alone = {**together, "flow": [{**together["flow"][0], "networks": [best]}]}

    def mean(name: str, scenario: dict[str, Any]) -> float:
        result = sweep(to_toml(scenario), replicas=1 + random_draws.RERUNS, out=tmp_path / name)
        rows = result.scalars.filter(quantity="throughput_bps", flow="transfer").filter(
            pl.col("path").is_null(), pl.col("replica") > 0
        )
        assert len(rows) == random_draws.RERUNS
        return statistics.fmean(rows["value"])

    assert found["ratio_again"]["mean"] == pytest.approx(mean("together", together) / mean("alone", alone))
    assert found["ratio_again"]["half_width"] > 0

    later = {**alone, "flow": [{**alone["flow"][0], "start_time": "3001 ms"}]}
    rows = throughput_rows(sweep(to_toml(later), replicas=1, out=tmp_path / "later"))
    assert found["best_path_over_itself"] == pytest.approx(rows["value"].item() / max(found["alone_bps"]))


def test_wrong_uses_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    draws = ["--random", "2"]
    for wrong in (["--draw", "3"], ["--random", "0"], ["--path", "x", "--options", "ecf"], [*draws, "--path", "x"]):
        with pytest.raises(SystemExit) as stopped:
            command.main(["bonding", *wrong])
        assert stopped.value.code == 2
    assert "--draw needs --random" in capsys.readouterr().err
    assert command.main(["bonding", "--random", "1", "--seed", "-1"]) == 2
    assert "--seed -1: expected a seed from 0" in capsys.readouterr().err


def test_draws_have_typical_values_in_the_middle() -> None:
    assert statistics.median(math.log10(line.rate) for line in LINES) == pytest.approx(7.5, abs=0.2)
    assert statistics.median(line.rtt for line in LINES) == pytest.approx(math.sqrt(0.005 * 0.6), rel=0.25)


def test_regret_is_the_share_of_the_bound_that_was_not_carried() -> None:
    found = Distribution([outcome(14e6, [9e6, 6e6]), outcome(18e6, [9e6, 6e6])], 1, 1)
    assert found.outcomes[0].regret() == pytest.approx(1 / 15)
    assert found.regret(PAPER).mean == pytest.approx(1 / 30)
    assert found.regret().half_width > 0
