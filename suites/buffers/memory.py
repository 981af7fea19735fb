"""How much memory buffers that follow the transfer take: `python suites/buffers/memory.py [--seed N --draws N]`.

Prints, for the two lines of `anabranch bonding` and for random draws of it, the size of the receive buffer with `auto`,
the most bytes in it, and both over the smallest fixed size that carries 95 % of what the best fixed size carries.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from typing import Any

import polars as pl

from anabranch import sweep
from anabranch.suites import running as suites
from anabranch.suites.bonding.draws import draw
from anabranch.suites.bonding.topology import FLOW, scenario

SIZES = [1 << power for power in range(16, 27)]
"""Fixed sizes in bytes."""
ENOUGH = 0.95
"""Share of the throughput of the best fixed size that a size has to carry to be large enough."""
EVERY = "5 ms"


def _run(made: dict[str, Any]) -> tuple[list[float], pl.DataFrame]:
    """The throughput of each run, and the series of the probes."""
    with tempfile.TemporaryDirectory(prefix="anabranch-") as out:
        result = sweep(made, replicas=1, out=out)
    rows = result.scalars.filter(pl.col("path").is_null(), flow=FLOW, quantity="throughput_bps")
    return rows.sort("run")["value"].to_list(), result.series


def _with(made: dict[str, Any], buffer: Any, **more: Any) -> dict[str, Any]:
    options = {"profile": "recommended", "receive_buffer": buffer, "send_buffer": "auto"}
    return {**made, "sctp": {"options": options}, "flow": [{**made["flow"][0], "sctp": "options"}], **more}


def taken(made: dict[str, Any]) -> tuple[float, list[int]]:
    """With `auto`: the throughput in bit/s, the last size of the receive buffer, and the most bytes in it.

    The last number is that of the second half of the run, and too large if the buffer still grew there.
    """
    probes = [{"quantity": quantity, "flow": FLOW, "every": EVERY} for quantity in ("peer-rwnd", "flight")]
    (rate,), series = _run(_with(made, "auto", probe=probes))
    # The window of the peer and the bytes in flight add up to the buffer less the bytes in it. At the end nothing is
    # in it, so that the largest sum is its size.
    free = series.group_by("time").agg(pl.col("value").sum()).sort("time")["value"].to_list()
    size = int(max(free))
    return rate, [size, size - int(min(free[len(free) // 2 :]))]


def needed(made: dict[str, Any]) -> tuple[float, float]:
    """The throughput of the best fixed size in bit/s, and the least size that is large enough, between two sizes."""
    texts = [f"{size} B" for size in SIZES]
    rates, _ = _run(_with(made, {"vary": texts, "name": "buffer"}))
    enough = ENOUGH * max(rates)
    first = next(number for number, rate in enumerate(rates) if rate >= enough)
    if first == 0:
        return max(rates), float(SIZES[0])
    low, high = rates[first - 1], rates[first]
    return max(rates), SIZES[first] / 2 ** ((high - enough) / (high - low))


def report(name: str, made: dict[str, Any]) -> list[float]:
    """Prints a row. Returns the sizes that `taken` names, over what is needed."""
    (rate, sizes), (best, need) = taken(made), needed(made)
    ratios = [size / need for size in sizes]
    texts = (f"{size >> 10} KiB = {ratio:.2f}" for size, ratio in zip(sizes, ratios, strict=True))
    print(f"{name}: {rate / 1e6:.1f} Mbit/s = {rate / best:.3f}, needs {need / 1024:.0f} KiB;", *texts, flush=True)
    return ratios


def two_lines() -> dict[str, Any]:
    """50 Mbit/s with 20 ms and 10 Mbit/s with 100 ms."""
    made = suites.read("bonding", "bonding.toml")
    links = [{**link, "loss": 0.0} for link in made["link"]]
    return {**made, "link": links, "flow": [{**made["flow"][0], "name": FLOW}]}


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a row for the two lines, and for each draw, and the median."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=13001)
    parser.add_argument("--draws", type=int, default=20)
    given = parser.parse_args(arguments)
    print("case: throughput, over that of the best fixed size; needed size; size with auto, most held")
    report("50 + 10 Mbit/s", two_lines())
    found = []
    for number in range(given.draws):
        one = draw(given.seed, number)
        made = scenario(one.lines, [one.buffer], one.timing, ["recommended"], seed=one.root_seed, title="Draw")
        found.append(report(f"draw {number}", made))
    if found:
        print("median:", *(f"{statistics.median(ratios):.2f}" for ratios in zip(*found, strict=True)))


if __name__ == "__main__":
    main()
