"""The picture of docs/interleaving.md: `python suites/interleaving/picture.py docs/figures/interleaving.png`.

Stream 0 sends a message of 100 bytes each 100 ms, stream 1 messages of 1 MB without a pause, over one path of
10 Mbit/s, 20 ms one way and a queue of 30 packets. The picture shows how long each small message takes, by stream
scheduler, with and without interleaving.
"""

from __future__ import annotations

import sys
from collections import deque
from heapq import heappop, heappush
from itertools import count
from pathlib import Path

from matplotlib.figure import Figure

from anabranch import Endpoint, nanoseconds, plots
from anabranch.options import Options

CLIENT, SERVER = "10.1.0.1", "10.1.0.2"
RATE = 10e6 / 8
DELAY = nanoseconds(0.02)
QUEUE = 30 * 1500
EVERY = nanoseconds(0.1)
BEGIN, END = nanoseconds(2.0), nanoseconds(12.0)
MODES: dict[str, Options] = {
    "fcfs": {"stream_scheduler": "fcfs"},
    "priority": {"stream_scheduler": "priority", "stream_values": [0, 1]},
    "priority, interleaving": {"stream_scheduler": "priority", "stream_values": [0, 1], "interleaving": True},
}


Flight = tuple[int, int, Endpoint, str, str, bytes]
"""A packet on the wire: time of arrival, number, receiver, source, destination and bytes."""
NUMBERS = count()
"""Numbers of packets: packets that arrive at the same time are ordered by them."""


class Link:
    """One direction of the path: a transmitter with a drop-tail queue in front of it."""

    def __init__(self, to: Endpoint) -> None:
        self.to = to
        self.free_at = 0

    def arrival(self, now: int, length: int) -> int | None:
        """When a packet that is sent now arrives; None if the queue is full."""
        start = max(now, self.free_at)
        if (start - now) * RATE / 1e9 > QUEUE:
            return None
        self.free_at = start + round((length + 20) / RATE * 1e9)
        return self.free_at + DELAY


def transmit(now: int, links: dict[Endpoint, Link], wire: list[Flight]) -> None:
    """Puts all packets that can be sent now on the wire, ordered by arrival, and discards all events."""
    for endpoint, link in links.items():
        while (packet := endpoint.poll_transmit(now)) is not None:
            if (at := link.arrival(now, len(packet.data))) is not None:
                ends = str(packet.source), str(packet.destination)
                heappush(wire, (at, next(NUMBERS), link.to, *ends, packet.data))
        while endpoint.poll_event() is not None:
            pass


def delays(options: Options) -> list[tuple[float, float]]:
    """When each small message was sent, and how long it took, in seconds."""
    all_options: Options = {"send_buffer": "4 MB", "receive_buffer": "4 MB", **options}
    client = Endpoint([CLIENT], port=5001, seed=1, **all_options)
    server = Endpoint([SERVER], port=5002, seed=2, **all_options)
    server.listen()
    links = {client: Link(server), server: Link(client)}
    wire: list[Flight] = []
    association, accepted = client.connect(0, 5002, [SERVER]), None
    sent: deque[int] = deque()
    seen: list[tuple[float, float]] = []
    now, next_small, large = 0, BEGIN, 0
    while now < END:
        transmit(now, links, wire)
        due = [at for endpoint in links if (at := endpoint.poll_timeout()) is not None]
        now = max(now, min([*due, next_small, *(entry[0] for entry in wire[:1])]))
        while wire and wire[0][0] <= now:
            _, _, to, source, destination, data = heappop(wire)
            to.handle(now, source, destination, data)
        for endpoint in links:
            if (timeout := endpoint.poll_timeout()) is not None and timeout <= now:
                endpoint.handle_timeout(now)
        accepted = next(iter(server.associations()), accepted)
        while accepted is not None and (part := server.receive(now, accepted)) is not None:
            if part.stream == 0:
                seen.append((sent[0] / 1e9, (now - sent.popleft()) / 1e9))
            elif part.end_of_record:
                large -= 1
        if client.state(association) != "established":
            continue
        while large < 2:
            client.send(now, association, bytes(1_000_000), stream=1)
            large += 1
        if now >= next_small:
            client.send(now, association, bytes(100), stream=0)
            sent.append(now)
            next_small += EVERY
    return seen


def draw(curves: dict[str, list[tuple[float, float]]]) -> Figure:
    """A point for each small message."""
    figure = plots.new_figure(5.2, 2.4)
    axes = figure.subplots()
    for (name, points), colour in zip(curves.items(), (plots.VERMILION, plots.BLUE, plots.GREEN), strict=True):
        axes.plot(*zip(*points, strict=True), "o", markersize=2.5, color=colour, label=name)
    axes.set(xlabel="time sent [s]", ylabel="delay of a small message [s]", yscale="log")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False)
    return figure


def main(path: Path) -> None:
    """Measures all modes, prints the mean and the longest delay of each, and draws them."""
    curves = {name: delays(options) for name, options in MODES.items()}
    for name, points in curves.items():
        taken = [delay for _, delay in points]
        print(f"{name}: mean {1000 * sum(taken) / len(taken):.0f} ms, longest {1000 * max(taken):.0f} ms")
    with plots.style():
        plots.save_small(draw(curves), path, dpi=130)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
