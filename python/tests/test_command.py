"""The command in a shell: standard output that is closed or full, and files on a full disk."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch import command

BUFFERED = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
"""The environment without the variable: the interpreter then flushes its output only when it ends."""
COMMAND = [sys.executable, "-m", "anabranch"]
FULL = Path("/dev/full")


def start(arguments: list[str], output: int) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *arguments]
    return subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, check=False, env=BUFFERED)


@pytest.mark.parametrize("arguments", [["papers"], ["reproduce", "--help"], ["schema"]])
def test_a_closed_pipe_ends_the_command_quietly(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = start(arguments, writer)
    os.close(writer)
    assert done.stderr == ""
    # For a command in Rust a closed pipe is not an error: the reader does not want more output.
    assert done.returncode == (0 if arguments == ["schema"] else 141)


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize("arguments", [["papers"], ["papers", "--json"], ["reproduce", "--help"], ["schema"]])
def test_output_to_a_full_disk_is_an_error(arguments: list[str]) -> None:
    with FULL.open("w") as full:
        done = start(arguments, full.fileno())
    told, *more = done.stderr.splitlines()
    assert told.startswith("anabranch: cannot write to standard output: No space left on device")
    assert (more, done.returncode) == ([], 1)


def test_completions_and_manual_pages_know_the_options_of_every_subcommand(tmp_path: Path, capfd) -> None:
    assert command.main(["man", str(tmp_path)]) == 0
    assert command.main(["completions", "bash"]) == 0
    script = capfd.readouterr().out
    for name in command._COMMANDS:
        with pytest.raises(SystemExit):
            command.main([name, "--help"])
        options = set(re.findall(r"--[a-z]+", capfd.readouterr().out.partition("\nOptions:")[2])) - {"--help"}
        page = (tmp_path / f"anabranch-{name}.1").read_text(encoding="utf-8").replace("\\-", "-")
        assert options
        for option in options:
            assert option in page, f"{name} {option}"
            assert option in script, f"{name} {option}"
    assert "Few replicas" in (tmp_path / "anabranch-reproduce.1").read_text(encoding="utf-8")


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has /dev/full")
def test_a_report_that_cannot_be_written_is_named() -> None:
    done = start(["report", "two-lines", "-o", str(FULL), "-q"], subprocess.DEVNULL)
    assert (done.stderr, done.returncode) == (f"anabranch: {FULL}: No space left on device\n", 1)
