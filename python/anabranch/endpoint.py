"""The protocol itself: an SCTP endpoint that has no socket, no thread and no clock.

Packets are bytes. Every call that needs the time takes it as an argument, in whole nanoseconds since an epoch of the
caller's choice (:func:`nanoseconds` converts from seconds). How to drive an endpoint:

* **Change it once** (:meth:`~Endpoint.handle`, :meth:`~Endpoint.handle_timeout`, :meth:`~Endpoint.connect`,
  :meth:`~Endpoint.send`, :meth:`~Endpoint.receive`, :meth:`~Endpoint.shutdown`, :meth:`~Endpoint.abort`),
* **drain it** (:meth:`~Endpoint.poll_transmit` and :meth:`~Endpoint.poll_event` until both give None),
* **sleep until** :meth:`~Endpoint.poll_timeout`, or until a packet comes.

With a seed, the same calls at the same times give the same packets, verification tags and TSNs: this is for simulations
and tests. Without one, the randomness comes from the operating system, as it must on a network: anyone who knows the
seed can forge cookies.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Self, TypeAlias, Unpack

from . import _core
from .options import AssociationOptions, Options
from .scenario import to_toml

Address: TypeAlias = str | IPv4Address | IPv6Address
"""An IP address, as text or as an object of :mod:`ipaddress`."""


class Endpoint(_core.Endpoint):
    """One SCTP port on one or more addresses, and its associations.

    ``options`` apply to all later associations; see :class:`Options`. An unknown option raises :class:`ConfigError`,
    which names the nearest known one. With ``checksum`` false the CRC32c is left to the network card: the field is
    zero. ``seed`` is for simulations and tests: a number, or 32 bytes. Leave it out on a network.
    """

    def __new__(
        cls,
        addresses: Sequence[Address],
        *,
        port: int,
        seed: int | bytes | None = None,
        checksum: bool = True,
        max_associations: int = 1024,
        **options: Unpack[Options],
    ) -> Self:
        """Creates an endpoint; the class documents the arguments."""
        return super().__new__(cls, addresses, port, seed, checksum, max_associations, to_toml(options))

    def set_options(self, now: int, association: int, **changes: Unpack[AssociationOptions]) -> bool:
        """Changes some options of an association that exists; the others stay. False if it is closed.

        Raises :class:`ConfigError` for an option that cannot change or a wrong value; nothing changes then.
        """
        current = self.options(association)
        if current is None:
            return False
        for name in changes:
            if name not in current:
                close = difflib.get_close_matches(name, current, n=1)
                hint = f"; did you mean `{close[0]}`?" if close else ""
                known = ", ".join(f"`{key}`" for key in current)
                raise _core.ConfigError(
                    f"`{name}` cannot change while an association exists; expected one of {known}{hint}"
                )
        return self._set_options(now, association, to_toml({**current, **changes}))


def nanoseconds(seconds: float) -> int:
    """Converts seconds to the integer nanoseconds that an endpoint takes.

    >>> nanoseconds(1.5)
    1500000000
    """
    return round(seconds * 1e9)
