"""The soak test of a simulated day, for some minutes."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_an_association_over_links_that_fail_keeps_its_memory() -> None:
    program = Path(sys.executable).with_name("anabranch")
    command = [sys.executable, ROOT / "suites/tunnel/day.py", program, "--hours", "0.5", "--seed", "7"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert ": flat\n" in run.stdout
