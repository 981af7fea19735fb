"""The picture of docs/tunnel.md: `python suites/tunnel/picture.py results.json docs/figures/tunnel.png`.

Draws what `measure.py --json results.json` measured: goodput, and latency without load and beside the upload. Vertical
lines reach from the least to the largest goodput.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from anabranch import plots

COLORS = {
    "best uplink alone, CUBIC": "0.6",
    "MPTCP, CUBIC": plots.VERMILION,
    "tunnel, CUBIC inside": plots.BLUE,
    "tunnel, BBR inside": plots.SKY,
}
# Height in ms of the axis of latency. Larger values are written above their bars.
MOST_MS = 160


def draw(rows: list[dict[str, Any]]) -> Figure:
    """A panel of goodput and one of latency, with a group of bars for each scene."""
    figure = plots.new_figure(6.4, 4.2)
    goodput, latency = figure.subplots(2, 1, sharex=True)
    scenes = list(dict.fromkeys(row["scene"] for row in rows))
    width = 0.8 / len(COLORS)
    for n, (by, color) in enumerate(COLORS.items()):
        of = {row["scene"]: row for row in rows if row["by"] == by}
        places = [place + (n - (len(COLORS) - 1) / 2) * width for place in range(len(scenes))]
        goodput.bar(places, [of[scene]["mbps"] for scene in scenes], width * 0.92, color=color, label=by)
        least, most = ([of[scene][end] for scene in scenes] for end in ("least_mbps", "most_mbps"))
        goodput.vlines(places, least, most, color="black", linewidth=0.8)
        loaded = [min(of[scene]["loaded_ms"], MOST_MS) for scene in scenes]
        latency.bar(places, loaded, width * 0.92, color=color)
        for place, scene in zip(places, scenes, strict=True):
            latency.hlines(of[scene]["idle_ms"], place - width / 2, place + width / 2, color="black", linewidth=1)
            if of[scene]["loaded_ms"] > MOST_MS:
                text = f"{of[scene]['loaded_ms']:.0f}"
                latency.text(place, MOST_MS, text, ha="center", va="bottom", fontsize=6)
    goodput.set(ylabel="goodput [Mbit/s]")
    goodput.legend(loc="upper right", fontsize=6, frameon=False, ncols=2)
    latency.set(ylabel="p95 RTT [ms]", ylim=(0, MOST_MS * 1.08))
    latency.set_title("under load; black lines: idle", loc="left", fontsize=7)
    latency.set_xticks(range(len(scenes)), [scene.replace(", ", ",\n") for scene in scenes], fontsize=6)
    latency.set_xlabel("uplinks [Mbit/s]")
    return figure


def main(results: Path, file: Path) -> None:
    """Reads the results and writes the picture."""
    with plots.style():
        plots.save_small(draw(json.loads(results.read_text(encoding="utf-8"))), file, dpi=130)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
