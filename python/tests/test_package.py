"""The package as installed from a wheel: its data files, its command, and the modules that ``--help`` imports."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import anabranch
from anabranch import papers

ROOT = Path(__file__).parents[2]
SOURCE = Path("python", "anabranch")
KINDS = ("papers", "suites", "scenarios")


def included() -> set[Path]:
    """The data files that the wheel gets below ``anabranch/data``, by their path in the tree."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]
    sources = [entry["path"] for entry in settings["include"] if entry.get("format") == "sdist"]
    copies = [entry["path"] for entry in settings["include"] if entry.get("from") == "out-dir"]
    assert copies == [f"data/{path}" for path in sources], "the same files in wheels and in sources"
    return {path.relative_to(ROOT) for pattern in sources for path in ROOT.glob(pattern)}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as a wheel has it: with its data files, and without the tree around it."""
    place = tmp_path_factory.mktemp("unpacked")
    shutil.copytree(ROOT / SOURCE, place / "anabranch", ignore=shutil.ignore_patterns("data", "__pycache__"))
    for path in included():
        to = place / "anabranch" / "data" / path
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, to)
    return place


def call(package: Path, arguments: list[str], cwd: Path) -> str:
    """Output of the command of a package, called from another folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANABRANCH_")}
    done = subprocess.run(
        [sys.executable, "-m", "anabranch", *arguments],
        cwd=cwd,
        env=environment | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_scenario_and_every_file_of_papers_and_suites_is_in_the_wheel() -> None:
    tree = {
        path.relative_to(ROOT)
        for kind in KINDS
        for path in (ROOT / kind).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    # Scripts that draw pictures or measure for pages of the repository are not part of an installed package.
    scripts = (
        "bbr/NOTES.md",
        "bbr/picture.py",
        "bonding/NOTES.md",
        "bonding/diary.md",
        "bonding/method.md",
        "bonding/tables.md",
        "controls/bottlenecks.py",
        "controls/pictures.py",
        "controls/shares.py",
        "fairness/one_path.py",
        "buffers/memory.py",
        "buffers/picture.py",
        "handover/picture.py",
        "interleaving/picture.py",
        "links/captures.py",
        "latency/picture.py",
        "latency/queues.py",
        "links/picture.py",
        "links/wire_picture.py",
        "overlay/NOTES.md",
        "qlog/picture.py",
        "queues/pictures.py",
        "resume/measure.py",
        "tunnel/NOTES.md",
        "tunnel/day.py",
        "tunnel/measure.py",
        "tunnel/picture.py",
        "tunnel/soak.py",
        "tunnel/speed.py",
        "video/pictures.py",
    )
    for script in scripts:
        tree.discard(Path("suites", script))
    assert included() == tree


def test_no_file_of_the_tree_is_a_symbolic_link() -> None:
    listed = subprocess.run(["git", "ls-files", "-s"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    assert [line for line in listed.splitlines() if line.startswith("120000")] == [], "Windows has none in a checkout"


def test_an_unpacked_package_finds_papers_suites_and_scenarios_from_any_folder(unpacked: Path, tmp_path: Path) -> None:
    listing = call(unpacked, ["papers"], tmp_path)
    assert "000  " in listing
    assert "004  " in listing
    assert "throughput" in call(unpacked, ["run", "two-paths"], tmp_path)
    where = "import anabranch.suites.bonding.measure as b, anabranch.suites.fairness.measure as f; "
    program = where + "print(len(b.topologies()), len(f.topologies()), b.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(unpacked)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("3 10 ")
    assert str(unpacked) in done.stdout


def test_a_shipped_scenario_runs_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    by_name = anabranch.run("two-paths")
    by_path = anabranch.run(ROOT / "scenarios" / "two-paths.toml")
    assert by_name.scalars.equals(by_path.scalars)


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["papers"]])
def test_help_imports_neither_plots_nor_data_frames(arguments: list[str]) -> None:
    program = (
        "import sys; from anabranch.command import main; main(sys.argv[1:]); "
        "print({'matplotlib', 'polars'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.endswith("\nset()\n")


def test_the_citation_names_all_papers() -> None:
    text = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    for paper in papers.all_papers():
        assert f'title: "{paper.title}"' in text
