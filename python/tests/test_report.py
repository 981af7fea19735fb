"""Reports of runs, sweeps and reproduced papers: the contents of the file, and the points kept by down-sampling."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import anabranch
from anabranch import command
from anabranch.folder import sealed
from anabranch.report import Choice, write
from anabranch.report.choose import choose
from anabranch.report.decimate import decimate, shares
from anabranch.report.model import without_repeats
from anabranch.report.panels import columns
from anabranch.report.paper_page import picture
from anabranch.report.source import with_probes
from anabranch.report.topology import topology
from anabranch.result import Result
from anabranch.scenario import at
from anabranch.shipped import UsageError

ROOT = Path(__file__).parents[2]
SCENARIO = """
title = "Two <lines>"
seed = 5
[[node]]
name = "client"
[[node]]
name = "server"
[[link]]
name = "fast"
between = ["client", "server"]
net_id = 1
rate = "20 Mbit/s"
delay = "5 ms"
queue = { kind = "drop-tail", delay = "20 ms" }
[[link]]
name = "slow"
between = ["client", "server"]
net_id = 2
rate = "5 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", delay = "40 ms" }
[sctp.cmt]
cmt = { enabled = true }
receive_buffer = "256 KiB"
[[flow]]
name = "transfer"
client = "client"
server = "server"
sctp = "cmt"
reset_time = "1 s"
stop_time = "3 s"
frame_rate = "0 Hz"
"""
SWEEP = SCENARIO.replace('"20 Mbit/s"', '{ vary = ["10 Mbit/s", "20 Mbit/s"], name = "rate" }').replace(
    '"256 KiB"', '{ vary = ["64 KiB", "256 KiB"], name = "buffer" }'
)


class Loads(HTMLParser):
    """Collects the addresses that a page would load."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes the addresses that an element names."""
        for name, value in attrs:
            if name in {"src", "srcset", "data", "poster"} or (name == "href" and tag in {"link", "use", "image"}):
                self.addresses.append(value or "")


def check_self_contained(page: str) -> None:
    """No element and no style of the page names another address."""
    for address in Loads(page).addresses:
        assert address.startswith("data:"), address[:100]
    styles = "".join(re.findall(r"<style>(.*?)</style>", page, re.DOTALL))
    assert styles
    assert "url(" not in styles
    assert "@import" not in styles


