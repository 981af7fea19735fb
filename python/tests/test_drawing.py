"""``Result.plot``: labels, units and choices of what is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
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
    assert "2 replicas" in str(sweep.plot("throughput_bps").get_supxlabel())


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
