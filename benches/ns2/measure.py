#!/usr/bin/env python3
"""What a packet-hop costs in ns-2: one JSON line for each case, so that ours can stand beside it.

Each case runs three times with one seed; the run of median cost is reported: CPU time (user and system) and peak
memory of the ns-2 process. Packet-hops are counted by a monitor on every link in a run of their own, since monitors
cost 4 to 11 %; only runs of `window` do not repeat (see README.md), so that each counts its own.

Debian's package is called ns2, its command ns.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = ("single", "cmt", "many", "window")
UNREPEATABLE = ("window",)
RUNS = 3
NOT_INSTALLED = 3


def run(case: str, seed: int, counting: bool) -> tuple[str, resource.struct_rusage]:
    """Output and resource usage of one run."""
    command = ["ns", str(HERE / f"{case}.tcl"), str(seed), str(int(counting))]
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"ns-2 failed on {case}: exit code {child.returncode}")
        output.seek(0)
        return output.read(), usage


def cost(case: str, hops: int, usage: resource.struct_rusage) -> dict[str, str | int | float]:
    """One run's result."""
    cpu = usage.ru_utime + usage.ru_stime
    return {
        "case": case,
        "packet_hops": hops,
        "cpu_seconds": round(cpu, 3),
        "ns_per_hop": round(cpu * 1e9 / hops, 1),
        "peak_kib": usage.ru_maxrss,
    }


def measure(case: str, seed: int) -> dict[str, str | int | float]:
    """The run of median cost."""
    if case in UNREPEATABLE:
        counted = [run(case, seed, counting=True) for _ in range(RUNS)]
        results = [cost(case, int(hops), usage) for hops, usage in counted]
    else:
        hops = int(run(case, seed, counting=True)[0])
        results = [cost(case, hops, run(case, seed, counting=False)[1]) for _ in range(RUNS)]
    return sorted(results, key=lambda result: result["ns_per_hop"])[RUNS // 2]


def main() -> int:
    """Measures the cases named on the command line."""
    parser = argparse.ArgumentParser(description="Cost of a packet-hop in ns-2.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"{', '.join(CASES)} (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the start times (default: 1)")
    arguments = parser.parse_args()
    for case in arguments.cases:
        if case not in CASES:
            parser.error(f"unknown case {case!r}: expected {', '.join(CASES)}")
    if shutil.which("ns") is None:
        print("ns2 is not installed", file=sys.stderr)
        return NOT_INSTALLED
    for case in arguments.cases or CASES:
        print(json.dumps(measure(case, arguments.seed)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
