"""Measures `anabranch tunnel` between two network namespaces beside one uplink alone and kernel MPTCP.

    unshare --net --kill-child --fork python3 suites/tunnel/measure.py target/release/anabranch [--json results.json]

Needs root, ip, tc (tbf) and nsenter. A client with two uplinks uploads to a server with one address. One TCP connection
sends for the given time. Meanwhile a datagram travels to the server and back every 20 ms, so that goodput and latency
are of the same run; with `--pause 1000` datagrams do not load narrow uplinks. Prints a table in Markdown: payload
received in Mbit/s, and 95th percentiles of round-trip times in ms, before and during the upload. `picture.py` draws the
numbers of `--json`. `--runs 3` measures each row three times and prints means, with the least and the largest goodput
in brackets. `--unequal` takes uplinks that differ much, or that are fast. On a busy machine, begin the command with
`chrt -r 1`, so that the delays of the links are exact.
"""

import argparse
import collections
import contextlib
import ctypes
import dataclasses
import fcntl
import json
import select
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

SERVER = "10.9.9.9"
# Another address of the server, reached by the best uplink alone.
ALONE = "10.8.8.8"
INSIDE = "10.99.0.2"
PORT = 7001
MPTCP = 262


@dataclasses.dataclass(frozen=True)
class Scene:
    """Two uplinks."""

    # Rates in Mbit/s from the client to the server.
    up: tuple[float, float]
    # Delay of a full queue in ms: of both links, or of each.
    queue: float | tuple[float, float]
    # Rates in Mbit/s from the server to the client; None: the same as to the server.
    down: tuple[float, float] | None = None
    # One-way delays in ms.
    delay: tuple[float, float] = (10, 10)
    # The first uplink drops all packets from 2 s to 7 s.
    dies: bool = False


SCENES = {
    "50 + 10": Scene((50, 10), 40),
    "30 + 25, bloated": Scene((30, 25), 300),
    "8 + 2": Scene((8, 2), 60),
    "2 + 1 up, 20 + 10 down": Scene((2, 1), 60, down=(20, 10)),
    "30 + 30, first dead 2 s to 7 s": Scene((30, 30), 40, dies=True),
}
# Uplinks of which one is much better, or of which both are fast: `--unequal`.
UNEQUAL = {
    "50 + 2": Scene((50, 2), 100),
    "300 + 50": Scene((300, 50), (40, 100), down=(20, 10)),
    "100 + 100": Scene((100, 100), 60),
    "30 at 40 ms + 30 at 200 ms": Scene((30, 30), 100, delay=(20, 100)),
}
# Time between two datagrams in ms.
PAUSE = 20


def sh(line: str, other: int | None = None) -> None:
    """Runs a command, in the namespace of a process if one is given."""
    prefix = ["nsenter", f"--net=/proc/{other}/ns/net"] if other else []
    subprocess.run(prefix + line.split(), check=True, capture_output=True)


def lines(process: subprocess.Popen[str]) -> IO[str]:
    """The standard output of a process."""
    assert process.stdout is not None
    return process.stdout


def tcp(kind: str, control: str) -> socket.socket:
    """A TCP or MPTCP socket with this congestion control."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP if kind == "mptcp" else 0)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    return made


def serve(kind: str) -> None:
    """Accepts a TCP connection, prints its Mbit/s, and returns datagrams. Runs in the server's namespace."""
    echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    echo.bind(("0.0.0.0", PORT))

    def answer() -> None:
        while True:
            data, peer = echo.recvfrom(2000)
            echo.sendto(data, peer)

    threading.Thread(target=answer, daemon=True).start()
    listener = tcp(kind, "cubic")
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", PORT))
    listener.listen()
    print("ready", flush=True)
    stream, _ = listener.accept()
    total = 0
    last = began = time.monotonic()
    while data := stream.recv(1 << 16):
        total += len(data)
        last = time.monotonic()
    print(total * 8 / (last - began) / 1e6, flush=True)


