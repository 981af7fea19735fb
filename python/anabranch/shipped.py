"""Finds the papers, suites and scenarios that are part of the package."""

from __future__ import annotations

import os
from pathlib import Path


class UsageError(ValueError):
    """A name that does not exist, or an invalid file of a paper or suite: exit code 2."""


def folder(kind: str) -> Path:
    """The folder of ``papers``, ``suites`` or ``scenarios``.

    The environment variable ``ANABRANCH_PAPERS``, ``ANABRANCH_SUITES`` or ``ANABRANCH_SCENARIOS`` names another one.
    """
    named = os.environ.get(f"ANABRANCH_{kind.upper()}")
    return Path(named) if named else (Path(__file__).parent / "data" / kind).resolve()


def scenario(name: str) -> Path | None:
    """The file of a shipped scenario such as ``two-paths``, if there is one and no file ``name`` has precedence."""
    path = folder("scenarios") / f"{name}.toml"
    return path if path.is_file() and not Path(name).exists() else None
