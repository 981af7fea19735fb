"""Runs `anabranch tunnel` for some minutes over two uplinks that fail at random, and checks that nothing grows.

    unshare --net --kill-child --fork python3 suites/tunnel/soak.py target/release/anabranch [--minutes 30] [--seed 1]

Needs root, ip, tc (tbf) and nsenter. One TCP connection uploads for the whole time. About every 8 s an uplink loses its
interface, or silently drops all packets, for some seconds. At the end the connection must be alive. Both processes must
have as many file descriptors and threads in the last quarter of the time as in the second quarter, and no more memory;
medians are compared. Prints a line each 10 s; exits with 1 if something grew.
"""

import argparse
import contextlib
import random
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import measure
from measure import INSIDE, PORT, Scene, World, sh, tunnel

# Bytes of resident memory by which the last quarter may exceed the second, because allocators keep memory that is free.
SLACK = 4 << 20
PERIOD = 2.0


def resources(pid: int) -> tuple[int, int, int]:
    """Bytes of resident memory, file descriptors and threads of a process."""
    folder = Path("/proc", str(pid))
    pages = int((folder / "statm").read_text().split()[1])
    return pages * 4096, len(list((folder / "fd").iterdir())), len(list((folder / "task").iterdir()))


def fail(world: World, chance: random.Random, until: float) -> None:
    """Makes uplinks fail and return, one at a time, until 20 s before the end."""
    while time.monotonic() < until - 20:
        time.sleep(chance.uniform(2, 8))
        outage = chance.uniform(0.2, 6)
        match chance.choice(("interface", "interface", "silence")):
            case "silence":
                world.silence(True)
                time.sleep(outage)
                world.silence(False)
            case _:
                n = chance.randrange(2)
                sh(f"ip link set c{n} down")
                time.sleep(outage)
                sh(f"ip link set c{n} up")
                world.route(n)


def upload(stream: socket.socket, until: float, sent: list[int]) -> None:
    """Sends until the time ``until``, and counts the bytes in ``sent``."""
    data = bytes(1 << 16)
    with contextlib.suppress(OSError):
        while time.monotonic() < until:
            sent[0] += stream.send(data)
        stream.shutdown(socket.SHUT_WR)
        sent[1] = 1


def quarter(values: list[int], n: int) -> list[int]:
    """The n-th quarter of the values, from 0."""
    return values[len(values) * n // 4 : len(values) * (n + 1) // 4]


def soak(program: str, minutes: float, seed: int) -> bool:
    """Runs the test; true if no resource of the tunnel grew."""
    world = World(Scene((20, 10), 60))
    try:
        there = ["nsenter", f"--net=/proc/{world.other.pid}/ns/net"]
        me = [sys.executable, measure.__file__, "--serve", "tcp"]
        server = subprocess.Popen(there + me, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        server.stdout.readline()
        with tunnel(world, program, nat=True) as running:
            stream = socket.create_connection((INSIDE, PORT), timeout=20)
            stream.settimeout(60)
            until = time.monotonic() + minutes * 60
            sent = [0, 0]
            sending = threading.Thread(target=upload, args=(stream, until, sent))
            failing = threading.Thread(target=fail, args=(world, random.Random(seed), until))
            sending.start()
            failing.start()
            seen: list[list[tuple[int, int, int]]] = [[], []]
            began = shown = time.monotonic()
            while time.monotonic() < until:
                time.sleep(PERIOD)
                for samples, pid in zip(seen, running.pids, strict=True):
                    samples.append(resources(pid))
                if time.monotonic() - shown > 10:
                    shown = time.monotonic()
                    memory, files, threads = zip(*(samples[-1] for samples in seen), strict=True)
                    kib = [n >> 10 for n in memory]
                    print(f"{shown - began:.0f} s: {kib} KiB, {files} files, {threads} threads, {sent[0]} bytes")
                    sys.stdout.flush()
            failing.join()
            sending.join(60)
            print(running.status())
        server.kill()
    finally:
        world.close()
    return judge(seen, bool(sent[1]))


def judge(seen: list[list[tuple[int, int, int]]], alive: bool) -> bool:
    """Prints the resources of each end; true if none grew."""
    good = alive
    print("TCP connection:", "alive" if alive else "LOST")
    for name, samples in zip(("server", "client"), seen, strict=True):
        memory, files, threads = (list(values) for values in zip(*samples, strict=True))
        middle = [[statistics.median(quarter(values, n)) for n in (1, 3)] for values in (memory, files, threads)]
        (before, after), *rest = middle
        grew = after > before + SLACK or any(last > first for first, last in rest)
        good &= not grew
        verdict = "GREW" if grew else "flat"
        print(f"{name}: {before / 1024:.0f} then {after / 1024:.0f} KiB, files and threads {rest}: {verdict}")
    return good


def main() -> int:
    """Runs the soak test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="the command anabranch")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    return 0 if soak(chosen.program, chosen.minutes, chosen.seed) else 1


if __name__ == "__main__":
    sys.exit(main())
