"""Simulates a day of a bonded association over two links that fail at random, and checks that its memory does not grow.

    python3 suites/tunnel/day.py target/release/anabranch [--hours 24] [--seed 1] [--print]

The association is like that of `anabranch tunnel`: unordered messages in both directions that are abandoned after 500
ms, AUTH and ASCONF. Each link fails about once a minute for some seconds. Hosts notice failures of the first link, and
its address is removed and added again; they detect failures of the second link by timeouts. Resident memory is sampled
20 times a second. Exits with 1 if the last quarter of the samples exceeds the second quarter, or if the run failed.
`--print` prints the scenario instead.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Bytes by which the last quarter may exceed the second quarter, because allocators keep memory that is free.
SLACK = 2 << 20
LINKS = {"dsl": ("2 Mbit/s", "10 ms", 'carrier_delay = "100 ms"'), "mobile": ("1 Mbit/s", "30 ms", "")}
TRAFFIC = {
    "frame_rate": '"0 Hz"',
    "frame_size": '"1400 B"',
    "queue_size": "40",
    "unordered": "1.0",
    "unreliable": "1.0",
    "reliability": '{ lifetime = "500 ms" }',
}
TEXT = """
seed = {seed}
node = [{{ name = "home" }}, {{ name = "office" }}]

[sctp.bond]
profile = "recommended"
auth = true
asconf = true
pr_sctp = true

[[flow]]
name = "bond"
client = "home"
server = "office"
sctp = "bond"
stop_time = "{seconds} s"
{traffic}
back = {{ {back} }}
"""
LINK = """
[[link]]
name = "{name}"
between = ["home", "office"]
net_id = {number}
rate = "{rate}"
delay = "{delay}"
down = [{down}]
{more}
"""


def outages(chance: random.Random, end: float) -> str:
    """The times at which a link is down, as a scenario writes them."""
    found: list[str] = []
    at = chance.uniform(5, 60)
    while at < end - 30:
        until = at + chance.uniform(0.2, 10)
        found.append(f'["{at:.3f} s", "{until:.3f} s"]')
        at = until + chance.uniform(10, 110)
    return ", ".join(found)


def scenario(seconds: float, seed: int) -> str:
    """The text of the scenario."""
    chance = random.Random(seed)
    pairs = [f"{key} = {value}" for key, value in TRAFFIC.items()]
    text = TEXT.format(seed=seed, seconds=seconds, traffic="\n".join(pairs), back=", ".join(pairs))
    for number, (name, (rate, delay, more)) in enumerate(LINKS.items(), 1):
        down = outages(chance, seconds)
        text += LINK.format(name=name, number=number, rate=rate, delay=delay, down=down, more=more)
    return text


def resident(pid: int) -> int:
    """Bytes of resident memory of a process."""
    return int(Path("/proc", str(pid), "statm").read_text().split()[1]) * 4096


def soak(program: str, text: str) -> bool:
    """Runs the scenario, and prints its counters and memory. False if the memory grew or the run failed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "day.toml")
        file.write_text(text)
        began = time.monotonic()
        running = subprocess.Popen([program, "run", file])
        samples: list[int] = []
        while running.poll() is None:
            samples.append(resident(running.pid))
            time.sleep(0.05)
    second, last = (statistics.median(samples[len(samples) * n // 4 :][: len(samples) // 4 or 1]) for n in (1, 3))
    flat = last <= second + SLACK
    print(f"memory: {second / 1024:.0f} then {last / 1024:.0f} KiB: {'flat' if flat else 'GREW'}")
    print(f"took {time.monotonic() - began:.0f} s")
    return flat and running.returncode == 0


def main() -> int:
    """Runs the soak test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="the command anabranch")
    parser.add_argument("--hours", type=float, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--print", action="store_true")
    chosen = parser.parse_args()
    text = scenario(chosen.hours * 3600, chosen.seed)
    if chosen.print:
        print(text, end="")
        return 0
    return 0 if soak(chosen.program, text) else 1


if __name__ == "__main__":
    sys.exit(main())
