"""A folder of the user's own is reproduced like the papers that come with the package."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from anabranch import command
from anabranch.progress import Progress

PAGE = Path(__file__).parents[2] / "docs" / "own-paper.md"


def copy_of_the_page(folder: Path) -> Path:
    """The paper of the page, as a user would copy it."""
    made = folder / "mypaper"
    made.mkdir()
    blocks = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for name, text in zip(("paper.toml", "figure-1.toml", "expected.toml"), blocks, strict=True):
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The paper of the page in the current folder."""
    monkeypatch.chdir(tmp_path)
    return copy_of_the_page(tmp_path)


def reproduce(*more: str) -> int:
    return command.main(["reproduce", "./mypaper", "--replicas", "2", "--formats", "png", "-q", *more])


@pytest.mark.usefixtures("folder")
def test_the_paper_of_the_page_is_reproduced(capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce() == 0
    out = capsys.readouterr().out
    assert "2 PASS, 0 NEAR, 0 MISS, 0 OPEN" in out, out
    verdicts = json.loads(Path("out/papers/paper-mine/verdicts.json").read_text(encoding="utf-8"))
    assert len(verdicts["figures"][0]["verdicts"]) == 2
    assert Path("out/papers/paper-mine/figure-1.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("file", "change", "told"),
    [
        ("paper.toml", ('scenario = "figure-1.toml"\n', ""), "paper.toml: expected a key `scenario`"),
        ("paper.toml", ("scale =", "scal ="), "paper.toml: Quantity: unknown key 'scal'"),
        ("expected.toml", ('figure = "1"', 'figure = "2"'), "names no figure of the paper"),
        ("expected.toml", ("source =", "sorce ="), "expected.toml: Expectation: unknown key 'sorce'"),
    ],
)
def test_a_wrong_folder_says_which_file_and_key(
    folder: Path, file: str, change: tuple[str, str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / file
    path.write_text(path.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    assert reproduce() == command.USAGE
    assert told in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_missing_folder_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["reproduce", "mine"]) == command.USAGE
    assert "there is no paper `mine`" in capsys.readouterr().err
    assert command.main(["reproduce", "./mine"]) == command.USAGE
    assert "mine/paper.toml" in capsys.readouterr().err


def rows() -> list[dict[str, Any]]:
    content = json.loads(Path("out/papers/paper-mine/verdicts.json").read_text(encoding="utf-8"))
    return content["figures"][0]["verdicts"]


@pytest.mark.usefixtures("folder")
def test_another_parameter_gives_values_without_verdicts_and_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce("--set", "link.first.rate=1 Mbit/s") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("none ") >= 2
    assert "differs from the paper: link.first.rate=1 Mbit/s" in out
    assert "0 PASS, 0 NEAR, 0 MISS, 0 OPEN" in out
    assert "2 without a verdict" in out
    assert [(row["verdict"], row["differs"]) for row in rows()] == [(None, "link.first.rate=1 Mbit/s")] * 2
    assert all(row["mean"] > 0 for row in rows())
    assert command.main(["report", "out/papers", "-o", "report.html"]) == 0
    assert "differs from the paper: link.first.rate=1 Mbit/s" in Path("report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("folder")
def test_the_papers_own_value_keeps_the_verdicts() -> None:
    assert reproduce("--set", "link.first.rate=10 Mbit/s") == 0
    assert [(row["verdict"], row["differs"]) for row in rows()] == [("PASS", None)] * 2


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("link.first.rat=1 Mbit/s", "rate"),
        ("link.first.rate", "expected KEY=VALUE"),
        ("rate=5 Mbit/s", "shows all values of the axis `rate`"),
        ("link.second.rate=5 Mbit/s", "shows all values of the axis `rate`"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused(setting: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce("--set", setting) == command.USAGE
    assert told in capsys.readouterr().err


def test_an_edited_copy_of_a_shipped_scenario_gets_no_verdict(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = folder.parent / "shipped" / "mine_paper"
    shutil.copytree(folder, shipped)
    monkeypatch.setenv("ANABRANCH_PAPERS", str(shipped.parent))
    assert reproduce() == 0
    assert [row["verdict"] for row in rows()] == ["PASS"] * 2
    scenario = folder / "figure-1.toml"
    text = scenario.read_text(encoding="utf-8").replace('title = "figure 1"', 'title = "mine"')
    scenario.write_text(text, encoding="utf-8")
    assert reproduce() == 0
    assert [row["verdict"] for row in rows()] == ["PASS"] * 2, "the title is no parameter"
    scenario.write_text(text.replace('rate = "10 Mbit/s"', 'rate = "12 Mbit/s"'), encoding="utf-8")
    assert reproduce() == 0
    assert {(row["verdict"], row["differs"]) for row in rows()} == {(None, "link.first.rate=12 Mbit/s")}


@pytest.mark.usefixtures("folder")
def test_in_a_pipe_there_is_a_plain_line_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Progress, "silence", 0.0)
    assert command.main(["reproduce", "./mypaper", "--replicas", "2", "--formats", "svg"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(re.fullmatch(r"paper mine, figure 1: \d+ of 8 runs(, \d+ s left)?", line) for line in lines), lines


@pytest.mark.usefixtures("folder")
def test_a_demo_ends_with_one_screen_and_a_file_of_all_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["reproduce", "./mypaper", "--demo", "-q", "--out", "out/demo"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert re.match(r"Reproduced 1 figure of 1 paper in \d+ s: 2 numbers\.\n", out), out
    assert "out/demo/paper-*/figure-*" in out
    assert out.splitlines()[-1].endswith("out/demo/verdicts.txt")
    tables = Path("out/demo/verdicts.txt").read_text(encoding="utf-8")
    assert tables.count("PASS  ") == 2
    assert tables.startswith("Paper mine, figure 1")
