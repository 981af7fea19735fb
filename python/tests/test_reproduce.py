"""Verdicts and figures of artificial results."""

import json
import math
import re
import shlex
import tomllib
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anabranch import command, papers, reproduce, reproduce_command
from anabranch.reproduce import FigureData, Options
from anabranch.result import Result
from anabranch.screen import screen
from anabranch.verdict import Point, Row, Verdict, above, judge

RATES = [f"{rate} Mbit/s" for rate in range(10, 101, 10)]
VARIANTS = ["off", "cmt", "cuc-v1", "cuc-normal", "no-sfr", "no-dac"]
FACTOR = {"off": 0.95, "cmt": 1.9, "cuc-v1": 1.85, "cuc-normal": 1.65, "no-sfr": 1.4, "no-dac": 1.9}


def ideal(at: dict[str, Any]) -> dict[tuple[str, str], float]:
    """The numbers of paper 001, with a little noise between replicas."""
    noise = 1 + 0.001 * (at["replica"] - 1)
    rate = float(at["rho"].split()[0]) * 1e6
    return {
        ("background", "throughput_bps"): FACTOR[at["variant"]] * rate * noise,
        ("background", "sacks_per_data_packet"): 0.99 if at["variant"] == "no-dac" else 0.51,
        ("link:west1-east1", "throughput_bps"): 1e12,
    }


@pytest.fixture
def faked(made_up, monkeypatch) -> dict[str, Any]:
    """Replaces the simulator by artificial results. The dictionary holds the arguments of the calls."""
    asked: dict[str, Any] = {"value": ideal}

    def sweep(source: dict[str, Any] | Path, *, replicas: int, **rest: Any) -> Result:
        scenario = tomllib.loads(source.read_text()) if isinstance(source, Path) else source
        asked.update(scenario=scenario, replicas=replicas, **rest)
        rates = scenario["link"][0]["rate"]["vary"]
        variants = scenario["flow"][0]["sctp"]["vary"]
        return made_up({"variant": variants, "rho": rates}, replicas, asked["value"])

    monkeypatch.setattr(reproduce, "sweep", sweep)
    return asked


def test_results_as_in_the_paper_pass_and_are_drawn(faked, tmp_path: Path, capsys) -> None:
    code = command.main(["reproduce", "001", "--figure", "8-left", "--replicas", "3", "--out", str(tmp_path)])
    shown = capsys.readouterr().out
    assert code == 0
    assert "10 PASS, 0 NEAR, 0 MISS, 0 OPEN." in shown
    assert "95.00 ± 0.24 Mbit/s" in shown
    assert faked["replicas"] == 3
    for extension in ("pdf", "svg", "png"):
        assert (tmp_path / "paper-001" / f"figure-8-left.{extension}").stat().st_size > 5000
    verdicts = json.loads((tmp_path / "paper-001" / "verdicts.json").read_text())
    assert (verdicts["version"], verdicts["paper"]) == (2, "001")
    figure = verdicts["figures"][0]
    assert (figure["figure"], figure["replicas"]) == ("8-left", 3)
    assert {row["verdict"] for row in figure["verdicts"]} == {"PASS"}
    first = figure["verdicts"][0]
    assert (first["mean"], first["n"]) == (pytest.approx(95.0), 3)
    assert first["half_width"] == pytest.approx(4.3027 * 0.095 / math.sqrt(3), rel=1e-4)
    assert (first["expected"], first["band"]) == (95.0, [pytest.approx(93.1), pytest.approx(96.9)])


def test_replicas_of_the_command_line_replace_those_of_the_figure(faked, tmp_path: Path) -> None:
    paper = papers.find("001")
    (figure,) = (replace(spec, replicas=6) for spec in paper.select(["8-left"]))
    for options, replicas in ((Options(tmp_path), 6), (Options(tmp_path, replicas=2), 2)):
        (done,) = reproduce.reproduce(paper, [figure], replace(options, formats=("svg",)))
        assert (done.replicas, faked["replicas"]) == (replicas, replicas)


def test_a_missed_number_has_exit_code_3(faked, tmp_path: Path, capsys) -> None:
    def without_gain(at: dict[str, Any]) -> dict[tuple[str, str], float]:
        return ideal({**at, "variant": "off"})

    faked["value"] = without_gain
    code = command.main(["reproduce", "1", "-f", "8r", "--replicas", "2", "--json", "--out", str(tmp_path)])
    assert code == 3
    rows = json.loads(capsys.readouterr().out)[0]["figures"][0]["verdicts"]
    assert [row["verdict"] for row in rows] == ["OPEN", "MISS"]
    assert (rows[1]["expected"], rows[1]["unit"]) == (188.0, "Mbit/s")
    assert rows[1]["band"] == [pytest.approx(186.12), pytest.approx(189.88)]


