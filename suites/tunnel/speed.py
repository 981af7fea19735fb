"""Measures how fast `anabranch tunnel` is when no link limits it, beside other tunnels.

    unshare --net --kill-child --fork python3 suites/tunnel/speed.py target/release/anabranch [another ...]

Needs root, ip and nsenter. Two network namespaces are joined by one veth without a shaper. Through each tunnel go
40,000 datagrams of 64 bytes a second, then one TCP connection, then ten, and then the datagrams again. Prints a table
in Markdown: Mbit/s, payload in MB for one second of CPU time of both ends together, and lost datagrams. Several
programs, such as two versions of `anabranch`, take turns, and so do wireguard-go and OpenVPN where they are installed.
Each number is the median of `--rounds` rounds, which take 20 s for each tunnel.
"""

import argparse
import contextlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from measure import hold, lines, sh, tcp

PORT = 7001
# Addresses of the two ends on the veth, and inside each tunnel.
OUTSIDE = ("10.7.0.1", "10.7.0.2")
INSIDE = ("10.99.0.1", "10.99.0.2")
# Datagrams of one burst; there are a thousand bursts a second.
BURST = 40
DATAGRAM = bytes(64)
# Time of a transfer that is not measured, in seconds.
WARM_UP = 1.0
COLUMNS = ("udp_fresh", "tcp", "tcp_cpu", "tcp10", "tcp10_cpu", "udp_after")

# The processes of a tunnel.
Ends = list[subprocess.Popen[str]]


def sink() -> None:
    """Counts the bytes of TCP connections and the datagrams that arrive, and prints both for each line it reads."""
    counts = {"bytes": 0, "datagrams": 0}
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    # SO_RCVBUFFORCE: a datagram that this program does not read in time is not a loss of the tunnel.
    datagrams.setsockopt(socket.SOL_SOCKET, 33, 32 << 20)
    datagrams.bind(("0.0.0.0", PORT))
    listener = tcp("tcp", "cubic")
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", PORT))
    listener.listen()

    def count_datagrams() -> None:
        buffer = bytearray(2000)
        while datagrams.recv_into(buffer):
            counts["datagrams"] += 1

    def count_bytes(stream: socket.socket) -> None:
        buffer = bytearray(1 << 20)
        with contextlib.suppress(OSError):
            while length := stream.recv_into(buffer):
                counts["bytes"] += length

    def accept() -> None:
        while True:
            stream, _ = listener.accept()
            threading.Thread(target=count_bytes, args=[stream], daemon=True).start()

    for run in (count_datagrams, accept):
        threading.Thread(target=run, daemon=True).start()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(counts["bytes"], counts["datagrams"], flush=True)


