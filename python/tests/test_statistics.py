"""Mean and interval, compared with published tables and samples computed by hand."""

import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from anabranch.statistics import (
    MOST_REPLICAS,
    UNANIMOUS,
    Estimate,
    estimate,
    paired,
    replicas_for,
    student_t,
    summarize,
)

# Two-sided 95 % points of Student's t, as printed in tables.
TABLE_95 = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 5: 2.5706, 9: 2.2622, 10: 2.2281, 23: 2.0687, 29: 2.0452}
TABLE_95_LARGE = {30: 2.0423, 31: 2.0395, 60: 2.0003, 120: 1.9799, 1000: 1.9623}
TABLE_99 = {1: 63.6567, 2: 9.9248, 5: 4.0321, 10: 3.1693, 30: 2.7500}


@pytest.mark.parametrize(("degrees", "expected"), (TABLE_95 | TABLE_95_LARGE).items())
def test_quantile_matches_the_table_at_95_percent(degrees: int, expected: float) -> None:
    assert student_t(degrees) == pytest.approx(expected, abs=6e-5)


@pytest.mark.parametrize(("degrees", "expected"), TABLE_99.items())
def test_quantile_matches_the_table_at_99_percent(degrees: int, expected: float) -> None:
    assert student_t(degrees, 0.99) == pytest.approx(expected, abs=6e-5)


def test_quantile_decreases_towards_that_of_the_normal_distribution() -> None:
    values = [student_t(n) for n in range(1, 200)]
    assert all(a > b for a, b in pairwise(values))
    assert values[-1] > 1.959964


def test_quantile_refuses_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="degree of freedom"):
        student_t(0)
    with pytest.raises(ValueError, match="confidence"):
        student_t(3, 1.0)


def test_interval_of_a_hand_worked_sample() -> None:
    # mean 3, variance 2.5, standard error sqrt(0.5), t(4) = 2.77645
    found = estimate([1, 2, 3, 4, 5])
    assert found.mean == 3
    assert found.half_width == pytest.approx(2.776445 * math.sqrt(0.5), rel=1e-6)
    assert found.low == pytest.approx(3 - found.half_width)
    assert found.high == pytest.approx(3 + found.half_width)


def test_a_single_replica_has_no_interval() -> None:
    assert estimate([7.0]).half_width == math.inf


def test_equal_values_have_an_interval_of_zero() -> None:
    assert estimate([4.0] * 6).half_width == 0


@pytest.mark.parametrize(("half_width", "replicas"), [(1.0, 18), (2.0, 7), (3.19, 4), (20.0, 2)])
def test_replicas_for_an_interval_of_a_hand_worked_spread(half_width: float, replicas: int) -> None:
    # s = 2: t(17) 2 / sqrt(18) = 0.9946, t(16) 2 / sqrt(17) = 1.028; t(6) 2 / sqrt(7) = 1.85, t(5) 2 / sqrt(6) = 2.10
    found = Estimate(5.0, student_t(3) * 2 / math.sqrt(4), 4)
    assert replicas_for(found, half_width) == replicas


def test_more_replicas_than_the_maximum_count_as_infinite() -> None:
    found = Estimate(5.0, student_t(3) * 2 / math.sqrt(4), 4)
    assert replicas_for(found, 0.1) == pytest.approx(1539, abs=4)  # t falls to 1.9615, (1.9615 * 2 / 0.1)^2
    assert replicas_for(found, 0.0392) == pytest.approx(MOST_REPLICAS, rel=0.01)
    assert replicas_for(found, 0.039) == math.inf
    assert replicas_for(found, 0.0) == math.inf
    assert replicas_for(estimate([5.0]), 1.0) is None


def test_from_six_agreeing_replicas_on_most_runs_agree() -> None:
    # Clopper and Pearson: if all of n agree, the 95 % interval of the share begins at 0.025^(1/n).
    assert 0.025 ** (1 / UNANIMOUS) > 0.5 > 0.025 ** (1 / (UNANIMOUS - 1))


def test_a_summary_without_groups_has_one_row() -> None:
    found = summarize(pl.DataFrame({"value": [1.0, 2.0, 3.0]}), [])
    assert found["mean"].to_list() == [2.0]
    assert found["count"].to_list() == [3]


def test_summary_keeps_groups_apart_and_in_order() -> None:
    frame = pl.DataFrame({"variant": ["b", "a", "b", "a"], "value": [1.0, 10.0, 3.0, 10.0]})
    found = summarize(frame, "variant")
    assert found["variant"].to_list() == ["b", "a"]
    assert found["mean"].to_list() == [2.0, 10.0]
    assert found["half_width"][0] == pytest.approx(12.7062, abs=1e-4)
    assert found["half_width"][1] == 0.0
    assert found["count"].to_list() == [2, 2]


