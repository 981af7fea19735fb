"""tsctp of usrsctp with the original libusrsctp and with ours, by turns (Linux, package libusrsctp-examples).

`unshare --net --kill-child --fork python3 benches/linked.py .venv/lib/usrsctp` runs it in a network of its own.
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

TSCTP = "/usr/lib/usrsctp/tsctp"
ROUNDS = 3
# Length and number of the messages.
LOADS = ((1000, 200_000), (32_768, 10_000))
# Debian's build prints what it does if a program asks for it, as tsctp does: this would take most of its time.
QUIET = "int usrsctp_sysctl_set_sctp_debug_on(unsigned int on) { (void)on; return 1; }\n"


def cpu() -> float:
    """Seconds of CPU that ended children took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(environment: dict[str, str], length: int, count: int) -> tuple[float, float]:
    """Sends messages from one process to another; MB a second, and MB for a second of CPU of both."""
    before = cpu()
    common = {"env": environment, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    server = subprocess.Popen([TSCTP, "-p", "5001", "-E", "9998", "-U", "9999"], **common)
    time.sleep(0.7)
    load = ["-l", str(length), "-n", str(count), "127.0.0.1"]
    subprocess.run([TSCTP, "-p", "5001", "-E", "9999", "-U", "9998", *load], **common, timeout=60, check=True)
    time.sleep(0.5)
    server.terminate()
    told, _ = server.communicate()
    fields = next(line for line in told.splitlines() if line.startswith(f"{length}, {count}, ")).split(", ")
    megabytes = length * count / 1e6
    return megabytes / float(fields[4]), megabytes / (cpu() - before)


def main() -> None:
    """Prints the median and the range for each library and load."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        source, quiet = pathlib.Path(folder, "quiet.c"), pathlib.Path(folder, "quiet.so")
        source.write_text(QUIET)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", quiet, source], check=True)
        base = os.environ | {"LD_PRELOAD": str(quiet)}
        libraries = {"original": base, "ours": base | {"LD_LIBRARY_PATH": str(pathlib.Path(sys.argv[1]).resolve())}}
        measured: dict[tuple[int, str], list[tuple[float, float]]] = {}
        for _ in range(ROUNDS):
            for length, count in LOADS:
                for name, environment in libraries.items():
                    measured.setdefault((length, name), []).append(run(environment, length, count))
    print("| bytes of a message | libusrsctp | MB/s | MB/CPU-s of both |\n|---|---|---|---|")
    for (length, name), results in measured.items():
        columns = zip(*results, strict=True)
        told = [f"{statistics.median(one):.0f} ({min(one):.0f} to {max(one):.0f})" for one in columns]
        print(f"| {length} | {name} | {' | '.join(told)} |")


if __name__ == "__main__":
    main()