class Sink:
    """The receiving program in the other namespace."""

    def __init__(self, there: list[str]) -> None:
        me = [*there, sys.executable, __file__, "--sink"]
        self.process = subprocess.Popen(me, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        lines(self.process).readline()

    def counts(self) -> tuple[int, int]:
        """Bytes and datagrams that have arrived."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        arrived, datagrams = lines(self.process).readline().split()
        return int(arrived), int(datagrams)


def cpu_time(ends: Ends) -> float:
    """CPU time of processes in seconds."""
    ticks = 0
    for end in ends:
        fields = Path(f"/proc/{end.pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def transfer(to: str, there: Sink, ends: Ends, connections: int, seconds: float) -> tuple[float, float]:
    """Mbit/s of TCP connections, and MB for a second of CPU time."""
    streams = [tcp("tcp", "cubic") for _ in range(connections)]
    for stream in streams:
        stream.settimeout(10)
        stream.connect((to, PORT))
        stream.settimeout(None)

    def fill(stream: socket.socket) -> None:
        data = bytes(1 << 20)
        with contextlib.suppress(OSError):
            while True:
                stream.send(data)

    for stream in streams:
        threading.Thread(target=fill, args=[stream], daemon=True).start()
    time.sleep(WARM_UP)
    (before, _), busy, begin = there.counts(), cpu_time(ends), time.monotonic()
    time.sleep(seconds)
    (after, _), busy, took = there.counts(), cpu_time(ends) - busy, time.monotonic() - begin
    for stream in streams:
        stream.shutdown(socket.SHUT_RDWR)
    time.sleep(1)
    arrived = after - before
    return arrived * 8 / took / 1e6, arrived / 1e6 / busy if busy else float("nan")


def lost(to: str, there: Sink, seconds: float) -> float:
    """Part of small datagrams that do not arrive, in per cent."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probe.connect((to, PORT))
    _, before = there.counts()
    begin, sent = time.monotonic(), 0
    while (now := time.monotonic()) < begin + seconds:
        while sent < (now - begin) * 1000 * BURST:
            with contextlib.suppress(OSError):
                probe.send(DATAGRAM)
            sent += 1
        time.sleep(0.0005)
    time.sleep(1)
    _, after = there.counts()
    return 100 * (1 - (after - before) / sent)


@contextlib.contextmanager
def running(commands: list[list[str]], log: Path, settings: dict[str, str] | None = None) -> Iterator[Ends]:
    """Runs the programs of both ends until the block ends."""
    with log.open("a") as output:
        environment = {**os.environ, **(settings or {})}
        ends = [
            subprocess.Popen(command, stdout=output, stderr=output, text=True, env=environment) for command in commands
        ]
        try:
            yield ends
        finally:
            for end in ends:
                end.kill()
                end.wait()


@contextlib.contextmanager
def no_tunnel(folder: Path, there: list[str]) -> Iterator[Ends]:
    """The veth alone, with the addresses of a tunnel."""
    sh(f"ip address add {INSIDE[0]}/24 dev c0")
    sh(f"{' '.join(there)} ip address add {INSIDE[1]}/24 dev s0")
    yield []
    sh(f"ip address delete {INSIDE[0]}/24 dev c0")
    sh(f"{' '.join(there)} ip address delete {INSIDE[1]}/24 dev s0")


@contextlib.contextmanager
def anabranch(program: str, folder: Path, there: list[str]) -> Iterator[Ends]:
    """`anabranch tunnel`, or another program with the same arguments."""
    keys = [subprocess.check_output([program, "key", f"{folder}/{end}.key"], text=True).strip() for end in "cs"]
    for n, end in enumerate("cs"):
        connect = f"connect = ['{OUTSIDE[1]}']\n" if end == "c" else ""
        Path(folder, end).write_text(
            f"interface = 'tun{end}'\naddresses = ['{INSIDE[n]}/24']\nkey = '{folder}/{end}.key'\n"
            f"peer = '{keys[1 - n]}'\nstatus = '{folder}/{end}.sock'\nuplinks = ['{OUTSIDE[n]}']\n{connect}"
        )
    commands = [[*prefix, program, "tunnel", f"{folder}/{end}"] for prefix, end in ((there, "s"), ([], "c"))]
    with running(commands, folder / "log") as ends:
        yield ends


@contextlib.contextmanager
def wireguard(folder: Path, there: list[str]) -> Iterator[Ends]:
    """wireguard-go."""
    private = [subprocess.check_output(["wg", "genkey"], text=True).strip() for _ in "cs"]
    public = [subprocess.check_output(["wg", "pubkey"], input=key, text=True).strip() for key in private]
    commands = [[*prefix, "wireguard-go", f"wg{end}"] for prefix, end in (([], "c"), (there, "s"))]
    with running(commands, folder / "log", {"WG_PROCESS_FOREGROUND": "1"}) as ends:
        time.sleep(1)
        for n, (end, prefix) in enumerate((("c", ""), ("s", " ".join(there) + " "))):
            key = folder / f"{end}.key"
            key.write_text(private[n])
            peer = f"peer {public[1 - n]} endpoint {OUTSIDE[1 - n]}:51820 allowed-ips 0.0.0.0/0"
            sh(f"{prefix}wg set wg{end} private-key {key} listen-port 51820 {peer}")
            sh(f"{prefix}ip address add {INSIDE[n]}/24 dev wg{end}")
            sh(f"{prefix}ip link set wg{end} up")
        yield ends


@contextlib.contextmanager
def openvpn(folder: Path, there: list[str]) -> Iterator[Ends]:
    """OpenVPN with AES-256-GCM in user space."""
    prints: list[str] = []
    for end in "cs":
        make = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={end} -days 2"
        sh(f"{make} -keyout {folder}/{end}.key -out {folder}/{end}.crt")
        show = ["openssl", "x509", "-in", f"{folder}/{end}.crt", "-noout", "-fingerprint", "-sha256"]
        prints.append(subprocess.check_output(show, text=True).strip().split("=")[1])
    commands: list[list[str]] = []
    roles = (("c", [], "--tls-client"), ("s", there, "--tls-server --dh none"))
    for n, (end, prefix, role) in enumerate(roles):
        options = f"--dev tun{end} --dev-type tun --proto udp --topology p2p --data-ciphers AES-256-GCM --disable-dco"
        where = f"--local {OUTSIDE[n]} --remote {OUTSIDE[1 - n]} --ifconfig {INSIDE[n]} {INSIDE[1 - n]}"
        files = f"--key {folder}/{end}.key --cert {folder}/{end}.crt --peer-fingerprint {prints[1 - n]}"
        commands.append([*prefix, "openvpn", *f"{role} {options} {where} {files}".split()])
    with running(commands, folder / "log") as ends:
        yield ends


def wait_for(to: str, log: Path) -> None:
    """Waits until the other end answers."""
    for _ in range(60):
        with contextlib.suppress(OSError):
            socket.create_connection((to, PORT), 1).close()
            return
        time.sleep(0.3)
    raise SystemExit(f"no answer from {to}\n{log.read_text() if log.exists() else ''}")


def measure_one(name: str, there: list[str], seconds: float) -> dict[str, float]:
    """The numbers of one tunnel in one round."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        known = {"plain veth": no_tunnel, "wireguard-go": wireguard, "openvpn": openvpn}
        make = known.get(name)
        with make(folder, there) if make else anabranch(name, folder, there) as ends:
            counter = Sink(there)
            wait_for(INSIDE[1], folder / "log")
            found = {"udp_fresh": lost(INSIDE[1], counter, seconds / 2)}
            for column, connections in (("tcp", 1), ("tcp10", 10)):
                found[column], found[f"{column}_cpu"] = transfer(INSIDE[1], counter, ends, connections, seconds)
            found["udp_after"] = lost(INSIDE[1], counter, seconds / 2)
            counter.process.kill()
            counter.process.wait()
    return found


def main() -> None:
    """Measures all tunnels, or serves as the receiving program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", help="the command anabranch, or several versions of it")
    parser.add_argument("--seconds", type=float, default=4, help="time of each transfer")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--alone", action="store_true", help="no other tunnels")
    parser.add_argument("--sink", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.sink:
        return sink()
    other = hold()
    there = ["nsenter", f"--net=/proc/{other.pid}/ns/net"]
    sh("ip link set lo up")
    sh(f"ip link add c0 type veth peer name s0 netns {other.pid}")
    for name, prefix, address in (("c0", "", OUTSIDE[0]), ("s0", " ".join(there) + " ", OUTSIDE[1])):
        sh(f"{prefix}ip address add {address}/24 dev {name}")
        sh(f"{prefix}ip link set {name} up")
    names = list(chosen.programs)
    if not chosen.alone:
        names = ["plain veth", *names, *(rival for rival in ("wireguard-go", "openvpn") if shutil.which(rival))]
    results: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(chosen.rounds):
        for name in names:
            results[name].append(measure_one(name, there, chosen.seconds))
            shown = " ".join(f"{column} {value:.1f}" for column, value in results[name][-1].items())
            print(f"{name}: {shown}", file=sys.stderr, flush=True)
    print("| tunnel | TCP x1, Mbit/s | MB/CPU-s | TCP x10, Mbit/s | MB/CPU-s | UDP lost, % | after TCP, % |")
    print("|---|---|---|---|---|---|---|")
    for name, rounds in results.items():
        median = {column: statistics.median(found[column] for found in rounds) for column in COLUMNS}
        tcps = f"{median['tcp']:.0f} | {median['tcp_cpu']:.0f} | {median['tcp10']:.0f} | {median['tcp10_cpu']:.0f}"
        print(f"| {name} | {tcps} | {median['udp_fresh']:.1f} | {median['udp_after']:.1f} |")
    other.kill()
    other.wait()
    return None


if __name__ == "__main__":
    main()
