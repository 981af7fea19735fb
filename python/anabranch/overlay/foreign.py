"""Programs with other stacks at the ends of a flow: usrsctp, and MPTCP of the kernel.

They take the place of our stack in the SCTP flow of a plan. Their receiver records the time and the bytes of each read.
They report nothing about their paths.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..folder import sealed
from ..shipped import folder as shipped_folder
from . import mptcp
from .plan import KERNEL_CONTROLS, OURS, Flow, OverlayError, Plan

ARRIVALS = "arrivals.txt"
"""The file of the receiver in the folder of a flow: a line for each read, with the time of day in seconds and bytes."""
SCHEMA = "anabranch.overlay.foreign/1"
"""The schema of the manifest in the folder of such a flow."""


class ForeignError(OverlayError):
    """A program that this machine does not have, or a flow that it cannot run."""


class Program(ABC):
    """A program that sends and receives in place of our stack."""

    name: str
    """The value of ``--program``."""
    title: str
    """How pages call it."""

    @abstractmethod
    def missing(self) -> str | None:
        """The program, library or kernel feature that this machine lacks, or None."""

    @abstractmethod
    def unfit(self, flow: Flow) -> str | None:
        """The reason why the program cannot run the flow, with the expected value; or None."""

    @abstractmethod
    def prepare(self, plan: Plan, flow: Flow, namespaces: Mapping[str, str], folder: Path) -> list[list[str]]:
        """Creates the files of both ends in ``folder``, and returns the commands to run before them."""

    @abstractmethod
    def server(self, plan: Plan, flow: Flow, folder: Path) -> list[str]:
        """The receiver, which prints ``listening``."""

    @abstractmethod
    def client(self, plan: Plan, flow: Flow, began: float, folder: Path) -> list[str]:
        """The sender, which prints a line of JSON with ``begun`` at its end."""

    def fault(self, flow: Flow, report: Mapping[str, Any]) -> str | None:
        """The problem that the report of the sender shows, or None."""
        del flow, report
        return None


class Usrsctp(Program):
    """``suites/overlay/usrsctp.c``, compiled when it is needed."""

    name = "usrsctp"
    title = "usrsctp"
    LENGTH = 1400
    """The length of its messages."""

    def missing(self) -> str | None:
        """See :class:`Program`."""
        with tempfile.TemporaryDirectory() as scratch:
            return self._compile(Path(scratch, "try"))

    def _compile(self, to: Path) -> str | None:
        source = shipped_folder("suites") / "overlay" / "usrsctp.c"
        command = ["cc", "-O2", "-o", str(to), str(source), "-lusrsctp", "-lpthread"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError:
            return "the C compiler cc"
        if done.returncode == 0:
            return None
        if "usrsctp.h" in done.stderr or "-lusrsctp" in done.stderr:
            return "libusrsctp with its header (`apt install libusrsctp-dev`)"
        raise ForeignError(f"{source} cannot be compiled: {done.stderr.strip()}")

    def unfit(self, flow: Flow) -> str | None:
        """See :class:`Program`."""
        if (flow.length, flow.rate, flow.unordered) != (self.LENGTH, 0.0, 1.0):
            return (f"it sends unordered messages of {self.LENGTH} bytes as fast as it can; expected "
                    f'frame_rate = "0 Hz", frame_size = "{self.LENGTH} B" and unordered = 1.0')  # fmt: skip
        if len(flow.networks) != 2:
            return f"it has 2 addresses; expected a flow over 2 networks, found {len(flow.networks)}"
        for options in flow.options.values():
            control = options.get("congestion_control", "standard")
            if options["profile"] != "standard" or control != "standard":
                return 'its congestion control is that of RFC 9260; expected profile = "standard" and no other control'
        return None

    def prepare(self, plan: Plan, flow: Flow, namespaces: Mapping[str, str], folder: Path) -> list[list[str]]:
        """See :class:`Program`."""
        del plan, flow, namespaces
        if (why := self._compile(folder / "usrsctp")) is not None:
            raise ForeignError(f"usrsctp needs {why}")
        return []

    def server(self, plan: Plan, flow: Flow, folder: Path) -> list[str]:
        """See :class:`Program`."""
        _, own = plan.way(flow)
        limit = f"{plan.end + 10:.0f}"
        return [str(folder / "usrsctp"), "receive", self._cmt(flow, flow.server), limit, *own, str(folder / ARRIVALS)]

    def client(self, plan: Plan, flow: Flow, began: float, folder: Path) -> list[str]:
        """See :class:`Program`."""
        own, peer = plan.way(flow)
        times = f"{flow.stop - flow.start:.6f}", f"{began + flow.start:.6f}"
        command = [str(folder / "usrsctp"), "send", self._cmt(flow, flow.client), times[0], *own, peer[0]]
        return [*command, times[1]]

    @staticmethod
    def _cmt(flow: Flow, host: str) -> str:
        return "1" if flow.options[host].get("cmt", {}).get("enabled", False) else "0"


class Mptcp(Program):
    """``mptcp.py`` with MPTCP sockets of the kernel; ``ip mptcp`` tells the kernel the further addresses."""

    name = "mptcp"
    title = "MPTCP of the kernel"
    PORT = 9000

    def missing(self) -> str | None:
        """See :class:`Program`."""
        try:
            mptcp.open_socket().close()
        except OSError:
            return "a kernel with MPTCP (`sysctl net.mptcp.enabled=1`)"
        done = subprocess.run(["ip", "mptcp", "limits", "show"], capture_output=True, check=False)
        return None if done.returncode == 0 else "an `ip` that knows `ip mptcp`"

    def unfit(self, flow: Flow) -> str | None:
        """See :class:`Program`."""
        if flow.rate != 0.0:
            return 'it sends as fast as it can; expected frame_rate = "0 Hz"'
        if self._control(flow) is None:
            return f"the kernel has another congestion control; expected one of {', '.join(KERNEL_CONTROLS)}"
        return None

    @staticmethod
    def _control(flow: Flow) -> str | None:
        """The congestion control of the kernel that corresponds to the one in the sender's options."""
        options = flow.options[flow.client]
        default = "cubic" if options["profile"] == "recommended" else "standard"
        return KERNEL_CONTROLS.get(str(options.get("congestion_control", default)))

    def prepare(self, plan: Plan, flow: Flow, namespaces: Mapping[str, str], folder: Path) -> list[list[str]]:
        """See :class:`Program`."""
        del folder
        client, server = (["ip", "netns", "exec", namespaces[host]] for host in (flow.client, flow.server))
        _, addresses = plan.way(flow)
        more = str(len(addresses) - 1)
        limits = ["ip", "mptcp", "limits", "set", "subflows", more, "add_addr_accepted", more]
        told = [[*server, "ip", "mptcp", "endpoint", "add", address, "signal"] for address in addresses[1:]]
        return [[*client, *limits], [*server, *limits], *told]

    def server(self, plan: Plan, flow: Flow, folder: Path) -> list[str]:
        """See :class:`Program`."""
        del plan, flow
        return [sys.executable, str(mptcp.__file__), "receive", str(self.PORT), str(folder / ARRIVALS)]

    def client(self, plan: Plan, flow: Flow, began: float, folder: Path) -> list[str]:
        """See :class:`Program`."""
        del folder
        own, peer = plan.way(flow)
        times = f"{began + flow.start:.6f}", f"{flow.stop - flow.start:.6f}"
        command = [sys.executable, str(mptcp.__file__), "send", own[0], peer[0], str(self.PORT), *times]
        return [*command, str(flow.length), str(self._control(flow))]

    def fault(self, flow: Flow, report: Mapping[str, Any]) -> str | None:
        """See :class:`Program`."""
        if report["subflows"] == len(flow.networks):
            return None
        return f"MPTCP had {report['subflows']} subflows; expected {len(flow.networks)}"


