"""The tool that prints the output of a build only if the build fails."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def step(script: str) -> subprocess.CompletedProcess[str]:
    """The tool with a shell command, in pipes."""
    words = [sys.executable, str(ROOT / "python" / "tools" / "step.py"), "Build", "sh", "-c", script]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_a_command_that_succeeds_is_quiet() -> None:
    done = step("echo much; echo more >&2")
    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(r"Build \.\.\.\nBuild: done in \d+ s\n", done.stderr)


def test_the_output_of_a_command_that_fails_is_shown_with_its_exit_code() -> None:
    done = step("echo much; echo more >&2; exit 7")
    assert (done.returncode, done.stdout) == (7, "")
    assert re.match(r"Build \.\.\.\nBuild: failed after \d+ s with exit code 7: sh -c ", done.stderr)
    assert done.stderr.endswith("much\nmore\n")


def test_make_runs_every_download_and_build_of_the_demo_through_it() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for rule in ("$(VENV)/.tools:", "$(VENV)/.module:", "$(VENV)/.libraries:"):
        recipe = makefile.split(f"\n{rule}")[1].split("\n\n")[0].splitlines()[1:]
        assert all(line.startswith(("\t$(STEP)", "\t@touch", "\t\tsh -c")) for line in recipe), recipe


def test_the_long_step_says_how_long_it_takes_as_the_pages_do() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    told = re.search(r"\$\(STEP\) \"Simulator and Python package, (\d+ to \d+ minutes) the first time\"", makefile)
    assert told is not None
    for page in ("README.md", "docs/install.md"):
        assert told[1] in (ROOT / page).read_text(encoding="utf-8"), page
