"""The network of a scenario as a drawing: columns of nodes from the clients to the servers."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from typing import Any

from .page import escape

COLUMN, ROW, HALF, EDGE = 230, 74, 44, 16
MOST_NODES = 60


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
    width = 2 * HALF + 2 * EDGE + COLUMN * max(column for column, _ in places.values())
    height = ROW * (max(row for _, row in places.values()) + 1) + 26
    spots = {name: (EDGE + HALF + COLUMN * column, ROW * (row + 0.5) + 14) for name, (column, row) in places.items()}
    parts = [*_edges(links, spots), *(_node(name, nodes[name], spots[name]) for name in nodes)]
    return (
        '<svg role="img" aria-label="The network of the scenario; the table below has the same" '
        f'viewBox="0 0 {width:g} {height:g}" style="width:100%;max-width:{width:g}px;height:auto">'
        f"{''.join(parts)}</svg>"
    )


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


def _edges(links: list[Any], spots: Mapping[str, tuple[float, float]]) -> list[str]:
    """Lines, bent where several links join the same nodes, with rate and delay."""
    pairs = [tuple(sorted(map(str, link["between"]))) for link in links]
    many, seen = Counter(pairs), Counter[tuple[str, ...]]()
    parts: list[str] = []
    for link, pair in zip(links, pairs, strict=True):
        (x1, y1), (x2, y2) = (spots[str(end)] for end in link["between"])
        bend = (seen[pair] - (many[pair] - 1) / 2) * 62
        seen[pair] += 1
        if x1 == x2:
            x, y = x1 + 40 + abs(bend), (y1 + y2) / 2
        else:
            x, y = (x1 + x2) / 2, (y1 + y2) / 2 + bend
        control = (2 * x - (x1 + x2) / 2, 2 * y - (y1 + y2) / 2)
        parts.append(f'<path class="edge" d="M{x1:g} {y1:g} Q{control[0]:g} {control[1]:g} {x2:g} {y2:g}"/>')
        label = ", ".join(filter(None, (shown(link.get("rate")), shown(link.get("delay")))))
        parts.append(f'<text x="{x:g}" y="{y - 5:g}" text-anchor="middle">{escape(label)}</text>')
        named = link.get("name") or ""
        parts.append(f'<text class="small" x="{x:g}" y="{y + 13:g}" text-anchor="middle">{escape(named)}</text>')
    return parts


def _node(name: str, node: Mapping[str, Any], spot: tuple[float, float]) -> str:
    x, y = spot
    kind = str(node.get("kind", "host"))
    many = node.get("count", 1)
    text = name if many == 1 else f"{name} × {shown(many)}"
    corner = 4 if kind == "host" else 15
    box = f'x="{x - HALF}" y="{y - 15:g}" width="{2 * HALF}" height="30" rx="{corner}"'
    return (
        f'<rect class="node {escape(kind)}" {box}/>'
        f'<text x="{x:g}" y="{y + 4:g}" text-anchor="middle">{escape(text)}</text>'
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
