"""The progress of a long command, shown on a terminal."""

from __future__ import annotations

from typing import TextIO


class Progress:
    """An overwritten status line: the current figure or topology, the number of finished runs, and the time left."""

    def __init__(self, stream: TextIO, kind: str) -> None:
        self._stream = stream
        self._kind = kind

    def __call__(self, name: str, done: int, total: int, left: float | None) -> None:
        """Shows the progress of one figure or topology."""
        wait = "" if left is None else f", {left:.0f} s left"
        self._stream.write(f"\r\x1b[K{self._kind} {name}: {done} of {total} runs{wait}")
        self._stream.flush()

    def clear(self) -> None:
        """Removes the line."""
        self._stream.write("\r\x1b[K")
        self._stream.flush()