def bokeh_models(page: str) -> list[dict[str, Any]]:
    """All models of the figures of a page, with those inside others."""
    found: list[dict[str, Any]] = []

    def collect(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("type") == "object":
                found.append(node)
            for value in node.values():
                collect(value)
        elif isinstance(node, list):
            for value in node:
                collect(value)

    text = re.search(r"docs_json = '(.*?)';\n", page, re.DOTALL)
    assert text is not None
    # A JSON text in a literal of JavaScript.
    collect(json.loads(text[1].replace("\\\\", "\\").replace("\\'", "'")))
    return found


@pytest.fixture(scope="module")
def run_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of the scenario, which is run for it."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "lines.toml").write_text(SCENARIO)
    assert command.main(["report", str(folder / "lines.toml"), "-o", str(folder / "r.html"), "-q"]) == 0
    return (folder / "r.html").read_text(encoding="utf-8")


def test_a_report_is_one_file_that_loads_nothing(run_page: str) -> None:
    check_self_contained(run_page)


def test_all_panels_of_a_run_share_one_range_of_time(run_page: str) -> None:
    models = bokeh_models(run_page)
    figures = [model for model in models if model["name"] == "Figure"]
    keys = {model["attributes"]["name"].partition(" ")[0] for model in figures}
    assert keys == {"throughput", "sequence", "windows", "rtt", "limits", "queues"}
    ranges = {model["attributes"]["x_range"]["id"] for model in figures}
    assert len(ranges) == 1
    [time] = [m for m in models if m["id"] in ranges and m["name"] == "Range1d"]
    assert time["attributes"]["name"] == "time"


def test_a_legend_has_as_many_columns_as_its_names_have_room_for() -> None:
    assert columns(["received", "sent on path 0 (fast)", "sent on path 1 (slow)"]) == 3
    assert columns(["a"] * 9) == 6
    assert columns(["cwnd path 0 (a line with a long name)", "peer's receive window"] * 3) == 2
    assert columns(["x" * 200] * 3) == columns([]) == 1


def test_tables_and_legends_name_paths_after_their_links(run_page: str) -> None:
    assert "transfer, path 0 (fast)" in run_page
    names = {str(model.get("attributes", {}).get("name")) for model in bokeh_models(run_page)}
    for of in ("sent on", "first transmission on", "cwnd", "flight", "SRTT"):
        assert {f"{of} path 0 (fast)", f"{of} path 1 (slow)"} <= names, of
    assert ">1 (slow)<" in run_page, "the table of all numbers"


def test_a_report_of_a_run_says_where_it_comes_from(run_page: str) -> None:
    result = anabranch.run(SCENARIO)
    digest, hashed = result.manifest["runs"][0]["digest"], result.manifest["scenario_sha256"]
    for text in ("Two &lt;lines&gt;", "5, replica 0", digest, hashed, "20 Mbit/s, 5 ms"):
        assert text in run_page, text
    assert "Two <lines>" not in run_page
    assert "receive_buffer = &quot;256 KiB&quot;" in run_page


def test_probes_of_a_report_do_not_change_the_run(run_page: str) -> None:
    assert anabranch.run(SCENARIO).manifest["runs"][0]["digest"] in run_page


def test_a_report_shows_chosen_flows_and_times_only(tmp_path: Path) -> None:
    result = anabranch.run(SCENARIO + '[[probe]]\nquantity = "cwnd"\nflow = "transfer"\n')
    page = write(result, tmp_path / "r.html", Choice(["transfer"], 1.0, 2.0)).read_text(encoding="utf-8")
    [time] = [m for m in bokeh_models(page) if m["name"] == "Range1d" and m["attributes"].get("name") == "time"]
    assert (time["attributes"]["start"], time["attributes"]["end"]) == (1.0, 2.0)
    with pytest.raises(UsageError, match="no series of a flow `x`: there are transfer"):
        write(result, tmp_path / "r.html", Choice(["x"]))


def test_a_run_without_probes_has_tables_and_says_what_is_missing(tmp_path: Path) -> None:
    page = write(anabranch.run(SCENARIO), tmp_path / "r.html").read_text(encoding="utf-8")
    assert "anabranch report SCENARIO" in page
    assert "head-of-line blocking" in page
    assert "Bokeh" not in page.partition("<body>")[2]


def test_a_stored_run_has_the_text_of_its_scenario(tmp_path: Path) -> None:
    file = tmp_path / "lines.toml"
    file.write_text(SCENARIO + '[[probe]]\nquantity = ["cwnd", "srtt"]\nflow = "t*"\n')
    assert command.main(["run", str(file), "--out", str(tmp_path / "run"), "-q"]) == 0
    assert command.main(["report", str(tmp_path / "run"), "-o", str(tmp_path / "r.html"), "-q"]) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "quantity = [&quot;cwnd&quot;, &quot;srtt&quot;]" in page
    figures = {model["attributes"]["name"] for model in bokeh_models(page) if model["name"] == "Figure"}
    assert figures == {"windows transfer", "rtt transfer"}


def test_a_report_of_a_sweep_has_every_point_and_every_run(tmp_path: Path) -> None:
    anabranch.sweep(SWEEP, replicas=2, out=tmp_path / "sweep")
    page = write(tmp_path / "sweep", tmp_path / "r.html").read_text(encoding="utf-8")
    check_self_contained(page)
    text = re.search(r'id="sweep-data">(.*?)</script>', page, re.DOTALL)
    assert text is not None
    data = json.loads(text[1])
    columns = data["columns"]
    rows = [i for i, q in enumerate(columns["quantity"]) if q == "throughput_bps"]
    points = {(columns["rate"][i], columns["buffer"][i], columns["count"][i]) for i in rows}
    assert points == {(r, b, 2) for r in ("10 Mbit/s", "20 Mbit/s") for b in ("64 KiB", "256 KiB")}
    assert data["numbers"]["rate"] == [10, 20]
    assert data["paths"]["forward"]["transfer"] == {"0": "path 0 (fast)", "1": "path 1 (slow)"}
    assert all(columns["half_width"][i] is not None for i in rows)
    assert data["units"]["throughput_bps"] == {
        "words": "throughput", "scale": 1e-6, "unit": "Mbit/s", "label": "throughput, Mbit/s", "may_be_negative": False
    }  # fmt: skip
    assert data["units"]["srtt_s"]["label"] == "srtt, ms"
    assert data["units"].keys() == set(columns["quantity"])
    for link in re.findall(r'href="(sweep/runs/[0-9a-f]+/)"', page):
        assert (tmp_path / link / "scalars.parquet").is_file()
    assert len(set(re.findall(r'id="run-(\d+)"', page))) == 8


def stored(result: Result, folder: Path, axes: list[str]) -> Path:
    """Writes a result as the folder of a sweep, with checksums."""
    folder.mkdir()
    names = [{"name": axis, "values": result.scalars[axis].unique(maintain_order=True).to_list()} for axis in axes]
    result.scalars.write_parquet(folder / "scalars.parquet")
    result.series.write_parquet(folder / "series.parquet")
    files = ("scalars.parquet", "series.parquet")
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files}
    manifest = {"seed": 1, "axes": names, "runs": [], "replicas": 3, "outputs_sha256": sums}
    (folder / "manifest.json").write_text(sealed(manifest))
    return folder


