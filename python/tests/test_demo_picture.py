"""The picture of README.md and of the documentation site is the picture that `make demo` draws."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import polars as pl
from PIL import Image

from anabranch import papers
from anabranch.reproduce import Options, reproduce

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "figures" / "demo.png"
REMEDY = "run `make demo-picture`"


def numbers(picture: Path) -> pl.DataFrame:
    """The numbers that a picture shows, from its description."""
    with Image.open(picture) as image:
        return pl.read_csv(io.StringIO(image.info["Description"]))


def test_the_picture_shows_the_numbers_of_the_demo(tmp_path: Path) -> None:
    paper = papers.find("001")
    (spec,) = paper.select(["8-left"])
    shown = numbers(PICTURE)
    assert shown["rho"].unique().sort().to_list() == sorted(spec.demo["rho"]), REMEDY
    assert shown["count"].unique().to_list() == [spec.demo_replicas], REMEDY
    # The slowest of the three rates, because its runs have a ninth of the packets of the demo.
    least = replace(spec, demo={**spec.demo, "rho": ["20 Mbit/s"]})
    (done,) = reproduce(paper, [least], Options(tmp_path, demo=True, formats=("png",)))
    assert numbers(done.files[0]).equals(shown.filter(rho="20 Mbit/s")), REMEDY


def test_readme_and_makefile_name_the_same_picture() -> None:
    assert "(docs/figures/demo.png)" in (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "cp out/demo/paper-001/figure-8-left.png docs/figures/demo.png" in makefile
