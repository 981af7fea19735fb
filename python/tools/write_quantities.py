"""Writes the tables of ``docs/quantities.md``: every quantity that a run measures, from its declaration in Rust.

Run it after a change of ``crates/lab/src/metrics/quantity.rs`` or ``crates/scenario/src/probe.rs``:
``python python/tools/write_quantities.py``. A test compares the page with the declarations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "quantities.md"
SCALARS = ROOT / "crates" / "lab" / "src" / "metrics" / "quantity.rs"
PROBES = ROOT / "crates" / "scenario" / "src" / "probe.rs"

_DOCUMENTED = re.compile(r"(?P<doc>(?:^ *///.*\n)+) *(?P<code>[^/\s].*(?:\n(?! *///| *\}| *\n).*)*)", re.MULTILINE)
_NAME = re.compile(r'"([^"]+)"')


@dataclass(frozen=True)
class Quantity:
    """A declaration: the constant in Rust, the names in results, and what they mean."""

    constant: str
    names: tuple[str, ...]
    meaning: str


def text(before: str) -> str:
    """The page with its tables written anew."""
    source = SCALARS.read_text(encoding="utf-8")
    flows, others = source.split("macro_rules! limited_by", 1)
    limited = tuple(
        f"limited_by_{name}_share" for name in _NAME.findall(others.split("limited_by!(", 1)[1].split(")")[0])
    )
    scalars = [*_declared(flows.split("quantities! {", 1)[1]), *_declared(others.split("\n}\n", 1)[1], limited)]
    probes = _declared(
        PROBES.read_text(encoding="utf-8").split('"quantity" ProbeQuantity {', 1)[1].split("\n}\n", 1)[0]
    )
    series = [one for one in scalars if one.meaning.startswith("A series: ")]
    known = {one.constant: one.names[0] for one in scalars}
    tables = {
        "scalars": [one for one in scalars if one not in series],
        "series": [
            *probes,
            *(replace(one, meaning=_capitalised(one.meaning.removeprefix("A series: "))) for one in series),
        ],
    }
    page = before
    for name, quantities in tables.items():
        head = f"<!-- quantities: {name} -->\n"
        start = page.index(head) + len(head)
        page = page[:start] + _table(quantities, known) + page[page.index("<!-- end -->", start) :]
    return page


def _declared(source: str, limited: tuple[str, ...] = ()) -> list[Quantity]:
    found: list[Quantity] = []
    for match in _DOCUMENTED.finditer(source):
        code = match["code"]
        constant = re.match(r"(?:pub const )?(\w+)", code)
        names = limited if "LIMITED_BY" in code else tuple(_NAME.findall(code))
        if constant is None or not names:
            continue
        doc = " ".join(line.strip().removeprefix("///").strip() for line in match["doc"].splitlines())
        found.append(Quantity(constant[1], names, doc))
    return found


def _table(quantities: list[Quantity], known: dict[str, str]) -> str:
    rows = ["| quantity | meaning |", "|---|---|"]
    for one in quantities:
        names = ", ".join(f"`{name}`" for name in one.names)
        rows.append(f"| {names} | {_plain(one.meaning, known)} |")
    return "\n".join(rows) + "\n"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plain(doc: str, known: dict[str, str]) -> str:
    """The documentation without links into the code: constants by the names of their quantities."""

    def name(match: re.Match[str]) -> str:
        return f"`{known.get(match[1].split('::')[-1], match[1])}`"

    return re.sub(r"\[`([\w:]+)`\](?:\([^)]*\))?", name, doc).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(text(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
