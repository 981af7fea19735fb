"""The progress of a long command: a line that changes on a terminal, a line every half minute elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TextIO

from .console import printable


class Progress:
    """What runs, the number of finished runs, and the time left for it and for all.

    On a terminal the line is overwritten. Elsewhere, as in a pipe or a log, there is a new line every 30 s.

    ``parts`` is the number of sweeps, or of other things with a name each, that the command runs one after another. The
    time left for all of them assumes that they take as long as those before.
    """

    silence = 30.0
    """Seconds between two lines where the last line cannot be overwritten."""

    def __init__(self, stream: TextIO, kind: str, parts: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._overwrites = stream.isatty()
        self._kind = kind
        self._parts = parts
        self._clock = clock
        self._begin = self._written = clock()
        self._name: str | None = None
        self._part = 0

    def __call__(self, name: str, done: int, total: int, left: float | None) -> None:
        """Shows the progress of one part, such as a figure or a topology."""
        self._part += name != self._name
        self._name = name
        if not self._overwrites and self._clock() - self._written < self.silence:
            return
        self._written = self._clock()
        place = f" ({self._part} of {self._parts})" if self._parts > 1 else ""
        wait = "" if left is None else f", {duration(left)} left"
        whole = self._left(done / total)
        more = "" if whole is None else f"; about {duration(whole)} for all"
        line = f"{self._kind} {printable(name)}{place}: {done} of {total} runs{wait}{more}"
        self._stream.write(f"\r\x1b[K{line}" if self._overwrites else f"{line}\n")
        self._stream.flush()

    def _left(self, share: float) -> float | None:
        """Seconds left for all parts, when ``share`` of the present one is done; None during the first part."""
        if self._part < 2 or self._parts < 2:
            return None
        done = min(1.0, (self._part - 1 + share) / self._parts)
        return (self._clock() - self._begin) * (1 - done) / done

    def clear(self) -> None:
        """Removes the line from a terminal."""
        if self._overwrites:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def duration(seconds: float) -> str:
    """A time in the largest unit that says enough: ``90 s``, ``5 min``, ``2 h 10 min``."""
    whole = math.ceil(seconds)
    if whole < 120:
        return f"{whole} s"
    minutes = math.ceil(whole / 60)
    return f"{minutes} min" if whole < 7200 else f"{minutes // 60} h {minutes % 60} min"
