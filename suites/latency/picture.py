"""Latency under load over two emulated queues: `make latency-picture` (Linux, root, two minutes).

Draws the round-trip times of probes beside the load, and writes the results of both measurements to a folder.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from anabranch import Result, plots

LINK = """
node = [{ name = "client" }, { name = "server" }]
host = [
    { name = "client", real = { namespace = "client" } },
    { name = "server", real = { namespace = "server", addresses = "10.1.0.2/16" } },
]
[[link]]
between = ["client", "server"]
net_id = 1
rate = "20 Mbit/s"
delay = "10 ms"
"""
QUEUES = {"drop-tail, 200 ms": '{ kind = "drop-tail", delay = "200 ms" }', "FQ-CoDel": '{ kind = "fq-codel" }'}
COLORS = {"drop-tail, 200 ms": plots.VERMILION, "FQ-CoDel": plots.BLUE}


def inside(host: str) -> list[str]:
    """The beginning of a command that runs at a host of the emulated network."""
    return ["nsenter", f"--net=/run/netns/{host}"]


def run(program: str, queue: str, folder: Path) -> Result:
    """Measures over a link with this queue, and prints what the command says."""
    folder.mkdir(parents=True, exist_ok=True)
    scenario = folder / "link.toml"
    scenario.write_text(f"{LINK}queue = {queue}\n", encoding="utf-8")
    with subprocess.Popen([program, "emulate", scenario], stderr=subprocess.PIPE, text=True) as emulator:
        assert emulator.stderr is not None
        next(line for line in emulator.stderr if "ready" in line)
        serve = [*inside("server"), program, "measure", "-s", "--local", "10.1.0.2"]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            assert server.stdout is not None
            server.stdout.readline()
            client = [*inside("client"), program, "measure", "10.1.0.2", "--latency", "-i", "0"]
            subprocess.run([*client, "--out", str(folder)], check=True)
            server.terminate()
        emulator.terminate()
    return Result.read(folder)


def draw(results: dict[str, Result]) -> Figure:
    """The round-trip times of the path over time, with the phases shaded."""
    figure = plots.new_figure(5.2, 2.2)
    axes = figure.subplots()
    for name, result in results.items():
        probes = result.series.filter(pl.col("flow") == "probe:path")
        axes.plot(probes["time"], probes["value"] * 1e3, ".", markersize=2.5, color=COLORS[name], label=name)
    phases = next(iter(results.values())).manifest["latency"]
    for name in ("idle", "down", "up", "both"):
        left, right = phases[name]["from_s"], phases[name]["to_s"]
        axes.axvspan(left, right, color="0.94", zorder=0)
        axes.text((left + right) / 2, 252, name, ha="center", fontsize=7)
    axes.set(xlabel="time [s]", ylabel="RTT of probes [ms]", xlim=(0, phases["both"]["to_s"] + 1), ylim=(0, 270))
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
    return figure


def main(program: str, folder: Path, picture: Path) -> None:
    """Measures over both queues, and writes the picture."""
    # `ip netns` keeps its names there: the names of this run end with it.
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
    results = {name: run(program, queue, folder / name.split(",")[0].lower()) for name, queue in QUEUES.items()}
    with plots.style():
        plots.save_small(draw(results), picture, dpi=130)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
