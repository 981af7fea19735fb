"""Packets of captures, and which packet behind a link is which before it."""

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
    """The delay of each packet in seconds, at most ``most``; None if it was lost.

    The first packet of the same length that left early enough counts as the same, so lengths should differ.
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
