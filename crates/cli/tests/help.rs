//! The help texts of the Rust subcommands have one form. python/tests/test_help.py tests those in Python.

use crate::scratch::Scratch;

/// Subcommands that the Python package runs.
const IN_PYTHON: [&str; 8] =
    ["reproduce", "papers", "fairness", "bbr-cases", "evaluate", "report", "overlay", "bonding"];

/// Checks that a help text has its parts in order. All parts except the arguments are required.
fn check(name: &str, text: &str) {
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{name}: no {part:?}:\n{text}"));
    assert!(text.starts_with(&format!("Usage: anabranch {name}")), "{name}:\n{text}");
    let about = text.split("\n\n").nth(1).expect("a second part");
    assert!(about.ends_with('.') && about.starts_with(char::is_uppercase), "{name}: {about}");
    let list = text.find("\n\nArguments:\n").unwrap_or(place(about));
    let (options, examples) = (place("\n\nOptions:\n"), place("\n\nExamples:\n"));
    assert!(place(about) <= list && list < options && options < examples, "{name}:\n{text}");
    let example = format!("anabranch {name}");
    assert!(
        text[examples..]
            .lines()
            .any(|line| line.trim_start_matches("  sudo").trim_start().starts_with(&example))
    );
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{name}: {line}");
    }
}

#[test]
fn help_has_usage_purpose_arguments_options_and_examples_in_100_columns() {
    let scratch = Scratch::with("help", &[]);
    let (code, all, _) = scratch.call(&["--help"]);
    assert_eq!(code, 0);
    check("", &all);
    let (_, commands) = all.split_once("\nCommands:\n").expect("a list");
    let lines = commands.lines().take_while(|line| !line.is_empty());
    // A continued line of a list has a larger indent.
    let names =
        lines.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.len() >= 16, "{names:?}");
    for name in names.into_iter().filter(|name| !IN_PYTHON.contains(name)) {
        let (code, text, _) = scratch.call(&[name, "--help"]);
        assert_eq!(code, 0, "{name}");
        check(name, &text);
        assert_eq!(scratch.call(&["help", name]), (0, text, String::new()), "{name}");
    }
}
