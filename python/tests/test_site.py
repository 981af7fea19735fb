"""The pages of the documentation site: their links, their places, and tables made from declarations."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def tool(name: str) -> ModuleType:
    """A module of ``python/tools``."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "python" / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


site = tool("site")


@pytest.mark.parametrize("page", site.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_of_a_page_is_dead(page: Path) -> None:
    dead = [link for link in site.links(page) if not (page.parent / link).exists()]
    assert dead == []


def test_no_two_pictures_are_the_same() -> None:
    seen: dict[bytes, Path] = {}
    for path in sorted(path for path in (ROOT / "docs").rglob("*") if path.suffix in (".png", ".svg", ".jpg")):
        same = seen.setdefault(path.read_bytes(), path)
        assert same == path, f"{path.relative_to(ROOT)} has the bytes of {same.relative_to(ROOT)}"


def test_every_page_has_a_place_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    placed = {line.split(" ")[-1] for line in navigation.splitlines() if line.endswith(".md")}
    gathered = {str(page.relative_to(ROOT)) for page in site.pages()} | {"docs/python.md", "scenarios/README.md"}
    assert placed == gathered


def test_gathered_pages_link_to_each_other(tmp_path: Path) -> None:
    site.main(tmp_path)
    for page in tmp_path.rglob("*.md"):
        dead = [link for link in site.links(page) if not (page.parent / link).is_file()]
        assert dead == [], page.relative_to(tmp_path)


def test_the_page_of_quantities_is_that_of_the_declarations() -> None:
    writer = tool("write_quantities")
    page = writer.PAGE.read_text(encoding="utf-8")
    assert page == writer.text(page), "run python/tools/write_quantities.py"
    for name in (
        "throughput_bps",
        "limited_by_head_of_line_share",
        "drops_link_down",
        "sent-throughput",
        "transfer-size",
    ):
        assert f"`{name}`" in page
