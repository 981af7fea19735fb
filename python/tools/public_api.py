"""Write the public items of the crates that programs embed to `crates/*/public-api.txt`, or check these files.

    python python/tools/public_api.py [--check]

A line that is gone or differs breaks programs: it needs an item in CHANGELOG.md and a version that may break them.
rustdoc describes the items as JSON. Only its nightly builds write JSON, unless RUSTC_BOOTSTRAP is set. The format
differs from one version of rustdoc to the next, so another version than `FORMAT` is refused.
"""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CRATES = ("units", "transport", "cc", "sctp", "anabranch", "io", "noise", "tokio")
FORMAT = 57
Json = dict[str, Any]


def describe(package: str) -> Json:
    """Return rustdoc's description of a crate with all its features."""
    options = ["-Zunstable-options", "--output-format", "json", "--cap-lints", "allow"]
    command = ["cargo", "rustdoc", "--locked", "--quiet", "--lib", "--all-features", "-p", package, "--", *options]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "RUSTC_BOOTSTRAP": "1"})
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    found = json.loads((target / "doc" / f"{package.replace('-', '_')}.json").read_text("utf-8"))
    if found["format_version"] != FORMAT:
        sys.exit(f"public-api: rustdoc writes format {found['format_version']}, and this script reads {FORMAT}")
    return found


def bounds(found: list[Json]) -> str:
    """Write the bounds of a type."""
    texts: list[str] = []
    for bound in found:
        (kind, inner), *_ = bound.items()
        if kind == "trait_bound":
            texts.append(("?" if inner["modifier"] == "maybe" else "") + path(inner["trait"]))
        else:
            texts.append(str(inner))
    return " + ".join(texts)


def path(found: Json) -> str:
    """Write the last name of a path, with its arguments."""
    name, args = found["path"].rsplit("::")[-1], found["args"] or {}
    if "parenthesized" in args:
        inner = args["parenthesized"]
        output = f" -> {type_of(inner['output'])}" if inner["output"] else ""
        return f"{name}({', '.join(map(type_of, inner['inputs']))}){output}"
    inner = args.get("angle_bracketed", {})
    texts = [next(iter(arg.values())) for arg in inner.get("args", [])]
    texts = [text if isinstance(text, str) else text.get("expr") or type_of(text) for text in texts]
    for constraint in inner.get("constraints", []):
        binding = constraint["binding"]
        bound = f": {bounds(binding['constraint'])}" if "constraint" in binding else None
        texts.append(constraint["name"] + (bound or f" = {type_of(next(iter(binding['equality'].values())))}"))
    return f"{name}<{', '.join(texts)}>" if texts else name


def type_of(found: Json | None) -> str:
    """Write a type."""
    if found is None:
        return "()"
    (kind, inner), *_ = found.items()
    match kind:
        case "resolved_path":
            text = path(inner)
        case "primitive" | "generic":
            text = str(inner)
        case "borrowed_ref":
            lifetime = f"{inner['lifetime']} " if inner["lifetime"] else ""
            text = f"&{lifetime}{'mut ' if inner['is_mutable'] else ''}{type_of(inner['type'])}"
        case "slice":
            text = f"[{type_of(inner)}]"
        case "array":
            text = f"[{type_of(inner['type'])}; {inner['len']}]"
        case "tuple":
            text = f"({', '.join(map(type_of, inner))})"
        case "impl_trait":
            text = f"impl {bounds(inner)}"
        case "dyn_trait":
            lifetime = f" + {inner['lifetime']}" if inner["lifetime"] else ""
            text = "dyn " + " + ".join(path(bound["trait"]) for bound in inner["traits"]) + lifetime
        case "qualified_path":
            text = f"{type_of(inner['self_type'])}::{inner['name']}"
        case _:
            text = json.dumps(found, sort_keys=True)
    return text


def generics(found: Json) -> str:
    """Write the parameters of a generic item, with their bounds."""
    texts: list[str] = []
    for param in found["params"]:
        (kind, inner), *_ = param["kind"].items()
        if kind == "type" and inner["is_synthetic"]:
            continue
        bound = bounds(inner["bounds"]) if kind == "type" else type_of(inner["type"]) if kind == "const" else ""
        texts.append(param["name"] + (f": {bound}" if bound else ""))
    where = [predicate["bound_predicate"] for predicate in found["where_predicates"] if "bound_predicate" in predicate]
    texts += [f"{type_of(predicate['type'])}: {bounds(predicate['bounds'])}" for predicate in where]
    return f"<{', '.join(texts)}>" if texts else ""


