"""Chromium without a window, driven over its pipe: the DevTools protocol needs no library."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

PATIENCE = 60.0
"""Seconds that a page may take on a busy machine before a test fails."""
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, place in zip(ends, (3, 4)):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Starts a program that reads from descriptor 3 and writes to descriptor 4, as Chromium does."""


def chromium() -> str:
    """The path of Chromium. Without Chromium the test is skipped with a message, or fails if all tools are required."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    reason = "not tested: no Chromium (apt-get install chromium-headless-shell)"
    if os.environ.get("ANABRANCH_REQUIRE_TOOLS"):
        pytest.fail(reason)
    pytest.skip(reason)


class Browser:
    """One page of a headless Chromium, with its log, exceptions and requests."""

    def __init__(self) -> None:
        program = chromium()
        self._home = tempfile.TemporaryDirectory(prefix="anabranch-chromium-", ignore_cleanup_errors=True)
        from_us, to_browser = os.pipe()
        from_browser, to_us = os.pipe()
        command = [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
            "--disable-dev-shm-usage", f"--user-data-dir={self._home.name}", "about:blank",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-c", START, str(from_us), str(to_us), *command],
            pass_fds=(from_us, to_us), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(from_us)
        os.close(to_us)
        self._write, self._read = to_browser, from_browser
        self._buffer, self._number, self._session = b"", 0, ""
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self._command("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._command(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._write)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        self._home.cleanup()

    def size(self, width: int, height: int) -> None:
        """Sets the size of the window in pixels."""
        self._command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def scheme(self, name: str, *, paper: bool = False) -> None:
        """Sets ``prefers-color-scheme`` of the page, ``light`` or ``dark``, and its medium: screen or ``paper``."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self._command("Emulation.setEmulatedMedia", media="print" if paper else "", features=features)

    def open(self, page: Path) -> None:
        """Loads a report and waits until it is ready."""
        self._command("Page.navigate", url=page.resolve().as_uri())
        self.until("window.anabranch?.ready === true")

    def until(self, expression: str) -> None:
        """Waits until an expression is true."""
        deadline = time.monotonic() + PATIENCE
        while not self.value(f"Boolean({expression})"):
            assert time.monotonic() < deadline, f"not true after {PATIENCE:g} s: {expression}; {self.errors}"
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """Evaluates an expression of JavaScript and returns its value; waits for a promise."""
        answer = self._command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self, file: Path, *, whole: bool = True) -> None:
        """Writes a PNG of the page."""
        answer = self._command("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self, file: Path) -> None:
        """Prints the page."""
        file.write_bytes(base64.b64decode(self._command("Page.printToPDF", printBackground=True)["data"]))

    def press(self, x: float, y: float, to_x: float) -> None:
        """Drags the mouse from one place to another at the same height."""
        steps = (("mousePressed", x), ("mouseMoved", (x + to_x) / 2), ("mouseMoved", to_x), ("mouseReleased", to_x))
        self._command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind, place in steps:
            self._command("Input.dispatchMouseEvent", type=kind, x=place, y=y, button="left", buttons=1, clickCount=1)

    def _command(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._next(deadline)
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self._note(answer)

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"Chromium does not answer within {PATIENCE:g} s"
            data = os.read(self._read, 1 << 20)
            assert data, "Chromium ended"
            self._buffer += data
        answer, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(answer)

    def _note(self, event: dict[str, Any]) -> None:
        match event.get("method"), event.get("params", {}):
            case "Runtime.exceptionThrown", {"exceptionDetails": details}:
                self.errors.append(json.dumps(details)[:2000])
            case "Runtime.consoleAPICalled", {"type": "error" | "warning" | "assert", "args": args}:
                self.errors.append(" ".join(str(arg.get("value", arg.get("description"))) for arg in args))
            case "Log.entryAdded", {"entry": {"level": "error" | "warning", "text": text}}:
                self.errors.append(text)
            case "Network.requestWillBeSent", {"request": {"url": url}}:
                self.requests.append(url)
