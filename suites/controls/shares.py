"""The shares of BBR beside CUBIC: `python suites/controls/shares.py docs/controls/bbr-share.png [REPLICAS]`.

It prints the table of docs/controls/bbr.md and draws its second picture.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from anabranch import plots, sweep
from anabranch.statistics import summarize

SCENARIO = Path(__file__).with_name("share.toml")
QUEUES = {"25 kB": 0.5, "50 kB": 1.0, "100 kB": 2.0, "200 kB": 4.0, "400 kB": 8.0}
"""The queues of the scenario in bandwidth-delay products."""
LOOKS = {
    "SCTP": plots.Look("BBR over SCTP", plots.VERMILION, "-"),
    "TCP": plots.Look("BBR over TCP", plots.BLUE, (0, (4, 1)), "s"),
}


def shares(scalars: pl.DataFrame) -> pl.DataFrame:
    """Mean share of BBR in the throughput of both flows, by protocol and queue."""
    found = scalars.filter(pl.col("quantity") == "throughput_bps", pl.col("flow").is_in(["bbr", "cubic"]))
    keys = ["run", "queue", "protocol"]
    wide = found.pivot("flow", index=keys, values="value").with_columns(
        value=pl.col("bbr") / (pl.col("bbr") + pl.col("cubic"))
    )
    found = summarize(wide, ["protocol", "queue"])
    return found.with_columns(bdp=pl.col("queue").replace_strict(QUEUES, return_dtype=pl.Float64))


def table(summary: pl.DataFrame) -> str:
    """The rows of the page: percent of the throughput of both flows."""
    rows = ["| queue | " + " | ".join(look.label for look in LOOKS.values()) + " |", "|---|---|---|"]
    for queue, bdp in QUEUES.items():
        of_queue = summary.filter(pl.col("queue") == queue)
        cells = [of_queue.filter(pl.col("protocol") == name).row(0, named=True) for name in LOOKS]
        texts = [f"{100 * cell['mean']:.0f} ± {100 * cell['half_width']:.0f} %" for cell in cells]
        rows.append(f"| {bdp:g} BDP | " + " | ".join(texts) + " |")
    return "\n".join(rows)


def draw(summary: pl.DataFrame, replicas: int) -> Figure:
    """The share over the size of the queue."""
    figure = plots.new_figure(4.2, 2.6)
    axes = figure.subplots()
    plots.curves(axes, summary, x="bdp", series="protocol", looks=LOOKS)
    axes.axhline(0.5, color="0.6", linewidth=0.8, linestyle=(0, (4, 2)))
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(QUEUES.values()), [f"{bdp:g}" for bdp in QUEUES.values()])
    axes.set(xlabel="queue [bandwidth-delay products]", ylabel="share of BBR", ylim=(0, 1))
    plots.foot(figure, 1, replicas)
    return figure


def main(path: Path, replicas: int = 8) -> None:
    """Runs the scenario, prints the table and draws the picture."""
    with tempfile.TemporaryDirectory(prefix="anabranch-") as out:
        summary = shares(sweep(SCENARIO, replicas=replicas, out=out).scalars)
    print(table(summary))
    with plots.style():
        plots.save_small(draw(summary, replicas), path, dpi=130)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
