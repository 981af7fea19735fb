"""``Result.plot``: labels, units and choices of what is drawn."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from test_report import SCENARIO, SWEEP

import anabranch
from anabranch.result import Result
from anabranch.units import unit_of

PROBES = '[[probe]]\nquantity = "cwnd"\nflow = "transfer"\n[[probe]]\nquantity = "queue"\nlink = "slow"\n'


@pytest.fixture(scope="module")
def run() -> Result:
    return anabranch.run(SCENARIO + PROBES)


@pytest.fixture(scope="module")
def sweep() -> Result:
    return anabranch.sweep(SWEEP, replicas=2)


def labels(result: Result, quantity: str, **choice: Any) -> list[str]:
    """The names of the curves of a figure."""
    return [str(text) for text in result.plot(quantity, **choice).axes[0].get_legend_handles_labels()[1]]


def test_a_recorded_quantity_is_drawn_over_time_with_units(run: Result) -> None:
    axes = run.plot("cwnd").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time, s", "congestion window, KiB")
    assert axes.get_title(loc="left") == "Two <lines>"
    greatest = max(run.series.filter(quantity="cwnd")["value"].to_list())
    drawn = max(float(np.max(np.asarray(line.get_ydata()))) for line in axes.get_lines())
    assert drawn == pytest.approx(greatest / 1024)
    assert labels(run, "cwnd") == ["path 0 (fast)", "path 1 (slow)"]
    assert labels(run, "cwnd", path=1) == ["path 1 (slow)"]
    assert labels(run, "queue") == ["slow"]


def test_a_measured_quantity_is_drawn_over_an_axis(sweep: Result) -> None:
    axes = sweep.plot("throughput_bps").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rate", "throughput, Mbit/s")
    assert [text.get_text() for text in axes.get_xticklabels()] == ["10 Mbit/s", "20 Mbit/s"]
    assert labels(sweep, "throughput_bps") == ["buffer = 64 KiB", "buffer = 256 KiB"]
    assert labels(sweep, "throughput_bps", x="buffer") == ["rate = 10 Mbit/s", "rate = 20 Mbit/s"]
    assert labels(sweep, "srtt_s") == [
        f"buffer = {size}, {path}" for size in ("64 KiB", "256 KiB") for path in ("path 0 (fast)", "path 1 (slow)")
    ]
    assert labels(sweep, "srtt_s", path=0) == ["buffer = 64 KiB", "buffer = 256 KiB"]
    assert "2 replicas" in str(sweep.plot("throughput_bps").get_supxlabel())


def interval(result: Result, quantity: str) -> tuple[float, float, float]:
    """The ends of the only error bar of a figure, and the lower end of its axis."""
    axes = result.plot(quantity).axes[0]
    [bars] = [collection for collection in axes.collections if isinstance(collection, LineCollection)]
    [ends] = bars.get_segments()
    return float(ends[0, 1]), float(ends[1, 1]), axes.get_ylim()[0]


def test_an_interval_is_not_drawn_below_0_where_nothing_less_is_possible(made_up) -> None:
    # 0 and 10 ms: Student's t of two replicas gives 5 ± 63.5 ms.
    values = {("f", "srtt_s"): 0.01, ("f", "echo_rtt_added_s"): 0.01}
    result = made_up({"a": [1]}, 2, lambda at: {key: value * at["replica"] for key, value in values.items()})
    half = 5 * 12.706
    low, high, bottom = interval(result, "srtt_s")
    assert (low, bottom) == (0, 0)
    assert high == pytest.approx(5 + half, rel=1e-4)
    low, high, bottom = interval(result, "echo_rtt_added_s")
    assert (low, high) == pytest.approx((5 - half, 5 + half), rel=1e-4)
    assert bottom < low
    assert result.summary("srtt_s")["half_width"][0] == pytest.approx(half / 1e3, rel=1e-4)


def test_no_mark_of_a_figure_is_cut_off(made_up) -> None:
    # The range of the values is small beside their distance to 0.
    result = made_up({"a": [1, 2]}, 1, lambda at: {("f", "throughput_bps"): 57e6 + 1e6 * at["a"]})
    axes = result.plot("throughput_bps").axes[0]
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] > 59 * 1.02


def test_quantities_that_are_a_difference_may_be_negative() -> None:
    page = (Path(__file__).parents[2] / "docs" / "quantities.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \| (.*) \|$", page, re.MULTILINE)
    found = [(name, " minus " in text) for names, text in rows for name in re.findall(r"`([^`]+)`", names)]
    assert [unit_of(name).may_be_negative for name, _ in found] == [differs for _, differs in found]
    assert unit_of("rtt_added_s").may_be_negative, "of a measurement with --latency"


def test_a_run_without_axes_has_a_point_for_each_flow(run: Result) -> None:
    assert labels(run, "throughput_bps") == ["transfer"]
    assert labels(run, "data_packets", path=0) == ["path 0 (fast)"]


def test_names_that_do_not_exist_are_answered_with_those_that_do(run: Result, sweep: Result) -> None:
    with pytest.raises(KeyError, match="recorded cwnd, queue; measured are"):
        run.plot("cwmd")
    with pytest.raises(KeyError, match="there are transfer"):
        run.plot("cwnd", flow="other")
    with pytest.raises(KeyError, match="no axis `delay`: there are rate, buffer"):
        sweep.plot("throughput_bps", x="delay")


def test_units_follow_from_names() -> None:
    assert unit_of("limited_by_cwnd_share").label == "limited by cwnd, %"
    assert unit_of("srtt_s").label == "srtt, ms"
    assert unit_of("timeouts").label == "timeouts"


def test_notebooks_show_figures_and_results(run: Result) -> None:
    assert run.plot("cwnd")._repr_png_().startswith(b"\x89PNG")
    page = run._repr_html_()
    assert "<strong>Two &lt;lines&gt;</strong> (seed 5, digest <code>" in page


def test_a_result_writes_its_report(run: Result, tmp_path: Path) -> None:
    assert "Two &lt;lines&gt;" in run.report(tmp_path / "r.html").read_text(encoding="utf-8")
