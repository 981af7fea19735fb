"""The picture of docs/buffers.md: `python suites/buffers/picture.py docs/figures/buffers.png`.

Transfers with the recommended options over three networks, with fixed buffers from 64 KiB to 64 MiB and with buffers
that follow the transfer.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from anabranch import plots, sweep

NETWORKS = {
    "900 Mbit/s, 172 ms": ([("900 Mbit/s", "86 ms")], plots.VERMILION),
    "50 Mbit/s, 20 ms + 10 Mbit/s, 100 ms": ([("50 Mbit/s", "10 ms"), ("10 Mbit/s", "50 ms")], plots.BLUE),
    "100 Mbit/s, 20 ms + 100 Mbit/s, 20 ms": ([("100 Mbit/s", "10 ms"), ("100 Mbit/s", "10 ms")], plots.GREEN),
}
SIZES = [1 << power for power in range(16, 27)]
"""Fixed sizes in bytes."""
FROM, TO = 5.0, 20.0


def throughputs(lines: list[tuple[str, str]], sizes: list[str]) -> list[float]:
    """Throughput in Mbit/s with each size of both buffers."""
    buffer = {"vary": sizes, "name": "buffer"}
    scenario: dict[str, Any] = {
        "title": "Buffers",
        "seed": 1,
        "node": [{"name": "client", "jitter": "20 us"}, {"name": "server", "jitter": "20 us"}],
        "link": [
            {
                "name": f"line{number}",
                "between": ["client", "server"],
                "net_id": number,
                "rate": rate,
                "delay": delay,
                "queue": {"kind": "drop-tail", "delay": "50 ms"},
            }
            for number, (rate, delay) in enumerate(lines, 1)
        ],
        "sctp": {"options": {"profile": "recommended", "receive_buffer": buffer, "send_buffer": "128 MiB"}},
        "flow": [
            {
                "name": "transfer",
                "client": "client",
                "server": "server",
                "sctp": "options",
                "reset_time": f"{FROM} s",
                "stop_time": f"{TO} s",
                "frame_rate": "0 Hz",
            }
        ],
    }
    if sizes == ["auto"]:
        scenario["sctp"]["options"].update(receive_buffer="auto", send_buffer="auto")
    with tempfile.TemporaryDirectory(prefix="anabranch-") as out:
        found = sweep(scenario, replicas=1, out=out).scalars
    rows = found.filter(pl.col("path").is_null(), flow="transfer", quantity="throughput_bps")
    return [value / 1e6 for value in rows.sort("run")["value"].to_list()]


def draw() -> Figure:
    """Throughput over the size of fixed buffers, as a share of that with `auto`."""
    figure = plots.new_figure(4.6, 2.8)
    axes = figure.subplots()
    texts = [f"{size} B" for size in SIZES]
    for name, (lines, colour) in NETWORKS.items():
        fixed, (auto,) = throughputs(lines, texts), throughputs(lines, ["auto"])
        print(f"{name}: auto {auto:.1f} Mbit/s; fixed " + ", ".join(f"{value:.1f}" for value in fixed))
        axes.plot(SIZES, [value / auto for value in fixed], color=colour, marker="o", markersize=3, label=name)
    axes.axhline(1, color="0.4", linewidth=0.8, linestyle=":")
    axes.annotate("auto", (SIZES[0], 1), (0, 2), textcoords="offset points", fontsize=7)
    axes.set_xscale("log", base=2)
    axes.set_xticks(SIZES[::2], ["64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB", "64 MiB"])
    axes.set(xlabel="fixed receive buffer", ylabel="throughput, share of that with auto", ylim=(0, None))
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    return figure


def main(file: Path) -> None:
    """Runs all transfers and writes the picture."""
    with plots.style():
        plots.save_small(draw(), file, dpi=130)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
