"""Runs a plan for real: an emulation in network namespaces, and programs at both ends of each flow.

The programs are ``anabranch measure``, or those of :mod:`.foreign`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from .. import _core
from ..folder import manifest_of
from ..scenario import to_toml
from . import foreign
from .plan import FINE, KERNEL_CONTROLS, Flow, OverlayError, Plan

PATIENCE = 30.0
"""Seconds that a program may take to start, or to end after its work."""
LATEST_START = 0.1
"""Seconds by which a flow may begin to send later than planned."""
PORT = 9000
"""Port of the first flow. Each further flow has a port larger by 2, because the control connection takes one, too."""
VECTOR = "flow-passive-00000000-0000.vec"
"""The file in which the receiver of a flow records each message, in the folder of the flow."""


class RunError(_core.SimulationError):
    """A real run failed; the text names the program and contains its output."""


def missing() -> str | None:
    """The missing tool or permission for a run in network namespaces, or None."""
    if not sys.platform.startswith("linux"):
        return "Linux"
    if os.geteuid() != 0:
        return "root"
    if shutil.which("ip") is None:
        return "the program `ip`"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "/dev/net/tun"
    name = f"ov{os.getpid()}-try"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    if made.returncode != 0:
        return "the permission to make network namespaces"
    subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
    return None


def run(plan: Plan, folder: Path, seed: int) -> dict[str, Any]:
    """Does one run and puts its results into ``folder``; returns the report of ``anabranch emulate``.

    ``folder`` gets ``emulation`` with the series of the links, and a folder of each flow with the files of its
    programs. Raises :class:`RunError` if a program fails or a flow starts late.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hosts = dict.fromkeys(host for flow in plan.flows for host in (flow.client, flow.server))
    namespaces = {host: f"ov{os.getpid()}-{number}" for number, host in enumerate(hosts)}
    (folder / "emulated.toml").write_text(plan.emulated(namespaces), encoding="utf-8")
    with _emulation(folder, namespaces, seed) as began, ExitStack() as programs:
        for flow in plan.flows:
            (folder / flow.name).mkdir()
            _prepare(plan, flow, namespaces, folder / flow.name)
        servers: list[_Program] = []
        for number, flow in enumerate(plan.flows):
            command = _inside(namespaces[flow.server], _serve(plan, flow, number, folder / flow.name))
            servers.append(programs.enter_context(_Program(command, folder / f"{flow.name}-server")))
            servers[-1].wait_for("listening")
        clients: list[_Program] = []
        for number, flow in enumerate(plan.flows):
            command = _inside(namespaces[flow.client], _measure(plan, flow, number, began, folder / flow.name))
            clients.append(programs.enter_context(_Program(command, folder / f"{flow.name}-client")))
        for flow, server, client in zip(plan.flows, servers, clients, strict=True):
            client.end(plan.end + 2 * PATIENCE)
            if foreign.of(plan, flow) is not None:
                server.end(PATIENCE)
                if (fault := foreign.finish(plan, flow, client.said(), folder / flow.name)) is not None:
                    raise RunError(f"flow `{flow.name}`: {fault}")
    outcome = manifest_of(folder / "emulation")["emulation"]
    for flow in plan.flows:
        begun = manifest_of(folder / flow.name)["begun_us"]
        late = (begun - outcome["begun_us"]) * 1e-6 - flow.start
        if late > LATEST_START:
            raise RunError(f"flow `{flow.name}` began to send {late:.1f} s late: its program started too slowly")
    return outcome


