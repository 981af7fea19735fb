"""The papers that come with Anabranch: the scenarios, the stated numbers and the drawing functions of each figure.

A paper is a folder: ``paper.toml`` (figures, quantities), ``expected.toml`` (the numbers that the paper states, each
with band and source), scenario files, ``figures.py`` (a drawing function for each figure, and checks of claims that are
not numbers) and ``NOTES.md`` (everything that had to be guessed).
"""

from __future__ import annotations

import difflib
import importlib.util
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

from . import shipped
from .verdict import Band, Claim, above, at_least, below, stated

FULL_REPLICAS = 30


class PaperError(shipped.UsageError):
    """A paper or figure does not exist, or a file of a paper is invalid."""


@dataclass(frozen=True)
class Quantity:
    """A number for each run: a scalar summed over flows, divided by the value of an axis or by another quantity.

    ``window`` is the window of the scenario in which it is measured; empty: from a flow's reset time to its stop time.
    ``path`` is the number of a path; None: the whole flow. ``over`` names the other quantity, of the same run.
    """

    of: str
    flow: str
    per_axis: str | None = None
    scale: float = 1.0
    unit: str = ""
    window: str = ""
    path: int | None = None
    over: str | None = None


@dataclass(frozen=True)
class Expectation:
    """A number, an order or another claim that the paper states or implies.

    ``calibrated`` names the parameter that was chosen to match this number, and the place in ``NOTES.md`` that says so.
    ``open`` says why the verdict stays OPEN with all replicas, ``missed`` in a few words why it is a MISS.
    """

    figure: str
    what: str
    source: str
    claim: Claim | None = None
    check: str | None = None
    quantity: str = "throughput"
    at: Mapping[str, Any] = field(default_factory=dict)
    over: Mapping[str, Any] | None = None
    only: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    calibrated: str = ""
    open: str = ""
    missed: str = ""


@dataclass(frozen=True)
class FigureSpec:
    """One figure of a paper.

    ``draw`` names a function of ``figures.py``; without it :mod:`anabranch.overview` draws the picture. There are three
    levels: full (all runs of the paper), default and demo; each may restrict axes of the scenario. ``replicas`` applies
    to all levels; a level without a number of its own uses the number of the paper. A figure without ``demo_replicas``
    is not part of the demo. ``shortened`` is a note on the figure: the parts that the default leaves out, besides
    replicas.
    """

    id: str
    title: str
    scenario: str
    draw: str
    quantity: str
    replicas: int | None
    demo: Mapping[str, Sequence[Any]]
    demo_replicas: int | None
    default: Mapping[str, Sequence[Any]]
    default_replicas: int | None
    full: Mapping[str, Sequence[Any]]
    shortened: str

    @property
    def label(self) -> str:
        """The name of the figure: ``figure 8-left``, ``table 2``."""
        return self.id.replace("table-", "table ") if self.id.startswith("table-") else f"figure {self.id}"


@dataclass(frozen=True)
class Paper:
    """A paper with its figures and expectations."""

    id: str
    title: str
    citation: str
    replicas: int
    folder: Path
    figures: tuple[FigureSpec, ...]
    quantities: Mapping[str, Quantity]
    expectations: tuple[Expectation, ...]

    @property
    def authors(self) -> str:
        """The authors and the year, as a legend has them: ``Dreibholz et al. (2010)``."""
        # Authors come first, each with initials.
        names = takewhile(lambda part: re.match(r"\s*[A-Z]\.", part), self.citation.split(","))
        surnames = [name.split()[-1] for name in names] or [f"paper {self.id}"]
        years = re.findall(r"\b(?:19|20)\d\d\b", self.citation)
        who = f"{surnames[0]} et al." if len(surnames) > 2 else " and ".join(surnames)
        return who + (f" ({years[-1]})" if years else "")

    def select(self, wanted: Sequence[str]) -> list[FigureSpec]:
        """The figures of some names: ``8-left`` or ``8l``, or ``8`` for all parts of figure 8; without names, all."""
        chosen: list[FigureSpec] = []
        for name in wanted:
            found = [figure for figure in self.figures if _matches(name, figure.id)]
            if not found:
                known = [figure.id for figure in self.figures]
                close = difflib.get_close_matches(_plain(name), known, n=1, cutoff=0.3)
                hint = f"; did you mean `{close[0]}`?" if close else ""
                raise PaperError(f"paper {self.id} has no figure `{name}`: there are {', '.join(known)}{hint}")
            chosen += [figure for figure in found if figure not in chosen]
        return chosen or list(self.figures)

    def code(self) -> ModuleType:
        """The module with the drawing functions and checks of the paper; an empty one if it needs none."""
        path = self.folder / "figures.py"
        if not path.exists() and not any(figure.draw for figure in self.figures):
            return ModuleType(f"anabranch_paper_{self.id}")
        spec = importlib.util.spec_from_file_location(f"anabranch_paper_{self.id}", path)
        if spec is None or spec.loader is None:
            raise PaperError(f"{path} is missing")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def _plain(name: str) -> str:
    return name.lower().removeprefix("figure").removeprefix("fig").strip(" .-_")


