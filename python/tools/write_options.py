"""Writes ``python/anabranch/options.py``: the options of an endpoint as Python types, from the scenario schema.

Run it after a change of the options: ``python python/tools/write_options.py && ruff format python``. A test compares
the file with the schema.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from anabranch import Endpoint, _core

FILE = Path(__file__).parents[1] / "anabranch" / "options.py"

HEAD = '''"""Options of endpoints and of existing associations, as types. Written by ``python/tools/write_options.py``.

Times, sizes and rates are text with a unit (``"200 ms"``, ``"1 MB"``), as in a scenario. Options that are left out have
the default that is given here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict
'''


def text() -> str:
    """The whole file."""
    properties = _properties(json.loads(_core.scenario_schema())["properties"]["sctp"])
    cmt = _properties(properties.pop("cmt"))
    properties.pop("inherit")
    live = {name: properties.pop(name) for name in _live()}
    types = dict.fromkeys(properties)
    types |= {"cmt": "Cmt", "knobs": "Mapping[str, Mapping[str, str | float | bool]]"}
    parts = [
        HEAD,
        _class(
            "Cmt", "TypedDict", "Concurrent multipath transfer: unless ``enabled``, nothing else has any effect.", cmt
        ),
        _class("AssociationOptions", "TypedDict", "Options that can change while an association exists.", live),
        _class(
            "Options",
            "AssociationOptions",
            "Every option of an endpoint.",
            properties | {"cmt": {"description": "Concurrent multipath transfer."}},
            types,
        ),
    ]
    return "\n\n".join(parts)


def _properties(schema: Any) -> dict[str, Any]:
    """The properties of the first table within a schema."""
    if isinstance(schema, dict):
        if "properties" in schema:
            return dict(schema["properties"])
        inner: Any = schema.get("additionalProperties") or schema.get("anyOf")
        return _properties(inner)
    return _properties(schema[0])


def _live() -> list[str]:
    endpoint = Endpoint(["10.0.0.1"], port=1, seed=0)
    options = endpoint.options(endpoint.connect(0, 1, ["10.0.0.2"]))
    assert options is not None
    return sorted(options)


def _class(
    name: str, base: str, doc: str, properties: dict[str, Any], types: dict[str, str | None] | None = None
) -> str:
    lines = [f"class {name}({base}, total=False):", f'    """{doc}"""', ""]
    for key, schema in properties.items():
        kind = (types or {}).get(key) or _kind(schema)
        lines.append(f"    {key}: {kind}")
        default = schema.get("default")
        told = "" if default is None else f" Default: {json.dumps(default)}."
        said = " ".join(f"{schema['description']}{told}".replace("`", "``").split())
        wrapped = textwrap.wrap(said, 108)
        lines += [f'    """{wrapped[0]}', *(f"    {line}" for line in wrapped[1:])]
        lines[-1] += '"""'
    return "\n".join(lines) + "\n"


def _kind(schema: Any) -> str:
    """The type of a value; ``vary`` is for scenarios."""
    choices = [choice for choice in schema.get("anyOf", [schema]) if "vary" not in choice.get("properties", {})]
    kinds = dict.fromkeys(_simple(choice) for choice in choices)
    return " | ".join(kind for kind in kinds if "str" not in kinds or not kind.startswith("Literal"))


def _simple(schema: Any) -> str:
    if "anyOf" in schema:
        return _kind(schema)
    if "enum" in schema:
        return "Literal[" + ", ".join(json.dumps(word) for word in schema["enum"]) + "]"
    if "const" in schema:
        return f"Literal[{json.dumps(schema['const'])}]"
    if schema.get("type") == "array":
        return f"Sequence[{_simple(schema['items'])}]"
    kinds = {"integer": "int", "number": "float", "boolean": "bool"}
    return kinds.get(schema.get("type"), "str")


if __name__ == "__main__":
    FILE.write_text(text())
