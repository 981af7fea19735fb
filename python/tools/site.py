"""Gathers the pages of the documentation site in a folder, from which mkdocs makes the site: ``make docs``.

The pages keep their places in the tree, so that links between them are valid in the tree and on the site. Files that
pages link to are copied, links to folders lead to the page within, and links to other files become plain text.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "benches/README.md",
    "crates/sctp/CHECKLIST.md",
)
FOLDERS = ("docs/**/*.md", "papers/*/NOTES.md")
_LINK = re.compile(r"(?P<mark>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]+)\)")
_INDICES = ("README.md", "NOTES.md")


def main(target: Path) -> None:
    """Writes all pages, the files that they show or link to, and a page of scenarios."""
    shutil.rmtree(target, ignore_errors=True)
    for page in pages():
        text = _LINK.sub(lambda match, page=page: _rewritten(match, page, target), page.read_text(encoding="utf-8"))
        _write(target / page.relative_to(ROOT), text)
    _write(target / "scenarios" / "README.md", "\n".join(_scenarios(target)) + "\n")
    _write(target / "docs" / "python.md", API)


def pages() -> list[Path]:
    """The Markdown pages of the site."""
    return [ROOT / page for page in PAGES] + sorted(path for folder in FOLDERS for path in ROOT.glob(folder))


def links(page: Path) -> Iterator[str]:
    """The targets of a page's links to other files of the tree, without anchors."""
    for match in _LINK.finditer(page.read_text(encoding="utf-8")):
        path = match["target"].split("#")[0]
        if path and "://" not in path and not path.startswith("mailto:"):
            yield path


def _rewritten(match: re.Match[str], page: Path, target: Path) -> str:
    path, _, anchor = match["target"].partition("#")
    if not path or "://" in path:
        return match[0]
    linked = (page.parent / path).resolve()
    if linked == ROOT / "scenarios":
        path = f"{path.rstrip('/')}/README.md"
    elif linked.is_dir():
        index = next((name for name in _INDICES if linked / name in pages()), None)
        if index is None:
            return match["text"]
        path = f"{path.rstrip('/')}/{index}"
    elif linked not in pages():
        copy = target / linked.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(linked, copy)
    return f"{match['mark']}[{match['text']}]({path}{'#' + anchor if anchor else ''})"


def _scenarios(target: Path) -> Iterator[str]:
    yield "# Scenarios to start from\n"
    yield "Run one by its name, for example `anabranch run two-paths`, and change any key with `--set`.\n"
    for file in sorted((ROOT / "scenarios").glob("*.toml")):
        shutil.copyfile(file, _made(target / "scenarios") / file.name)
        text = file.read_text(encoding="utf-8")
        yield f"## {file.stem}\n\n{tomllib.loads(text)['title']}\n"
        yield f'```toml title="{file.name}"\n{text.rstrip()}\n```\n'


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write(file: Path, text: str) -> None:
    _made(file.parent)
    file.write_text(text, encoding="utf-8")


API = """# Python

`import anabranch` is the laboratory and the protocol; `anabranch.net` and `anabranch.aio` are connections over UDP for
programs that wait and for programs with asyncio.

::: anabranch

::: anabranch.net

::: anabranch.aio
"""

if __name__ == "__main__":
    main(Path(sys.argv[1]))