def wide(at: dict[str, Any]) -> dict[tuple[str, str], float]:
    """The means of paper 001, but with much noise."""
    return {key: value * (1 + 0.1 * (at["replica"] - 1)) for key, value in ideal({**at, "replica": 1}).items()}


@pytest.mark.parametrize(("level", "code"), [([], 3), (["--full"], 3), (["--demo"], 0)])
def test_an_open_row_without_a_reason_has_exit_code_3_except_in_a_demo(
    faked, tmp_path: Path, capsys, level: list[str], code: int
) -> None:
    faked["value"] = wide
    arguments = ["reproduce", "001", "-f", "8r", "--replicas", "3", *level, "--out", str(tmp_path), "--formats", "svg"]
    assert command.main(arguments) == code
    shown = " ".join(capsys.readouterr().out.split())
    assert "0 MISS, 2 OPEN (2 without a reason)" in shown
    assert "replicas would decide; no reason given" in shown


def test_an_open_row_with_a_reason_has_exit_code_0(faked, tmp_path: Path, capsys, monkeypatch) -> None:
    faked["value"] = wide
    paper = papers.find("001")
    told = tuple(replace(e, open="the testbed is not ours") for e in paper.expectations)
    monkeypatch.setattr(papers, "find", lambda _: replace(paper, expectations=told))
    assert command.main(["reproduce", "001", "-f", "8r", "--replicas", "3", "--out", str(tmp_path)]) == 0
    assert "replicas would decide; the testbed is not ours" in " ".join(capsys.readouterr().out.split())


