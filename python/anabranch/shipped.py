"""Finds the papers, suites and scenarios that are part of the package."""

from __future__ import annotations

import difflib
import os
from pathlib import Path


class UsageError(ValueError):
    """A name that does not exist, or an invalid file of a paper or suite: exit code 2."""


def text(path: Path) -> str:
    """The text of a file. Raises :class:`UsageError` if it is not UTF-8."""
    content = path.read_bytes()
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        looks = "UTF-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "Latin-1 or Windows-1252"
        where = f"{path}: byte {error.start + 1}"
        raise UsageError(f"{where}: not UTF-8 (looks like {looks}); save the file as UTF-8") from error


def folder(kind: str) -> Path:
    """The folder of ``papers``, ``suites`` or ``scenarios``.

    The environment variable ``ANABRANCH_PAPERS``, ``ANABRANCH_SUITES`` or ``ANABRANCH_SCENARIOS`` names another one.
    """
    named = os.environ.get(f"ANABRANCH_{kind.upper()}")
    return Path(named) if named else _data() / kind


def _data() -> Path:
    """Where the data files are: in the tree if this is a checkout of it, else in the package, as in a wheel."""
    tree = Path(__file__).resolve().parents[2]
    return tree if (tree / "crates" / "py").is_dir() else Path(__file__).parent / "data"


def scenario(name: str) -> Path | None:
    """The file of a shipped scenario such as ``two-paths``, if there is one and no file ``name`` has precedence."""
    path = folder("scenarios") / f"{name}.toml"
    return path if path.is_file() and not Path(name).exists() else None


def similar_scenario(name: str) -> str:
    """The end of a message about a scenario that does not exist: the shipped one that was probably meant, if any."""
    near = difflib.get_close_matches(name, [path.stem for path in folder("scenarios").glob("*.toml")], 1)
    return f"; did you mean `{near[0]}`?" if near else ""
