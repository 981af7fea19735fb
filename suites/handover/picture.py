"""The picture of docs/addresses.md: `python suites/handover/picture.py docs/figures/handover.png`.

Runs `scenarios/handover.toml` with the defaults of RFC 9260, which use one path at a time, and with
`profile = "recommended"`, each without ASCONF and with it.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from anabranch import plots, sweep

SCENARIO = Path(__file__).parents[2] / "scenarios/handover.toml"
LOOKS = {"wifi": plots.Look("wifi", plots.VERMILION, "-"), "mobile": plots.Look("mobile", plots.BLUE, "-")}
MODES = {
    "RFC 9260, one path at a time": ("standard", False),
    "RFC 9260 with ASCONF": ("standard", True),
    "recommended without ASCONF": ("recommended", False),
    "recommended": ("recommended", True),
}
FROM, TO = 8.0, 30.0


def throughput(profile: str, *, asconf: bool) -> pl.DataFrame:
    """Throughput of both links towards the laptop, in time."""
    scenario: dict[str, Any] = tomllib.loads(SCENARIO.read_text(encoding="utf-8"))
    scenario["sctp"]["moving"] = {"profile": profile, "auth": asconf, "asconf": asconf}
    with tempfile.TemporaryDirectory(prefix="anabranch-") as out:
        return sweep(scenario, replicas=1, out=out).series


def draw() -> Figure:
    """A row for each mode."""
    figure = plots.new_figure(5.2, 4.4)
    rows = figure.subplots(len(MODES), 1, sharex=True, sharey=True)
    for axes, (name, (profile, asconf)) in zip(rows, MODES.items(), strict=True):
        series = throughput(profile, asconf=asconf)
        for link, look in LOOKS.items():
            points = series.filter(pl.col("flow") == f"link:{link}").sort("time")
            plots.steps(axes, points["time"].to_list(), (points["value"] / 1e6).to_list(), until=TO, look=look)
        axes.axvspan(10, 20, color="0.9", zorder=0)
        axes.set(ylabel="Mbit/s", xlim=(FROM, TO))
        axes.set_ylim(bottom=0)
        axes.set_title(name, loc="left", fontsize=7)
    rows[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
    rows[-1].set_xlabel("time [s]")
    return figure


def main(file: Path) -> None:
    """Runs all modes and writes the picture."""
    with plots.style():
        plots.save_small(draw(), file, dpi=130)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
