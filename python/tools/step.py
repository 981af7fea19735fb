"""Runs a command quietly: `python3 python/tools/step.py "What it does" COMMAND ...`.

A terminal shows a line with the seconds and the latest line of the command's output; elsewhere there is a line at the
start and one at the end. The output is printed only if the command fails.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, TextIO


def latest(log: BinaryIO) -> str:
    """The last line of the output so far."""
    log.seek(max(0, log.seek(0, os.SEEK_END) - 500))
    lines = log.read().decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def step(name: str, command: Sequence[str], said: TextIO) -> int:
    """Runs the command and returns its exit code."""
    overwrites = said.isatty()
    began = time.monotonic()
    if not overwrites:
        print(f"{name} ...", file=said, flush=True)
    # Two descriptions of the file: reading does not move the place where the command writes.
    with tempfile.NamedTemporaryFile() as log, Path(log.name).open("rb") as written:
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        while True:
            try:
                code = running.wait(1.0 if overwrites else None)
                break
            except subprocess.TimeoutExpired:
                line = f"{name}: {time.monotonic() - began:.0f} s  {latest(written)}"
                said.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
                said.flush()
        took = f"{time.monotonic() - began:.0f} s"
        start = "\r\x1b[K" if overwrites else ""
        if code == 0:
            print(f"{start}{name}: done in {took}", file=said, flush=True)
            return 0
        print(f"{start}{name}: failed after {took} with exit code {code}: {shlex.join(command)}", file=said)
        written.seek(0)
        print(written.read().decode("utf-8", "replace").rstrip(), file=said, flush=True)
        return code if code > 0 else 1


if __name__ == "__main__":
    try:
        sys.exit(step(sys.argv[1], sys.argv[2:], sys.stderr))
    except KeyboardInterrupt:
        sys.exit(130)
