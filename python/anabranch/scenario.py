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
sign, unlike a path), or nested dictionaries and lists with the content of such a file."""


def as_text(scenario: Scenario) -> tuple[str, str]:
    """The scenario as TOML text, and the name that error messages give it."""
    if isinstance(scenario, Mapping):
        return to_toml(scenario), "<dict>"
    if isinstance(scenario, str) and ("\n" in scenario or "=" in scenario):
        return scenario, "<text>"
    path = shipped.scenario(str(scenario)) or Path(scenario)
    return shipped.text(path), str(path)


def with_values(text: str, values: Mapping[str, Any] | None) -> str:
    """The TOML text with other values for some keys, such as ``link.a-b.rate``."""
    if not values:
        return text
    return _core.with_values(text, [(key, _value(value)) for key, value in values.items()])


def with_settings(text: str, name: str, settings: Sequence[str]) -> tuple[str, dict[str, int]]:
    """Applies settings ``KEY=VALUE`` of a command line, and gives the text and the chosen positions on axes.

    As for ``anabranch run --set``, a setting chooses a value of an axis of variation if its key is the name of one, and
    gives a key another value otherwise. Raises :class:`UsageError` for a setting that is neither, and for two values of
    one axis.
    """
    axes = dict(_core.axes(text, name))
    chosen: dict[str, int] = {}
    values: list[tuple[str, str]] = []
    seen: dict[str, str] = {}
    for setting in settings:
        key, equals, value = (part.strip() for part in setting.partition("="))
        if not equals:
            raise shipped.UsageError(f"--set {setting}: expected KEY=VALUE")
        if key in axes and seen.setdefault(key, value) != value:
            raise shipped.UsageError(f"--set {setting}: `{key}` has the value {seen[key]} already")
        if value in axes.get(key, ()):
            chosen[key] = axes[key].index(value)
        elif key in axes and "." not in key:
            raise shipped.UsageError(f"--set {setting}: `{key}` has the values {', '.join(axes[key])}")
        else:
            values.append((key, value))
    try:
        return _core.with_values(text, values), chosen
    except _core.ScenarioError as error:
        known = f"; axes of variation: {', '.join(axes)}" if axes else ""
        raise shipped.UsageError(f"--set {error}{known}") from error


def at(node: Any, axis: str, position: int) -> Any:
    """The scenario, or a part of it, with one variation of an axis."""
    return _at(node, axis, position, "")


def _at(node: Any, axis: str, position: int, dotted: str) -> Any:
    if isinstance(node, Mapping):
        if "vary" in node:
            return node["vary"][position] if node.get("name", dotted) == axis else node
        return {key: _at(value, axis, position, f"{dotted}.{key}".lstrip(".")) for key, value in node.items()}
    if isinstance(node, list):
        return [_at(item, axis, position, f"{dotted}.{_label(item, i)}") for i, item in enumerate(node)]
    return node


def _label(element: Any, index: int) -> str:
    """Label of an element of a list: its ``name``, the nodes it is ``between``, or its number from 1."""
    if isinstance(element, Mapping) and isinstance(element.get("name"), str):
        return element["name"]
    if isinstance(element, Mapping) and "between" in element:
        return "-".join(map(str, element["between"]))
    return str(index + 1)


NOT_PARAMETERS = ("title", "seed", "capture")
"""Keys of a scenario that are not parameters of the experiment."""


def differences(paper: Mapping[str, Any], present: Mapping[str, Any]) -> list[str]:
    """The parameters in which the scenario ``present`` differs from that of the paper, as ``KEY=VALUE``."""
    before, now = (
        dict(_leaves({k: v for k, v in of.items() if k not in NOT_PARAMETERS}, "")) for of in (paper, present)
    )
    changed = [f"{key}={_plain(value)}" for key, value in now.items() if key not in before or before[key] != value]
    return changed + [f"{key} is not set" for key in before if key not in now]


def _leaves(node: Any, dotted: str) -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping) and "vary" not in node:
        for key, value in node.items():
            yield from _leaves(value, f"{dotted}.{key}".lstrip("."))
    elif isinstance(node, list) and any(isinstance(item, Mapping) for item in node):
        for index, item in enumerate(node):
            yield from _leaves(item, f"{dotted}.{_label(item, index)}")
    else:
        yield dotted, node


def _plain(value: object) -> str:
    return value if isinstance(value, str) else _value(value)


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
        # A variation that repeats one of the values does not say which position is meant.
        if all(candidates.count(value) == 1 for value in values):
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
