"""The protocol itself: an SCTP endpoint that has no socket, no thread and no clock.

Packets go in and come out as bytes, and every call that needs the time is given it, in whole nanoseconds since an
epoch of the caller's choice (:func:`nanoseconds` makes them from seconds). What to do with an endpoint:

* **Change it once** (:meth:`~Endpoint.handle`, :meth:`~Endpoint.handle_timeout`, :meth:`~Endpoint.connect`,
  :meth:`~Endpoint.send`, :meth:`~Endpoint.receive`, :meth:`~Endpoint.shutdown`, :meth:`~Endpoint.abort`),
* **drain it** (:meth:`~Endpoint.poll_transmit` and :meth:`~Endpoint.poll_event` until both give None),
* **sleep until** :meth:`~Endpoint.poll_timeout`, or until a packet comes.

The same seed, the same calls and the same times give the same packets, verification tags and TSNs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Literal, Self, TypeAlias, TypedDict, Unpack

from . import _core
from .scenario import to_toml

Address: TypeAlias = str | IPv4Address | IPv6Address
"""An IP address, as text or as an object of :mod:`ipaddress`."""


class Cmt(TypedDict, total=False):
    """Concurrent multipath transfer: with ``enabled`` false none of the others has any effect."""

    enabled: bool
    sfr: bool
    dac: bool
    cuc: Literal["normal", "v1", "v2"]
    rtx: Literal["same", "asap", "cwnd", "ssthresh", "lossrate", "alternate"]
    path_selection: str
    smart_t3: bool
    smart_fast_rtx: bool
    rtt_heuristic: bool
    recovery_by_cuc: bool
    note_cumulative: bool


class Options(TypedDict, total=False):
    """Every protocol parameter of RFC 9260, section 16, and every option of an association.

    Times and sizes are text with a unit (``"200 ms"``, ``"1 MB"``), as in a scenario; what is left out has the
    default of the RFC.
    """

    rto_initial: str
    rto_min: str
    rto_max: str
    rto_alpha: float
    rto_beta: float
    rto_jitter: float
    max_burst: int
    burst_control: str
    valid_cookie_life: str
    association_max_retrans: int
    path_max_retrans: int
    max_init_retransmits: int
    hb_interval: str
    """Or ``"none"``: no heartbeats, but for the verification of addresses."""
    hb_max_burst: int
    sack_delay: str
    sack_frequency: int
    outbound_streams: int
    max_inbound_streams: int
    receive_buffer: str
    sws_limit: str
    send_buffer: str
    send_queue: int | Literal["none"]
    mtu: str
    bundling: bool
    nagle: bool
    announce_address_types: bool
    congestion_control: str
    growth: Literal["rfc4960", "rfc9260"]
    accounting: Literal["payload", "chunk", "packet"]
    rp_min: int
    unset_share: Literal["raw", "equal"]
    cmt: Cmt
    knobs: Mapping[str, Mapping[str, str | float | bool]]
    """What congestion controls leave open, a table for each: ``{"cubic": {"beta": 0.8}}``."""


class Endpoint(_core.Endpoint):
    """One SCTP port on one or more addresses, and its associations.

    ``options`` hold for all associations made after; see :class:`Options`. A word that is none is answered with
    :class:`ConfigError` and the nearest right one. ``checksum`` false leaves CRC32c to the network card, as zero.
    """

    def __new__(
        cls,
        addresses: Sequence[Address],
        *,
        port: int,
        seed: int,
        checksum: bool = True,
        max_associations: int = 1024,
        **options: Unpack[Options],
    ) -> Self:
        """Makes an endpoint; see the class."""
        return super().__new__(cls, addresses, port, seed, checksum, max_associations, to_toml(options))


def nanoseconds(seconds: float) -> int:
    """Seconds as the whole nanoseconds that an endpoint takes.

    >>> nanoseconds(1.5)
    1500000000
    """
    return round(seconds * 1e9)
