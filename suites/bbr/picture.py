"""The picture in docs/controls/bbr.md: `python suites/bbr/picture.py docs/controls/bbr-states.png`.

The model of BBR over TCP on the network of the cases, with its states as shades.
"""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure

from anabranch import plots, run
from anabranch.suites.bbr.trace import Network, Trace

HERE = Path(__file__).parent
UNTIL = 7.5
SHADES = {"up": plots.VERMILION, "down": plots.BLUE, "refill": plots.GREEN, "probe-rtt": "black", "startup": "gold"}


def main(target: str) -> None:
    """Draws flight and max_bw over time."""
    trace = Trace(run(HERE / "network.toml"), Network(50e6, 0.02))
    with plots.style():
        figure = Figure(figsize=(7, 3.4))
        above, below = figure.subplots(2, 1, sharex=True)
        for axes, quantity, scale, label in (
            (above, "max_bw", 1e-6, "max_bw [Mbit/s]"),
            (below, "flight", 1e-3, "flight size [kB]"),
        ):
            points = list(trace.changes(quantity, 0.03, UNTIL))
            axes.step(
                [t for t, _ in points], [v * scale for _, v in points], where="post", color="black", linewidth=0.8
            )
            axes.set_ylabel(label)
            seen: set[str] = set()
            for visit in trace.visits:
                if visit.state in SHADES and visit.begin < UNTIL:
                    name = None if visit.state in seen else visit.state.upper()
                    seen.add(visit.state)
                    shade = SHADES[visit.state]
                    axes.axvspan(visit.begin, min(visit.end, UNTIL), color=shade, alpha=0.35, linewidth=0, label=name)
            axes.set(xlim=(0, UNTIL))
            axes.set_ylim(bottom=0)
        above.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=5, frameon=False)
        below.set_xlabel("time [s]")
        plots.save_small(figure, Path(target), dpi=150)


if __name__ == "__main__":
    main(sys.argv[1])
