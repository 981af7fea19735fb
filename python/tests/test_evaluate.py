"""``anabranch evaluate``: arguments, table, JSON and exit codes with made-up criteria, and the verdicts by hand."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch import SimulationError, command
from anabranch.statistics import Estimate
from anabranch.suites.evaluate import command as evaluate
from anabranch.suites.evaluate import criteria
from anabranch.suites.evaluate.bench import Bench, options
from anabranch.suites.evaluate.criteria import CRITERIA, Row, verdict
from anabranch.suites.running import SuiteError

ROW = Row("5.1.1 collapse", "loss 50 %", "0.4 ± 0.5 packets/s", "kept")


@pytest.fixture
def benches(monkeypatch: pytest.MonkeyPatch) -> list[Bench]:
    """One made-up criterion in place of all; the benches that it was given."""
    given: list[Bench] = []

    def collapse(bench: Bench) -> Iterator[Row]:
        given.append(bench)
        yield ROW

    monkeypatch.setattr(evaluate, "CRITERIA", (collapse,))
    return given


@pytest.mark.parametrize(
    ("mean", "half", "expected"),
    [(1.0, 0.1, "kept"), (1.0, 0.1001, "open"), (1.3, 0.1, "broken"), (1.15, 0.1, "open"), (1.2, 0.0, "broken")],
)
def test_a_criterion_is_kept_or_broken_if_its_whole_interval_is(mean: float, half: float, expected: str) -> None:
    assert verdict(Estimate(mean, half, 3), most=1.1) == expected
    assert verdict(Estimate(-mean, half, 3), least=-1.1) == expected


def test_one_run_has_no_interval_and_its_value_decides() -> None:
    assert verdict(Estimate(1.0, float("inf"), 1), most=1.1) == "kept"
    assert verdict(Estimate(1.2, float("inf"), 1), most=1.1) == "broken"


def test_the_table_is_written_and_printed(
    benches: list[Bench], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["evaluate", "--control", "braid", "--out", str(tmp_path), "--quiet"]) == 0
    shown = capsys.readouterr()
    assert "`braid`, 5 runs of each point" in shown.out
    assert "0.4 ± 0.5 packets/s" in shown.out
    assert shown.err == ""
    assert "| 5.1.1 collapse | loss 50 % | 0.4 ± 0.5 packets/s | kept |" in (tmp_path / "table.md").read_text("utf-8")
    assert [bench.control for bench in benches] == ["braid"]
    assert benches[0].run.running.replicas == 5


def test_json_has_control_replicas_and_rows(
    benches: list[Bench], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["evaluate", "--control", "recommended", "--out", str(tmp_path), "--json", "--quiet"]
    for more, replicas in (["--full"], 20), (["--full", "--replicas", "2"], 2):
        assert command.main([*call, *more]) == 0
        report = json.loads(capsys.readouterr().out)
        assert report == {"control": "recommended", "replicas": replicas, "rows": [vars(ROW)]}
        assert json.loads((tmp_path / "table.json").read_text("utf-8")) == report
    assert options("recommended") == {"profile": "recommended"}
    assert options("bbr")["congestion_control"] == "bbr"
    assert len(benches) == 2


def test_the_table_replaces_its_part_of_a_page(benches: list[Bench], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- braid -->\nold\n<!-- end of braid -->\n", encoding="utf-8")
    call = ["evaluate", "--control", "braid", "--out", str(tmp_path / "out"), "--quiet", "--page", str(page)]
    assert command.main(call) == 0
    text = page.read_text(encoding="utf-8")
    assert "0.4 ± 0.5 packets/s" in text
    assert "old" not in text
    assert len(benches) == 1


def test_wrong_arguments_end_with_code_2_before_a_run(benches: list[Bench], capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["evaluate", "--control", "blia"]) == 2
    assert "did you mean `balia`?" in capsys.readouterr().err
    for arguments in ([], ["--control", "braid", "--replicas", "0"]):
        with pytest.raises(SystemExit) as stop:
            command.main(["evaluate", *arguments])
        assert stop.value.code == 2
    assert benches == []


@pytest.mark.parametrize(("error", "code"), [(SimulationError, 1), (SuiteError, 2)])
def test_a_run_that_fails_ends_with_code_1_and_a_wrong_suite_with_code_2(
    error: type[Exception],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(_: Bench) -> Iterator[Row]:
        raise error("the run has stopped")

    monkeypatch.setattr(evaluate, "CRITERIA", (fails,))
    assert command.main(["evaluate", "--control", "braid", "--out", str(tmp_path), "--quiet"]) == code
    assert "the run has stopped" in capsys.readouterr().err
    assert not (tmp_path / "table.json").exists()


def test_the_criteria_are_in_the_order_of_the_rfc() -> None:
    names = [criterion.__name__ for criterion in CRITERIA]
    assert names[0] == "collapse"
    assert names[-1] == "failover"
    assert len(set(names)) == len(names)


def test_tcp_starves_while_its_flows_together_carry_less_than_a_tenth() -> None:
    # One point a second: 10 Mbit/s together, 0.9 for the three seconds up to 33 s, and nothing after the end at 60 s.
    times = [float(n) for n in range(1, 70)]
    rates = [0.45e6 if 31 <= time <= 33 else 0.0 if time > 60 or 5 < time <= 20 else 5e6 for time in times]
    flow = list(zip(times, rates, strict=True))
    assert criteria.starved([flow, flow]) == pytest.approx(2.1)
