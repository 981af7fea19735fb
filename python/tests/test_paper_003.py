"""The burst measures of figure 12 of paper 003, compared with values computed by hand."""

import polars as pl
import pytest

from anabranch import papers
from anabranch.reproduce import FigureData
from anabranch.result import Result
from anabranch.verdict import judge

PAPER = papers.find("003")
CODE = PAPER.code()
PACKET = 8 * 1200 / CODE.FINE
"""One packet per bin, in bit/s."""
SMOOTH = [1.0] * 1200
UNEVEN = [0.0, 2.0] * 600


def scalars(rows: list[tuple[int, str, str, str, float]]) -> pl.DataFrame:
    found = pl.DataFrame(rows, ["run", "load", "flow", "quantity", "value"], orient="row")
    return found.with_columns(pl.lit(4.0).alias("n"), pl.lit(0.002).alias("weight"), pl.lit(0).alias("replica"))


def sent(run: int, flow: str, packets: list[float]) -> pl.DataFrame:
    points = [(60.0 + CODE.FINE * bin, PACKET * count) for bin, count in enumerate(packets)]
    return pl.DataFrame(points, ["time", "value"], orient="row").with_columns(
        pl.lit(run).alias("run"),
        pl.lit(flow).alias("flow"),
        pl.lit(None).cast(pl.Int32).alias("path"),
        pl.lit("sent-throughput").alias("quantity"),
    )


def data(cmt: list[float], first: list[float], second: list[float]) -> FigureData:
    known = scalars([(0, "CMT", "added-1", "any", 0.0), (1, "two-SCTP", "added-1", "any", 0.0)])
    series = [sent(0, "added-1", cmt), sent(1, "added-1", first), sent(1, "added-2", second)]
    return FigureData(PAPER, PAPER.select(["12-bursts"])[0], Result(known, pl.concat(series), {}), 1, 1)


def test_dispersion_counts_both_flows_and_depends_on_the_bins() -> None:
    found = CODE.index_of_dispersion(data(UNEVEN, UNEVEN, UNEVEN[1:] + UNEVEN[:1]), "CMT", 4)
    assert found[0.005] == pytest.approx(1.0, rel=0.01)  # 0 and 2 packets in turn: mean 1, variance 1
    assert found[0.01] == 0.0
    kept_even = CODE.index_of_dispersion(data(SMOOTH, UNEVEN, UNEVEN[1:] + UNEVEN[:1]), "two-SCTP", 4)
    assert kept_even[0.005] == 0.0


@pytest.mark.parametrize(("cmt", "holds"), [([0.0, 0.0, 4.0, 4.0] * 300, True), ([1.0, 1.0, 3.0, 3.0] * 300, False)])
def test_cmt_is_burstier_if_its_dispersion_is_larger(cmt: list[float], holds: bool, agrees) -> None:
    swinging = [0.0, 0.0, 2.0, 2.0] * 300
    assert agrees(CODE.cmt_is_burstier(data(cmt, swinging, [0.5, 0.5, 1.5, 1.5] * 300))) == holds


def test_packets_in_trains_count_the_longest_with_their_true_length() -> None:
    flow = "added-1@link:tight"
    rows = [(0, "CMT", flow, "bursts", 2.0), (0, "CMT", flow, "burst_packets_mean", 20.0)]
    rows += [(0, "CMT", flow, f"bursts_of_{n}", float(n == 4)) for n in range(1, 16)]
    found = FigureData(PAPER, PAPER.select(["12-bursts"])[0], Result(scalars(rows), pl.DataFrame(), {}), 1, 1)
    assert CODE.packets_in_trains(found, "CMT", 4) == pytest.approx([1.0] * 4 + [0.9] * 12)


@pytest.mark.parametrize(("few", "many", "difference"), [(0.1, 0.02, 8.0), (0.02, 0.1, -8.0)])
def test_deficits_are_compared_replica_by_replica(few: float, many: float, difference: float) -> None:
    rows: list[dict[str, object]] = []
    for n in (4.0, 6.0, 10.0, 12.0):
        for replica in range(4):
            sctp = 10.0 * (1 + replica)  # the replicas differ much, but all have the same deficit of CMT
            for load, value in (("two-SCTP", sctp), ("CMT", sctp * (1 - (few if n < 8 else many)))):
                rows.append({"n": n, "replica": replica, "load": load, "value": value * 1e6})
    known = pl.DataFrame(rows).with_columns(
        pl.lit(0.002).alias("weight"), pl.lit("steady").alias("window"), pl.lit("added").alias("flow"),
        pl.lit(None).cast(pl.Int32).alias("path"), pl.lit("sent_throughput_bps").alias("quantity"),
    ).with_row_index("run")  # fmt: skip
    found = FigureData(PAPER, PAPER.select(["12"])[0], Result(known, pl.DataFrame(), {}), 1, 4)
    (point,) = CODE.deficit_grows_as_n_falls(found)
    assert point.values == pytest.approx([difference] * 4)
    assert judge([point]).verdict == ("PASS" if difference > 0 else "MISS")