@pytest.fixture
def varied(made_up, tmp_path: Path) -> Path:
    """A sweep over control and loss, in which the replicas move all variants alike."""
    gain = {"off": 0.0, "<lia>": 500.0, "same": 0.0}

    def value(at: dict[str, Any]) -> dict[tuple[str, str], float]:
        base = 10_000.0 + 3000 * at["replica"]
        return {("f", "throughput_bps"): base + gain[at["control"]] * at["loss"], ("f", "timeouts"): 3.0}

    return stored(made_up({"control": list(gain), "loss": [1, 2]}, 3, value), tmp_path / "s", ["control", "loss"])


def test_a_report_of_a_sweep_compares_the_variants_of_each_axis(varied: Path, tmp_path: Path) -> None:
    page = write(varied, tmp_path / "r.html").read_text(encoding="utf-8").partition('id="differences"')[2]
    page = page.partition('id="axes"')[0]
    assert "throughput_bps in Mbit/s, control against off" in page
    assert "throughput_bps in Mbit/s, loss against 1" in page
    assert "identical in all 3 replicas" in page
    assert "&lt;lia&gt;" in page
    # Differences of 500 and of 1000, divided by 13000.
    assert "+3.85 ± 0.00" in page
    assert "+7.69 ± 0.00" in page
    assert page.index("throughput_bps") < page.index("Other quantities") < page.index("timeouts")


ONE = {"throughput_bps": 30.0, "sent_throughput_bps": 31.0}


@pytest.mark.parametrize(
    ("flows", "together", "kept"),
    [
        # The flow carries 30 in both; only what it has not itself stays.
        ({"f": ONE}, ONE | {"fairness_index": 0.5}, {"fairness_index"}),
        # It carries 12 in the other direction, too.
        ({"f": ONE | {"back_throughput_bps": 12.0}}, ONE | {"throughput_bps": 42.0}, {"throughput_bps"}),
        # The second flow carries nothing.
        ({"f": ONE, "g": dict.fromkeys(ONE, 0.0)}, ONE, ONE.keys()),
        # A link is no flow.
        ({"f": ONE, "link:a-b": ONE}, ONE, set()),
    ],
)
def test_all_flows_together_are_left_out_where_they_repeat_the_only_one(made_up, flows, together, kept) -> None:
    result = made_up({"a": [1, 2]}, 2, lambda _: {
        (flow, q): value for flow, of in (flows | {"flows:all": together}).items() for q, value in of.items()
    })  # fmt: skip
    found = without_repeats(result.scalars)
    assert set(found.filter(flow="flows:all")["quantity"]) == set(kept)
    for flow, quantities in flows.items():
        assert found.filter(flow=flow).height == 4 * len(quantities)


