"""Parsers of arguments whose messages and help look like those of the subcommands in Rust."""

from __future__ import annotations

import argparse
import difflib
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from .console import printable

EXAMPLES = "Examples:"


class Parser(argparse.ArgumentParser):
    """The parser of a subcommand: an error is one line, followed by the usage and where help is; exit code 2."""

    def __init__(self, name: str, description: str, epilog: str = "", examples: Sequence[str] = ()) -> None:
        shown = "\n  ".join([EXAMPLES, *(f"anabranch {name} {example}".rstrip() for example in examples)])
        end = "\n\n".join(filter(None, [shown if examples else "", epilog]))
        super().__init__(f"anabranch {name}", description=description, epilog=end, formatter_class=_Formatter)
        self._positionals.title = "Arguments"
        self._optionals.title = "Options"

    def _tip(self, unknown: str) -> str:
        if not unknown.startswith("-"):
            return "; a value or a path with spaces needs quotes"
        option = unknown.partition("=")[0]
        similar = difflib.get_close_matches(option, self._option_string_actions, 1)
        return f"; did you mean `{similar[0]}`?" if similar else ""

    def error(self, message: str) -> NoReturn:
        """Prints the message and the usage, and ends the program."""
        unknown = message.removeprefix("unrecognized arguments: ").split()
        if message.startswith("unrecognized") and unknown:
            message = f"unexpected argument '{unknown[0]}' found{self._tip(unknown[0])}"
        text = f"error: {message}\n\n{self.format_usage()}\nFor more information, try '{self.prog} --help'."
        print(printable(text), file=sys.stderr)
        sys.exit(2)


class _Formatter(argparse.HelpFormatter):
    """Keeps the lines of the examples as they are."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, "Usage: " if prefix is None else prefix)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = (
            part if part.startswith(EXAMPLES) else textwrap.fill(part, width, initial_indent=indent)
            for part in text.split("\n\n")
        )
        return "\n\n".join(parts)


def count(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found '{text}'")
    return int(text)


def seed(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, found '{text}'") from None


def seconds(text: str) -> float:
    """A number of seconds."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected seconds such as 2.5, found '{text}'") from None
