"""``anabranch bbr-cases``: the 22 example cases of BBR, read from probes of its inner state."""