def runs(values: dict[str, dict[int, float]]) -> pl.DataFrame:
    """A table of one flow: variant to replica to value."""
    rows = [("f", name, replica, value) for name, of in values.items() for replica, value in of.items()]
    return pl.DataFrame(rows, schema=["flow", "variant", "replica", "value"], orient="row")


def test_paired_interval_of_a_hand_worked_sample() -> None:
    # Differences b - a: 1, 2, 3, 2. Mean 2; squares of the deviations 1, 0, 1, 0: variance 2/3, standard error
    # sqrt(2/3/4) = 0.40825; t(3) = 3.18245: half width 1.29923. Mean of a: 25.
    # Differences c - a: -5, 5, -5, 5. Mean 0; variance 100/3, standard error 2.88675: half width 9.18693.
    a = {0: 10.0, 1: 20.0, 2: 30.0, 3: 40.0}
    b = {3: 42.0, 1: 22.0, 0: 11.0, 2: 33.0}
    c = {0: 5.0, 1: 25.0, 2: 25.0, 3: 45.0}
    found = paired(runs({"a": a, "b": b, "c": c}), "variant", "a", ["flow"])
    assert found["variant"].to_list() == ["b", "c"]
    assert found["baseline"].to_list() == ["a", "a"]
    assert found["baseline_mean"].to_list() == [25.0, 25.0]
    assert found["difference"].to_list() == [2.0, 0.0]
    assert found["half_width"].to_list() == pytest.approx([1.29923, 9.18693], abs=1e-5)
    assert found["pairs"].to_list() == [4, 4]
    assert found["note"].to_list() == ["", ""]


def test_paired_interval_is_narrow_where_replicas_vary_together() -> None:
    # The random part common to both variants is 100 times that of one variant.
    random = np.random.default_rng(7)
    common, own = random.normal(1000.0, 100.0, 16), random.normal(0.0, 1.0, (2, 16))
    a, b = common + own[0], common + own[1] + 5.0
    found = paired(runs({"a": dict(enumerate(a)), "b": dict(enumerate(b))}), "variant", "a", ["flow"]).row(
        0, named=True
    )
    assert found["half_width"] < min(estimate(a).half_width, estimate(b).half_width) / 30
    assert found["difference"] - found["half_width"] > 0
    assert estimate(a).high > estimate(b).low


def test_variants_that_are_identical_in_all_replicas_are_said_to_be() -> None:
    same = {n: math.pi * n for n in range(8)}
    found = paired(runs({"a": same, "b": same}), "variant", "a", ["flow"]).row(0, named=True)
    assert (found["difference"], found["half_width"], found["pairs"]) == (0.0, 0.0, 8)
    assert found["note"] == "identical in all 8 replicas"


def test_replicas_that_only_one_variant_has_are_named() -> None:
    # Pairs: 1 and 2, differences 1 and 3. Mean 2, variance 2, standard error 1; t(1) = 12.7062.
    a, b = {0: 1e9, 1: 1.0, 2: 1.0}, {1: 2.0, 2: 4.0, 3: -1e9, 4: math.nan}
    found = paired(runs({"a": a, "b": b}), "variant", "a", ["flow"]).row(0, named=True)
    assert (found["baseline_mean"], found["difference"], found["pairs"]) == (1.0, 2.0, 2)
    assert found["half_width"] == pytest.approx(12.7062, abs=1e-4)
    assert found["missing"] == [0, 3]
    assert found["note"] == "2 replicas missing in one of the two: 0, 3"


def test_fewer_than_two_pairs_have_no_interval() -> None:
    frame = runs({"a": {0: 1.0}, "b": {0: 1.0}, "c": {1: 5.0}, "d": dict.fromkeys(range(20, 35), 0.0)})
    b, c, d = paired(frame, "variant", "a", ["flow"]).iter_rows(named=True)
    assert (b["difference"], b["half_width"], b["note"]) == (0.0, math.inf, "one pair: no interval")
    assert (c["baseline_mean"], c["difference"], c["half_width"], c["pairs"]) == (None, None, math.inf, 0)
    assert c["missing"] == [0, 1]
    assert len(d["missing"]) == 16
    assert d["note"] == "16 replicas missing in one of the two: 0, 20, 21, 22, 23, 24, 25, 26, 27, 28, ..."
