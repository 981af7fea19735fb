"""Standard output and standard error of the command."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path

_ESCAPED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""The text with control characters as ``\u001b``, as in JSON and TOML, so that they cannot control a terminal.

    Line feeds and tabs stay; characters that change the direction of writing are escaped, too.
    """
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def complain(message: object) -> None:
    """Prints an error to standard error."""
    print(f"anabranch: {printable(str(message))}", file=sys.stderr)


def say(text: str, *, colored: bool = False) -> None:
    """Prints a text and shows it at once. Control characters are escaped, unless they are ``colored``.

    Raises BrokenPipeError if nobody reads it, and an OSError that says what failed if it cannot be written.
    """
    try:
        print(text if colored else printable(text), flush=True)
    except OSError as error:
        raise _refused(error) from error


def finish() -> None:
    """Flushes standard output, so that the interpreter finds no error at exit. Raises the errors of :func:`say`."""
    try:
        sys.stdout.flush()
    except OSError as error:
        with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise _refused(error) from error


def _refused(error: OSError) -> OSError:
    if isinstance(error, BrokenPipeError):
        return error
    return OSError(error.errno, error.strerror, "cannot write to standard output")
