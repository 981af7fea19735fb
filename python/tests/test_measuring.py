"""Measurements over the loopback interface, against a server in another process."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import anabranch
from anabranch import net

Ports = tuple[int, int]


@pytest.fixture
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ports]:
    """A server with the further arguments that the test names, in the test's folder, and its ports."""
    arguments = ["measure", "-s", "-p", "0", "--udp-port", "0", "--local", "127.0.0.1", *getattr(request, "param", [])]
    command = [sys.executable, "-m", "anabranch", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        port, _, udp_port = (int(number) for number in re.findall(r"\d+", process.stdout.readline()))
        yield port, udp_port
        process.kill()


def test_a_measurement_has_the_tables_of_a_simulated_run(server: Ports) -> None:
    (port, udp_port), intervals = server, list[dict[str, Any]]()
    result = anabranch.measure(
        "127.0.0.1",
        port=port,
        udp_port=udp_port,
        time=0.6,
        interval=0.2,
        rate=4e6,
        progress=intervals.append,
        pacing=True,
    )
    assert result.manifest["schema"] == "anabranch.measure/1"
    flow = result.manifest["total"]["flows"][0]
    assert flow["peer"]["received"]["bytes"] <= flow["sent"]["bytes"]
    received = result.summary("received_bytes").filter(flow="Flow 0")
    assert received["mean"][0] == flow["peer"]["received"]["bytes"] > 0
    assert result.series.columns == ["run", "replica", "flow", "path", "quantity", "time", "value"]
    assert intervals
    assert intervals[0]["flows"][0]["transport"] == "sctp"


def test_latency_under_load_has_rpm_and_a_report(server: Ports, tmp_path: Path) -> None:
    port, udp_port = server
    result = anabranch.measure("127.0.0.1", port=port, udp_port=udp_port, time=1, rate=4e6, latency=True)
    rpm = result.summary("rpm")
    assert rpm["window"].to_list() == ["down", "up", "both"]
    assert (rpm["mean"] > 0).all()
    latency = result.manifest["latency"]
    assert latency["grade"] in {"A+", "A", "B", "C", "D", "F"}
    median = result.scalars.filter(window="up", flow="probe:path", path=0, quantity="rtt_p50_s")["value"][0]
    assert median == latency["up"]["paths"][0]["p50_s"]
    assert result.series.filter(flow="probe:path", quantity="probe-rtt").height > 4 * 8
    page = result.report(tmp_path / "latency.html").read_text(encoding="utf-8")
    for text in ("Latency under load", "Round-trip time of probes", "Distribution of round-trip times", "path 0, both"):
        assert text in page, text
    with pytest.raises(ValueError, match="--latency"):
        anabranch.measure("127.0.0.1", port=port, udp_port=udp_port, latency=True, direction="down")


def test_both_directions_of_other_transports_are_measured(server: Ports) -> None:
    flows = ["tcp:50:1000:50:500", "udp:50:1000:50:500"]
    result = anabranch.measure("127.0.0.1", port=server[0], time=0.5, flows=flows)
    for flow in result.manifest["total"]["flows"]:
        assert flow["received"]["bytes"] > 0
        assert flow["peer"]["received"]["bytes"] > 0


def test_paths_of_the_server_are_in_tables_and_report(server: Ports, tmp_path: Path) -> None:
    port, udp_port = server
    result = anabranch.measure(
        "127.0.0.1", port=port, udp_port=udp_port, time=1.2, interval=0.4, rate=4e6, direction="down"
    )
    page = result.report(tmp_path / "m.html").read_text(encoding="utf-8")
    for expected in ("Flow 0, from the server, path 0", "Smoothed round-trip time of Flow 0, from the server", "UTC"):
        assert expected in page, expected
    assert "Flow 0, path 0" not in page, "the client sent nothing"
    assert "Links" not in page
    sent = result.summary("back_sent_user_bytes").filter(path=0)
    assert sent["mean"][0] > 0
    assert result.series.filter(quantity="back-cwnd", path=0).height >= 1
    assert result.manifest["total"]["peer"]["associations"][0]["paths"][0]["user_bytes"] == sent["mean"][0]


def test_a_capture_is_written_and_a_warning_tells_that_it_is_not_complete(server: Ports, tmp_path: Path) -> None:
    port, udp_port = server
    file = tmp_path / "m.pcapng"
    ours = {"port": port, "udp_port": udp_port, "time": 0.4, "rate": 4e6}
    anabranch.measure("127.0.0.1", pcap=file, **ours)
    assert file.stat().st_size > 4e6 / 8 * 0.2
    with pytest.warns(UserWarning, match=r"m.pcapng reached its limit: the last \d+ packets"):
        anabranch.measure("127.0.0.1", pcap=file, pcap_limit=5000, **ours)
    assert file.stat().st_size <= 5000


@pytest.mark.parametrize("server", [["--key", "server.key", "--peers", "any"]], indirect=True)
def test_a_server_with_a_key_is_measured_with_a_key(server: Ports, tmp_path: Path) -> None:
    with net.Endpoint("127.0.0.1", udp_port=0, key=tmp_path / "server.key", accept_any=True) as endpoint:
        peer = endpoint.identity
    ours = {"port": server[0], "udp_port": server[1], "time": 0.4, "rate": 4e6}
    result = anabranch.measure("127.0.0.1", key=tmp_path / "client.key", peer=peer, **ours)
    assert result.manifest["total"]["flows"][0]["peer"]["received"]["bytes"] > 0
    with pytest.raises(ValueError, match="name the server's public key with --peer"):
        anabranch.measure("127.0.0.1", key=tmp_path / "client.key", **ours)


def test_what_is_wrong_is_raised() -> None:
    with pytest.raises(ValueError, match="no option"):
        anabranch.measure("127.0.0.1", flows=["1:1:speed=2"])
    with pytest.raises(OSError, match=r"is `anabranch measure --server -p 1` running there"):
        anabranch.measure("127.0.0.1", port=1)
