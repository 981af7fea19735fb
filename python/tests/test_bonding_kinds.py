"""The kinds of random draws of ``anabranch bonding --random``: their draws, their runs, and their figures of merit."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest

from anabranch import _core, command
from anabranch.scenario import to_toml
from anabranch.suites.bonding.kinds import KINDS, Distribution
from anabranch.suites.bonding.kinds.kind import Kind, Measure, Merits, Middle, Outcome
from anabranch.suites.bonding.kinds.table import grids, legend
from anabranch.suites.bonding.measure import PAPER, RECOMMENDED
from anabranch.suites.bonding.topology import varied

DIGESTS = {
    "shared": "cc0abd2bfa13de00",
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


SMALL = {"shared": 4}
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
    # A call that was stopped reuses its finished runs.
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").glob("*/*/runs/*/*")}
    assert stored
    assert command.main(call) == code
    assert capsys.readouterr().out == shown
    assert {path: path.stat().st_mtime_ns for path in stored} == stored


def made_up(measures: tuple[Measure, ...], merits: list[Merits]) -> Distribution:
    kind = Kind("shared", "What is drawn.", measures, *[lambda *_: None] * 3)  # pyright: ignore[reportArgumentType]
    outcomes = [Outcome(7, number, f"command {number}", "a draw", one) for number, one in enumerate(merits, 1)]
    return Distribution(kind, (PAPER, RECOMMENDED), outcomes, 1)


def one(paper: float, recommended: float, chance: float) -> Merits:
    return Merits({"kept": {PAPER: paper, RECOMMENDED: recommended}}, {"kept": chance})


KEPT = Measure("kept", "What is kept", "again", True, 0.85, 0.6, median=True)
TIME = Measure("kept", "Time", "again", False, 1.1, 1.6)


def test_tables_state_the_middle_the_worst_draw_and_what_chance_misses() -> None:
    found = made_up((KEPT,), [one(0.5, 0.9, 1.0), one(0.7, 0.5, 0.55), one(0.6, 1.1, 1.1)])
    measures, worst = grids(found)
    assert measures.title == "What is kept: at least 0.85"
    assert measures.head == ["options", "median", "95 % interval", "worst", "draw", "draws below 0.6"]
    assert measures.rows == [
        [PAPER, "0.600", "unknown", "0.500", "1 of seed 7", "1 of 3"],
        [RECOMMENDED, "0.900", "unknown", "0.500 ✗", "2 of seed 7", "1 of 3"],
        ["again", "1.000", "unknown", "0.550", "2 of seed 7", "1 of 3"],
    ]
    assert worst.rows[0] == ["0.500", "a draw", "`command 2`"]
    assert found.is_missed
    assert "seed 7, draws 1 to 3, one run of each point. What is drawn." in legend(found)


def test_targets_are_a_bar_for_the_middle_and_a_limit_for_each_draw() -> None:
    assert not made_up((KEPT,), [one(0.1, 0.9, 1.0), one(0.1, 0.8, 1.0), one(0.1, 0.9, 0.1)]).is_missed
    assert made_up((KEPT,), [one(1.0, 0.84, 1.0)]).is_missed
    assert made_up((KEPT,), [one(1.0, 0.9, 1.0), one(1.0, 0.9, 1.0), one(1.0, 0.5, 1.0)]).is_missed
    # Here smaller is better, and the middle is the mean.
    assert not made_up((TIME,), [one(9.0, 0.7, 1.0), one(9.0, 1.5, 1.0)]).is_missed
    assert made_up((TIME,), [one(1.0, 0.9, 1.0), one(1.0, 1.4, 1.0)]).is_missed
    assert made_up((TIME,), [one(1.0, 0.5, 1.0), one(1.0, 1.61, 1.0)]).is_missed


def test_the_interval_of_a_median_lies_between_ordered_values() -> None:
    # Of six coins none shows heads with a probability of 1/64 = 1.6 %, at most one with 11 %.
    assert Middle.of([3, 1, 2, 6, 5, 4], median=True) == Middle(3.5, 1, 6)
    assert Middle.of([3, 1, 2, 5, 4], median=True) == Middle(3, -math.inf, math.inf)
    # The table of the sign test: for 20 values it is the 6th and the 15th.
    assert Middle.of(range(1, 21), median=True) == Middle(10.5, 6, 15)
    assert Middle.of([1.0, 3.0], median=False).value == 2.0


def test_a_wrong_kind_names_the_nearest_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["bonding", "--random", "1", "--kind", "share"]) == 2
    assert "there is no kind of draws `share`: there are alone, shared" in (shown := capsys.readouterr().err)
    assert "did you mean `shared`?" in shown
    for wrong in (["--kind", "shared"], ["--seeds", "2"], ["--random", "1", "--seeds", "2"]):
        with pytest.raises(SystemExit) as stopped:
            command.main(["bonding", *wrong])
        assert stopped.value.code == 2
