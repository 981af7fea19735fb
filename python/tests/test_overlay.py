"""Prediction bands and verdicts, compared with numbers computed by hand."""

import math

import pytest

from anabranch.overlay import LateRunError, compare, prediction_band, ratio_of_means, refuse_late, suite


def test_prediction_band_is_mean_plus_and_minus_t_times_deviation_of_a_further_run() -> None:
    # s = 1, t(2) = 4.3027, √(4/3) = 1.1547.
    assert prediction_band([9.0, 10.0, 11.0]) == pytest.approx((10 - 4.9684, 10 + 4.9684), abs=1e-3)


def test_interval_of_the_ratio_has_the_variances_of_both_means() -> None:
    ratio = ratio_of_means([10.0, 10.2], [9.9, 10.0, 10.1])
    # The relative variances 0.01/10.1² and (0.01/3)/10² add up to 1.3136e-4. Welch's formula gives 1.70 degrees of
    # freedom, rounded down to 1; t(1) = 6.3138.
    assert ratio.mean == pytest.approx(1.01)
    assert ratio.half_width == pytest.approx(1.01 * math.sqrt(1.3136e-4) * 6.3138, rel=1e-3)


def test_ratio_without_any_spread_is_exact() -> None:
    assert ratio_of_means([5.0, 5.0], [4.0, 4.0]).half_width == 0.0
    assert ratio_of_means([0.0, 0.0], [0.0, 0.0]).mean == 1.0
    assert ratio_of_means([1.0, 1.0], [0.0, 0.0]).mean == math.inf


def runs(mean: float, count: int, spread: float = 0.1, bins: int = 20) -> list[list[float]]:
    """Runs around a mean; they lie above and below it in turn."""
    return [[mean + spread * (1 if (run + b) % 2 else -1) for b in range(bins)] for run in range(count)]


def test_equal_means_within_the_band_agree() -> None:
    verdict = compare(runs(10.0, 30), runs(10.1, 4))
    assert verdict.agrees
    assert verdict.inside == 1.0
    assert str(verdict).startswith("agree: real/simulated 1.010")


def test_means_six_percent_apart_differ() -> None:
    verdict = compare(runs(10.0, 30, spread=1.0), runs(10.6, 4))
    assert not verdict.agrees
    assert verdict.inside == 1.0
    assert verdict.ratio.mean == pytest.approx(1.06)


def test_equal_means_outside_the_band_differ() -> None:
    real = runs(10.0, 4, spread=3.0)
    verdict = compare(runs(10.0, 30), real)
    assert verdict.ratio.mean == pytest.approx(1.0)
    assert verdict.inside == 0.0
    assert not verdict.agrees


def test_few_runs_of_wide_spread_decide_nothing_and_differ() -> None:
    verdict = compare([[9.9], [10.0], [10.1]], [[10.0], [10.2]])
    assert verdict.ratio.high > 1.05
    assert not verdict.agrees


@pytest.mark.parametrize(
    ("simulated", "real"), [([[1.0]], [[1.0], [1.0]]), ([[1.0], [1.0]], [[1.0]]), ([[1.0], [1.0]], [[1.0], []])]
)
def test_too_few_runs_and_unequal_bins_are_refused(simulated: list[list[float]], real: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="expected"):
        compare(simulated, real)


def test_late_runs_are_refused_unless_forced() -> None:
    outcomes = [{"late": False}, {"late": True}]
    with pytest.raises(LateRunError, match=r"late to be compared: 2;"):
        refuse_late(outcomes)
    refuse_late(outcomes, forced=True)
    refuse_late(outcomes[:1])


def test_a_page_keeps_the_parts_that_are_not_made_anew_in_the_order_of_the_suite() -> None:
    first, second, third = suite.entries()[:3]
    written = f"\n## {third.title}\n\nold ## third\n\n## {first.title}\n\nold first\n"
    made = {second.title: f"## {second.title}\n\nnew second\n", third.title: f"## {third.title}\n\nnew third\n"}
    page = suite.merged(written, made)
    parts = [(first, "old first"), (second, "new second"), (third, "new third")]
    assert page == "\n".join(f"## {entry.title}\n\n{text}\n" for entry, text in parts)
    assert suite.merged(page, {}) == page
