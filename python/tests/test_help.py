"""Help texts of the subcommands in Python look like those in Rust, which crates/cli/tests/help.rs has."""

from __future__ import annotations

import pytest

from anabranch import command


def shown(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", command._COMMANDS)
def test_help_has_usage_purpose_arguments_options_and_examples(name: str, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = shown([name, "--help"], capsys)
    assert shown(["help", name], capsys) == text
    assert text.startswith(f"Usage: anabranch {name} [OPTIONS]")
    about = text.split("\n\n")[1]
    assert about[0].isupper()
    assert about.endswith(".")
    parts = ["\n\nArguments:\n", "\n\nOptions:\n", "\n\nExamples:\n"]
    places = [text.find(part) for part in parts if part in text]
    assert places == sorted(places)
    assert len(places) >= 2
    assert "Arguments" not in text[places[-1] :]
    assert f"\n  anabranch {name}" in text[places[-1] :]
    assert "\n  -h, --help" in text
    assert "Print help" in text
    assert max(map(len, text.splitlines())) <= 100
    # Options without a short form are aligned with the long forms of others; each help begins with a capital.
    assert "\n      --json" in text or name == "report"


def test_an_option_needs_its_whole_name_as_in_rust(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["fairness", "--replica", "3"])
    assert ended.value.code == 2
    assert "tip: a similar argument exists: '--replicas'" in capsys.readouterr().err
