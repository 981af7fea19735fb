"""The user's own lines: reading their texts, and their throughput together and alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch import SimulationError, command
from anabranch.result import Result
from anabranch.statistics import Estimate
from anabranch.suites import running
from anabranch.suites.bonding import bound, line_text, own_lines
from anabranch.suites.bonding.bound import Bound
from anabranch.suites.bonding.own_lines import Gain, Point, Use
from anabranch.suites.bonding.topology import Line
from anabranch.suites.running import SuiteError


def test_a_line_has_rates_rtt_and_loss() -> None:
    assert line_text.read("50/10 Mbit/s, 24 ms, 0.2 %") == Line(50e6, 10e6, 0.024, 0.024, loss=0.002)
    assert line_text.read("1.5Gbit/s,4ms") == Line(1.5e9, 1.5e9, 0.004, line_text.LEAST_QUEUE)
    assert line_text.read("24 ms, 800 / 200 kbit/s") == Line(8e5, 2e5, 0.024, 0.024)


def test_a_line_may_have_a_queue_jitter_and_a_rate_that_varies() -> None:
    line = line_text.read("50/10 Mbit/s, 24 ms, queue 100 ms, jitter 500 us, codel, lte")
    assert line == Line(50e6, 10e6, 0.024, 0.1, discipline="codel", jitter=0.0005, varies="lte")


@pytest.mark.parametrize(
    ("text", "column", "expected", "hint"),
    [
        ("50/10 Mbot/s, 24 ms", 7, "a unit of rate", "Mbit/s"),
        ("50 mbit/s, 24 ms", 4, "a number with a unit", "Mbit/s"),
        ("50/10 Mbit/s, 24 mz", 18, "a number with a unit", "ms"),
        ("50 Mbit/s, 24 ms, jiter 5 ms", 19, "a rate, an RTT, a loss in %, or one of", "jitter"),
        ("50 Mbit/s, 24 ms, cobel", 19, "a rate, an RTT, a loss in %, or one of", "codel"),
        ("50 Mbit/s, 24 ms, jitter 5 mss", 28, "a time after `jitter`", "ms"),
        ("50 Mbit/s, 24 ms, queue", 25, "a time after `queue`", None),
        ("50 Mbit/s, 24 ms,", 18, "a rate, an RTT", None),
        ("50 Mbit/s, 24 ms, 25 ms", 19, "only one RTT", None),
        ("50 Mbit/s, 24 ms, lte, wifi", 24, "only one model of the rate", None),
        ("50 Mbit/s, 24 ms, lte fast", 23, "nothing after `lte`", None),
        ("50 Mbit/s, 24 ms, 80 %", 19, "a loss of 0 to 50 %", None),
        ("0 Mbit/s, 24 ms", 1, "a rate of 10 kbit/s", None),
        ("50/0 Mbit/s, 24 ms", 1, "a return rate", None),
        ("50 Mbit/s, 24 s", 12, "a time of 10 us to 10 s", None),
        ("50, 24 ms", 1, "a number with a unit", None),
        ("", 1, "a rate, an RTT", None),
    ],
)
def test_an_error_names_the_place_what_was_expected_and_a_similar_word(
    text: str, column: int, expected: str, hint: str | None
) -> None:
    with pytest.raises(SuiteError) as error:
        line_text.read(text)
    message = str(error.value)
    assert message.startswith(f'--path "{text}", column {column}: expected {expected}')
    assert message.partition("did you mean ")[2] == (f"`{hint}`?" if hint else "")


@pytest.mark.parametrize(("text", "missing"), [("50 Mbit/s", "an RTT such as"), ("24 ms, 1 %", "a rate such as")])
def test_rate_and_rtt_are_needed(text: str, missing: str) -> None:
    with pytest.raises(SuiteError, match=f"expected {missing}"):
        line_text.read(text)


def test_units_of_rates_are_those_of_scenario_files() -> None:
    assert line_text.read("100 Mbps, 10 ms") == line_text.read("100 Mbit/s, 10 ms")


def test_wrong_lines_end_with_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["bonding", "--path", "50 Mbit/s, 24 ms"]) == 2
    assert "expected at least two paths" in capsys.readouterr().err
    assert command.main(["bonding", "--path", "50 Mbit/s, 24 ms", "--path", "50 Mbits, 24 ms"]) == 2
    assert "column 4: expected a number with a unit" in capsys.readouterr().err


def exact(value: float) -> Estimate:
    return Estimate(value, 0.0, 3)


def gain(together: list[float], singles: tuple[float, float] = (40e6, 10e6), limit: str = bound.PATHS) -> Gain:
    sizes = own_lines.BUFFERS[: len(together)]
    points = [
        Point(size, exact(found), exact(found), [exact(one) for one in singles], Bound(found, limit))
        for size, found in zip(sizes, together, strict=True)
    ]
    return Gain([], [], points, [], 1, 3)


def test_the_recommended_buffer_is_the_least_that_is_enough() -> None:
    assert gain([30e6, 49.2e6, 50e6]).enough.buffer == 256 << 10
    assert gain([30e6, 48e6, 50e6]).enough.buffer == 512 << 10


def test_a_target_is_missed_where_all_lines_are_slower_than_the_best() -> None:
    assert gain([39e6, 50e6]).is_missed
    assert not gain([40e6, 50e6]).is_missed


def test_what_limits_follows_from_bound_and_larger_buffers() -> None:
    found = gain([30e6, 42e6, 49e6, 50e6])
    assert [found.limit(point) for point in found.points] == ["the buffer", "the buffer", "the lines", "the lines"]
    assert gain([42e6, 42e6]).limit(gain([42e6, 42e6]).points[0]) == "losses, queues and the scheduler"
    narrow = gain([30e6, 30e6], limit=bound.RETURN)
    assert narrow.limit(narrow.points[0]) == "the return links"
    clean, lossy = Line(1e6, 1e6, 0.1, 0.1), Line(1e6, 1e6, 0.1, 0.1, loss=0.01)
    uses = [
        Use(clean, exact(1), 1, 0.95, 0.1),
        Use(clean, exact(1), 1, 0.5, 0.95),
        Use(lossy, exact(1), 1, 0.5, 0.1),
        Use(clean, exact(1), 1, 0.5, 0.1),
    ]
    assert [use.limit for use in uses] == ["its rate", "its return link", "its losses", "short queue, or the buffer"]


def test_two_lines_from_end_to_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_lines, "BUFFERS", (64 << 10, 512 << 10))
    monkeypatch.setattr(own_lines, "LEAST_TIME", 10.0)
    call = ["bonding", "--path", "8/2 Mbit/s, 20 ms", "--path", "4/1 Mbit/s, 30 ms", "--replicas", "1", "--quiet"]
    call += ["--out", str(tmp_path), "--formats", "png"]
    assert command.main([*call, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [path["text"] for path in found["paths"]] == ["8/2 Mbit/s, 20 ms", "4/1 Mbit/s, 30 ms"]
    ample = found["buffers"][-1]
    assert ample["together_bps"]["mean"] > 0.95 * sum(single["mean"] for single in ample["alone_bps"])
    assert ample["limit"] == "the lines"
    assert [use["limit"] for use in found["use"]] == ["its rate", "its rate"]
    assert sum(use["carried_bps"] for use in found["use"]) == pytest.approx(ample["together_bps"]["mean"], rel=0.05)
    assert (tmp_path / "bonding-paths.png").stat().st_size > 5000

    # The scenario that the command wrote gives the same throughput.
    scenario = tmp_path / "scenario.toml"
    assert command.main(["run", str(scenario)]) == 0
    capsys.readouterr()
    assert command.main(call) == 0
    shown = capsys.readouterr().out
    assert f"{ample['together_bps']['mean'] / 1e6:.1f}" in shown
    assert "path 0 alone  path 1 alone  together" in shown
    assert "8/2 Mbit/s, 20 ms" in (tmp_path / "table.md").read_text()


def test_the_help_shows_how_to_write_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.main(["bonding", "--help"])
    assert stopped.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f'"{line_text.EXAMPLE}"' in shown
    assert "3 a target of --random or --path was missed" in shown


def test_paths_over_which_nothing_arrives_are_reported() -> None:
    own_lines.check(gain([0.0], (0.0, 1e6)).points)
    with pytest.raises(SimulationError, match="nothing arrives"):
        own_lines.check(gain([0.0], (0.0, 0.0)).points)


def test_the_suite_itself_is_what_runs_without_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def sweep(scenario: dict[str, object], **_: object) -> Result:
        asked.append(str(scenario["title"]))
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "sweep", sweep)
    assert command.main(["bonding", "--out", str(tmp_path)]) == command.STOPPED
    assert asked == ["Bonding of two access lines"]
