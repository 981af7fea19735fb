"""Reports in a real browser: no error, no request, one axis of time, readable in light, dark and print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from long_run import long_run
from test_report import SCENARIO, SWEEP, stored

import anabranch
from anabranch.report import write

RANGES = """Object.fromEntries([...anabranch.document._all_models.values()].filter(m => m.type === 'Figure')
    .map(m => [m.name, [m.x_range.start, m.x_range.end]]))"""
TSNS = "(m => m.y_range.end - m.y_range.start)(anabranch.document.get_model_by_name('sequence transfer'))"
CHOOSE = """(form => {
    form['axis-0'].value = '20 Mbit/s';
    form.dispatchEvent(new Event('change', { bubbles: true }));
})(document.getElementById('sweep-controls'))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as found:
        found.size(1100, 800)
        yield found


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    (folder / "lines.toml").write_text(SCENARIO)
    return write(folder / "lines.toml", folder / "r.html")


def load(browser: Browser, file: Path) -> None:
    """Opens a page; it must neither log an error nor ask for another address."""
    browser.errors.clear()
    browser.requests.clear()
    browser.open(file)
    assert browser.errors == []
    assert browser.value("anabranch.errors") == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_a_run_loads_without_an_error_and_every_panel_is_drawn(browser: Browser, run_file: Path) -> None:
    load(browser, run_file)
    # A curve in each panel: pixels of more than a few colours.
    assert browser.value("Bokeh.documents[0].roots().length") == 6
    browser.until("document.querySelectorAll('[data-root-id]').length === 6")


def test_a_zoom_by_buttons_changes_all_panels(browser: Browser, run_file: Path) -> None:
    load(browser, run_file)
    before, tsns = browser.value(RANGES), browser.value(TSNS)
    browser.value("document.querySelector('[data-act=in]').click()")
    after = browser.value(RANGES)
    assert len(before) == 6
    assert len({tuple(ends) for ends in after.values()}) == 1
    assert all(
        after[name][1] - after[name][0] == pytest.approx((before[name][1] - before[name][0]) / 2) for name in before
    )
    # In the next frame the axis of TSNs fits the range of time in view.
    browser.until(f"{TSNS} < {0.9 * tsns}")
    browser.value("document.querySelector('[data-act=whole]').click()")
    assert browser.value(RANGES) == before
    browser.until(f"{TSNS} === {tsns}")


def test_a_zoom_by_the_mouse_in_one_panel_changes_all_panels(browser: Browser, run_file: Path) -> None:
    load(browser, run_file)
    before = browser.value(RANGES)
    place = browser.value(
        "(e => { e.scrollIntoView(); const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })"
        "(document.querySelector('[data-root-id]').firstElementChild)"
    )
    x, y, width, height = place
    browser.press(x + width * 0.4, y + height * 0.5, x + width * 0.6)
    browser.until(f"Object.values({RANGES}).every(([s, e]) => e - s < 0.5 * {before['throughput'][1]})")
    assert len({tuple(ends) for ends in browser.value(RANGES).values()}) == 1


BACK = "anabranch.document.get_model_by_name('throughput').background_fill_color"
PAGE = "getComputedStyle(document.body).backgroundColor"


def test_colours_follow_the_scheme(browser: Browser, run_file: Path) -> None:
    for scheme, figure, body in (("light", "#ffffff", "rgb(255, 255, 255)"), ("dark", "#161b20", "rgb(22, 27, 32)")):
        browser.scheme(scheme)
        load(browser, run_file)
        assert (browser.value(BACK), browser.value(PAGE)) == (figure, body)
    browser.scheme("light")


def test_paper_is_white_without_buttons_whatever_the_scheme(browser: Browser, run_file: Path) -> None:
    visible = "e => getComputedStyle(e).display !== 'none'"
    shown = f"[...document.querySelectorAll('.controls, nav')].filter({visible}).length"
    browser.scheme("dark")
    load(browser, run_file)
    assert browser.value(shown) > 0
    browser.scheme("dark", paper=True)
    browser.until(f"{BACK} === '#ffffff'")
    assert (browser.value(PAGE), browser.value(shown)) == ("rgb(255, 255, 255)", 0)
    browser.scheme("dark")
    browser.until(f"{BACK} === '#161b20'")
    browser.scheme("light")


def test_a_sweep_filters_its_points(browser: Browser, tmp_path: Path) -> None:
    anabranch.sweep(SWEEP, replicas=2, out=tmp_path / "sweep")
    load(browser, write(tmp_path / "sweep", tmp_path / "r.html"))
    rows = "document.querySelectorAll('#sweep-table tbody tr').length"
    key = "[...document.querySelectorAll('#sweep-key li')].map(e => [e.textContent, e.firstChild.style.color])"
    label = "anabranch.document.get_model_by_name('points').left[0].axis_label"
    shown = "anabranch.document.get_model_by_name('points:points').data.x.length"
    assert (browser.value(rows), browser.value(shown)) == (4, 4)
    assert browser.value(label) == "throughput, Mbit/s"
    names, colors = zip(*browser.value(key), strict=True)
    assert names == ("● buffer = 64 KiB", "● buffer = 256 KiB")
    assert len(set(colors)) == 2
    browser.value(CHOOSE)
    assert (browser.value(rows), browser.value(shown)) == (2, 2)
    assert browser.errors == []


def test_an_interval_of_a_sweep_is_drawn_down_to_0_and_told_whole(browser: Browser, tmp_path: Path, made_up) -> None:
    result = made_up({"a": [1, 2]}, 2, lambda at: {("f", "srtt_s"): 0.01 * at["replica"] * at["a"]})
    load(browser, write(stored(result, tmp_path / "sweep", ["a"]), tmp_path / "r.html"))
    data = browser.value("anabranch.document.get_model_by_name('points:points').data")
    assert data["bottom"] == [0, 0]
    assert data["low"] == pytest.approx([5 - 5 * 12.706, 10 - 10 * 12.706], rel=1e-4)
    assert browser.value("anabranch.document.get_model_by_name('points').y_range.start") == 0


POINTS = """[...anabranch.document._all_models.values()].reduce((points, model) =>
    points + Math.max(0, ...Object.values(model.data ?? {}).map(column => column?.length ?? 0)), 0)"""


def test_a_long_run_is_thinned_out_and_opens(browser: Browser, tmp_path: Path) -> None:
    """100 MB of series: 4.2 million points of 24 bytes. How long that takes is measured by benches/report.py."""
    file = write(long_run(4_200_000), tmp_path / "r.html")
    assert file.stat().st_size < 5e6
    load(browser, file)
    # The work of opening depends on the number of points, its time also on the machine: so the test counts points.
    assert 5_000 < browser.value(POINTS) < 400_000
    assert browser.errors == []
