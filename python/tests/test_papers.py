"""Every figure of a paper has its scenario and drawing function, and every expectation can be judged."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anabranch import papers
from anabranch.papers import Paper, PaperError
from anabranch.scenario import restrict

PAPERS = papers.all_papers()
FIGURES = [(paper, figure) for paper in PAPERS for figure in paper.figures]


def axes_of(node: Any) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(node, dict):
        if "vary" in node:
            yield node["name"], node["vary"]
        for value in node.values():
            yield from axes_of(value)
    elif isinstance(node, list):
        for item in node:
            yield from axes_of(item)


def test_the_package_has_papers_000_to_004() -> None:
    assert [paper.id for paper in PAPERS] == ["000", "001", "002", "003", "004"]
    assert [figure.id for figure in PAPERS[0].figures] == ["3-left", "3-right", "4", "5-left", "5-right"]
    assert [figure.id for figure in PAPERS[1].figures] == ["8-left", "8-quirk", "8-right"]
    assert (PAPERS[0].replicas, PAPERS[1].replicas) == (24, 32)


@pytest.mark.parametrize(("paper", "figure"), FIGURES, ids=lambda x: x.id)
def test_a_figure_has_its_scenario_its_drawing_and_expectations(paper: Paper, figure: papers.FigureSpec) -> None:
    scenario = tomllib.loads((paper.folder / figure.scenario).read_text(encoding="utf-8"))
    for level in (figure.demo, figure.default, figure.full):
        restrict(scenario, level)
    code = paper.code()
    assert callable(getattr(code, figure.draw))
    axes: dict[str, list[Any]] = {}
    for name, values in axes_of(scenario):
        axes.setdefault(name, values)
    mine = [e for e in paper.expectations if e.figure == figure.id]
    assert mine
    for expectation in mine:
        if expectation.check:
            assert callable(getattr(code, expectation.check))
        for where in (expectation.at, expectation.over or {}):
            for axis, value in where.items():
                assert value in axes[axis], expectation.what
        for axis, values in expectation.only.items():
            assert set(values) <= set(axes[axis]), expectation.what


@pytest.mark.parametrize("paper", PAPERS, ids=lambda p: p.id)
def test_every_expectation_names_its_place_in_the_paper(paper: Paper) -> None:
    assert all(e.source.startswith(("section", "figure", "table")) for e in paper.expectations)
    assert (paper.folder / "NOTES.md").is_file()


CALIBRATED = {
    "000": 0,
    "001": 0,
    "002": 4,  # the first overflow, path 1 without loss, three timeouts, 944 bytes
    "003": 18,  # SCTP's advantage, link utilisation
    "004": 0,
}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda p: p.id)
def test_every_calibrated_number_names_a_section_of_the_notes(paper: Paper) -> None:
    notes = (paper.folder / "NOTES.md").read_text(encoding="utf-8")
    marks = [e.calibrated for e in paper.expectations if e.calibrated]
    assert len(marks) == CALIBRATED[paper.id]
    for mark in marks:
        knob, _, section = mark.partition(": NOTES, ")
        assert knob
        assert f"\n## {section}" in notes, mark


@pytest.mark.parametrize(
    ("mark", "error"), [("calibrated = true", "text that says why"), ("open = 1", "text that says why")]
)
def test_calibrated_and_open_need_a_text(mark: str, error: str, tmp_path: Path) -> None:
    for name in ("paper.toml", "expected.toml"):
        (tmp_path / name).write_text((PAPERS[0].folder / name).read_text(encoding="utf-8"), encoding="utf-8")
    with (tmp_path / "expected.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[[expected]]\nfigure = "4"\nwhat = "x"\nsource = "y"\nabove = 1\n{mark}\n')
    with pytest.raises(PaperError, match=error):
        papers.load(tmp_path)


@pytest.mark.parametrize("name", ["3", "fig3", "Figure 3", "figure-3"])
def test_a_number_selects_all_parts_of_a_figure(name: str) -> None:
    assert [f.id for f in PAPERS[0].select([name])] == ["3-left", "3-right"]


@pytest.mark.parametrize("name", ["3-left", "3l", "3left", "fig 3 left", "3L"])
def test_a_part_selects_itself(name: str) -> None:
    assert [f.id for f in PAPERS[0].select([name])] == ["3-left"]


def test_the_error_for_an_unknown_figure_or_paper_lists_the_known_ones() -> None:
    with pytest.raises(PaperError, match="3-left, 3-right, 4, 5-left, 5-right"):
        PAPERS[0].select(["9"])
    with pytest.raises(PaperError, match="000, 001, 002, 003, 004"):
        papers.find("17")


def test_a_folder_without_papers_is_an_error(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("ANABRANCH_PAPERS", str(tmp_path))
    with pytest.raises(PaperError, match="ANABRANCH_PAPERS"):
        papers.all_papers()


@pytest.mark.parametrize("name", ["1", "001", "001_cmt_sctp_inet"])
def test_a_paper_is_found_by_number_or_folder(name: str) -> None:
    assert papers.find(name).id == "001"


def test_a_legend_names_the_first_author_and_the_year() -> None:
    assert papers.find("000").authors == "Dreibholz et al. (2010)"
    assert papers.find("002").authors == "Arshad and Mian (2009)"
