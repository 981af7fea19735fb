"""The workflows for a public host, and the page about releases: checks that a linter of workflows does not make."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def jobs(workflow: Path) -> dict[str, dict[str, Any]]:
    return yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]


def cargo() -> dict[str, Any]:
    return tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]


def test_there_are_the_workflows_that_the_page_names() -> None:
    page = (ROOT / "docs" / "release.md").read_text(encoding="utf-8")
    assert {path.stem for path in WORKFLOWS} == {"ci", "site", "wheels"}
    assert all(f"`{path.stem}`" in page for path in WORKFLOWS)
    assert len(page.splitlines()) <= 100


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_jobs_may_only_read(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    for action in re.findall(r"uses: (.*)", text):
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), "a commit, and its version behind it"
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
    assert "\npermissions: { contents: read }\n" in text
    for name, job in jobs(workflow).items():
        assert "timeout-minutes" in job, name
        assert ("write" in str(job.get("permissions"))) == (name == "publish"), name
        assert "secrets." not in str(job), name
        assert name != "publish" or "environment" in job


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_steps_run_what_the_tree_has(workflow: Path) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    run = "\n".join(step.get("run", "") for job in jobs(workflow).values() for step in job["steps"])
    assert set(re.findall(r"^make ([\w-]+)", run, re.MULTILINE)) <= set(targets)
    assert all((ROOT / script).is_file() for script in re.findall(r"^\.\S+", run, re.MULTILINE))
    assert all((ROOT / "crates" / crate).is_dir() for crate in re.findall(r"-p anabranch-(\w+)", run))


def test_the_compiler_of_the_tests_is_one_that_the_crates_promise() -> None:
    image = jobs(ROOT / ".github" / "workflows" / "ci.yml")["linux"]["container"]["image"]
    tested = [int(part) for part in image.removeprefix("rust:").removesuffix("-bookworm").split(".")]
    assert tested >= [int(part) for part in cargo()["package"]["rust-version"].split(".")]


def test_crates_are_published_after_those_that_they_need() -> None:
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"]
    done = subprocess.run(metadata, capture_output=True, check=True, cwd=ROOT)
    packages = [package for package in json.loads(done.stdout)["packages"] if package["publish"] is None]
    page = (ROOT / "docs" / "release.md").read_text(encoding="utf-8")
    order = re.findall(r"^cargo publish -p (\S+)$", page, re.MULTILINE)
    assert sorted(order) == sorted(package["name"] for package in packages)
    for package in packages:
        # A published package leaves out dependencies for tests that have no version.
        needed = {other["name"] for other in package["dependencies"] if other.get("path") and other["req"] != "*"}
        assert needed <= set(order[: order.index(package["name"])]), package["name"]


def test_versions_agree() -> None:
    version = cargo()["package"]["version"]
    ours = {name: at for name, at in cargo()["dependencies"].items() if isinstance(at, dict) and "path" in at}
    assert {at["version"] for name, at in ours.items() if name != "testkit"} == {version}
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"Version {version.rpartition('.')[0]}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Version {version.rpartition('.')[0]}" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_the_page_about_platforms_names_those_that_are_compiled() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
    targets = re.findall(r"^PLATFORMS := (.*)$", makefile, re.MULTILINE)[0].split()
    assert all(f"`{target}`" in page for target in targets)
    checked = re.findall(r"-p (anabranch-\w+)", makefile.split("\nplatforms:")[1].split("\n\n")[0])
    in_ci = jobs(ROOT / ".github" / "workflows" / "ci.yml")["platforms"]["steps"][-1]["run"]
    assert checked == re.findall(r"-p (anabranch-\w+)", in_ci) == ["anabranch-io", "anabranch-tokio", "anabranch-py"]
