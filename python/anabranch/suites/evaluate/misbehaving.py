"""Receivers that lie (RFC 9743, section 7.6): two associations of the real stack share a bottleneck in memory.

The receiver of one lies, that of the other one does not. Both senders have the control that is evaluated.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from heapq import heappop, heappush
from itertools import count
from typing import Any

from ..._core import WouldBlockError
from ...endpoint import Endpoint, Transmit, nanoseconds
from .bench import BDP, RATE


class Lie(Enum):
    """What the receiver tells its sender."""

    NONE = "the truth"
    REPEATED = "each SACK eight times"
    LOSSES = "lost data is acknowledged"
    EARLY = "data is acknowledged as it leaves the sender"
    UNMARKED = "marks of ECN are not reported"
    MARKED = "all packets are reported as marked (ECN)"

    @property
    def of_marks(self) -> bool:
        """The lie is about ECN, so that both associations use it."""
        return self in (Lie.UNMARKED, Lie.MARKED)


LASTS, WARM_UP = 15.0, 5.0
"""Seconds of a run, and those that do not count."""
OFFERED = 5 * RATE
"""Bit/s of each application: a sender without congestion control would fill the bottleneck five times."""

_DELAY, _JITTER = nanoseconds(0.02), nanoseconds(0.001)
_IP, _HEADER, _DATA, _SACK = 20, 12, 0, 3
_ECT0, _CE = 2, 3
_MESSAGE = bytes(20_000)
_NEVER = 1 << 62


@dataclass(frozen=True)
class Rates:
    """Bytes after ``WARM_UP``: what the bottleneck carried of each association, and what the liar's sender sent."""

    carried: float
    beside: float
    sent: float


class Bottleneck:
    """A drop-tail queue of one bandwidth-delay product. With ECN it marks packets that find it half full."""

    def __init__(self, ecn: bool) -> None:
        self._free = 0
        self._ecn = ecn

    def take(self, now: int, size: int) -> tuple[int, bool] | None:
        """The time at which a packet has left the queue, and whether it is marked; None if it is dropped."""
        waiting = max(0, self._free - now) * RATE / 8e9
        if waiting + size > BDP:
            return None
        self._free = max(now, self._free) + round(size * 8e9 / RATE)
        return self._free, self._ecn and waiting > BDP / 2


class Flow:
    """A sender and its receiver."""

    def __init__(self, number: int, lie: Lie, ecn: bool, seed: int, options: dict[str, Any]) -> None:
        self.lie = lie
        self.addresses = f"10.{number}.0.1", f"10.{number}.0.2"
        more: dict[str, Any] = {"ecn": "on"} if ecn else {}
        # The receiver has default options, so that SACKs are plain.
        ends = zip(self.addresses, (5001, 5002), (options | more, more), strict=True)
        self.sender, self.receiver = (
            Endpoint([address], port=port, seed=10 * seed + number + port, checksum=False, **own)
            for address, port, own in ends
        )
        self.receiver.listen()
        self.association = -1
        self.due = _NEVER
        self.last = 0
        self.carried = self.sent = 0
        self._offered = 0
        self._tags = b""
        self._highest: int | None = None

    def begin(self, now: int) -> None:
        """Opens the association."""
        self.association = self.sender.connect(now, 5002, self.addresses[1:])

    def turn(self, now: int) -> Iterator[Transmit]:
        """Handles timeouts, moves data between endpoints and applications, and gives all packets that leave."""
        ends = self.sender, self.receiver
        for end in ends:
            if (at := end.poll_timeout()) is not None and at <= now:
                end.handle_timeout(now)
        try:
            while self._offered < OFFERED * now / 8e9:
                self.sender.send(now, self.association, _MESSAGE)
                self._offered += len(_MESSAGE)
        except WouldBlockError:
            pass
        for association in self.receiver.associations():
            while self.receiver.receive(now, association) is not None:
                pass
        for end in ends:
            while end.poll_event() is not None:
                pass
            while (sent := end.poll_transmit(now)) is not None:
                yield sent
        self.due = min((at for end in ends if (at := end.poll_timeout()) is not None), default=_NEVER)

    def learn_tag(self, packet: bytes) -> None:
        """Reads the tag of the packets back from an INIT."""
        self._tags = packet[_HEADER + 4 : _HEADER + 8]

    def sack(self, packet: bytes) -> bytes:
        """The lie about a packet with data: nothing up to its last chunk is missing."""
        for kind, chunk in chunks(packet):
            if kind == _DATA:
                tsn = int.from_bytes(chunk[4:8], "big")
                if self._highest is None or 0 < (tsn - self._highest) % 2**32 < 2**31:
                    self._highest = tsn
        highest = (self._highest or 0).to_bytes(4, "big")
        told = bytes([_SACK, 0, 0, 16]) + highest + (1 << 20).to_bytes(4, "big") + bytes(4)
        return packet[2:4] + packet[0:2] + self._tags + bytes(4) + told


