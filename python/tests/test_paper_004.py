"""The checks of paper 004 pass for traces as the paper describes them, and fail for others."""

import polars as pl
import pytest

from anabranch import papers, reproduce
from anabranch.reproduce import FigureData
from anabranch.result import Result

PAPER = papers.find("004")
CODE = PAPER.code()


def trace(quantity: str, path: int | None, points: list[tuple[float, float]], flow: str = "background") -> pl.DataFrame:
    time, value = zip(*points, strict=True)
    return pl.DataFrame({"time": time, "value": value}).with_columns(
        pl.lit(0).alias("run"),
        pl.lit(path).cast(pl.Int32).alias("path"),
        pl.lit(quantity).alias("quantity"),
        pl.lit(flow).alias("flow"),
    )


def data(*series: pl.DataFrame, control: str = "ledbat-mp") -> FigureData:
    scalars = pl.DataFrame({"run": [0], "replica": 0, "control": control, "value": 0.0})
    return FigureData(PAPER, PAPER.select(["4"])[0], Result(scalars, pl.concat(series), {}), 1, 1)


def windows(first: list[float], second: list[float], times: list[float]) -> FigureData:
    both = [trace("cwnd", p, list(zip(times, w, strict=True))) for p, w in enumerate((first, second))]
    return data(*both)


@pytest.mark.parametrize(
    ("when", "window", "holds"), [(150.0, 3000.0, True), (150.0, 4500.0, False), (30.0, 3000.0, False)]
)
def test_a_subflow_starves_if_its_cwnd_reaches_the_minimum_before_360_s(
    when: float, window: float, holds: bool, agrees
) -> None:
    found = windows([36000.0, window], [36000.0, 70000.0], [20.0, when])
    assert agrees(CODE.one_subflow_starves(found)) == holds


def test_the_total_is_flat_if_one_window_grows_as_the_other_shrinks(agrees) -> None:
    times = [20.0, 100.0, 300.0]
    assert agrees(CODE.the_total_is_flat(windows([36e3, 20e3, 3e3], [36e3, 52e3, 69e3], times)))
    assert not agrees(CODE.the_total_is_flat(windows([36e3, 20e3, 3e3], [36e3, 36e3, 36e3], times)))


@pytest.mark.parametrize(("step", "holds"), [(360.0, True), (300.0, False), (600.0, False)])
def test_the_step_of_the_rtt_is_where_the_base_delay_expires(step: float, holds: bool, agrees) -> None:
    points = [(float(t), 0.12 if t < step else 0.22) for t in range(20, 720)]
    found = data(trace("srtt", 0, points), trace("srtt", 1, points))
    assert agrees(CODE.the_step_is_at_360_s(found)) == holds
    assert (agrees(CODE.rtt_before_the_step(found)) and agrees(CODE.rtt_after_the_step(found))) == holds


@pytest.mark.parametrize(("drops", "holds"), [([722, 1080], True), ([700, 1080], False), ([722], False), ([], False)])
def test_losses_begin_when_the_queue_cannot_hold_two_targets(drops: list[int], holds: bool, agrees) -> None:
    points = [(float(t), float(sum(t >= drop for drop in drops))) for t in range(2000)]
    assert agrees(CODE.losses_from_720_s_on(data(trace("drops", None, points, "link:bottleneck")))) == holds


def test_sharing_is_judged_by_its_smallest_index(agrees) -> None:
    equal, unequal = [(100.0, 2e6), (200.0, 2e6)], [(100.0, 2e6), (200.0, 1e6)]
    for other, holds in ((equal, True), (unequal, False)):
        series = [trace("sent-throughput", 0, equal), trace("sent-throughput", 1, other)]
        assert agrees(CODE.subflows_always_share(data(*series, control="mpplus"))) == holds


def test_a_quantity_can_be_restricted_to_one_path() -> None:
    rows = [(None, 30.0), (0, 20.0), (1, 10.0)]
    scalars = pl.DataFrame(
        [{"run": 0, "replica": 0, "window": "", "flow": "f", "path": p, "quantity": "q", "value": v} for p, v in rows],
        schema_overrides={"path": pl.Int32},
    )
    quantities = {str(p): papers.Quantity(of="q", flow="f", path=p) for p, _ in rows}
    result = Result(scalars, scalars.clear(), {})
    assert [reproduce._samples(result, quantities, name)["value"].to_list() for name in quantities] == [
        [30.0], [20.0], [10.0]
    ]  # fmt: skip
