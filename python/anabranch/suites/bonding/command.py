"""The command ``anabranch bonding``: the suite, random topologies, or the lines of the user."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from .. import command
from ..command import Experiment
from . import SUITE, random_draws, random_table
from .random_draws import Distribution

OK, MISSED = 0, 3


def run(arguments: Sequence[str], count: Callable[[str], int]) -> int:
    """Runs what the arguments ask for, and returns 0, or 3 if a target was missed."""
    parser = _parser(count)
    given = parser.parse_args(arguments)
    if given.draw is not None and given.random is None:
        parser.error("--draw needs --random")
    if given.random is not None:
        return MISSED if command.execute(_random(given), given, 1).is_missed else OK
    command.execute(SUITE.experiment(given.choice), given, SUITE.replicas)
    return OK


def _random(given: argparse.Namespace) -> Experiment[Distribution]:
    seed = 1 if given.seed is None else given.seed
    first = 1 if given.draw is None else given.draw
    numbers = range(first, first + given.random)
    return Experiment(
        name="bonding-random",
        unit="draw",
        measure=lambda running, report: random_draws.measure(seed, numbers, running, report),
        legend=random_table.legend,
        grids=random_table.grids,
        draw=random_table.figure,
        mark="random",
    )


def _parser(count: Callable[[str], int]) -> argparse.ArgumentParser:
    parser = command.parser(SUITE, count)
    other = parser.add_argument_group("instead of the suite").add_mutually_exclusive_group()
    other.add_argument("--random", type=count, metavar="COUNT", help="run random topologies, which --seed determines")
    parser.add_argument("--draw", type=count, metavar="N", help="with --random: the first draw to run (default: 1)")
    return parser
