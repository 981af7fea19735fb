"""`examples/udp_adapter.py` moves a file between two processes, over two paths of UDP sockets."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "udp_adapter.py"
SECONDS = 60


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has 127.0.0.2 without configuration")
def test_the_example_moves_a_file_over_two_paths_between_two_processes(tmp_path: Path) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.write_bytes(random.Random(1).randbytes(12_000_000))  # more than the send buffer
    command = [sys.executable, str(EXAMPLE)]
    receiver = subprocess.Popen([*command, "receive", str(copy)], stdout=subprocess.PIPE, text=True)
    try:
        assert receiver.stdout is not None
        words = receiver.stdout.readline().split()
        assert words[:2] == ["UDP", "port"]
        arguments = ["send", str(original), "--to", words[2]]
        sender = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=SECONDS, check=True)
        said, _ = receiver.communicate(timeout=SECONDS)
    finally:
        receiver.kill()
        receiver.wait()
    assert copy.read_bytes() == original.read_bytes()
    assert said.split()[0] == "graceful"
    reason, *paths = sender.stdout.split()
    sent = {address: int(count) for address, count in (path.split("=") for path in paths)}
    assert (reason, set(sent)) == ("graceful", {"127.0.0.1", "127.0.0.2"})
    assert min(sent.values()) > 1_000_000, "both paths carry data"
