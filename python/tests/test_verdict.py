"""The verdict rule at its edges."""

import math

import pytest

from anabranch.statistics import Estimate
from anabranch.verdict import Above, Band, Below, Point, Stated, Target, Verdict, format_estimate, judge


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [(102.0, Verdict.PASS), (98.0, Verdict.PASS), (102.1, Verdict.NEAR), (96.0, Verdict.NEAR), (95.9, Verdict.MISS)],
)
def test_a_number_passes_in_its_band_and_is_near_in_twice_the_band(measured: float, verdict: Verdict) -> None:
    assert Stated(100.0, Band.parse("2 %")).judge(measured) is verdict


def test_a_band_may_be_absolute() -> None:
    assert Stated(10.0, Band.parse(0.5)).judge(10.5) is Verdict.PASS
    assert Stated(10.0, Band.parse(0.5)).judge(11.0) is Verdict.NEAR


@pytest.mark.parametrize("text", ["2", "two %", 0, -1.0, "0 %", math.inf])
def test_a_band_that_says_nothing_is_refused(text: str | float) -> None:
    with pytest.raises(ValueError, match=r"band|float"):
        Band.parse(text)


def test_an_order_holds_or_is_missed() -> None:
    assert Above(1.3).judge(1.31) is Verdict.PASS
    assert Above(1.3).judge(1.3) is Verdict.MISS
    assert Below(1.0).judge(1.0) is Verdict.MISS


def test_a_target_is_near_above_its_lower_bound() -> None:
    target = Target(60, 50)
    assert [target.judge(v) for v in (60, 59.9, 50.1, 50)] == [
        Verdict.PASS, Verdict.NEAR, Verdict.NEAR, Verdict.MISS,
    ]  # fmt: skip


def test_the_worst_point_decides() -> None:
    points = [Point(f"p{v}", Estimate(v, 0.0, 3)) for v in (1.0, 0.95, 1.02)]
    verdict, worst = judge(Stated(1.0, Band.parse("3 %")), points)
    assert (verdict, worst.where) == (Verdict.NEAR, "p0.95")
    assert judge(Above(0.96), points)[1].where == "p0.95"
    assert judge(Below(1.01), points)[1].where == "p1.02"


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (95.9123, 0.1234, "95.91 ± 0.12 x"),
        (0.5012, 0.0003, "0.5012 ± 0.0003 x"),
        (190.0, 0.0, "190 ± 0 x"),
        (171.23, math.inf, "171.2 x"),
        (95.9123, 0.00001, "95.91 ± 0.00 x"),
    ],
)
def test_estimates_are_printed_to_what_their_interval_supports(mean: float, half: float, text: str) -> None:
    assert format_estimate(Estimate(mean, half, 9), "x") == text
