"""Writes the docstrings of ``python/anabranch/_core.pyi``: those that the compiled module has at run time.

Run it after a change of docstrings in ``crates/py``: ``python python/tools/write_stub_docs.py && ruff format python``.
A test compares the file with the module.
"""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import Any

from anabranch import _core

FILE = Path(__file__).parents[1] / "anabranch" / "_core.pyi"
WIDTH = 120


def text() -> str:
    """The whole file, with the docstrings of the module."""
    source = FILE.read_text(encoding="utf-8")
    lines = source.splitlines()
    for body, place, owner in reversed(list(_bodies(ast.parse(source).body, _core))):
        _document(lines, body, place, owner.__doc__)
    return "\n".join(lines) + "\n"


def _bodies(nodes: list[ast.stmt], owner: Any) -> list[tuple[ast.stmt, ast.stmt | None, Any]]:
    """Each class, function and attribute that has a docstring at run time, with the statement after it."""
    found: list[tuple[ast.stmt, ast.stmt | None, Any]] = []
    for node, after in zip(nodes, [*nodes[1:], None], strict=True):
        match node:
            case ast.ClassDef() | ast.FunctionDef() if not node.name.startswith("__"):
                if not _is_overload(after):
                    found.append((node, after, getattr(owner, node.name)))
                if isinstance(node, ast.ClassDef):
                    found += _bodies(node.body, getattr(owner, node.name))
            case ast.AnnAssign(target=ast.Name(id=name)) if owner is not _core:
                found.append((node, after, getattr(owner, name)))
    return [item for item in found if item[2].__doc__ is not None]


def _is_overload(node: ast.stmt | None) -> bool:
    """Whether another overload follows: only the last one is documented."""
    return isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "overload" for d in node.decorator_list)


def _document(lines: list[str], node: ast.stmt, after: ast.stmt | None, doc: str) -> None:
    """Puts a docstring into a class or a function, or behind an attribute, in place of the one that stands there."""
    indent = " " * (node.col_offset if isinstance(node, ast.AnnAssign) else node.col_offset + 4)
    if isinstance(node, ast.AnnAssign):
        old, at = _string(after), node.end_lineno or 0
    else:
        assert isinstance(node, ast.ClassDef | ast.FunctionDef)
        first = node.body[0]
        old, at = _string(first), first.lineno - 1
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.value.value is ...:
            end = (first.end_lineno or 0) - 1
            rest = lines[end][: first.col_offset].rstrip()
            lines[end : end + 1] = [rest] if rest else []
            at = end + 1 if rest else end
    if old is not None:
        at = old.lineno - 1
        del lines[at : old.end_lineno]
    quoted = _quoted(doc, indent)
    if isinstance(node, ast.FunctionDef) and after is not None and lines[at] != "":
        quoted.append("")
    lines[at:at] = quoted


def _string(node: ast.stmt | None) -> ast.Expr | None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node
    return None


def _quoted(doc: str, indent: str) -> list[str]:
    """The lines of a docstring, each paragraph filled anew."""
    paragraphs = [" ".join(part.split()) for part in doc.strip().split("\n\n")]
    room = WIDTH - len(indent)
    filled = [textwrap.wrap('"""' * (n == 0) + part, room - 3) for n, part in enumerate(paragraphs)]
    lines = [line for part in filled for line in ["", *part]][1:]
    ends = [f'{lines[0]}"""'] if len(lines) == 1 else [*lines, '"""']
    if len(paragraphs) == 1 and len(lines) > 1:
        ends = [*lines[:-1], f'{lines[-1]}"""']
    return [f"{indent}{line}".rstrip() for line in ends]


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
