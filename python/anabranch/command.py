"""The command ``anabranch``: ``reproduce``, ``papers``, ``report`` and the suites are in Python, the others in Rust.

Each subcommand imports what it needs when it runs: plotting and data frames take half a second to import.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from . import _core, shipped

OK, FAILED, USAGE, MISSED, STOPPED = 0, 1, 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code.

    0 success, 1 a run failed, 2 wrong arguments, 3 a number was missed or left OPEN without a reason, 130 stopped.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    # The Rust code finds shipped scenarios in this folder.
    os.environ.setdefault("ANABRANCH_SCENARIOS", str(shipped.folder("scenarios")))
    try:
        command = _COMMANDS.get(arguments[0]) if arguments else None
        return command(arguments[1:]) if command else _rust(arguments)
    except shipped.UsageError as error:
        print(f"anabranch: {error}", file=sys.stderr)
        return USAGE
    except (_core.ScenarioError, _core.SimulationError, OSError) as error:
        print(f"anabranch: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("anabranch: stopped; finished runs are kept, and the same command reuses them", file=sys.stderr)
        return STOPPED


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _rust(arguments: Sequence[str]) -> int:
    with ExitStack() as stack:

        def connect(address: str) -> object:
            from . import cluster

            return stack.enter_context(cluster.cluster_work(address))

        return _core.cli(arguments, connect)


def _reproduce(arguments: Sequence[str]) -> int:
    from . import reproduce_command

    return OK if reproduce_command.run(arguments, _count) else MISSED


def _papers(arguments: Sequence[str]) -> int:
    from . import papers

    parser = argparse.ArgumentParser(prog="anabranch papers", description="List the papers and their figures.")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    chosen = parser.parse_args(arguments)
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
        print(json.dumps(listing, indent=2, ensure_ascii=False))
        return OK
    for paper in known:
        print(f"{paper.id}  {paper.title}\n     {paper.citation}")
        for figure in paper.figures:
            print(f"     {figure.label:<15} {figure.title}")
        print()
    return OK


def _fairness(arguments: Sequence[str]) -> int:
    from .suites import command, fairness

    return command.run(fairness.SUITE, arguments, _count)


def _bonding(arguments: Sequence[str]) -> int:
    from .suites.bonding import command

    return command.run(arguments, _count)


def _overlay(arguments: Sequence[str]) -> int:
    from .overlay import command

    return command.run(arguments, _count)


def _report(arguments: Sequence[str]) -> int:
    from .report import command

    return command.run(arguments)


_COMMANDS = {
    "reproduce": _reproduce,
    "papers": _papers,
    "fairness": _fairness,
    "bonding": _bonding,
    "report": _report,
    "overlay": _overlay,
}