def test_a_report_of_one_flow_does_not_repeat_it(run_page: str) -> None:
    numbers = run_page.partition('id="numbers"')[2]
    rows = re.findall(r"<td>flows:all</td><td></td><td>(\w+)</td>", numbers)
    assert "fairness_index" in rows
    assert "throughput_bps" not in rows


def test_compare_chooses_the_axis_and_is_printed(varied: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "r.html"
    assert command.main(["report", str(varied), "-o", str(out), "--compare", "control=same"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "throughput_bps in Mbit/s, control against same"
    assert told[1].split()[:5] == ["control", "loss", "flow", "baseline", "mean"]
    assert re.search(r"off +1 +f +0\.013 +0 +0 +\+0\.00 ± 0\.00 +3 +identical in all 3 replicas$", told[2])
    assert {tuple(line.split()[:5]) for line in told[2:6]} == {
        ("off", "1", "f", "0.013", "0"), ("off", "2", "f", "0.013", "0"),
        ("<lia>", "1", "f", "0.013", "0.0005"), ("<lia>", "2", "f", "0.013", "0.001"),
    }  # fmt: skip
    assert "loss against" not in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("compare", "message"),
    [
        ("contrl", "no axis `contrl`: there are control, loss"),
        ("control=balia", "axis `control` has no value `balia`: there are off, <lia>, same"),
    ],
)
def test_compare_with_a_wrong_name_lists_the_known_ones(
    varied: Path, tmp_path: Path, capsys, compare: str, message: str
) -> None:
    out = tmp_path / "r.html"
    assert command.main(["report", str(varied), "-o", str(out), "--compare", compare]) == 2
    assert capsys.readouterr().err == f"anabranch: --compare {compare}: {message}\n"
    assert not out.exists()


def test_compare_needs_a_sweep_with_variants_and_replicas(made_up, tmp_path: Path, capsys) -> None:
    def refused(axes: dict[str, list[Any]], replicas: int, folder: str) -> str:
        made = stored(made_up(axes, replicas, lambda _: {("f", "throughput_bps"): 1.0}), tmp_path / folder, ["a"])
        assert command.main(["report", str(made), "-o", str(tmp_path / "r.html"), "--compare", "a"]) == 2
        return capsys.readouterr().err

    assert "at least two" in refused({"a": [1, 2]}, 1, "one-replica")
    assert "one value" in refused({"a": [1]}, 2, "one-value")
    assert "needs the folder of a sweep" in refused({"a": [1]}, 1, "one-run")


def test_values_of_an_axis_are_in_the_order_of_their_sizes(tmp_path: Path) -> None:
    # Sorted by their digits, 1 MiB would be the smallest value.
    units = SWEEP.replace('["64 KiB", "256 KiB"]', '["1 MiB", "256 KiB", "64 KiB"]')
    assert units != SWEEP
    page = write(anabranch.sweep(units, replicas=1), tmp_path / "r.html").read_text(encoding="utf-8")
    text = re.search(r'id="sweep-data">(.*?)</script>', page, re.DOTALL)
    assert text is not None
    data = json.loads(text[1])
    assert list(data["order"]["buffer"]) == ["64 KiB", "256 KiB", "1 MiB"]
    assert data["numbers"]["buffer"] is None
    assert page.index('<option value="256 KiB">') < page.index('<option value="1 MiB">')


def test_a_report_counts_points_and_replicas_where_some_have_more(made_up, tmp_path: Path) -> None:
    result = made_up({"a": [1, 2, 3]}, 4, lambda _: {("f", "throughput_bps"): 1e6})
    # As `sweep --until` leaves it: two replicas of the points 2 and 3, four of the first one.
    fewer = replace(result, scalars=result.scalars.filter((pl.col("a") == 1) | (pl.col("replica") < 2)))
    fewer.manifest["replicas"] = 2
    page = write(fewer, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "8 runs: 3 points of the axes, 2 to 4 replicas of each." in page
    foot = str(fewer.plot("throughput_bps").get_supxlabel())
    assert foot.startswith("seed 1, 2 replicas, ")
    assert foot.endswith("(up to 4 replicas of a point)")


def test_a_sweep_without_axes_is_one_point(tmp_path: Path) -> None:
    page = write(anabranch.sweep(SCENARIO, replicas=2), tmp_path / "r.html").read_text(encoding="utf-8")
    assert "2 runs: 1 points" in page
    # The runs are not stored, so the page links to none.
    assert "/runs/" not in page.partition("<body>")[2]


def test_a_stored_run_of_a_sweep_has_a_report(tmp_path: Path) -> None:
    anabranch.sweep(SWEEP, replicas=1, out=tmp_path / "sweep")
    stored = min((tmp_path / "sweep" / "runs").iterdir())
    page = write(stored, tmp_path / "r.html").read_text(encoding="utf-8")
    assert json.loads((stored / "manifest.json").read_text())["digest"] in page
    assert "transfer, path 1" in page


def test_a_report_of_reproduced_papers_has_measured_beside_stated_values(tmp_path: Path) -> None:
    row = {
        "figure": "8-left", "what": "fills <both>", "source": "section 5", "where": "", "verdict": "MISS",
        "calibrated": None, "unit": "Mbit/s", "mean": 160.25, "half_width": 1.5, "n": 8, "worst_run": None,
        "expected": 190.0, "band": [186.2, 193.8], "near": None, "replicas_needed": None, "on_edge": False,
        "reason": "a reason",
    }  # fmt: skip
    least = row | {"what": "more than half", "verdict": "PASS", "expected": 0.5, "band": [0.5, None], "unit": ""}
    item = {"figure": "8-left", "seed": 1, "replicas": 8, "note": "", "files": ["x/f.svg"], "verdicts": [row, least]}
    folder = tmp_path / "out" / "paper-001"
    folder.mkdir(parents=True)
    (folder / "f.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (folder / "verdicts.json").write_text(json.dumps({"version": 2, "paper": "001", "figures": [item]}))
    for source in (folder, folder.parent):
        page = write(source, tmp_path / "r.html").read_text(encoding="utf-8")
        check_self_contained(page)
        for text in ("160.25 ± 1.5 Mbit/s", "190 Mbit/s", "186.2 to 193.8", "MISS", "fills &lt;both&gt;", "a reason"):
            assert text in page, text
        assert "at least 0.5" in page
        assert "data:image/svg+xml;base64," in page
    assert picture(row | {"mean": None}) == ""


def test_what_cannot_be_reported_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["report", str(tmp_path)]) == command.USAGE
    assert "expected a folder with manifest.json" in capsys.readouterr().err
    assert command.main(["report", "no-such-thing"]) == command.USAGE
    assert "neither a folder nor a scenario" in capsys.readouterr().err
    assert command.main(["report", "two-lines", "--from", "3", "--to", "2"]) == command.USAGE
    (tmp_path / "s.toml").write_text(SWEEP)
    assert command.main(["report", str(tmp_path / "s.toml")]) == command.USAGE
    told = capsys.readouterr().err
    assert "--set 'rate=10 Mbit/s'" in told
    assert "buffer: 64 KiB, 256 KiB" in told
    assert command.main(["report", str(tmp_path / "s.toml"), "--set", "rate=3"]) == command.USAGE
    assert "`rate` has the values 10 Mbit/s, 20 Mbit/s" in capsys.readouterr().err
    assert command.main(["report", str(tmp_path / "s.toml"), "--set", "rte=3"]) == command.USAGE
    assert "rte" in capsys.readouterr().err
    assert command.main(["report", str(tmp_path / "s.toml"), "--set", "rate"]) == command.USAGE
    assert "expected KEY=VALUE" in capsys.readouterr().err


def test_one_run_of_a_scenario_with_variations_is_the_same_as_without() -> None:
    text, chosen = choose(SWEEP, "s.toml", ["rate=20 Mbit/s", "buffer=256 KiB"])
    found = tomllib.loads(text)
    for axis, position in chosen.items():
        found = at(found, axis, position)
    assert found == tomllib.loads(SCENARIO)
    assert choose(SCENARIO, "s.toml", []) == (SCENARIO, {})


def test_settings_of_a_report_mean_what_they_mean_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SWEEP)
    # A key of the file, and two axes of variation.
    settings = ["flow.transfer.stop_time=3 s", "buffer=64 KiB", "rate=10 Mbit/s"]
    page = write(tmp_path / "s.toml", tmp_path / "r.html", Choice(settings=tuple(settings))).read_text()
    values = {"flow.transfer.stop_time": "3 s"}
    digests = anabranch.sweep(tmp_path / "s.toml", set=values, replicas=1).manifest["runs"]
    wanted = [run["digest"] for run in digests if run["parameters"] == {"rate": "10 Mbit/s", "buffer": "64 KiB"}]
    assert len(wanted) == 1
    assert wanted[0] in page


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        (["rate=10 Mbit/s", "buffer=64 KiB"], 0),
        (["rate=10 Mbit/s", "rate=10 Mbit/s", "buffer=64 KiB"], 0),
        (["rate=10 Mbit/s", "rate=20 Mbit/s", "buffer=64 KiB"], 2),
        (["rate=30 Mbit/s", "buffer=64 KiB"], 2),
        (["rate=10 Mbit/s"], 2),
        (["rate=10 Mbit/s", "buffer=64 KiB", "flow.transfer.stop_time=2 s", "flow.transfer.stop_time=3 s"], 0),
        (["rate=10 Mbit/s", "buffer=64 KiB", "rte=1"], 2),
        (["rate=10 Mbit/s", "buffer=64 KiB", "flow.transfer.stop_tim=1 s"], 2),
        (["rate = 10 Mbit/s", "buffer= 64 KiB"], 0),
        (["rate", "buffer=64 KiB"], 2),
    ],
)
def test_a_run_and_a_report_accept_the_same_settings(tmp_path: Path, settings: list[str], code: int, capfd) -> None:
    (tmp_path / "s.toml").write_text(SWEEP)
    given = [word for setting in settings for word in ("--set", setting)]
    assert command.main(["run", str(tmp_path / "s.toml"), "--json", *given]) == code
    shown = capfd.readouterr().out
    assert command.main(["report", str(tmp_path / "s.toml"), "-o", str(tmp_path / "r.html"), "-q", *given]) == code
    if code == 0:
        assert json.loads(shown)["manifest"]["runs"][0]["digest"] in (tmp_path / "r.html").read_text()


