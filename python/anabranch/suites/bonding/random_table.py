"""The tables of the random topologies, and the figure of their distribution."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ... import plots
from ...plots import Look
from ..tables import Grid, number
from .draws import LEAST_PACKETS, LEAST_ROUND_TRIPS, LEAST_TIME, MOST_PACKETS, MOST_TIME
from .line_text import describe
from .measure import NOT_SLOWER, PAPER, RECOMMENDED, STALL
from .random_draws import LATER, MOST_ACKS, MOST_RETURN, RERUNS, SUM, Distribution, Outcome, kinds
from .topology import buffer_text

LOOKS = {
    PAPER: Look("CMT of paper 001", plots.VERMILION, "-", ""),
    "lowest-rtt": Look("lowest RTT first", plots.SKY, (0, (5.0, 1.5)), ""),
    "ecf": Look("ECF", plots.GREEN, (0, (3.0, 1.0, 1.0, 1.0)), ""),
    RECOMMENDED: Look("recommended", plots.BLUE, "-", ""),
}
_FEW = 10


def legend(found: Distribution) -> str:
    """The text that explains the numbers of the tables."""
    numbers = [outcome.draw.number for outcome in found.outcomes]
    many = f"{found.replicas} runs" if found.replicas > 1 else "one run"
    return (
        f"Seed {found.seed}, draws {numbers[0]} to {numbers[-1]}, {many} of each point. A draw lasts {LEAST_TIME:g} s, "
        f"{LEAST_ROUND_TRIPS} RTTs of its longest path, or the time of {LEAST_PACKETS} packets on its slowest path, "
        f"whichever is longest, but at most {MOST_TIME:g} s or about {MOST_PACKETS} packets. The last three quarters "
        "count. Ratio: throughput over that of the best single path with the recommended options and the same "
        "buffer. Share: throughput over the sum of what each path carries alone. At most: the share that buffer, "
        "delays and return links allow any scheduler. The last row of the sets of options is the ratio that chance "
        "alone makes: the best path alone, over the same run a millisecond earlier."
    )


def grids(found: Distribution) -> Iterator[Grid]:
    """The targets, the sets of options, the kinds of topologies, and the worst draws."""
    yield _targets(found)
    yield _sets(found)
    yield _regret(found)
    yield _kinds(found)
    yield _worst(found)
    if found.stalled:
        yield _stalls(found)


def _targets(found: Distribution) -> Grid:
    share = found.median_share()
    unmeetable = sum(not failure.can_be_met for _, failure in found.failures)
    below = sum(not outcome.sum_can_be_met for outcome in found.outcomes)
    draws = len(found.outcomes)
    average, surely = len(found.slower_on_average), len(found.surely_slower)
    again = f"{average} of them also in the mean of {RERUNS} further runs, {surely} with its whole interval"
    rows = [
        [
            f"ratio of {NOT_SLOWER:g} in every draw", str(draws), "0",
            f"{len(found.slower)} draws below, {again}", _mark(not found.slower),
        ],
        [
            f"median share of {SUM:g}, ample buffer", str(len(found.ample)), f"{below} of all {draws}",
            "no such draw" if share is None else f"median {share:.3f}", _mark(share is None or share >= SUM),
        ],
        [
            f"no stall above {STALL:g} s when a path dies", str(len(found.failures)), str(unmeetable),
            f"{len(found.stalled)} draws above", _mark(not found.stalled),
        ],
        [
            f"acknowledgements at most {MOST_ACKS:.0%} of the data", str(draws), "0",
            _above(found.talkative, [outcome.acks.share for outcome in found.outcomes]), _mark(not found.talkative),
        ],
        [
            f"acknowledgements at most {MOST_RETURN:.0%} of a return link", str(draws), "0",
            _above(found.full_returns, [outcome.acks.of_return for outcome in found.outcomes]),
            _mark(not found.full_returns),
        ],
    ]  # fmt: skip
    return Grid("Targets", ["target", "draws", "no scheduler can", "found", ""], rows)


def _above(missed: Sequence[Outcome], values: Sequence[float]) -> str:
    ranked = sorted(values)
    late = ranked[int(0.95 * len(ranked))]
    spread = f"median {statistics.median(ranked):.1%}, 5 % of draws above {late:.1%}, most {ranked[-1]:.1%}"
    return f"{len(missed)} draws above; {spread}"


def _mark(met: bool) -> str:
    return "✓" if met else "✗"


def _sets(found: Distribution) -> Grid:
    head = ["options", "least ratio", "1 % of draws below", "5 %", "median", f"draws below {NOT_SLOWER:g}"]
    head += ["median share", "with an ample buffer"]
    rows: list[list[str]] = []
    for name in found.sets:
        ample = found.median_share(name)
        shares = [outcome.share(name) for outcome in found.outcomes]
        row = [name, *_spread([outcome.ratio(name).mean for outcome in found.outcomes])]
        rows.append([*row, f"{statistics.median(shares):.3f}", "" if ample is None else f"{ample:.3f}"])
    rows.append(
        [f"the best path alone, {LATER * 1e3:g} ms later", *_spread([o.itself for o in found.outcomes]), "", ""]
    )
    return Grid("All paths together, by options", head, rows)


def _regret(found: Distribution) -> Grid:
    rows: list[list[str]] = []
    for name in found.sets:
        ranked = sorted(outcome.regret(name) for outcome in found.outcomes)
        late = ranked[int(0.95 * len(ranked))]
        mean = number(found.regret(name), 100.0, 1)
        rows.append([name, f"{mean} %", f"{statistics.median(ranked):.1%}", f"{late:.1%}", f"{ranked[-1]:.1%}"])
    head = ["options", "mean, 95 % interval", "median", "5 % of draws above", "most"]
    return Grid("Regret: the share of the bound that the transfer did not carry", head, rows)


def _spread(ratios: Sequence[float]) -> list[str]:
    """The least ratio, three quantiles, and how many are below the target."""
    ranked = sorted(ratios)
    points = [ranked[0], *(ranked[int(part * len(ranked))] for part in (0.01, 0.05)), statistics.median(ranked)]
    below = sum(ratio < NOT_SLOWER for ratio in ranked)
    return [*(f"{point:.3f}" for point in points), f"{below} of {len(ranked)}"]


def _kinds(found: Distribution) -> Grid:
    groups: dict[str, list[Outcome]] = {}
    for outcome in found.outcomes:
        for kind in kinds(outcome):
            groups.setdefault(kind, []).append(outcome)
    rows = [
        [
            kind,
            str(len(some)),
            str(sum(outcome.is_slower for outcome in some)),
            f"{min(outcome.ratio().mean for outcome in some):.3f}",
            f"{statistics.median(outcome.share() for outcome in some):.3f}",
        ]
        for kind, some in sorted(groups.items())
    ]
    head = ["topologies", "draws", f"ratio below {NOT_SLOWER:g}", "least ratio", "median share"]
    return Grid("The recommended options, by kind of topology", head, rows)


def _worst(found: Distribution) -> Grid:
    head = [
        "ratio",
        "in further runs",
        "share",
        "at most",
        "buffer",
        "paths",
        "carried alone [Mbit/s]",
        "together",
        "command",
    ]
    return Grid("The draws with the least ratio", head, [_row(outcome) for outcome in found.worst(_FEW)])


def _cross(missed: bool) -> str:
    return " ✗" if missed else ""


def _row(outcome: Outcome) -> list[str]:
    together = statistics.fmean(outcome.together[RECOMMENDED])
    possible = outcome.bound.bps / max(sum(outcome.alone), 1.0)
    limit = f"{possible:.2f} ({outcome.bound.limit})"
    return [
        f"{outcome.ratio().mean:.3f}{_cross(outcome.is_slower)}",
        "" if outcome.rerun is None else number(outcome.rerun, digits=3) + _cross(outcome.is_slower_on_average),
        f"{outcome.share():.3f}",
        limit,
        buffer_text(outcome.draw.buffer),
        "; ".join(map(describe, outcome.draw.lines)),
        " + ".join(f"{one / 1e6:.2f}" for one in outcome.alone),
        f"{together / 1e6:.2f}",
        f"`{outcome.draw.command}`",
    ]


def _stalls(found: Distribution) -> Grid:
    stalled = [(outcome, failure) for outcome, failure in found.failures if outcome in found.stalled]
    stalled.sort(key=lambda pair: -pair[1].stall)
    rows = [
        [
            f"{failure.stall:.2f} ✗",
            f"{failure.floor:.2f}",
            f"{failure.survivor:.2f}",
            f"{failure.otherwise:.2f}",
            buffer_text(outcome.draw.buffer),
            "; ".join(map(describe, outcome.draw.lines)),
            f"`{outcome.draw.command}`",
        ]
        for outcome, failure in stalled[:_FEW]
    ]
    head = ["stall [s]", "least possible", "best other path alone", "without failure", "buffer", "paths", "command"]
    return Grid("The longest stalls when a path dies", head, rows)


def figure(found: Distribution) -> Figure:
    """The cumulative distribution of ratios over all draws, and of shares over those with an ample buffer."""
    drawn = plots.new_figure(plots.PAGE_WIDTH, 2.9)
    left, right = drawn.subplots(1, 2)
    for name in found.sets:
        look = LOOKS.get(name) or Look(name, plots.PINK, (0, (2.0, 1.0)), "")
        cumulative(left, look, [outcome.ratio(name).mean for outcome in found.outcomes])
        cumulative(right, look, [outcome.share(name) for outcome in found.ample])
    for axes, target in ((left, NOT_SLOWER), (right, SUM)):
        axes.axvline(target, color="0.5", linewidth=0.8, linestyle=":")
        axes.set_ylim(0, 1)
    left.set(xlabel="throughput / best single path", ylabel="share of the draws", xlim=(0, 3))
    right.set(xlabel="throughput / sum of the paths alone", xlim=(0, 1.3))
    left.set_title(f"{len(found.outcomes)} draws", fontsize=7)
    right.set_title(f"{len(found.ample)} draws with an ample buffer", fontsize=7)
    drawn.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False, fontsize=7)
    plots.foot(drawn, found.seed, found.replicas, "dotted: target", shown="mean")
    return drawn


def cumulative(axes: Axes, look: Look, values: Sequence[float]) -> None:
    """Draws the share of values up to each point as steps, as far as the right edge of the axes."""
    ordered = sorted(values)
    heights = [(rank + 1) / len(ordered) for rank in range(len(ordered))]
    axes.step(
        [0.0, *ordered, 1e9], [0.0, *heights, 1.0], where="post", label=look.label, color=look.color,
        linestyle=look.line, linewidth=1.1,
    )  # fmt: skip