def test_a_calibrated_number_is_marked(faked, tmp_path: Path, capsys, monkeypatch) -> None:
    paper = papers.find("001")
    told = tuple(replace(e, calibrated="the rate: NOTES") for e in paper.expectations)
    monkeypatch.setattr(papers, "find", lambda _: replace(paper, expectations=told))
    assert command.main(["reproduce", "001", "-f", "8l", "--replicas", "3", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "10 PASS (10 calibrated)" in shown
    assert shown.count("PASS (calibrated)  ") == 10


@pytest.mark.parametrize("value", [ideal, wide])
def test_the_table_is_aligned_and_at_most_110_columns_wide(faked, tmp_path: Path, capsys, value) -> None:
    faked["value"] = value
    command.main(["reproduce", "001", "--replicas", "3", "--out", str(tmp_path), "--formats", "svg"])
    lines = capsys.readouterr().out.splitlines()[:-1]  # the last one names a folder
    assert max(map(len, lines)) <= 110
    head = next(line for line in lines if "what (source)" in line)
    first = next(line for line in lines if "CMT off fills one path" in line)
    assert head.index("what") == first.index("CMT off")
    assert head.index("expected") == first.index("95 Mbit/s ±2 %")


def test_each_verdict_has_a_colour_of_its_own() -> None:
    assert len({reproduce_command._COLORS[verdict] for verdict in Verdict}) == len(Verdict)


def test_a_demo_runs_fewer_points_and_replicas(faked, tmp_path: Path) -> None:
    command.main(["reproduce", "001", "-f", "8-right", "--demo", "--out", str(tmp_path), "--formats", "svg"])
    assert faked["scenario"]["link"][0]["rate"]["vary"] == ["20 Mbit/s", "60 Mbit/s", "100 Mbit/s"]
    assert faked["replicas"] < 32


def test_pictures_of_the_same_results_are_the_same_files(faked, tmp_path: Path) -> None:
    for name in ("a", "b"):
        command.main(["reproduce", "001", "-f", "8-right", "--replicas", "2", "--out", str(tmp_path / name)])
    for extension in ("pdf", "svg", "png"):
        first, second = (tmp_path / name / "paper-001" / f"figure-8-right.{extension}" for name in ("a", "b"))
        assert first.read_bytes() == second.read_bytes()


def test_usage_errors_have_exit_code_2(faked, capsys) -> None:
    assert command.main(["reproduce", "001", "--figure", "7"]) == 2
    assert "8-left" in capsys.readouterr().err
    assert command.main(["reproduce", "--figure", "3"]) == 2
    with pytest.raises(SystemExit) as stop:
        command.main(["reproduce", "001", "--replicas", "0"])
    assert stop.value.code == 2


def test_papers_lists_every_figure(capsys) -> None:
    assert command.main(["papers"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("000", "figure 5-right", "figure 8-left"))


def test_flows_with_the_same_name_and_a_number_are_summed(made_up) -> None:
    values = {("background-1", "q"): 1.0, ("background-2", "q"): 2.0, ("background-x", "q"): 50.0, ("b", "q"): 9.0}
    result = made_up({}, 2, lambda _: values)
    quantities = {
        "all": papers.Quantity(of="q", flow="background", scale=10),
        "times": papers.Quantity(of="q", flow="background", over="other"),
        "other": papers.Quantity(of="q", flow="b"),
    }
    assert reproduce._samples(result, quantities, "all")["value"].to_list() == [30.0, 30.0]
    assert reproduce._samples(result, quantities, "times")["value"].to_list() == [3 / 9, 3 / 9], "of the same run"


def test_ratios_are_taken_replica_by_replica(made_up) -> None:
    paper = papers.find("000")
    spec = paper.select(["3-left"])[0]

    def value(at: dict[str, Any]) -> dict[tuple[str, str], float]:
        swing = 1.0 + at["replica"]  # the replicas differ much, but all have the same ratio
        return {("background", "throughput_bps"): swing * (2e8 if at["variant"] == "cmt" else 1e8)}

    result = made_up({"variant": ["sctp", "cmt"], "rho": ["100 Mbit/s"]}, 4, value)
    data = FigureData(paper, spec, result, 1, 4)
    wanted = papers.Expectation(
        "3-left", "", "", above(1), quantity="throughput", at={"variant": "cmt"}, over={"variant": "sctp"}
    )
    (point,) = reproduce._points(data, wanted)
    assert point.estimate.mean == 2.0
    assert point.estimate.half_width == 0.0
    assert point.where == "rho = 100 Mbit/s"


def test_points_on_an_axis_of_numbers_are_found_and_shown_as_written(made_up) -> None:
    paper = papers.find("000")
    spec = paper.select(["3-right"])[0]

    def value(at: dict[str, Any]) -> dict[tuple[str, str], float]:
        worse = 0.98 if at["variant"] == "cmt-rp" and at["N"] == 3 else 1.0
        return {("background-1", "throughput_bps"): 9e7 * worse, ("background-2", "throughput_bps"): 9e7 * worse}

    result = made_up({"N": [1, 2, 3], "variant": ["sctp", "cmt", "cmt-rp"]}, 2, value)
    data = FigureData(paper, spec, result, 1, 2)
    rows = [reproduce._row(data, e, None) for e in paper.expectations if e.figure == "3-right"]
    assert [row.verdict for row in rows] == ["MISS", "PASS"]
    assert (rows[1].measured, rows[1].finding.point.where) == ("0.98 ± 0", "N = 3")
    assert data.summary(number="N")["mean"].max() == pytest.approx(180.0)


def windows(variant: str, path: int, values: list[tuple[float, float]], quantity: str = "cwnd") -> pl.DataFrame:
    time, value = zip(*values, strict=True)
    return pl.DataFrame({"time": time, "value": value}).with_columns(
        pl.lit(variant).alias("run"),
        pl.lit(path).cast(pl.UInt8).alias("path"),
        pl.lit(quantity).alias("quantity"),
        pl.lit("background").alias("flow"),
    )


def traces(*series: pl.DataFrame) -> FigureData:
    paper = papers.find("000")
    variants = ["sctp", "cmt", "cmt-rp"]
    scalars = pl.DataFrame({"run": variants, "replica": 0, "variant": variants, "value": 0.0})
    return FigureData(paper, paper.select(["4"])[0], Result(scalars, pl.concat(series), {}), 1, 1)


def sawtooth(phase: float, high: float = 60000.0) -> list[tuple[float, float]]:
    return [(19 + 0.1 * i, high * (0.5 + 0.5 * ((0.1 * i + phase) % 2.0) / 2.0)) for i in range(300)]


def test_checks_of_traces_pass_for_traces_as_in_the_paper(agrees) -> None:
    low, up = [(19.0, 3000.0), (34.0, 60000.0)], [(19.0, 60000.0), (34.0, 3000.0)]
    data = traces(
        windows("sctp", 0, sawtooth(0)), windows("sctp", 0, sawtooth(0), "ssthresh"),
        windows("sctp", 1, [(19.0, 4380.0)]),
        windows("cmt", 0, sawtooth(0)), windows("cmt", 1, sawtooth(1)),
        windows("cmt-rp", 0, low + [(49.0, 60000.0)], "ssthresh"),
        windows("cmt-rp", 1, up + [(49.0, 3000.0)], "ssthresh"),
    )  # fmt: skip
    code = data.paper.code()
    rows = [e for e in data.paper.expectations if e.figure == "4"]
    assert [agrees(getattr(code, e.check or "")(data)) for e in rows] == [True] * 5
    assert code.figure_4(data).axes[0].get_title(loc="left") == "SCTP (CMT off)"


def test_checks_of_traces_fail_for_other_traces(agrees) -> None:
    steady = [(19.0, 30000.0), (49.0, 30001.0)]
    data = traces(
        windows("sctp", 0, steady), windows("sctp", 1, [(19.0, 4380.0), (20.0, 9000.0)]),
        windows("cmt", 0, sawtooth(0)), windows("cmt", 1, sawtooth(1, 20000.0)),
        windows("cmt-rp", 0, steady, "ssthresh"), windows("cmt-rp", 1, steady, "ssthresh"),
    )  # fmt: skip
    code = data.paper.code()
    rows = [e for e in data.paper.expectations if e.figure == "4"]
    assert [agrees(getattr(code, e.check or "")(data)) for e in rows] == [False] * 5


def test_a_sum_of_windows_changes_whenever_one_of_them_does() -> None:
    code = papers.find("000").code()
    first = pl.DataFrame({"time": [0.0, 2.0, 2.0], "value": [10.0, 15.0, 20.0]})
    second = pl.DataFrame({"time": [1.0, 3.0], "value": [1.0, 2.0]})
    assert code.total([first, second]).rows() == [(1.0, 11.0), (2.0, 21.0), (3.0, 22.0)]
    assert code.total([first, second.clear()]).is_empty()


@pytest.mark.parametrize(
    ("level", "length", "replicas"), [({}, "881 s", 4), ({"full": True}, "2081 s", 30), ({"demo": True}, "881 s", 2)]
)
def test_points_and_replicas_depend_on_the_level(
    level: dict[str, Any], length: str, replicas: int, tmp_path: Path, monkeypatch
) -> None:
    asked: dict[str, Any] = {}

    def sweep(source: dict[str, Any], **rest: Any) -> Result:
        asked.update(rest, length=source["flow"][0]["stop_time"]["vary"])
        raise InterruptedError

    monkeypatch.setattr(reproduce, "sweep", sweep)
    paper = papers.find("003")
    with pytest.raises(InterruptedError):
        next(reproduce.reproduce(paper, paper.select(["table-3"]), reproduce.Options(tmp_path, **level)))
    assert (asked["length"], asked["replicas"]) == ([length], replicas)


def test_a_demo_leaves_out_figures_without_demo_replicas(tmp_path: Path) -> None:
    paper = papers.find("003")
    assert not list(reproduce.reproduce(paper, paper.select(["12"]), reproduce.Options(tmp_path, demo=True)))


@pytest.mark.parametrize("page", ["verdicts.md", "tutorials/researcher.md"])
def test_the_printed_setting_runs_without_verdicts(page: str, tmp_path: Path, capsys) -> None:
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    printed = re.search(r"anabranch (reproduce 000 .* --set [^`\n]+)", text)
    assert printed is not None
    less = ["--demo", "--replicas", "1", "--formats", "svg", "--quiet", "--out", str(tmp_path)]
    assert command.main([*shlex.split(printed[1]), *less]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "differs from the paper: link.west1-east1.delay=20 ms" in shown
    assert "0 PASS, 0 NEAR, 0 MISS, 0 OPEN" in shown


def screen_of(values: dict[str, list[float]]) -> list[str]:
    """The screen of all papers if the rows of each verdict have these values, and the claim is 1."""
    names = cycle(values)
    done = []
    for paper in papers.all_papers():
        items = []
        for spec in paper.figures:
            told = [e for e in paper.expectations if e.figure == spec.id]
            rows = [
                Row(
                    e.figure,
                    e.what,
                    e.source,
                    judge([Point("", values[next(names)], above(1.0), "Mbit/s")]),
                    missed=e.missed,
                )
                for e in told
            ]
            items.append(
                reproduce.Reproduction(spec, 1, 3, rows, [Path(f"out/demo/paper-{paper.id}/figure-{spec.id}.png")])
            )
        done.append((paper, items))
    return screen(done, Path("out/demo"), 250.0).splitlines()


@pytest.mark.parametrize("missed", [0, 1, 3, 400])
def test_a_demo_fits_one_screen(missed: int) -> None:
    kinds = {"pass": [2.0, 2.0], "open": [0.5, 1.6], **{f"miss {n}": [0.5, 0.5] for n in range(missed)}}
    lines = screen_of(kinds)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80, lines
    assert "The picture of README.md:  out/demo/paper-001/figure-8-left.png" in lines
    assert lines[-1] == "Every number, with its verdict:  out/demo/verdicts.txt"
    assert any(re.fullmatch(r"OPEN: \d+ numbers?: .*make papers.*", line) for line in lines)
    assert ("Missed:" in lines) == (missed > 0)
    if missed:
        place = lines.index("Missed:")
        assert re.match(r"  00\d \S+: 0\.5 ± 0 Mbit/s, not > 1 Mbit/s: \w+", lines[place + 1])
