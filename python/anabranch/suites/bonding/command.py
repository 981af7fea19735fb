"""The command ``anabranch bonding``: the suite, random topologies, or the lines of the user."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from .. import command
from ..command import Experiment
from ..running import SuiteError
from . import SUITE, kinds, line_text, measure, own_lines, own_table, random_draws, random_table
from .kinds import table as kinds_table
from .kinds.kind import Kind
from .own_lines import Gain
from .random_draws import Distribution

OK, MISSED = 0, 3
LARGEST_SEED = 1 << 40
"""Seeds of random topologies are below this, since each draw makes a root seed of its own from them."""


def run(arguments: Sequence[str], count: Callable[[str], int]) -> int:
    """Runs what the arguments ask for, and returns 0, or 3 if a target was missed."""
    parser = declared(count)
    given = parser.parse_args(arguments)
    for option in ("draw", "kind", "seeds"):
        if getattr(given, option) is not None and given.random is None:
            parser.error(f"--{option} needs --random")
    if given.choice is not None and given.path is not None:
        parser.error("--options selects sets of options of the suite or of --random, not of --path")
    if given.random is not None:
        kind = None if given.kind is None else kinds.named(given.kind)
        if kind is not None:
            return MISSED if command.execute(_kind(kind, given), given, 1).is_missed else OK
        if given.seeds is not None:
            parser.error("--seeds needs another --kind than `alone`")
        return MISSED if command.execute(_random(given), given, 1).is_missed else OK
    if given.path is not None:
        return MISSED if command.execute(_own(given), given, own_lines.DEFAULT_REPLICAS).is_missed else OK
    command.execute(SUITE.experiment(given.choice), given, SUITE.replicas)
    return OK


def _draws(given: argparse.Namespace) -> tuple[int, range]:
    """The first seed, and the numbers of the draws."""
    seed = 1 if given.seed is None else given.seed
    if not 0 <= seed < LARGEST_SEED:
        raise SuiteError(f"--seed {seed}: expected a seed from 0 to {LARGEST_SEED - 1} for random topologies")
    first = 1 if given.draw is None else given.draw
    return seed, range(first, first + given.random)


def _kind(kind: Kind[Any], given: argparse.Namespace) -> Experiment[kinds.Distribution]:
    first, numbers = _draws(given)
    seeds = range(first, first + (1 if given.seeds is None else given.seeds))
    draws = [(seed, number) for seed in seeds for number in numbers]
    options = kinds.DEFAULT_OPTIONS if given.choice is None else measure.chosen(given.choice, *measure.FOR_DRAWS)
    return Experiment(
        name=f"bonding-{kind.name}" if given.draw is None else f"bonding-{kind.name}-draws",
        unit="draw",
        measure=lambda running, report: kinds.measure(kind, draws, options, running, report),
        legend=kinds_table.legend,
        grids=kinds_table.grids,
        draw=kinds_table.figure,
        parts=len(draws),
        mark=kind.name,
    )


def _random(given: argparse.Namespace) -> Experiment[Distribution]:
    seed, numbers = _draws(given)
    options = random_draws.SETS if given.choice is None else measure.chosen(given.choice, *measure.FOR_DRAWS)
    return Experiment(
        name="bonding-random" if given.draw is None else "bonding-draws",
        unit="draw",
        measure=lambda running, report: random_draws.measure(seed, numbers, running, report, options),
        legend=random_table.legend,
        grids=random_table.grids,
        draw=random_table.figure,
        parts=given.random,
        mark="random",
    )


def _own(given: argparse.Namespace) -> Experiment[Gain]:
    lines = [line_text.read(text) for text in given.path]
    if len(lines) < 2:
        raise SuiteError(f'--path "{given.path[0]}": expected at least two paths; add another --path')
    seed = 1 if given.seed is None else given.seed
    return Experiment(
        name="bonding-paths",
        unit="lines",
        measure=lambda running, report: own_lines.measure(lines, given.path, seed, running, report),
        legend=own_table.legend,
        grids=own_table.grids,
        draw=own_table.figure,
        parts=own_lines.SWEEPS,
    )


def declared(count: Callable[[str], int]) -> argparse.ArgumentParser:
    """The options of the command."""
    parser = command.parser(SUITE, count)
    defaults = (
        f"By default --random runs each point once, --path {own_lines.DEFAULT_REPLICAS} times. Results are in "
        "out/bonding-random, out/bonding-KIND and out/bonding-paths. With --random, --options selects the sets that "
        "run beside the recommended one."
    )
    other = parser.add_argument_group("Instead of the suite", defaults).add_mutually_exclusive_group()
    other.add_argument("--random", type=count, metavar="COUNT", help="run random topologies, which --seed determines")
    example = line_text.EXAMPLE.replace("%", "%%")
    words = f"rate (and that of the way back), RTT, loss; also `jitter 5 ms`, `queue 100 ms`, {line_text.FLAGS}"
    which = f'one of your lines, once for each, such as "{example}": {words}'
    other.add_argument("--path", action="append", metavar="TEXT", help=which)
    words = ", ".join((f"{kinds.ALONE} (the default)", *kinds.KINDS))
    parser.add_argument("--kind", metavar="KIND", help=f"with --random: what is drawn and measured: {words}")
    parser.add_argument("--seeds", type=count, metavar="N",
        help="with --random and --kind: draw so many seeds, from --seed on (default: 1)")  # fmt: skip
    parser.add_argument("--draw", type=count, metavar="N", help="with --random: the first draw to run (default: 1)")
    return parser
