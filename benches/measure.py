#!/usr/bin/env python3
"""Measures the cost of a packet-hop in ns-2 or ns-3, to compare it with ours; prints one JSON line for each case.

CPU time (user and system) and peak memory are those of the simulator's process. In ns-2 each case runs three times with
one seed, and the run of median cost is reported. A separate run counts the packet-hops, because monitors on every link
cost 4 to 11 %. Runs of `window` do not repeat exactly (see ns2/README.md), so each of them counts its own packet-hops.
ns-3 runs each case once, because a run takes minutes, and counts in the same run.

The Debian packages are ns2, with the command ns, and libns3-dev, with which the program in the folder ns3 is built.
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
DUMBBELLS = {"rivals10": ("10", "100Mbps", "100p", "100"), "rivals100": ("100", "1Gbps", "1000p", "20")}
"""For each case: number of flows, rate and queue of the bottleneck, and simulated seconds."""
UNREPEATABLE = ("window",)
RUNS = 3
NOT_INSTALLED = 3

Result = dict[str, str | int | float]


class Ns2:
    """The scripts of the folder ns2."""

    cases = ("single", "cmt", "many", "window", *DUMBBELLS)

    def installed(self) -> bool:
        """Whether the command ns exists."""
        return shutil.which("ns") is not None

    def measure(self, case: str, seed: int) -> Result:
        """Runs a case three times and returns the run of median cost."""
        script = ["ns", str(HERE / "ns2" / f"{case}.tcl"), str(seed)]
        if case in UNREPEATABLE:
            results = [result(case, *run([*script, "1"])) for _ in range(RUNS)]
        else:
            counts, _ = run([*script, "1"])
            results = [result(case, counts, run([*script, "0"])[1]) for _ in range(RUNS)]
        return sorted(results, key=lambda result: result["ns_per_hop"])[RUNS // 2]


class Ns3:
    """The program of the folder ns3."""

    cases = tuple(DUMBBELLS)
    folder = HERE.parent / "target" / "ns3"

    def installed(self) -> bool:
        """Builds the program; false if ns-3 or a compiler is missing."""
        return subprocess.run([HERE / "ns3" / "build.sh", self.folder], check=False).returncode == 0

    def measure(self, case: str, seed: int) -> Result:
        """Runs a case once."""
        return result(case, *run([str(self.folder / "dumbbell"), *DUMBBELLS[case], str(seed)]))


SIMULATORS = {"ns2": Ns2(), "ns3": Ns3()}


def run(command: list[str]) -> tuple[str, resource.struct_rusage]:
    """Output and resource usage of one run."""
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed: exit code {child.returncode}")
        output.seek(0)
        return output.read(), usage


def result(case: str, counts: str, usage: resource.struct_rusage) -> Result:
    """The counts of a run, and its CPU time and memory."""
    cpu = usage.ru_utime + usage.ru_stime
    hops, *rest = counts.split()
    found: Result = {
        "case": case,
        "packet_hops": int(hops),
        "cpu_seconds": round(cpu, 3),
        "ns_per_hop": round(cpu * 1e9 / int(hops), 1),
        "peak_kib": usage.ru_maxrss,
    }
    if rest:
        goodput, lost = rest
        found |= {"goodput_mbps": round(float(goodput), 2), "lost": round(float(lost), 6)}
    return found


def main() -> int:
    """Measures the cases named on the command line."""
    parser = argparse.ArgumentParser(description="Cost of a packet-hop in ns-2 or ns-3.")
    parser.add_argument("simulator", choices=SIMULATORS)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(Ns2.cases)} (default: all)")
    parser.add_argument("--installed", action="store_true", help="only say whether it is")
    parser.add_argument("--seed", type=int, default=1, help="seed of the start times (default: 1)")
    arguments = parser.parse_args()
    simulator = SIMULATORS[arguments.simulator]
    for case in arguments.cases:
        if case not in simulator.cases:
            parser.error(f"unknown case {case!r}: expected {', '.join(simulator.cases)}")
    if not simulator.installed():
        print(f"{arguments.simulator} is not installed and LEFT OUT: see benches/README.md", file=sys.stderr)
        return NOT_INSTALLED
    if arguments.installed:
        return 0
    for case in arguments.cases or simulator.cases:
        print(json.dumps(simulator.measure(case, arguments.seed)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
