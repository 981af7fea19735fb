"""Standard output of the command."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path


def say(text: str) -> None:
    """Prints a text and shows it at once.

    Raises BrokenPipeError if nobody reads it, and an OSError that says what failed if it cannot be written.
    """
    try:
        print(text, flush=True)
    except OSError as error:
        raise _refused(error) from error


def finish() -> None:
    """Writes what is left, so that the interpreter finds no error when it ends. Raises what :func:`say` does."""
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
