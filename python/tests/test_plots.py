"""Figures for print: tables as text, letters of SVG as text, and stated values behind measured ones."""

import csv
from pathlib import Path

import polars as pl

from anabranch import plots


def test_a_table_is_written_as_csv_and_latex_too(tmp_path: Path) -> None:
    with plots.style():
        table = plots.TableFigure(["scheme", "the\npaper", "ρ"], [["A_1 & B, 5 %", "0.9", "1 ± 2"]], 1.0)
        written = plots.save(table, tmp_path, "t", ("png",))
    assert [path.name for path in written] == ["t.png", "t.csv", "t.tex"]
    rows = list(csv.reader((tmp_path / "t.csv").open(encoding="utf-8")))
    assert rows == [["scheme", "the paper", "ρ"], ["A_1 & B, 5 %", "0.9", "1 ± 2"]]
    latex = (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert latex.startswith("\\begin{tabular}{lrr}\n\\hline\nscheme & the paper & $\\rho$ \\\\\n")
    assert "A\\_1 \\& B, 5 \\% & 0.9 & 1 $\\pm$ 2 \\\\" in latex


def test_letters_of_an_svg_are_text(tmp_path: Path) -> None:
    with plots.style():
        figure = plots.new_figure()
        figure.subplots().set_xlabel("Data rate")
        plots.save(figure, tmp_path, "f", ("svg",))
    assert ">Data rate</text>" in (tmp_path / "f.svg").read_text(encoding="utf-8")


def test_stated_values_are_behind_measured_ones_and_say_whose_they_are() -> None:
    summary = pl.DataFrame({"rho": [1.0], "variant": ["a"], "mean": [2.0], "half_width": [0.1]})
    axes = plots.new_figure().subplots()
    looks = {"a": plots.Look("A", plots.BLUE)}
    plots.curves(axes, summary, x="rho", series="variant", looks=looks, marks=[plots.Mark(1.0, 2.0, "Doe (2000)")])
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["A", "stated by Doe (2000)"]
    stated = axes.collections[-1]
    assert stated.get_zorder() < min(line.get_zorder() for line in axes.get_lines())
