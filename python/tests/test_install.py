"""The commands of the page about installation, from an empty folder to a report."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from anabranch import command

PAGE = Path(__file__).parents[2] / "docs" / "install.md"


def test_the_way_to_a_report_works_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    monkeypatch.chdir(tmp_path)
    section = PAGE.read_text(encoding="utf-8").partition("## From an empty folder")[2].partition("\n## ")[0]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert block is not None
    commands = [shlex.split(line) for line in block[1].splitlines() if line.startswith("anabranch ")]
    assert [words[1] for words in commands] == ["new", "run", "report", "sweep", "report"]
    for words in commands:
        assert command.main(words[1:]) == 0, capfd.readouterr().err
    assert "1 MiB" in capfd.readouterr().out
    for name in ("lines.html", "buffer.html"):
        assert f"`{name}`" in section
        assert (tmp_path / name).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
