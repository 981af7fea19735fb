"""The three design rules with numbers computed by hand, and the table with artificial results."""

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anabranch import command
from anabranch.result import Result
from anabranch.statistics import Estimate
from anabranch.suites import running
from anabranch.suites.fairness import measure as fairness
from anabranch.suites.fairness import picture
from anabranch.suites.fairness.measure import Rule, Score, State, Table, balance, harm, improve, judge
from anabranch.suites.running import Running, ratio


def test_a_flow_is_compared_to_tcp_on_its_best_path() -> None:
    # A TCP flow has 2 Mbit/s on the first path and 4 on the second; the multipath flow has 6 in total.
    assert improve([6.0, 6.0], [[2.0, 2.0], [4.0, 4.0]]).mean == 1.5


def test_harm_is_the_largest_harm_over_all_bottlenecks() -> None:
    # The flow sends 3 where a TCP flow sends 2, and 2 where a TCP flow sends 4.
    assert harm([[3.0, 3.0], [2.0, 2.0]], [[2.0, 2.0], [4.0, 4.0]]).mean == 1.5
    assert harm([[2.0, 2.0]], [[2.0, 2.0]]).mean == 1.0


def test_balance_is_the_share_moved_away_from_the_congested_bottleneck() -> None:
    # Two TCP flows have 2 and 6, a quarter on the first path. A flow with 1 and 9 has a tenth there: 1 - 0.1/0.25.
    assert balance([[1.0], [9.0]], [[2.0], [6.0]]).mean == pytest.approx(0.6)
    assert balance([[0.0], [5.0]], [[2.0], [6.0]]).mean == 1.0
    # If the flow has the same shares as the two TCP flows, the balance is 0 for any sum. Half of its traffic on the
    # first path is twice the share of the TCP flows there.
    assert balance([[1.0], [3.0]], [[2.0], [6.0]]).mean == 0.0
    assert balance([[4.0], [4.0]], [[2.0], [6.0]]).mean == -1.0


def test_the_interval_of_a_ratio_combines_those_of_both_parts() -> None:
    found = ratio(Estimate(6.0, 0.3, 8), Estimate(4.0, 0.4, 8))
    assert found.mean == 1.5
    # 1.5 sqrt((0.3/6)² + (0.4/4)²)
    assert found.half_width == pytest.approx(1.5 * math.sqrt(0.0025 + 0.01))
    assert ratio(Estimate(0.0, 0.2, 8), Estimate(4.0, 0.4, 8)).half_width == pytest.approx(0.05)
    assert math.isinf(ratio(Estimate(1.0, math.inf, 1), Estimate(1.0, 0.0, 8)).half_width)


@pytest.mark.parametrize(
    ("rule", "mean", "state"),
    [
        (Rule.IMPROVE, 1.06, State.KEPT),
        (Rule.IMPROVE, 0.9, State.OPEN),
        (Rule.IMPROVE, 0.8, State.BROKEN),
        (Rule.HARM, 0.94, State.KEPT),
        (Rule.HARM, 1.1, State.OPEN),
        (Rule.HARM, 1.2, State.BROKEN),
        (Rule.BALANCE, 0.11, State.KEPT),
        (Rule.BALANCE, 0.0, State.OPEN),
        (Rule.BALANCE, -0.2, State.BROKEN),
        (Rule.ALONE, 3.0, None),
    ],
)
def test_a_rule_is_kept_or_broken_only_by_the_whole_interval(rule: Rule, mean: float, state: State | None) -> None:
    assert judge(rule, Estimate(mean, 0.1, 8)) == state


def test_the_suite_has_all_congestion_controls() -> None:
    assert {"standard", "lia", "mpplus"} <= set(fairness.controls())
    assert fairness.chosen(None) == (*fairness.controls(), "recommended")
    assert fairness.chosen("lia, standard") == ("lia", "standard")


@pytest.fixture
def faked(monkeypatch) -> list[dict[str, Any]]:
    """Replaces the simulator: the flow has 1 Mbit/s on each network below 3, and a TCP flow has 2 Mbit/s."""
    asked: list[dict[str, Any]] = []

    def sweep(scenario: dict[str, Any], *, replicas: int, **_: Any) -> Result:
        asked.append(scenario)
        flow = next(flow for flow in scenario["flow"] if flow["name"] == "contender")
        tcp = "tcp" in flow
        networks = [str(n) for n in flow["networks"]["vary"]] if tcp else [None]
        names = [None] if tcp else flow["sctp"]["vary"]
        rivals = fairness.RIVALS if tcp or len(scenario["flow"]) > 1 else [None]
        rows: list[dict[str, Any]] = []
        for network in networks:
            for name in names:
                for rival in rivals:
                    at = {"network": network} if tcp else {"control": name}
                    at |= {"rival": rival} if rival else {}
                    for replica in range(replicas):
                        rows += rows_of(
                            at, replica, paths=1 if tcp or "networks" in flow else 3, each=2e6 if tcp else 1e6
                        )
        return Result(pl.DataFrame(rows, infer_schema_length=None), pl.DataFrame(), {})

    monkeypatch.setattr(running, "sweep", sweep)
    return asked


def rows_of(at: dict[str, Any], replica: int, paths: int, each: float) -> list[dict[str, Any]]:
    fixed = {"run": 0, "replica": replica, "window": "steady"} | at
    rows = [fixed | {"flow": "contender", "path": None, "quantity": "throughput_bps", "value": paths * each}]
    sent = {"flow": "contender", "quantity": "sent_throughput_bps", "value": each}
    rows += [fixed | sent | {"path": path} for path in range(paths)]
    for link in ("tight", "tight1", "tight2"):
        for quantity, value in (("offered_packets", 1000.0), ("drops_queue_full", 5.0)):
            rows.append(fixed | {"flow": f"link:{link}", "path": None, "quantity": quantity, "value": value})
    return rows


