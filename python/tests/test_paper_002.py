"""The checks of paper 002 pass for traces as the paper describes them, and fail for others."""

import polars as pl
import pytest

from anabranch import papers
from anabranch.reproduce import FigureData
from anabranch.result import Result

PAPER = papers.find("002")
CODE = PAPER.code()
Points = list[tuple[float, float]]


def trace(run: int, quantity: str, points: Points, flow: str = "transfer", path: int | None = None) -> pl.DataFrame:
    time, value = zip(*points, strict=True)
    return pl.DataFrame({"time": [float(t) for t in time], "value": [float(v) for v in value]}).with_columns(
        pl.lit(run).alias("run"),
        pl.lit(path).cast(pl.Int32).alias("path"),
        pl.lit(quantity).alias("quantity"),
        pl.lit(flow).alias("flow"),
    )


def data(figure: str, scalars: dict[str, object], *series: pl.DataFrame) -> FigureData:
    frame = pl.DataFrame({"run": [0], "replica": 0, **scalars, "value": 0.0})
    return FigureData(PAPER, PAPER.select([figure])[0], Result(frame, pl.concat(series), {}), 1, 1)


def test_a_cut_is_a_decrease_by_a_fifth_or_more() -> None:
    assert CODE.cuts([100.0, 81.0, 80.0, 40.0, 90.0, 71.0]) == 2


def test_a_pause_has_a_begin_and_a_length() -> None:
    assert CODE.pauses([0.0, 0.5, 2.0, 2.5], 1.0) == [(0.5, 1.5)]


@pytest.mark.parametrize(("mean", "holds"), [(379.0, False), (381.0, True), (419.0, True), (421.0, False)])
def test_the_queue_is_that_of_equation_1_within_5_per_cent(mean: float, holds: bool, agrees) -> None:
    start = [(float(t), 3000.0) for t in range(100)]
    queue = trace(0, "queue", start + [(float(t), mean) for t in range(100, 1000)], "link:bottleneck")
    assert agrees(CODE.two_flows_of_fast_keep_alpha(data("3", {"alpha_inside": True}, queue))) == holds


def test_losses_in_quick_succession_are_one_overflow() -> None:
    drops = trace(0, "drops", [(0, 0), (10, 0), (11, 4), (12, 7), (20, 7), (30, 9)], "link:bottleneck")
    assert CODE.overflows(drops.select("time", "value")) == [11.0, 30.0]


@pytest.mark.parametrize(("time", "holds"), [(98, True), (108, False)])
def test_the_first_overflow_comes_after_the_third_flow_began(time: int, holds: bool, agrees) -> None:
    drops = trace(0, "drops", [(0, 0), (time, 5), (190, 9), (1000, 9)], "link:bottleneck")
    found = data("4", {"flows": "4 flows"}, drops)
    assert agrees(CODE.first_overflow_at_102_8_s(found)) == holds
    assert agrees(CODE.cut_at_200_s(found))
    assert not agrees(CODE.cut_at_800_s(found))


@pytest.mark.parametrize(
    ("pause", "room", "holds"), [(7.2, 944, (True, True)), (6.2, 944, (False, True)), (7.2, 0, (True, False))]
)
def test_three_timeouts_and_the_window_meanwhile(pause: float, room: int, holds: tuple[bool, bool], agrees) -> None:
    sent = trace(0, "tsn", [(27.4, 1), (27.6, 2), (27.6 + pause, 3), (300, 4)], path=0)
    window = trace(0, "peer-rwnd", [(27.0, 9752), (27.6, room), (28.6, room + 1468)])
    found = data("7", {}, sent, window)
    checks = (CODE.three_timeouts_take_seven_seconds, CODE.the_window_left_is_944_bytes)
    assert tuple(agrees(check(found)) for check in checks) == holds


def test_idle_times_are_series_of_empty_bins() -> None:
    assert CODE.idle_times([1.0, 0.0, 0.0, 2.0, 0.0], 0.5) == [1.0, 0.5]


def test_a_buffer_allows_its_size_per_rtt_and_at_most_the_rate_of_both_paths() -> None:
    assert CODE.allowed("64 KiB") == pytest.approx(44 * 1452 * 8 / 121.5e-3 / 1e6)
    assert CODE.allowed("1 MiB") == CODE.BOTH_PATHS


@pytest.mark.parametrize(("gap", "holds"), [(2, True), (9, False)])
def test_fast_stalls_at_most_a_tenth_as_long(gap: int, holds: bool, agrees) -> None:
    schemes = [CODE.LOSS_BASED, "FAST among FAST"]
    scalars = pl.DataFrame(
        {"run": [0, 1], "replica": 0, "scheme": schemes, "queue": 40.0, "buffer": "64 KiB", "value": 0.0}
    )
    rates = [[0.0] * 50 + [1.0] * 950, [0.0] * gap + [1.0] * (1000 - gap)]
    series = [trace(run, "throughput", list(enumerate(part))) for run, part in enumerate(rates)]
    found = FigureData(PAPER, PAPER.select(["claim"])[0], Result(scalars, pl.concat(series), {}), 1, 1)
    assert agrees(CODE.fast_stalls_less_40(found)) == holds
