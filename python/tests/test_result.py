"""Frames, summaries and the HTML for notebooks."""

from pathlib import Path

import polars as pl
import pytest

from anabranch.result import Result


@pytest.fixture
def result(made_up) -> Result:
    return made_up(
        {"variant": ["cmt", "off"]},
        3,
        lambda at: {
            ("f", "throughput_bps"): (2.0 if at["variant"] == "cmt" else 1.0) + 0.1 * at["replica"],
            ("f", "<drops>"): 5.0,
        },
    )


def test_axes_are_the_columns_of_variations(result: Result) -> None:
    assert result.axes == ["variant"]


def test_summary_of_one_quantity(result: Result) -> None:
    found = result.summary("throughput_bps")
    assert found["mean"].to_list() == pytest.approx([2.1, 1.1])
    assert found["count"].to_list() == [3, 3]


def test_the_error_for_an_unknown_quantity_lists_the_known_ones(result: Result) -> None:
    with pytest.raises(KeyError, match="throughput_bps"):
        result.summary("goodput")


def test_pandas_and_polars_hold_the_same(result: Result) -> None:
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert list(frame.columns) == result.to_polars().columns
    assert frame["value"].tolist() == result.scalars["value"].to_list()


def test_html_shows_means_and_escapes_names(result: Result) -> None:
    page = result._repr_html_()
    assert "<td>cmt</td>" in page
    assert "<td>2.1</td>" in page
    assert "&lt;drops&gt;" in page
    assert "<drops>" not in page


def test_a_directory_of_a_sweep_reads_back(result: Result, tmp_path: Path) -> None:
    result.scalars.write_parquet(tmp_path / "scalars.parquet")
    result.series.write_parquet(tmp_path / "series.parquet")
    (tmp_path / "manifest.json").write_text('{"seed": 1}')
    found = Result.read(tmp_path)
    assert found.scalars.equals(result.scalars)
    assert found.manifest == {"seed": 1}


def test_parquet_in_memory_reads_back(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    result.scalars.write_parquet(path)
    pl.DataFrame({"time": [1.0]}).write_parquet(tmp_path / "t.parquet")
    found = Result.from_bytes(path.read_bytes(), (tmp_path / "t.parquet").read_bytes(), "{}")
    assert found.scalars.equals(result.scalars)
