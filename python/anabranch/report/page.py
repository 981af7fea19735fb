"""The HTML page around figures and tables: everything is in one file, and nothing is loaded from elsewhere."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from .. import __version__

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="anabranch {version}">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{css}</style>
{library}
<script>
{script}</script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<h1>{title}</h1>
{lead}
<nav aria-label="Sections"><ul>{nav}</ul></nav>
</header>
<main id="content">
{body}
</main>
{figures}
</body>
</html>
"""


@dataclass
class Page:
    """A page in parts: sections with headings, and Bokeh figures that stand in them."""

    title: str
    lead: str = ""
    parts: list[str] = field(default_factory=list)
    sections: list[tuple[str, str]] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    scripts: list[str] = field(default_factory=list)

    def section(self, anchor: str, title: str) -> None:
        """Begins a section."""
        self.sections.append((anchor, title))
        self.parts.append(f'<h2 id="{anchor}">{escape(title)}</h2>')

    def add(self, *parts: str) -> None:
        """Adds HTML to the present section."""
        self.parts += [part for part in parts if part]

    def figure(self, key: str, drawn: Any, title: str, note: str = "") -> None:
        """Adds a figure with a heading."""
        self.figures[key] = drawn
        text = f'<p class="note">{note}</p>' if note else ""
        self.parts.append(
            f'<div class="panel"><h3>{escape(title)}</h3>{text}<div data-figure="{escape(key)}"></div></div>'
        )

    def html(self) -> str:
        """The whole page."""
        body = "\n".join(self.parts)
        library, script = "", ""
        if self.figures:
            # Bokeh takes a third of a second to import.
            from bokeh.embed import components
            from bokeh.resources import Resources

            library = Resources(mode="inline", components=["bokeh"], log_level="warn").render_js()
            script, places = components(self.figures)
            for key, place in places.items():
                body = body.replace(f'<div data-figure="{escape(key)}"></div>', place)
        nav = "".join(f'<li><a href="#{anchor}">{escape(title)}</a></li>' for anchor, title in self.sections)
        return TEMPLATE.format(
            version=__version__, title=escape(self.title), css=asset("style.css"), library=library,
            script="\n".join([asset("report.js"), *self.scripts]), lead=self.lead, nav=nav, body=body, figures=script,
        )  # fmt: skip


def in_script(text: str) -> str:
    """JSON that may stand in a script element: HTML gives ``</script`` and ``<!--`` a meaning there."""
    return text.replace("<", "\\u003c")


def asset(name: str) -> str:
    """A file of this package as text."""
    return (files(__package__ or "anabranch.report") / name).read_text(encoding="utf-8")


def escape(text: object) -> str:
    """Text for HTML."""
    return html.escape(str(text))


@dataclass(frozen=True)
class Cell:
    """HTML of a cell that is more than text."""

    html: str
    number: bool = False


def table(head: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "", names: int = 1) -> str:
    """A table; the first ``names`` columns name the row. Numbers stand to the right; None is an empty cell."""
    rows = [list(row) for row in rows]
    right = [any(isinstance(row[place], (int, float)) for row in rows) for place in range(len(head))]
    heads = "".join(f'<th scope="col"{_right(r)}>{escape(name)}</th>' for name, r in zip(head, right, strict=True))
    body = "".join(f"<tr>{''.join(_cell(v, i < names) for i, v in enumerate(row))}</tr>\n" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="scroll"><table>{title}<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody></table></div>'


def _cell(value: object, name: bool) -> str:
    if isinstance(value, Cell):
        return f"<td{_right(value.number)}>{value.html}</td>"
    is_number = False
    text = "" if value is None else str(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        is_number, text = True, number(float(value))
    if name:
        return f'<th scope="row"{_right(is_number)}>{escape(text)}</th>'
    return f"<td{_right(is_number)}>{escape(text)}</td>"


def _right(yes: bool) -> str:
    return ' class="n"' if yes else ""


def number(value: float) -> str:
    """Up to five digits: whole numbers whole, and no exponent where it is not needed."""
    if not math.isfinite(value):
        return "–"
    if value == int(value) and abs(value) < 1e12:
        return f"{int(value)}"
    return f"{value:.5g}"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of names and values."""
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in pairs if v) + "</dl>"


def details(summary: str, content: str, *, printed: bool = False) -> str:
    """Content that is folded away; on paper it is shown if ``printed``."""
    kind = ' class="printed"' if printed else ""
    return f"<details{kind}><summary>{escape(summary)}</summary>{content}</details>"
