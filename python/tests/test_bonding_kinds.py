"""The kinds of random draws of ``anabranch bonding --random``: their draws, their runs, and their figures of merit."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from anabranch import _core, command
from anabranch.result import Result
from anabranch.scenario import to_toml
from anabranch.suites.bonding.kinds import KINDS, Distribution, shared, short, steps, times
from anabranch.suites.bonding.kinds.kind import Average, Kind, Measure, Merits, Middle, Outcome
from anabranch.suites.bonding.kinds.messages import Messages
from anabranch.suites.bonding.kinds.table import grids, legend
from anabranch.suites.bonding.measure import PAPER, RECOMMENDED
from anabranch.suites.bonding.topology import START, varied
from anabranch.suites.running import Runner

DIGESTS = {
    "shared": "21fd081d6a44c9ba",
    "steps": "02ce3f063ffcde40",
    "limited": "8245a06729c5adbc",
    "short": "fd0823046d73eb14",
    "pair": "31fc2fe5815ede9e",
}
"""First digits of the SHA-256 of the scenarios of the first three draws of seed 1, without the sets of options."""


def text(kind: Kind[Any], seed: int, number: int) -> str:
    made = kind.scenario(kind.draw(seed, number), RECOMMENDED)
    return to_toml({key: value for key, value in made.items() if key != "sctp"})


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_a_draw_depends_on_kind_seed_and_number_alone(kind: Kind[Any]) -> None:
    drawn = "".join(text(kind, 1, number) for number in (1, 2, 3))
    assert hashlib.sha256(drawn.encode()).hexdigest()[:16] == DIGESTS[kind.name]
    assert len({text(kind, seed, number) for seed in (1, 2) for number in range(1, 51)}) == 100


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_every_draw_is_a_valid_scenario(kind: Kind[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "draw.toml"
    for number in range(1, 41):
        drawn = kind.draw(5, number)
        for sctp in (RECOMMENDED, varied([PAPER, RECOMMENDED])):
            file.write_text(to_toml(kind.scenario(drawn, sctp)), encoding="utf-8")
            assert _core.cli(["validate", str(file)]) == 0, str(drawn)
    capsys.readouterr()


SMALL = {"shared": 4, "steps": 2, "limited": 1, "short": 1, "pair": 1}
"""A draw of seed 1 of each kind that runs fast."""


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_one_draw_of_each_kind_runs(kind: Kind[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["bonding", "--random", "1", "--kind", kind.name, "--draw", str(SMALL[kind.name]), "--json"]
    call += ["--formats", "png", "--options", RECOMMENDED, "--out", str(tmp_path)]
    code = command.main(call)
    shown = capsys.readouterr().out
    found = json.loads(shown)
    assert code == (3 if found["missed"] else 0)
    (draw,) = found["draws"]
    assert draw["command"] == f"anabranch bonding --random 1 --kind {kind.name} --seed 1 --draw {SMALL[kind.name]}"
    for measure in kind.measures:
        assert list(draw["found"][measure.key]) == [RECOMMENDED]
        assert math.isfinite(draw["found"][measure.key][RECOMMENDED])
        assert math.isfinite(draw["chance"][measure.key])
    name = f"{kind.name}-1-{SMALL[kind.name]}"
    assert "vary" not in (tmp_path / "scenarios" / f"{name}.toml").read_text().rpartition("flow = ")[2]
    assert (tmp_path / f"bonding-{kind.name}-draws.png").stat().st_size > 5000
    # A second call reuses the finished runs of the first one.
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").glob("*/*/runs/*/*")}
    assert stored
    assert command.main(call) == code
    assert capsys.readouterr().out == shown
    assert {path: path.stat().st_mtime_ns for path in stored} == stored


def made_up(measures: tuple[Measure, ...], merits: list[Merits]) -> Distribution:
    kind = Kind("shared", "What is drawn.", measures, *[lambda *_: None] * 3)  # pyright: ignore[reportArgumentType]
    outcomes = [
        Outcome(7, number, f"command {number}", "a draw", ("even" if number % 2 == 0 else "odd",), one)
        for number, one in enumerate(merits, 1)
    ]
    return Distribution(kind, (PAPER, RECOMMENDED), outcomes, 1)


def one(paper: float, recommended: float, chance: float) -> Merits:
    return Merits({"kept": {PAPER: paper, RECOMMENDED: recommended}}, {"kept": chance})


KEPT = Measure("kept", "What is kept", "again", True, 0.85, 0.6, Average.MEDIAN)
TIME = Measure("kept", "Time", "again", False, 1.1, 1.6)


def test_tables_state_the_middle_the_worst_draw_and_what_chance_misses() -> None:
    found = made_up((KEPT,), [one(0.5, 0.9, 1.0), one(0.7, 0.5, 0.55), one(0.6, 1.1, 1.1)])
    measures, groups, worst = grids(found)
    assert measures.title == "What is kept: at least 0.85"
    assert measures.head == ["options", "median", "95 % interval", "worst", "draw", "draws below 0.6"]
    assert measures.rows == [
        [PAPER, "0.600", "unknown", "0.500", "1 of seed 7", "1 of 3"],
        [RECOMMENDED, "0.900", "unknown", "0.500 ✗", "2 of seed 7", "1 of 3"],
        ["again", "1.000", "unknown", "0.550", "2 of seed 7", "1 of 3"],
    ]
    assert groups.rows == [["even", "1", "0.500 (unknown)"], ["odd", "2", "1.000 (unknown)"]]
    assert worst.rows[0] == ["0.500", "a draw", "`command 2`"]
    assert found.is_missed
    assert "seed 7, draws 1 to 3, one run of each point. What is drawn." in legend(found)


def test_targets_are_a_bar_for_the_middle_and_a_limit_for_each_draw() -> None:
    assert not made_up((KEPT,), [one(0.1, 0.9, 1.0), one(0.1, 0.8, 1.0), one(0.1, 0.9, 0.1)]).is_missed
    assert made_up((KEPT,), [one(1.0, 0.84, 1.0)]).is_missed
    assert made_up((KEPT,), [one(1.0, 0.9, 1.0), one(1.0, 0.9, 1.0), one(1.0, 0.5, 1.0)]).is_missed
    # For this measure smaller is better, and its average is the mean.
    assert not made_up((TIME,), [one(9.0, 0.7, 1.0), one(9.0, 1.5, 1.0)]).is_missed
    assert made_up((TIME,), [one(1.0, 0.9, 1.0), one(1.0, 1.4, 1.0)]).is_missed
    assert made_up((TIME,), [one(1.0, 0.5, 1.0), one(1.0, 1.61, 1.0)]).is_missed


def test_the_interval_of_a_median_lies_between_ordered_values() -> None:
    # Six coins show no head with a probability of 1/64 = 1.6 %, and at most one head with 11 %.
    assert Middle.of([3, 1, 2, 6, 5, 4], Average.MEDIAN) == Middle(3.5, 1, 6)
    assert Middle.of([3, 1, 2, 5, 4], Average.MEDIAN) == Middle(3, -math.inf, math.inf)
    # In the table of the sign test, the interval of 20 values reaches from the 6th to the 15th value.
    assert Middle.of(range(1, 21), Average.MEDIAN) == Middle(10.5, 6, 15)


def test_ratios_of_times_have_the_geometric_mean_so_that_chance_makes_one() -> None:
    assert Middle.of([1.0, 3.0], Average.MEAN).value == 2.0
    found = Middle.of([0.25, 4.0], Average.GEOMETRIC)
    assert found.value == pytest.approx(1.0)
    assert found.low * found.high == pytest.approx(1.0)
    assert Middle.of([2.0], Average.GEOMETRIC).low == -math.inf
    for kind in KINDS.values():
        for measure in kind.measures:
            assert (measure.average is Average.GEOMETRIC) == (measure.key in ("time", "delay"))


def test_a_wrong_kind_names_the_nearest_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["bonding", "--random", "1", "--kind", "share"]) == 2
    assert "there is no kind of draws `share`: there are alone, shared" in (shown := capsys.readouterr().err)
    assert "did you mean `shared`?" in shown
    for wrong in (["--kind", "shared"], ["--seeds", "2"], ["--random", "1", "--seeds", "2"]):
        with pytest.raises(SystemExit) as stopped:
            command.main(["bonding", *wrong])
        assert stopped.value.code == 2


class OtherRuns:
    """Replaces the runner: returns the made-up result of the further runs of a draw, and keeps their scenario."""

    def __init__(self, result: Result, replicas: int = 1) -> None:
        self.result, self.running, self.scenario = result, SimpleNamespace(replicas=replicas), {}

    def with_replicas(self, replicas: int) -> OtherRuns:
        """Returns itself; checks that the runs are twice as many as the draw has."""
        assert replicas == 2 * self.running.replicas
        return self

    def __call__(self, _: str, scenario: dict[str, Any]) -> Result:
        """The made-up result."""
        self.scenario = scenario
        return self.result


def result(scalars: Sequence[dict[str, Any]], series: Sequence[dict[str, Any]] = ()) -> Result:
    return Result(pl.DataFrame(list(scalars), infer_schema_length=None), pl.DataFrame(list(series)), {})


def test_shared_compares_the_rivals_beside_all_paths_with_those_beside_one() -> None:
    drawn = next(one for number in range(1, 99) if (one := shared.draw(1, number)).rivals == 2)

    def rows(replica: int, rates: tuple[float, float], **at: str) -> list[dict[str, Any]]:
        fixed = {"replica": replica, "window": "steady", "path": None, "quantity": "throughput_bps"} | at
        flows = zip(("rival-1", "rival-2", "transfer"), (*rates, 9e9), strict=True)
        return [fixed | {"flow": flow, "value": rate} for flow, rate in flows]

    together = result([*rows(0, (1e6, 2e6), options=RECOMMENDED), *rows(0, (3e6, 3e6), options=PAPER)])
    other = OtherRuns(result([*rows(1, (2e6, 3e6)), *rows(0, (1e6, 3e6))]))
    found = shared.merits(drawn, together, (PAPER, RECOMMENDED), cast(Runner, other))
    # The rival has 1.5 Mbit/s on average beside all paths, 2 beside one path, and 2.5 in the other run beside it.
    assert found.found["kept"] == {PAPER: pytest.approx(1.5), RECOMMENDED: pytest.approx(0.75)}
    assert found.chance["kept"] == pytest.approx(1.25)
    fair = drawn.bottleneck.rate * 1452 / 1500 / 3
    assert found.found["share"][RECOMMENDED] == pytest.approx(1.5e6 / fair)
    assert found.chance["share"] == pytest.approx(2e6 / fair)
    transfer, rivals = other.scenario["flow"]
    assert (transfer["networks"], transfer["sctp"], rivals["count"]) == ([1], PAPER, 2)


def test_a_message_takes_until_its_last_byte_arrives() -> None:
    messages = Messages(size=1000, interval=0.1, count=3, step=0.001, tail=1.0)

    def point(time: float, size: int) -> dict[str, float]:
        return {"time": START + time, "value": 8 * size / 0.001}

    # Of the first message 400 bytes arrive after 20 ms and the rest after 30 ms. The second arrives after 150 ms, the
    # third never.
    rows = pl.DataFrame([point(0.0, 0), point(0.03, 600), point(0.02, 400), point(0.25, 1000), point(0.31, 999)])
    assert messages.delays(rows) == pytest.approx([0.0295, 0.1495, 1.3 - 0.2])
    # The delays are the same if all times are a second later.
    assert messages.delays(rows.with_columns(pl.col("time") + 1), START + 1) == pytest.approx([0.0295, 0.1495, 1.1])
    assert Messages(1000, 0.1, 3, 0.001, 1.0).delays(rows.clear()) == pytest.approx([1.3, 1.2, 1.1])


def test_the_mean_delay_is_more_exact_than_the_steps_in_which_arrivals_are_measured() -> None:
    messages = Messages.of(size=1000, interval=0.1, count=50, least=0.04, tail=1.0)
    assert 0.017 < messages.step < 0.022

    def point(number: int, delay: float) -> dict[str, float]:
        end = math.ceil((START + 0.1 * number + delay) / messages.step) * messages.step
        return {"time": end, "value": 8 * 1000 / messages.step}

    for delay in (0.04, 0.0433, 0.0479):
        found = messages.delays(pl.DataFrame([point(number, delay) for number in range(50)]))
        assert sum(found) / 50 == pytest.approx(delay, abs=0.0006)


def test_steps_compare_each_message_with_a_path_that_always_was_as_it_is_now() -> None:
    drawn = next(one for number in range(1, 99) if len((one := steps.draw(1, number)).levels) == 2)
    drawn = replace(drawn, messages=Messages(size=100, interval=10.0, count=3, step=0.001, tail=1.0))

    def arrivals(run: int, *delays: float) -> list[dict[str, Any]]:
        sent = [(START + 10 * number + delay + 0.0005, 100 * 8 / 0.001) for number, delay in enumerate(delays)]
        return [{"run": run, "quantity": "throughput", "time": time, "value": value} for time, value in sent]

    def scalars(run: int, replica: int, copies: float, **at: str) -> list[dict[str, Any]]:
        fixed = {"run": run, "replica": replica, "flow": "transfer", "path": None, "options": RECOMMENDED} | at
        counts = {"duplicate_chunks": copies, "messages": 10.0}
        windows = [("level-0", 99.0), ("level-1", 1.0)]
        return [
            fixed | {"window": window, "quantity": quantity, "value": value * factor}
            for window, factor in windows
            for quantity, value in counts.items()
        ]

    # Messages leave after 0, 10 and 20 s, and the path changes after 15 s. The measures use only the third message.
    together = result(scalars(0, 0, 5.0), arrivals(0, 0.1, 0.1, 0.6))
    always = result(
        [
            *(row for run, copies in ((0, 7.0), (1, 7.0)) for row in scalars(run, run, copies, level="before")),
            *(row for run, copies in ((2, 2.0), (3, 4.0)) for row in scalars(run, run - 2, copies, level="after")),
        ],
        [
            *arrivals(0, 0.1, 0.1, 0.1),
            *arrivals(1, 0.1, 0.1, 0.1),
            *arrivals(2, 0.2, 0.2, 0.2),
            *arrivals(3, 0.2, 0.2, 0.3),
        ],
    )
    found = steps.merits(drawn, together, (RECOMMENDED,), cast(Runner, OtherRuns(always)))
    assert found.found["delay"][RECOMMENDED] == pytest.approx(3.0)
    assert found.chance["delay"] == pytest.approx(1.5)
    # There are 5 copies for 10 messages, and 2 + 4 copies for 20 messages on the path that never changes.
    assert found.found["copies"][RECOMMENDED] == pytest.approx(0.5)
    assert found.chance["copies"] == pytest.approx(0.3)


def test_times_are_compared_with_the_path_that_is_fastest_alone() -> None:
    found = times.over_best({RECOMMENDED: [3.0, 5.0]}, [[9.0, 9.0, 1.0, 1.0], [1.0, 3.0, 2.0, 4.0]], 2)
    assert found == Merits({"time": {RECOMMENDED: 2.0}}, {"time": 1.5})
    # One lucky run does not make a path the best one: all runs decide.
    assert times.over_best({RECOMMENDED: [4.0]}, [[1.0, 9.0], [2.0, 3.0]], 1) == Merits(
        {"time": {RECOMMENDED: 2.0}}, {"time": 1.5}
    )


def test_short_transfers_of_both_trains_count_the_same() -> None:
    def rows(axis: str, value: str, replica: int, *means: float) -> list[dict[str, Any]]:
        fixed = {axis: value, "replica": replica, "quantity": "completion_time_mean_s"}
        return [fixed | {"flow": f"train-{number}", "value": mean} for number, mean in enumerate(means, 1)]

    drawn = replace(short.PAIR.draw(1, 1), lines=short.PAIR.draw(1, 1).lines[:2])
    alone = [*rows("network", "[1]", 0, 2.0, 4.0), *rows("network", "[1]", 1, 3.0, 3.0)]
    alone += [*rows("network", "[2]", 0, 1.0, 3.0), *rows("network", "[2]", 1, 1.0, 2.0)]
    together = result(rows("options", RECOMMENDED, 0, 3.0, 2.0))
    found = short.merits(drawn, together, (RECOMMENDED,), cast(Runner, OtherRuns(result(alone))))
    # The mean time is 2.5 s over both paths, 2 s over the second path, and 1.5 s in the other run over that path.
    assert found == Merits({"time": {RECOMMENDED: 1.25}}, {"time": 0.75})


def test_transfers_of_short_draws_do_not_meet_and_limited_ones_leave_room() -> None:
    for number in range(1, 200):
        alone = short.SHORT.draw(3, number)
        assert (len(alone.sizes), alone.late) == (1, 0.0)
        assert alone.interval > 1 + 8 * alone.sizes[0] / max(line.rate for line in alone.lines)
        pair = short.PAIR.draw(3, number)
        assert pair.late < pair.interval / 2
        limited = KINDS["limited"].draw(3, number)
        load = 8 * limited.messages.size / limited.messages.interval
        assert load <= 0.31 * max(line.rate for line in limited.lines)
