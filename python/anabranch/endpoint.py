"""The protocol itself: an SCTP endpoint that has no socket, no thread and no clock.

Packets are bytes. Every call that needs the time takes it as an argument, in whole nanoseconds since an epoch of the
caller's choice (:func:`nanoseconds` converts from seconds). How to drive an endpoint:

* **Change it once** (:meth:`~Endpoint.handle`, :meth:`~Endpoint.on_icmp`, :meth:`~Endpoint.handle_timeout`,
  :meth:`~Endpoint.connect`, :meth:`~Endpoint.accept`, :meth:`~Endpoint.send`, :meth:`~Endpoint.receive`,
  :meth:`~Endpoint.shutdown`, :meth:`~Endpoint.abort`),
* **drain it** (:meth:`~Endpoint.poll_transmit` and :meth:`~Endpoint.poll_event` until both give None),
* **sleep until** :meth:`~Endpoint.poll_timeout`, or until a packet comes.

The order of arguments is that of the Rust crate. ``examples/udp_adapter.py`` drives endpoints with UDP sockets.

With a seed, the same calls at the same times give the same packets, verification tags and TSNs: this is for simulations
and tests. Without one, the randomness comes from the operating system, as it must on a network: anyone who knows the
seed can forge cookies.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address
from typing import Self, TypeAlias, Unpack

from . import _core
from ._core import UDP_PORT, Arrival, Discarded, EndpointStats, Event, Path, Received, Stats, Transmit
from .options import AssociationOptions, Options
from .scenario import to_toml

__all__ = [
    "UDP_PORT",
    "Address",
    "Arrival",
    "Discarded",
    "Endpoint",
    "EndpointStats",
    "Event",
    "Path",
    "Received",
    "Stats",
    "Transmit",
    "nanoseconds",
]

Address: TypeAlias = str | IPv4Address | IPv6Address
"""An IP address, as text or as an object of :mod:`ipaddress`."""


class Endpoint(_core.Endpoint):
    """One SCTP port on one or more addresses, and its associations.

    ``options`` apply to all later associations; see :class:`Options`. An unknown option raises :class:`ConfigError`,
    which names the nearest known one. With ``checksum`` false the CRC32c is left to the network card: the field is
    zero. ``seed`` is for simulations and tests: a number, or 32 bytes. Leave it out on a network.

    ``encapsulation`` is for packets that travel in UDP (RFC 6951): the UDP port of peers from which nothing was
    received yet, usually :data:`UDP_PORT` (9899). With None packets travel in IP alone, and packets in UDP are
    discarded.
    """

    def __new__(
        cls,
        addresses: Iterable[Address],
        *,
        port: int,
        seed: int | bytes | bytearray | memoryview | None = None,
        checksum: bool = True,
        max_associations: int = 1024,
        encapsulation: int | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Creates an endpoint; see the class."""
        text = to_toml(options)
        return super().__new__(cls, addresses, port, seed, checksum, max_associations, encapsulation, text)

    def connect(self, now: int, port: int, addresses: Iterable[Address], **options: Unpack[Options]) -> int:
        """Begins an association with the peer at ``port`` of one or more addresses, and returns its number.

        ``options`` are for this association; those left out are as in the endpoint. Raises :class:`ConnectError` if
        there is an association with the peer or the endpoint has too many, ValueError if no address can be used, and
        :class:`ConfigError`.
        """
        return self._connect(now, port, addresses, to_toml(options))

    def accept(self, now: int, arrival: int, **options: Unpack[Options]) -> int:
        """Accepts an arrival, by its ``id``, and returns the number of the new association.

        ``options`` are for this association; those left out are as in the endpoint. ``receive_buffer`` must not be
        smaller than there. Raises :class:`ConnectError` if the arrival is gone, there is an association with the peer
        or the endpoint has too many, and :class:`ConfigError`, after which the arrival still waits.
        """
        return self._accept(now, arrival, to_toml(options))

    def set_options(self, now: int, association: int, **changes: Unpack[AssociationOptions]) -> bool:
        """Changes some options of an association that exists; the others stay. False if it is closed.

        Raises :class:`ConfigError` for an option that cannot change or a wrong value; nothing changes then.
        """
        return self._set_options(now, association, to_toml(changes))


def nanoseconds(seconds: float) -> int:
    """Converts seconds to the integer nanoseconds that an endpoint takes.

    >>> nanoseconds(1.5)
    1500000000
    """
    return round(seconds * 1e9)