def test_every_link_and_flow_gets_probes() -> None:
    scenario = {"flow": [{"name": "t", "protocol": "TCP"}], "link": [{"between": ["a", "b"]}], "capture": [{}]}
    found = with_probes(scenario)
    assert {"quantity": "queue", "link": "b-a", "every": "change"} in found["probe"]
    assert {"quantity": "cwnd", "flow": "t", "every": "change"} in found["probe"]
    assert not any(probe["quantity"] == "sequence" for probe in found["probe"])
    assert "capture" not in found
    assert "probe" not in scenario


def test_thinning_keeps_every_peak_and_the_ends() -> None:
    random = np.random.default_rng(1)
    time = np.sort(random.uniform(0, 100, 200_000))
    value = random.normal(size=time.size)
    value[123_456], value[7] = 99.0, -99.0
    thin_time, thin_value = decimate(time, value, 4000)
    assert len(thin_time) <= 4000
    assert (np.diff(thin_time) > 0).all()
    assert (thin_value.max(), thin_value.min()) == (99.0, -99.0)
    assert (thin_time[0], thin_time[-1]) == (time[0], time[-1])
    # Every bucket keeps its extremes.
    edges = np.linspace(time[0], time[-1], 1001)
    inside, kept = np.digitize(time, edges[1:-1]), np.digitize(thin_time, edges[1:-1])
    for bucket in range(0, 1000, 37):
        assert value[inside == bucket].max() == thin_value[kept == bucket].max()
        assert value[inside == bucket].min() == thin_value[kept == bucket].min()


