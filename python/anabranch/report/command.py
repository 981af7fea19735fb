"""``anabranch report``: one HTML file about a run, a sweep or reproduced papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..console import say
from ..parser import Parser, seconds
from ..result import Result
from ..shipped import UsageError
from .differences import as_text
from .source import Choice, write


def run(arguments: Sequence[str]) -> int:
    """Runs the command."""
    chosen = declared().parse_args(arguments)
    if chosen.start is not None and chosen.end is not None and chosen.end <= chosen.start:
        raise UsageError(f"--to {chosen.end:g} is not after --from {chosen.start:g}")
    choice = Choice(chosen.flow or None, chosen.start, chosen.end, tuple(chosen.set), chosen.compare)
    path = write(chosen.source, chosen.out, choice)
    if not chosen.quiet:
        if chosen.compare is not None:
            say(as_text(Result.read(chosen.source), chosen.compare) + "\n")
        say(f"{path} ({path.stat().st_size / 1e6:.1f} MB): open it in a browser; it needs no network")
    return 0


def declared() -> Parser:
    """The options of the command."""
    parser = Parser(
        "report",
        "Writes one HTML file, which needs no network, about a run, a sweep or reproduced papers.",
        epilog="A scenario is run once, with probes of everything that the report shows; its own probes are left out.",
        examples=(
            "two-paths",
            "results -o results.html --flow transfer",
            "out/sweep --compare control=lia",
            "mine.toml --set link.slow.loss='1 %'",
        ),
    )
    add = parser.add_argument
    add("source", metavar="RUN|SWEEP|REPRODUCE|SCENARIO", help="folder of results, or a scenario (file or name)")
    add(
        "--out",
        "-o",
        type=Path,
        default=Path("report.html"),
        metavar="FILE",
        help="the file; its folder is made if it does not exist (default: %(default)s)",
    )
    add(
        "--flow",
        action="append",
        default=[],
        metavar="NAME",
        help="show this flow; may be repeated (default: the first 6)",
    )
    add("--from", dest="start", type=seconds, metavar="S", help="show the run from this second on")
    add("--to", dest="end", type=seconds, metavar="S", help="show the run up to this second")
    add(
        "--set", action="append", default=[], metavar="KEY=VALUE",
        help="another value for a key of the scenario, or one value of an axis of variation; may be repeated",
    )  # fmt: skip
    add(
        "--compare", metavar="AXIS[=VALUE]",
        help="compare the variants of this axis of a sweep with this value of it (default: the first one), in pairs of "
        "the same replica; also printed (default: each axis, in the file only)",
    )  # fmt: skip
    add("--quiet", "-q", action="store_true", help="print errors only")
    return parser
