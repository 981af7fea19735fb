"""``anabranch bbr-cases``: arguments, table, JSON and exit codes with made-up runs, and one real case."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anabranch import command
from anabranch.suites.bbr import measure
from anabranch.suites.bbr.cases import (
    JUDGES,
    Seen,
    cruise_aggregated,
    never_ends_from_up,
    probe_rtt,
    slower,
    startup_loss,
    tiny_rate,
)
from anabranch.suites.bbr.measure import NUMBERS, PLAIN, Row
from anabranch.suites.bbr.trace import STATES, Trace
from anabranch.suites.running import SuiteError

PASS, MISS = Seen(True, "as it should"), Seen(False, "2.00 RTT")


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str, str, list[int]]]:
    """Case 2 is missed by the second seed, all others pass."""
    calls: list[tuple[int, str, str, list[int]]] = []

    def run(number: int, control: str, transport: str, seeds: range) -> Iterator[Row]:
        calls.append((number, control, transport, list(seeds)))
        seen = tuple(MISS if (number, seed) == (2, 2) else PASS for seed in seeds)
        yield Row(str(number), f"Case {number}", seen)

    monkeypatch.setattr(measure, "measure", run)
    return calls


@pytest.fixture
def trace() -> Callable[[dict[str, list[tuple[float, float]]]], Trace]:
    """A run with the given series."""

    def build(series: dict[str, list[tuple[float, float]]]) -> Trace:
        rows = [
            {"quantity": f"cc:{name}" if name != "cwnd" else name, "time": time, "value": value}
            for name, points in series.items()
            for time, value in points
        ]

        class Made:
            scalars = pl.DataFrame({"flow": ["f"], "quantity": ["timeouts"], "value": [2.0]})
            series = pl.DataFrame(rows)

        made: Any = Made()
        return Trace(made, PLAIN)

    return build


def test_every_case_has_a_judge_for_each_variant_and_a_scenario() -> None:
    cases = {number: measure.read("bbr", f"{number:02}.toml") for number in NUMBERS}
    names = [f"{number}{variant}" for number, case in cases.items() for variant in case.get("variants", [""])]
    assert sorted(names) == sorted(JUDGES)


def test_all_cases_run_with_three_seeds_and_a_miss_ends_with_code_3(
    called: list[tuple[int, str, str, list[int]]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["bbr-cases"]) == 3
    assert called == [(number, "bbr", "tcp", [1, 2, 3]) for number in NUMBERS]
    shown = capsys.readouterr().out
    assert "`bbr` over TCP, 3 runs of each: 21 of 22 pass." in shown
    assert "2.00 RTT (1 of 3 runs)" in shown


def test_one_case_of_another_control_and_transport_as_json(
    called: list[tuple[int, str, str, list[int]]], capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["bbr-cases", "--case", "2", "--control", "bbr-coupled", "--transport", "sctp", "--json"]
    assert command.main([*call, "--replicas", "1"]) == 0
    assert called == [(2, "bbr-coupled", "sctp", [1])]
    (row,) = json.loads(capsys.readouterr().out)
    assert row == {
        "case": "2",
        "title": "Case 2",
        "verdict": "pass",
        "runs": [{"passed": True, "seen": "as it should"}],
    }
    assert command.main([*call, "--replicas", "2"]) == 3
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["verdict"], [one["passed"] for one in row["runs"]]) == ("MISS", [True, False])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--case", "23"], "expected a case from 1 to 22"),
        (["--case", "0"], "0"),
        (["--transport", "quic"], "quic"),
        (["--replicas", "0"], "0"),
    ],
)
def test_wrong_arguments_end_with_code_2_before_a_run(
    arguments: list[str],
    message: str,
    called: list[tuple[int, str, str, list[int]]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stop:
        command.main(["bbr-cases", *arguments])
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
    assert called == []


def test_the_table_replaces_its_part_of_a_page(called: list[tuple[int, str, str, list[int]]], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- bbr-tcp -->\nold\n<!-- end of bbr-tcp -->\nafter\n", encoding="utf-8")
    assert command.main(["bbr-cases", "--case", "1", "--quiet", "--page", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "| 1 | Case 1 | pass | as it should |" in text
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")


def test_a_control_without_states_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Empty:
        scalars = pl.DataFrame({"flow": [], "quantity": [], "value": []})
        series = pl.DataFrame({"quantity": ["cwnd"], "time": [1.0], "value": [1.0]})

    def nothing(*_: object, **__: object) -> Any:
        return Empty()

    monkeypatch.setattr(measure.laboratory, "run", nothing)
    with pytest.raises(SuiteError, match="--control cubic"):
        list(measure.measure(1, "cubic", "tcp", range(1, 2)))


def test_the_time_until_probe_rtt_counts_from_the_last_lower_round_trip_time(
    trace: Callable[[dict[str, list[tuple[float, float]]]], Trace],
) -> None:
    state = {name: float(number) for number, name in enumerate(STATES)}
    series = {
        "state": [
            (0.0, state["startup"]), (1.0, state["cruise"]), (6.0, state["probe-rtt"]), (6.21, state["cruise"]),
            (11.5, state["probe-rtt"]), (11.71, state["cruise"]), (12.0, state["cruise"]),
        ],
        "probe_rtt_min_delay": [(0.5, 0.021), (1.0, 0.020), (6.0, 0.022), (6.1, 0.0201), (6.5, 0.02), (11.5, 0.022)],
        "cwnd_gain": [(0.0, 2.0), (6.0, 0.5), (6.21, 2.0), (11.5, 0.5)],
    }  # fmt: skip
    found = probe_rtt(trace(series))
    assert found == Seen(True, "after 5.00/5.00 s, gain 0.5, 210 ms, then CRUISE")
    # Without the lower value at 6.5 s the second one comes 5.29 s after the end of the first.
    series["probe_rtt_min_delay"].remove((6.5, 0.02))
    assert not probe_rtt(trace(series)).passed


def test_a_case_that_never_reaches_its_state_is_a_miss(
    trace: Callable[[dict[str, list[tuple[float, float]]]], Trace],
) -> None:
    found = tiny_rate(trace({"state": [(0.0, 0.0), (30.0, 0.0)], "cwnd": [(0.0, 14480.0)]}))
    assert found == Seen(False, "CRUISE is not reached")


STATE = {name: float(number) for number, name in enumerate(STATES)}
Series = dict[str, list[tuple[float, float]]]


def states(*visits: tuple[float, str]) -> list[tuple[float, float]]:
    """The series of the state; the last state lasts until the end of the run."""
    return [(time, STATE[name]) for time, name in visits]


def test_startup_that_losses_end_without_a_queue_goes_through_drain_at_once(trace: Callable[[Series], Trace]) -> None:
    series = {
        "state": states((0.02, "startup"), (0.19, "cruise"), (1.0, "cruise")),
        "full_bw_reached": [(0.02, 0.0), (0.19, 1.0)],
        "inflight_longterm": [(0.02, float("inf")), (0.19, 100e3)],
        "drops": [(0.0, 0.0), (0.16, 20.0)],
    }
    assert startup_loss(trace(series)) == Seen(True, "CRUISE 2.5 RTT after the losses began, h = 100 kB")
    series["state"] = states((0.02, "startup"), (0.21, "cruise"), (1.0, "cruise"))
    assert not startup_loss(trace(series)).passed, "3.5 RTT"
    series["state"] = states((0.02, "startup"), (2.0, "startup"))
    assert startup_loss(trace(series)) == Seen(False, "Startup does not end; 20 packets were lost")


def test_an_up_that_down_ends_is_a_miss_and_one_that_probe_rtt_ends_is_none(trace: Callable[[Series], Trace]) -> None:
    before = [(0.0, "startup"), (0.3, "down"), (0.4, "refill"), (0.5, "up")]
    back = [*before, (5.5, "probe-rtt"), (5.7, "cruise"), (7.0, "refill"), (7.1, "up"), (9.0, "up")]
    assert never_ends_from_up(trace({"state": states(*back)})) == Seen(True, "UP PROBE-RTT CRUISE REFILL UP")
    ended = [*before, (0.6, "down"), (9.0, "down")]
    assert never_ends_from_up(trace({"state": states(*ended)})) == Seen(False, "UP DOWN")


def test_the_window_of_a_cruise_is_read_before_the_probe_rtt_that_ends_it(trace: Callable[[Series], Trace]) -> None:
    series: Series = {
        "state": states((0.0, "startup"), (1.0, "cruise"), (3.0, "probe-rtt"), (3.2, "probe-rtt")),
        "throughput": [(0.1 * n, 48e6) for n in range(1, 32)],
        "max_bw": [(0.0, 50e6)],
        "min_rtt": [(0.0, 0.02)],
        "extra_acked": [(0.0, 60e3)],
        "cwnd": [(0.0, 310e3), (3.0, 62.5e3)],
        **{bound: [(0.0, float("inf"))] for bound in ("bw_shortterm", "inflight_longterm", "inflight_shortterm")},
    }
    # 48 of 48.27 Mbit/s; 2 x 125 kB + 60 kB.
    shown = "use 99.4 %, cwnd 310 kB of 310 kB, extra_acked 60 kB, max_bw +3.6 %"
    assert cruise_aggregated(trace(series)) == Seen(True, shown)
    series["inflight_longterm"] = [(0.0, 300e3)]  # 0.85 of it bounds the window
    series["cwnd"] = [(0.0, 250e3), (3.0, 62.5e3)]
    assert not cruise_aggregated(trace(series)).passed
    series["cwnd"] = [(0.0, 255e3), (3.0, 62.5e3)]
    assert cruise_aggregated(trace(series)).passed
    series["throughput"] = [(0.1 * n, 45e6) for n in range(1, 32)]
    assert not cruise_aggregated(trace(series)).passed, "93 %"


def test_bw_shortterm_falls_once_for_each_step_of_inflight_shortterm(trace: Callable[[Series], Trace]) -> None:
    def run(short: float) -> Seen:
        series = {
            "state": states((0.0, "startup"), (1.0, "cruise"), (20.0, "cruise")),
            "cwnd": [(0.0, 500e3)],
            "max_bw": [(0.0, 100e6), (10.0, 10e6)],
            "bw_shortterm": [(0.0, float("inf")), (1.5, 70e6), (1.7, short)],
        }
        return slower(trace(series))

    # 500 kB are 350 and 245 kB after two steps, and the path holds 275 kB.
    assert run(49e6) == Seen(True, "bw_shortterm 49.00 Mbit/s of 49.00 Mbit/s, max_bw 10.00 Mbit/s")
    assert not run(50e6).passed
