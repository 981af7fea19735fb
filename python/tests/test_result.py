"""Frames, summaries and the HTML for notebooks."""

import hashlib
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

import anabranch
from anabranch.command import main
from anabranch.folder import DamagedResultError, sealed
from anabranch.report import write
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


def test_the_label_of_a_path_has_the_name_that_all_runs_give_to_it(result: Result) -> None:
    def named(*runs: dict[str, list[str | None]] | None) -> Result:
        listed = [{"run": n, **({} if names is None else {"paths": {"f": names}})} for n, names in enumerate(runs)]
        return Result(result.scalars, result.series, {"runs": listed})

    two: dict[str, list[str | None]] = {"forward": ["dsl", "lte"], "back": ["lte", None]}
    assert named(two, two).path_label("f", 1) == "path 1 (lte)"
    assert [named(two).path_label("f", path, back=True) for path in (0, 1)] == ["path 0 (lte)", "path 1"]
    assert [named(two).path_label("f", 2), named(two).path_label("g", 0)] == ["path 2", "path 0"]
    changed = named(two, {"forward": ["sat", "lte"], "back": []})
    assert [changed.path_label("f", path) for path in (0, 1)] == ["path 0", "path 1 (lte)"]
    assert [changed.path_label("f", 0, run=run) for run in (0, 1)] == ["path 0 (dsl)", "path 0 (sat)"]
    assert named(None).path_label("f", 1) == result.path_label("f", 1) == "path 1", "results of older versions"


def test_summary_of_one_quantity(result: Result) -> None:
    found = result.summary("throughput_bps")
    assert found["mean"].to_list() == pytest.approx([2.1, 1.1])
    assert found["count"].to_list() == [3, 3]


def test_the_error_for_an_unknown_quantity_lists_the_known_ones(result: Result) -> None:
    with pytest.raises(KeyError, match="throughput_bps"):
        result.summary("goodput")


@pytest.fixture
def two_axes(made_up) -> Result:
    """A sweep over variants c and d and rates 1 and 2. A replica changes all values alike; only d has ``only_d``."""

    def value(at) -> dict[tuple[str, str], float]:
        base = at["rate"] * 100 + 10 * at["replica"]
        gain = {"c": 0.0, "d": at["rate"]}[at["variant"]]
        more = {("f", "only_d"): 1.0} if gain else {}
        return {("f", "throughput_bps"): base + gain, ("g", "throughput_bps"): base, **more}

    return made_up({"rate": [1, 2], "variant": ["c", "d"]}, 3, value)


def test_compare_pairs_runs_that_are_equal_in_all_other_axes(two_axes: Result) -> None:
    found = two_axes.compare("variant", "throughput_bps")
    assert found.columns[:7] == ["rate", "window", "flow", "path", "quantity", "variant", "baseline"]
    rows = found.select("rate", "flow", "variant", "difference", "half_width", "pairs", "note").rows()
    equal = "identical in all 3 replicas"
    assert sorted(rows) == [
        (1.0, "f", "d", 1.0, 0.0, 3, ""), (1.0, "g", "d", 0.0, 0.0, 3, equal),
        (2.0, "f", "d", 2.0, 0.0, 3, ""), (2.0, "g", "d", 0.0, 0.0, 3, equal),
    ]  # fmt: skip
    other = two_axes.compare("rate", "throughput_bps").filter(flow="f")
    assert sorted(other.select("variant", "rate", "baseline", "difference").rows()) == [
        ("c", 2.0, 1.0, 100.0), ("d", 2.0, 1.0, 101.0),
    ]  # fmt: skip


def test_compare_takes_another_baseline_as_value_or_text(two_axes: Result) -> None:
    for baseline in (2, 2.0, "2", "2.0"):
        found = two_axes.compare("rate", "throughput_bps", baseline=baseline).filter(flow="f", variant="c")
        assert found.select("rate", "baseline", "difference").rows() == [(1.0, 2.0, -100.0)]


def test_compare_names_quantities_that_one_variant_lacks(two_axes: Result) -> None:
    found = two_axes.compare("variant", "only_d")
    assert found["pairs"].to_list() == [0, 0]
    assert found["difference"].to_list() == [None, None]
    assert found["note"].to_list() == ["3 replicas missing in one of the two: 0, 1, 2"] * 2


def test_compare_of_an_axis_with_one_value_is_empty(made_up) -> None:
    assert made_up({"a": ["x"]}, 2, lambda _: {("f", "q"): 1.0}).compare("a", "q").is_empty()


@pytest.mark.parametrize(
    ("axis", "quantity", "baseline", "message"),
    [
        ("rat", "throughput_bps", None, "no axis `rat`: there are rate, variant"),
        ("rate", "goodput", None, "no quantity `goodput`: there are only_d, throughput_bps"),
        ("rate", "throughput_bps", "3", "axis `rate` has no value `3`: there are 1.0, 2.0"),
        ("rate", "throughput_bps", "fast", "axis `rate` has no value `fast`"),
        ("variant", "throughput_bps", "e", "axis `variant` has no value `e`: there are c, d"),
    ],
)
def test_compare_lists_the_known_names(two_axes: Result, axis: str, quantity: str, baseline, message: str) -> None:
    with pytest.raises(KeyError, match=message):
        two_axes.compare(axis, quantity, baseline=baseline)


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


