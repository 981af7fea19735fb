"""The page about reproduced papers: measured beside stated values, with verdicts."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import papers
from ..folder import json_of
from ..shipped import UsageError
from .page import Cell, Page, escape, number, table

TYPES = {"svg": "image/svg+xml", "png": "image/png"}
WIDTH, HEIGHT = 170, 20


def verdicts(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The ``verdicts.json`` of a paper, or of all papers in the folders ``paper-*``, with their folders."""
    found = [folder] if (folder / "verdicts.json").is_file() else sorted(folder.glob("paper-*"))
    return [
        (place, json_of(place / "verdicts.json"))
        for place in found if (place / "verdicts.json").is_file()
    ]  # fmt: skip


def build(found: list[tuple[Path, dict[str, Any]]]) -> Page:
    """The page of some papers."""
    ids = [content["paper"] for _, content in found]
    page = Page("Reproduced papers" if len(ids) > 1 else f"Paper {ids[0]}, reproduced")
    every = Counter(
        row["verdict"] or "none" for _, content in found for item in content["figures"] for row in item["verdicts"]
    )
    counts = ", ".join(f'{count} <span class="verdict {name}">{name}</span>' for name, count in sorted(every.items()))
    page.lead = (
        f"<p>{sum(every.values())} numbers and claims: {counts}.</p>"
        '<p class="note">PASS: the 95 % interval of the mean is inside the band of the stated value. MISS: it is '
        "outside. OPEN: it contains an end of the band. In the small pictures the band is green, the stated value is "
        "the red diamond, and the measured mean is the dot, with its interval.</p>"
    )
    for folder, content in found:
        title, citation = _named(content["paper"])
        page.section(
            f"paper-{content['paper']}", f"Paper {content['paper']}: {title}" if title else f"Paper {content['paper']}"
        )
        page.add(f"<p>{escape(citation)}</p>" if citation else "")
        for item in content["figures"]:
            page.add(_figure(folder, item))
    return page


def _named(paper: str) -> tuple[str, str]:
    """Title and citation of a paper; empty for one that is not part of this package."""
    try:
        known = papers.find(paper)
    except UsageError:
        return "", ""
    return known.title, known.citation


def _figure(folder: Path, item: Mapping[str, Any]) -> str:
    name = (
        item["figure"].replace("table-", "Table ") if item["figure"].startswith("table") else f"Figure {item['figure']}"
    )
    many = f"{item['replicas']} replicas, seed {item['seed']}"
    note = f"; {item['note']}" if item.get("note") else ""
    rows = [_row(row) for row in item["verdicts"]]
    head = ["verdict", "what", "stated", "measured", "", "runs", "source"]
    listed = table(head, rows, names=0) if rows else "<p>The paper states no number here.</p>"
    return (
        f"<h3>{escape(name)} <span class='note'>({escape(many + note)})</span></h3>{_image(folder, item, name)}{listed}"
    )


def _row(row: Mapping[str, Any]) -> list[object]:
    unit = f" {row['unit']}" if row.get("unit") else ""
    what = escape(", ".join(filter(None, (row["what"], row.get("where")))))
    remarks = [f"calibrated: {row['calibrated']}" if row.get("calibrated") else "", row.get("reason") or ""]
    remarks += [f"differs from the paper: {row['differs']}"] if row.get("differs") else []
    remarks += [row["missed"]] if row.get("missed") and row["verdict"] == "MISS" else []
    if row.get("replicas_needed"):
        remarks.append(f"about {row['replicas_needed']} replicas would decide")
    what += "".join(f'<br><span class="note">{escape(text)}</span>' for text in remarks if text)
    stated, limits = _claim(row)
    mean, half = row.get("mean"), row.get("half_width")
    measured = "" if mean is None else number(mean) + (f" ± {number(float(f'{half:.2g}'))}" if half is not None else "")
    measured += unit if measured else ""
    verdict = Cell(f'<span class="verdict {row["verdict"] or "none"}">{row["verdict"] or "none"}</span>')
    told = Cell(
        f'{escape(stated + (unit if stated else ""))}<br><span class="note">{escape(limits)}</span>', number=True
    )
    return [
        verdict,
        Cell(what),
        told,
        Cell(escape(measured), number=True),
        Cell(picture(row)),
        row.get("n"),
        row["source"],
    ]


def _claim(row: Mapping[str, Any]) -> tuple[str, str]:
    """The stated number or bound, and the band around it."""
    expected, (low, high) = row.get("expected"), row["band"]
    if expected is None:
        return "", ""
    if low is None or high is None:
        return f"{'at most' if low is None else 'at least'} {number(expected)}", ""
    return number(expected), f"{number(low)} to {number(high)}"


def picture(row: Mapping[str, Any]) -> str:
    """Band, stated value and measured interval on a line; empty without numbers."""
    mean, stated = row.get("mean"), row.get("expected")
    if mean is None or stated is None:
        return ""
    half = row.get("half_width") or 0.0
    low, high = row["band"]
    points = [v for v in (mean - half, mean + half, stated, low, high) if v is not None]
    least, greatest = min(points), max(points)
    margin = 0.12 * (greatest - least) or abs(stated) * 0.1 or 1.0
    least, greatest = least - margin, greatest + margin

    def x(value: float | None, otherwise: float) -> float:
        return otherwise if value is None else 2 + (WIDTH - 4) * (value - least) / (greatest - least)

    left, right, middle = x(low, 0), x(high, WIDTH), HEIGHT / 2
    at = x(stated, 0)
    said = f"measured {number(mean)}, stated {number(stated)}"
    return (
        f'<svg class="row" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{said}">'
        f'<rect class="band" x="{left:.1f}" y="3" width="{max(right - left, 1):.1f}" height="{HEIGHT - 6}"/>'
        f'<path class="stated" d="M{at:.1f} {middle - 6}l5 6l-5 6l-5-6z"/>'
        f'<path class="whisker" d="M{x(mean - half, 0):.1f} {middle}H{x(mean + half, 0):.1f}"/>'
        f'<circle class="measured" cx="{x(mean, 0):.1f}" cy="{middle}" r="3"/></svg>'
    )


def _image(folder: Path, item: Mapping[str, Any], name: str) -> str:
    """The picture of a figure, in the page itself."""
    files = [folder / Path(file).name for file in item["files"]]
    for kind, media in TYPES.items():
        for file in files:
            if file.suffix == f".{kind}" and file.is_file():
                data = base64.b64encode(file.read_bytes()).decode("ascii")
                return f'<figure><img alt="{escape(name)} as measured" src="data:{media};base64,{data}"></figure>'
    return ""