class Crate:
    """The public items of a crate."""

    def __init__(self, found: Json) -> None:
        self.index: dict[str, Json] = found["index"]
        self.root = found["root"]

    def __iter__(self) -> Iterator[str]:
        yield from self.module(self.root, "")

    def item(self, number: int) -> Json:
        """Return an item by its number."""
        return self.index[str(number)]

    def module(self, number: int, place: str) -> Iterator[str]:
        """The lines of a module."""
        for child in self.item(number)["inner"]["module"]["items"]:
            yield from self.named(self.item(child), place)

    def named(self, item: Json, place: str, name: str | None = None) -> Iterator[str]:
        """The lines of an item, and of those within it."""
        (kind, inner), *_ = item["inner"].items()
        whole = place + (name or item["name"] or "")
        match kind:
            case "use":
                target = self.index.get(str(inner["id"]))
                if target is None:
                    alias = "::*" if inner["is_glob"] else f" as {inner['name']}"
                    yield f"use {place}{inner['source']}{alias}"
                elif inner["is_glob"]:
                    yield from self.module(inner["id"], place)
                else:
                    yield from self.named(target, place, inner["name"])
            case "module":
                yield f"mod {whole}"
                yield from self.module(item["id"], f"{whole}::")
            case "function":
                yield self.function(item, whole)
            case "struct" | "enum" | "trait" | "union":
                open_ended = "non_exhaustive " if "non_exhaustive" in item["attrs"] else ""
                yield f"{open_ended}{kind} {whole}{generics(inner['generics'])}"
                yield from self.members(kind, inner, f"{whole}::")
            case "struct_field":
                yield f"field {whole}: {type_of(inner)}"
            case "variant":
                yield f"variant {whole}"
                yield from self.members(kind, inner, f"{whole}::")
            case "constant" | "assoc_const":
                yield f"const {whole}: {type_of(inner['type'])}"
            case "type_alias" | "assoc_type":
                yield f"type {whole} = {type_of(inner['type'])}"
            case _:
                yield f"{kind} {whole}"

    def members(self, kind: str, inner: Json, place: str) -> Iterator[str]:
        """The lines of the fields, variants, methods and traits of a type."""
        shape = inner.get("kind", {})
        fields = shape.get("plain", {}).get("fields", []) if isinstance(shape, dict) and "plain" in shape else []
        if isinstance(shape, dict):
            fields = fields or shape.get("struct", {}).get("fields", []) or shape.get("tuple", [])
        items = [*fields, *inner.get("variants", [])]
        if kind == "trait":
            items += inner["items"]
        for number in items:
            if number is not None:
                yield from self.named(self.item(number), place)
        for number in [] if kind == "trait" else inner.get("impls", []):
            found = self.item(number)["inner"]["impl"]
            trait = found["trait"]
            if trait is None:
                for method in found["items"]:
                    if self.item(method)["visibility"] == "public":
                        yield from self.named(self.item(method), place)
            elif found["blanket_impl"] is None and (not found["is_synthetic"] or trait["path"] in ("Send", "Sync")):
                reference = "&" * ("borrowed_ref" in found["for"])
                yield f"impl {'!' * found['is_negative']}{path(trait)} for {reference}{place.removesuffix('::')}"

    @staticmethod
    def function(item: Json, whole: str) -> str:
        """The line of a function."""
        inner = item["inner"]["function"]
        header, signature = inner["header"], inner["sig"]
        words = "const " * header["is_const"] + "async " * header["is_async"] + "unsafe " * header["is_unsafe"]
        inputs = ", ".join(f"{name}: {type_of(of)}" for name, of in signature["inputs"])
        output = f" -> {type_of(signature['output'])}" if signature["output"] else ""
        return f"{words}fn {whole}{generics(inner['generics'])}({inputs}){output}"


def main() -> None:
    """Write the files, or with `--check` compare them."""
    wrong = False
    for crate in CRATES:
        package = "anabranch" if crate == "anabranch" else f"anabranch-{crate}"
        text = "".join(f"{line}\n" for line in sorted(set(Crate(describe(package)))))
        file = ROOT / "crates" / crate / "public-api.txt"
        if "--check" not in sys.argv[1:]:
            file.write_text(text, "utf-8")
            continue
        before = file.read_text("utf-8") if file.exists() else ""
        name = f"crates/{crate}/public-api.txt"
        changes = list(difflib.unified_diff(before.splitlines(), text.splitlines(), name, "now", n=0, lineterm=""))
        if changes:
            print("\n".join(changes))
            wrong = True
    if wrong:
        sys.exit("The public API changed. If that is intended: python python/tools/public_api.py, and CHANGELOG.md")


if __name__ == "__main__":
    main()