def ping(to: tuple[str, int], stop: threading.Event, pause: float) -> list[float]:
    """Round-trip times in ms of datagrams, with a pause between two of them; a lost datagram counts as 2000 ms."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probe.setblocking(False)
    sent: dict[int, float] = {}
    times: dict[int, float] = {}
    number = 0
    while not stop.is_set():
        with contextlib.suppress(OSError):
            probe.sendto(number.to_bytes(4, "big") + bytes(60), to)
        sent[number] = time.monotonic()
        number += 1
        end = time.monotonic() + pause / 1000
        while time.monotonic() < end:
            try:
                n = int.from_bytes(probe.recv(2000)[:4], "big")
                times[n] = (time.monotonic() - sent[n]) * 1e3
            except BlockingIOError:
                time.sleep(0.001)
    recent = time.monotonic() - 1
    return [times.get(n, 2000.0) for n in sent if sent[n] < recent or n in times]


def idle(to: str) -> list[float]:
    """Round-trip times while nothing else is sent, for 3 s."""
    stop = threading.Event()
    times: list[float] = []
    pinging = threading.Thread(target=lambda: times.extend(ping((to, PORT), stop, PAUSE)))
    pinging.start()
    time.sleep(3)
    stop.set()
    pinging.join()
    return times


def p95(times: list[float]) -> float:
    """95th percentile."""
    return statistics.quantiles(times, n=20)[18] if len(times) > 20 else float("nan")


def upload(to: str, kind: str, control: str, seconds: float, meanwhile: Callable[[], None]) -> None:
    """Sends for some seconds."""
    stream = tcp(kind, control)
    stream.settimeout(20)
    stream.connect((to, PORT))
    threading.Thread(target=meanwhile, daemon=True).start()
    end = time.monotonic() + seconds
    data = bytes(range(256)) * 256
    stream.settimeout(None)
    while time.monotonic() < end:
        stream.send(data)
    stream.shutdown(socket.SHUT_WR)


def hold() -> subprocess.Popen[str]:
    """Starts a process in a new network namespace, which exists as long as the process."""
    holder = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # Once the process answers, it is in its namespace.
    assert holder.stdin is not None
    holder.stdin.write("x\n")
    holder.stdin.flush()
    lines(holder).readline()
    return holder


def wire(delays: list[float]) -> None:
    """Carries frames between up0 and down0, and between up1 and down1, each with its delay in ms each way.

    Runs in the namespace between client and server. After SIGUSR1 the first link drops all frames, until SIGUSR2.
    """
    pairs: list[tuple[int, socket.socket, socket.socket, collections.deque[tuple[float, bytes]]]] = []
    for n in range(2):
        ends: list[socket.socket] = []
        for name in (f"up{n}", f"down{n}"):
            end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            end.bind((name, 0))
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            # Promiscuous mode (packet(7), PACKET_ADD_MEMBERSHIP), because the frames have other destinations.
            end.setsockopt(263, 1, struct.pack("iHH8s", socket.if_nametoindex(name), 1, 0, b""))
            # Does not receive frames that this socket sends (PACKET_IGNORE_OUTGOING).
            end.setsockopt(263, 23, 1)
            end.setblocking(False)
            ends.append(end)
        pairs += [(n, ends[0], ends[1], collections.deque()), (n, ends[1], ends[0], collections.deque())]
    silent: set[int] = set()
    signal.signal(signal.SIGUSR1, lambda *_: silent.add(0))
    signal.signal(signal.SIGUSR2, lambda *_: silent.discard(0))
    print("ready", flush=True)
    readers = [source for _, source, _, _ in pairs]
    while True:
        first = min((line[0][0] for *_, line in pairs if line), default=None)
        select.select(readers, [], [], None if first is None else max(0, first - time.monotonic()))
        now = time.monotonic()
        for n, source, sink, line in pairs:
            # BlockingIOError: no frame is left. Other errors: the link was removed at the end of the run.
            with contextlib.suppress(OSError):
                while True:
                    frame = source.recv(65535)
                    if n not in silent:
                        line.append((now + delays[n] / 1000, frame))
            while line and line[0][0] <= now:
                # An error means that the queue is full: the frame is dropped.
                with contextlib.suppress(OSError):
                    sink.send(line.popleft()[1])


def compute_checksums(name: str) -> None:
    """Makes an interface compute checksums itself (ETHTOOL_STXCSUM), because a program forwards its frames."""
    value = ctypes.create_string_buffer(struct.pack("II", 0x17, 0))
    request = struct.pack("16sP16x", name.encode(), ctypes.addressof(value))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8946, request)


class World:
    """Client and server in namespaces, and one between them, which has the delays and the queues."""

    def __init__(self, scene: Scene, pause: float = PAUSE) -> None:
        self.pause = pause
        self.between, self.other = hold(), hold()
        between, there = self.between.pid, self.other.pid
        for where in (None, there):
            sh("ip link set lo up", where)
        sh(f"ip address add {SERVER}/32 dev lo", there)
        sh(f"ip address add {ALONE}/32 dev lo", there)
        for n in range(2):
            sh(f"ip link add c{n} type veth peer name up{n} netns {between}")
            sh(f"ip link add down{n} netns {between} type veth peer name s{n} netns {there}")
            for name, host, where in ((f"c{n}", 1, None), (f"s{n}", 2, there)):
                sh(f"ip address add 10.7.{n}.{host}/24 dev {name}", where)
                sh(f"ip link set {name} gso_max_segs 1 up", where)
                inside = [f"nsenter --net=/proc/{there}/ns/net "] if where else [""]
                sh(f"{inside[0]}{sys.executable} {__file__} --checksums {name}")
            for name, rates in ((f"up{n}", scene.down or scene.up), (f"down{n}", scene.up)):
                # The bucket holds one packet, or the bytes of 2 ms. With a larger bucket the queue would grow and
                # empty in bursts.
                burst = max(1600, int(rates[n] * 250))
                queue = scene.queue[n] if isinstance(scene.queue, tuple) else scene.queue
                limit = int(rates[n] * 125 * queue) + burst
                sh(f"ip link set {name} up", between)
                sh(f"tc qdisc add dev {name} root tbf rate {rates[n]}mbit burst {burst} limit {limit}", between)
            self.route(n)
        arguments = [f"--net=/proc/{between}/ns/net", sys.executable, __file__, "--wire", *map(str, scene.delay)]
        self.wire = subprocess.Popen(["nsenter", *arguments], stdout=subprocess.PIPE, text=True)
        lines(self.wire).readline()

    def route(self, n: int) -> None:
        """Tells the client that an uplink leads to the server."""
        sh(f"ip route replace {SERVER}/32 via 10.7.{n}.2 dev c{n} metric {n + 1}")

    def silence(self, dead: bool) -> None:
        """Makes the first link drop all packets silently if ``dead``; otherwise ends that."""
        self.wire.send_signal(signal.SIGUSR1 if dead else signal.SIGUSR2)

    def close(self) -> None:
        """Removes everything."""
        for n in range(2):
            sh(f"ip link delete c{n}")
        sh("ip mptcp endpoint flush")
        for process in (self.wire, self.between, self.other):
            process.kill()
            process.wait()

    def run(self, to: str, kind: str, control: str, seconds: float, dies: bool) -> tuple[float, float, float]:
        """Goodput of one upload, and 95th percentiles of latency before it and beside it."""
        there = ["nsenter", f"--net=/proc/{self.other.pid}/ns/net"]
        me = [sys.executable, __file__, "--serve", kind]
        server = subprocess.Popen(there + me, stdout=subprocess.PIPE, text=True)
        lines(server).readline()
        rest = idle(to)
        stop = threading.Event()
        times: list[float] = []
        pinging = threading.Thread(target=lambda: times.extend(ping((to, PORT), stop, self.pause)))

        def outage() -> None:
            time.sleep(2)
            self.silence(True)
            time.sleep(5)
            self.silence(False)

        pinging.start()
        upload(to, kind, control, seconds, outage if dies else lambda: None)
        stop.set()
        pinging.join()
        goodput = float(lines(server).readline())
        server.wait()
        return goodput, p95(rest), p95(times)


@dataclasses.dataclass(frozen=True)
class Tunnel:
    """A running tunnel."""

    # Process numbers of the server and of the client.
    pids: tuple[int, int]
    # Returns the client's status as text.
    status: Callable[[], str]


@contextlib.contextmanager
def tunnel(world: World, program: str, *, nat: bool = False, uplinks: Sequence[int] = (0, 1)) -> Iterator[Tunnel]:
    """Both ends of the tunnel, until the block ends. With `nat` the client's second uplink joins later."""
    with tempfile.TemporaryDirectory() as folder:
        keys: dict[str, str] = {}
        for end in "cs":
            keys[end] = subprocess.check_output([program, "key", f"{folder}/{end}.key"], text=True).strip()
        for end, host, more in (
            ("c", 1, f"uplinks = {[f'c{n}' for n in uplinks]}\nconnect = ['{SERVER}']\nnat = {str(nat).lower()}"),
            ("s", 2, f"uplinks = ['{SERVER}']"),
        ):
            peer = keys["s" if end == "c" else "c"]
            Path(folder, end).write_text(
                f"interface = 'tun{end}'\naddresses = ['10.99.0.{host}/24']\nkey = '{folder}/{end}.key'\n"
                f"peer = '{peer}'\nstatus = '{folder}/{end}.sock'\n{more}\n"
            )
        there = ["nsenter", f"--net=/proc/{world.other.pid}/ns/net"]
        with Path(folder, "log").open("w") as log:
            ends = [
                subprocess.Popen([*prefix, program, "tunnel", f"{folder}/{end}"], stderr=log)
                for prefix, end in ((there, "s"), ([], "c"))
            ]
        try:
            deadline = time.monotonic() + 20
            shown = ""
            while shown.count(" active ") < len(uplinks):
                if time.monotonic() > deadline:
                    raise SystemExit(f"no tunnel: {shown}\n{Path(folder, 'log').read_text()}")
                time.sleep(0.5)
                asking = [program, "tunnel", f"{folder}/c", "--status"]
                shown = subprocess.run(asking, capture_output=True, text=True, check=False).stdout
            asking = [program, "tunnel", f"{folder}/c", "--status"]
            yield Tunnel((ends[0].pid, ends[1].pid), lambda: subprocess.check_output(asking, text=True))
        finally:
            for end in ends:
                end.kill()
                end.wait()