def _matches(name: str, figure: str) -> bool:
    number, _, part = figure.partition("-")
    wanted = _plain(name).replace(" ", "").replace("-", "").replace("_", "")
    return wanted in {number, number + part, number + part[:1]}


def _folders() -> list[Path]:
    place = shipped.folder("papers")
    found = sorted(path.parent for path in place.glob("*/paper.toml"))
    if not found:
        raise PaperError(
            f"no papers in {place}: install the package again, or name a folder of papers in the environment variable "
            "ANABRANCH_PAPERS"
        )
    return found


def all_papers() -> list[Paper]:
    """Every paper, by number."""
    return [load(path) for path in _folders()]


def find(name: str) -> Paper:
    """The paper whose number or folder name is ``name``, or a folder of the user's own with a ``paper.toml``."""
    if "/" in name or (Path(name) / "paper.toml").is_file():
        return load(Path(name))
    known = _folders()
    for candidate in known:
        number = candidate.name.partition("_")[0]
        if name in (candidate.name, number) or (name.isdigit() and int(name) == int(number)):
            return load(candidate)
    names = [path.name.partition("_")[0] for path in known]
    raise PaperError(f"there is no paper `{name}`: there are {', '.join(names)}, and folders such as ./{name}")


def original(paper: Paper, figure: FigureSpec) -> Path:
    """The scenario of a figure in the shipped paper of the same number, or else in the paper itself."""
    for folder in _folders():
        if folder.name.partition("_")[0] == paper.id:
            same = [spec for spec in load(folder).figures if spec.id == figure.id]
            return folder / same[0].scenario if same else paper.folder / figure.scenario
    return paper.folder / figure.scenario


def load(path: Path) -> Paper:
    """Reads the folder of a paper."""
    file = path / "paper.toml"
    with _blaming(file):
        spec = _read(file)
        replicas = int(spec.get("replicas", FULL_REPLICAS))
        figures = tuple(_figure(entry) for entry in spec["figure"])
        quantities = {name: Quantity(**entry) for name, entry in spec.get("quantity", {}).items()}
        number, title, citation = spec["id"], spec["title"], spec.get("citation", "")
    with _blaming(path / "expected.toml") as file:
        expectations = tuple(_expectation(entry) for entry in _read(file).get("expected", []))
    paper = Paper(number, title, citation, replicas, path, figures, quantities, expectations)
    _check(paper)
    return paper


@contextmanager
def _blaming(file: Path) -> Iterator[Path]:
    """Turns a missing or unknown key into an error that names the file."""
    try:
        yield file
    except shipped.UsageError:
        # The message names the file.
        raise
    except KeyError as error:
        raise PaperError(f"{file}: expected a key `{error.args[0]}`, which is missing") from error
    except (TypeError, ValueError) as error:
        what = str(error).replace(".__init__() got an unexpected keyword argument", ": unknown key")
        raise PaperError(f"{file}: {what}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(shipped.text(path))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise PaperError(f"{path}: {error}") from error


def _figure(entry: dict[str, Any]) -> FigureSpec:
    return FigureSpec(
        id=entry["id"],
        title=entry["title"],
        scenario=entry["scenario"],
        draw=entry.get("draw", ""),
        quantity=entry.get("quantity", "throughput"),
        replicas=entry.get("replicas"),
        demo=entry.get("demo", {}),
        demo_replicas=entry.get("demo_replicas"),
        default=entry.get("default", {}),
        default_replicas=entry.get("default_replicas"),
        full=entry.get("full", {}),
        shortened=entry.get("shortened", ""),
    )


def _expectation(entry: dict[str, Any]) -> Expectation:
    entry = dict(entry)
    every = bool(entry.pop("every_run", False))
    claims: list[Claim] = []
    if "value" in entry:
        claims.append(stated(float(entry.pop("value")), Band.parse(entry.pop("band")), every_run=every))
    if "above" in entry:
        claims.append(above(float(entry.pop("above")), every_run=every))
    if "below" in entry:
        claims.append(below(float(entry.pop("below")), every_run=every))
    if "at_least" in entry:
        claims.append(at_least(float(entry.pop("at_least")), float(entry.pop("near")), every_run=every))
    if len(claims) + ("check" in entry) != 1:
        raise PaperError(f"expectation `{entry['what']}` needs one of value, above, below, at_least, check")
    if every and not claims:
        raise PaperError(f"expectation `{entry['what']}`: `every_run` belongs to a number; a check says it in its code")
    return Expectation(claim=claims[0] if claims else None, **entry)


def _check(paper: Paper) -> None:
    figures = {figure.id for figure in paper.figures}
    for expectation in paper.expectations:
        if expectation.figure not in figures:
            raise PaperError(f"paper {paper.id}: `{expectation.what}` names no figure of the paper")
        if not all(isinstance(text, str) for text in (expectation.calibrated, expectation.open, expectation.missed)):
            raise PaperError(
                f"paper {paper.id}: `{expectation.what}`: `calibrated`, `open` and `missed` are text that says why"
            )
        if expectation.claim is not None and expectation.quantity not in paper.quantities:
            raise PaperError(f"paper {paper.id}: `{expectation.what}` names no quantity of the paper")
