"""The verdict rule with samples computed by hand, and properties that hold for all samples."""

import json
import math
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from anabranch.statistics import Estimate, estimate, student_t
from anabranch.verdict import (
    Band,
    Claim,
    Point,
    Row,
    Verdict,
    above,
    at_least,
    at_most,
    below,
    format_estimate,
    judge,
    stated,
    within,
)

TEN_PER_CENT = Band.parse("10 %")


def sample(mean: float, half_width: float, count: int = 4) -> list[float]:
    """An even number of values with this mean and this 95 % interval."""
    off = half_width * math.sqrt(count - 1) / student_t(count - 1)
    return [mean + off, mean - off] * (count // 2)


def verdict(claim: Claim, values: Sequence[float]) -> Verdict:
    return judge([Point("", values, claim)]).verdict


def row(claim: Claim, values: Sequence[float], **more: Any) -> Row:
    return Row("1", "a number", "section 1", judge([Point("rho = 1", values, claim, "Mbit/s")]), **more)


def test_the_made_up_samples_have_the_mean_and_interval_that_tests_assume() -> None:
    found = estimate(sample(0.98, 0.44))
    assert (found.mean, found.half_width) == (pytest.approx(0.98), pytest.approx(0.44))


@pytest.mark.parametrize(
    ("claim", "mean", "half_width", "expected"),
    [
        # Intervals that contain an edge of the band, or the bound, leave the verdict open.
        (stated(1.0, TEN_PER_CENT), 0.98, 0.44, Verdict.OPEN),
        (above(0.99), 0.989, 0.023, Verdict.OPEN),
        # With a relative band, from 0.9 to 1.1.
        (stated(1.0, TEN_PER_CENT), 0.98, 0.07, Verdict.PASS),
        (stated(1.0, TEN_PER_CENT), 0.98, 0.09, Verdict.OPEN),
        (stated(1.0, TEN_PER_CENT), 1.02, 0.09, Verdict.OPEN),
        (stated(1.0, TEN_PER_CENT), 1.2, 0.09, Verdict.MISS),
        (stated(1.0, TEN_PER_CENT), 0.8, 0.09, Verdict.MISS),
        (stated(1.0, TEN_PER_CENT), 1.2, 0.11, Verdict.OPEN),
        # With an absolute band, from 0.936 to 0.942.
        (stated(0.939, Band.parse(0.003)), 0.9403, 0.0016, Verdict.PASS),
        (stated(0.939, Band.parse(0.003)), 0.9403, 0.0018, Verdict.OPEN),
        # With a bound on one side.
        (above(1.3), 1.4, 0.09, Verdict.PASS),
        (above(1.3), 1.4, 0.11, Verdict.OPEN),
        (above(1.3), 1.2, 0.09, Verdict.MISS),
        (below(161.5), 147.2, 1.5, Verdict.PASS),
        (below(161.5), 160.0, 2.0, Verdict.OPEN),
        (below(161.5), 164.0, 2.0, Verdict.MISS),
        (at_most(0.0), -0.37, 0.14, Verdict.PASS),
        (within(7.0, 7.7), 7.37, 0.2, Verdict.PASS),
        (within(7.0, 7.7), 7.37, 0.5, Verdict.OPEN),
        # With a target of 60, for which values above 50 are NEAR.
        (at_least(60, 50), 63, 2, Verdict.PASS),
        (at_least(60, 50), 61, 2, Verdict.OPEN),
        (at_least(60, 50), 55, 4, Verdict.NEAR),
        (at_least(60, 50), 51, 4, Verdict.OPEN),
        (at_least(60, 50), 45, 4, Verdict.MISS),
        (at_least(60, 50), 55, 11, Verdict.OPEN),
    ],
)
def test_a_verdict_is_given_only_if_the_interval_is_on_one_side(
    claim: Claim, mean: float, half_width: float, expected: Verdict
) -> None:
    assert verdict(claim, sample(mean, half_width)) is expected


@pytest.mark.parametrize(
    ("claim", "mean", "half_width", "replicas"),
    [
        # s = 0.44 * sqrt(4) / 3.1824 = 0.2765, 0.08 from 0.9: t(48) s / 7 = 0.0794, t(47) s / sqrt(48) = 0.0803.
        (stated(1.0, TEN_PER_CENT), 0.98, 0.44, 49),
        # s = 0.01445, 0.001 from 0.99: (1.963 * 14.45)^2 = 805.
        (above(0.99), 0.989, 0.023, 806),
        # The mean is outside the band: the half width must shrink to its distance from the band.
        (below(1.0), 1.01, 0.02, 9),
        (above(1.0), 1.0, 0.02, math.inf),
        (above(1.0), 1.0001, 0.02, math.inf),
    ],
)
def test_an_open_verdict_says_how_many_replicas_would_decide(
    claim: Claim, mean: float, half_width: float, replicas: float
) -> None:
    finding = judge([Point("", sample(mean, half_width), claim)])
    assert (finding.verdict, finding.replicas) == (Verdict.OPEN, replicas)


def claims(of: random.Random) -> list[Claim]:
    edge, width = of.uniform(-2, 2), of.uniform(0.01, 1)
    band = Band(width, relative=False)
    targets = [at_least(edge), at_least(edge, edge - width), at_most(edge), within(edge, edge + width)]
    return [stated(edge, band), above(edge), below(edge), *targets]


def test_pass_and_miss_are_never_given_when_the_interval_holds_an_edge() -> None:
    of = random.Random(12)
    given: set[Verdict] = set()
    for _ in range(300):
        mean, spread = of.uniform(-2, 2), of.choice((0.001, 0.1, 1))
        values = [of.gauss(mean, spread) for _ in range(of.randint(2, 8))]
        found = estimate(values)
        for claim in claims(of):
            edges = [edge for edge in (claim.low, claim.high, claim.near) if edge is not None]
            straddles = any(found.low < edge < found.high for edge in edges)
            told = verdict(claim, values)
            assert (told is Verdict.OPEN) == straddles
            given.add(told)
    assert given == set(Verdict)


def test_of_values_just_outside_the_band_one_in_forty_passes_at_most() -> None:
    of = random.Random(1)
    passed = sum(verdict(above(1.0), [of.gauss(0.9999, 0.1) for _ in range(5)]) is Verdict.PASS for _ in range(4000))
    assert 60 <= passed <= 130  # 2.5 % of 4000 are 100, with a standard deviation of 10


def test_one_replica_leaves_a_verdict_on_a_mean_open() -> None:
    finding = judge([Point("", [1.0], stated(1.0, TEN_PER_CENT))])
    assert (finding.verdict, finding.replicas) == (Verdict.OPEN, None)
    assert "one run has no interval" in row(above(0), [1.0]).remark


def test_replicas_that_are_all_equal_have_an_interval_of_zero() -> None:
    assert verdict(stated(0.1, Band.parse(0.01)), [0.1] * 3) is Verdict.PASS
    assert verdict(above(1.0), [1.0, 1.0]) is Verdict.MISS
    assert verdict(at_least(0.3), [0.3] * 7) is Verdict.PASS, "whatever the mean is rounded to"


@pytest.mark.parametrize(
    ("values", "expected", "replicas"),
    [
        ([0] * 6, Verdict.PASS, None),
        ([0] * 5, Verdict.OPEN, 6),
        ([0], Verdict.OPEN, 6),
        ([0] * 99 + [4], Verdict.MISS, None),
        ([4], Verdict.MISS, None),
    ],
)
def test_a_claim_about_every_run_is_refuted_by_one_and_passes_with_six(
    values: list[float], expected: Verdict, replicas: int | None
) -> None:
    finding = judge([Point("", values, below(1, every_run=True))])
    assert (finding.verdict, finding.replicas) == (expected, replicas)


def test_a_ratio_without_a_value_stays_open() -> None:
    for value in (math.nan, math.inf):
        assert verdict(above(1), [2.0, value, 2.0]) is Verdict.OPEN
        assert verdict(above(1, every_run=True), [2.0, value, 2.0]) is Verdict.OPEN
    assert row(above(1), [2.0, math.inf]).as_dict()["mean"] is None


def points(claim: Claim, *found: tuple[float, float]) -> list[Point]:
    return [Point(f"p{mean}", sample(mean, half_width), claim) for mean, half_width in found]


@pytest.mark.parametrize(
    ("found", "expected", "where"),
    [
        ([(1.5, 0.1), (1.2, 0.1), (1.9, 0.1)], Verdict.PASS, "p1.2"),
        ([(1.5, 0.1), (1.2, 0.3), (0.8, 0.1), (0.9, 0.05)], Verdict.MISS, "p0.8"),
        ([(1.5, 0.1), (1.1, 0.2), (1.2, 0.3)], Verdict.OPEN, "p1.1"),
        # All points must pass, so the point that needs the most replicas decides. A single miss decides, too.
        ([(1.05, 0.2), (1.1, 0.2)], Verdict.OPEN, "p1.05"),
        ([(1.001, 0.2), (0.9, 0.2)], Verdict.OPEN, "p0.9"),
    ],
)
def test_a_claim_about_several_points_holds_at_all_of_them(
    found: list[tuple[float, float]], expected: Verdict, where: str
) -> None:
    finding = judge(points(above(1.0), *found))
    assert (finding.verdict, finding.point.where) == (expected, where)


def test_judging_without_points_is_an_error() -> None:
    with pytest.raises(ValueError, match="no point was measured"):
        judge([])


@pytest.mark.parametrize("text", ["2", "two %", 0, -1.0, "0 %", math.inf])
def test_a_wrong_band_is_refused(text: str | float) -> None:
    with pytest.raises(ValueError, match=r"band|float"):
        Band.parse(text)


def test_a_calibrated_number_passes_as_calibrated_and_misses_like_any_other() -> None:
    assert row(above(1), sample(2, 0.1), calibrated="a knob").label == "PASS (calibrated)"
    assert row(above(1), sample(0.5, 0.1), calibrated="a knob").label == "MISS"
    assert row(above(1), sample(1, 0.1), calibrated="a knob").label == "OPEN"
    assert row(above(1), sample(2, 0.1)).label == "PASS"


def test_an_open_row_says_what_would_decide_and_why_it_stays_so() -> None:
    bare = row(above(0.99), sample(0.989, 0.023))
    assert bare.unexplained
    assert bare.remark == "about 810 replicas would decide; no reason given"
    told = row(above(0.99), sample(0.989, 0.023), reason="too costly")
    assert not told.unexplained
    assert told.remark.endswith("; too costly")
    edge = row(above(1), sample(1, 0.1))
    assert edge.remark.startswith("the value lies on the edge of the band: not even 10,000 replicas would decide")
    assert row(above(1), sample(2, 0.1)).remark == ""


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (stated(95, Band.parse("2 %")), "95 s ±2 %"),
        (stated(120, Band.parse(8)), "120 s ±8"),
        (above(0.99), "> 0.99 s"),
        (at_least(60, 50), "≥ 60 s"),
        (below(1), "< 1 s"),
        (at_most(0), "≤ 0 s"),
        (within(7, 7.7), "7 to 7.7 s"),
        (within(944, 944), "944 s"),
    ],
)
def test_a_claim_is_printed_with_its_bounds_and_unit(claim: Claim, text: str) -> None:
    assert claim.text("s") == text


def refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def strict(text: str) -> Any:
    """Reads JSON that knows no NaN and no infinity."""
    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize(
    ("claim", "values"),
    [
        (stated(1.0, TEN_PER_CENT), sample(0.98, 0.44)),
        (above(0.99), sample(1.0, 0.001)),
        (below(1.0), sample(1.0, 0.1)),
        (at_least(60, 50), sample(55, 2)),
        (above(1.0), [2.0]),
        (below(1, every_run=True), [0, 0, 3]),
    ],
)
def test_the_numbers_in_json_give_the_same_verdict(claim: Claim, values: list[float]) -> None:
    told = row(claim, values, calibrated="a knob", reason="why").as_dict()
    read = strict(json.dumps(told, allow_nan=False))
    assert read == told
    found = estimate(values)
    assert (read["mean"], read["n"], read["expected"]) == (found.mean, len(values), claim.expected)
    assert read["half_width"] == (found.half_width if len(values) > 1 else None)
    low, high = (-math.inf if read["band"][0] is None else read["band"][0]), read["band"][1] or math.inf
    again = Claim(read["expected"], low, high, near=read["near"], strict=claim.strict)
    if read["worst_run"] is not None:
        assert again.of(read["worst_run"]) == read["verdict"]
    else:
        half_width = math.inf if read["half_width"] is None else read["half_width"]
        assert again.between(read["mean"] - half_width, read["mean"] + half_width) == read["verdict"]


