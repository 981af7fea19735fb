"""The extra ``anabranch[lab]``: what tables, figures and reports need, and connections do not."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = ("polars", "numpy", "matplotlib", "PIL", "bokeh")
"""The packages of the extra, by the names that programs import."""


def missing() -> str | None:
    """The first package of the extra that is not installed."""
    return next((package for package in PACKAGES if find_spec(package) is None), None)


def advice(package: str) -> str:
    """The advice for a user without a package of the extra."""
    return f"{package} is not installed; tables, figures and reports need it: pip install 'anabranch[lab]'"


def require() -> None:
    """Raises :class:`ModuleNotFoundError`, which says what to install, if a package of the extra is missing."""
    package = missing()
    if package is not None:
        raise ModuleNotFoundError(advice(package), name=package)