def test_the_command_writes_table_figure_and_page(faked, tmp_path: Path, capsys) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table -->\nyesterday\n<!-- end of table -->\nafter\n")
    call = ["fairness", "--controls", "lia", "--replicas", "2", "--out", str(tmp_path), "--page", str(page)]
    assert command.main([*call, "--formats", "png,svg"]) == 0
    shown = capsys.readouterr().out
    assert "Seed 1, 2 replicas" in shown
    assert (tmp_path / "fairness.png").stat().st_size > 5000
    assert (tmp_path / "fairness.svg").is_file()
    table = json.loads((tmp_path / "table.json").read_text())
    found = {(s["topology"], s["rule"]): s["mean"] for s in table["scores"] if s["rival"] == "reno"}
    # Each artificial path carries 1 Mbit/s, and a TCP flow has 2 Mbit/s. Over one path the flow has half of the rate of
    # TCP; two of the three paths lead over the first bottleneck.
    assert found["shared", "improve"] == 1.5
    assert found["shared", "alone"] == 0.5
    assert found["shared", "harm"] == 1.0
    assert found["partly", "balance"] == pytest.approx(1 - (2 / 3) / (1 / 2))
    text = page.read_text()
    assert text.startswith("before\n<!-- table -->\n")
    assert text.endswith("<!-- end of table -->\nafter\n")
    assert "yesterday" not in text
    assert (tmp_path / "table.md").read_text() in text


def test_the_figure_has_a_look_for_every_topology_and_one_scale_for_the_panels_of_a_rule() -> None:
    assert list(picture.LOOKS) == [topology.id for topology in fairness.topologies() if topology.queue is None]
    found = Estimate(1.2, 0.1, 8)
    places = [(Rule.ALONE, "shared"), (Rule.IMPROVE, "idle"), (Rule.HARM, "rtt"), (Rule.BALANCE, "rtt")]
    scores = [Score("lia", rival, place, rule, found) for rival in fairness.RIVALS for rule, place in places]
    # A control with a far larger number than the others changes the scale of I, and also the scale of H.
    scores.append(Score("lia", "reno", "rate", Rule.IMPROVE, Estimate(9.0, math.inf, 1)))
    figure = picture.draw(Table(("lia",), scores, [], seed=1, replicas=8))
    scales = [axes.get_xlim() for axes in figure.axes]
    assert scales[:3] == scales[3:]
    assert scales[0] == scales[1]
    assert scales[0][1] > 9
    [legend] = figure.legends
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == ["idle", "rtt", "rate", "over one path only, in shared", "the rule is broken here"]


def test_topologies_with_managed_queues_are_those_of_shared_and_stand_apart() -> None:
    apart = [topology for topology in fairness.topologies() if topology.queue is not None]
    assert [topology.id for topology in apart] == ["red", "codel", "fq-codel", "pie"]
    shared = next(topology for topology in fairness.topologies() if topology.id == "shared").scenario()
    for topology in apart:
        found = topology.scenario()
        differing = [ours for ours, theirs in zip(found["link"], shared["link"], strict=True) if ours != theirs]
        assert [(link["name"], link["queue"]["kind"]) for link in differing] == [("tight", topology.id)]
    scores = [
        Score("lia", "reno", place, Rule.HARM, Estimate(mean, 0.1, 8)) for place, mean in (("shared", 1), ("red", 2))
    ]
    table = Table(("lia",), scores, [], seed=1, replicas=8)
    assert (table.topologies(Rule.HARM), table.topologies(Rule.HARM, managed=True)) == (["shared"], ["red"])
    assert table.worst("lia", "reno", Rule.HARM) == scores[0]


def test_progress_knows_the_number_of_sweeps(faked, tmp_path: Path) -> None:
    fairness.measure(Running(tmp_path, replicas=1), ("lia",))
    assert len(faked) == fairness.sweeps()


def test_scenarios_get_the_controls_and_tcp_in_the_contenders_place(faked, tmp_path: Path) -> None:
    names = ["lia", "rpv2", "recommended"]
    fairness.measure(Running(tmp_path, replicas=1), tuple(names))
    varied = [s for s in faked if s.get("sctp")]
    for made in varied:
        [flow] = [flow for flow in made["flow"] if flow["name"] == "contender"]
        assert flow["sctp"] == {"name": "control", "vary": names}
        sets = made["sctp"]
        assert {name: sets[name]["congestion_control"] for name in ("lia", "rpv2")} == {"lia": "lia", "rpv2": "rpv2"}
        assert "receive_buffer" in sets[sets["lia"]["inherit"]]
        assert sets["recommended"] == {"profile": "recommended"}
    assert len(varied) == len(fairness.topologies()) + 1
    singles = [flow for s in faked if not s.get("sctp") for flow in s["flow"] if flow["name"] == "contender"]
    assert len(singles) == len(fairness.topologies())
    assert all(flow["protocol"] == "TCP" and "sctp" not in flow for flow in singles)


def test_unknown_controls_and_pages_without_marks_are_refused(faked, tmp_path: Path, capsys) -> None:
    assert command.main(["fairness", "--controls", "reno"]) == 2
    assert "there is no congestion control `reno`" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        command.main(["fairness", "--replicas", "0"])
    assert stop.value.code == 2
    page = tmp_path / "page.md"
    page.write_text("<!-- table -->\n")
    assert command.main(["fairness", "--page", str(page)]) == 2
    assert "end of table" in capsys.readouterr().err
    assert faked == []