FILES = ("scalars.parquet", "series.parquet", "manifest.json")


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """The folder of a run, that of a sweep, and that of a stored run of the sweep."""
    base = tmp_path_factory.mktemp("folders")
    values = {"flow.*.reset_time": "4 s", "flow.*.stop_time": "6 s"}
    anabranch.run("two-paths", set=values, out=base / "run")
    anabranch.sweep(
        "two-paths", set={**values, "link.r3-r4.loss": {"vary": [0.0, 0.01]}}, replicas=1, out=base / "sweep"
    )
    stored = next((base / "sweep" / "runs").iterdir())
    return {"run": base / "run", "sweep": base / "sweep", "stored": stored}


@pytest.mark.parametrize("kind", ["run", "sweep"])
def test_a_folder_reads_back(folders: dict[str, Path], kind: str) -> None:
    found = Result.read(folders[kind])
    assert found.scalars.equals(pl.read_parquet(folders[kind] / "scalars.parquet"))
    assert set(found.manifest["outputs_sha256"]) == set(FILES[:2])


def read(kind: str, folder: Path, out: Path) -> None:
    """Reads a folder in every way that Python offers."""
    if kind != "stored":
        Result.read(folder)
    write(folder, out / "report.html")


@pytest.mark.parametrize("kind", ["run", "sweep", "stored"])
@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_an_error_that_names_the_file(
    folders: dict[str, Path], tmp_path: Path, kind: str, name: str
) -> None:
    folder = shutil.copytree(folders[kind], tmp_path / "copy")
    path = folder / name
    whole = path.read_bytes()
    for n in range(60):
        data = bytearray(whole)
        data[n * len(whole) // 60] ^= 1 << (n % 8)
        path.write_bytes(data)
        with pytest.raises(DamagedResultError, match=re.escape(str(path))):
            read(kind, folder, tmp_path)


BROKEN = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "longer": lambda data: data + b"x",
    "not utf-8": lambda data: b"\xff\xfe" + data,
    "a number": lambda data: b"1",
    "a list": lambda data: b"[]",
    "nested": lambda data: b'{"manifest_sha256":' + b"[" * 100_000,
    "no checksums": lambda data: b'{"runs": [], "axes": []}',
    "another type": lambda data: data.replace(b'"runs": [', b'"runs": 7, "x": ['),
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_folder_is_one_line_that_names_the_file(
    folders: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, how: str
) -> None:
    folder = shutil.copytree(folders["run"], tmp_path / "copy")
    path = folder / name
    path.write_bytes(BROKEN[how](path.read_bytes()))
    for command in (["report", str(folder), "-o", str(tmp_path / "r.html"), "-q"], ["explain", str(folder)]):
        if command[0] == "explain" and name == "series.parquet":
            continue
        if path.name == "manifest.json" or how != "another type":
            assert main(command) == 1
            said = capfd.readouterr().err.strip()
            assert str(path) in said
            assert len(said.splitlines()) == 1, said


def test_a_table_that_is_none_is_an_error_although_its_checksum_is_right(tmp_path: Path) -> None:
    for n, data in enumerate([b"", b"PAR1", b"PAR1" + bytes(64) + b"PAR1", b"PAR1\xff\xff\xff\x7fPAR1"]):
        folder = tmp_path / str(n)
        folder.mkdir()
        sums = {name: hashlib.sha256(data).hexdigest() for name in FILES[:2]}
        for name in FILES[:2]:
            (folder / name).write_bytes(data)
        for outputs, said in ((sums, "it is no table of results"), ([], "SHA-256")):
            (folder / "manifest.json").write_text(sealed({"outputs_sha256": outputs}))
            with pytest.raises(DamagedResultError, match=rf"scalars\.parquet is damaged: .*{said}"):
                Result.read(folder)


def test_missing_and_swapped_tables_are_named(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(folders["run"], tmp_path / "copy")
    shutil.copy(folders["sweep"] / "scalars.parquet", folder / "scalars.parquet")
    with pytest.raises(DamagedResultError, match=r"scalars\.parquet is damaged"):
        Result.read(folder)
    (folder / "scalars.parquet").unlink()
    with pytest.raises(OSError, match=r"scalars\.parquet"):
        Result.read(folder)


def test_parquet_in_memory_reads_back(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    result.scalars.write_parquet(path)
    pl.DataFrame({"time": [1.0]}).write_parquet(tmp_path / "t.parquet")
    found = Result.from_bytes(path.read_bytes(), (tmp_path / "t.parquet").read_bytes(), "{}")
    assert found.scalars.equals(result.scalars)
