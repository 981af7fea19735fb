"""Two endpoints connected by a network in memory; the test advances the time."""

from __future__ import annotations

import random
from collections import deque
from heapq import heappop, heappush
from typing import Any

from anabranch import Endpoint, nanoseconds
from anabranch.endpoint import Event, Received, Transmit

A, B = ("10.1.0.1", "10.2.0.1"), ("10.1.0.2", "10.2.0.2")
PORT_A, PORT_B = 5001, 5002
DELAY = nanoseconds(0.005)


class Pair:
    """A client and a listening server, and a wire between them that loses, delays and records packets."""

    udp_port_of_client = 0
    """UDP source port of the client's encapsulated packets, as a NAT may change it."""

    def __init__(self, loss: float = 0.0, seed: int = 1, **options: Any) -> None:
        self.client = Endpoint(A, port=PORT_A, seed=seed, **options)
        self.server = Endpoint(B, port=PORT_B, seed=seed + 1000, **options)
        self.server.listen()
        self.now = 0
        self.loss = loss
        self.dead: set[str] = set()
        self.packets: list[tuple[int, str, str, bytes]] = []
        self.transmits: dict[Endpoint, list[Transmit]] = {self.client: [], self.server: []}
        self.events: dict[Endpoint, deque[Event]] = {self.client: deque(), self.server: deque()}
        self._wire: list[tuple[int, int, Endpoint, str, str, bytes, int]] = []
        self._chance = random.Random(seed)

    def drain(self) -> None:
        """Takes the packets and events of both endpoints until there are none."""
        for endpoint, other in ((self.client, self.server), (self.server, self.client)):
            while (sent := endpoint.poll_transmit(self.now)) is not None:
                source, destination = str(sent.source), str(sent.destination)
                self.packets.append((self.now, source, destination, sent.data))
                self.transmits[endpoint].append(sent)
                from_port = self.udp_port_of_client if endpoint is self.client else PORT_B
                udp_port = from_port if sent.udp_port else 0
                if self._chance.random() >= self.loss and not {source, destination} & self.dead:
                    entry = (self.now + DELAY, len(self.packets), other, source, destination, sent.data, udp_port)
                    heappush(self._wire, entry)
            while (event := endpoint.poll_event()) is not None:
                self.events[endpoint].append(event)

    def step(self, until: int) -> bool:
        """Advances to the next arrival or timeout; false if there is none before ``until``."""
        self.drain()
        due = [t for t in (self.client.poll_timeout(), self.server.poll_timeout()) if t is not None]
        due += [self._wire[0][0]] if self._wire else []
        if not due or min(due) > until:
            self.now = until
            return False
        self.now = max(self.now, min(due))
        while self._wire and self._wire[0][0] <= self.now:
            _, _, endpoint, source, destination, packet, udp_port = heappop(self._wire)
            endpoint.handle(self.now, source, destination, packet, udp_port=udp_port)
        for endpoint in (self.client, self.server):
            if (timeout := endpoint.poll_timeout()) is not None and timeout <= self.now:
                endpoint.handle_timeout(self.now)
        self.drain()
        return True

    def run(self, seconds: float) -> None:
        """Advances the time by ``seconds`` and processes all arrivals and timeouts."""
        until = self.now + nanoseconds(seconds)
        while self.step(until):
            pass

    def connect(self) -> tuple[int, int]:
        """An established association: its number at the client and at the server."""
        mine = self.client.connect(self.now, PORT_B, B)
        self.run(20.0 if self.loss else 1.0)
        assert self.client.state(mine) == "established"
        (theirs,) = self.server.associations()
        return mine, theirs

    def kinds(self, endpoint: Endpoint) -> list[str]:
        """The events so far, by kind."""
        return [event.kind for event in self.events[endpoint]]

    def read(self, endpoint: Endpoint, association: int) -> list[Received]:
        """Reads all messages that have arrived."""
        found: list[Received] = []
        while (message := endpoint.receive(self.now, association)) is not None:
            found.append(message)
        return found
