"""The edits of python/tools/ablations.toml fit the table of rules and the code."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RULES = tomllib.loads((ROOT / "python/tools/ablations.toml").read_text(encoding="utf-8"))["rule"]


def test_each_rule_of_the_page_can_be_left_out() -> None:
    page = (ROOT / "docs/design/sender.md").read_text(encoding="utf-8")
    table = page.split("<!-- rules -->")[1].split("<!-- end of rules -->")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")]
    assert [row for row in rows if row != "rule"] == [rule["name"] for rule in RULES]


def test_each_text_occurs_once_in_its_file_and_is_changed() -> None:
    for rule in RULES:
        for file, text, new in rule["edits"]:
            assert (ROOT / file).read_text(encoding="utf-8").count(text) == 1, (rule["name"], file, text)
            assert text != new, rule["name"]