def test_the_page_about_verdicts_lists_the_keys_of_the_json() -> None:
    page = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text(encoding="utf-8")
    _, _, keys = page.partition("| key | what it is |")
    listed = re.findall(r"`(\w+)`", " ".join(line.split("|")[1] for line in keys.splitlines() if line.startswith("|")))
    assert listed == list(row(above(1), [2.0, 2.0]).as_dict())


def test_json_tells_an_open_row_on_the_edge_from_one_that_more_replicas_decide() -> None:
    told = [row(above(1), sample(mean, 0.1)).as_dict() for mean in (1.0, 1.05, 2.0)]
    assert [(one["verdict"], one["replicas_needed"], one["on_edge"]) for one in told] == [
        ("OPEN", None, True), ("OPEN", 9, False), ("PASS", None, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (95.9123, 0.1234, "95.91 ± 0.12 x"),
        (0.5012, 0.0003, "0.5012 ± 0.0003 x"),
        (190.0, 0.0, "190 ± 0 x"),
        (171.23, math.inf, "171.2 x"),
        (10356.0, math.inf, "10356 x"),
        (95.9123, 0.00001, "95.91 ± 0.00 x"),
    ],
)
def test_estimates_are_printed_to_what_their_interval_supports(mean: float, half: float, text: str) -> None:
    assert format_estimate(Estimate(mean, half, 9), "x") == text
