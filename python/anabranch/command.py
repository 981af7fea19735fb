"""The command ``anabranch``: ``reproduce``, ``papers``, ``report`` and the suites are in Python, the others in Rust.

Each subcommand imports what it needs when it runs: plotting and data frames take half a second to import.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from . import _core, lab, shipped
from .console import complain, finish, say
from .folder import DamagedResultError
from .parser import Parser, capitalized, count

OK, FAILED, USAGE, MISSED, STOPPED, PIPE = 0, 1, 2, 3, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code.

    0 success, 1 a run failed, 2 wrong arguments, 3 a number was missed or left OPEN without a reason, 130 stopped, 141
    standard output was closed (the code that a shell reports for SIGPIPE).
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    # The Rust code finds shipped scenarios in this folder.
    os.environ.setdefault("ANABRANCH_SCENARIOS", str(shipped.folder("scenarios")))
    if sys.stdout.isatty():
        # The Rust code narrows its tables to this width.
        os.environ.setdefault("COLUMNS", str(shutil.get_terminal_size().columns))
    try:
        try:
            return _run(arguments)
        finally:
            finish()
    except BrokenPipeError:
        # The reader closed the pipe because it needs no more output.
        return PIPE
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        complain(f"{where}{error.strerror or error}")
        return FAILED


def _run(arguments: Sequence[str]) -> int:
    try:
        if len(arguments) == 2 and arguments[0] == "help":
            arguments = [arguments[1], "--help"]
        command = _COMMANDS.get(arguments[0]) if arguments else None
        return command(arguments[1:]) if command else _rust(arguments)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in lab.PACKAGES:
            raise
        complain(lab.advice(package))
        return FAILED
    except shipped.UsageError as error:
        complain(error)
        return USAGE
    except (_core.ScenarioError, _core.SimulationError, DamagedResultError) as error:
        complain(error)
        return FAILED
    except KeyboardInterrupt:
        complain("stopped; finished runs are kept, and the same command reuses them")
        return STOPPED


def _rust(arguments: Sequence[str]) -> int:
    with ExitStack() as stack:

        def connect(address: str) -> object:
            from . import cluster

            return stack.enter_context(cluster.cluster_work(address))

        # The subcommands in Python can be imported only if the extra `lab` is installed.
        is_manual = arguments[:1] in (["completions"], ["man"]) and lab.missing() is None
        return _core.cli(arguments, connect, list(_declared()) if is_manual else [])


def _declared() -> Iterator[tuple[str, list[str], str | None, str, list[str]]]:
    """The arguments of the subcommands in Python, as ``_core.cli`` takes them for completions and manual pages."""
    from . import reproduce_command
    from .overlay import command as overlay
    from .report import command as report
    from .suites import command as suites
    from .suites import fairness
    from .suites.bbr import command as bbr
    from .suites.bonding import command as bonding
    from .suites.evaluate import command as evaluate

    parsers = {
        "reproduce": reproduce_command.declared(count),
        "papers": _papers_declared(),
        "fairness": suites.parser(fairness.SUITE, count),
        "bonding": bonding.declared(count),
        "bbr-cases": bbr.declared(count),
        "evaluate": evaluate.declared(count),
        "report": report.declared(),
        "overlay": overlay.declared(count),
    }
    for name, parser in parsers.items():
        for action in parser._actions:
            if isinstance(action, argparse._HelpAction):
                continue
            value = None if action.nargs == 0 else str(action.metavar or action.dest.upper())
            help_ = capitalized((action.help or "") % (vars(action) | {"prog": parser.prog}))
            yield name, list(action.option_strings), value, help_, list(action.choices or ())


def _reproduce(arguments: Sequence[str]) -> int:
    from . import reproduce_command

    return OK if reproduce_command.run(arguments, count) else MISSED


def _papers_declared() -> argparse.ArgumentParser:
    parser = Parser("papers", "Lists the papers and their figures.", examples=("", "--json"))
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    return parser


def _papers(arguments: Sequence[str]) -> int:
    from . import papers

    chosen = _papers_declared().parse_args(arguments)
    known = papers.all_papers()
    if chosen.json:
        listing = [
            {
                "paper": p.id,
                "title": p.title,
                "citation": p.citation,
                "figures": [{"figure": f.id, "title": f.title} for f in p.figures],
            }
            for p in known
        ]
        say(json.dumps(listing, indent=2, ensure_ascii=False))
        return OK
    for paper in known:
        figures = [f"     {figure.label:<15} {figure.title}\n" for figure in paper.figures]
        say(f"{paper.id}  {paper.title}\n     {paper.citation}\n{''.join(figures)}")
    return OK


def _fairness(arguments: Sequence[str]) -> int:
    from .suites import command, fairness

    return command.run(fairness.SUITE, arguments, count)


def _bonding(arguments: Sequence[str]) -> int:
    from .suites.bonding import command

    return command.run(arguments, count)


def _bbr_cases(arguments: Sequence[str]) -> int:
    from .suites.bbr import command

    return command.run(arguments, count)


def _evaluate(arguments: Sequence[str]) -> int:
    from .suites.evaluate import command

    return command.run(arguments, count)


def _overlay(arguments: Sequence[str]) -> int:
    from .overlay import command

    return command.run(arguments, count)


def _report(arguments: Sequence[str]) -> int:
    from .report import command

    return command.run(arguments)


_COMMANDS = {
    "reproduce": _reproduce,
    "papers": _papers,
    "fairness": _fairness,
    "bonding": _bonding,
    "bbr-cases": _bbr_cases,
    "evaluate": _evaluate,
    "report": _report,
    "overlay": _overlay,
}
