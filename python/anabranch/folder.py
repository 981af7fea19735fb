"""Folders of results: every reader goes through here, so that damaged files are never shown as results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

_SEAL = "manifest_sha256"


class DamagedResultError(ValueError):
    """A file in a folder of results was changed or damaged after it was written."""


def manifest_of(folder: Path) -> dict[str, Any]:
    """The ``manifest.json`` of a folder of results.

    The manifest contains its own SHA-256, which is computed with an empty text in that place. Raises OSError if the
    file cannot be read, and :class:`DamagedResultError` if it is not what was written.
    """
    path = folder / "manifest.json"
    data = path.read_bytes()
    if _SEAL.encode() not in data:
        raise DamagedResultError(
            f"{path} has no checksums: it is damaged, or of an older version of this program; run the scenario again"
        )
    manifest = parsed(data)
    seal = manifest.pop(_SEAL, None) if isinstance(manifest, dict) else None
    if not isinstance(seal, str) or len(seal) != 64 or _sum(data.replace(seal.encode(), b"", 1)) != seal:
        raise _damaged(path)
    return manifest


def sealed(manifest: Mapping[str, Any]) -> str:
    """The text of a manifest with its SHA-256, as :func:`manifest_of` reads it."""
    blank = json.dumps({_SEAL: "", **manifest})
    return blank.replace(f'"{_SEAL}": ""', f'"{_SEAL}": "{_sum(blank.encode())}"', 1)


def table_of(folder: Path, manifest: dict[str, Any], name: str) -> pl.DataFrame:
    """Reads the table ``name.parquet`` of a folder. Raises if its SHA-256 is not the one in ``manifest``."""
    import polars as pl  # slow to import

    path = folder / f"{name}.parquet"
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    sums = manifest.get("outputs_sha256")
    if not isinstance(sums, dict) or sums.get(path.name) != found:
        raise _damaged(path)
    try:
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DamagedResultError(f"{path} is damaged: it is no table of results") from error


def json_of(path: Path) -> Any:
    """The contents of a JSON file. Raises :class:`DamagedResultError` if the file is not JSON."""
    content = parsed(path.read_bytes())
    if content is None:
        raise DamagedResultError(f"{path} is damaged: it is not JSON")
    return content


def parsed(data: bytes) -> Any:
    """Parses JSON text; None if the text is no JSON."""
    try:
        return json.loads(data.decode())
    except (ValueError, RecursionError):
        return None


def _damaged(path: Path) -> DamagedResultError:
    return DamagedResultError(f"{path} is damaged: its SHA-256 is not the one that the manifest has")


def _sum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
