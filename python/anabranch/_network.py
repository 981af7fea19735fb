"""Common parts of :mod:`anabranch.net` and :mod:`anabranch.aio`: everything except the calls that wait."""

from __future__ import annotations

import os
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar, Unpack

from . import _core
from ._core import UDP_PORT
from .endpoint import Address
from .options import Options
from .scenario import to_toml

Addresses: TypeAlias = Address | Sequence[Address]
"""One IP address or several, as text or as objects of :mod:`ipaddress`."""

Buffer: TypeAlias = bytes | bytearray | memoryview
"""Bytes to send."""

File: TypeAlias = str | os.PathLike[str]
"""The name of a file."""

Peers: TypeAlias = File | Sequence[File]
"""Public keys, as 64 hexadecimal digits or 44 characters of base64, and names of files that list peers."""


class EndpointArguments(Options, total=False):
    """The keyword arguments of an endpoint."""

    port: int
    udp_port: int
    remote_udp_port: int
    max_associations: int
    watch_addresses: bool
    key: File | None
    peers: Peers
    accept_any: bool
    psk: str | None


class Peer(NamedTuple):
    """The peer of a connection."""

    addresses: list[IPv4Address | IPv6Address]
    """Addresses of the peer, in the order of the paths."""
    port: int
    """SCTP port of the peer."""

    def __str__(self) -> str:
        return place(self.addresses, self.port)


def known(peers: Peers, peer: str | None, key: File | None) -> Peers:
    """The peers of an endpoint that connects to one peer: that one alone unless ``peers`` names some."""
    return peers if peers or peer is None or key is None else [peer]


def place(addresses: Addresses, port: int) -> str:
    """Addresses and a port as text for error messages."""
    several = [addresses] if isinstance(addresses, str | IPv4Address | IPv6Address) else addresses
    return f"{', '.join(map(str, several))} port {port}"


def _name(of: object) -> str:
    return f"{type(of).__module__}.{type(of).__qualname__}"


Handle = TypeVar("Handle")


class Owned(Generic[Handle]):
    """Only the process that created this object can use it: a forked child has no thread that drives the sockets."""

    def __init__(self, handle: Handle) -> None:
        self._owned = handle
        self._process = os.getpid()

    @property
    def _inherited(self) -> bool:
        """Whether this process is a forked child of the process that created the object."""
        return self._process != os.getpid()

    @property
    def _handle(self) -> Handle:
        if self._process != os.getpid():
            raise _core.EndpointClosedError(
                f"{_name(self)} of process {self._process} cannot be used in process {os.getpid()}, which was forked "
                "from it and has no thread that drives the sockets: make an endpoint in the child"
            )
        return self._owned

    def __repr__(self) -> str:
        return f"<{_name(self)} of process {self._process}>" if self._inherited else self._shown()

    def _shown(self) -> str:
        """The representation of the object in the process that created it."""
        return object.__repr__(self)


