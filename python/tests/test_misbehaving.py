"""Receivers that lie (RFC 9743, section 7.6): the bottleneck and the SACKs by hand, and what short runs show."""

from pathlib import Path

import pytest

from anabranch.suites.evaluate import criteria, misbehaving
from anabranch.suites.evaluate.bench import Bench
from anabranch.suites.evaluate.misbehaving import Bottleneck, Flow, Lie, Rates, rates
from anabranch.suites.running import Runner, Running

OPTIONS = {"profile": "recommended"}
MS = 1_000_000


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(misbehaving, "LASTS", 8.0)
    monkeypatch.setattr(misbehaving, "WARM_UP", 3.0)


def test_the_bottleneck_drops_beyond_its_queue_and_marks_from_half_of_it_on() -> None:
    # 1250 bytes take 1 ms, and the queue holds 50 kB: 40 packets. The 22nd finds 21 and so more than half.
    with_ecn, without = Bottleneck(True), Bottleneck(False)
    found = [with_ecn.take(0, 1250) for _ in range(41)]
    assert found == [((n + 1) * MS, n > 20) for n in range(40)] + [None]
    assert [without.take(0, 1250) for _ in range(41)] == [((n + 1) * MS, False) for n in range(40)] + [None]
    assert with_ecn.take(100 * MS, 1250) == (101 * MS, False), "it is empty again"


def test_a_lying_sack_acknowledges_the_highest_tsn_seen_across_the_end_of_the_numbers() -> None:
    flow = Flow(1, Lie.LOSSES, False, 1, {})
    header = bytes.fromhex("1389 138a 00000000 00000000")
    flow.learn_tag(header + bytes.fromhex("01000014 aabbccdd"))

    def data(*tsns: int) -> bytes:
        chunks = (bytes.fromhex("00030011") + tsn.to_bytes(4, "big") + bytes(8) + b"x" + bytes(3) for tsn in tsns)
        return header + b"".join(chunks)

    def answer(tsn: int) -> bytes:
        return bytes.fromhex(f"138a 1389 aabbccdd 00000000 03000010 {tsn:08x} 00100000 00000000")

    assert flow.sack(data(2**32 - 2, 2**32 - 1)) == answer(2**32 - 1)
    assert flow.sack(data(2**32 - 3)) == answer(2**32 - 1), "an old chunk takes nothing back"
    assert flow.sack(data(0)) == answer(0)


def test_honest_flows_share_the_bottleneck_and_a_run_is_deterministic() -> None:
    found = rates(Lie.NONE, False, 1, OPTIONS)
    assert found == rates(Lie.NONE, False, 1, OPTIONS)
    assert found != rates(Lie.NONE, False, 2, OPTIONS)
    assert 0.5 < found.carried / found.beside < 2
    assert (found.carried + found.beside) * 8 / 5 > 0.9 * misbehaving.RATE


@pytest.mark.parametrize("lie", [Lie.LOSSES, Lie.EARLY])
def test_a_receiver_that_acknowledges_what_it_did_not_get_takes_the_bottleneck(lie: Lie) -> None:
    found = rates(lie, False, 1, OPTIONS)
    assert found.carried > 10 * found.beside
    assert found.sent * 8 / 5 > 0.9 * misbehaving.OFFERED, "the sender sends all that its application has"


def test_a_receiver_that_repeats_sacks_or_reports_marks_on_all_packets_gains_nothing() -> None:
    for lie in Lie.REPEATED, Lie.MARKED:
        honest = rates(Lie.NONE, lie.of_marks, 1, OPTIONS)
        assert rates(lie, lie.of_marks, 1, OPTIONS).carried < 1.3 * honest.carried


def test_each_lie_has_a_row_with_what_it_gains(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def made_up(lie: Lie, ecn: bool, seed: int, options: object) -> Rates:
        assert options == OPTIONS
        assert seed in (7, 8)
        if lie is Lie.NONE:
            return Rates(4e6 if ecn else 5e6, 5e6, 5e6)
        assert ecn == lie.of_marks
        return Rates(8e6, 1e6, 9e6) if lie is Lie.UNMARKED else Rates(5e6, 5e6, 5e6)

    monkeypatch.setattr(criteria, "rates", made_up)
    bench = Bench("recommended", Runner("evaluate", Running(tmp_path, 2, 7), None))
    rows = {row.experiment: row for row in criteria.misbehaving(bench)}
    assert list(rows) == [lie.value for lie in Lie if lie is not Lie.NONE]
    assert rows[Lie.UNMARKED.value].verdict == "broken"
    assert "2.00 ± 0.00" in rows[Lie.UNMARKED.value].numbers
    assert "0.20 ± 0.00" in rows[Lie.UNMARKED.value].numbers
    assert rows[Lie.EARLY.value].verdict == "kept"
