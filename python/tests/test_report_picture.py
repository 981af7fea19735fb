"""The picture in docs/report.md shows the report as the present code writes it."""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image
from test_site import ROOT, tool

from anabranch.report import write

report_picture = tool("report_picture")


def test_the_picture_names_the_run_and_the_curves_of_the_report(tmp_path: Path) -> None:
    page = write(report_picture.SCENARIO, tmp_path / "r.html").read_text(encoding="utf-8")
    with Image.open(ROOT / "docs" / "figures" / "report.png") as image:
        drawn = json.loads(image.info["Description"])
    assert drawn == json.loads(report_picture.shown(page)), "run `make report-picture`"
    assert "sent on path 0 (fast)" in drawn["legends"]
