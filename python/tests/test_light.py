"""The package without its extra ``lab``: connections work, and what needs the extra says so."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from anabranch import lab

ROOT = Path(__file__).parents[2]
BLOCKED = f"import sys; sys.modules.update(dict.fromkeys({lab.PACKAGES!r})); "


def without_extra(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in which no package of the extra can be imported."""
    done = [sys.executable, "-c", BLOCKED + program, *arguments]
    return subprocess.run(done, capture_output=True, text=True, check=False)


def test_the_extra_has_the_packages_and_nothing_is_needed_without_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {need.split(">")[0] for need in project["optional-dependencies"]["lab"]}
    assert names == {"pillow" if package == "PIL" else package for package in lab.PACKAGES}
    assert "dependencies" not in project


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address only")
def test_connections_work_without_the_extra() -> None:
    done = without_extra("""
from anabranch import aio, net
with net.Listener(["127.0.0.1"], udp_port=0) as listener:
    with net.connect(["127.0.0.1"], listener.port, local=["127.0.0.1"], remote_udp_port=listener.udp_port) as near:
        near.send(b"hello")
        print(listener.accept(5).recv(5).data)
""")
    assert (done.stdout, done.stderr) == ("b'hello'\n", "")


def test_commands_in_rust_work_without_the_extra() -> None:
    program = "from anabranch.command import main; sys.exit(main(sys.argv[1:]))"
    done = without_extra(program, "run", "two-paths", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert without_extra(program, "completions", "bash").returncode == 0


@pytest.mark.parametrize("arguments", [["report", "two-paths"], ["reproduce", "000"], ["fairness"], ["bonding"]])
def test_a_command_that_needs_the_extra_says_so(arguments: list[str]) -> None:
    done = without_extra("from anabranch.command import main; sys.exit(main(sys.argv[1:]))", *arguments)
    assert done.returncode == 1
    assert done.stderr.endswith(
        " is not installed; tables, figures and reports need it: pip install 'anabranch[lab]'\n"
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("call", ["run('two-paths')", "sweep('two-paths')", "Result.read('x')", "measure('127.0.0.1')"])
def test_a_call_that_needs_the_extra_says_so_at_once(call: str) -> None:
    done = without_extra(f"import anabranch; anabranch.{call}")
    assert done.stderr.endswith("tables, figures and reports need it: pip install 'anabranch[lab]'\n")
