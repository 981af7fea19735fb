//! CHECKLIST.md names tests that exist and name their section.

use std::path::Path;

/// The file that holds a test of this name: in `tests/`, or a module in `src/`, of this crate or the one named first.
fn source(modules: &[&str]) -> Option<String> {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let (name, modules) = match modules {
        [name @ ("wire" | "cc" | "testkit"), modules @ ..] => (*name, modules),
        modules => ("sctp", modules),
    };
    let path = modules.join("/");
    ["tests/{}.rs", "src/{}.rs", "src/{}/mod.rs"].iter().find_map(|place| {
        let file = format!("{crates}/{name}/{}", place.replace("{}", &path));
        std::fs::read_to_string(Path::new(&file)).ok()
    })
}

/// What is written above a test, if it exists.
fn heading(reference: &str) -> Option<String> {
    let mut modules: Vec<&str> = reference.split("::").collect();
    let test = modules.pop()?;
    let source = source(&modules)?;
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let found = |pair: &[&str]| pair[0] == "#[test]" && pair[1].starts_with(&format!("fn {test}("));
    let at = lines.windows(2).position(found)?;
    let comments = lines[..at].iter().rev().take_while(|line| line.starts_with("//"));
    Some(comments.copied().collect())
}

#[test]
fn every_line_has_a_test_that_names_its_section_or_waits() {
    let list = include_str!("../CHECKLIST.md");
    let rows = list.lines().filter(|line| line.starts_with("| M |") || line.starts_with("| S |"));
    let mut lines = 0;
    for row in rows {
        let held_by = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        lines += 1;
        if held_by.starts_with("waits: ") {
            continue;
        }
        let mut names_a_section = false;
        for reference in held_by.split(", ") {
            let heading = heading(reference.trim_matches('`'));
            assert!(heading.is_some(), "{reference} is no test: {row}");
            names_a_section |= heading.is_some_and(|heading| heading.contains("#section-"));
        }
        assert!(names_a_section, "none of these tests names its section: {row}");
    }
    assert!(lines > 100, "the list has {lines} lines");
}
