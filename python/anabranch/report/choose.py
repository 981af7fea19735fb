"""One run of a scenario with variations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..scenario import restrict
from ..shipped import UsageError


def choose(scenario: Mapping[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """The scenario with one value of each axis; ``settings`` are ``AXIS=VALUE``.

    Raises :class:`UsageError` for an axis or value that does not exist, and if an axis has several values left. An axis
    without a name is left to the simulator.
    """
    axes = _axes(scenario)
    chosen: dict[str, list[object]] = {}
    for setting in settings:
        axis, equals, wanted = setting.partition("=")
        if not equals or axis not in axes:
            raise UsageError(f"--set {setting}: expected AXIS=VALUE; {_known(axes)}")
        values = [value for value in axes[axis] if wanted in {str(value), _word(value)}]
        if not values:
            raise UsageError(f"--set {setting}: `{axis}` has the values {', '.join(map(_word, axes[axis]))}")
        chosen[axis] = values[:1]
    if any(len(values) > 1 for axis, values in axes.items() if axis not in chosen):
        first = next(iter(axes))
        raise UsageError(
            f"the scenario has variations: choose one value of each with --set, such as --set "
            f"'{first}={_word(axes[first][0])}', or run `anabranch sweep` and report its folder; {_known(axes)}"
        )
    return _plain(restrict(scenario, chosen))


def _known(axes: Mapping[str, Sequence[object]]) -> str:
    if not axes:
        return "the scenario has no axis with a name"
    return "; ".join(f"{axis}: {', '.join(map(_word, values))}" for axis, values in axes.items())


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _axes(node: Any) -> dict[str, list[object]]:
    """The values of each axis with a name, in the order of the scenario."""
    found: dict[str, list[object]] = {}
    if isinstance(node, Mapping):
        if "vary" in node and "name" in node:
            found[str(node["name"])] = list(node["vary"])
        for value in node.values():
            for axis, values in _axes(value).items():
                found.setdefault(axis, values)
    elif isinstance(node, list):
        for item in node:
            for axis, values in _axes(item).items():
                found.setdefault(axis, values)
    return found


def _plain(node: Any) -> Any:
    """The same with the value of each variation that has only one."""
    if isinstance(node, Mapping):
        if "vary" in node and len(node["vary"]) == 1:
            return _plain(node["vary"][0])
        return {key: _plain(value) for key, value in node.items()}
    return [_plain(item) for item in node] if isinstance(node, list) else node
