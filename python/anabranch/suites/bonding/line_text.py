"""Reads a line as the user describes it: ``50/10 Mbit/s, 24 ms, 0.2 %``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..running import SuiteError
from .topology import Line

EXAMPLE = "50/10 Mbit/s, 24 ms, 0.2 %"
LEAST_QUEUE = 0.02
"""The queue of a line without ``queue`` holds what it sends in one RTT, but at least in this time, in seconds."""

_RATES = {"kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}
_BITS = {"kbps": "kbit/s", "Mbps": "Mbit/s", "Gbps": "Gbit/s"}
"""Units that scenario files read as well."""
_TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_SHARES = {"%": 0.01}
_TIMED = ("jitter", "queue")
_MODELS, _DISCIPLINES = ("lte", "wifi", "satellite"), ("codel", "red")
_WORDS = (*_TIMED, *_MODELS, *_DISCIPLINES)
FLAGS = ", ".join(f"`{word}`" for word in (*_DISCIPLINES, *_MODELS))
"""The words that stand alone, for help."""
_PARTS = f"a rate, an RTT, a loss in %, or one of {', '.join(_WORDS)}"
_AMOUNT = re.compile(r"(?P<first>\d+(?:\.\d+)?)(?:\s*/\s*(?P<second>\d+(?:\.\d+)?))?\s*(?P<unit>[^\s\d].*)?")


@dataclass(frozen=True)
class _Part:
    """A part of the text between commas, and the column where it begins, from 1."""

    text: str
    column: int


class _Reader:
    """Collects the parts of one line. Every error names the text, the place, what was expected, and a similar word."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, Any] = {}

    def line(self) -> Line:
        if comma := re.search(r"(\d+),(\d+)", self._text):
            number = _Part(comma[0], comma.start() + 1)
            raise self._error(number, f"expected a decimal point, {comma[1]}.{comma[2]}, or a space after the comma")
        column = 1
        for piece in self._text.split(","):
            text = piece.strip()
            self._read(_Part(text, column + len(piece) - len(piece.lstrip())))
            column += len(piece) + 1
        for key, what in (("rate", "a rate such as `50/10 Mbit/s`"), ("rtt", "an RTT such as `24 ms`")):
            if key not in self._found:
                raise SuiteError(f'--path "{self._text}": expected {what} as well, for example "{EXAMPLE}"')
        rtt = self._found["rtt"]
        return Line(**{"queue": max(rtt, LEAST_QUEUE), **self._found})

    def _read(self, part: _Part) -> None:
        if not part.text:
            raise self._error(part, f"expected {_PARTS}")
        if part.text[0].isdigit():
            self._amount(part)
            return
        word, _, rest = part.text.partition(" ")
        if word in _TIMED:
            value = _Part(rest.strip(), part.column + len(word) + 1)
            self._keep(part, word, self._time(value, f"a time after `{word}` such as `20 ms`"))
        elif word in _MODELS and not rest:
            self._keep(part, "varies", word)
        elif word in _DISCIPLINES and not rest:
            self._keep(part, "discipline", word)
        elif word in _WORDS:
            raise self._error(_Part(rest, part.column + len(word) + 1), f"expected nothing after `{word}`")
        else:
            raise self._error(_Part(word, part.column), f"expected {_PARTS}", _WORDS)

    def _amount(self, part: _Part) -> None:
        matched = _AMOUNT.fullmatch(part.text)
        if matched is None:
            raise self._error(part, f"expected {_PARTS}")
        unit, second = matched["unit"], matched["second"]
        unit = _BITS.get(unit, unit)
        first = float(matched["first"])
        place = _Part(unit or part.text, part.column + (matched.start("unit") if unit else 0))
        if unit in _RATES:
            forward = self._within(part, first * _RATES[unit], 1e4, 1e11, "a rate of 10 kbit/s to 100 Gbit/s")
            back = forward if second is None else float(second) * _RATES[unit]
            self._keep(part, "rate", forward)
            self._found["back"] = self._within(part, back, 1e3, 1e11, "a return rate of 1 kbit/s to 100 Gbit/s")
        elif second is not None:
            raise self._error(place, f"expected a unit of rate, {' or '.join(_RATES)}", _RATES)
        elif unit in _TIMES:
            self._keep(part, "rtt", self._time(part, "an RTT such as `24 ms`"))
        elif unit in _SHARES:
            self._keep(part, "loss", self._within(part, first * _SHARES[unit], 0, 0.5, "a loss of 0 to 50 %"))
        else:
            units = (*_RATES, *_TIMES, *_SHARES)
            raise self._error(place, f"expected a number with a unit, one of {', '.join(units)}", units)

    def _time(self, part: _Part, expected: str) -> float:
        matched = _AMOUNT.fullmatch(part.text)
        if matched is None or matched["second"] is not None or matched["unit"] not in _TIMES:
            unit = matched["unit"] if matched is not None and matched["unit"] else None
            place = part if unit is None or matched is None else _Part(unit, part.column + matched.start("unit"))
            raise self._error(place, f"expected {expected}", _TIMES if unit else ())
        seconds = float(matched["first"]) * _TIMES[matched["unit"]]
        return self._within(part, seconds, 1e-5, 10, "a time of 10 us to 10 s")

    def _within(self, part: _Part, value: float, least: float, most: float, expected: str) -> float:
        if not least <= value <= most:
            raise self._error(part, f"expected {expected}")
        return value

    def _keep(self, part: _Part, key: str, value: object) -> None:
        if key in self._found:
            raise self._error(part, f"expected only one {_NAMES.get(key, f'`{key}`')}")
        self._found[key] = value

    def _error(self, part: _Part, expected: str, known: Iterable[str] = ()) -> SuiteError:
        lower = {word.lower(): word for word in known}
        similar = difflib.get_close_matches(part.text.lower(), lower, 1, 0.5)
        hint = f"; did you mean `{lower[similar[0]]}`?" if similar else ""
        found = f"`{part.text}`" if part.text else "nothing"
        return SuiteError(f'--path "{self._text}", column {part.column}: {expected}, found {found}{hint}')


_NAMES = {"rate": "rate", "rtt": "RTT", "loss": "loss", "varies": "model of the rate", "discipline": "queue discipline"}


def read(text: str) -> Line:
    """The line that a text describes. Raises :class:`SuiteError` for other texts.

    >>> read("50/10 Mbit/s, 24 ms, 0.2 %").back
    10000000.0
    """
    return _Reader(text).line()


def describe(line: Line) -> str:
    """The line in a few words: `50/10 Mbit/s, 24 ms, queue 48 ms codel, 0.2 % loss`."""
    parts = [
        f"{_number(line.rate / 1e6)}/{_number(line.back / 1e6)} Mbit/s{f' {line.varies}' if line.varies else ''}",
        f"{_number(line.rtt * 1e3)} ms",
        f"queue {_number(line.queue * 1e3)} ms{'' if line.discipline == 'drop-tail' else f' {line.discipline}'}",
    ]
    if line.loss:
        parts.append(f"{_number(100 * line.loss)} % loss{f' by {line.burst:.0f}' if line.burst > 1 else ''}")
    if line.jitter:
        parts.append(f"jitter {_number(line.jitter * 1e3)} ms")
    if line.outage:
        parts.append(f"dead {line.outage[0]:.1f} to {line.outage[1]:.1f} s")
    return ", ".join(parts)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"
