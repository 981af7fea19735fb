"""Reproduces a figure: runs its sweep, compares the numbers, draws the picture."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from . import _core, plots, shipped
from .laboratory import sweep
from .overview import overview
from .papers import Expectation, FigureSpec, Paper, Quantity, original
from .result import Result
from .scenario import differences, restrict, with_settings
from .shipped import UsageError
from .statistics import summarize
from .verdict import Point, Row, judge

VERSION = 2
"""Version of the format of ``verdicts.json``. The first format had no version, and text instead of numbers."""


@dataclass(frozen=True)
class Options:
    """The level of detail and the output folder."""

    out: Path
    replicas: int | None = None
    demo: bool = False
    full: bool = False
    seed: int | None = None
    jobs: int | None = None
    formats: tuple[str, ...] = plots.FORMATS
    cluster: Any = None
    """As for :func:`anabranch.sweep`."""
    settings: tuple[str, ...] = ()
    """Other values of parameters, each ``KEY=VALUE``; a figure that differs from the paper gets no verdict."""


@dataclass(frozen=True)
class FigureData:
    """The argument of drawing functions and checks: the results of a figure, by the names of the paper."""

    paper: Paper
    spec: FigureSpec
    result: Result
    seed: int
    replicas: int
    note: str = ""
    differs: str = ""
    """The parameters that are not the paper's."""

    @property
    def axes(self) -> list[str]:
        """The axes of variation."""
        return self.result.axes

    def samples(self, quantity: str | None = None) -> pl.DataFrame:
        """A row for each run: the axes, the replica, and the value of a quantity of the paper."""
        name = quantity or self.spec.quantity
        return _samples(self.result, self.paper.quantities, name)

    def summary(self, quantity: str | None = None, number: str | None = None) -> pl.DataFrame:
        """Mean and interval for each combination of the axes. Values of axis ``number`` are converted to numbers."""
        found = summarize(self.samples(quantity), self.axes)
        if number is None:
            return found
        return found.with_columns(pl.Series(number, [leading_number(v) for v in found[number]], dtype=pl.Float64))

    def numbers(self) -> str:
        """The figure's own quantity at each point, with replicas and interval, as CSV; empty if it has none."""
        if self.spec.quantity not in self.paper.quantities:
            return ""
        return self.summary().sort(self.axes).write_csv(float_precision=4)

    def marks(self, x: str) -> list[plots.Mark]:
        """The values that the paper states for points of this figure, at their values of axis ``x``."""
        return [
            plots.Mark(leading_number(e.at[x]), e.claim.expected, self.paper.authors)
            for e in self.paper.expectations
            if e.figure == self.spec.id and e.claim is not None and e.claim.band is not None
            and x in e.at and e.over is None and e.quantity == self.spec.quantity
        ]  # fmt: skip

    def foot(self, figure: Figure, shown: str = plots.MEANS_AND_INTERVALS) -> None:
        """Writes below the figure the seed, the number of replicas, and the runs of the paper that were left out."""
        plots.foot(figure, self.seed, self.replicas, self.note, shown)


@dataclass(frozen=True)
class Reproduction:
    """A reproduced figure."""

    spec: FigureSpec
    seed: int
    replicas: int
    rows: list[Row]
    files: list[Path]
    note: str = ""


Report = Callable[[str, int, int, float | None], object]
"""Called with paper and figure, the finished runs, all runs, and the seconds left if known."""


def reproduce(
    paper: Paper, figures: Sequence[FigureSpec], options: Options, report: Report | None = None
) -> Iterator[Reproduction]:
    """Runs, compares and draws figures of a paper one by one, and writes ``verdicts.json`` after each."""
    code = paper.code()
    done: list[Reproduction] = []
    for spec in figures:
        if options.demo and spec.demo_replicas is None:
            continue
        data = _measure(paper, spec, options, report)
        rows = [_row(data, e, code) for e in paper.expectations if e.figure == spec.id and _covered(data, e)]
        with plots.style():
            picture: Figure = getattr(code, spec.draw)(data) if spec.draw else overview(data)
            files = plots.save(picture, options.out, spec.label.replace(" ", "-"), options.formats, data.numbers())
        done.append(Reproduction(spec, data.seed, data.replicas, rows, files, data.note))
        _write(paper, done, options.out)
        yield done[-1]


def _measure(paper: Paper, spec: FigureSpec, options: Options, report: Report | None) -> FigureData:
    path = paper.folder / spec.scenario
    text = _set(shipped.text(path), spec, options.settings)
    content = tomllib.loads(text)
    differs = differences(tomllib.loads(shipped.text(original(paper, spec))), content)
    chosen, usual = spec.default, spec.default_replicas
    if options.full:
        chosen, usual = spec.full, None
    elif options.demo:
        chosen, usual = spec.demo, spec.demo_replicas
    scenario = restrict(content, chosen) if chosen else text if options.settings else path
    replicas = options.replicas or spec.replicas or usual or paper.replicas
    seed = options.seed if options.seed is not None else int(content.get("seed", 1))
    name = f"{paper.id}, {spec.label}"
    progress = None if report is None else lambda done, total, left: report(name, done, total, left)
    out = options.out / "runs" / Path(spec.scenario).stem
    result = sweep(
        scenario,
        replicas=replicas,
        jobs=options.jobs,
        seed=seed,
        out=out,
        cluster=options.cluster,
        progress=progress,
    )
    notes = [f"the paper: {paper.replicas}"] if replicas < paper.replicas and spec.replicas is None else []
    notes += [spec.shortened] if spec.shortened and not options.full else []
    notes += [f"differs from the paper: {', '.join(differs)}"] if differs else []
    return FigureData(paper, spec, result, seed, replicas, "; ".join(notes), ", ".join(differs))


