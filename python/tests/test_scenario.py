"""Scenarios are converted to TOML text without loss."""

import tomllib
from pathlib import Path

import pytest

from anabranch.scenario import as_text, restrict, to_toml

AXES = {
    "flow": [{"name": "a", "sctp": {"vary": ["x", "y"], "name": "variant"}}],
    "link": [
        {"rate": {"vary": ["10 Mbit/s", "20 Mbit/s", "30 Mbit/s"], "name": "rho"}},
        {"rate": {"vary": ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"], "name": "rho"}, "down": [["1 s", "2 s"]]},
    ],
}


def test_toml_of_a_dictionary_reads_back_as_the_same() -> None:
    table = {
        "title": 'a "quoted" \\ title\n with ü and \x7f',
        "seed": 1,
        "on": True,
        "fraction": 0.1,
        "tiny": 1e-300,
        "odd key.": {"nested": [1, 2, [3]], "empty": {}},
        "": [],
        "list": [{"a": 1}, {"b": {"c": False}}],
    }
    assert tomllib.loads(to_toml(table)) == table


def test_a_value_that_toml_cannot_represent_is_refused() -> None:
    with pytest.raises(TypeError, match="NoneType"):
        to_toml({"a": None})


def test_a_path_and_toml_text_are_distinguished(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("seed = 3\n")
    assert as_text(file) == ("seed = 3\n", str(file))
    assert as_text(str(file))[0] == "seed = 3\n"
    assert as_text("seed = 4") == ("seed = 4", "<text>")
    assert as_text({"seed": 5}) == ("seed = 5\n", "<dict>")


def test_axes_of_one_name_are_restricted_together() -> None:
    found = restrict(AXES, {"rho": ["30 Mbit/s", "10 Mbit/s"]})
    assert found["link"][0]["rate"]["vary"] == ["30 Mbit/s", "10 Mbit/s"]
    assert found["link"][1]["rate"]["vary"] == ["3 Mbit/s", "1 Mbit/s"]
    assert found["flow"] == AXES["flow"]
    # The type checker does not know the structure of a scenario in a dict.
    assert len(AXES["link"][0]["rate"]["vary"]) == 3  # type: ignore[index]


def test_restricting_to_an_unknown_axis_or_value_is_an_error() -> None:
    with pytest.raises(ValueError, match="no axis `sigma`"):
        restrict(AXES, {"sigma": [1]})
    with pytest.raises(ValueError, match="does not have all of the values"):
        restrict(AXES, {"rho": ["5 Mbit/s"]})
