"""Moves a file over two paths: the sans-IO endpoint with `select` and plain UDP sockets, one for each local address.

python examples/udp_adapter.py receive copy.bin            # prints its UDP port
python examples/udp_adapter.py send file.bin --to 40000    # the UDP port that the receiver printed
"""

import argparse
import select
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic_ns as now
from typing import BinaryIO

from anabranch import Endpoint, WouldBlockError
from anabranch.endpoint import Event

PORT = 5001


class Adapter:
    """An endpoint, and a UDP socket for each of its addresses; all sockets have the same UDP port."""

    def __init__(self, addresses: list[str], port: int, remote_udp_port: int) -> None:
        self.endpoint = Endpoint(addresses, port=port, encapsulation=remote_udp_port, profile="recommended")
        self.sockets, self.udp_port, self.sent = dict[str, socket.socket](), 0, Counter[str]()
        for address in addresses:
            self.sockets[address] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.sockets[address].bind((address, self.udp_port))
            self.udp_port = self.sockets[address].getsockname()[1]

    def run(self, on_event: Callable[[Event], None]) -> Event:
        """Carries packets and passes on events until an association ends."""
        while True:
            self.transmit()
            while (event := self.endpoint.poll_event()) is not None:
                on_event(event)
                self.transmit()
                if event.kind == "closed":
                    return event
            timeout = self.endpoint.poll_timeout()
            wait = None if timeout is None else max(0, timeout - now()) / 1e9
            ready = select.select(list(self.sockets.values()), [], [], wait)[0]
            for local, its_socket in self.sockets.items():
                if its_socket in ready:
                    packet, (remote, udp_port) = its_socket.recvfrom(65535)
                    self.endpoint.handle(now(), remote, local, packet, udp_port=udp_port)
                    self.transmit()
            self.endpoint.handle_timeout(now())

    def transmit(self) -> None:
        """Sends all packets of the endpoint; a packet that the system refuses counts as lost."""
        while (packet := self.endpoint.poll_transmit(now())) is not None:
            source, destination = str(packet.source), str(packet.destination)
            self.sent[source] += len(packet.data)
            with suppress(OSError):
                self.sockets[source].sendto(packet.data, (destination, packet.udp_port))


def receive(adapter: Adapter, file: BinaryIO) -> Event:
    """Writes the messages of the first association into a file."""

    def on_event(event: Event) -> None:
        while (message := adapter.endpoint.receive(now(), event.association)) is not None:
            file.write(message.data)

    adapter.endpoint.listen()
    print("UDP port", adapter.udp_port, flush=True)
    return adapter.run(on_event)


def send(adapter: Adapter, file: BinaryIO, peer: list[str]) -> Event:
    """Sends a file as messages of 16 KiB."""
    piece = b""

    def on_event(event: Event) -> None:
        nonlocal piece
        if event.kind in ("connected", "writable"):
            with suppress(WouldBlockError):
                while piece := piece or file.read(16384):
                    adapter.endpoint.send(now(), event.association, piece)
                    piece = b""
                adapter.endpoint.shutdown(now(), event.association)

    adapter.endpoint.connect(now(), PORT, peer)
    return adapter.run(on_event)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("role", choices=["receive", "send"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--to", type=int, default=9899, help="UDP port of the receiver")
    parser.add_argument("--at", nargs="+", default=["127.0.0.1", "127.0.0.2"], help="addresses of both sides")
    given = parser.parse_args()
    adapter = Adapter(given.at, PORT if given.role == "receive" else PORT + 1, given.to)
    with given.file.open("wb" if given.role == "receive" else "rb") as file:
        last = receive(adapter, file) if given.role == "receive" else send(adapter, file, given.at)
    print(last.reason, *(f"{address}={sent}" for address, sent in sorted(adapter.sent.items())))