def measure(name: str, chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """Returns the rows of one scene: means of all runs, and the least and the largest goodput."""
    scene = (SCENES | UNEQUAL)[name]
    world = World(scene, chosen.pause)
    seconds = max(chosen.seconds, 10) if scene.dies else chosen.seconds
    runs: dict[str, list[tuple[float, float, float]]] = collections.defaultdict(list)
    try:
        best = scene.up.index(max(scene.up)) if not scene.dies else 1
        sh(f"ip route replace {ALONE}/32 via 10.7.{best}.2 dev c{best}")
        sh("ip mptcp limits set subflows 4")
        sh("ip mptcp limits set subflows 4 add_addr_accepted 4", world.other.pid)
        for n in range(2):
            sh(f"ip mptcp endpoint add 10.7.{n}.1 dev c{n} subflow")
        for _ in range(chosen.runs):
            runs["best uplink alone, CUBIC"].append(world.run(ALONE, "tcp", "cubic", seconds, False))
            runs["MPTCP, CUBIC"].append(world.run(SERVER, "mptcp", "cubic", seconds, scene.dies))
            if chosen.unequal:
                with tunnel(world, chosen.program, uplinks=[best]):
                    alone = world.run(INSIDE, "tcp", "cubic", seconds, scene.dies)
                runs["tunnel over the best uplink alone"].append(alone)
            for control in ("cubic",) if chosen.unequal else ("cubic", "bbr"):
                with tunnel(world, chosen.program) as running:
                    by = f"tunnel, {control.upper()} inside"
                    runs[by].append(world.run(INSIDE, "tcp", control, seconds, scene.dies))
                    if chosen.verbose:
                        print(running.status(), file=sys.stderr)
    finally:
        world.close()
    return [row(name, by, of) for by, of in runs.items()]


def row(name: str, by: str, runs: list[tuple[float, float, float]]) -> dict[str, Any]:
    """The means of some runs: goodput in Mbit/s, and 95th percentiles of round-trip times in ms."""
    goodputs = [goodput for goodput, _, _ in runs]
    goodput, rest, latency = (statistics.fmean(column) for column in zip(*runs, strict=True))
    found = {"scene": name, "by": by, "mbps": goodput, "least_mbps": min(goodputs), "most_mbps": max(goodputs)}
    return {**found, "idle_ms": rest, "loaded_ms": latency}


def show(rows: list[dict[str, Any]]) -> None:
    """Prints the rows of one scene, of which the first is the best uplink alone."""
    for of in rows:
        ratio = of["mbps"] / rows[0]["mbps"]
        goodput = f"{of['mbps']:.1f} ({of['least_mbps']:.1f} to {of['most_mbps']:.1f})"
        print(f"| {of['scene']} | {of['by']} | {goodput} | {ratio:.2f} | {of['idle_ms']:.0f} | {of['loaded_ms']:.0f} |")
    sys.stdout.flush()


def main() -> None:
    """Runs all scenes, or serves as one of the programs of a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", help="the command anabranch")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--runs", type=int, default=1, help="runs of each row, of which it shows the means")
    parser.add_argument("--pause", type=float, default=PAUSE, help="time between two datagrams in ms")
    parser.add_argument("--only", help="beginning of the name of one scene")
    parser.add_argument("--json", type=Path, help="file for the results")
    parser.add_argument("--verbose", action="store_true", help="show the status at the end of each run")
    parser.add_argument("--unequal", action="store_true", help="uplinks of which one is much better, or both are fast")
    for internal in ("--serve", "--checksums"):
        parser.add_argument(internal, help=argparse.SUPPRESS)
    parser.add_argument("--wire", type=float, nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.wire:
        return wire(chosen.wire)
    if chosen.checksums:
        return compute_checksums(chosen.checksums)
    if chosen.serve:
        return serve(chosen.serve)
    print("| uplinks, Mbit/s | by | goodput, Mbit/s | of the best uplink | p95 RTT idle, ms | p95 RTT under load, ms |")
    print("|---|---|---|---|---|---|")
    rows: list[dict[str, Any]] = []
    for name in UNEQUAL if chosen.unequal else SCENES:
        if not chosen.only or name.startswith(chosen.only):
            found = measure(name, chosen)
            show(found)
            rows += found
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