FOREIGN: dict[str, Program] = {program.name: program for program in (Usrsctp(), Mptcp())}
"""The programs with other stacks, by the value of ``--program``."""


def of(plan: Plan, flow: Flow) -> Program | None:
    """The program at the ends of a flow; None: ``anabranch measure``, also for TCP."""
    return None if plan.program == OURS or flow.transport != "sctp" else FOREIGN[plan.program]


def real_runs(plan: Plan, count: int) -> str:
    """The number of real runs in words, with the program of the plan unless it is ours."""
    return f"{count} real runs" if plan.program == OURS else f"{count} real runs by {FOREIGN[plan.program].title}"


def check(plan: Plan) -> None:
    """Raises :class:`ForeignError` if the program of a plan is missing, or cannot run its flows."""
    if plan.program == OURS:
        return
    program = FOREIGN[plan.program]
    flows = [flow for flow in plan.flows if of(plan, flow) is not None]
    if len(flows) != 1:
        raise ForeignError(f"--program {program.name} takes the place of one flow of SCTP; found {len(flows)}")
    if (why := program.unfit(flows[0])) is not None:
        raise ForeignError(f"flow `{flows[0].name}` cannot be run by {program.title}: {why}")
    if (why := program.missing()) is not None:
        raise ForeignError(f"--program {program.name} needs {why}")


def finish(plan: Plan, flow: Flow, said: str, folder: Path) -> str | None:
    """Writes the manifest of a flow from what its sender printed; returns what is wrong with the run, or None."""
    program = FOREIGN[plan.program]
    report = json.loads(said.splitlines()[-1])
    manifest = {
        "schema": SCHEMA,
        "program": program.name,
        "begun_us": round(report["begun"] * 1e6),
        "intervals": [],
        "report": report,
    }
    (folder / "manifest.json").write_text(sealed(manifest), encoding="utf-8")
    return program.fault(flow, report)


def arrivals(folder: Path) -> list[tuple[float, int]]:
    """For each read of the receiver: the time of day in seconds, and the number of bytes."""
    rows = (line.split() for line in (folder / ARRIVALS).read_text(encoding="ascii").splitlines())
    return [(float(at), int(size)) for at, size in rows]