class BaseEndpoint(Owned[_core.NetEndpoint]):
    """An SCTP port on one or several local addresses, in UDP (RFC 6951). A thread without the GIL drives it."""

    def __init__(
        self,
        local: Addresses = (),
        *,
        port: int = 0,
        udp_port: int = UDP_PORT,
        remote_udp_port: int = UDP_PORT,
        max_associations: int = 1024,
        watch_addresses: bool = False,
        key: File | None = None,
        peers: Peers = (),
        accept_any: bool = False,
        psk: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Binds the UDP sockets.

        ``local``: the local addresses; without any, all addresses of the host. ``port``: the SCTP port; 0 for any.
        ``udp_port``: the UDP port of all local addresses; 0 for any. ``remote_udp_port``: the UDP port of peers that
        have not sent anything yet. ``watch_addresses``: follow the interfaces of the host (Linux only): an address that
        disappears, or whose link goes down, is removed, and a new address is added. If ``local`` is given, only its
        addresses are considered. ``options``: the protocol, as in :class:`anabranch.options.Options`; the defaults here
        are those of ``profile="recommended"``.

        With ``key``, the file of a private key, all packets are encrypted, and the peer of each connection is
        authenticated; the file is made with a new key if it does not exist. Without it, everything is sent in clear.
        ``peers``: who may connect and be connected to: public keys, and names of files that list them. A file has a
        line ``KEY [NAME] [psk=SECRET]`` for each peer. ``accept_any``: everyone else who knows the public key of this
        endpoint (``identity``) may connect, too; ``peer_identity`` of the connection tells who it is. ``psk``: a secret
        of 64 hexadecimal digits that is shared with all peers that have none of their own. At any time a key must be
        in use by one endpoint only.

        Raises :class:`OSError`, which names the address or the file, if an address cannot be bound or a key file cannot
        be read, :class:`ValueError` for an invalid address, port or key, and :class:`anabranch.ConfigError` for an
        option that does not exist.
        """
        self._closed = False
        super().__init__(
            _core.NetEndpoint(
                local,
                port,
                udp_port,
                remote_udp_port,
                max_associations,
                watch_addresses,
                key,
                [os.fspath(peer) for peer in ([peers] if isinstance(peers, str | os.PathLike) else peers)],
                accept_any,
                psk,
                to_toml(options),
            )
        )

    @property
    def local_addresses(self) -> list[IPv4Address | IPv6Address]:
        """The local addresses as they are now."""
        return self._handle.local_addresses

    @property
    def port(self) -> int:
        """The SCTP port."""
        return self._handle.port

    @property
    def udp_port(self) -> int:
        """The UDP port."""
        return self._handle.udp_port

    @property
    def identity(self) -> str | None:
        """The public key of this end as 64 hexadecimal digits, for its peers; None without encryption."""
        return self._handle.identity

    def sockets(self) -> list[_core.SocketStats]:
        """The counters of each UDP socket."""
        return self._handle.sockets()

    def _connecting(
        self, addresses: Addresses, port: int, udp_port: int | None, peer: str | None, options: Options
    ) -> _core.Operation[_core.NetConnection]:
        return self._handle.connect(addresses, port, udp_port, peer, to_toml(options) if options else None)

    def _closing(self) -> _core.Operation[None]:
        self._closed = True
        return self._handle.close()

    def _begin_to_close(self) -> None:
        """Begins to close, without waiting for the end."""
        if not self._inherited:
            self._closing().wait(0)

    def _shown(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<{_name(self)} {place(self.local_addresses, self.port)}, UDP port {self.udp_port}: {state}>"


class BaseListener(Owned[_core.NetListener]):
    """Connections that peers begin."""

    def __init__(self, endpoint: BaseEndpoint, backlog: int, owner: bool) -> None:
        self._endpoint = endpoint
        # Whether closing the listener closes the endpoint.
        self._owner = owner
        super().__init__(endpoint._handle.listen(backlog))

    @property
    def local_addresses(self) -> list[IPv4Address | IPv6Address]:
        """The local addresses."""
        return self._endpoint.local_addresses

    @property
    def port(self) -> int:
        """The SCTP port."""
        return self._endpoint.port

    @property
    def udp_port(self) -> int:
        """The UDP port."""
        return self._endpoint.udp_port

    @property
    def identity(self) -> str | None:
        """The public key of this end as 64 hexadecimal digits, for its peers; None without encryption."""
        return self._endpoint.identity

    def _begin_to_close(self) -> None:
        """Begins to close, without waiting for the end."""
        if not self._inherited:
            self._handle.close()
            if self._owner:
                self._endpoint._begin_to_close()

    def _end(self) -> _core.EndpointClosedError:
        return _core.EndpointClosedError(f"no more connections: {self!r}")

    def _shown(self) -> str:
        state = "closed" if self._handle.closed() or self._endpoint._closed else "listening"
        return f"<{_name(self)} {place(self.local_addresses, self.port)}, UDP port {self.udp_port}: {state}>"


class BaseConnection(Owned[_core.NetConnection]):
    """A connection: an association of SCTP, which carries messages on several streams over all its paths."""

    def __init__(self, handle: _core.NetConnection) -> None:
        super().__init__(handle)
        self._shut = False

    @property
    def peer(self) -> Peer | None:
        """The addresses and the SCTP port of the peer; None if the connection ended before they were known."""
        peer = self._handle.peer
        return peer and Peer(*peer)

    @property
    def peer_identity(self) -> str | None:
        """The public key that the peer has proved to own, as 64 hexadecimal digits; None without encryption."""
        return self._handle.peer_identity

    @property
    def outbound_streams(self) -> int | None:
        """The number of streams that messages can be sent on; None once the connection has ended."""
        return self._handle.outbound_streams

    @property
    def state(self) -> Literal["open", "shutting-down", "closed"]:
        """Whether messages can be sent."""
        if self._end() is not None:
            return "closed"
        return "shutting-down" if self._shut else "open"

    def try_send(
        self,
        data: Buffer,
        *,
        stream: int = 0,
        ppid: int = 0,
        unordered: bool = False,
        immediate_sack: bool = False,
        reliability: dict[str, float] | None = None,
        context: int = 0,
        urgent: bool = False,
        path: int | None = None,
    ) -> bool:
        """As ``send``, but returns false if there is no room or if others wait for room; nothing is sent then."""
        return self._handle.try_send(data, stream, ppid, unordered, immediate_sack, reliability, context, urgent, path)

    def unread(self, stream: int = 0) -> int:
        """The number of messages of a stream that have arrived and wait to be read."""
        return self._handle.unread(stream)

    def abort(self, reason: Buffer = b"") -> None:
        """Ends the connection at once and sends the reason to the peer. Undelivered messages are lost."""
        self._handle.abort(reason)

    def _end(self) -> str | None:
        """The event of the end of the connection; None while the connection exists."""
        try:
            end = self._handle.end()
        except _core.EndpointClosedError:
            return "without its endpoint"
        return end and end.reason

    def _shutting(self) -> _core.Operation[None]:
        self._shut = True
        return self._handle.shutdown()

    def _shown(self) -> str:
        end = self._end()
        state = self.state if end is None else f"closed ({end})"
        return f"<{_name(self)} to {self.peer or 'an unknown peer'}: {state}>"
