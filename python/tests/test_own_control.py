"""The steps of the researcher's tutorial for an own congestion control, done as they are printed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from anabranch import command

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorials" / "researcher.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## 4. ")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"```(rust|sh)\n(.*?)\n```\n", SECTION, re.DOTALL)
FILE, ENTRY, TEST, USE = (text for _, text in BLOCKS)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_the_printed_control_passes_the_tests_of_its_crate_without_a_warning() -> None:
    # The folder is always the same, so that a second run compiles only changed files.
    place = ROOT / "target" / "own-control"
    shutil.rmtree(place / "tree", ignore_errors=True)
    for name in ("units", "transport", "cc"):
        shutil.copytree(ROOT / "crates" / name, place / "tree" / "crates" / name)
    for name in ("Cargo.toml", "Cargo.lock", "README.md"):
        shutil.copy2(ROOT / name, place / "tree")
    algorithms = place / "tree" / "crates" / "cc" / "src" / "algorithm"
    (algorithms / "gentle.rs").write_text(FILE, encoding="utf-8")
    registry = algorithms.with_suffix(".rs")
    listed = registry.read_text(encoding="utf-8")
    assert listed.count(";\n}\n\noptions!") == 1
    registry.write_text(listed.replace(";\n}\n\noptions!", f";\n{ENTRY}\n}}\n\noptions!"), encoding="utf-8")
    done = subprocess.run(
        TEST.split(),
        cwd=place / "tree",
        env=os.environ | {"CARGO_TARGET_DIR": str(place / "target"), "CARGO_TERM_COLOR": "never"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "warning" not in done.stderr, done.stderr
    assert re.search(r"Running tests/main\.rs", done.stderr)
    assert "`crates/cc/src/algorithm/gentle.rs`" in SECTION


def test_the_header_of_the_crate_prints_the_same_control() -> None:
    source = (ROOT / "crates" / "cc" / "src" / "lib.rs").read_text(encoding="utf-8")
    header = "\n".join(line[3:].removeprefix(" ") for line in source.splitlines() if line.startswith("//!"))
    for part in (FILE.partition("struct Gentle;")[2].strip(), *(line.strip() for line in ENTRY.splitlines())):
        for piece in part.split("\n\npub(super)"):
            assert piece.strip() in header


def test_the_printed_commands_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    assert USE.splitlines()[0] == "make build"
    make = subprocess.run(["make", "--dry-run", "build"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert make.returncode == 0, make.stderr
    monkeypatch.chdir(tmp_path)
    assert command.main(["new", "mine.toml"]) == 0
    # The file has the variations of step 2 by then.
    scenario = Path("mine.toml")
    (varied,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    text = scenario.read_text(encoding="utf-8").replace('[sctp.both]\nprofile = "recommended"\n', varied)
    assert varied in text
    scenario.write_text(text, encoding="utf-8")
    (line,) = [line for line in USE.splitlines() if line.startswith("anabranch run")]
    words = shlex.split(line.replace("gentle", "lia"))
    assert command.main(words[1:]) == 0, capfd.readouterr().err
