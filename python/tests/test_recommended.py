"""The table of recommended options in docs/bonding.md."""

from __future__ import annotations

import re
from pathlib import Path

import anabranch

PAGE = Path(__file__).parents[2] / "docs" / "bonding.md"
SCENARIO = """
[[node]]
name = "client"
[[node]]
name = "server"
[[link]]
name = "fast"
between = ["client", "server"]
net_id = 1
rate = "10 Mbit/s"
delay = "5 ms"
[[link]]
name = "slow"
between = ["client", "server"]
net_id = 2
rate = "5 Mbit/s"
delay = "25 ms"
loss = 0.01
[[flow]]
name = "transfer"
client = "client"
server = "server"
sctp = "chosen"
frame_rate = "0 Hz"
stop_time = "8 s"
[sctp.chosen]
"""


def test_the_printed_options_are_keys_of_a_scenario_and_make_the_profile() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## The recommended options")[2]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    printed = [option for row in rows for option in re.findall(r"`(.+? = .+?)`", row)]
    assert len(printed) > 20
    by_hand = anabranch.run(SCENARIO + "\n".join(["cmt.enabled = true", *printed]) + "\n")
    profile = anabranch.run(SCENARIO + 'profile = "recommended"\n')
    assert by_hand.scalars.equals(profile.scalars)