def chunks(packet: bytes) -> list[tuple[int, bytes]]:
    """The chunks of a packet with their types."""
    found, at = [], _HEADER
    while at + 4 <= len(packet):
        length = int.from_bytes(packet[at + 2 : at + 4], "big")
        found.append((packet[at], packet[at : at + length]))
        at += max(4, (length + 3) // 4 * 4)
    return found


class World:
    """Two associations, the bottleneck, and what is under way."""

    def __init__(self, lie: Lie, ecn: bool, seed: int, options: dict[str, Any]) -> None:
        self.flows = [Flow(number, of, ecn, seed, options) for number, of in ((1, lie), (2, Lie.NONE))]
        self._line = Bottleneck(ecn)
        self._dice = random.Random(seed)
        self._events: list[tuple[int, int, Flow, Callable[[int], None]]] = []
        self._numbers = count()

    def run(self) -> Rates:
        """Carries data for ``LASTS`` seconds."""
        liar, other = self.flows
        for flow in self.flows:
            self._at(self._dice.randrange(nanoseconds(1)), flow, flow.begin)
        end = nanoseconds(LASTS)
        while True:
            flow = min(self.flows, key=lambda one: one.due)
            if self._events and self._events[0][0] <= flow.due:
                now, _, flow, event = heappop(self._events)
                event(now)
            else:
                now = flow.due
            if now >= end:
                return Rates(liar.carried, other.carried, liar.sent)
            for sent in flow.turn(now):
                if str(sent.source) == flow.addresses[0]:
                    # Packets of a flow stay in order.
                    flow.last = max(flow.last, now + self._dice.randrange(_JITTER))
                    self._at(flow.last, flow, lambda now, flow=flow, sent=sent: self._forward(now, flow, sent))
                    continue
                repeated = flow.lie is Lie.REPEATED and chunks(sent.data)[0][0] == _SACK
                for _ in range(8 if repeated else 1):
                    self._back(now, flow, sent.data)

    def _at(self, time: int, flow: Flow, event: Callable[[int], None]) -> None:
        heappush(self._events, (time, next(self._numbers), flow, event))

    def _back(self, now: int, flow: Flow, packet: bytes) -> None:
        sender, receiver = flow.addresses
        self._at(now + _DELAY, flow, lambda now: flow.sender.handle(now, receiver, sender, packet))

    def _forward(self, now: int, flow: Flow, sent: Transmit) -> None:
        """A packet of the sender comes to the bottleneck."""
        packet, kinds = sent.data, [kind for kind, _ in chunks(sent.data)]
        if kinds[0] == 1:  # INIT
            flow.learn_tag(packet)
        data = kinds[0] == _DATA
        if data and flow.lie is Lie.EARLY:
            self._back(now, flow, flow.sack(packet))
        size, counts = len(packet) + _IP, now >= nanoseconds(WARM_UP)
        flow.sent += size * counts
        if (passed := self._line.take(now, size)) is None:
            return
        left, marked = passed
        flow.carried += size * counts
        ecn = sent.ecn
        if flow.lie is Lie.MARKED or (marked and flow.lie is not Lie.UNMARKED):
            ecn = _CE if sent.ecn == _ECT0 else sent.ecn
        self._at(left + _DELAY, flow, lambda now: self._arrive(now, flow, packet, ecn, data))

    def _arrive(self, now: int, flow: Flow, packet: bytes, ecn: int, data: bool) -> None:
        if not data or flow.lie not in (Lie.LOSSES, Lie.EARLY):
            flow.receiver.handle(now, *flow.addresses, packet, ecn=ecn)
        elif flow.lie is Lie.LOSSES:
            self._back(now, flow, flow.sack(packet))


def rates(lie: Lie, ecn: bool, seed: int, options: dict[str, Any]) -> Rates:
    """The rates of one run."""
    return World(lie, ecn, seed, options).run()
