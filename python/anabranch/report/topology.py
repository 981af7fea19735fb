"""The network of a scenario as a drawing: columns of nodes from the clients to the servers."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from .page import escape

HALF, EDGE, GAP, ROW, BEND = 44, 16, 90, 74, 62
"""In px: half a narrow box, the margin, the least room between columns, the distance of rows and of parallel links."""
LETTER = 7.2
"""Width of an average letter of 12 px, on the safe side."""
MOST_NODES, MOST_LETTERS = 60, 34
ALONG = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)
"""Positions of a label along its link, as fractions of the link, in order of preference."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle that a label or a node takes."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether both share some area."""
        beside = self.right <= other.left or other.right <= self.left
        return not (beside or self.bottom <= other.top or other.bottom <= self.top)


def topology(scenario: Mapping[str, Any]) -> str:
    """The drawing as SVG, empty for a scenario without links or with more than 60 nodes."""
    links = [link for link in scenario.get("link", []) if len(link.get("between", [])) == 2]
    nodes = {str(node.get("name")): node for node in scenario.get("node", [])}
    for link in links:
        for end in link["between"]:
            nodes.setdefault(str(end), {})
    if not links or len(nodes) > MOST_NODES:
        return ""
    places = _places(scenario, list(nodes), links)
    texts = {name: _node_text(name, node) for name, node in nodes.items()}
    spots, boxes = _spots(places, texts, links)
    edges = _edges(links, spots)
    labels, taken = _labels(links, edges, list(boxes.values()))
    bends = [Box(x, y, x, y) for x, y in (_at(edge, 0.5) for edge in edges)]
    everything = [*boxes.values(), *taken, *bends]
    left, top = (min(getattr(box, side) for box in everything) - EDGE for side in ("left", "top"))
    right, bottom = (max(getattr(box, side) for box in everything) + EDGE for side in ("right", "bottom"))
    width, height = right - left, bottom - top
    drawn = [f'<path class="edge" d="{_path(edge)}"/>' for edge in edges]
    parts = [*drawn, *(_node(nodes[name], texts[name], boxes[name], name) for name in nodes), *labels]
    return (
        '<svg role="img" aria-label="The network of the scenario; the table below has the same" '
        f'viewBox="{left:g} {top:g} {width:g} {height:g}" style="width:100%;max-width:{width:g}px;height:auto">'
        f"{''.join(parts)}</svg>"
    )


def _spots(
    places: Mapping[str, tuple[int, float]], texts: Mapping[str, str], links: list[Any]
) -> tuple[dict[str, tuple[float, float]], dict[str, Box]]:
    """The middle and the box of each node: columns as wide as their names, apart as far as labels need."""
    half = {name: max(HALF, len(text) * LETTER / 2 + 8) for name, text in texts.items()}
    columns = range(max(column for column, _ in places.values()) + 1)
    room = dict.fromkeys(columns, float(GAP))
    for link in links:
        column = min(places[str(end)][0] for end in link["between"])
        room[column] = max(room[column], _width(_label(link)) + 60)
    middles: list[float] = []
    edge = 0.0
    for column in columns:
        widest = max(half[name] for name, place in places.items() if place[0] == column)
        middles.append(edge + widest)
        edge += 2 * widest + room[column]
    spots = {name: (middles[column], ROW * row) for name, (column, row) in places.items()}
    boxes = {name: Box(x - half[name], y - 15, x + half[name], y + 15) for name, (x, y) in spots.items()}
    return spots, boxes


def _places(scenario: Mapping[str, Any], names: list[str], links: list[Any]) -> dict[str, tuple[int, float]]:
    """Column and row of each node: the columns are the distances from the clients of the flows."""
    beside: dict[str, list[str]] = {name: [] for name in names}
    for link in links:
        a, b = map(str, link["between"])
        beside[a].append(b)
        beside[b].append(a)
    clients = {str(flow["client"]) for flow in scenario.get("flow", []) if flow.get("client") in beside}
    column = dict.fromkeys(clients or names[:1], 0)
    queue = deque(column)
    while queue:
        name = queue.popleft()
        for other in beside[name]:
            if other not in column:
                column[other] = column[name] + 1
                queue.append(other)
    for name in names:
        column.setdefault(name, 0)
    sizes = Counter(column.values())
    tallest = max(sizes.values())
    used: Counter[int] = Counter()
    places: dict[str, tuple[int, float]] = {}
    for name in names:
        at = column[name]
        spread = tallest / sizes[at]
        places[name] = (at, used[at] * spread + (spread - 1) / 2)
        used[at] += 1
    return places


Curve = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
"""Begin, control point and end of a quadratic curve."""


def _edges(links: list[Any], spots: Mapping[str, tuple[float, float]]) -> list[Curve]:
    """Lines, bent where several links join the same nodes."""
    pairs = [tuple(sorted(map(str, link["between"]))) for link in links]
    many, seen = Counter(pairs), Counter[tuple[str, ...]]()
    curves: list[Curve] = []
    for link, pair in zip(links, pairs, strict=True):
        (x1, y1), (x2, y2) = (spots[str(end)] for end in link["between"])
        bend = (seen[pair] - (many[pair] - 1) / 2) * BEND
        seen[pair] += 1
        x, y = (x1 + x2) / 2, (y1 + y2) / 2
        # Twice the bend: the middle of the curve lies half way between its chord and the control point.
        control = (x + 2 * (HALF + 20 + abs(bend)), y) if x1 == x2 else (x, y + 2 * bend)
        curves.append(((x1, y1), control, (x2, y2)))
    return curves


def _at(curve: Curve, along: float) -> tuple[float, float]:
    """A point of the curve, from 0 at its begin to 1 at its end."""
    parts = ((1 - along) ** 2, 2 * along * (1 - along), along**2)
    x, y = (sum(part * point[axis] for part, point in zip(parts, curve, strict=True)) for axis in (0, 1))
    return x, y


def _path(curve: Curve) -> str:
    (x1, y1), (cx, cy), (x2, y2) = curve
    return f"M{x1:g} {y1:g} Q{cx:g} {cy:g} {x2:g} {y2:g}"


def _label(link: Mapping[str, Any]) -> list[str]:
    """Rate and delay, and the name, each in a line."""
    lines = [", ".join(filter(None, (shown(link.get("rate")), shown(link.get("delay"))))), str(link.get("name") or "")]
    return [_cut(line) for line in lines if line]


def _width(lines: Sequence[str]) -> float:
    return max((len(line) for line in lines), default=0) * LETTER


def _labels(links: list[Any], edges: Sequence[Curve], taken: list[Box]) -> tuple[list[str], list[Box]]:
    """The labels of the links, each where it covers neither a node nor another label, and the boxes that they take."""
    taken, mine = list(taken), list[Box]()
    parts: list[str] = []
    for link, edge in zip(links, edges, strict=True):
        lines = _label(link)
        if not lines:
            continue
        half, height = _width(lines) / 2, 17 * len(lines)
        free = (
            (Box(x - half, y - height / 2 + down, x + half, y + height / 2 + down))
            for down in count(0, 6) for x, y in (_at(edge, along) for along in ALONG)
        )  # fmt: skip
        box = next(box for box in free if not any(box.overlaps(other) for other in taken))
        taken.append(box)
        mine.append(box)
        size = f'width="{2 * half:g}" height="{height}"'
        parts.append(f'<rect class="behind" x="{box.left:g}" y="{box.top:g}" {size}/>')
        for number, line in enumerate(lines):
            style = ' class="label small"' if number else ' class="label"'
            x, y = (box.left + box.right) / 2, box.top + 13 + 17 * number
            parts.append(f'<text{style} x="{x:g}" y="{y:g}" text-anchor="middle">{escape(line)}</text>')
    return parts, mine


def _cut(text: str) -> str:
    """The text if it is short; the table below the drawing has all of it."""
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1].rstrip()}…"


def _node_text(name: str, node: Mapping[str, Any]) -> str:
    many = node.get("count", 1)
    return _cut(name if many == 1 else f"{name} × {shown(many)}")


def _node(node: Mapping[str, Any], text: str, box: Box, name: str) -> str:
    kind = str(node.get("kind", "host"))
    corner = 4 if kind == "host" else 15
    size = f'width="{box.right - box.left:g}" height="{box.bottom - box.top:g}"'
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return (
        f'<rect class="node {escape(kind)}" x="{box.left:g}" y="{box.top:g}" {size} rx="{corner}"/>'
        f'<text x="{x:g}" y="{y + 4:g}" text-anchor="middle"><title>{escape(name)}</title>{escape(text)}</text>'
    )


def shown(value: object) -> str:
    """A value of a scenario in a few words; the values of a variation with bars between them."""
    if isinstance(value, Mapping):
        if "vary" in value:
            return " | ".join(shown(v) for v in value["vary"])
        return ", ".join(f"{k} {shown(v)}" for k, v in value.items())
    if isinstance(value, list):
        return ", ".join(shown(v) for v in value)
    return "" if value is None else str(value)
