"""Hooks of mkdocs, which adapt docstrings: they are written for Python's ``help`` and for Sphinx."""

from __future__ import annotations

import re

_ROLE = re.compile(r":(?:class|func|meth|attr|data|mod|exc):(?=<code>)")


def on_page_content(html: str, **_: object) -> str:
    """Removes the names of reStructuredText roles before code."""
    return _ROLE.sub("", html)
