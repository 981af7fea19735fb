"""How long a browser takes to open the report of a long run.

``python benches/report.py`` makes a run of 100 MB of series (4.2 million points), writes its report, and opens it
several times in a headless Chromium, each time in a new page. It prints the size of the file, and the seconds from the
navigation until all panels are drawn: each time and the median. ``--megabytes 300`` makes a longer run. Needs
Chromium (``apt-get install chromium-headless-shell``), and a quiet machine.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python" / "tests"))

from browser import Browser
from long_run import POINT_BYTES, long_run

from anabranch.report import write


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=100, help="of series (default: %(default)s)")
    parser.add_argument("--times", type=int, default=7, help="openings (default: %(default)s)")
    given = parser.parse_args()
    points = given.megabytes * 1_000_000 // POINT_BYTES
    with tempfile.TemporaryDirectory(prefix="anabranch-report-") as folder:
        begin = time.perf_counter()
        file = write(long_run(points), Path(folder, "r.html"))
        written = time.perf_counter() - begin
        print(f"{points} points, written in {written:.1f} s as {file.stat().st_size / 1e6:.1f} MB", flush=True)
        took: list[float] = []
        for _ in range(given.times):
            with Browser() as browser:
                browser.size(1100, 800)
                begin = time.perf_counter()
                browser.open(file)
                took.append(time.perf_counter() - begin)
                assert not browser.errors, browser.errors
        print(f"opened in {', '.join(f'{seconds:.2f}' for seconds in took)} s; median {statistics.median(took):.2f} s")


if __name__ == "__main__":
    main()