class _Program:
    """A program whose output goes to files, and which is stopped at the end of a ``with`` block."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._log = log
        self._file: IO[bytes] = log.with_suffix(".log").open("wb")
        self.process = subprocess.Popen([*urgent(1), *command], stdout=self._file, stderr=self._file)

    def __enter__(self) -> _Program:
        return self

    def __exit__(self, *_: object) -> None:
        stop(self.process, signal.SIGTERM)
        self._file.close()

    def said(self) -> str:
        """Output of the program."""
        return self._log.with_suffix(".log").read_text(encoding="utf-8", errors="replace").strip()

    def wait_for(self, word: str) -> None:
        """Waits until the program prints a word."""
        deadline = time.monotonic() + PATIENCE
        while word not in self.said():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RunError(f"{self._log.name} did not start: {self.said()}")
            time.sleep(0.01)

    def end(self, patience: float) -> None:
        """Waits for the successful end of the program."""
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired as error:
            raise RunError(f"{self._log.name} did not end: {self.said()}") from error
        if code != 0:
            raise RunError(f"{self._log.name} failed: {self.said()}")


def stop(process: subprocess.Popen[Any], how: signal.Signals) -> None:
    """Ends a program; kills it if it does not end."""
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _emulation(folder: Path, namespaces: Mapping[str, str], seed: int) -> Iterator[float]:
    """Emulates the network during the ``with`` block; gives the time of day at which its clock began."""
    # The emulator has a higher priority than the programs; otherwise it would wait for the end of their time slices.
    command = [*urgent(2), *_anabranch(), "emulate", str(folder / "emulated.toml"), "--seed", str(seed)]
    command += ["--out", str(folder / "emulation")]
    with (folder / "emulation.log").open("w", encoding="utf-8") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True)
        try:
            said: list[str] = []
            for line in process.stderr or ():
                said.append(line)
                if line.strip().endswith(": ready"):
                    break
            else:
                raise RunError("the emulation did not start: " + "".join(said).strip())
            # If nobody read the pipe, it would become full and stop the emulation.
            threading.Thread(target=process.stderr.read if process.stderr else print, daemon=True).start()
            yield time.time()
        finally:
            stop(process, signal.SIGINT)
            for namespace in namespaces.values():
                # Removes a namespace that the emulation could not remove.
                if Path("/run/netns", namespace).exists():
                    subprocess.run(["ip", "netns", "delete", namespace], capture_output=True, check=False)
    if process.returncode != 0:
        raise RunError(f"the emulation failed with code {process.returncode}")


def _prepare(plan: Plan, flow: Flow, namespaces: Mapping[str, str], folder: Path) -> None:
    """Prepares the hosts of a flow: for a TCP flow, sets the congestion control of the kernel."""
    commands: list[list[str]] = []
    if (program := foreign.of(plan, flow)) is not None:
        commands = program.prepare(plan, flow, namespaces, folder)
    elif flow.transport == "tcp":
        for host in (flow.client, flow.server):
            control = str(flow.options[host].get("control", "standard"))
            if control not in KERNEL_CONTROLS:
                known = ", ".join(KERNEL_CONTROLS)
                raise OverlayError(
                    f"flow `{flow.name}`: the kernel has no control `{control}`; expected one of {known}"
                )
            setting = f"net.ipv4.tcp_congestion_control={KERNEL_CONTROLS[control]}"
            commands.append(_inside(namespaces[host], ["sysctl", "-q", "-w", setting]))
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RunError(f"flow `{flow.name}`: `{' '.join(command)}`: {done.stderr.strip()}")


def _serve(plan: Plan, flow: Flow, number: int, out: Path) -> list[str]:
    if (program := foreign.of(plan, flow)) is not None:
        return program.server(plan, flow, out)
    _, local = plan.way(flow)
    return [
        *_anabranch(),
        "measure",
        "--server",
        "--one-off",
        "--local",
        ",".join(local),
        *_both(flow, flow.server, number),
    ]


def _measure(plan: Plan, flow: Flow, number: int, began: float, out: Path) -> list[str]:
    if (program := foreign.of(plan, flow)) is not None:
        return program.client(plan, flow, began, out)
    local, hosts = plan.way(flow)
    command = [*_anabranch(), "measure", ",".join(hosts), "--local", ",".join(local), *_both(flow, flow.client, number)]
    command += ["--at", f"{began + flow.start:.6f}", "--time", f"{flow.stop - flow.start:.6f}", "--interval", str(FINE)]
    command += ["--transport", flow.transport, "--length", str(flow.length), "--unordered", str(flow.unordered)]
    command += [
        "--bitrate",
        str(flow.rate * flow.length * 8),
        "--out",
        str(out),
        "--vector",
        str(out / "flow.vec"),
        "--quiet",
    ]
    return command


def _both(flow: Flow, host: str, number: int) -> list[str]:
    """Arguments of both ends: ports, and the options of SCTP. The profile replaces the defaults of ``measure``."""
    ports = ["--port", str(PORT + 2 * number), "--udp-port", str(9899 + number)]
    return [*ports, "--set", to_toml(flow.options[host])] if flow.transport == "sctp" else ports


def _anabranch() -> list[str]:
    return [sys.executable, "-m", "anabranch"]


def _inside(namespace: str, command: Sequence[str]) -> list[str]:
    return ["ip", "netns", "exec", namespace, *command]


@lru_cache
def urgent(priority: int) -> tuple[str, ...]:
    """The beginning of a command line that gets the CPU before other programs, if that is allowed."""
    prefix = ("chrt", "--rr", str(priority))
    try:
        allowed = subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return ()
    return prefix if allowed else ()
