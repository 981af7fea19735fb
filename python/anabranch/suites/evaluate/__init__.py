"""``anabranch evaluate``: one congestion control against the criteria of RFC 9743."""
