"""Scenarios in all forms that :func:`anabranch.run` takes, turned into TOML text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from . import _core, shipped

Scenario: TypeAlias = str | Path | Mapping[str, Any]
"""A scenario: the path of a TOML file, the name of a shipped scenario, TOML text (which has a line break or an equals
sign, unlike a path), or the same as nested dictionaries and lists."""


def as_text(scenario: Scenario) -> tuple[str, str]:
    """The scenario as TOML text, and the name that error messages give it."""
    if isinstance(scenario, Mapping):
        return to_toml(scenario), "<dict>"
    if isinstance(scenario, str) and ("\n" in scenario or "=" in scenario):
        return scenario, "<text>"
    path = shipped.scenario(str(scenario)) or Path(scenario)
    return path.read_text(encoding="utf-8"), str(path)


def with_values(text: str, values: Mapping[str, Any] | None) -> str:
    """The TOML text with other values for some keys, such as ``link.a-b.rate``."""
    if not values:
        return text
    return _core.with_values(text, [(key, _value(value)) for key, value in values.items()])


def to_toml(table: Mapping[str, Any]) -> str:
    """The dictionary as TOML: a line for each key, deeper levels as inline tables."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if bare else _string(key)


def _string(text: str) -> str:
    # A JSON string is a TOML basic string, except that JSON does not escape DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value) if math.isfinite(value) else str(value)
        case str() | Path():
            return _string(str(value))
        case Mapping():
            return "{ " + ", ".join(f"{_key(str(k))} = {_value(v)}" for k, v in value.items()) + " }"
        case Sequence():
            return "[" + ", ".join(_value(item) for item in value) + "]"
        case _:
            raise TypeError(f"a scenario cannot contain {value!r}, a {type(value).__name__}")


def restrict(scenario: Mapping[str, Any], axes: Mapping[str, Sequence[object]]) -> dict[str, Any]:
    """A copy of the scenario in which some axes of variation have fewer values.

    Variations of one axis advance together, so the same positions are kept in each of them; the first variation that
    has all the values says which positions these are.
    """
    kept = {axis: _positions(scenario, axis, values) for axis, values in axes.items()}

    def copy(node: Any) -> Any:
        if isinstance(node, Mapping):
            if "vary" in node and node.get("name") in kept:
                return {**node, "vary": [node["vary"][i] for i in kept[node["name"]]]}
            return {key: copy(value) for key, value in node.items()}
        if isinstance(node, list):
            return [copy(item) for item in node]
        return node

    return copy(scenario)


def _positions(scenario: Mapping[str, Any], axis: str, values: Sequence[object]) -> list[int]:
    varied = [node["vary"] for node in _variations(scenario) if node.get("name") == axis]
    for candidates in varied:
        if all(value in candidates for value in values):
            return [candidates.index(value) for value in values]
    if varied:
        raise ValueError(f"axis `{axis}` does not have all of the values {list(values)}: it has {varied[0]}")
    raise ValueError(f"the scenario has no axis `{axis}`")


def _variations(node: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, Mapping):
        if "vary" in node:
            yield node
        for value in node.values():
            yield from _variations(value)
    elif isinstance(node, list):
        for item in node:
            yield from _variations(item)