def test_few_points_and_equal_times_are_kept() -> None:
    time, value = np.array([1.0, 1.0, 1.0]), np.array([3.0, 1.0, 2.0])
    assert decimate(time, value, 3)[1].tolist() == [3.0, 1.0, 2.0]
    assert set(decimate(np.repeat(1.0, 100), np.arange(100.0), 8)[1]) == {0.0, 99.0}


def test_shares_of_a_step_function() -> None:
    # The value is 2 from 0 to 1 s, 0 until 3 s, and 1 until the end at 4 s; the bins are 2 s wide.
    found = shares(np.array([0.0, 1.0, 3.0]), np.array([2.0, 0.0, 1.0]), 4.0, np.array([0.0, 2.0, 4.0]), 3)
    assert found.tolist() == [[0.5, 0.5], [0.0, 0.5], [0.5, 0.0]]
    # Before its first point it is undefined.
    late = shares(np.array([3.0]), np.array([0.0]), 4.0, np.array([0.0, 2.0, 4.0]), 1)
    assert late.tolist() == [[0.0, 0.5]]


def network(paths: int, routers: bool, name: str) -> dict[str, Any]:
    """A client and a server with several paths between them, each over two routers of its own or by one link."""
    nodes = [{"name": f"{name}-client"}, {"name": f"{name}-server"}]
    links: list[dict[str, Any]] = []
    for path in range(paths):
        ends = [f"{name}-client", f"{name}-server"]
        if routers:
            west, east = f"{name}-west-{path}", f"{name}-east-{path}"
            nodes += [{"name": west, "kind": "router"}, {"name": east, "kind": "router"}]
            ends = [ends[0], west, east, ends[1]]
        links += [
            {
                "between": list(pair),
                "rate": f"{10 * path + 1} Gbit/s",
                "delay": {"vary": ["5 ms", "30 ms", "100 ms"]},
                "name": f"{name}, mean {path} Mbit/s",
            }
            for pair in pairwise(ends)
        ]
    return {"node": nodes, "link": links, "flow": [{"client": f"{name}-client"}]}


