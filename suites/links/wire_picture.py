"""A picture of docs/links.md: `python suites/links/wire_picture.py docs/figures/wire.png` (`make link-picture`).

It shows the rate behind a policer and behind a shaper, the delay of each packet with jitter, and which packets are
lost.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from captures import Packet, delays, read
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch import plots, run

SCENARIO = Path(__file__).with_name("wire.toml")
BUCKET = {"rate": "20 Mbit/s", "burst": "50 kB"}
JITTER = {"in order": "5 ms", "reorder": {"up_to": "5 ms", "reorder": True}}
LOSSES = {"loss = 0.05": 0.05, "p = 0.01, r = 0.2": {"p": 0.01, "r": 0.2}}
DELAY = 0.020
"""The delay of the link without jitter, in seconds."""
LONGEST = 0.026
"""The longest delay with jitter, in seconds."""
BIN = 0.01
UNTIL = 0.8
SHOWN = 60
"""Number of packets shown with jitter."""
LONG = 1428
"""Length in bytes of a packet of the burst; no other packet has this length."""


def pass_link(**keys: Any) -> tuple[list[Packet], list[Packet]]:
    """Runs the scenario with these keys of the link. Returns the packets before and those behind it."""
    with tempfile.TemporaryDirectory(prefix="anabranch-") as out:
        run(SCENARIO, set={f"link.x.{key}": value for key, value in keys.items()}, out=out)
        return read(Path(out, "before.pcapng")), read(Path(out, "behind.pcapng"))


def _delays(**keys: Any) -> list[float | None]:
    """Returns the delay of each packet of the steady flow, with these keys of the link."""
    before, behind = ([packet for packet in packets if packet.length != LONG] for packets in pass_link(**keys))
    return delays(before, behind, LONGEST)


def _rates(packets: list[Packet], earlier: float) -> list[float]:
    """Returns the rate in each bin in Mbit/s. A packet belongs to the bin at its time minus ``earlier`` seconds."""
    bits = [0] * round(UNTIL / BIN)
    for packet in packets:
        if 0 <= (place := int((packet.time - earlier) / BIN)) < len(bits):
            bits[place] += 8 * packet.length
    return [total / BIN / 1e6 for total in bits]


def _buckets(axes: Axes) -> None:
    offered, policed = pass_link(policer=BUCKET)
    _, shaped = pass_link(shaper=BUCKET)
    looks = [
        (offered, 0.0, plots.Look("sent", "0.7", "-")),
        (policed, DELAY, plots.Look("behind a policer", plots.VERMILION, "-")),
        (shaped, DELAY, plots.Look("behind a shaper", plots.BLUE, "-")),
    ]
    times = [place * BIN for place in range(round(UNTIL / BIN))]
    for packets, earlier, look in looks:
        plots.steps(axes, times, _rates(packets, earlier), until=UNTIL, look=look)
    axes.set(xlabel="time [s]", ylabel="rate [Mbit/s]", xlim=(0, UNTIL), ylim=(0, 75))
    axes.set_title("buckets of 20 Mbit/s and 50 kB", loc="left", fontsize=8)
    axes.legend(loc="upper right", frameon=False, fontsize=7)


def _jitter(axes: Axes) -> None:
    for (name, jitter), (color, marker) in zip(
        JITTER.items(), ((plots.BLUE, "o"), (plots.VERMILION, "x")), strict=True
    ):
        found = _delays(jitter=jitter)[:SHOWN]
        values = [1e3 * delay for delay in found if delay is not None]
        axes.plot(values, color=color, marker=marker, markersize=3, linestyle="-", linewidth=0.5, label=name)
    axes.set(xlabel="packet, one in each millisecond", ylabel="delay [ms]", xlim=(0, SHOWN - 1), ylim=(19.5, 26.5))
    axes.set_title("jitter of 5 ms", loc="left", fontsize=8)
    axes.legend(loc="upper right", ncols=2, frameon=False, fontsize=7)


def _losses(axes: Axes) -> None:
    for row, (name, loss) in enumerate(LOSSES.items()):
        lost = [number for number, delay in enumerate(_delays(loss=loss)) if delay is None]
        axes.vlines(lost, row - 0.35, row + 0.35, color=plots.VERMILION, linewidth=0.7)
        print(f"{name}: {len(lost)} packets lost")
    axes.set(xlabel="packet", xlim=(0, 2500), ylim=(len(LOSSES) - 0.5, -0.5))
    axes.set_yticks(range(len(LOSSES)), list(LOSSES), fontsize=7)
    axes.grid(visible=False)
    axes.set_title("lost packets", loc="left", fontsize=8)


def draw() -> Figure:
    """Buckets, jitter and losses, one below the other."""
    figure = plots.new_figure(5.2, 5.0)
    buckets, jitter, losses = figure.subplots(3, 1, height_ratios=[3, 3, 1.5])
    _buckets(buckets)
    _jitter(jitter)
    _losses(losses)
    return figure


if __name__ == "__main__":
    with plots.style():
        plots.save_small(draw(), Path(sys.argv[1]), dpi=130)
