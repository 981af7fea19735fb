"""Sends or receives with MPTCP of the kernel; ``anabranch overlay`` runs this file in the namespaces of the hosts.

::

    mptcp.py receive PORT FILE
    mptcp.py send LOCAL REMOTE PORT AT SECONDS LENGTH CONTROL

AT is the time of day, in seconds since 1970, at which the sender begins to send. The receiver writes a line into FILE
for each read: the time of day and the bytes. The sender prints one line of JSON at its end. This program imports only
the standard library, so that it starts quickly.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path

IPPROTO_MPTCP = 262
SOL_MPTCP = 284
MPTCP_INFO = 1
CONNECT = 0.1
"""Seconds from connecting to sending, in which the second subflow joins."""
FALLBACK = 1
"""Flag of ``mptcpi_flags``: the connection became plain TCP."""


def open_socket() -> socket.socket:
    """A socket of MPTCP; raises OSError if the kernel has none."""
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)


def subflows(connection: socket.socket) -> int:
    """The subflows of a connection, the first one included; 1 if it became plain TCP."""
    info = connection.getsockopt(SOL_MPTCP, MPTCP_INFO, 512)
    flags = int.from_bytes(info[8:12], sys.byteorder)
    return 1 if flags & FALLBACK else 1 + info[0]


def receive(port: int, file: Path) -> None:
    """Accepts one connection, whose subflows may use any local address, and reads until it ends."""
    with open_socket() as listener, file.open("w", encoding="ascii") as out:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", port))
        listener.listen(1)
        print("listening", flush=True)
        connection, _ = listener.accept()
        with connection:
            buffer = bytearray(1 << 18)
            while (count := connection.recv_into(buffer)) > 0:
                out.write(f"{time.time():.6f} {count}\n")


def send(local: str, remote: tuple[str, int], *, at: float, seconds: float, message: bytes, control: bytes) -> None:
    """Connects, sends for ``seconds`` from the time ``at`` on with the congestion control ``control``, and closes."""
    with open_socket() as connection:
        # A namespace cannot have every control as its default, but a socket can select it.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
        connection.bind((local, 0))
        # An earlier connection would pause before its first data. The kernel takes that pause for a long RTT and
        # then opens the receive window too late.
        time.sleep(max(0.0, at - CONNECT - time.time()))
        connection.connect(remote)
        time.sleep(max(0.0, at - time.time()))
        begun = time.time()
        connection.settimeout(0.1)
        end = at + seconds
        while time.time() < end:
            try:
                connection.send(message)
            except TimeoutError:
                continue
        print(json.dumps({"begun": begun, "subflows": subflows(connection)}), flush=True)


if __name__ == "__main__":
    role, *given = sys.argv[1:]
    if role == "receive":
        receive(int(given[0]), Path(given[1]))
    else:
        local, peer, port, at, seconds, length, control = given
        send(
            local,
            (peer, int(port)),
            at=float(at),
            seconds=float(seconds),
            message=bytes(int(length)),
            control=control.encode(),
        )
