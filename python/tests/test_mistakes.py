"""Mistakes on the command lines of the subcommands in Python, each with the whole message that answers it.

``ANABRANCH_UPDATE=1`` rewrites the messages in mistakes.txt; review them. crates/cli/tests/mistakes.rs has those of the
subcommands in Rust.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from anabranch import command, console

CASES = Path(__file__).with_name("mistakes.txt")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "latin-1.toml").write_bytes(b'title = "\xe9t\xe9"\n')
    (tmp_path / "utf-16.toml").write_bytes('title = "a"\n'.encode("utf-16"))
    paper = tmp_path / "mypaper"
    paper.mkdir()
    (paper / "paper.toml").write_bytes(b'title = "\xe9t\xe9"\n')
    return tmp_path


def answer(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    try:
        code: object = command.main(shlex.split(line))
    except SystemExit as stopped:
        code = stopped.code
    shown = "".join(capsys.readouterr()).replace(str(Path.cwd()), "FOLDER")
    assert console.printable(shown) == shown
    return f"$ anabranch {line}\nexit code {code}\n{shown.rstrip()}"


def test_each_mistake_gets_its_message(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = CASES.read_text(encoding="utf-8")
    lines = [line.removeprefix("$ anabranch ") for line in text.splitlines() if line.startswith("$ anabranch ")]
    now = [answer(line, capsys) for line in lines]
    if "ANABRANCH_UPDATE" in os.environ:
        CASES.write_text("\n\n".join(now) + "\n", encoding="utf-8")
        return
    assert len(now) >= 20
    assert "\n\n".join(now) + "\n" == text


def test_control_characters_are_escaped_except_line_feeds_and_tabs() -> None:
    assert console.printable("a\x1b]0;x\x07\x9b1m\r\n\tä\u202e") == "a\\u001b]0;x\\u0007\\u009b1m\\u000d\n\tä\\u202e"
