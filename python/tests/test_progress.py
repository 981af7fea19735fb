"""The status line of long commands, with a clock of the test."""

from __future__ import annotations

import io

import pytest

from anabranch.progress import Progress, duration


class Terminal(io.StringIO):
    """Text that was written to a terminal."""

    def isatty(self) -> bool:
        """True, as for a terminal."""
        return True


def shown(stream: io.StringIO) -> str:
    return stream.getvalue().rpartition("\r\x1b[K")[2]


def test_the_line_has_the_time_left_for_a_part_and_for_all() -> None:
    now, stream = [100.0], Terminal()
    progress = Progress(stream, "figure", 4, lambda: now[0])
    now[0] += 10
    progress("8-left", 5, 10, 10.0)
    # The time left for all parts is unknown until the first part is finished.
    assert shown(stream) == "figure 8-left (1 of 4): 5 of 10 runs, 10 s left"
    now[0] += 50
    progress("8-right", 10, 20, None)
    # 1.5 of 4 parts took 60 s, so the other 2.5 parts take 100 s.
    assert shown(stream) == "figure 8-right (2 of 4): 10 of 20 runs; about 100 s for all"
    progress.clear()
    assert shown(stream) == ""


def test_a_command_of_one_part_has_no_total() -> None:
    stream = Terminal()
    progress = Progress(stream, "lines", clock=lambda: 0.0)
    progress("paths (together)", 1, 4, 150.0)
    progress("paths (alone)", 4, 4, 0.0)
    assert shown(stream) == "lines paths (alone): 4 of 4 runs, 0 s left"


def test_a_pipe_gets_a_plain_line_each_time_the_interval_has_passed() -> None:
    now, stream = [0.0], io.StringIO()
    progress = Progress(stream, "paper", 2, lambda: now[0])
    progress.silence = 2.0
    for tenths in range(61):
        now[0] = tenths / 10
        progress("000, figure 4", tenths, 100, None)
    progress.clear()
    assert stream.getvalue().splitlines() == [
        f"paper 000, figure 4 (1 of 2): {done} of 100 runs" for done in (20, 40, 60)
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (119, "119 s"), (121, "3 min"), (7199, "120 min"), (7200, "2 h 0 min"), (7801, "2 h 11 min")],
)
def test_times_are_in_units_that_say_enough(seconds: float, text: str) -> None:
    assert duration(seconds) == text
