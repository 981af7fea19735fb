"""One run of a scenario with variations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import _core
from ..scenario import with_settings
from ..shipped import UsageError


def choose(text: str, name: str, settings: Sequence[str]) -> tuple[str, dict[str, int]]:
    """The text with settings ``KEY=VALUE``, and the position of the chosen value on each axis.

    Raises :class:`UsageError` if an axis has several values left.
    """
    text, chosen = with_settings(text, name, settings)
    axes = _axes(text, name, settings)
    left = [axis for axis, values in axes.items() if axis not in chosen and len(values) > 1]
    if left:
        raise UsageError(
            f"the scenario has variations: choose one value of each with --set, such as --set "
            f"'{left[0]}={axes[left[0]][0]}', or run `anabranch sweep` and report its folder; {_known(axes)}"
        )
    return text, {axis: chosen.get(axis, 0) for axis in axes}


def _axes(text: str, name: str, settings: Sequence[str]) -> dict[str, list[str]]:
    try:
        return dict(_core.axes(text, name))
    except _core.ScenarioError as error:
        if not settings:
            raise
        given = " ".join(f"--set {setting}" for setting in settings)
        raise UsageError(f"{name} cannot be used with {given}\n{error}") from error


def _known(axes: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{axis}: {', '.join(values)}" for axis, values in axes.items())
