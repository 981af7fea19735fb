"""``anabranch bonding --random --kind``: kinds of traffic other than a single saturated transfer.

Each kind has a file of its own: what it draws, its scenario, and its figures of merit. ``alone``, the default, is older
and has more tables: :mod:`anabranch.suites.bonding.random_draws`.
"""

from __future__ import annotations

from typing import Any

from ...running import chosen
from . import limited, shared, short, steps
from .kind import DEFAULT_OPTIONS, Distribution, Kind, measure

__all__ = ["ALONE", "DEFAULT_OPTIONS", "KINDS", "Distribution", "measure", "named"]

ALONE = "alone"
_ALL: tuple[Kind[Any], ...] = (shared.KIND, steps.KIND, limited.KIND, short.SHORT, short.PAIR)
KINDS: dict[str, Kind[Any]] = {kind.name: kind for kind in _ALL}
"""The kinds by name, without ``alone``."""


def named(name: str) -> Kind[Any] | None:
    """The kind of a name, None for ``alone``. Raises :class:`SuiteError` for a word that is no kind."""
    (found,) = chosen(name, (ALONE, *KINDS), "kind of draws")
    return KINDS.get(found)
