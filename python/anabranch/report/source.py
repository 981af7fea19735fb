"""Source of a report: a folder of results, or a scenario that is run for it."""

from __future__ import annotations

import copy
import hashlib
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import _core, shipped
from ..folder import manifest_of
from ..laboratory import run_text
from ..result import Result
from ..scenario import as_text, at, to_toml
from ..shipped import UsageError
from .choose import choose
from .page import Page

EVERY = "100 ms"
"""Bins of throughput in a report that runs a scenario."""
NO_SWEEP = "--compare needs the folder of a sweep, which {name} is not: run `anabranch sweep` and report its folder"


@dataclass(frozen=True)
class Choice:
    """Which part of a run a report shows: flows (None: the first six), and times in seconds.

    ``settings`` are ``KEY=VALUE`` for a scenario: other values of keys, and one value of each axis of variation.
    ``compare`` is ``AXIS`` or ``AXIS=BASELINE``: the axis of a sweep whose variants are compared (None: each axis).
    """

    flows: list[str] | None = None
    start: float | None = None
    end: float | None = None
    settings: tuple[str, ...] = ()
    compare: str | None = None


def write(source: str | Path | Result, out: str | Path, choice: Choice | None = None) -> Path:
    """Writes the report of a folder of results, a :class:`Result`, or a scenario, and returns the file.

    The folder is the output of a run, a sweep, or ``anabranch reproduce``. A scenario without variations is run, with
    probes of all quantities that a report shows. Raises :class:`UsageError` if there is nothing to report.
    """
    path = Path(out)
    page = _page(source, path, choice or Choice())
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.write_text(page.html(), encoding="utf-8")
    except OSError as error:
        # Removes an incomplete page. The error of a full disk names no file, so the new error does.
        if path.is_file():
            path.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from error
    return path


def _page(source: str | Path | Result, out: Path, choice: Choice) -> Page:
    # Each kind of page imports the libraries that it needs.
    from . import measured, paper_page, sweep_page

    if isinstance(source, Result):
        return of_result(source, "results", None, out, choice)
    folder = Path(source)
    if not folder.is_dir():
        result, text = _run(str(source), choice.settings)
        return of_result(result, folder.stem, text, out, choice)
    if verdicts := paper_page.verdicts(folder):
        if choice.compare is not None:
            raise UsageError(NO_SWEEP.format(name=folder))
        return paper_page.build(verdicts)
    if (folder / "manifest.json").is_file():
        manifest = manifest_of(folder)
        if "runs" in manifest or measured.is_measured(manifest):
            return of_result(Result.read(folder), folder.name, None, out, choice, folder=folder)
        return of_result(sweep_page.stored(folder, manifest), folder.name, None, out, choice)
    raise UsageError(
        f"{source}: expected a folder with manifest.json (of `run --out`, `sweep` or `measure --out`) or verdicts.json "
        "(of `reproduce`), or a scenario"
    )


def of_result(
    result: Result, name: str, text: str | None, out: Path, choice: Choice, *, folder: Path | None = None
) -> Page:
    """The page of a run or of a sweep, whose runs are stored in ``folder``."""
    from . import measured, model, run_page, sweep_page

    if measured.is_measured(result.manifest):
        result = measured.by_direction(result)
    result = replace(result, scalars=model.without_repeats(result.scalars))
    text = text if text is not None else result.manifest.get("scenario")
    if result.scalars["run"].n_unique() > 1:
        where = None if folder is None else os.path.relpath(folder, out.parent)
        return sweep_page.build(result, name, text, where, choice.compare)
    if choice.compare is not None:
        raise UsageError(NO_SWEEP.format(name=name))
    run = model.view(result, flows=choice.flows, start=choice.start, end=choice.end)
    if choice.flows and (missing := [flow for flow in choice.flows if flow not in run.flows]):
        known = ", ".join([*run.flows, *run.dropped]) or "none"
        raise UsageError(f"no series of a flow `{missing[0]}`: there are {known}")
    return run_page.build(run, text, name)


def _run(source: str, settings: Sequence[str]) -> tuple[Result, str]:
    try:
        text, name = as_text(source)
    except FileNotFoundError as error:
        tip = shipped.similar_scenario(source)
        raise UsageError(f"{source}: there is neither a folder nor a scenario of that name{tip}") from error
    # The name stays the same, because files that the scenario names are in the same folder.
    text, chosen = choose(text, name, settings)
    scenario = tomllib.loads(text)
    parameters = {axis: values[chosen[axis]] for axis, values in _core.axes(text, name)}
    for axis, position in chosen.items():
        scenario = at(scenario, axis, position)
    return _of_file(run_text(to_toml(with_probes(scenario)), name), text, parameters), text


def _of_file(result: Result, text: str, parameters: Mapping[str, str]) -> Result:
    """The result with text, hash and chosen values of the file, in place of those of the run with other probes."""
    manifest = dict(result.manifest)
    manifest["scenario_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    manifest["runs"] = [{**run, "parameters": dict(parameters)} for run in manifest["runs"]]
    return replace(result, manifest=manifest)


def with_probes(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario with a probe of each quantity that a report shows, instead of its own."""
    found = copy.deepcopy(dict(scenario))
    probes: list[dict[str, Any]] = []
    for flow in found.get("flow", []):
        name, protocol = flow["name"], str(flow.get("protocol", "SCTP")).upper()
        quantities = {
            "SCTP": ("cwnd", "ssthresh", "flight", "srtt", "limit", "peer-rwnd", "sequence"),
            "TCP": ("cwnd", "ssthresh", "flight", "srtt", "limit"),
        }.get(protocol, ())
        probes += [{"quantity": q, "flow": name, "every": "change"} for q in quantities]
        probes += [{"quantity": q, "flow": name, "every": EVERY} for q in ("throughput", "sent-throughput")]
    for link in found.get("link", []):
        a, b = link["between"]
        names = [link["name"]] if "name" in link else [f"{a}-{b}", f"{b}-{a}"]
        probes += [{"quantity": q, "link": n, "every": "change"} for n in names for q in ("queue", "drops")]
    found["probe"] = probes
    found.pop("capture", None)
    return found
