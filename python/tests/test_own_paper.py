"""A folder of the user's own is reproduced like the papers that come with the package."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from anabranch import command

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
