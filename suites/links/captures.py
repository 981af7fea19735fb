"""Reads captures, and computes the delay of each packet from a capture before and one behind a link."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKET_BLOCK = 6
"""Type of an Enhanced Packet Block (draft-ietf-opsawg-pcapng, section 4.3)."""


@dataclass(frozen=True)
class Packet:
    """When a packet left, in seconds, and its length in bytes."""

    time: float
    length: int


def read(path: Path) -> list[Packet]:
    """The packets of a pcapng file that the simulator wrote: little-endian, with times in nanoseconds."""
    return list(_packets(path.read_bytes()))


def _packets(data: bytes) -> Iterator[Packet]:
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == PACKET_BLOCK:
            high, low, _, original = struct.unpack_from("<IIII", data, at + 12)
            yield Packet(((high << 32) + low) / 1e9, original)
        at += length


def delays(before: list[Packet], behind: list[Packet], most: float) -> list[float | None]:
    """Returns the delay in seconds of each packet of ``before``, and None for each lost packet.

    A packet of ``behind`` is taken for the earliest packet of ``before`` that has the same length and left at most
    ``most`` seconds before it. So packets that follow each other closely should have different lengths.
    """
    found: list[float | None] = [None] * len(before)
    waiting: dict[int, list[int]] = {}
    for number, packet in enumerate(before):
        waiting.setdefault(packet.length, []).append(number)
    for packet in behind:
        numbers = waiting[packet.length]
        while packet.time - before[numbers[0]].time > most:
            numbers.pop(0)
        number = numbers.pop(0)
        found[number] = packet.time - before[number].time
    return found
