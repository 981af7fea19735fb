"""The notebooks and the code of the tutorials run from the first cell to the last."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import polars as pl
import pytest

import anabranch
from anabranch import command

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")


def execute(cells: list[str], name: str) -> int:
    """Runs the cells in one name space and returns the number of figures that they drew."""
    space: dict[str, object] = {}
    before = len(plt.get_fignums())
    for cell in cells:
        exec(compile(cell, name, "exec"), space)
    drawn = len(plt.get_fignums()) - before
    plt.close("all")
    return drawn


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_and_draws(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert cells[0]["cell_type"] == "markdown"
    assert path.stat().st_size < 1_000_000
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        drawn = execute(sources, path.name)
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    stored = "".join("".join(output["text"]) for output in outputs if output["output_type"] == "stream")
    assert printed.getvalue() == stored, "make notebooks"
    assert drawn == sum("image/png" in output.get("data", {}) for output in outputs) >= 1
    assert " at 0x" not in json.dumps([output.get("data", {}).get("text/plain") for output in outputs]), "an address"


def code_of(tutorial: str) -> list[str]:
    """The Python code of a tutorial."""
    text = (ROOT / "docs" / "tutorials" / f"{tutorial}.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_figure_of_the_researcher_is_drawn() -> None:
    assert command.main(["new", "mine.toml"]) == 0
    text = (ROOT / "docs" / "tutorials" / "researcher.md").read_text(encoding="utf-8")
    (varied,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    first = Path("mine.toml").read_text(encoding="utf-8")
    changed = first.replace('[sctp.both]\nprofile = "recommended"\n', varied)
    assert changed != first
    Path("mine.toml").write_text(changed, encoding="utf-8")
    quick = ["--set", "flow.transfer.reset_time=1 s", "--set", "flow.transfer.stop_time=3 s", "-q"]
    assert command.main(["sweep", "mine.toml", "--replicas", "2", "--out", "out/mine", *quick]) == 0
    assert execute(code_of("researcher"), "researcher") == 1
    assert Path("mine.pdf").stat().st_size > 1000


def test_every_question_of_the_lesson_has_an_answer() -> None:
    text = (ROOT / "docs" / "tutorials" / "teacher.md").read_text(encoding="utf-8")
    questions, answers = (re.findall(r"^(\d+)\. ", part, re.MULTILINE) for part in text.split("\n## Answers\n"))
    assert questions == answers == [str(n + 1) for n in range(len(questions))]


def test_the_table_of_the_lesson_has_the_numbers_that_students_get() -> None:
    assert command.main(["new", "lesson.toml"]) == 0
    text = (ROOT / "docs" / "tutorials" / "teacher.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+ .iB) \| ([\d.]+)(?: Mbit/s)? \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    assert len(rows) == 3
    for buffer, *stated in rows:
        for value, changes in zip(
            stated,
            ({"path_selection": "in-time"}, {"path_selection": "lowest-rtt"}, {"enabled": False}),
            strict=True,
        ):
            values = {f"sctp.both.cmt.{key}": to for key, to in changes.items()}
            found = anabranch.run(
                "lesson.toml", set={"flow.transfer.sctp": "both", "sctp.both.receive_buffer": buffer, **values}
            )
            whole = found.scalars.filter(pl.col("path").is_null(), quantity="throughput_bps", flow="transfer")
            assert f"{whole['value'][0] / 1e6:.1f}" == value, (buffer, changes)


def test_the_window_of_the_lesson_is_drawn() -> None:
    assert command.main(["new", "lesson.toml"]) == 0
    assert execute(code_of("teacher"), "teacher") >= 1


def test_the_answer_about_queues_has_the_numbers_that_students_get() -> None:
    assert command.main(["new", "lesson.toml"]) == 0
    text = " ".join((ROOT / "docs" / "tutorials" / "teacher.md").read_text(encoding="utf-8").split())
    stated = re.search(
        r"at times: ([\d.]+) in place of ([\d.]+) Mbit/s\..*the window is ([\d.]+) MB .* the RTT (\d+) ms", text
    )
    assert stated is not None
    found: list[str] = []
    for packets in (10, 100, 1000):
        run = anabranch.run("lesson.toml", set={"flow.transfer.sctp": "one", "link.fast.queue.packets": packets})
        scalar = {q: run.scalars.filter(quantity=q, flow="transfer")["value"][0] for q in ("throughput_bps", "srtt_s")}
        found.append(f"{scalar['throughput_bps'] / 1e6:.1f}")
    assert found == [stated[1], stated[2], stated[2]]
    window = run.series.filter(quantity="cwnd", path=0)["value"][-1]
    assert (f"{window / 1e6:.2f}", f"{scalar['srtt_s'] * 1e3:.0f}") == (stated[3], stated[4])


def test_no_page_runs_a_shipped_scenario_that_has_variations(capfd) -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    names = set(re.findall(r"anabranch run ([a-z][a-z-]*)(?![a-z./-])", text))
    assert "two-paths" in names
    assert command.main(["validate", *sorted(names)]) == 0
    assert "combinations" not in capfd.readouterr().out
