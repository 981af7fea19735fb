"""The playground in a real browser: the same digests as the native build, and sliders that change the run."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser

import anabranch

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "target" / "playground" / "index.html"

SHORT = {
    "scenarios/two-lines.toml": {"flow.transfer.reset_time": "0 s", "flow.transfer.stop_time": "4 s"},
    "scenarios/shared-bottleneck.toml": {
        "flow.*.reset_time": "0 s",
        "flow.*.stop_time": "4 s",
        "sctp.multipath.congestion_control": "olia",
    },
    "scenarios/handover.toml": {
        "flow.download.stop_time": "6 s",
        "link.wifi.down": '[["2 s", "4 s"]]',
        "link.wifi.loss": "0.01",
        "sctp.moving.asconf": "true",
    },
    "scenarios/tcp-rival.toml": {
        "window.steady.from": "1 s",
        "window.steady.to": "9 s",
        "flow.*.stop_time": "9 s",
        "flow.tcp.tcp": "modern",
        "sctp.plain.congestion_control": "bbr",
    },
    "scenarios/queues.toml": {
        "link.access.queue": '{ kind = "fq-codel" }',
        "flow.long.stop_time": "6 s",
        "flow.long.reset_time": "0 s",
        "transfers.short.from": "1 s",
        "transfers.short.to": "6 s",
    },
    "scenarios/lossy.toml": {
        "link.client-server.loss": "0.01",
        "link.client-server.queue": '{ kind = "red", min = 5, max = 20, max_p = 0.1 }',
        "sctp.chosen.congestion_control": "cubic",
        "flow.transfer.sctp": "chosen",
        "flow.transfer.reset_time": "0 s",
        "flow.transfer.stop_time": "6 s",
    },
}
"""Settings with which the scenarios of the page take little time. Some use code that computes with floating point."""


@pytest.fixture(scope="module")
def page() -> Iterator[Browser]:
    """The page in a browser. Without the page, tests are skipped with a message, or fail if it could be built."""
    if not PAGE.exists():
        reason = f"not tested: no {PAGE.relative_to(ROOT)} (make playground)"
        sysroot = subprocess.run(
            ["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True
        ).stdout.strip()
        could_be_built = (Path(sysroot) / "lib/rustlib/wasm32-unknown-unknown").exists()
        if os.environ.get("ANABRANCH_REQUIRE_TOOLS") and could_be_built:
            pytest.fail(reason)
        pytest.skip(reason)
    with Browser() as found:
        found.size(1280, 1100)
        yield found


def load(browser: Browser) -> None:
    """Opens the page, paused; it must neither log an error nor ask for another address."""
    browser.errors.clear()
    browser.requests.clear()
    browser.open(PAGE)
    browser.value("anabranch.page.setRunning(false)")
    assert browser.errors == []
    assert browser.value("document.getElementById('error').hidden")
    assert [url for url in browser.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def choose(browser: Browser, file: str) -> None:
    """Chooses a scenario, and halts its run at the beginning."""
    place = browser.value(f"scenarios.findIndex(one => one.file === {json.dumps(file)})")
    browser.value(
        f"(list => {{ list.selectedIndex = {place}; list.dispatchEvent(new Event('change')); }})"
        "(document.getElementById('scenario'))"
    )
    browser.value("anabranch.page.setRunning(false)")


def slide(browser: Browser, key: str, value: str) -> None:
    """Moves the slider of a key."""
    browser.value(
        f"(slider => {{ slider.value = {json.dumps(value)}; slider.dispatchEvent(new Event('input')); }})"
        f"(document.querySelector('[data-key=\"{key}\"]'))"
    )


def text(browser: Browser, name: str) -> str:
    """The text of an element."""
    return browser.value(f"document.getElementById('{name}').textContent")


def value_of(said: str) -> Any:
    """Parses a value as ``--set`` does: as TOML, or else as text."""
    try:
        return tomllib.loads(f"value = {said}")["value"]
    except tomllib.TOMLDecodeError:
        return said


@pytest.mark.parametrize("file", list(SHORT))
def test_digests_in_the_browser_equal_native_digests(page: Browser, file: str) -> None:
    load(page)
    settings = [part for pair in SHORT[file].items() for part in pair]
    ours = page.value(f"anabranch.digest({json.dumps(file)}, {json.dumps(settings)})")
    native = anabranch.run(ROOT / file, set={key: value_of(said) for key, said in SHORT[file].items()})
    assert ours == native.manifest["runs"][0]["digest"]


def test_the_command_of_the_page_has_the_digest_of_its_run(page: Browser, tmp_path: Path) -> None:
    load(page)
    slide(page, "link.fast.loss", "0.5")
    slide(page, "sctp.cmt.receive_buffer", "1")
    page.value("document.getElementById('end').click()")
    page.until("document.getElementById('digest').textContent.length === 16")
    command = shlex.split(text(page, "command").replace("\\\n", " "))
    assert command[:2] == ["anabranch", "run"]
    assert "link.fast.loss=0.005" in command
    assert "sctp.cmt.receive_buffer=128 KiB" in command
    subprocess.run([sys.executable, "-m", *command, "--out", str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert text(page, "digest") == manifest["runs"][0]["digest"]
    assert text(page, "notes") == "none"
    assert page.errors == []


def test_a_slider_changes_the_run_up_to_the_time_that_was_reached(page: Browser) -> None:
    load(page)
    received = "anabranch.page.run.flows[0].received.at(-1)"
    page.value("anabranch.page.catchUp = 3")
    page.until("anabranch.page.run.now >= 3")
    before = page.value(received)
    slide(page, "link.fast.rate", "5")
    page.until("anabranch.page.run.now >= 3")
    assert page.value("anabranch.page.run.now") < 3.5
    assert 0 < page.value(received) < before / 2
    # The same settings give the same run again.
    slide(page, "link.fast.rate", "50")
    page.until("anabranch.page.run.now >= 3")
    assert page.value(received) == before
    assert page.errors == []


def test_a_run_moves_by_frames_and_by_steps_and_stops_when_paused(page: Browser) -> None:
    load(page)
    page.value("document.getElementById('reset').click()")
    now = "anabranch.page.run.now"
    assert page.value(now) == 0
    page.value("document.getElementById('step').click()")
    step = page.value(now)
    assert step == pytest.approx(0.2 / 60)
    page.value("document.getElementById('run').click()")
    page.until(f"{now} > {step + 0.02}")
    page.value("document.getElementById('run').click()")
    stopped = page.value(now)
    page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.value(now) == stopped
    assert page.errors == []


@pytest.mark.parametrize("file", list(SHORT))
def test_every_control_is_accepted_at_its_ends_and_at_the_value_of_the_file(page: Browser, file: str) -> None:
    load(page)
    choose(page, file)
    # Settings with the values of the file change nothing.
    faults = page.value(
        """(() => {
            const { chosen, controls } = anabranch.page;
            const digest = settings => {
                const run = new wasm_bindgen.Playground(chosen.text, settings);
                run.advance(1.2);
                return run.digest();
            };
            const varied = chosen.controls.filter(control => control.always)
                .flatMap(control => [control.key, setting(control, control.value)]);
            const expected = digest(varied);
            const faults = [];
            for (const control of chosen.controls) {
                const also = Object.entries(control.also ?? {}).flat();
                const said = value => [...varied, control.key, setting(control, value), ...also];
                if (digest(said(control.value)) !== expected) faults.push(`${control.key} is not ${control.value}`);
                const values = control.values?.map(one => one.label ?? one) ?? [control.min, control.max];
                for (const value of values) {
                    try { digest(said(value)); } catch (error) { faults.push(`${control.key} = ${value}: ${error}`); }
                }
            }
            return faults;
        })()"""
    )
    assert faults == []


def test_retransmissions_and_queues_are_drawn(page: Browser) -> None:
    load(page)
    choose(page, "scenarios/lossy.toml")
    slide(page, "link.client-server.loss", "5")
    page.value("anabranch.page.catchUp = 2")
    page.until("anabranch.page.run.now >= 2")
    again = "anabranch.page.run.packetRows.some(row => row[5] === 1)"
    page.value(f"(() => {{ for (let n = 0; n < 2000 && !{again}; n += 1) anabranch.page.advance(0.005); }})()")
    assert page.value(again)
    page.until("/packets on the wire/.test(document.getElementById('network').getAttribute('aria-label'))")
    page.until("/Congestion window at/.test(document.getElementById('cwnd').getAttribute('aria-label'))")
    assert page.errors == []


def test_colours_follow_the_scheme(page: Browser) -> None:
    for scheme, body in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(22, 27, 32)")):
        page.scheme(scheme)
        load(page)
        assert page.value("getComputedStyle(document.body).backgroundColor") == body
    page.scheme("light")
