"""Reports: one HTML file about a run, a sweep or reproduced papers, which needs no network.

``anabranch report`` writes them; :func:`write` does the same from Python.
"""

from __future__ import annotations

from pathlib import Path

from .source import Choice, write

__all__ = ["Choice", "Path", "write"]
