"""Parsers of arguments whose messages and help look like those of the subcommands in Rust."""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from .console import printable

EXAMPLES = "Examples:"
COLUMNS = 100
"""Width of a help text at most."""


class Parser(argparse.ArgumentParser):
    """The parser of a subcommand: an error is one line, a tip, the usage and where help is; exit code 2."""

    def __init__(self, name: str, description: str, epilog: str = "", examples: Sequence[str] = ()) -> None:
        shown = "\n  ".join([EXAMPLES, *(f"anabranch {name} {example}".rstrip() for example in examples)])
        super().__init__(
            f"anabranch {name}",
            description=description,
            epilog="\n\n".join(filter(None, [shown, epilog])),
            formatter_class=_Formatter,
            add_help=False,
            allow_abbrev=False,
        )
        self._positionals.title = "Arguments"
        self._optionals.title = "Options"
        self.add_argument("--help", "-h", action="help", help="print help")

    def _tip(self, unknown: str) -> str:
        if not unknown.startswith("-"):
            return "\n\n  tip: a value or a path with spaces needs quotes"
        similar = difflib.get_close_matches(unknown.partition("=")[0], self._option_string_actions, 1)
        return f"\n\n  tip: a similar argument exists: '{similar[0]}'" if similar else ""

    def error(self, message: str) -> NoReturn:
        """Prints the message and the usage, and ends the program."""
        unknown = message.removeprefix("unrecognized arguments: ").split()
        if message.startswith("unrecognized") and unknown:
            message = f"unexpected argument '{unknown[0]}' found{self._tip(unknown[0])}"
        text = f"error: {message}\n\n{self.format_usage()}\nFor more information, try '{self.prog} --help'."
        print(printable(text), file=sys.stderr)
        sys.exit(2)


class _Formatter(argparse.HelpFormatter):
    """Help as of the subcommands in Rust (``HELP`` in crates/cli/src/arguments.rs)."""

    def __init__(self, prog: str) -> None:
        super().__init__(
            prog, max_help_position=36, width=min(shutil.get_terminal_size((COLUMNS, 24)).columns, COLUMNS)
        )

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
        arguments = (self._format_action_invocation(action) for action in actions if not action.option_strings)
        super().add_usage(" ".join(["%(prog)s [OPTIONS]", *arguments]), actions, groups, "Usage: ")

    def add_arguments(self, actions: Any) -> None:
        super().add_arguments(sorted(actions, key=lambda action: isinstance(action, argparse._HelpAction)))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        value = action.metavar or action.dest.upper()
        if not action.option_strings:
            shown = f"[{value}]" if action.nargs in ("?", "*") else f"<{value}>"
            return f"{shown}..." if action.nargs in ("+", "*") else shown
        short = [option for option in action.option_strings if not option.startswith("--")]
        long = [option for option in action.option_strings if option.startswith("--")]
        names = ", ".join([*short, *long])
        shown = {None: f" <{value}>", "+": f" <{value}>..."}.get(action.nargs, "")
        return f"{'' if short else '    '}{names}{shown}"

    def _expand_help(self, action: argparse.Action) -> str:
        text = capitalized(super()._expand_help(action))
        return f"{text} [possible values: {', '.join(action.choices)}]" if action.choices else text

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = (
            part
            if part.startswith(EXAMPLES)
            else textwrap.fill(part, width, initial_indent=indent, subsequent_indent=indent)
            for part in text.split("\n\n")
        )
        return "\n\n".join(parts)


def capitalized(text: str) -> str:
    """The text with a capital at its begin."""
    return text[:1].upper() + text[1:]


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