NETWORKS = [
    network(paths, routers, name)
    for paths in (1, 2, 3, 5)
    for routers in (False, True)
    for name in ("el", "satellite line")
] + [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "scenarios").glob("*.toml"))]


@pytest.mark.parametrize("scenario", NETWORKS)
def test_no_label_of_the_drawing_is_cut_or_covers_another_one_or_a_node(scenario: dict[str, Any]) -> None:
    drawn = topology(scenario)
    view = re.search(r'viewBox="(\S+) (\S+) (\S+) (\S+)"', drawn)
    assert view is not None
    left, top, width, height = map(float, view.groups())
    texts = re.findall(
        r'<text(?: class="([\w ]+)")? x="(\S+)" y="(\S+)"[^>]*>(?:<title>[^<]*</title>)?([^<]*)</text>', drawn
    )
    assert len(texts) == drawn.count("<text")
    boxes = [
        (
            float(x) - 3.4 * len(unescape(text)),
            float(y) - 11,
            float(x) + 3.4 * len(unescape(text)),
            float(y) + 3,
            text,
            kind,
        )
        for kind, x, y, text in texts
    ]
    nodes = [
        tuple(map(float, found))
        for found in re.findall(r'<rect class="node[^>]*x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"', drawn)
    ]
    for a in boxes:
        whole = left <= a[0] and a[2] <= left + width and top <= a[1] and a[3] <= top + height
        assert whole, f"{a[4]} is cut off"
    for a, b in combinations(boxes, 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, f"{a[4]} covers {b[4]}"
    for x, y, w, h in nodes:
        for a in boxes:
            outside = a[2] <= x or x + w <= a[0] or a[3] <= y or y + h <= a[1]
            inside = x <= a[0] and a[2] <= x + w and y <= a[1] and a[3] <= y + h
            assert outside or (inside and not a[5]), f"{a[4]} is over a node"


def test_parallel_links_of_the_drawing_are_apart() -> None:
    links = [{"between": ["a", "b"], "rate": "1 Mbit/s", "name": n} for n in ("x", "<y>")]
    drawn = topology({"node": [{"name": "a"}, {"name": "b", "count": 3}], "link": links, "flow": [{"client": "a"}]})
    assert len(set(re.findall(r'd="([^"]+)"', drawn))) == 2
    assert "&lt;y&gt;" in drawn
    assert "b × 3" in drawn
    assert topology({"link": []}) == ""
