"""Delay of video frames with and without partial reliability: `python suites/video/pictures.py docs/figures`.

Two endpoints are connected in memory by a link of 5 Mbit/s and 30 ms each way that loses 2 % of the packets. The sender
sends a frame of 6 kB every 40 ms on one stream, in order. A frame that is lost delays all later frames.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field
from heapq import heappop, heappush
from pathlib import Path

from matplotlib.figure import Figure

from anabranch import Endpoint, nanoseconds, plots

SENDER, RECEIVER = "10.1.0.1", "10.1.0.2"
PORT = 5001
DELAY, RATE, LOSS = 0.03, 5e6, 0.02
FRAME, INTERVAL, FRAMES = 6_000, 0.04, 500

SERVICES: list[tuple[str, dict[str, float] | None]] = [
    ("reliable", None),
    ("lifetime 150 ms", {"lifetime": 0.15}),
    ("no retransmission", {"retransmissions": 0}),
]
COLORS = (plots.VERMILION, plots.BLUE, "black")


@dataclass
class Link:
    """Both directions between the endpoints, in the order of arrival."""

    chance: random.Random
    wire: list[tuple[int, int, Endpoint, str, str, bytes]] = field(default_factory=list)
    free_at: dict[str, int] = field(default_factory=dict)
    packets: int = 0

    def carry(self, now: int, sender: Endpoint, to: Endpoint) -> None:
        """Takes the packets that an endpoint sends; a packet waits until earlier packets have left."""
        while (sent := sender.poll_transmit(now)) is not None:
            self.packets += 1
            source, destination = str(sent.source), str(sent.destination)
            leaves = max(now, self.free_at.get(source, 0)) + nanoseconds((len(sent.data) + 20) * 8 / RATE)
            self.free_at[source] = leaves
            if source == RECEIVER or self.chance.random() >= LOSS:
                arrives = leaves + nanoseconds(DELAY)
                heappush(self.wire, (arrives, self.packets, to, source, destination, sent.data))


def delays(reliability: dict[str, float] | None) -> dict[int, float]:
    """The delay of each frame that arrived, in seconds."""
    options = {"pr_sctp": True, "rto_min": "200 ms"}
    sender, receiver = (Endpoint([own], port=PORT, seed=seed, **options) for seed, own in enumerate((SENDER, RECEIVER)))
    receiver.listen()
    link, now, sent, arrived = Link(random.Random(7)), 0, 0, {}
    association = sender.connect(now, PORT, [RECEIVER])
    start = nanoseconds(1.0)
    peer: int | None = None
    while sent < FRAMES or now < start + nanoseconds(FRAMES * INTERVAL + 5):
        for one, other in ((sender, receiver), (receiver, sender)):
            link.carry(now, one, other)
            while (event := one.poll_event()) is not None:
                peer = event.association if one is receiver else peer
        while peer is not None and (message := receiver.receive(now, peer)) is not None:
            number = int.from_bytes(message.data[:4], "big")
            arrived[number] = (now - start) / 1e9 - number * INTERVAL
        due = [at for at in (sender.poll_timeout(), receiver.poll_timeout()) if at is not None]
        due += [link.wire[0][0]] if link.wire else []
        due.append(start + nanoseconds(sent * INTERVAL if sent < FRAMES else FRAMES * INTERVAL + 5))
        now = max(now, min(due))
        while link.wire and link.wire[0][0] <= now:
            _, _, to, source, destination, packet = heappop(link.wire)
            to.handle(now, source, destination, packet)
        for endpoint in (sender, receiver):
            endpoint.handle_timeout(now)
        if sent < FRAMES and now >= start + nanoseconds(sent * INTERVAL):
            sender.send(now, association, sent.to_bytes(4, "big") + bytes(FRAME - 4), reliability=reliability)
            sent += 1
    return arrived


def draw() -> Figure:
    """The delay of each frame, a row for each service."""
    figure = plots.new_figure(5.2, 3.6)
    rows = figure.subplots(len(SERVICES), 1, sharex=True, sharey=True)
    for axes, (name, reliability), color in zip(rows, SERVICES, COLORS, strict=True):
        arrived = delays(reliability)
        times = [number * INTERVAL for number in arrived]
        axes.plot(times, [delay * 1000 for delay in arrived.values()], ".", markersize=2, color=color)
        late = sum(delay > 0.15 for delay in arrived.values())
        lost = FRAMES - len(arrived)
        title = f"{name}: {lost} of {FRAMES} frames abandoned, {late} later than 150 ms"
        axes.set_title(title, loc="left", fontsize=7)
        axes.axhline(150, color="0.7", linewidth=0.6, zorder=0)
        axes.set(ylabel="delay [ms]", xlim=(0, FRAMES * INTERVAL))
        axes.set_ylim(bottom=0)
    rows[-1].set_xlabel("time at which the frame was sent [s]")
    return figure


def main(folder: Path) -> None:
    """Runs all services and writes the picture."""
    with plots.style():
        plots.save_small(draw(), folder / "partial-reliability.png", dpi=130)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
