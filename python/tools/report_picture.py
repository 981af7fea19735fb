"""Draws docs/figures/report.png: part of the report of two-lines, in Chromium (``make report-picture``).

The description of the picture has the digest of the run and what its legends name, with which a test compares it.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from pathlib import Path

from PIL import Image, PngImagePlugin

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import Browser
from test_report import bokeh_models

import anabranch
from anabranch.report import write

SCENARIO = "two-lines"
TIMES = (3.2, 4.6)
"""Seconds that the picture shows: at 3.4 s a queue overflows."""
FIRST, AFTER = "Over time", "What limited the sender of transfer"
"""The heading at which the picture begins, and the one before which it ends."""
TOP = "[...document.querySelectorAll('h2, h3')].find(e => e.textContent === {}).getBoundingClientRect().top + scrollY"


def shown(page: str) -> str:
    """The digest of the run of a report and the names of its curves, as JSON."""
    digest = anabranch.run(SCENARIO).manifest["runs"][0]["digest"]
    assert digest in page
    models = [model["attributes"] for model in bokeh_models(page) if model["name"] == "LegendItem"]
    return json.dumps({"digest": digest, "legends": [model["label"]["value"] for model in models]})


def main() -> None:
    """Runs the command."""
    out = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="anabranch-picture-") as folder, Browser() as browser:
        page, png = write(SCENARIO, Path(folder, "r.html")), Path(folder, "r.png")
        browser.size(1000, 800)
        browser.open(page)
        time = "anabranch.document.get_model_by_name('time')"
        browser.value(f"{time}.setv({{ start: {TIMES[0]}, end: {TIMES[1]} }})")
        # The curves are drawn in the next frames.
        browser.value("new Promise(done => setTimeout(done, 1000))")
        assert not browser.errors, browser.errors
        top, bottom = (int(browser.value(TOP.format(json.dumps(heading)))) - 24 for heading in (FIRST, AFTER))
        browser.picture(png)
        whole = Image.open(io.BytesIO(png.read_bytes())).convert("RGB")
        about = PngImagePlugin.PngInfo()
        about.add_text("Description", shown(page.read_text(encoding="utf-8")))
        part = whole.crop((0, top, whole.width, bottom))
        part.quantize(64, dither=Image.Dither.NONE).save(out, optimize=True, pnginfo=about)


if __name__ == "__main__":
    main()