def _set(text: str, spec: FigureSpec, settings: Sequence[str]) -> str:
    """The scenario with other parameters; its axes of variation stay, since the figure is drawn over them."""
    if not settings:
        return text
    text_set, positions = with_settings(text, spec.scenario, settings)
    try:
        kept = [name for name, _ in _core.axes(text_set, spec.scenario)]
    except _core.ScenarioError as error:
        raise UsageError(f"--set: {error}") from error
    lost = [name for name, _ in _core.axes(text, spec.scenario) if name not in kept or name in positions]
    if lost:
        raise UsageError(
            f"--set: {spec.label} shows all values of the axis `{lost[0]}`; set a parameter that it does not vary"
        )
    return text_set


def _samples(result: Result, quantities: Mapping[str, Quantity], name: str) -> pl.DataFrame:
    quantity = quantities[name]
    keys = [*result.axes, "replica"]
    samples = _summed(result, quantity, keys)
    value = samples["value"] * quantity.scale
    if quantity.over is not None:
        base = _samples(result, quantities, quantity.over).rename({"value": "base"})
        value = value / samples.select(keys).join(base, on=keys, how="left", maintain_order="left")["base"]
    if quantity.per_axis is not None:
        value = value / pl.Series([leading_number(v) for v in samples[quantity.per_axis]])
    return samples.with_columns(value.alias("value"))


def _summed(result: Result, quantity: Quantity, keys: list[str]) -> pl.DataFrame:
    """A scalar of whole flows or of one path, summed over the flows ``flow`` or ``flow-1``, ``flow-2`` ..."""
    pattern = f"^{re.escape(quantity.flow)}(-[0-9]+)?$"
    of_flows = pl.col("flow").str.contains(pattern) & pl.col("path").eq_missing(quantity.path)
    wanted = (pl.col("quantity") == quantity.of) & (pl.col("window") == quantity.window) & of_flows
    rows = result.scalars.filter(wanted)
    if rows.is_empty():
        raise KeyError(f"the results hold no `{quantity.of}` of a flow `{quantity.flow}`")
    return rows.group_by(keys, maintain_order=True).agg(pl.col("value").sum())


def leading_number(value: object) -> float:
    """The number at the beginning of a value: 100.0 for ``"100 Mbit/s"`` and for 100."""
    found = re.match(r"\s*([0-9.eE+-]+)", str(value))
    if found is None:
        raise ValueError(f"{value!r} does not begin with a number")
    return float(found[1])


def _covered(data: FigureData, expectation: Expectation) -> bool:
    """False if a demo left out the points of an expectation."""
    wanted = [expectation.at, *([expectation.over] if expectation.over else [])]
    samples = data.result.scalars
    return all((samples[axis] == value).any() for where in wanted for axis, value in where.items() if axis in data.axes)


def _row(data: FigureData, expectation: Expectation, code: object) -> Row:
    found = getattr(code, expectation.check)(data) if expectation.check is not None else _points(data, expectation)
    return Row(
        expectation.figure,
        expectation.what,
        expectation.source,
        judge(found),
        calibrated=expectation.calibrated,
        reason=expectation.open,
        missed=expectation.missed,
        differs=data.differs,
    )


def _points(data: FigureData, expectation: Expectation) -> list[Point]:
    """The points of an expectation: one, or one for each value of the axes that it does not name.

    A ratio is taken replica by replica, because replicas of two variants share their random streams.
    """
    claim = expectation.claim
    assert claim is not None
    found = _at(data.samples(expectation.quantity), expectation.at)
    for axis, values in expectation.only.items():
        found = found.filter(pl.any_horizontal([pl.col(axis) == value for value in values]))
    unit = data.paper.quantities[expectation.quantity].unit
    if expectation.over is not None:
        base = _at(data.samples(expectation.quantity), expectation.over)
        shared = [a for a in data.axes if a not in expectation.over and a not in expectation.at]
        base = base.select([*shared, "replica", pl.col("value").alias("base")])
        found = found.join(base, on=[*shared, "replica"]).with_columns(pl.col("value") / pl.col("base"))
        unit = ""
    open_axes = [axis for axis in data.axes if axis not in expectation.at and axis not in data.spec.full]
    if not open_axes:
        return [Point("", found["value"].to_list(), claim, unit)]
    groups = found.group_by(open_axes, maintain_order=True).agg("value")
    return [
        Point(", ".join(f"{axis} = {_shown(row[axis])}" for axis in open_axes), row["value"], claim, unit)
        for row in groups.iter_rows(named=True)
    ]


def _shown(value: object) -> str:
    """The value of an axis as it is written in a scenario."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _at(samples: pl.DataFrame, where: Mapping[str, Any]) -> pl.DataFrame:
    for axis, value in where.items():
        samples = samples.filter(pl.col(axis) == value)
    return samples


def as_json(paper: Paper, done: Sequence[Reproduction]) -> dict[str, Any]:
    """The verdicts for JSON."""
    return {
        "version": VERSION,
        "paper": paper.id,
        "figures": [
            {
                "figure": item.spec.id,
                "seed": item.seed,
                "replicas": item.replicas,
                "note": item.note,
                "files": [str(path) for path in item.files],
                "verdicts": [row.as_dict() for row in item.rows],
            }
            for item in done
        ],
    }


def _write(paper: Paper, done: Sequence[Reproduction], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(as_json(paper, done), indent=2, ensure_ascii=False, allow_nan=False)
    (out / "verdicts.json").write_text(text + "\n", encoding="utf-8")
